"""Evaluation in the middle of a training, which keeps the best agent."""

import io
import json
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import gymnasium as gym
import numpy as np
from gymnasium.vector import VectorEnv

from coach_gym.agents.distributed import processes
from coach_gym.agents.distributed.parallel import is_sharded
from coach_gym.agents.evaluation import Evaluation, evaluate
from coach_gym.agents.playing.claims import beneath
from coach_gym.agents.playing.rollout import as_vector_env
from coach_gym.agents.training.callbacks import EPISODES, BaseCallback, Callback
from coach_gym.agents.training.logs.media import evaluation_strips
from coach_gym.checks import WrongType, require_finite, require_switch, require_whole
from coach_gym.files import as_folder, read_object, require_folders, write_whole

BEST = "best_model"


class EvalCallback(BaseCallback):
    """Evaluates the agent periodically, always on the same held-out instances, and saves the best one.

    The episodes are written to `episodes` in the folder of the run, for `coach-gym view`.

    Args:
        eval_env: Environment to evaluate on, different from the training environment.
        callback_on_new_best: Called when the mean reward is the best so far.
        callback_after_eval: Called after every evaluation.
        n_eval_episodes: Episodes per evaluation.
        eval_freq: Calls of `env.step` between two evaluations.
        log_path: Folder of `evaluations.npz`, which holds timesteps, results, ep_lengths and successes, with nan for
            episodes without a verdict. A training that goes on from a saved agent goes on with this file.
        best_model_save_path: Folder in which the best agent is saved as `best_model`, with its evaluation in
            `best_model.json`. A training that goes on from a saved agent replaces it by better ones only.
        deterministic: Whether the agent takes its most likely response instead of drawing one.
        render: Renders the environment after every step.
        verbose: 1 prints the result.
        seed: Seed of the first instance.
        eval_steps: Environment steps between two evaluations, over all sub-environments and processes, in place of
            `eval_freq`. They take place between iterations: before the first one, when due, and after the last one.

    Attributes:
        last: The latest evaluation.
        best_mean_reward: The highest mean reward so far.
    """

    def __init__(
        self,
        eval_env: gym.Env | VectorEnv,
        callback_on_new_best: BaseCallback | None = None,
        callback_after_eval: BaseCallback | None = None,
        n_eval_episodes: int = 5,
        eval_freq: int = 10_000,
        log_path: str | Path | None = None,
        best_model_save_path: str | Path | None = None,
        deterministic: bool = True,
        render: bool = False,
        verbose: int = 1,
        seed: int = 0,
        *,
        eval_steps: int | None = None,
    ) -> None:
        super().__init__(verbose)
        require_whole(1, n_eval_episodes=n_eval_episodes)
        if eval_steps is not None:
            require_whole(1, eval_steps=eval_steps)
        require_whole(0, seed=seed)
        require_whole(-1, eval_freq=eval_freq)
        require_switch(deterministic=deterministic, render=render)
        _require_callback(callback_on_new_best=callback_on_new_best, callback_after_eval=callback_after_eval)
        folders = {"log_path": log_path, "best_model_save_path": best_model_save_path}
        self._folders = {name: as_folder(**{name: path}) for name, path in folders.items() if path is not None}
        self.eval_env = eval_env
        self.callback_on_new_best = callback_on_new_best
        self.callback_after_eval = callback_after_eval
        self.n_eval_episodes = n_eval_episodes
        self.eval_freq = eval_freq
        self.log_path = log_path
        self.best_model_save_path = best_model_save_path
        self.deterministic = deterministic
        self.render = render
        self.seed = seed
        self.eval_steps = eval_steps
        self._evaluated_at: int | None = None
        self.last: Evaluation | None = None
        self.best_mean_reward = -np.inf
        self._best_is_due = self._stopped = False
        self._began = 0
        self._history: dict[str, list[Any]] = {"timesteps": [], "results": [], "ep_lengths": [], "successes": []}

    @property
    def _children(self) -> list[BaseCallback]:
        return [child for child in (self.callback_on_new_best, self.callback_after_eval) if child is not None]

    def _init_callback(self) -> None:
        if set(beneath(as_vector_env(self.eval_env))) & set(beneath(self.training_env)):
            raise ValueError("eval_env is the training environment, whose episodes are in progress; make another one")
        if processes.rank() == 0:
            require_folders(**self._folders)
        for child in self._children:
            child.parent = self
            child.init_callback(self.model)

    def _on_training_start(self) -> None:
        self._evaluated_at, self._began, note = None, self.num_timesteps, self._note
        if self.num_timesteps and note is not None and note.is_file():
            self.best_mean_reward = read_object(note, mean_reward=(int, float))["mean_reward"]
        if self.num_timesteps and not self._history["timesteps"]:
            self._history = self._earlier()
        for child in self._children:
            child.on_training_start(self.locals, self.globals)

    def _on_step(self) -> bool:
        if self.eval_steps is not None:
            return not self._stopped
        if self.eval_freq <= 0 or self.n_calls % self.eval_freq:
            return True
        return self._evaluate()

    def _on_rollout_start(self) -> None:
        self.num_timesteps = self.model.num_timesteps
        at = self._evaluated_at
        if self.eval_steps is not None and (at is None or self.num_timesteps >= at + self.eval_steps):
            self._stopped = not self._evaluate()
            self._save_best()

    def _evaluate(self) -> bool:
        """Evaluates, keeps the agent if it is the best, and returns whether to go on; only the first process does."""
        self._evaluated_at = self.num_timesteps
        if processes.rank() > 0:
            return True
        with self.model.timed("evaluate"):
            self.last = evaluate(
                self.model, self.eval_env, self.n_eval_episodes, self.deterministic, self.seed, self.render,
                keep=None if self.logger.dir is None else Path(self.logger.dir) / EPISODES,
                timesteps=self.num_timesteps,
            )  # fmt: skip
        self._log(self.last)
        go_on = True
        if self.last.mean_reward > self.best_mean_reward:
            self.best_mean_reward = self.last.mean_reward
            self._best_is_due = True
            if processes.size() == 1:
                self._save_best()
            if self.callback_on_new_best is not None:
                go_on = self.callback_on_new_best.on_step()
        if self.callback_after_eval is not None:
            go_on = self.callback_after_eval.on_step() and go_on
        return go_on

    def _on_rollout_end(self) -> None:
        self._save_best()  # with several processes not before, because only the first evaluates and all have to save

    def _on_training_end(self) -> None:
        self.num_timesteps = self.model.num_timesteps
        ended = self.num_timesteps >= self.model.total_timesteps  # and was not interrupted
        if self.eval_steps is not None and ended and self._evaluated_at != self.num_timesteps:
            self._evaluate()
        self._save_best()

    def _save_best(self) -> None:
        """Saves the agent if it is the best so far; all processes call this."""
        if self.best_model_save_path is None or not processes.any_of(self._best_is_due):
            return
        self._best_is_due = False
        path = Path(self.best_model_save_path) / BEST
        if is_sharded(self.model.policy.model):
            self.model.save_shards(path)
        else:
            self.model.save(path)
        if self._note is not None and self.last is not None:
            found = {
                "timesteps": self._evaluated_at, "mean_reward": self.last.mean_reward,
                "success_rate": self.last.success_rate, "episodes": len(self.last.judged),
            }  # fmt: skip
            write_whole(self._note, json.dumps(found, indent=2) + "\n", durable=True)

    @property
    def _note(self) -> Path | None:
        return None if self.best_model_save_path is None else Path(self.best_model_save_path) / f"{BEST}.json"

    def _log(self, evaluation: Evaluation) -> None:
        self.logger.record("eval/mean_reward", evaluation.mean_reward)
        self.logger.record("eval/mean_ep_length", evaluation.mean_length)
        self.logger.record("eval/success_rate", evaluation.success_rate)
        for task, (solved, judged) in evaluation.success_per_task.items():
            self.logger.record(f"eval_by_task/{task or 'task'}", solved / judged, exclude=("stdout", "csv", "json"))
        if self.logger.dir is not None:
            for key, strip in evaluation_strips(Path(self.logger.dir) / EPISODES, self.num_timesteps).items():
                self.logger.record(key, strip)
        self.logger.record("time/total_timesteps", self.num_timesteps, exclude="tensorboard")
        self.logger.dump(self.num_timesteps)
        if self.verbose >= 1:
            number = len(evaluation.judged)
            print(f"Evaluation at {self.num_timesteps} steps: {evaluation.success_rate:.1%} of {number} episodes")
        if self._table is not None:
            self._append(evaluation, self._table)

    @property
    def _table(self) -> Path | None:
        return None if self.log_path is None else Path(self.log_path) / "evaluations.npz"

    def _earlier(self) -> dict[str, list[Any]]:
        """Returns the evaluations up to where the training goes on; those after it are made again.

        Raises:
            ValueError: The file is damaged, or its evaluations have another number of episodes.
        """
        if self._table is None or not self._table.is_file():
            return self._history
        try:
            with np.load(self._table) as stored:
                columns = {name: stored[name] for name in self._history}
            known = columns["timesteps"] <= self.num_timesteps
            shapes = {name: (known.size, self.n_eval_episodes)[: column.ndim] for name, column in columns.items()}
        except (ValueError, TypeError, LookupError, OSError, EOFError, BadZipFile) as error:
            raise ValueError(f"{self._table} is damaged ({error}); pass another log_path, or remove it") from error
        if any(column.shape != shapes[name] for name, column in columns.items()):
            raise ValueError(
                f"{self._table} holds evaluations of {columns['results'].shape[-1]} episodes, not of "
                f"{self.n_eval_episodes}; pass another log_path, or n_eval_episodes as before"
            )
        return {name: list(column[known]) for name, column in columns.items()}

    def _append(self, evaluation: Evaluation, path: Path) -> None:
        unknown = [result.success is None for result in evaluation.results]
        columns: dict[str, list[float]] = {
            "results": [result.reward for result in evaluation.results],
            "ep_lengths": [result.length for result in evaluation.results],
            "successes": [bool(result.success) for result in evaluation.results],
        }
        if self._history["timesteps"][-1:] == [self.num_timesteps] == [self._began]:  # as before the interruption
            for column in self._history.values():
                column.pop()
        self._history["timesteps"].append(self.num_timesteps)
        for name, column in columns.items():
            self._history[name].append(np.where(unknown, np.nan, column))
        path.parent.mkdir(parents=True, exist_ok=True)
        file = io.BytesIO()
        np.savez(file, **{name: np.array(rows) for name, rows in self._history.items()})  # type: ignore[arg-type]
        write_whole(path, file.getvalue())

    def update_child_locals(self, locals_: dict[str, Any]) -> None:
        """Passes the variables on to all of them."""
        for child in self._children:
            child.update_locals(locals_)


