"""Episodes as text for a judge: the goal, every screen with the action taken there, and how it ended."""

import re
from collections.abc import Iterator

from coach_gym.actions import ActionError, format_action, parse_action
from coach_gym.agents.judging.question import JudgeModel, Question
from coach_gym.dialects import IMAGE, Frame
from coach_gym.episode import Episode, Step

_PLACEHOLDER = re.compile(r"\{(instruction|history)\}")
LEFT_OUT = "(screen left out)"


def question(template: str, episode: Episode, model: JudgeModel, pictures: bool) -> Question | None:
    """Asks whether an episode reached its goal.

    The oldest screens are left out where all of them would be too long; the actions are always complete. The agent's
    thoughts are not shown, since a policy that is rewarded for it would learn to persuade.

    Args:
        template: Text with `{instruction}` and `{history}`.
        episode: The finished episode.
        model: The judge.
        pictures: Shows screenshots instead of the screens' text. A screen without text is always shown as a picture.

    Returns:
        The question; None if even without screens it is too long.
    """
    for shown in _halvings(episode.length):
        asked = _write(template, episode, model, pictures, shown)
        if model.fits(asked):
            return asked
    return None


def _halvings(number: int) -> Iterator[int]:
    """Yields `number`, then half of it again and again, and 0."""
    while number:
        yield number
        number //= 2
    yield 0


def _write(template: str, episode: Episode, model: JudgeModel, pictures: bool, shown: int) -> Question:
    """Writes the question with the last `shown` screens."""
    asked = Question([])
    for index, piece in enumerate(_PLACEHOLDER.split(template)):
        if index % 2 == 0:
            asked.parts.append(piece)
        elif piece == "instruction":
            asked.parts.append(episode.goal)
        else:
            for t, step in enumerate(episode.steps):
                asked.parts.append(f"\nStep {t + 1}\nScreen:\n")
                _write_step(asked, step, model, pictures, visible=t >= episode.length - shown)
            asked.parts.append(_ending(episode))
    return asked


def _write_step(asked: Question, step: Step, model: JudgeModel, pictures: bool, visible: bool) -> None:
    """Writes a screen and the action taken there, in the coordinates in which the screen is shown."""
    seen = step.observation
    if visible and (pictures or not seen.ui):
        asked.parts.append(IMAGE)
        asked.screenshots.append(seen.screenshot)
        action = _action(step.action, model, model.frame(seen.screenshot))
    else:
        asked.parts.append(seen.ui if visible else LEFT_OUT)
        action = _action(step.action)
    error = f"\nThe last action was not carried out: {seen.last_action_error}" if seen.last_action_error else ""
    asked.parts.append(f"{error}\nAction: {action}\n")


def _action(text: str, model: JudgeModel | None = None, frame: Frame | None = None) -> str:
    """An action without its thought, in pixels of the screenshot or as a judge writes it."""
    try:
        _, action = parse_action(text)
    except ActionError:
        return "(none: the agent wrote a text that is no action)"
    if model is None or frame is None:
        return format_action(action)
    return model.dialect.format(action, "", frame)


def _ending(episode: Episode) -> str:
    """How the episode ended, which the last action alone does not say."""
    try:
        _, last = parse_action(episode.steps[-1].action)
    except (ActionError, IndexError):
        last = None
    if last is not None and last.kind == "finished":
        return "\nThere the agent ended the episode.\n"
    return "\nThere the agent ran out of steps; it never said that it was finished.\n"
