"""What the methods with a critic share: the critic, its optimizer and its fit, and rewards for single steps."""

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TypeVar, Unpack

import numpy as np
import torch
from torch import Tensor

from coach_gym.agents.distributed import processes
from coach_gym.agents.distributed.parallel import in_step
from coach_gym.agents.generation import frozen
from coach_gym.agents.generation.make import is_address
from coach_gym.agents.judging.steps import load_prm
from coach_gym.agents.judging.trouble import Verdicts, verdicts_of
from coach_gym.agents.models.critic import Critic
from coach_gym.agents.models.policy import PolicySource, require_source
from coach_gym.agents.models.reward_models import ProcessRewardModel, Question, StepwisePRM, Verdict
from coach_gym.agents.models.tree import Tree
from coach_gym.agents.training.agent import Env
from coach_gym.agents.training.arguments import (
    checked_arguments,
    require_at_least,
    require_not_negative,
    require_positive,
    require_share,
)
from coach_gym.agents.training.critic.replay import Replay
from coach_gym.agents.training.logs.rollout_log import log_process_rewards
from coach_gym.agents.training.objective.updates import CriticSample, explained_variance, minimize_value_loss
from coach_gym.agents.training.online import OnlineAgent
from coach_gym.agents.training.optimizers import make_optimizer
from coach_gym.agents.training.schedules import Schedule, set_learning_rate
from coach_gym.agents.training.settings import OnlineSettings
from coach_gym.episode import Episode, Observation, Step

CriticSource = str | Path | Critic | None
"""A directory, `"pocket"`, a critic, or None for the default."""

Item = TypeVar("Item")


class ActorCriticSettings(OnlineSettings, total=False):
    """Types of the keyword arguments that `ActorCriticAgent` takes, which describes them and has their defaults."""

    critic: CriticSource
    critic_learning_rate: float
    critic_warmup_ratio: float
    critic_warmup_episodes: int
    critic_warmup_explained: float | None
    critic_epochs: int
    critic_replay: int
    clip_range_vf: float
    critic_contrast: float
    reward_model: ProcessRewardModel | str | None
    process_reward_weight: float
    outcome_reward_weight: float
    gamma: float


