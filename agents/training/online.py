"""What the three methods share: the loop of roll-outs and updates, and its state on disk."""

import sys
import time
import warnings
from abc import ABC, abstractmethod
from collections import defaultdict, deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import count, islice
from pathlib import Path
from typing import Any, Literal, Self, TypeVar

import gymnasium as gym
import numpy as np
import torch
from gymnasium.vector import VectorEnv
from torch import Tensor
from torch.optim import AdamW, Optimizer

from coach_gym.agents.distributed import processes
from coach_gym.agents.distributed.parallel import distribute, in_step, refresh_sampler
from coach_gym.agents.generation import Generation, Generator, make_generator
from coach_gym.agents.models.policy import Policy, PolicySource
from coach_gym.agents.models.tree import MAX_BRANCH_TOKENS, Candidates, Tree, build_tree, log_probs, separate_tree
from coach_gym.agents.playing.collector import Collector
from coach_gym.agents.playing.rollout import Attempt, settle
from coach_gym.agents.training import checkpoint
from coach_gym.agents.training.base import Agent, Env
from coach_gym.agents.training.callbacks import (
    BaseCallback,
    CallbackList,
    MaybeCallback,
    ProgressBarCallback,
    as_callback,
)
from coach_gym.agents.training.logger import Logger, configure_logger
from coach_gym.agents.training.updates import PolicySample, update_policy
from coach_gym.dialects import Dialect
from coach_gym.episode import Episode

FIRST_TRAINING_SEED = 1 << 16
"""Training episodes draw their seeds from here on; smaller ones are held-out instances for evaluation."""

Schedule = float | Callable[[float], float]
"""A learning rate, or a function of the remaining progress, which goes from 1 to 0."""

Item = TypeVar("Item")


