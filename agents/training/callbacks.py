"""Hooks into training, with Stable-Baselines3's names and order of calls; its own callbacks work as well."""

from collections import deque
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

import gymnasium as gym
import numpy as np
from gymnasium.vector import VectorEnv
from tqdm.auto import tqdm

from coach_gym.agents.distributed import processes
from coach_gym.agents.distributed.parallel import is_sharded
from coach_gym.agents.evaluation import Evaluation, evaluate
from coach_gym.agents.models.policy import Policy
from coach_gym.agents.playing.rollout import Attempt
from coach_gym.agents.training.logs.logger import Logger
from coach_gym.agents.training.logs.media import evaluation_strips
from coach_gym.checks import require_finite, require_whole

EPISODES = "episodes"
"""Name of the folder of episodes in the folder of a run."""


class Trainee(Protocol):
    """What callbacks see of the agent; every agent of this package has more.

    Attributes:
        num_timesteps: Environment steps taken, over all sub-environments and processes.
        total_timesteps: Number of steps at which the current call of `learn` ends.
        n_updates: Iterations that ended in an update.
        batch_size: Episodes of one roll-out.
        policy: The policy.
    """

    num_timesteps: int
    total_timesteps: int
    n_updates: int
    batch_size: int
    policy: Policy

    @property
    def logger(self) -> Logger:
        """Receives what training logs."""
        ...

    @property
    def played_ahead(self) -> Sequence[Attempt]:
        """The finished attempts that a later update learns from."""
        ...

    @property
    def ep_success_buffer(self) -> deque[float]:
        """Success of the latest episodes, 0 or 1."""
        ...

    def get_env(self) -> VectorEnv | None:
        """Returns the vector environment that is trained on."""
        ...

    def predict(
        self, observation: Any, state: Any = None, episode_start: Any = None, deterministic: bool = False
    ) -> tuple[Any, Any]:
        """Returns actions for a batch of observations, and the states to pass next time."""
        ...

    def save(self, path: str | Path) -> None:
        """Writes the agent as a directory."""
        ...

    def save_shards(self, path: str | Path) -> None:
        """Writes the agent as a directory, each process its own part."""
        ...


@runtime_checkable
class Callback(Protocol):
    """The hooks that `learn` calls. `BaseCallback` has them, and so has Stable-Baselines3's.

    Attributes:
        parent: The callback that triggers this one, if one does.
    """

    parent: Any

    def init_callback(self, model: Any) -> None:
        """Called once, before everything else."""
        ...

    def on_training_start(self, locals_: dict[str, Any], globals_: dict[str, Any]) -> None:
        """Called before the first roll-out."""
        ...

    def on_rollout_start(self) -> None:
        """Called before every roll-out."""
        ...

    def on_step(self) -> bool:
        """Called after every call of `env.step`; False stops the training."""
        ...

    def on_rollout_end(self) -> None:
        """Called after every roll-out, before the update."""
        ...

    def on_training_end(self) -> None:
        """Called when `learn` returns or raises."""
        ...

    def update_locals(self, locals_: dict[str, Any]) -> None:
        """Called before `on_step` with the variables of the roll-out."""
        ...