class ActorCriticAgent(OnlineAgent):
    """An `OnlineAgent` with a critic of the policy's architecture.

    Args:
        policy: As in `OnlineAgent`, which also describes everything that `shared` may hold.
        env: As in `OnlineAgent`.
        learning_rate: AdamW's learning rate for the policy, or a function of the remaining progress.
        critic: A directory, `"pocket"`, or a `Critic`. None takes the shipped critic if the policy is `"pocket"`, and
            otherwise a copy of the policy with a value head that starts at zero.
        critic_learning_rate: AdamW's learning rate for the critic after its warm-up.
        critic_warmup_ratio: Share of the training during which that rate rises from zero.
        critic_warmup_episodes: Episodes at the start of the training that only the critic learns from, because
            advantages of an untrained critic are noise; rounded up to whole roll-outs.
        critic_warmup_explained: Share of the variance of returns at which the critic is ready earlier, before it has
            seen `critic_warmup_episodes`; None waits for all of them.
        critic_epochs: Passes of the critic over a roll-out.
        critic_replay: Recent episodes that are kept for the critic. Every fit draws as many of them as the roll-out
            has, which are up to `critic_replay / batch_size` updates old. A saved agent does not keep them.
        clip_range_vf: Distance that a value may move in one update.
        critic_contrast: Weight of the critic's squared error in the differences between candidates of a state, for
            roll-outs with several known returns per state; 0 in the paper. Candidates are compared if they are computed
            in one pass, which `max_branch_tokens` and `trajectory_trees` decide.
        reward_model: Judges every executed action: `"pocket"` for the shipped model, a directory, or
            `"pocket@http://127.0.0.1:8101"` for a model and its server, `"openai:MODEL@http://127.0.0.1:8000/v1"` for
            a model behind an OpenAI-compatible server. None leaves the outcome alone.
        process_reward_weight: Weight of process rewards, the paper's omega_p.
        outcome_reward_weight: Weight of the outcome, the paper's omega_o.
        gamma: Discount factor.
        shared: Arguments of `OnlineAgent`.
    """

    critic: Critic

    @checked_arguments(OnlineAgent)
    def __init__(
        self,
        policy: PolicySource,
        env: Env | None,
        learning_rate: Schedule = 1e-6,
        *,
        critic: CriticSource = None,
        critic_learning_rate: float = 1e-5,
        critic_warmup_ratio: float = 0.1,
        critic_warmup_episodes: int = 0,
        critic_warmup_explained: float | None = None,
        critic_epochs: int = 1,
        critic_replay: int = 0,
        clip_range_vf: float = 0.5,
        critic_contrast: float = 0.0,
        reward_model: ProcessRewardModel | str | None = None,
        process_reward_weight: float = 0.2,
        outcome_reward_weight: float = 1.0,
        gamma: float = 0.95,
        **shared: Unpack[OnlineSettings],
    ) -> None:
        require_not_negative(critic_learning_rate=critic_learning_rate, critic_contrast=critic_contrast)
        require_not_negative(process_reward_weight=process_reward_weight, outcome_reward_weight=outcome_reward_weight)
        require_share(critic_warmup_ratio=critic_warmup_ratio, gamma=gamma)
        require_at_least(1, critic_epochs=critic_epochs)
        require_at_least(0, critic_warmup_episodes=critic_warmup_episodes, critic_replay=critic_replay)
        require_positive(clip_range_vf=clip_range_vf)
        require_source(critic=critic, reward_model=reward_model)
        if critic_warmup_explained is not None and not critic_warmup_episodes:
            raise ValueError(
                f"critic_warmup_explained={critic_warmup_explained} may never be reached; pass critic_warmup_episodes "
                f"as well, after which the policy learns in any case"
            )
        super().__init__(policy, env, learning_rate, **shared)
        self.critic_learning_rate = critic_learning_rate
        self.critic_warmup_ratio = critic_warmup_ratio
        self.critic_warmup_episodes = critic_warmup_episodes
        self.critic_warmup_explained = critic_warmup_explained
        self.critic_epochs = critic_epochs
        self.critic_replay = critic_replay
        self.replays: dict[Callable[[Tree], Tensor], Replay] = {}
        self.clip_range_vf = clip_range_vf
        self.critic_contrast = critic_contrast
        if critic is None and policy == "pocket":
            critic = "pocket"
        if critic is None and self._read_dtype == "auto" and isinstance(policy, str | Path):
            critic = policy  # a view of the same file, where a copy would be in memory
        if critic is None:
            self.critic = Critic.from_policy(self.policy)
        else:
            self.critic = critic if isinstance(critic, Critic) else Critic.load(critic, self.device, self._read_dtype)
        self._adapt(self.critic.backbone)
        self.optimizers["critic.optimizer"] = make_optimizer(self.critic, critic_learning_rate, self.optimizer)
        self.reward_model = reward_model
        # A server holds one model, so the policy's server cannot serve the judge.
        generation = "transformers" if is_address(self.generation) else self.generation
        self.prm = None if reward_model is None else load_prm(reward_model, generation)
        if isinstance(self.prm, StepwisePRM):
            self.rollout_player.judge = self.judge_steps
        self.process_reward_weight = process_reward_weight
        self.outcome_reward_weight = outcome_reward_weight
        self.gamma = gamma

    def judge_steps(self, steps: list[tuple[Episode, int]]) -> None:
        """Sets the process rewards of some steps, each given by its episode and index."""
        rewards = self.ask_reward_model([(e.goal, _transcript(e.steps[: t + 1])) for e, t in steps])
        for (episode, t), reward in zip(steps, rewards, strict=True):
            note_verdict(episode.steps[t], reward)

    def ask_reward_model(self, questions: list[Question]) -> Verdicts:
        """Returns verdicts on the last steps of some transcripts; None where the reward model gives none."""
        assert isinstance(self.prm, StepwisePRM)
        with self.timed("judge"):
            return self._verdicts(partial(self.prm.judge, questions), len(questions))

    def judge_rest(self, episodes: Sequence[Episode]) -> None:
        """Sets the process rewards of episodes that the roll-out has not judged; does nothing without a judge."""
        if isinstance(self.prm, StepwisePRM):
            rest = [(e, t) for e in episodes for t, step in enumerate(e.steps) if not step.judged]
            if rest:
                self.judge_steps(rest)
        elif self.prm is not None:
            self._judge_whole([e for e in episodes if not all(step.judged for step in e.steps)], self.prm)
        frozen.sleep()
        if self.prm is not None:
            log_process_rewards(self.logger, episodes)

    def _judge_whole(self, episodes: Sequence[Episode], prm: ProcessRewardModel) -> None:
        for episode in episodes:
            with self.timed("judge"):
                rewards = self._verdicts(partial(prm.score, episode.goal, _transcript(episode.steps)), episode.length)
            for step, reward in zip(episode.steps, rewards, strict=True):
                note_verdict(step, reward)

    def _verdicts(self, ask: Callable[[], Verdicts], number: int) -> Verdicts:
        return verdicts_of("process reward model", ask, number, "steps", self.judge_errors)

    @property
    def policy_waits(self) -> bool:
        """Whether the latest roll-out is for the critic alone."""
        before = max(0, self.num_instances - self.batch_size)
        return before < self.critic_warmup_episodes and not self.critic_is_ready

    def fit_critic(self, estimate: Callable[[Tree], Tensor], samples: Sequence[CriticSample]) -> None:
        """Fits the critic's estimates to their targets, and logs the fit.

        Args:
            estimate: Values of an episode: `critic.response_q_values`, (N,), or `critic.state_values`, (T,).
            samples: Targets, one sample per episode of the roll-out.
        """
        done = 1.0 - self.progress_remaining
        warmup = min(1.0, done / self.critic_warmup_ratio) if self.critic_warmup_ratio else 1.0
        optimizer = self.optimizers["critic.optimizer"]
        learning_rate = set_learning_rate(optimizer, warmup * self.critic_learning_rate)
        replay = self.replays.setdefault(estimate, Replay(processes.share(self.critic_replay), self.task_entropy))
        replayed, added = replay.draw(len(samples))
        batches = self.mini_batches([*samples, *replayed], self.critic_epochs)
        with self.timed("critic"):
            limits = self.clip_range_vf, self.max_grad_norm
            means = minimize_value_loss(self.critic, optimizer, estimate, batches, *limits, self.critic_contrast)
        replay.add(samples, self.n_updates)
        ages = [self.n_updates - fit for fit in added] + [0] * len(samples)
        explained = explained_variance(samples)
        if self.critic_warmup_explained is not None and explained >= self.critic_warmup_explained:
            self.critic_is_ready = True
        known = [sample.returns[sample.known] for sample in samples]
        self.logger.record("train/returns", torch.cat(known) if known else torch.zeros(0))
        self.log_training(
            **means,
            explained_variance=explained,
            critic_learning_rate=learning_rate,
            critic_staleness=processes.mean(float(np.mean(ages or [0]))),
        )

    def _undo(self) -> None:
        if self._backup.active:
            self.replays.clear()  # like a saved agent's
        super()._undo()

    @torch.no_grad()
    def ask_critic(self, estimate: Callable[[Tree], Item], trees: Sequence[Tree]) -> list[Item]:
        """Returns the critic's estimates of episodes, without gradients.

        Args:
            estimate: `critic.q_values` or `critic.state_values`.
            trees: The episodes.
        """
        with self.timed("critic"), in_step(self.critic, self.critic.state_values):
            return [estimate(tree) for tree in trees]


def note_verdict(step: Step, reward: float | None) -> None:
    """Notes the verdict on a step, and why it is so if the judge says it."""
    step.process_reward, step.judged = reward, True
    step.reasoning = reward.reasoning if isinstance(reward, Verdict) else ""


def _transcript(steps: Sequence[Step]) -> list[tuple[Observation, str]]:
    """What the agent saw and the action that was executed, for every step."""
    return [(step.observation, step.action) for step in steps]
