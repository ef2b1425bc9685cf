"""Settings of CoachAgent that contradict one another."""

from typing import Literal

from coach_gym.agents.actor_critic import ActorCriticSettings
from coach_gym.agents.training.objective.advantages import Baseline

Execute = Literal["first", "best"]
Scorer = Literal["critic", "reward_model"]
Forks = Literal["critic", "policy"]


def require_compatible(
    shared: ActorCriticSettings,
    *,
    k: int,
    baseline: Baseline,
    discount_outcome: bool | None,
    resample: bool,
    learn_from_executed: bool,
    distinct: bool,
    execute: Execute,
    max_k: int | None,
    vary_answers: bool,
    scorer: Scorer,
    forks: Forks | None,
    outcome_correction: float,
    revisit: int | None,
    max_revisited: int | None,
    revisit_k: int | None,
) -> None:
    """Checks settings of CoachAgent against one another, before any model is loaded.

    Args:
        shared: Settings of the base classes, as far as they are given; the others are CoachAgent's own.

    Raises:
        ValueError: Two of them contradict one another.
    """
    if outcome_correction and (resample or not learn_from_executed):
        raise ValueError(
            f"outcome_correction={outcome_correction} corrects the executed candidate's advantage, which "
            f"resample={resample}, learn_from_executed={learn_from_executed} leaves out of the update; pass 0, or "
            f"resample=False and learn_from_executed=True"
        )
    if execute == "best" and (outcome_correction or distinct or resample or not learn_from_executed):
        raise ValueError(
            f"outcome_correction={outcome_correction}, distinct={distinct}, resample={resample}, "
            f"learn_from_executed={learn_from_executed} are right only if the executed candidate is the first draw "
            f"of the policy, and execute='best' chooses it; pass execute='first', or outcome_correction=0.0, "
            f"distinct=False, resample=False and learn_from_executed=True"
        )
    if (max_k is not None or vary_answers) and (execute, scorer) != ("best", "reward_model"):
        raise ValueError(
            f"max_k={max_k}, vary_answers={vary_answers} try more where a reward model that chooses likes none of "
            f"k={k} responses, and these are execute={execute!r}, scorer={scorer!r}; pass execute='best' and "
            f"scorer='reward_model', or max_k=None and vary_answers=False"
        )
    if vary_answers and shared.get("recompute_log_probs"):
        raise ValueError(
            "vary_answers=True executes texts that the policy has not drawn and must not take for draws, as "
            "recompute_log_probs=True would; pass one of them"
        )
    fewest = k if revisit_k is None else min(k, revisit_k)
    if baseline == "mean" and fewest == 1:
        raise ValueError(f"baseline={baseline!r} leaves no advantage with k={fewest}; pass k=2 or more")
    if forks is not None and (
        resample or shared.get("reward_model") is not None or shared.get("rollout_temperature") is not None
    ):
        raise ValueError(
            f"forks={forks!r} measures the outcome of the roll-out's own candidates, continued at `temperature`; "
            f"pass resample=False, reward_model=None and rollout_temperature=None with it"
        )
    weight = shared.get("outcome_reward_weight", 1.0)
    if forks is not None and (discount_outcome is False or weight != 1):
        raise ValueError(
            f"forks={forks!r} measures discounted outcomes, which discount_outcome={discount_outcome} and "
            f"outcome_reward_weight={weight} would compare with others; pass discount_outcome=None and "
            f"outcome_reward_weight=1.0"
        )
    if forks == "policy" and shared.get("critic_warmup_episodes"):
        raise ValueError(
            f"forks='policy' fits no critic, which critic_warmup_episodes={shared['critic_warmup_episodes']} would "
            f"wait for; pass critic_warmup_episodes=0"
        )
    if distinct and (fewest == 1 or baseline == "mean" or not (learn_from_executed or resample)):
        raise ValueError(
            f"distinct=True needs k=2 or more, a baseline other than 'mean', and the executed candidate in the "
            f"update or resample=True, to keep the policy gradient unbiased; these are k={fewest}, "
            f"baseline={baseline!r}, learn_from_executed={learn_from_executed}"
        )
    if scorer == "reward_model" and (
        resample or baseline == "value" or forks is not None or shared.get("critic_warmup_episodes")
    ):
        raise ValueError(
            f"scorer='reward_model' learns from verdicts on the roll-out's candidates, without a critic, and "
            f"resample={resample}, baseline={baseline!r}, forks={forks!r}, "
            f"critic_warmup_episodes={shared.get('critic_warmup_episodes', 0)} want others; pass resample=False, "
            f"another baseline than 'value', forks=None and critic_warmup_episodes=0"
        )
    if revisit is None and (max_revisited is not None or revisit_k is not None):
        raise ValueError(
            f"max_revisited={max_revisited}, revisit_k={revisit_k} say how earlier episodes are visited again, and "
            f"revisit=None visits none; pass revisit=800, or neither"
        )
    if revisit is not None and forks == "policy":
        raise ValueError(
            f"forks={forks!r} measures candidates while their state can be forked, and revisit={revisit} draws others "
            f"in states that are gone; pass revisit=None, or forks='critic'"
        )