class BaseCallback:
    """Base class of callbacks. Override hooks that start with an underscore; a false `_on_step` stops the training.

    Episodes on the training environment are in progress in `_on_step`: evaluate on another environment, or in
    `_on_rollout_start`.

    Args:
        verbose: 0 for no output, 1 for messages.

    Attributes:
        model: The agent.
        n_calls: Number of calls of `on_step`, that is of `env.step`.
        num_timesteps: Environment steps taken, over all sub-environments.
        locals: Local variables of the calling loop.
        globals: Global variables of the calling loop.
        parent: The callback that triggers this one, if one does.
    """

    model: Trainee
    parent: Any = None

    def __init__(self, verbose: int = 0) -> None:
        self.verbose = verbose
        self.n_calls = 0
        self.num_timesteps = 0
        self.locals: dict[str, Any] = {}
        self.globals: dict[str, Any] = {}

    @property
    def training_env(self) -> VectorEnv:
        """The vector environment that is trained on."""
        env = self.model.get_env()
        assert env is not None
        return env

    @property
    def logger(self) -> Logger:
        """The agent's logger."""
        return self.model.logger

    def init_callback(self, model: Trainee) -> None:
        """Attaches the callback to an agent; `learn` calls it once, before everything else."""
        self.model = model
        self._init_callback()

    def on_training_start(self, locals_: dict[str, Any], globals_: dict[str, Any]) -> None:
        """Called before the first roll-out."""
        self.locals, self.globals = locals_, globals_
        self.num_timesteps = self.model.num_timesteps
        self._on_training_start()

    def on_rollout_start(self) -> None:
        """Called before every roll-out, when nothing is half done."""
        self._on_rollout_start()

    def on_step(self) -> bool:
        """Called after every call of `env.step`; False stops the training."""
        self.n_calls += 1
        self.num_timesteps = self.model.num_timesteps
        return self._on_step()

    def on_rollout_end(self) -> None:
        """Called after every roll-out, before the update."""
        self._on_rollout_end()

    def on_training_end(self) -> None:
        """Called when `learn` returns or raises."""
        self._on_training_end()

    def update_locals(self, locals_: dict[str, Any]) -> None:
        """Called before `on_step` with the variables of the roll-out: `rewards`, `dones`, `infos`, `episodes`."""
        self.locals.update(locals_)
        self.update_child_locals(locals_)

    def update_child_locals(self, locals_: dict[str, Any]) -> None:
        """Passes the variables on to the callbacks that this one calls."""

    def _init_callback(self) -> None: ...

    def _on_training_start(self) -> None: ...

    def _on_rollout_start(self) -> None: ...

    def _on_step(self) -> bool:
        return True

    def _on_rollout_end(self) -> None: ...

    def _on_training_end(self) -> None: ...


Function = Callable[[dict[str, Any], dict[str, Any]], bool | None]
MaybeCallback = None | Function | Callback | Sequence[Any]


class ConvertCallback(BaseCallback):
    """Makes a callback of a function of `locals` and `globals`; training stops when it returns False."""

    def __init__(self, callback: Function, verbose: int = 0) -> None:
        super().__init__(verbose)
        self.callback = callback

    def _on_step(self) -> bool:
        return self.callback(self.locals, self.globals) is not False


