"""Demonstrations in the words of a policy: what it would have read and written."""

from coach_gym.actions import ActionError, parse_action
from coach_gym.agents.models.policy import Policy
from coach_gym.episode import Candidate, Episode, Observation, Step


def retell(policy: Policy, episode: Episode) -> Episode:
    """Returns an episode whose executed responses are written in a policy's dialect, coordinates and tokens."""
    steps = [
        Step(step.observation, [write(policy, step.action, step.observation)], 0, step.action) for step in episode.steps
    ]
    return Episode(episode.goal, steps, episode.outcome, task=episode.task, params=episode.params)


def write(policy: Policy, action: str, observation: Observation) -> Candidate:
    """Returns canonical action text as a policy would write it; a text that is no action stays as it is."""
    try:
        thought, parsed = parse_action(action)
        action = policy.dialect.format(parsed, thought, policy.frame(observation))
    except ActionError:
        pass
    return Candidate(action, [*policy.chat.encode_text(action), policy.eos], [])
