"""An agent that plays roll-outs on a vector environment."""

import warnings
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import Literal

import gymnasium as gym
from gymnasium.vector import VectorEnv

from coach_gym.agents.distributed import processes
from coach_gym.agents.judging.trouble import JudgeErrors
from coach_gym.agents.judging.verifiers import OutcomeVerifier, Rules, ask_verifier
from coach_gym.agents.playing.collector import Collector
from coach_gym.agents.playing.player import PolicyPlayer
from coach_gym.agents.playing.rollout import Attempt, Transition, as_vector_env
from coach_gym.agents.training.agent import Env
from coach_gym.agents.training.batching import batched, training_seeds
from coach_gym.agents.training.callbacks import Callback, CallbackList
from coach_gym.agents.training.curriculum import play_probability, updated_rates
from coach_gym.agents.training.logs.rollout_log import log_rollout
from coach_gym.agents.training.settings import check_collection, require_tasks_told
from coach_gym.agents.training.updating import UpdatingAgent
from coach_gym.episode import Episode
from coach_gym.protocols import ForkableVectorEnv, TaskTelling


class CollectingAgent(UpdatingAgent):
    """An `UpdatingAgent` that plays roll-outs; `OnlineAgent` describes what its constructor takes.

    Attributes:
        env: The vector environment that is trained on.
        rollout_player: Plays the roll-outs: `player`, unless a method explores in another way.
        n_candidates: Responses drawn in every state during roll-outs.
        group_size: Episodes that share a seed.
        keep_forks: Whether roll-outs keep a fork of every state (`Step.env`).
    """

    n_candidates = 1
    group_size = 1
    keep_forks = False
    batch_size: int
    collection: Literal["events", "rounds"]
    max_staleness: int
    curriculum: float
    judge_errors: JudgeErrors
    verifier: OutcomeVerifier
    rollout_player: PolicyPlayer
    env: VectorEnv | None = None
    _collector: Collector | None = None

    # ---- roll-outs ------------------------------------------------------------------------------------------------

    def collect_rollouts(self, callback: Callback | None = None) -> list[list[Episode]] | None:
        """Plays `batch_size` episodes with the current policy and draws `n_candidates` responses in every state.

        The first candidate is executed, a draw from the policy like any other. Each of several processes plays its
        share.

        Returns:
            The episodes in groups with the same seed, without those that a fault has left without a verdict; None if
            the callback stopped the training in any process.
        """
        if callback is None:
            callback = CallbackList([])
            callback.init_callback(self)
        self._collector = self._undisturbed_collector()
        callback.on_rollout_start()
        self._collector = self._undisturbed_collector()  # the callback may have played on the environments
        self.rollout_player.version = self.n_updates
        begun, until = self.num_timesteps, self._collector.first + self._collector.size
        self._log_episodes(self._collector.finished.values(), until)
        finished = self._collector.collect(lambda transition: self._after_step(transition, callback, until))
        self.num_timesteps = begun + sum(processes.gather(self.num_timesteps - begun))
        if processes.any_of(finished is None):
            self._collector = None  # its episodes were drawn to be continued at once
            return None
        assert finished is not None
        self.num_instances += self.batch_size // self.group_size
        callback.on_rollout_end()
        played = [attempt.episode for attempt in finished]
        if not isinstance(self.verifier, Rules):
            self.verify(played)
            self.log.add_episodes(finished)
        if self.curriculum:
            own = self.rollout_player.own_success
            known = processes.gather([(episode.task, own(episode)) for episode in played if episode.learnable])
            self.success_rates = updated_rates(self.success_rates, chain.from_iterable(known))
            for task, rate in self.success_rates.items():
                self.logger.record(f"success_rates/{task}", rate, exclude=("stdout", "csv", "json"))
        log_rollout(self.logger, played, self.policy, self.n_updates)
        groups = [[e for e in group if e.learnable] for group in batched(played, self.group_size)]
        return [group for group in groups if group]

    @property
    def played_ahead(self) -> Sequence[Attempt]:
        """The finished attempts that a later update learns from."""
        return [] if self._collector is None else list(self._collector.finished.values())

    @property
    def in_progress(self) -> Sequence[Attempt]:
        """The attempts that have begun and are not over; any thread may ask."""
        collector = self._collector
        return [] if collector is None else collector.rollout.in_progress

    def _undisturbed_collector(self) -> Collector:
        known = self._collector
        if known is not None and known.rollout.undisturbed:
            return known
        assert self.env is not None
        if self.keep_forks and not isinstance(self.env, ForkableVectorEnv):
            raise ValueError(
                f"forks of states are wanted, but {type(self.env).__name__} makes none; pass gym.make_vec(..., "
                f"vectorization_mode='vector_entry_point') of the embedded phone, or AndroidVectorEnv([make_env])"
            )
        groups = self.batch_size // self.group_size
        most = -(-groups // processes.size())  # groups in the largest share, so that no process plays an instance twice
        first = -(-self.num_instances * most // groups) * self.group_size
        self.rollout_player.k = self.n_candidates
        return Collector(
            self.env,
            self.rollout_player,
            self.task_seeds(first),
            first,
            size=self._share,
            in_rounds=self.collection == "rounds",
            max_staleness=self.max_staleness,
            timed=self.timed,
            keep_forks=self.keep_forks,
        )

    @property
    def _share(self) -> int:
        """Number of episodes of a roll-out that this process plays."""
        return processes.share(self.batch_size // self.group_size) * self.group_size

    def _after_step(self, transition: Transition, callback: Callback, until: int) -> bool:
        """Counts steps and episodes, and asks the callback whether to go on."""
        self.num_timesteps += len(transition.stepped)
        self._log_episodes(transition.finished, until)
        variables = {
            "self": self,
            "rewards": transition.rewards,
            "dones": transition.dones,
            "infos": transition.infos,
            "episodes": [attempt.episode for attempt in transition.finished],
        }
        callback.update_locals(variables)
        return callback.on_step()

    def _log_episodes(self, finished: Iterable[Attempt], until: int) -> None:
        """Adds episodes to the statistics, except for those of later batches and those that a verifier judges yet."""
        if isinstance(self.verifier, Rules):
            self.log.add_episodes(attempt for attempt in finished if attempt.number < until)

    def verify(self, episodes: Sequence[Episode]) -> None:
        """Sets the outcomes of finished episodes to the verdicts of the outcome verifier."""
        whole = [episode for episode in episodes if episode.fault is None]
        with self.timed("verify"):
            verdicts = ask_verifier(self.verifier, whole, self.judge_errors)
        for episode, verdict in zip(whole, verdicts, strict=True):
            episode.outcome = verdict

    def task_seeds(self, first: int) -> Iterator[int]:
        """Yields the seeds of this process's episodes from number `first` on; a group shares one seed."""
        if not self.curriculum:
            return training_seeds(self.task_entropy, first, self.group_size)
        envs, power = self.env, self.curriculum
        assert isinstance(envs, TaskTelling)  # checked when the environment was set
        return training_seeds(
            self.task_entropy, first, self.group_size,
            lambda seed: play_probability(self.success_rates, envs.task_of(seed), power),
        )  # fmt: skip

    # ---- environments --------------------------------------------------------------------------------------------

    def get_env(self) -> VectorEnv | None:
        """Returns the vector environment that is trained on."""
        return self.env

    def get_vec_normalize_env(self) -> None:
        """Returns None: pixels and text are not normalized; part of Stable-Baselines3's surface."""

    def dump_logs(self, iteration: int = 0) -> None:
        """Writes what has been logged since the last entry; part of Stable-Baselines3's surface, for its callbacks."""
        self.log.dump(self.num_timesteps, iteration)

    def set_env(self, env: Env, force_reset: bool = True) -> None:
        """Replaces the environment.

        Args:
            env: As in the constructor; this process's own.
            force_reset: Has no effect, since every roll-out begins with a reset; part of Stable-Baselines3's signature.

        Raises:
            ValueError: The environment does not fit the agent.
        """
        share = self._share
        envs = as_vector_env(gym.make_vec(env, num_envs=share) if isinstance(env, str) else env)
        check_collection(envs, self.collection, self.max_staleness)
        if self.curriculum:
            require_tasks_told(envs, self.curriculum)
        self.env = envs
        self._collector = None
        if self.env.num_envs > share:
            warnings.warn(
                f"this process plays {share} episodes of a roll-out of batch_size={self.batch_size}, so only {share} "
                f"of num_envs={self.env.num_envs} environments are ever busy; "
                f"pass batch_size={self.env.num_envs * processes.size()} or a multiple of it",
                stacklevel=2,
            )
