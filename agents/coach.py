"""Android Coach: learns k times from every costly state, with a critic as the coach.

1. Roll out: the policy plays a batch of episodes; k candidate actions are drawn in every state and one of them is
   executed (`OnlineAgent.collect_rollouts`).
2. Assign returns, from a process reward model and the outcome (`returns.py`).
3. Fit the critic Q to the returns of the executed actions (Equation 2), and to what else is known: measured
   returns of other candidates, and 0 for responses that are no action.
4. Score all k candidates with the critic, take the leave-one-out advantage (Equation 3), and make a clipped step of
   the policy (Equation 4).
5. Not in the paper, and off by default: draw fresh candidates in states of earlier episodes, and repeat phase 4.
"""

import warnings
from collections import deque
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Unpack

import numpy as np
import torch
from torch import Tensor

from coach_gym.agents.actor_critic import ActorCriticAgent, ActorCriticSettings, note_verdict
from coach_gym.agents.coach_settings import Execute, Forks, Scorer, require_compatible
from coach_gym.agents.distributed import processes
from coach_gym.agents.generation import frozen
from coach_gym.agents.generation.generator import DistinctGenerator
from coach_gym.agents.models.policy import PolicySource
from coach_gym.agents.models.reward_models import StepwisePRM
from coach_gym.agents.models.tree import Tree
from coach_gym.agents.playing.best_of_k import BestOfK
from coach_gym.agents.playing.forks import measure_candidates
from coach_gym.agents.playing.rollout import Attempt
from coach_gym.agents.playing.scorers import CriticScorer, VerdictScorer
from coach_gym.agents.training.agent import Env
from coach_gym.agents.training.arguments import (
    checked_arguments,
    require_at_least,
    require_rehearsal,
    require_share,
    require_successes,
)
from coach_gym.agents.training.objective.advantages import Baseline, corrected, less_baseline
from coach_gym.agents.training.objective.distinct import distinct_acloo, first_weights
from coach_gym.agents.training.objective.returns import Discount, process_outcome_returns
from coach_gym.agents.training.objective.updates import CriticSample, PolicySample
from coach_gym.agents.training.remembered import Visited, pack
from coach_gym.agents.training.schedules import Schedule
from coach_gym.checks import MOST, require_at_most
from coach_gym.episode import Episode, Step

CONTRAST = 0.1
"""`train/q_contrast` is the share of states with two candidates whose Q is at least this far apart."""


