"""What a roll-out tells about the policy and its judges, in the log."""

import warnings
from collections.abc import Sequence
from dataclasses import asdict

from coach_gym.agents.distributed import processes
from coach_gym.agents.judging.chat import spent
from coach_gym.agents.models.policy import Policy
from coach_gym.agents.training.logs.logger import Logger
from coach_gym.agents.training.objective.updates import Means
from coach_gym.episode import Episode


def log_rollout(logger: Logger, episodes: Sequence[Episode], policy: Policy, n_updates: int) -> None:
    """Records `rollout/*`, means over the episodes of all processes.

    `fault_rate` and `unverified` are shares of episodes: those that something broke, and those that were played to
    their end but have no verdict. `staleness` is the number of updates since a state's candidates were drawn.
    `parse_errors` and `cut_responses` are shares of responses: those that are no action, and those that reached their
    maximum length.

    Args:
        logger: Receives the values.
        episodes: The episodes of this process's roll-out.
        policy: The policy that played them.
        n_updates: Number of updates it has had.
    """
    means = Means()
    for episode in episodes:
        means.add(1, fault_rate=episode.fault is not None)
        means.add(1, unverified=episode.fault is None and episode.outcome is None)
        for step in episode.steps:
            means.add(1, staleness=n_updates - step.version)
            frame = policy.frame(step.observation)
            for candidate in step.candidates:
                means.add(1, parse_errors=not policy.is_action(candidate.text, frame))
                means.add(1, cut_responses=candidate.token_ids[-1:] != [policy.eos])
    shares = means.result()
    for name, share in shares.items():
        logger.record(f"rollout/{name}", share)
    if shares.get("unverified") == 1.0:
        _warn("no episode of this roll-out has a verdict, so nothing is learned; is the outcome verifier still there?")


def log_process_rewards(logger: Logger, episodes: Sequence[Episode]) -> None:
    """Records the mean of the known process rewards, and the share of steps without one, over all processes.

    Args:
        logger: Receives `rollout/process_reward` and `rollout/process_reward_unknown`.
        episodes: Episodes whose steps have been judged.
    """
    means = Means()
    for step in (step for episode in episodes for step in episode.steps):
        means.add(1, process_reward_unknown=step.process_reward is None)
        if step.process_reward is not None:
            means.add(1, process_reward=step.process_reward)
    found = means.result()
    for name, value in found.items():
        logger.record(f"rollout/{name}", value)
    if found.get("process_reward_unknown") == 1.0:
        _warn("the process reward model gave no verdict on any step of this roll-out; is it still there?")


def log_judges(logger: Logger) -> None:
    """Records what judges behind servers have been asked so far, over all processes."""
    for name, amount in asdict(spent()).items():
        total = sum(processes.gather(amount))
        if total:
            logger.record(f"judge/{name}", total)


def _warn(message: str) -> None:
    if processes.rank() == 0:
        warnings.warn(message, stacklevel=4)
