"""Demonstrations in the words of a policy: what it would have read and written."""

from coach_gym.actions import ActionError, parse_action
from coach_gym.agents.models.policy import Policy
from coach_gym.episode import Candidate, Episode, Step


def retell(policy: Policy, episode: Episode) -> Episode:
    """Returns an episode whose executed responses are written in a policy's dialect, coordinates and tokens.

    A step whose action is no action keeps its text.
    """
    steps = []
    for step in episode.steps:
        frame = policy.frame(step.observation)
        try:
            thought, action = parse_action(step.action)
            text = policy.dialect.format(action, thought, frame)
        except ActionError:
            text = step.action
        tokens = [*policy.chat.encode_text(text), policy.eos]
        steps.append(Step(step.observation, [Candidate(text, tokens, [])], 0, step.action))
    return Episode(episode.goal, steps, episode.outcome, task=episode.task, params=episode.params)
