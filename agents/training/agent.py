"""A policy that acts, with all that a training adds to it; in memory, over processes, and as a directory."""

import sys
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, Self

import gymnasium as gym
import numpy as np
import torch
import torch.distributed as dist
from gymnasium.vector import VectorEnv
from torch.optim import Optimizer

from coach_gym.agents.distributed import parallel, processes
from coach_gym.agents.generation.generator import Generator
from coach_gym.agents.generation.make import Generation, make_generator
from coach_gym.agents.models.critic import Critic
from coach_gym.agents.models.learner import Learner
from coach_gym.agents.models.lora import add_lora
from coach_gym.agents.models.policy import Policy, PolicySource
from coach_gym.agents.playing.player import PolicyPlayer
from coach_gym.agents.training.logs.logger import Logger
from coach_gym.agents.training.logs.training_log import TrainingLog
from coach_gym.agents.training.optimizers import OptimizerName, make_optimizer
from coach_gym.agents.training.saving import checkpoint
from coach_gym.agents.training.saving.parameters import Parameters, load_state_dicts, state_dicts
from coach_gym.agents.training.saving.state import TrainerState, restore_sampling, sampling_state
from coach_gym.dialects import Dialect
from coach_gym.episode import Episode

Env = gym.Env | VectorEnv | str
"""An environment, a vector environment, or the id of one."""


