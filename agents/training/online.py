"""What all methods share: the loop of roll-outs and updates."""

import warnings
from abc import ABC, abstractmethod
from collections import deque
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal, Self

import torch

from coach_gym.agents.distributed import parallel, processes
from coach_gym.agents.generation import frozen
from coach_gym.agents.generation.make import Generation, check_generation, is_address
from coach_gym.agents.judging.trouble import JudgeErrors
from coach_gym.agents.judging.verifiers import RULES, OutcomeVerifier, load_verifier
from coach_gym.agents.models.policy import PolicySource, as_device, require_source
from coach_gym.agents.models.reference import frozen_reference
from coach_gym.agents.models.tree import MAX_BRANCH_TOKENS
from coach_gym.agents.playing.claims import claimed
from coach_gym.agents.playing.rollout import settle
from coach_gym.agents.training.agent import Env
from coach_gym.agents.training.arguments import (
    checked_arguments,
    require_at_least,
    require_not_negative,
    require_positive,
    require_share,
)
from coach_gym.agents.training.callbacks import Callback, MaybeCallback, as_callback
from coach_gym.agents.training.collecting import CollectingAgent
from coach_gym.agents.training.logs.logger import Logger, configure_logger
from coach_gym.agents.training.logs.media import settings_of
from coach_gym.agents.training.logs.progress import ProgressBarCallback
from coach_gym.agents.training.logs.recorder import EpisodeRecorder
from coach_gym.agents.training.logs.rollout_log import log_judges
from coach_gym.agents.training.objective.losses import ImportanceLevel
from coach_gym.agents.training.optimizers import OptimizerName, check_optimizer
from coach_gym.agents.training.overlap import warn_of_tests
from coach_gym.agents.training.remembered import Success, Visited, successes_in
from coach_gym.agents.training.saving.checkpoint import SUCCESSES, VISITED, Saved, read_remembered
from coach_gym.agents.training.saving.state import TrainerState
from coach_gym.agents.training.saving.transaction import Backup, require_finite
from coach_gym.agents.training.schedules import Schedule, value_of
from coach_gym.agents.training.settings import check_settings
from coach_gym.agents.training.updating import Memory
from coach_gym.checks import MOST, WrongType, require_at_most, require_switch, require_temperature, require_whole
from coach_gym.dialects import Dialect
from coach_gym.dialects.names import dialect_named
from coach_gym.episode import Episode
from coach_gym.interruptions import held_back


