"""Filtered cloning: the policy imitates its own successful episodes."""

from collections import deque
from functools import partial
from pathlib import Path
from typing import Unpack

from coach_gym.agents.generation.make import is_address
from coach_gym.agents.judging.steps import load_prm
from coach_gym.agents.judging.trouble import Verdicts, verdicts_of
from coach_gym.agents.models.policy import PolicySource, require_source
from coach_gym.agents.models.reward_models import Question, StepwisePRM
from coach_gym.agents.playing.best_of_k import BestOfK
from coach_gym.agents.playing.scorers import VerdictScorer
from coach_gym.agents.training.agent import Env
from coach_gym.agents.training.arguments import (
    checked_arguments,
    require_at_least,
    require_rehearsal,
    require_successes,
)
from coach_gym.agents.training.online import OnlineAgent
from coach_gym.agents.training.schedules import Schedule
from coach_gym.agents.training.settings import OnlineSettings
from coach_gym.checks import MOST, require_at_most
from coach_gym.episode import Episode


class FilteredCloningAgent(OnlineAgent):
    """Keeps the episodes that solved their task and raises the likelihood of their responses; no critic, no baseline.

    This is REINFORCE with outcomes of 0 and 1 and without a baseline, or expert iteration, and is often the baseline to
    beat. Episodes with a part of the outcome do not count. With a judge, roll-outs execute what that likes best of
    several responses, so that more of them succeed.

    Args:
        policy: `"pocket"`, a directory, a hub id, (model, processor), or a `Policy`.
        env: Environment, vector environment, or the id of one.
        learning_rate: AdamW's learning rate for the policy, or a function of the remaining progress.
        judge: A process reward model, named as `CoachAgent`'s `reward_model` is, which judges the k responses of every
            state. Roll-outs execute one that it calls good; `predict` remains the policy's own.
        k: Responses drawn in every state; more than 1 need a `judge`.
        max_k: Responses up to which more are drawn, k at a time, in states where the judge likes none; None for k.
        vary_answers: In states where the judge likes none of the k responses, asks it also about their answers with
            another text from the screen or the instruction. So the policy can learn what it would never draw, and what
            the judge wrongly likes (`playing/variations.py`).
        malformed_is_worthless: Counts a response that is no action as bad, without asking the judge. Pass False for
            environments that read other texts than the dialect's actions.
        replay: Successful episodes of earlier roll-outs to imitate again in every iteration, the latest ones; 0
            imitates each roll-out once. Checkpoints hold them too.
        max_replayed: Number of these that an iteration imitates, drawn anew each time; None for all, so that
            iterations take longer as successes accumulate.
        rehearsal: Folder of episodes, as `coach-gym data` writes it, whose successes every iteration imitates
            besides: what the policy can do and this training does not practise, so that it is not unlearned.
        max_rehearsed: Number of these that an iteration imitates, drawn anew each time; None for all.
        reword: Share of replayed and rehearsed episodes that are imitated in other words: names, words and numbers of
            the task's parameters are replaced in the instruction, on the screens and in the responses, anew each time.
            So they cannot be learned by heart. For policies that read the screen's text, as pictures stay
            (`training/rewording.py`).
        shared: Arguments of `OnlineAgent`; `n_epochs` and `mini_batch_size` apply to the successes. `help()` lists
            them.
    """

    @checked_arguments(OnlineAgent)
    def __init__(
        self,
        policy: PolicySource,
        env: Env | None,
        learning_rate: Schedule = 1e-6,
        *,
        judge: StepwisePRM | str | None = None,
        k: int = 1,
        max_k: int | None = None,
        vary_answers: bool = False,
        malformed_is_worthless: bool = True,
        replay: int = 0,
        max_replayed: int | None = None,
        rehearsal: str | Path | None = None,
        max_rehearsed: int | None = None,
        reword: float = 0.0,
        **shared: Unpack[OnlineSettings],
    ) -> None:
        require_at_least(0, replay=replay)
        require_successes(reword, max_replayed, replay=replay)
        require_rehearsal(rehearsal, max_rehearsed)
        require_at_least(1, k=k)
        require_at_least(k, max_k=max_k)
        require_at_most(MOST, k=k, max_k=max_k)
        if (k == 1) != (judge is None) or (judge is None and (max_k is not None or vary_answers)):
            raise ValueError(
                f"k={k} responses, max_k={max_k}, vary_answers={vary_answers} and judge={judge!r} do not go together, "
                f"as a judge chooses among several; pass a judge and k=2 or more, or none of them"
            )
        if shared.get("entropy_coef") or shared.get("kl_coef"):
            raise ValueError(
                f"entropy_coef={shared.get('entropy_coef', 0.0)} and kl_coef={shared.get('kl_coef', 0.0)} belong to "
                f"the policy gradient, which filtered cloning has none of; pass neither"
            )
        require_source(judge=judge)
        super().__init__(policy, env, learning_rate, **shared)
        self.prm: StepwisePRM | None = None
        self.malformed_is_worthless = malformed_is_worthless
        if judge is not None:
            self._choose_by(judge, k, max_k, vary_answers)
        self.n_candidates = k
        self.replay = replay
        self.max_replayed = max_replayed
        self.rehearsal = rehearsal
        self.max_rehearsed = max_rehearsed
        self.reword = reword
        self.successes = deque(maxlen=replay)

    def _choose_by(self, judge: StepwisePRM | str, k: int, max_k: int | None, vary_answers: bool) -> None:
        """Lets roll-outs execute the best of k to `max_k` responses by a process reward model."""
        prm = load_prm(judge, "transformers" if is_address(self.generation) else self.generation)
        assert isinstance(prm, StepwisePRM)  # as all that have a name are
        self.prm = prm
        verdicts = VerdictScorer(self.policy, self.ask_judge, self.malformed_is_worthless)
        acting = self.policy, self.generator, self.temperature, self.max_new_tokens
        self.rollout_player = BestOfK(*acting, verdicts, k, max_k, vary_answers)
        self.rollout_player.rollout_temperature = self.rollout_temperature

    def ask_judge(self, questions: list[Question]) -> Verdicts:
        """Returns verdicts on the last steps of some transcripts; None where the reward model gives none."""
        assert self.prm is not None
        ask = partial(self.prm.judge, questions)
        with self.timed("judge"):
            return verdicts_of("process reward model", ask, len(questions), "steps", self.judge_errors)

    def distribute(self) -> None:
        """Shards the agent over the processes of `torch.distributed`; `learn` calls it."""
        super().distribute()
        self.rollout_player.generator = self.generator

    def train(self, groups: list[list[Episode]]) -> None:
        """Imitates the successes of this roll-out, and those that are replayed."""
        self.imitate([episode for group in groups for episode in group])
        self.logger.record("train/n_updates", self.n_updates + 1, exclude="tensorboard")
