"""Android Coach: every costly state is learned from k times, with a critic as the coach.

1. Roll out: the policy plays a batch of episodes; k candidate actions are drawn in every state, one of them is
   executed (`OnlineAgent.collect_rollouts`).
2. Assign returns, from a process reward model and the outcome (`returns.py`).
3. Fit the critic Q to the returns of the executed actions (Equation 2).
4. Score all k candidates with the critic, take the leave-one-out advantage (Equation 3), and make a clipped step
   of the policy (Equation 4).
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any, get_args

import torch

from coach_gym.agents.actor_critic import ActorCriticAgent
from coach_gym.agents.distributed import processes
from coach_gym.agents.generation import is_address
from coach_gym.agents.models.policy import PolicySource
from coach_gym.agents.models.reward_models import GenerativePRM, ProcessRewardModel, StepwisePRM
from coach_gym.agents.training.advantages import acloo
from coach_gym.agents.training.base import Env
from coach_gym.agents.training.online import Schedule
from coach_gym.agents.training.returns import Discount, discounted_outcome, process_outcome_returns
from coach_gym.agents.training.updates import CriticSample
from coach_gym.episode import Episode, Observation, Step


class CoachAgent(ActorCriticAgent):
    """Actor-critic with several actions a state and leave-one-out advantages.

    Args:
        policy: `"pocket"`, a directory, a hub id, (model, processor), or a `Policy`.
        env: environment, vector environment, or an id.
        learning_rate: AdamW's, of the policy; or a function of the remaining progress.
        k: candidates of every state; 1 leaves the advantage without a baseline.
        reward_model: judges every executed action; `"pocket"` for the shipped one, a directory for another, and
            `"pocket@http://127.0.0.1:8101"` for one with its server; None for none, and then the outcome is discounted
            over the steps.
        gamma: discount factor.
        process_reward_weight: the paper's omega_p.
        outcome_reward_weight: the paper's omega_o.
        discount: of process rewards: `"forward"` from the step on, or `"paper"`, as its equation is printed.
        resample: draws k fresh candidates in every state after the critic's fit, as the paper has it. The policy
            does not change in between, so the candidates drawn during the roll-out have the same distribution and
            cost no second prefill.
        shared: everything that `ActorCriticAgent` and `OnlineAgent` take: the critic with its learning rate,
            warm-up and clip range, batch sizes, clipping, sampling, seed, logging.

    Example:
        >>> envs = gym.make_vec("AndroidWorld-v0", num_envs=8, vectorization_mode="vector_entry_point")
        >>> CoachAgent("pocket", envs, tensorboard_log="runs").learn(total_timesteps=20_000)
    """

    def __init__(
        self,
        policy: PolicySource,
        env: Env | None,
        learning_rate: Schedule = 1e-6,
        *,
        k: int = 4,
        reward_model: ProcessRewardModel | str | None = None,
        gamma: float = 0.95,
        process_reward_weight: float = 0.2,
        outcome_reward_weight: float = 1.0,
        discount: Discount = "forward",
        resample: bool = False,
        **shared: Any,
    ) -> None:
        if k < 1:
            raise ValueError(f"k={k} candidates leave nothing to execute; pass at least 1 (4 in the paper)")
        if discount not in get_args(Discount):
            raise ValueError(f"discount={discount!r} is none of {get_args(Discount)}; see returns.py for the two")
        super().__init__(policy, env, learning_rate, **shared)
        self.k = k
        self.n_candidates = 1 if resample else k
        self.reward_model = reward_model
        # a server holds one model, and the policy's is not the judge's
        generation = "transformers" if is_address(self.generation) else self.generation
        load = partial(GenerativePRM.load, generation=generation)
        self.prm = load(reward_model) if isinstance(reward_model, str) else reward_model
        self.gamma = gamma
        self.process_reward_weight = process_reward_weight
        self.outcome_reward_weight = outcome_reward_weight
        self.discount: Discount = discount
        self.resample = resample

    def train(self, groups: list[list[Episode]]) -> None:
        """Phases 2 to 4 on the episodes of a roll-out."""
        episodes = [episode for group in groups for episode in group]
        self.assign_returns(episodes)
        self.fit_critic(episodes)
        if self.resample:
            episodes = self.draw_candidates(episodes)
        self.update_actor(episodes)

    @property
    def judges_steps(self) -> bool:
        """Whether the reward model can judge single steps, and so while the roll-out goes on."""
        return isinstance(self.prm, StepwisePRM)

    def judge_steps(self, steps: list[tuple[Episode, int]]) -> None:
        """Process rewards of some steps, each given by its episode and number."""
        questions = [(episode.goal, _transcript(episode.steps[: t + 1])) for episode, t in steps]
        assert isinstance(self.prm, StepwisePRM)
        with self.timed("judge"):
            rewards = self.prm.judge(questions)
        for (episode, t), reward in zip(steps, rewards, strict=True):
            episode.steps[t].process_reward, episode.steps[t].judged = reward, True

    def assign_returns(self, episodes: list[Episode]) -> None:
        """Phase 2: the return of every executed action; judges what was not judged during the roll-out."""
        for episode in episodes:
            if self.prm is not None and not all(step.judged for step in episode.steps):
                with self.timed("judge"):
                    rewards = self.prm.score(episode.goal, _transcript(episode.steps))
                for step, reward in zip(episode.steps, rewards, strict=True):
                    step.process_reward, step.judged = reward, True
            for step, return_ in zip(episode.steps, self._returns(episode), strict=True):
                step.return_ = return_

    def _returns(self, episode: Episode) -> list[float | None]:
        assert episode.outcome is not None
        if self.prm is None:
            return [*discounted_outcome(episode.length, episode.outcome, self.gamma)]
        rewards = [step.process_reward for step in episode.steps]
        weights = self.process_reward_weight, self.outcome_reward_weight
        return process_outcome_returns(rewards, episode.outcome, self.gamma, *weights, self.discount)

    def fit_critic(self, episodes: list[Episode]) -> None:
        """Phase 3: regression of Q(s, a) on the returns of the executed actions, where these are known."""
        samples = []
        for episode in episodes:
            returns = torch.tensor([float("nan") if s.return_ is None else s.return_ for s in episode.steps])
            tree = self.tree(episode, candidates="executed")
            samples.append(CriticSample(tree, returns.to(self.device), ~returns.isnan().to(self.device)))
        self.regress(self.q_of_executed, samples)

    def draw_candidates(self, episodes: list[Episode]) -> list[Episode]:
        """Phase 4, with `resample`: the executed action and after it k fresh candidates in every state."""
        prompts = [
            self.policy.prompt(episode.goal, episode.steps[:t], step.observation)
            for episode in episodes
            for t, step in enumerate(episode.steps)
        ]
        with self.timed("generate"):
            fresh = iter(self.generator.sample(prompts, self.k, self.temperature, self.max_new_tokens))
        return [
            replace(episode, steps=[replace(s, candidates=[s.candidates[0], *next(fresh)]) for s in episode.steps])
            for episode in episodes
        ]

    def update_actor(self, episodes: list[Episode]) -> None:
        """Phase 4: Q of all candidates, leave-one-out advantages, clipped step of the policy."""
        first = 1 if self.resample else 0  # fresh candidates only: with the executed one there would be k + 1
        trees = [self.tree(episode) for episode in episodes]
        scores = [torch.stack(steps)[:, first:] for steps in self.score(self.critic.q_values, trees)]
        q = processes.concatenate(scores)
        self.log_training(q_mean=q.mean().item(), q_spread=q.std(-1, correction=0).mean().item())
        batch = zip(episodes, trees, scores, strict=True)
        self.update_policy([self.policy_sample(episode, tree, acloo(q), first) for episode, tree, q in batch])


def _transcript(steps: Sequence[Step]) -> list[tuple[Observation, str]]:
    """What the agent saw and the response that was executed, for every step."""
    return [(step.observation, step.candidates[step.executed].text) for step in steps]