class Agent:
    """A policy that acts, with Stable-Baselines3's surface, and the state of its training.

    Args:
        policy: `"pocket"`, a directory, a hub id, (model, processor), or a `Policy`.
        learning_rate: Initial learning rate of the policy's optimizer.
        temperature: Sampling temperature.
        max_new_tokens: Length at which a response is cut off.
        max_prompt_length: Maximum number of prompt tokens; beyond it the oldest steps are dropped.
        generation: What draws responses.
        lora_rank: Rank of the adapters that are trained in place of the weights; 0 trains the weights.
        lora_alpha: Scale of the adapters, times their rank.
        optimizer: Kind of the optimizers.
        bfloat16: Makes forward and backward passes in bfloat16.
        checkpoint_activations: Recomputes activations in the backward pass.
        cpu_offload: Keeps weights, gradients and optimizer states on the host.
        dialect: Overrides the dialect that the policy's directory names.
        min_pixels: Overrides the dialect's lower bound of an image's area.
        max_pixels: Overrides the dialect's upper bound of an image's area.
        stats_window_size: Episodes that `rollout/*` averages over.
        seed: Seed of all randomness; None for a random one.
        device: Device of the weights.

    Attributes:
        policy: The policy.
        critic: The critic; None for a method without one.
        reference: The frozen policy of the KL penalty; None without a penalty.
        optimizers: Optimizers by the names of `get_parameters`.
        player: Draws and executes the policy's responses.
        log: Statistics of the training.
        arguments: The constructor's arguments, which are saved with the agent.
        num_timesteps: Environment steps taken, over all sub-environments and processes.
        num_fork_steps: Steps taken on forks of environments, in addition.
        total_timesteps: Number of steps at which the current call of `learn` ends.
        n_updates: Iterations that ended in an update.
        num_instances: Task instances played to their end, over all processes.
        success_rates: Recent success by task family, if a curriculum needs it.
        critic_is_ready: Whether the critic has reached `critic_warmup_explained`.
    """

    critic: Critic | None = None
    reference: Policy | None = None
    arguments: Mapping[str, Any]

    def __init__(
        self,
        policy: PolicySource,
        *,
        learning_rate: float,
        temperature: float,
        max_new_tokens: int,
        max_prompt_length: int,
        generation: Generation,
        lora_rank: int,
        lora_alpha: float,
        optimizer: OptimizerName,
        bfloat16: bool,
        checkpoint_activations: bool,
        cpu_offload: bool,
        dialect: Dialect | str | None,
        min_pixels: int | None,
        max_pixels: int | None,
        stats_window_size: int,
        seed: int | None,
        device: str | torch.device,
    ) -> None:
        self.temperature = temperature
        self.max_new_tokens = max_new_tokens
        self.max_prompt_length = max_prompt_length
        self.generation = generation
        self.lora_rank, self.lora_alpha = lora_rank, lora_alpha
        self.optimizer: OptimizerName = optimizer
        self.bfloat16 = bfloat16
        self.checkpoint_activations = checkpoint_activations
        self.cpu_offload = cpu_offload
        self.stats_window_size = stats_window_size
        self.set_random_seed(seed)
        self.policy = Policy.load(policy, dialect, device, self._read_dtype, min_pixels, max_pixels)
        self._adapt(self.policy.model)
        self.policy.max_prompt_length = max_prompt_length
        self.player = PolicyPlayer(self.policy, make_generator(generation, self.policy), temperature, max_new_tokens)
        of_policy = make_optimizer(self.policy.model, learning_rate, optimizer)
        self.optimizers: dict[str, Optimizer] = {"policy.optimizer": of_policy}
        self.num_timesteps = self.total_timesteps = self.n_updates = self.num_instances = self.num_fork_steps = 0
        self.success_rates: dict[str, float] = {}
        self.critic_is_ready = False
        self.log = TrainingLog(stats_window_size)
        self._custom_logger = False

    @property
    def _stored_dtype(self) -> torch.dtype:
        """Precision of the weights in memory: float32 if they are trained, else that of the passes."""
        return torch.bfloat16 if self.bfloat16 and self.lora_rank else torch.float32

    @property
    def _read_dtype(self) -> torch.dtype | Literal["auto"]:
        """Precision in which weights are read: as stored if `distribute` is to shard them and to make them float32.

        Until then they are views of their file, and a process never holds more than its shards in memory of its own.
        """
        return "auto" if dist.is_initialized() and not self.lora_rank else self._stored_dtype

    def _adapt(self, model: Any) -> None:
        """Adds the adapters that are to be trained to a model with or without language head."""
        if self.lora_rank:
            add_lora(model, self.lora_rank, self.lora_alpha, self._stored_dtype)

    @property
    def progress_remaining(self) -> float:
        """Share of the steps of the current `learn` that is still to come, from 1 to 0."""
        return max(0.0, 1.0 - self.num_timesteps / self.total_timesteps) if self.total_timesteps else 1.0

    # ---- acting -----------------------------------------------------------------------------------------------

    def predict(
        self,
        observation: Mapping[str, Any],
        state: Sequence[Episode | None] | None = None,
        episode_start: Any = None,
        deterministic: bool = False,
    ) -> tuple[Any, tuple[Episode, ...]]:
        """Returns the next action, or one for each observation of a batch.

        Args:
            observation: Observation of one environment, or a vector environment's batch.
            state: The state that the last call returned, which is the history of each episode; None at the start.
            episode_start: Whether each episode has just begun, so that its history is dropped; one bool for each
                observation, or one for all.
            deterministic: Takes the most likely response instead of drawing one.

        Returns:
            The action text, or a tuple of texts for a batch; and the state for the next call.
        """
        return self.player.predict(observation, state, episode_start, deterministic)

    @property
    def generator(self) -> Generator:
        """Draws the policy's responses."""
        return self.player.generator

    def set_random_seed(self, seed: int | None = None) -> None:
        """Seeds sampling, mini-batches and the choice of task instances; None for a random seed."""
        self.seed = seed
        self.rng = np.random.default_rng(seed)
        self.task_entropy = int(self.rng.integers(1 << 63))
        if seed is not None:
            torch.manual_seed(seed)

    # ---- processes --------------------------------------------------------------------------------------------

    def distribute(self) -> None:
        """Shards the agent over the processes of `torch.distributed`; `learn` calls it.

        All processes hold the same agent when they call this. Without processes, or if the agent is sharded already,
        nothing changes.

        Raises:
            ValueError: `bfloat16` was requested without processes.
        """
        was_whole = not parallel.is_sharded(self.policy.model)
        self.player.generator = parallel.shard_learner(
            self.learner, self.generator, self.generation, self.bfloat16, self.checkpoint_activations, self.cpu_offload
        )
        if was_whole and processes.size() > 1:
            self.log.resize(max(1, self.stats_window_size // processes.size()))
            parallel.split_randomness(self.rng)

    def refresh_sampler(self) -> None:
        """Sends the weights to the copy of a sharded policy that is sampled from; does nothing without one."""
        parallel.send_weights(self.policy, self.generator, self.bfloat16)

    # ---- statistics -------------------------------------------------------------------------------------------

    @property
    def logger(self) -> Logger:
        """Receives what training logs."""
        return self.log.logger

    def set_logger(self, logger: Logger) -> None:
        """Replaces the logger for good; `learn` then makes none of its own."""
        self.log.logger, self._custom_logger = logger, True

    @property
    def ep_info_buffer(self) -> deque[dict[str, float]]:
        """Reward `r`, length `l` and time `t` of the latest episodes."""
        return self.log.ep_info_buffer

    @property
    def ep_success_buffer(self) -> deque[float]:
        """Success of the latest episodes, 0 or 1."""
        return self.log.ep_success_buffer

    @property
    def doing(self) -> str | None:
        """The part of the log's `time/` that is in progress; None between them."""
        return self.log.doing

    # ---- parameters, saving ---

    @property
    def learner(self) -> Learner:
        """All that is trained."""
        return Learner(self.policy, self.critic, self.optimizers, self.reference)

    @property
    def device(self) -> torch.device:
        """Device of the weights."""
        return self.policy.device

    def get_parameters(self) -> Parameters:
        """Returns state dicts of the policy, the critic if there is one, and their optimizers.

        With several processes, the first one receives them, on its CPU.
        """
        return state_dicts(self.learner)

    def set_parameters(
        self,
        load_path_or_dict: str | Path | Parameters,
        exact_match: bool = True,
        device: str | torch.device = "auto",
    ) -> None:
        """Loads what `get_parameters` returned, or the parameters of a saved agent.

        Args:
            load_path_or_dict: State dicts from `get_parameters`, or a directory that `save` wrote.
            exact_match: Requires every part, and every weight of each part.
            device: Has no effect, since weights stay where they are; part of Stable-Baselines3's signature.

        Raises:
            ValueError: Parts are missing or unknown, or `learn` has sharded the agent over processes.
        """
        given = load_path_or_dict
        given = given if isinstance(given, dict) else checkpoint.read_parameters(Path(given))
        load_state_dicts(self.learner, given, exact_match)

    def save(
        self, path: str | Path, exclude: Sequence[str] | None = None, include: Sequence[str] | None = None
    ) -> None:
        """Writes the agent as a directory, all at once: policy, critic, optimizers, counters and random states.

        In the middle of a roll-out, counters and random states are those of its beginning: a training that continues
        from there plays its episodes again. Files in the directory that no save has written are kept.

        With several processes, all call it. The first one writes, and needs memory for the whole policy, critic, or
        state of an optimizer; `save_shards` needs none.

        Args:
            path: The directory; replaced if it holds a saved agent.
            exclude: `["optimizer"]` saves two thirds of the space; training then continues with new optimizers.
            include: Removes parts from `exclude`.

        Raises:
            FileExistsError: `path` is something other than a saved agent; it is left alone.
            FloatingPointError: A weight or an optimizer state is not finite; nothing is written.
        """
        checkpoint.write(self._saved(), Path(path), set(exclude or ()) - set(include or ()))

    def save_shards(self, path: str | Path) -> None:
        """Writes the agent as a directory, each process its own shards; all processes call it.

        Args:
            path: The directory, on storage that all processes share; replaced if it holds a saved agent.

        Raises:
            FileExistsError: `path` is something other than a saved agent; it is left alone.
            FloatingPointError: A weight or an optimizer state is not finite; nothing is written.
        """
        checkpoint.write_sharded(self._saved(), Path(path))

    def _saved(self) -> checkpoint.Saved:
        return checkpoint.Saved(type(self).__name__, self.arguments, self.learner, self._state())

    def _state(self) -> TrainerState:
        """Where the training stands."""
        return TrainerState(
            self.num_timesteps, self.n_updates, self.num_instances, self.task_entropy, [*self.ep_info_buffer],
            [*self.ep_success_buffer], self.rng.bit_generator.state, sampling_state(self.device),
            self.num_fork_steps, self.success_rates, self.critic_is_ready,
        )  # fmt: skip

    def _set_state(self, state: TrainerState) -> None:
        self.num_timesteps, self.n_updates = state.num_timesteps, state.n_updates
        self.num_instances, self.task_entropy = state.num_instances, state.task_entropy
        self.num_fork_steps, self.success_rates = state.num_fork_steps, dict(state.success_rates)
        self.critic_is_ready = state.critic_is_ready
        self.log.set_episodes(state.ep_info, state.ep_success)
        self.rng.bit_generator.state = state.numpy_rng
        restore_sampling(state.sampling, self.device)

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
        """Reads an agent that `save` or `save_shards` wrote. Training continues as if it had never stopped.

        Args:
            path: The directory.
            env: Environment to continue in; an agent without one can only predict.
            device: Device of the weights.
            custom_objects: Constructor arguments that a JSON file cannot hold, such as a reward model.
            print_system_info: Prints the versions in use.
            force_reset: Has no effect, since every roll-out begins with a reset; part of Stable-Baselines3's signature.
            kwargs: Constructor arguments that override the saved ones.

        Raises:
            FileNotFoundError: `path` is not a saved agent, or a part of it is missing.
            TypeError: An argument is unknown or of the wrong type, in the file or in this call.
            ValueError: It holds an agent of another class, a file of it is damaged, or an argument that JSON cannot
                hold was not given again.
        """
        if print_system_info:
            print(f"Python {sys.version}, torch {torch.__version__}, gymnasium {gym.__version__}")
        given = {**(custom_objects or {}), **kwargs}
        arguments = checkpoint.load_arguments(Path(path), cls.__name__, given, device)
        make: Callable[..., Self] = cls  # its subclasses take the saved arguments, and an environment
        try:
            agent = make(env=env, device=device, **arguments)
        except TypeError as error:
            raise TypeError(
                f"{error}. Arguments that were not passed to load() are in {Path(path) / 'config.json'}; if another "
                f"version saved the agent, remove those from it that this version does not know, and the file's line "
                f"from SHA256SUMS"
            ) from error
        agent._restore(Path(path))
        return agent

    def _restore(self, path: Path) -> None:
        if checkpoint.has_shards(path) and torch.distributed.is_initialized():
            self.distribute()
        checkpoint.restore_learner(self.learner, path)
        self.refresh_sampler()
        state, same_processes = checkpoint.read_state(path)
        self._set_state(state)
        if not same_processes:
            parallel.split_randomness(self.rng)