class CoachAgent(ActorCriticAgent):
    """Actor-critic with several actions per state and leave-one-out advantages.

    Args:
        policy: `"pocket"`, a directory, a hub id, (model, processor), or a `Policy`.
        env: Environment, vector environment, or the id of one.
        learning_rate: AdamW's learning rate for the policy, or a function of the remaining progress.
        k: Candidates per state; 1 leaves the advantage without a baseline.
        baseline: What is subtracted from Q: the mean of the other candidates (`"leave_one_out"`, as in the paper), the
            mean of all (`"mean"`), the critic's estimate of the state, which is then fitted to the same returns
            (`"value"`), or nothing (`"none"`).
        discount: Discounts process rewards from the current step on (`"forward"`), or as the paper prints its
            equation (`"paper"`).
        discount_outcome: Discounts the outcome over the steps that remain. None does so without a reward model only, as
            the authors' code does; the paper prints no such factor.
        resample: Draws k fresh candidates in every state after the critic's fit, as in the paper. The policy does not
            change in between, so the candidates of the roll-out have the same distribution and save a prefill. Their
            advantages differ in one respect: the critic has just been fitted to the return of the executed one
            (`learn_from_executed`).
        learn_from_executed: False leaves the executed candidate out of the baseline and the update, because the critic
            has just been fitted to its return; one more candidate is drawn instead.
        distinct: Draws the k candidates of a state without replacement, so that they always differ, and weights them so
            that the policy gradient keeps its expectation (`distinct.py`). Needs `generation="transformers"`.
        malformed_is_worthless: Sets Q of a response that is no action to 0, in the critic's targets and in the
            advantages, where no estimate counts as less, since no return is. So a mistake of the critic cannot make it
            attractive; the paper leaves it to the critic. Pass False for environments that read other texts than the
            dialect's actions.
        execute: Which candidate a roll-out executes: the `"first"`, a draw of the policy as in the paper, or the
            `"best"` by `scorer`, which finds more successes. Returns are then those of an agent that goes on choosing
            the best. `predict` remains the policy's own; `best_of` acts as such roll-outs do.
        max_k: Responses up to which roll-outs with `execute="best"` and `scorer="reward_model"` draw more, k at a time,
            in states where the reward model likes none; None for k. The policy learns from k of them: the executed one
            and those drawn first.
        vary_answers: Where `max_k` would draw more, first asks the reward model about the answers among the responses
            with another text from the screen or the instruction (`playing/variations.py`), which finds what the policy
            never draws. As these are not draws, `self_imitation` teaches them, and the policy gradient hardly does: its
            ratios take them as drawn with certainty, and `train/approx_kl` counts them so, too.
        scorer: Who says what a candidate is worth: the `"critic"` with Q, as in the paper, or the `"reward_model"`,
            which then judges all candidates of a state, not the executed one alone. How sure it is that they are
            good, from 0 to 1, takes the place of Q, in the advantages and in the choice of the best, where it weights
            the votes of the draws; no critic is asked or fitted. Needs a reward model that can judge single steps.
        forks: Who learns from forks of the environment, on which every distinct candidate is played to its end: the
            `"critic"`, which is fitted to all these returns; or the `"policy"`, which then uses them in place of Q and
            needs no critic: the upper bound of what any could give. For environments that can be forked.
            `num_fork_steps` counts these steps, which `total_timesteps` does not.
        outcome_correction: Share of the correction of advantages by the executed candidate's return
            (`advantages.corrected`). With 1, and negative advantages in full, their expectation does not depend on the
            critic, which then only reduces the variance and is fitted after the advantages; 0, as in the paper, relies
            on the critic alone.
        negative_weight: Factor of negative advantages; 1 as in the paper. With less, the policy learns more from what
            is better than from what is worse, and its gradient is no longer that of the return.
        self_imitation: Successful episodes of earlier roll-outs that the policy imitates again in every iteration,
            after its update and with those of the roll-out, as in filtered cloning (Oh et al. 2018, without their
            weights); None, as in the paper, imitates none.
        max_replayed: Number of these that an iteration imitates, drawn anew each time; None for all.
        revisit: Latest episodes, solved or not, whose states are visited again, at no step of a device: after its
            update, every iteration draws fresh candidates in them, has them scored, and learns from them, `batch_size`
            episodes at a time, each time with draws of the policy as it is by then; None, as in the paper, visits none.
        max_revisited: Number of these that an iteration visits again, drawn anew each time; None for all.
        revisit_k: Candidates drawn in a state that is visited again; None for `k`.
        rehearsal: Folder of episodes, as `coach-gym data` writes it, whose successes every iteration imitates
            besides: what the policy can do and this training does not practise, so that it is not unlearned.
        max_rehearsed: Number of these that an iteration imitates, drawn anew each time; None for all.
        reword: Share of all these that are imitated in other words, drawn anew each time, as in `FilteredCloningAgent`.
        shared: Arguments of `ActorCriticAgent` and `OnlineAgent`: the critic with its learning rate, warm-up and clip
            range, batch sizes, clipping, sampling, seed, logging. `help()` lists them.

    Example:
        >>> envs = gym.make_vec("AndroidWorld-v0", num_envs=8, vectorization_mode="vector_entry_point")
        >>> CoachAgent("pocket", envs, tensorboard_log="runs").learn(total_timesteps=20_000)
    """

    @checked_arguments(ActorCriticAgent)
    def __init__(
        self,
        policy: PolicySource,
        env: Env | None,
        learning_rate: Schedule = 1e-6,
        *,
        k: int = 4,
        baseline: Baseline = "leave_one_out",
        discount: Discount = "forward",
        discount_outcome: bool | None = None,
        resample: bool = False,
        learn_from_executed: bool = True,
        distinct: bool = False,
        malformed_is_worthless: bool = True,
        execute: Execute = "first",
        max_k: int | None = None,
        vary_answers: bool = False,
        scorer: Scorer = "critic",
        forks: Forks | None = None,
        outcome_correction: float = 0.0,
        negative_weight: float = 1.0,
        self_imitation: int | None = None,
        max_replayed: int | None = None,
        revisit: int | None = None,
        max_revisited: int | None = None,
        revisit_k: int | None = None,
        rehearsal: str | Path | None = None,
        max_rehearsed: int | None = None,
        reword: float = 0.0,
        **shared: Unpack[ActorCriticSettings],
    ) -> None:
        require_at_least(1, k=k)
        require_at_least(k, max_k=max_k)
        require_at_most(MOST, k=k, max_k=max_k)
        require_share(outcome_correction=outcome_correction, negative_weight=negative_weight)
        require_at_least(0, self_imitation=self_imitation)
        require_successes(reword, max_replayed, self_imitation=self_imitation)
        require_at_least(1, revisit=revisit, max_revisited=max_revisited, revisit_k=revisit_k)
        require_rehearsal(rehearsal, max_rehearsed, imitates=self_imitation is not None)
        require_compatible(
            shared, k=k, baseline=baseline, discount_outcome=discount_outcome, resample=resample,
            learn_from_executed=learn_from_executed, distinct=distinct, execute=execute, max_k=max_k,
            vary_answers=vary_answers, scorer=scorer, forks=forks, outcome_correction=outcome_correction,
            revisit=revisit, max_revisited=max_revisited, revisit_k=revisit_k,
        )  # fmt: skip
        super().__init__(policy, env, learning_rate, **shared)
        if scorer == "reward_model" and not isinstance(self.prm, StepwisePRM):
            raise ValueError(
                f"scorer='reward_model' needs a reward model that can judge single steps, and reward_model="
                f"{self.reward_model!r} is none; pass for example reward_model='pocket-judge'"
            )
        if distinct and not isinstance(self.generator, DistinctGenerator):
            raise ValueError(
                f"distinct=True needs a generator that can draw without replacement, and "
                f"{type(self.generator).__name__} cannot; pass generation='transformers'"
            )
        self.k = k
        self.n_candidates = 1 if resample else k if learn_from_executed else k + 1
        self.baseline: Baseline = baseline
        self.malformed_is_worthless = malformed_is_worthless
        self.execute = execute
        self.scorer = scorer
        self.verdicts = VerdictScorer(self.policy, self.ask_reward_model, malformed_is_worthless)
        if execute == "best":
            judge = self.rollout_player.judge
            self.rollout_player = self.best_of(k, max_k, vary_answers)
            self.rollout_player.judge = judge
            self.rollout_player.rollout_temperature = self.rollout_temperature
        self.distinct = self.rollout_player.distinct = distinct
        self.discount: Discount = discount
        self.discount_outcome = self.prm is None if discount_outcome is None else discount_outcome
        self.resample = resample
        self.learn_from_executed = learn_from_executed
        self.outcome_correction = outcome_correction
        self.negative_weight = negative_weight
        self.self_imitation = self_imitation
        self.successes = deque(maxlen=self_imitation or 0)
        self.max_replayed = max_replayed
        self.revisit = revisit
        self.visited = deque(maxlen=revisit or 0)
        self.max_revisited = max_revisited
        self.revisit_k = revisit_k or k
        self.rehearsal = rehearsal
        self.max_rehearsed = max_rehearsed
        self.reword = reword
        self.forks = forks
        self.keep_forks = forks is not None

    @property
    def first_learned(self) -> int:
        """Index of the first candidate that the policy learns from; the executed one comes first of all."""
        return 0 if self.learn_from_executed and not self.resample else 1

    def best_of(self, k: int, max_k: int | None = None, vary_answers: bool = False) -> BestOfK:
        """Returns a player that executes the best of k drawn responses by `scorer`: `evaluate(agent.best_of(8), env)`.

        Where the scorer holds all for bad, it varies their texts, if asked to, and draws more, up to `max_k`. It shares
        the agent's models. For a distributed agent, save it and load it in one process.
        """
        by_q = CriticScorer(self.policy, self.critic, self.malformed_is_worthless)
        score = by_q if self.scorer == "critic" else self.verdicts
        acting = self.policy, self.generator, self.temperature, self.max_new_tokens
        return BestOfK(*acting, score, k, max_k, vary_answers)

    def distribute(self) -> None:
        """Shards the agent over the processes of `torch.distributed`; `learn` calls it.

        Raises:
            ValueError: As for `OnlineAgent.distribute`, and for `execute="best"` by the critic with several processes.
        """
        if self.execute == "best" and self.scorer == "critic" and processes.size() > 1:
            raise ValueError(
                f"execute='best' asks the critic in the middle of a roll-out, where the {processes.size()} processes "
                f"that share it do not wait for one another; pass execute='first', or train in one process"
            )
        super().distribute()
        self.rollout_player.generator = self.generator

    def train(self, groups: list[list[Episode]]) -> None:
        """Runs phases 2 to 4 on the episodes of a roll-out."""
        episodes = [episode for group in groups for episode in group]
        self.assign_returns(episodes)
        if self.forks is not None:
            self.measure(episodes)
        if self.baseline == "value":
            self.fit_critic(self.critic.state_values, self.state_samples(episodes))
        if self.forks == "policy" or self.scorer == "reward_model":
            samples = self.policy_samples(episodes)
        elif self.policy_waits:
            self.fit_critic(self.critic.response_q_values, self.critic_samples(episodes))
            return
        elif self.outcome_correction:  # unbiased only if the critic has not yet seen these returns
            targets = self.critic_samples(episodes)
            samples = self.policy_samples(episodes)
            self.fit_critic(self.critic.response_q_values, targets)
        else:
            self.fit_critic(self.critic.response_q_values, self.critic_samples(episodes))
            samples = self.policy_samples(self.draw_candidates(episodes, self.k) if self.resample else episodes)
        self.update_policy(samples)
        if self.self_imitation is not None:
            self.imitate(episodes)
        if self.revisit is not None:
            self.visit_again(episodes)

    def assign_returns(self, episodes: list[Episode]) -> None:
        """Phase 2: sets the return of every executed action, judging those that the roll-out has not judged."""
        self.judge_rest(episodes)
        for episode in episodes:
            for step, return_ in zip(episode.steps, self._returns(episode), strict=True):
                step.return_ = return_

    def judge_steps(self, steps: list[tuple[Episode, int]]) -> None:
        """Sets the process rewards of some steps; with `scorer="reward_model"`, the verdicts on all candidates."""
        if self.scorer == "critic":
            super().judge_steps(steps)
            return
        taken = [episode.steps[t] for episode, t in steps]
        self.verdicts.judge([_state(episode, t) for episode, t in steps], [step.candidates for step in taken])
        for step in taken:
            note_verdict(step, step.candidates[step.executed].q)

    def _returns(self, episode: Episode) -> list[float | None]:
        assert episode.outcome is not None
        rewards = [0.0 if self.prm is None else step.process_reward for step in episode.steps]
        weights = self.process_reward_weight, self.outcome_reward_weight
        discounts = self.discount, self.discount_outcome
        return process_outcome_returns(rewards, episode.outcome, self.gamma, *weights, *discounts)

    def measure(self, episodes: list[Episode]) -> None:
        """Sets the returns of the candidates that were not executed, by playing them to their end on forks."""
        for episode in episodes:
            for step, worthless in zip(episode.steps, self.worthless(episode), strict=True):
                for candidate, known in zip(step.candidates, worthless.tolist(), strict=True):
                    candidate.return_ = 0.0 if known else candidate.return_
        with self.timed("forks"):
            steps = measure_candidates(self.rollout_player, episodes, self.gamma)
            self.generator.sleep()
        self.num_fork_steps += sum(processes.gather(steps))
        self.logger.record("time/fork_steps", self.num_fork_steps)

    def critic_samples(self, episodes: list[Episode]) -> list[CriticSample]:
        """Phase 3: returns the known returns of an episode's candidates as targets.

        The tree has no branches if nothing is known but the returns of executed actions.
        """
        samples = []
        for episode in episodes:
            returns = self.known_returns(episode)
            executed = _of_executed(episode, returns)
            more = torch.cat(returns).isfinite().sum() > executed.isfinite().sum()
            tree = self.tree(episode, candidates="all" if more else "executed")
            targets = (torch.cat(returns) if more else executed).to(self.device)
            taken = torch.cat([_one_hot(step) for step in episode.steps]).to(self.device) if more else None
            samples.append(CriticSample(tree, targets, ~targets.isnan(), executed=taken))
        return samples

    def state_samples(self, episodes: list[Episode]) -> list[CriticSample]:
        """Returns the returns of executed actions as targets of the states' values, for `baseline="value"`."""
        samples = []
        for episode in episodes:
            returns = _of_executed(episode, self.known_returns(episode)).to(self.device)
            samples.append(CriticSample(self.tree(episode, candidates="executed"), returns, ~returns.isnan()))
        return samples

    def known_returns(self, episode: Episode) -> list[Tensor]:
        """Returns what is known of every step's candidates, (k,) each; nan where unknown.

        Known are the return of the executed action, those of candidates that were measured (`Candidate.return_`), and,
        with `malformed_is_worthless`, the 0 of responses that are no action.
        """
        known = []
        for step, worthless in zip(episode.steps, self.worthless(episode), strict=True):
            returns = [candidate.return_ for candidate in step.candidates]
            returns[step.executed] = step.return_
            row = torch.tensor([float("nan") if value is None else value for value in returns])
            known.append(row.masked_fill(worthless, 0.0))
        return known

    def worthless(self, episode: Episode) -> list[Tensor]:
        """Returns which candidates of every step have Q = 0 because they are no action, (k,) bool each."""
        if not self.malformed_is_worthless:
            return [torch.zeros(len(step.candidates), dtype=torch.bool) for step in episode.steps]
        frames = [self.policy.frame(step.observation) for step in episode.steps]
        return [
            torch.tensor([not self.policy.is_action(each.text, frame) for each in step.candidates])
            for step, frame in zip(episode.steps, frames, strict=True)
        ]

    def visit_again(self, episodes: Sequence[Episode]) -> None:
        """Phase 5: draws fresh candidates in states of earlier episodes and of these, and learns from them.

        The candidates of `batch_size` episodes are drawn when it is their turn to be learned from. The log calls what
        happens here `revisit/*`.
        """
        self.visited.extend(Visited(pack(episode)) for episode in episodes)
        chosen = self._turn(self.visited, self.max_revisited)
        number = -(-sum(processes.gather(len(chosen))) // self.batch_size)
        self.logged_as = "revisit"
        try:
            for turn in np.array_split(np.arange(len(chosen)), number):  # as many steps in every process
                self._learn_again([chosen[index] for index in turn])
        finally:
            self.logged_as = "train"

    def _learn_again(self, visited: Sequence[Visited]) -> None:
        self.refresh_sampler()
        fresh = self.draw_candidates([each.episode() for each in visited], self.revisit_k)
        if self.scorer == "reward_model":
            self._judge_again(visited, fresh)
        self.update_policy(self.policy_samples(fresh, first=1))

    def _judge_again(self, visited: Sequence[Visited], episodes: Sequence[Episode]) -> None:
        """Asks the reward model about fresh candidates; it has judged most of them at an earlier visit."""
        states = [(episode, t) for episode in episodes for t in range(episode.length)]
        drawn = [episode.steps[t].candidates[1:] for episode, t in states]
        pairs = zip(visited, episodes, strict=True)
        known = [each.verdicts[t] for each, episode in pairs for t in range(episode.length)]
        for verdicts, candidates in zip(known, drawn, strict=True):
            for candidate in candidates:
                candidate.q = verdicts.get(candidate.text)
        self.verdicts.judge([_state(episode, t) for episode, t in states], drawn)
        frozen.sleep()
        for verdicts, candidates in zip(known, drawn, strict=True):
            verdicts.update({each.text: each.q for each in candidates if each.q is not None})

    def draw_candidates(self, episodes: Sequence[Episode], k: int) -> list[Episode]:
        """Returns copies of episodes with the executed action and k fresh candidates in every state."""
        prompts = [
            self.policy.prompt(episode.goal, episode.steps[:t], step.observation)
            for episode in episodes
            for t, step in enumerate(episode.steps)
        ]
        with self.timed("generate"):
            fresh = iter(self.rollout_player.explore(prompts, k))
            self.generator.sleep()
        return [
            replace(episode, steps=[replace(s, candidates=[s.candidates[0], *next(fresh)]) for s in episode.steps])
            for episode in episodes
        ]

    def policy_samples(self, episodes: list[Episode], first: int | None = None) -> list[PolicySample]:
        """Phase 4: returns candidates with the leave-one-out advantages of their Q values.

        Args:
            episodes: The episodes.
            first: Index of the first candidate that is learned from; None for that of a roll-out.
        """
        first = self.first_learned if first is None else first
        trees = [self.tree(episode) for episode in episodes]
        worthless = [torch.stack(self.worthless(episode)) for episode in episodes]
        if worthless and all(mask.all() for mask in worthless):
            warnings.warn(
                "none of this roll-out's responses is an action, so all have Q = 0 and nothing is learned; if the "
                "environment reads texts other than the dialect's actions, pass malformed_is_worthless=False",
                stacklevel=2,
            )
        estimates = self._estimates(episodes, trees)
        q_values = [_without_gaps(torch.stack(steps)).to(self.device) for steps in estimates]
        least = 0.0 if self.malformed_is_worthless else -torch.inf
        scores = [
            q.masked_fill(mask.to(self.device), 0.0).clamp(least)[:, first:]
            for mask, q in zip(worthless, q_values, strict=True)
        ]
        for episode, of_episode in zip(episodes, scores, strict=True):
            _note_q(episode, of_episode, first)
        q = processes.concatenate(scores)
        gaps = q.amax(-1) - q.amin(-1)
        self.log_training(
            q_mean=q.mean().item(),
            q_spread=q.std(-1, correction=0).mean().item(),
            q_contrast=(gaps >= CONTRAST).float().mean().item(),
        )
        self.logger.record(f"{self.logged_as}/q", q)
        if self.baseline == "value":  # all episodes in one call, because processes differ in their number
            values: list[Tensor | None] = [v.clamp(least) for v in self.ask_critic(self.critic.state_values, trees)]
        else:
            values = [None] * len(trees)
        equal = processes.concatenate([_all_equal(episode, first) for episode in episodes])
        self.log_training(all_equal=equal.mean().item())
        return [
            self.policy_sample(
                episode, tree, self.advantages(episode, q, v, first), first, self.weights(episode, first)
            )
            for episode, tree, q, v in zip(episodes, trees, scores, values, strict=True)
        ]

    def _estimates(self, episodes: list[Episode], trees: list[Tree]) -> list[list[Tensor]]:
        """Returns what is believed of every candidate, (k,) per step of every episode; nan where nothing is."""
        if self.forks == "policy":
            return [self.known_returns(episode) for episode in episodes]
        if self.scorer == "reward_model":
            return [[_verdicts(step) for step in episode.steps] for episode in episodes]
        return self.ask_critic(self.critic.q_values, trees)

    def advantages(self, episode: Episode, q: Tensor, state_values: Tensor | None = None, first: int = 0) -> Tensor:
        """Returns the advantages of an episode's candidates, (T, k).

        Args:
            episode: The episode.
            q: Q values of its candidates, (T, k).
            state_values: V of its states, (T,), for `baseline="value"`.
            first: Index of the first candidate that has a Q value. Nothing corrects the others by the executed one's
                return, if that is not among them.
        """
        if self.distinct and self.baseline == "leave_one_out":
            advantages = distinct_acloo(q, _log_probs(episode, first).to(self.device))
        else:
            advantages = less_baseline(q, self.baseline, state_values)
        if self.outcome_correction and first == 0:
            executed = torch.tensor([step.executed for step in episode.steps], device=self.device)
            returns = _of_executed(episode, self.known_returns(episode)).to(self.device)
            share = self.weights(episode, first) / self.k
            advantages = corrected(advantages, q, executed, returns, self.outcome_correction, share)
        return torch.where(advantages < 0, self.negative_weight * advantages, advantages)

    def weights(self, episode: Episode, first: int) -> Tensor:
        """Returns how much an episode's candidates count in the mean over a state's, (T, k): 1 unless `distinct`."""
        log_probs = _log_probs(episode, first).to(self.device)
        return log_probs.shape[-1] * first_weights(log_probs) if self.distinct else torch.ones_like(log_probs)


def _log_probs(episode: Episode, first: int) -> Tensor:
    """Log-probabilities that an episode's candidates from `first` on were drawn with, (T, k)."""
    return torch.tensor([[sum(each.logprobs) for each in step.candidates[first:]] for step in episode.steps])


def _of_executed(episode: Episode, returns: Sequence[Tensor]) -> Tensor:
    """Returns of the executed actions, (T,), out of those of all candidates."""
    return torch.stack([row[step.executed] for row, step in zip(returns, episode.steps, strict=True)])


def _state(episode: Episode, t: int) -> Attempt:
    """Where an episode stood before step t, as a judge of its candidates is shown it."""
    return Attempt(0, 0, Episode(episode.goal, episode.steps[:t]), episode.steps[t].observation)


def _verdicts(step: Step) -> Tensor:
    """The reward model's verdicts on a step's candidates, (k,); nan where unknown."""
    return torch.tensor([float("nan") if candidate.q is None else candidate.q for candidate in step.candidates])


def _note_q(episode: Episode, q: Tensor, first: int) -> None:
    """Notes the Q values of an episode's candidates from `first` on, (T, k), with the candidates."""
    for step, row in zip(episode.steps, q.tolist(), strict=True):
        for candidate, value in zip(step.candidates[first:], row, strict=True):
            candidate.q = value


def _without_gaps(q: Tensor) -> Tensor:
    """Gives candidates of unknown value, nan, the mean of their state, so that they are neither better nor worse.

    Where none of a state is known, all are 0.
    """
    return torch.where(q.isnan(), q.nanmean(-1, keepdim=True), q).nan_to_num(0.0)


def _one_hot(step: Step) -> Tensor:
    """Which of a step's candidates was executed, (k,) bool."""
    return torch.arange(len(step.candidates)) == step.executed


def _all_equal(episode: Episode, first: int) -> Tensor:
    """Whether all candidates of a state are the same text, which leaves nothing to compare: 0 or 1 per step, (T,)."""
    texts = [{candidate.text for candidate in step.candidates[first:]} for step in episode.steps]
    return torch.tensor([float(len(different) == 1) for different in texts])
