"""The methods of the comparison and their settings, as data.

Settings are arguments of the agent, with two words of their own: `critic="copy"` starts from the policy's weights and
`critic="judge"` from the judge's. `GRIDS` has the same number of settings for every method that learns;
`python -m benchmarks.controls --sweep` tries them on validation and writes the best to `chosen.json`.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from coach_gym.agents import CoachAgent, FilteredCloningAgent, GRPOAgent, PPOAgent, RLOOAgent
from coach_gym.agents.training.online import OnlineAgent

CHOSEN = Path(__file__).with_name("chosen.json")

SHARED: dict[str, Any] = {
    "batch_size": 24,
    "mini_batch_size": 8,
    "max_new_tokens": 48,
    "max_prompt_length": 3072,
    "collection": "rounds",  # a seed repeats its run; time is computed from the work afterwards
}
CRITIC: dict[str, Any] = {"critic": "pocket", "critic_warmup_ratio": 0.0}
JUDGE = "pocket-judge"
JUDGED: dict[str, Any] = {
    **CRITIC, "reward_model": JUDGE, "scorer": "reward_model", "execute": "best", "k": 16,
}  # fmt: skip
AGAIN: dict[str, Any] = {"max_k": 64}
FEW: dict[str, Any] = {"k": 4, "max_k": 16}
VARIED: dict[str, Any] = {"vary_answers": True}
REWORDED: dict[str, Any] = {"reword": 0.5}
VISITS: dict[str, Any] = {"revisit": 1000, "max_revisited": 96, "revisit_k": 16}


@dataclass(frozen=True)
class Method:
    """A way to act, learned or not.

    Attributes:
        label: Its name in tables.
        agent: Class of the agent.
        settings: Arguments of the agent in addition to `SHARED`.
        learns: Whether it is trained.
        best_of: Responses of which the agent's scorer chooses one when it acts; 0 lets the policy act.
        baseline: Whether it is an alternative that others use, with which speed is compared. What else learns is a
            control or a variant of the method.
    """

    label: str
    agent: type[OnlineAgent]
    settings: dict[str, Any] = field(default_factory=dict)
    learns: bool = True
    best_of: int = 0
    baseline: bool = False


COACH = "coach"
"""The method that the others are compared with, unless another one is named."""

METHODS = {
    "base": Method("base", GRPOAgent, learns=False),
    "base_cool": Method("base, temperature 0.7", GRPOAgent, {"temperature": 0.7}, learns=False),
    "base_cold": Method("base, temperature 0.4", GRPOAgent, {"temperature": 0.4}, learns=False),
    "best_of_4": Method("best of 4 by Q", CoachAgent, CRITIC, learns=False, best_of=4),
    "best_of_8": Method("best of 8 by Q", CoachAgent, CRITIC, learns=False, best_of=8),
    "best_by_judge": Method("best of 16 by the judge", CoachAgent, JUDGED, learns=False, best_of=16),
    "best_by_judge_64": Method("best of 16 to 64 by the judge", CoachAgent, JUDGED | AGAIN, learns=False, best_of=16),
    "best_by_judge_varied": Method(
        "best of 16 to 64 by the judge, answers varied", CoachAgent, JUDGED | AGAIN | VARIED,
        learns=False, best_of=16,
    ),
    "judged": Method("CoachAgent, judge scores", CoachAgent, JUDGED),
    "frozen": Method("CoachAgent, critic frozen", CoachAgent, CRITIC),
    "imitates": Method("CoachAgent, imitates only", CoachAgent, CRITIC | {"critic": "copy"}),
    "cloning": Method("filtered cloning", FilteredCloningAgent, baseline=True),
    "cloning_judged": Method(
        "filtered cloning of the judge's best of 16", FilteredCloningAgent, {"judge": JUDGE, "k": 16}
    ),
    "judged_64": Method("CoachAgent, judge scores, up to 64 draws", CoachAgent, JUDGED | AGAIN),
    "judged_reworded": Method(
        "CoachAgent, judge scores 4 to 16 draws, answers varied, replays in other words", CoachAgent,
        JUDGED | FEW | VARIED | REWORDED,
    ),
    "cloning_judged_64": Method(
        "filtered cloning of the judge's best of 16 to 64", FilteredCloningAgent, {"judge": JUDGE, "k": 16} | AGAIN
    ),
    "cloning_few": Method(
        "filtered cloning of the judge's best of 4 to 16", FilteredCloningAgent, {"judge": JUDGE} | FEW
    ),
    "cloning_varied": Method(
        "filtered cloning of the judge's best of 4 to 16, answers varied", FilteredCloningAgent,
        {"judge": JUDGE} | FEW | VARIED,
    ),
    "cloning_reworded": Method(
        "filtered cloning of the judge's best of 4 to 16, answers varied, replayed in other words",
        FilteredCloningAgent, {"judge": JUDGE} | FEW | VARIED | REWORDED,
    ),
    "cloning_alone_reworded": Method(
        "filtered cloning, replayed in other words", FilteredCloningAgent, REWORDED
    ),
    "rloo": Method("RLOO", RLOOAgent, baseline=True),
    "grpo": Method("GRPO", GRPOAgent, baseline=True),
    "ppo": Method("PPO", PPOAgent, {"critic": "copy"}, baseline=True),
    "ppo_v": Method("PPO, V pre-trained", PPOAgent, CRITIC, baseline=True),
    "ppo_prm": Method("PPO, PRM", PPOAgent, {"critic": "copy", "reward_model": "pocket"}, baseline=True),
    COACH: Method("CoachAgent", CoachAgent, {**CRITIC, "reward_model": "pocket"}),
    "uncorrected": Method("CoachAgent, uncorrected", CoachAgent, {**CRITIC, "reward_model": "pocket"}),
    "judged_alone": Method("CoachAgent, judge scores, imitates nothing", CoachAgent, JUDGED),
    "judged_passes": Method(
        "CoachAgent, judge scores, imitates nothing, four passes over a roll-out", CoachAgent,
        JUDGED | {"n_epochs": 4, "mini_batch_size": 4},
    ),
    "judged_visiting": Method(
        "CoachAgent, judge scores, imitates nothing, visits states again", CoachAgent, JUDGED | FEW | VISITS
    ),
    "coach_alone": Method("CoachAgent, imitates nothing", CoachAgent, {**CRITIC, "reward_model": "pocket"}),
    "coach_forks": Method("CoachAgent, critic taught by forks", CoachAgent, {**CRITIC, "forks": "critic"}),
    "measured": Method("CoachAgent, measured Q for the critic", CoachAgent, {**CRITIC, "forks": "policy"}),
}

FROZEN: dict[str, Any] = {"critic_learning_rate": 0.0, "outcome_correction": 0.0}
"""What changes CoachAgent's settings so that its advantages are those of the critic that it started with; without a
pre-trained one, whose value head starts at zero, they are zero and only its own successes teach."""

ALONE: dict[str, Any] = {"self_imitation": None, "outcome_correction": 0.0, "learning_rate": 5e-5}
"""What changes CoachAgent's settings so that Q alone, or the judge, teaches the policy, as in the paper, at a lower
learning rate, as the chosen one ruins the policy without imitation."""

_RATES = (5e-5, 1.5e-5, 1.5e-4)
_STEADY = {"critic_learning_rate": 5e-5, "outcome_correction": 1.0, "negative_weight": 0.1, "self_imitation": 100}


def _grid(*options: dict[str, Any]) -> list[dict[str, Any]]:
    return [{"learning_rate": rate, **option} for rate in _RATES for option in options]


GRIDS: dict[str, list[dict[str, Any]]] = {
    "cloning": _grid({"replay": 0}, {"replay": 100}),
    "rloo": _grid({"group_size": 4}, {"group_size": 8}),
    "grpo": _grid({"group_size": 4}, {"group_size": 8}),
    "ppo": _grid({"critic_learning_rate": 1e-5}, {"critic_learning_rate": 1e-4}),
    "ppo_v": _grid(
        {"critic_learning_rate": 1e-4},
        {"critic_learning_rate": 1e-4, "critic_warmup_episodes": 48},  # V is then fitted before the policy moves
    ),
    "ppo_prm": _grid({"critic_learning_rate": 1e-5}, {"critic_learning_rate": 1e-4}),
    COACH: _grid(_STEADY, {"critic_learning_rate": 1e-5}),
    "coach_forks": _grid(_STEADY, {"critic_learning_rate": 1e-5}),
}


def chosen() -> dict[str, dict[str, Any]]:
    """Returns the settings that the sweep chose, by method; the first of each grid before there was a sweep.

    Controls of CoachAgent have its settings, but for `FROZEN` and `ALONE`. `uncorrected` trusts the critic alone, and
    `judged` the judge; `cloning_judged` has cloning's. `measured` has CoachAgent's, which shows what the best of all
    critics would be worth in its place.
    """
    settings = {name: grid[0] for name, grid in GRIDS.items()}
    if CHOSEN.exists():
        settings |= json.loads(CHOSEN.read_text("utf-8"))["settings"]
    frozen = settings[COACH] | FROZEN
    controls = {
        "frozen": frozen, "imitates": frozen,
        **{name: settings[COACH] | ALONE for name in METHODS if name.endswith(("_alone", "_passes", "_visiting"))},
        "uncorrected": settings[COACH] | {"outcome_correction": 0.0},
        **dict.fromkeys(("judged", "judged_64", "judged_reworded"), settings[COACH] | {"outcome_correction": 0.0}),
        **{name: settings["cloning"] for name in METHODS if name.startswith("cloning_")},
    }  # fmt: skip
    return settings | controls | {"measured": settings[COACH]}


def with_judge(settings: dict[str, dict[str, Any]], judge: str) -> dict[str, dict[str, Any]]:
    """Returns the settings of all methods, with another judge where `JUDGE` chooses among candidates."""
    changed = {name: {k: judge for k, v in each.settings.items() if v == JUDGE} for name, each in METHODS.items()}
    return settings | {name: settings.get(name, {}) | changes for name, changes in changed.items() if changes}


def with_store(settings: dict[str, Any], successes: int | None, replayed: int | None = None) -> dict[str, Any]:
    """Returns settings with another number of earlier successes, unless they imitate none.

    Args:
        settings: Of one method.
        successes: How many are kept; None for as many as before.
        replayed: How many of these an iteration imitates; None for all.
    """
    kept = [name for name in ("self_imitation", "replay") if settings.get(name)]
    stored = {name: successes for name in kept if successes is not None}
    return settings | stored | ({"max_replayed": replayed} if kept and replayed is not None else {})