class OnlineAgent(CollectingAgent, ABC):
    """Alternates roll-outs, in which the policy plays a batch of episodes, and updates, which `train` defines.

    Defaults are those of the paper's table of hyper-parameters.

    Args:
        policy: `"pocket"`, a directory, a hub id, (model, processor), or a `Policy`. Weights read from disk are kept in
            float32: in bfloat16, updates of the paper's size round to nothing.
        env: Environment, vector environment, or an id, of which `batch_size` instances are made. Observations are dicts
            with `goal` and `screenshot`, and optionally `ui` and `last_action_error`; actions are text.
        learning_rate: AdamW's learning rate for the policy, or a function of the remaining progress, which goes from 1
            to 0.
        batch_size: Episodes per roll-out, shared by all processes. With fewer sub-environments, each plays several.
        mini_batch_size: Episodes per optimizer step; None takes the whole roll-out.
        n_epochs: Passes of the policy over a roll-out.
        clip_range: Clipping parameter epsilon of PPO's probability ratio.
        importance_sampling_level: What has a probability ratio of its own: each `"token"`, as in verl's PPO, the
            response as a whole (`"action"`, the paper's equation to the letter), or the geometric mean of its tokens'
            (`"sequence"`, GSPO). All have the same gradient until the policy moves, as it does between mini-batches.
        entropy_coef: Weight of an entropy bonus on the distribution of every token, which keeps the policy exploring; 0
            in the paper. Filtered cloning has neither this nor the next one.
        kl_coef: Weight of the KL divergence from a frozen reference, which keeps the policy near to where it began; 0
            in the paper. It costs a copy of the weights and a forward pass per roll-out.
        reference: Weights of that reference, as for `policy`; None for those that the agent starts with. A saved agent
            keeps its reference.
        max_grad_norm: Norm to which larger gradients are scaled down.
        temperature: Temperature of the policy: that of its log-probabilities and of `predict`.
        rollout_temperature: Temperature at which roll-outs draw their candidates, for example 1.2 to explore more; None
            for the same. Candidates are then weighted by importance (`importance.py`), at the cost of one more forward
            pass. Later actions of an episode are drawn hotter too, so returns are those of the hotter policy.
        max_importance_weight: Bound of such a weight.
        max_new_tokens: Length at which a response is cut off.
        max_prompt_length: Maximum number of prompt tokens; beyond it the oldest steps are dropped.
        collection: `"events"` lets no device wait for another. In `"rounds"` all devices act together, so that a seed
            repeats a run bit for bit. Gymnasium's own vector environments support rounds only.
        curriculum: Practises task families more that are solved less: an instance is played with a chance in proportion
            to this power of its family's recent failure rate (`curriculum.py`), which is the policy's own also where
            roll-outs choose among several draws (`BestOfK.own_success`). 0, as in the paper, plays whatever the
            environment draws. Needs environments that tell the task of a seed, as ours do.
        max_staleness: Number of updates by which the policy may be newer than the episodes it learns from, and of
            batches that devices may play ahead. 0 learns strictly on-policy.
        trajectory_trees: False passes one sequence per candidate through the models, the slow reference that learns the
            same.
        max_branch_tokens: Tokens of candidates in one pass, which bounds its memory.
        generation: What draws responses: `"transformers"`, `"vllm"`, the address of a server started with `coach-gym
            serve`, or a function that makes a `Generator` for a policy, such as
            `partial(VllmGenerator, gpu_memory_utilization=0.3)`.
        outcome_verifier: Judges episodes after they are over: `"rules"` for the environment's verdicts,
            `"openai:MODEL"` for a model that judges all of them, `"rules+openai:MODEL"` for one that judges where there
            is no rule; see `coach_gym.agents.judging.verifiers.load_verifier`. Episodes without a verdict are not
            learned from.
        judge_errors: `"raise"` ends the training with the traceback of a mistake in the code of your own judge;
            `"unknown"` goes on without its verdicts, as always when a server is in trouble.
        recompute_log_probs: Recomputes old log-probabilities before the update instead of using the sampler's, which
            differ from the trainer's if it draws in 16 bits.
        lora_rank: Rank of adapters (LoRA, by peft) in the text layers of policy and critic, which are trained in place
            of all weights, with a rate some ten times higher. 0 trains all weights, as in the paper.
        lora_alpha: Scale of the adapters, times `lora_rank`.
        optimizer: `"adamw"`, or `"adamw8bit"` with moments of 8 bits (torchao), a quarter of their memory.
        bfloat16: Makes passes in bfloat16 with what is trained, and optimizer states, in float32; needs torchrun unless
            `lora_rank` is set.
        checkpoint_activations: Keeps one activation per layer for the backward pass and recomputes the others.
        cpu_offload: Keeps weights, gradients and optimizer states in the host's memory, from where passes fetch layer
            by layer (FSDP2); needs torchrun.
        dialect: Overrides the dialect that the policy's directory names, by an object or a name of
            `coach_gym.dialects.DIALECTS`.
        min_pixels: Overrides the dialect's lower bound of an image's area, in pixels.
        max_pixels: Overrides the dialect's upper bound of an image's area; UI-TARS has the paper's.
        stats_window_size: Episodes that `rollout/*` averages over.
        keep_episodes: Share of the training's episodes to write to the folder `episodes` of the run, for
            `coach-gym view`. Fewer are written if that would take more than 2 % of the time; none without a run folder.
        tensorboard_log: Parent of the run folders; None writes none.
        verbose: 1 prints a table every `log_interval` iterations.
        seed: Seed of sampling, mini-batches and task instances; None for a random one.
        device: Device of the weights; `"auto"` is CUDA if available.

    Raises:
        TypeError: An argument is unknown or of the wrong type.
        ValueError: An argument is out of range.
    """

    _begun: TrainerState | None = None  # where to go on from if what has been played since is lost

    @checked_arguments()
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
        importance_sampling_level: ImportanceLevel = "token",
        entropy_coef: float = 0.0,
        kl_coef: float = 0.0,
        reference: PolicySource | None = None,
        max_grad_norm: float = 1.0,
        temperature: float = 1.0,
        rollout_temperature: float | None = None,
        max_importance_weight: float = 5.0,
        max_new_tokens: int = 512,
        max_prompt_length: int = 32_768,
        collection: Literal["events", "rounds"] = "events",
        max_staleness: int = 0,
        curriculum: float = 0.0,
        trajectory_trees: bool = True,
        max_branch_tokens: int = MAX_BRANCH_TOKENS,
        generation: Generation = "transformers",
        outcome_verifier: OutcomeVerifier | str = RULES,
        judge_errors: JudgeErrors = "raise",
        recompute_log_probs: bool = False,
        lora_rank: int = 0,
        lora_alpha: float = 32.0,
        optimizer: OptimizerName = "adamw",
        bfloat16: bool = False,
        checkpoint_activations: bool = False,
        cpu_offload: bool = False,
        dialect: Dialect | str | None = None,
        min_pixels: int | None = None,
        max_pixels: int | None = None,
        stats_window_size: int = 100,
        keep_episodes: float = 0.25,
        tensorboard_log: str | Path | None = None,
        verbose: int = 0,
        seed: int | None = None,
        device: str | torch.device = "auto",
    ) -> None:
        require_at_least(1, max_new_tokens=max_new_tokens, max_prompt_length=max_prompt_length)
        require_at_most(MOST, max_new_tokens=max_new_tokens)
        require_at_least(1, max_branch_tokens=max_branch_tokens, stats_window_size=stats_window_size)
        require_at_least(1, min_pixels=min_pixels, max_pixels=max_pixels)
        require_at_least(0, max_staleness=max_staleness, verbose=verbose, lora_rank=lora_rank)
        if seed is not None:
            require_whole(0, seed=seed)
        require_positive(max_grad_norm=max_grad_norm, lora_alpha=lora_alpha)
        require_share(keep_episodes=keep_episodes)
        require_not_negative(entropy_coef=entropy_coef, kl_coef=kl_coef, curriculum=curriculum)
        if temperature <= 0:
            raise ValueError(
                f"temperature={temperature} leaves one response per state and nothing to learn; pass 1.0 as in the "
                f"paper, and deterministic=True to predict() for greedy actions"
            )
        self.rollout_temperature = temperature if rollout_temperature is None else rollout_temperature
        require_temperature(temperature=temperature, rollout_temperature=self.rollout_temperature)
        require_positive(max_importance_weight=max_importance_weight)
        require_source(policy=policy, reference=reference)
        if reference is not None and not kl_coef:
            raise ValueError(f"kl_coef=0 leaves reference={reference!r:.60} unused; pass kl_coef=0.01, or no reference")
        as_device(device)
        check_generation(generation)
        check_optimizer(optimizer)
        if isinstance(dialect, str):
            dialect_named(dialect)
        self.max_importance_weight = max_importance_weight
        self.learning_rate = learning_rate
        self.batch_size = batch_size
        self.mini_batch_size = mini_batch_size
        self.n_epochs = n_epochs
        self.clip_range = clip_range
        self.importance_sampling_level: ImportanceLevel = importance_sampling_level
        self.entropy_coef = entropy_coef
        self.kl_coef = kl_coef
        self.max_grad_norm = max_grad_norm
        self.collection = collection
        self.max_staleness = max_staleness
        self.curriculum = curriculum
        self.trajectory_trees = trajectory_trees
        self.max_branch_tokens = max_branch_tokens
        self.recompute_log_probs = recompute_log_probs
        self.keep_episodes = keep_episodes
        self.judge_errors: JudgeErrors = judge_errors
        self.tensorboard_log = tensorboard_log
        self.verbose = verbose
        check_settings(
            batch_size, mini_batch_size, n_epochs, clip_range, learning_rate, collection, max_staleness,
            recompute_log_probs, self.group_size,
        )  # fmt: skip
        # A server holds one model, so the policy's server cannot serve the judge.
        self.verifier = load_verifier(outcome_verifier, "transformers" if is_address(generation) else generation)
        super().__init__(
            policy,
            learning_rate=value_of(learning_rate, 1.0),
            temperature=temperature,
            max_new_tokens=max_new_tokens,
            max_prompt_length=max_prompt_length,
            generation=generation,
            lora_rank=lora_rank,
            lora_alpha=lora_alpha,
            optimizer=optimizer,
            bfloat16=bfloat16,
            checkpoint_activations=checkpoint_activations,
            cpu_offload=cpu_offload,
            dialect=dialect,
            min_pixels=min_pixels,
            max_pixels=max_pixels,
            stats_window_size=stats_window_size,
            seed=seed,
            device=device,
        )
        halves = self.policy.model.dtype in (torch.bfloat16, torch.float16)
        if halves and not lora_rank and not torch.distributed.is_initialized():  # `distribute` makes them float32
            warnings.warn(
                f"the policy's weights are {self.policy.model.dtype}, which keeps about three digits: steps of "
                f"learning_rate={learning_rate} round to nothing; pass model.float(), or a path instead of a model",
                stacklevel=2,
            )
        self.reference = frozen_reference(self.policy, reference) if kl_coef else None
        self.player.rollout_temperature = self.rollout_temperature
        self.rollout_player = self.player
        self.successes: deque[Success] = deque(maxlen=0)
        self.visited: deque[Visited] = deque(maxlen=0)
        self._begun_with: dict[str, tuple[Any, ...]] = {}  # what was remembered there
        self._backup = Backup()
        if env is not None:
            self.set_env(env)

    # ---- learning -------------------------------------------------------------------------------------------------

    def learn(
        self,
        total_timesteps: int,
        callback: MaybeCallback = None,
        log_interval: int | None = 1,
        tb_log_name: str | None = None,
        reset_num_timesteps: bool = True,
        progress_bar: bool = False,
    ) -> Self:
        """Trains the agent.

        Episodes are played to their end, so the number of steps taken is a little higher than requested. An
        interruption or an error loses the current roll-out and nothing else: weights, optimizers, counters and random
        states return to its beginning, from where its episodes are played again; agent and environments stay usable.
        It waits for the steps and resets in progress, for as long as these may take.

        A callback that stops the training loses the current roll-out, too. Counters and statistics still tell of its
        steps; `save`, and a `learn` with `reset_num_timesteps=False`, go back to its beginning.

        Args:
            total_timesteps: Environment steps to take, over all sub-environments; a lower bound.
            callback: Called during training: a callback, a function of `locals()` and `globals()`, or a list.
            log_interval: Iterations between two log entries; None for no log.
            tb_log_name: Runs go to `{tensorboard_log}/{tb_log_name}_{n}`; None for the name of the class.
            reset_num_timesteps: False keeps counting, and continues the latest run folder.
            progress_bar: Shows what is going on, recent success and the time that is left, if a terminal or notebook
                is there to show it.

        Returns:
            The agent.

        Raises:
            RuntimeError: Another training or evaluation is running on the same environments.
            ValueError: There is no environment, or no success in the folder of `rehearsal`.
        """
        require_whole(0, total_timesteps=total_timesteps)
        if log_interval is not None:
            require_whole(1, log_interval=log_interval)
        if not isinstance(tb_log_name, str | None):
            raise WrongType(f"tb_log_name={tb_log_name!r:.60} is of type {type(tb_log_name).__name__}; pass a text")
        require_switch(reset_num_timesteps=reset_num_timesteps, progress_bar=progress_bar)
        if self.env is None:
            raise ValueError("the agent has no environment; pass env= to load(), or call set_env()")
        warn_of_tests(self.env.spec)
        with claimed(self.env):
            hooks = self._setup_learn(total_timesteps, callback, reset_num_timesteps, tb_log_name, progress_bar)
            hooks.on_training_start(locals(), globals())
            for key, value in settings_of(type(self).__name__, self.arguments).items():
                self.logger.record(key, value)
            self._learn(hooks, log_interval)
        return self

    def _learn(self, hooks: Callback, log_interval: int | None) -> None:
        """Repeats roll-outs and updates until the steps are taken, or a callback stops them."""
        iteration = 0
        try:
            while self.num_timesteps < self.total_timesteps:
                self._begin(self._settled_state())
                groups = self.collect_rollouts(hooks)
                if groups is None:
                    break
                iteration += 1
                self._update(groups)
                if log_interval is not None and iteration % log_interval == 0:
                    log_judges(self.logger)
                    self.log.dump(self.num_timesteps, iteration)
            self._forget_steps_ahead()
            settle(self.env)  # resets of the next batch are in progress
        except BaseException:
            with held_back():
                self._undo()
            if processes.size() == 1:  # others wait for this process elsewhere, so it must end, and they with it
                hooks.on_training_end()
                settle(self.env)
            raise
        hooks.on_training_end()

    def _update(self, groups: list[list[Episode]]) -> None:
        """Learns from a roll-out, all of it or nothing."""
        if not processes.any_of(bool(groups)):
            self._begun = None
            return
        self.generator.sleep()
        frozen.sleep()
        self._backup.keep(self.learner)
        self.train(groups)
        require_finite(self.learner)
        with held_back():
            self.n_updates += 1
            self._begun, self._backup.active = None, False
        self.refresh_sampler()

    def _begin(self, state: TrainerState) -> None:
        """Notes where an iteration begins, to which `_undo` returns."""
        self._begun_with = {name: tuple(store) for name, store in self._remembered.items()}
        self._begun = state

    @property
    def _remembered(self) -> dict[str, deque[Any]]:
        """Earlier episodes that iterations learn from again, by the name of their file in checkpoints."""
        return {SUCCESSES: self.successes, VISITED: self.visited}

    def _settled_state(self) -> TrainerState:
        """Where the training stands, without the steps of episodes that are to be played again after a break."""
        ahead = self._collector.steps_ahead if self._collector is not None else 0
        state = self._state()
        return replace(state, num_timesteps=state.num_timesteps - sum(processes.gather(ahead)))

    def _forget_steps_ahead(self) -> None:
        """Drops episodes of later batches; their steps, which have been counted, are played again if it goes on."""
        settled = self._settled_state()
        if settled.num_timesteps < self.num_timesteps and self._begun is None:
            self._begin(settled)
        self._collector = None

    def set_random_seed(self, seed: int | None = None) -> None:
        """Seeds sampling, mini-batches and the choice of task instances; None for a random seed."""
        super().set_random_seed(seed)
        if self._begun is not None:
            new = self._state()
            self._begun = replace(
                self._begun, task_entropy=new.task_entropy, numpy_rng=new.numpy_rng, sampling=new.sampling
            )

    def _undo(self) -> None:
        """Returns to the beginning of the iteration in progress, if any."""
        self._collector = None
        if self._begun is not None:
            self._backup.restore(self.learner)
            self._set_state(self._begun)
            for name, store in self._remembered.items():
                store.clear()
                store.extend(self._begun_with[name])
            self._begun = None

    def _saved(self) -> Saved:
        if self._backup.active:
            raise RuntimeError("an update is in progress, and half of it is not saved; save before or after it")
        files = {name: [episode.file for episode in store] for name, store in self._remembered.items()}
        saved = replace(super()._saved(), remembered=files)
        return saved if self._begun is None else replace(saved, state=self._begun)

    def _restore(self, path: Path) -> None:
        super()._restore(path)
        self.successes.extend(map(Success, read_remembered(path / SUCCESSES)))
        self.visited.extend(map(Visited, read_remembered(path / VISITED)))

    def _setup_learn(
        self,
        steps: int,
        callback: MaybeCallback,
        reset_num_timesteps: bool,
        tb_log_name: str | None,
        progress_bar: bool,
    ) -> Callback:
        self._read_rehearsal()
        self.distribute()
        self._collector = None  # the environments may have been used for something else
        if not reset_num_timesteps:
            self._undo()  # what a callback has stopped is played again
        else:
            self._begun = None
            self.num_timesteps = self.num_fork_steps = 0
            self.log.set_episodes()
        self.total_timesteps = self.num_timesteps + steps
        self.log.begin(self.num_timesteps)
        if not self._custom_logger:
            self.logger.close()
            name = tb_log_name or type(self).__name__
            log = self.tensorboard_log, name, reset_num_timesteps
            self.log.logger = Logger(None, []) if processes.rank() else configure_logger(self.verbose, *log)
        shown = progress_bar and processes.rank() == 0
        callbacks: list[Any] = [as_callback(callback), EpisodeRecorder(self.keep_episodes)]
        hooks = as_callback([*callbacks, ProgressBarCallback()] if shown else callbacks)
        hooks.init_callback(self)
        return hooks

    def _read_rehearsal(self) -> None:
        """Reads what this process rehearses; anew in every `learn`, as only that needs the folder."""
        if self.rehearsal is not None:
            self.rehearsed = successes_in(self.rehearsal, self.policy)[processes.rank() :: processes.size()]

    @abstractmethod
    def train(self, groups: list[list[Episode]]) -> None:
        """Updates the models once.

        Args:
            groups: Episodes to learn from; those of a group attempted the same task instance. Empty if this process
                only takes part in an update of others.
        """

    # ---- processes ------------------------------------------------------------------------------------------------

    def distribute(self) -> None:
        """Shards the agent over the processes of `torch.distributed`; `learn` calls it.

        Raises:
            ValueError: Batch sizes do not divide by the number of processes, or `bfloat16` was requested without any.
        """
        parallel.check_shares(self.batch_size, self.group_size, self.mini_batch_size)
        was_whole = not parallel.is_sharded(self.policy.model)
        super().distribute()
        if was_whole:
            self.successes, self.visited = _own_share(self.successes), _own_share(self.visited)


def _own_share(store: deque[Memory]) -> deque[Memory]:
    """Returns the store with this process's share of its room."""
    return deque(store, None if store.maxlen is None else processes.share(store.maxlen))