def _require_callback(**given: Any) -> None:
    """Checks that what an evaluation calls are callbacks.

    Raises:
        TypeError: One is something else.
    """
    for name, callback in given.items():
        if callback is not None and (isinstance(callback, type) or not isinstance(callback, Callback)):
            raise WrongType(f"{name}={callback!r:.60} is no callback; pass an instance of one")


class StopTrainingOnRewardThreshold(BaseCallback):
    """Stops the training once an evaluation is good enough; pass it to `EvalCallback` as `callback_on_new_best`.

    Args:
        reward_threshold: Mean reward that is good enough.
        verbose: 1 prints why training stops.
    """

    def __init__(self, reward_threshold: float, verbose: int = 0) -> None:
        super().__init__(verbose)
        require_finite(reward_threshold=reward_threshold)
        self.reward_threshold = reward_threshold

    def _init_callback(self) -> None:
        if not isinstance(self.parent, EvalCallback):
            raise ValueError(
                "StopTrainingOnRewardThreshold needs the rewards of an evaluation; pass it to "
                "EvalCallback(eval_env, callback_on_new_best=...)"
            )

    def _on_step(self) -> bool:
        assert isinstance(self.parent, EvalCallback)
        reached = self.parent.best_mean_reward >= self.reward_threshold
        if reached and self.verbose >= 1:
            print(f"Mean reward {self.parent.best_mean_reward:.2f} has reached {self.reward_threshold}: stopping")
        return not reached