class CallbackList(BaseCallback):
    """Calls several callbacks in order; training stops when one of them returns False."""

    def __init__(self, callbacks: Sequence[Any]) -> None:
        super().__init__()
        self.callbacks = [as_callback(callback) for callback in callbacks]

    def _init_callback(self) -> None:
        for callback in self.callbacks:
            callback.init_callback(self.model)
            callback.parent = self.parent

    def _on_training_start(self) -> None:
        for callback in self.callbacks:
            callback.on_training_start(self.locals, self.globals)

    def _on_rollout_start(self) -> None:
        for callback in self.callbacks:
            callback.on_rollout_start()

    def _on_step(self) -> bool:
        return all([callback.on_step() for callback in self.callbacks])  # a list: everyone is called

    def _on_rollout_end(self) -> None:
        for callback in self.callbacks:
            callback.on_rollout_end()

    def _on_training_end(self) -> None:
        for callback in self.callbacks:
            callback.on_training_end()

    def update_child_locals(self, locals_: dict[str, Any]) -> None:
        """Passes the variables on to all of them."""
        for callback in self.callbacks:
            callback.update_locals(locals_)


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
            episodes without a verdict.
        best_model_save_path: Folder in which the best agent is saved as `best_model`.
        deterministic: Whether the agent takes its most likely response instead of drawing one.
        render: Renders the environment after every step.
        verbose: 1 prints the result.
        seed: Seed of the first instance.

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
    ) -> None:
        super().__init__(verbose)
        require_whole(1, n_eval_episodes=n_eval_episodes)
        require_whole(0, seed=seed)
        require_whole(-1, eval_freq=eval_freq)
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
        self.last: Evaluation | None = None
        self.best_mean_reward = -np.inf
        self._best_is_due = False
        self._history: dict[str, list[Any]] = {"timesteps": [], "results": [], "ep_lengths": [], "successes": []}

    @property
    def _children(self) -> list[BaseCallback]:
        return [child for child in (self.callback_on_new_best, self.callback_after_eval) if child is not None]

    def _init_callback(self) -> None:
        if self.eval_env is self.training_env:
            raise ValueError("eval_env is the training environment, whose episodes are in progress; make another one")
        for child in self._children:
            child.parent = self
            child.init_callback(self.model)

    def _on_training_start(self) -> None:
        for child in self._children:
            child.on_training_start(self.locals, self.globals)

    def _on_step(self) -> bool:
        if self.eval_freq <= 0 or self.n_calls % self.eval_freq or processes.rank() > 0:
            return True
        self.last = evaluate(
            self.model, self.eval_env, self.n_eval_episodes, self.deterministic, self.seed, self.render,
            keep=None if self.logger.dir is None else Path(self.logger.dir) / EPISODES, timesteps=self.num_timesteps,
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
        self._save_best()

    def _save_best(self) -> None:
        """Saves the agent if it is the best so far; all processes call this."""
        if self.best_model_save_path is None or not processes.any_of(self._best_is_due):
            return
        self._best_is_due = False
        path = Path(self.best_model_save_path) / "best_model"
        if is_sharded(self.model.policy.model):
            self.model.save_shards(path)
        else:
            self.model.save(path)

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
        if self.log_path is not None:
            self._append(evaluation, Path(self.log_path) / "evaluations.npz")

    def _append(self, evaluation: Evaluation, path: Path) -> None:
        unknown = [result.success is None for result in evaluation.results]
        columns: dict[str, list[float]] = {
            "results": [result.reward for result in evaluation.results],
            "ep_lengths": [result.length for result in evaluation.results],
            "successes": [bool(result.success) for result in evaluation.results],
        }
        self._history["timesteps"].append(self.num_timesteps)
        for name, column in columns.items():
            self._history[name].append(np.where(unknown, np.nan, column))
        path.parent.mkdir(parents=True, exist_ok=True)
        np.savez(path, **{name: np.array(rows) for name, rows in self._history.items()})  # type: ignore[arg-type]

    def update_child_locals(self, locals_: dict[str, Any]) -> None:
        """Passes the variables on to all of them."""
        for child in self._children:
            child.update_locals(locals_)


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


class ProgressBarCallback(BaseCallback):
    """Shows a progress bar over environment steps, with the success rate of the latest episodes."""

    def __init__(self) -> None:
        super().__init__()
        self.bar: Any = None

    def _on_training_start(self) -> None:
        total = self.model.total_timesteps - self.model.num_timesteps
        self.bar = tqdm(total=total, unit="step", dynamic_ncols=True)

    def _on_step(self) -> bool:
        done = self.num_timesteps - (self.model.total_timesteps - self.bar.total)
        self.bar.update(done - self.bar.n)
        successes = self.model.ep_success_buffer
        if successes:
            self.bar.set_postfix_str(f"success {np.mean(successes):.0%} of the last {len(successes)}", refresh=False)
        return True

    def _on_training_end(self) -> None:
        self.bar.close()


def as_callback(callback: MaybeCallback) -> Callback:
    """Makes one callback of what `learn` was given: nothing, a function, a callback, or a sequence of them."""
    if isinstance(callback, Callback):
        return callback
    if callable(callback):
        return ConvertCallback(callback)
    return CallbackList(callback or [])