class OnlineAgent(Agent, ABC):
    """Alternates roll-outs, in which the policy plays a batch of episodes, and updates, which `train` defines.

    Defaults are the paper's (its table of hyper-parameters).

    Args:
        policy: `"pocket"`, a directory, a hub id, (model, processor), or a `Policy`. Weights that are read from
            disk are kept in float32: in bfloat16, updates of the paper's size round to nothing.
        env: environment, vector environment, or an id, of which `batch_size` are made. Observations are dicts with
            `goal` and `screenshot`, and `ui` and `last_action_error` where there are such; actions are text.
        learning_rate: AdamW's, of the policy; or a function of the remaining progress, which goes from 1 to 0.
        batch_size: episodes of one roll-out. Sub-environments play several in turn if they are fewer. Several
            processes share them.
        mini_batch_size: episodes of one optimiser step; None takes the whole roll-out.
        n_epochs: passes of the policy over a roll-out.
        clip_range: epsilon of PPO's clipped ratio.
        max_grad_norm: gradients are scaled down to this norm.
        temperature: of sampling.
        max_new_tokens: where a response is cut that does not end by itself.
        max_prompt_length: tokens of prompt; beyond it the oldest steps are left out.
        collection: `"events"` lets no device wait for another; in `"rounds"` all act together, so that a seed repeats a
            run bit for bit. Gymnasium's own vector environments know rounds only.
        max_staleness: updates that an episode may be old when it is learned from: so many batches ahead devices may
            play. 0 learns strictly on-policy, from episodes that the current policy has played.
        trajectory_trees: False passes a sequence of its own for every candidate of every step through the models: the
            slow reference, which learns the same.
        max_branch_tokens: tokens of candidates in one pass, which bound its memory.
        generation: what draws responses: `"transformers"`, `"vllm"`, the address of a server that `coach-gym serve`
            began, or a function that makes a `Generator` for a policy, such as
            `partial(VllmGenerator, gpu_memory_utilization=0.3)`.
        recompute_log_probs: scores old log-probabilities anew before the update, in place of the sampler's.
        bfloat16: passes in bfloat16, weights and optimiser states as they are; for training that torchrun started.
        checkpoint_activations: keeps one activation a layer for the backward pass and computes the others again.
        dialect: overrides the one that the policy's directory names.
        stats_window_size: episodes that `rollout/*` averages over.
        tensorboard_log: parent of the run folders; None writes none.
        verbose: 1 prints a table every `log_interval` iterations.
        seed: of sampling, of mini-batches and of the task instances; None for a random one.
        device: of the weights; `"auto"` is CUDA where there is one.

    Attributes:
        num_timesteps: environment steps taken, over all sub-environments and processes.
        total_timesteps: where the current call of `learn` ends.
        n_updates: iterations that ended in an update.
        num_instances: task instances in the roll-outs that were played to their end, over all processes.
        n_candidates: responses drawn in every state during roll-outs.
        group_size: episodes that share a seed.
        critic: the critic, None for a method without one.
        optimizers: by the names of `get_parameters`.

    Raises:
        ValueError: An argument makes no sense; the message has the numbers and the remedy.
    """

    n_candidates = 1
    group_size = 1

    def __init__(
        self,
        policy: PolicySource,
        env: Env | None,
        learning_rate: Schedule = 1e-6,
        *,
        batch_size: int = 8,
        mini_batch_size: int | None = None,
        n_epochs: int = 1,
        clip_range: float = 0.2,
        max_grad_norm: float = 1.0,
        temperature: float = 1.0,
        max_new_tokens: int = 512,
        max_prompt_length: int = 32_768,
        collection: Literal["events", "rounds"] = "events",
        max_staleness: int = 0,
        trajectory_trees: bool = True,
        max_branch_tokens: int = MAX_BRANCH_TOKENS,
        generation: Generation = "transformers",
        recompute_log_probs: bool = False,
        bfloat16: bool = False,
        checkpoint_activations: bool = False,
        dialect: Dialect | None = None,
        stats_window_size: int = 100,
        tensorboard_log: str | None = None,
        verbose: int = 0,
        seed: int | None = None,
        device: str | torch.device = "auto",
    ) -> None:
        self.learning_rate = learning_rate
        self.batch_size = batch_size
        self.mini_batch_size = mini_batch_size
        self.n_epochs = n_epochs
        self.clip_range = clip_range
        self.max_grad_norm = max_grad_norm
        self.temperature = temperature
        self.max_new_tokens = max_new_tokens
        self.max_prompt_length = max_prompt_length
        self.collection = collection
        self.max_staleness = max_staleness
        self.trajectory_trees = trajectory_trees
        self.max_branch_tokens = max_branch_tokens
        self.generation = generation
        self.recompute_log_probs = recompute_log_probs
        self.bfloat16 = bfloat16
        self.checkpoint_activations = checkpoint_activations
        self.stats_window_size = stats_window_size
        self.tensorboard_log = None if tensorboard_log is None else str(tensorboard_log)
        self.verbose = verbose
        self._check_arguments()

        self.set_random_seed(seed)
        self.policy = Policy.load(policy, dialect, device, torch.float32)
        self.policy.max_prompt_length = max_prompt_length
        if self.policy.model.dtype in (torch.bfloat16, torch.float16):
            warnings.warn(
                f"the policy's weights are {self.policy.model.dtype}, which keeps about three digits: steps of "
                f"learning_rate={learning_rate} round to nothing; pass model.float(), or a path instead of a model",
                stacklevel=2,
            )
        self.device = self.policy.device
        self.generator: Generator = make_generator(generation, self.policy)
        self.optimizers: dict[str, Optimizer] = {
            "policy.optimizer": AdamW(self.policy.model.parameters(), lr=_value(learning_rate, 1.0))
        }
        self.env: VectorEnv | None = None
        if env is not None:
            self.set_env(env)

        self.num_timesteps = self.total_timesteps = self.n_updates = self.num_instances = 0
        self._collector: Collector | None = None
        self.ep_info_buffer: deque[dict[str, float]] = deque(maxlen=stats_window_size)
        self.ep_success_buffer: deque[float] = deque(maxlen=stats_window_size)
        self._logger = Logger(None, [])
        self._custom_logger = False
        self._seconds: dict[str, float] = defaultdict(float)
        self._begun_at, self._begun_with = time.perf_counter(), 0  # seconds, steps: of the current `learn`

    def _check_arguments(self) -> None:
        if self.batch_size < 1 or self.n_epochs < 1:
            raise ValueError(f"batch_size={self.batch_size} and n_epochs={self.n_epochs} must both be at least 1")
        if self.mini_batch_size is not None and not 1 <= self.mini_batch_size <= self.batch_size:
            raise ValueError(
                f"mini_batch_size={self.mini_batch_size} episodes cannot be drawn from the batch_size="
                f"{self.batch_size} episodes of a roll-out; choose it between 1 and {self.batch_size}, or None for all"
            )
        if not 0 < self.temperature < float("inf"):
            raise ValueError(
                f"temperature={self.temperature} is no positive number, and 0 leaves one response in every state and "
                f"nothing to learn; pass 1.0 as in the paper, and deterministic=True to predict() for greedy actions"
            )
        if self.max_new_tokens < 1:
            raise ValueError(f"max_new_tokens={self.max_new_tokens} leaves no room for a response; the paper has 512")
        if self.collection not in ("events", "rounds"):
            raise ValueError(f"collection={self.collection!r} is neither 'events' nor 'rounds'")
        if self.max_staleness < 0 or (self.max_staleness and self.collection == "rounds"):
            raise ValueError(
                f"max_staleness={self.max_staleness} with collection={self.collection!r}: pass a number of updates, "
                f"0 or more; more than 0 needs collection='events', where devices play ahead"
            )
        if self.max_staleness and self.recompute_log_probs:
            raise ValueError(
                f"recompute_log_probs=True forgets how likely responses were when they were drawn, which "
                f"max_staleness={self.max_staleness} needs; choose one of them"
            )
        if not 0 < self.clip_range < 1:
            raise ValueError(f"clip_range={self.clip_range} must lie between 0 and 1; the paper's is 0.2")

    # ---- learning ---------------------------------------------------------------------------------------------

    def learn(
        self,
        total_timesteps: int,
        callback: MaybeCallback = None,
        log_interval: int | None = 1,
        tb_log_name: str | None = None,
        reset_num_timesteps: bool = True,
        progress_bar: bool = False,
    ) -> Self:
        """Trains.

        Episodes are played to their end, so the number of steps taken is a little higher than asked for. An
        interruption loses the roll-out under way and nothing else: the agent can be saved, used, and trained on, and
        so can the environments. It waits for the steps and resets under way, as long as these may take.

        Args:
            total_timesteps: environment steps to take, over all sub-environments; a lower bound.
            callback: called during training: a callback, a function of `locals()` and `globals()`, or a list.
            log_interval: iterations between two log entries; None for no log.
            tb_log_name: runs go to `{tensorboard_log}/{tb_log_name}_{n}`; None for the name of the class.
            reset_num_timesteps: False goes on counting, and goes on in the latest run folder.
            progress_bar: shows one, with the success rate.

        Returns:
            The agent.
        """
        hooks = self._setup_learn(total_timesteps, callback, reset_num_timesteps, tb_log_name, progress_bar)
        hooks.on_training_start(locals(), globals())
        iteration = 0
        try:
            while self.num_timesteps < self.total_timesteps:
                groups = self.collect_rollouts(hooks)
                if groups is None:
                    break
                iteration += 1
                if processes.any_of(bool(groups)):
                    self.generator.sleep()
                    self.train(groups)
                    self.n_updates += 1
                    refresh_sampler(self)
                if log_interval is not None and iteration % log_interval == 0:
                    self.dump_logs(iteration)
            self._collector = None
            settle(self.env)  # resets of the next batch are under way
        except BaseException:
            if processes.size() == 1:  # other processes wait for this one elsewhere: it has to end, and they with it
                hooks.on_training_end()
                settle(self.env)
            raise
        hooks.on_training_end()
        return self

    def _setup_learn(
        self, steps: int, callback: Any, reset_num_timesteps: bool, tb_log_name: str | None, progress_bar: bool
    ) -> BaseCallback:
        if self.env is None:
            raise ValueError("the agent has no environment; pass env= to load(), or call set_env()")
        distribute(self)
        self._collector = None  # the environments may have been used for something else
        if reset_num_timesteps:
            self.num_timesteps = 0
            self.ep_info_buffer.clear()
            self.ep_success_buffer.clear()
        self.total_timesteps = self.num_timesteps + steps
        self._begun_at, self._begun_with = time.perf_counter(), self.num_timesteps
        self._seconds.clear()
        if not self._custom_logger:
            self._logger.close()
            name = tb_log_name or type(self).__name__
            log = self.tensorboard_log, name, reset_num_timesteps
            self._logger = Logger(None, []) if processes.rank() else configure_logger(self.verbose, *log)
        shown = progress_bar and processes.rank() == 0
        hooks = as_callback([as_callback(callback), ProgressBarCallback()]) if shown else as_callback(callback)
        hooks.init_callback(self)
        return hooks

    def collect_rollouts(self, callback: BaseCallback | None = None) -> list[list[Episode]] | None:
        """Plays `batch_size` episodes with the current policy, `n_candidates` responses drawn in every state.

        The first candidate is the one that is executed: candidates are independent draws, so any would do. Of
        several processes each plays its share.

        Returns:
            The episodes in groups of one seed, without those that a fault has left without a verdict; None if
            the callback stopped the training, in whichever process.
        """
        if callback is None:
            callback = CallbackList([])
            callback.init_callback(self)
        self._collector = self._undisturbed_collector()
        callback.on_rollout_start()
        self._collector = self._undisturbed_collector()  # the callback may have played on the environments
        begun = self.num_timesteps
        finished = self._collector.collect(callback)
        self.num_timesteps = begun + sum(processes.gather(self.num_timesteps - begun))
        if processes.any_of(finished is None):
            self._collector = None  # what is under way was drawn to be continued at once
            return None
        assert finished is not None
        self.num_instances += self.batch_size // self.group_size
        callback.on_rollout_end()
        played = [attempt.episode for attempt in finished]
        fault_rate = np.mean([episode.fault is not None for episode in played])
        self.logger.record("rollout/fault_rate", processes.mean(float(fault_rate)))
        ages = [self.n_updates - step.version for episode in played for step in episode.steps]
        self.logger.record("rollout/staleness", processes.mean(float(np.mean(ages))))
        groups = [[e for e in group if e.learnable] for group in _batched(played, self.group_size)]
        return [group for group in groups if group]

    def _undisturbed_collector(self) -> Collector:
        known = self._collector
        return known if known is not None and known.rollout.undisturbed else Collector(self)

    @abstractmethod
    def train(self, groups: list[list[Episode]]) -> None:
        """One update.

        Args:
            groups: episodes to learn from; those of a group were attempts at the same task instance. There are
                none where a process shares in an update of others'.
        """

    def task_seeds(self, first: int) -> Iterator[int]:
        """Seeds of the episodes that this process plays, from number `first` on; those of a group are alike.

        A seed depends on the episode's number and the agent's own seed, and not on what was drawn before.
        """
        for number in count(first // self.group_size):
            group = number * processes.size() + processes.rank()
            (drawn,) = np.random.SeedSequence((self.task_entropy, group)).generate_state(1)
            yield from [FIRST_TRAINING_SEED + int(drawn) % ((1 << 31) - FIRST_TRAINING_SEED)] * self.group_size

    @property
    def judges_steps(self) -> bool:
        """Whether executed actions are judged while the roll-out goes on."""
        return False

    def judge_steps(self, steps: list[tuple[Episode, int]]) -> None:
        """Has the executed actions of some steps judged, each given by its episode and number; if it `judges_steps`."""
        raise NotImplementedError

    def remember(self, finished: list[Attempt]) -> None:
        """Keeps the statistics of episodes that say something about the agent."""
        for attempt in finished:
            if attempt.episode.learnable:
                elapsed = time.perf_counter() - self._begun_at
                self.ep_info_buffer.append({"r": attempt.reward, "l": attempt.length, "t": round(elapsed, 3)})
                self.ep_success_buffer.append(float(attempt.episode.success))

    # ---- what updates are made of -----------------------------------------------------------------------------

    def tree(self, episode: Episode, candidates: Candidates = "all") -> Tree:
        """An episode as policy and critic are passed it: all its candidates, or the executed ones only."""
        if self.trajectory_trees:
            return build_tree(self.policy, episode, candidates, self.max_branch_tokens)
        return separate_tree(self.policy, episode, candidates)

    def policy_sample(self, episode: Episode, tree: Tree, advantages: Tensor, first: int = 0) -> PolicySample:
        """An episode as `update_policy` takes it.

        Args:
            episode: its candidates have the sampler's log-probabilities.
            tree: of the episode, with all its candidates.
            advantages: of the candidates from `first` on, (T, k), or (T,) where there is one.
            first: leading candidates of every step that are not learned from.
        """
        chosen = [candidate for step in episode.steps for candidate in step.candidates[first:]]
        lengths = torch.tensor([len(candidate.token_ids) for candidate in chosen], device=self.device)
        old = torch.tensor([value for candidate in chosen for value in candidate.logprobs], device=self.device)
        return PolicySample(tree, old, advantages.flatten().repeat_interleave(lengths), first)

    @torch.no_grad()
    def _score_again(self, samples: list[PolicySample]) -> None:
        """Replaces the sampler's log-probabilities."""

        def score(tree: Tree, first: int = 0) -> Tensor:
            scored = log_probs(self.policy, tree, self.temperature)
            return torch.cat([candidate for step in scored for candidate in step[first:]])

        with in_step(self.policy.model, score):
            for sample in samples:
                sample.old_log_probs = score(sample.tree, sample.first)

    def update_policy(self, samples: list[PolicySample]) -> None:
        """PPO's clipped update over `n_epochs` passes, and its log entries."""
        if self.recompute_log_probs:
            self._score_again(samples)
        optimizer = self.optimizers["policy.optimizer"]
        learning_rate = set_learning_rate(optimizer, _value(self.learning_rate, self.progress_remaining))
        with self.timed("update"):
            batches = self.mini_batches(samples, self.n_epochs)
            means = update_policy(
                self.policy, optimizer, batches, self.clip_range, self.max_grad_norm, self.temperature
            )
        advantages = processes.concatenate([sample.advantages for sample in samples])
        self.log_training(
            **means,
            loss=means.get("policy_gradient_loss", 0.0),
            advantage_std=advantages.std(correction=0).item(),
            clip_range=self.clip_range,
            learning_rate=learning_rate,
            token_ratio=_token_ratio([sample.tree for sample in samples]),
        )
        self.logger.record("train/n_updates", self.n_updates + 1, exclude="tensorboard")

    def mini_batches(self, items: Sequence[Item], n_epochs: int) -> list[list[Item]]:
        """Shuffled mini-batches of `mini_batch_size` items, `n_epochs` times over all of them.

        Several processes share a mini-batch, and have the same number of them; of the last ones some may have nothing.
        """
        number = max(processes.gather(len(items)))
        size = self.mini_batch_size // processes.size() if self.mini_batch_size else number
        batches = []
        for _ in range(n_epochs):
            for indices in _batched(self.rng.permutation(number).tolist(), size):
                batches.append([items[index] for index in indices if index < len(items)])
        return batches

    @property
    def progress_remaining(self) -> float:
        """Share of the steps of this `learn` that is still to come, from 1 to 0."""
        return max(0.0, 1.0 - self.num_timesteps / self.total_timesteps) if self.total_timesteps else 1.0

    # ---- logging ----------------------------------------------------------------------------------------------

    def log_training(self, **values: float) -> None:
        """Records `train/*` values."""
        for name, value in values.items():
            self.logger.record(f"train/{name}", value)

    @contextmanager
    def timed(self, part: str) -> Iterator[None]:
        """Counts the seconds spent inside as `time/{part}`."""
        started = time.perf_counter()
        yield
        self._seconds[part] += time.perf_counter() - started

    def dump_logs(self, iteration: int = 0) -> None:
        """Writes the log entry of the iterations since the last one, with the seconds that each part took."""
        elapsed = max(time.perf_counter() - self._begun_at, sys.float_info.epsilon)
        if iteration > 0:
            self.logger.record("time/iterations", iteration, exclude="tensorboard")
        infos, successes = self.recent_episodes()
        if infos:
            self.logger.record("rollout/ep_rew_mean", np.mean([info["r"] for info in infos]))
            self.logger.record("rollout/ep_len_mean", np.mean([info["l"] for info in infos]))
            self.logger.record("rollout/success_rate", np.mean(successes))
        self.logger.record("time/fps", int((self.num_timesteps - self._begun_with) / elapsed))
        self.logger.record("time/time_elapsed", int(elapsed), exclude="tensorboard")
        self.logger.record("time/total_timesteps", self.num_timesteps, exclude="tensorboard")
        for part, seconds in self._seconds.items():
            self.logger.record(f"time/{part}", seconds)
        self._seconds.clear()
        self.logger.dump(step=self.num_timesteps)

    def recent_episodes(self) -> tuple[list[dict[str, float]], list[float]]:
        """`ep_info_buffer` and `ep_success_buffer` of all processes."""
        theirs = processes.gather((list(self.ep_info_buffer), list(self.ep_success_buffer)))
        return [info for infos, _ in theirs for info in infos], [each for _, successes in theirs for each in successes]

    @property
    def logger(self) -> Logger:
        """Where training writes its numbers."""
        return self._logger

    def set_logger(self, logger: Logger) -> None:
        """Replaces the logger for good; `learn` then makes none of its own."""
        self._logger, self._custom_logger = logger, True

    # ---- saving --------------------------------------------------------------------------------------------------

    def save(
        self, path: str | Path, exclude: Sequence[str] | None = None, include: Sequence[str] | None = None
    ) -> None:
        """Writes the agent as a directory, all at once: policy, critic, optimizers, counters and random states.

        Of several processes all have to call it, and the first one, which writes, has to have room for the policy,
        the critic, or the state of an optimizer in its memory; `checkpoint.save_shards` needs none.

        Args:
            path: the directory; replaced if it holds a saved agent.
            exclude: `["optimizer"]` saves two thirds of the space; training then goes on with new optimizers.
            include: takes parts off `exclude`.

        Raises:
            FileExistsError: `path` is something else than a saved agent; it is left alone.
        """
        checkpoint.save_agent(self, Path(path), set(exclude or ()) - set(include or ()))

    @classmethod
    def load(
        cls,
        path: str | Path,
        env: Env | None = None,
        device: str | torch.device = "auto",
        custom_objects: dict[str, Any] | None = None,
        print_system_info: bool = False,
        force_reset: bool = True,
        **kwargs: Any,
    ) -> Self:
        """Reads an agent that `save` or `save_shards` wrote. Training goes on from it as if it had never stopped.

        Args:
            path: the directory.
            env: environment to go on in; an agent without one can only predict.
            device: of the weights.
            custom_objects: constructor arguments that a JSON file cannot hold, such as a reward model.
            print_system_info: prints the versions at work.
            force_reset: for the signature's sake: every roll-out begins with a reset.
            kwargs: constructor arguments that override the saved ones.
        """
        if print_system_info:
            print(f"Python {sys.version}, torch {torch.__version__}, gymnasium {gym.__version__}")
        given = {**(custom_objects or {}), **kwargs}
        arguments = checkpoint.load_arguments(Path(path), cls.__name__, given, device)
        agent = cls(env=env, device=device, **arguments)
        checkpoint.restore(agent, Path(path))
        return agent


def _batched(items: Sequence[Item], size: int) -> list[list[Item]]:
    remaining = iter(items)
    return list(iter(lambda: list(islice(remaining, size)), []))


def _value(schedule: Schedule, progress_remaining: float) -> float:
    return schedule(progress_remaining) if callable(schedule) else schedule


def set_learning_rate(optimizer: Optimizer, learning_rate: float) -> float:
    """Sets and returns the learning rate of all parameters."""
    for group in optimizer.param_groups:
        group["lr"] = learning_rate
    return learning_rate


def _token_ratio(trees: list[Tree]) -> float:
    """Tokens of one sequence for every candidate, over tokens of the trees."""
    trunks = [trunk for tree in trees for trunk in tree.trunks]
    separate = sum(span.prompt_end + span.length for trunk in trunks for step in trunk.spans for span in step)
    packed = sum(trunk.input_ids.shape[1] for trunk in trunks)
    return sum(processes.gather(separate)) / sum(processes.gather(packed))
