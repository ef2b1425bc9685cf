"""A dialect of your own: how a model family is prompted, and how its answers are read.

This one writes `{"act": "click", "at": [x, y]}`, with coordinates from 0 to 1000.

    python examples/custom_dialect.py
"""

import json

import gymnasium as gym

import coach_gym  # noqa: F401  (registers the environments)
from coach_gym.actions import Action, ActionError
from coach_gym.agents import CoachAgent
from coach_gym.dialects import DIALECTS, IMAGE, Frame, Part, Turn, smart_resize
from coach_gym.episode import Observation


class Terse:
    """One JSON object per answer.

    Arguments are kept as attributes of the same name, so that the dialect can be saved with its model.
    """

    def __init__(self, max_pixels: int = 200_000, max_turns: int | None = None) -> None:
        self.max_pixels = max_pixels
        self.max_turns = max_turns

    def frame(self, width: int, height: int, factor: int = 28) -> Frame:
        rows, columns = smart_resize(height, width, factor, max_pixels=self.max_pixels)
        return Frame(screen=(width, height), model=(1000, 1000), resized=(columns, rows))

    def opening(self, goal: str, frame: Frame) -> list[Turn]:
        return [("system", [f"You operate a phone. Answer with one JSON object per screen. Task: {goal}"])]

    def observation(
        self, goal: str, observation: Observation, step_index: int, frame: Frame, previous: list[str]
    ) -> list[Part]:
        return [IMAGE, observation.last_action_error]

    def parse(self, text: str, frame: Frame) -> tuple[str, Action]:
        try:
            fields = json.loads(text)
            point = frame.to_screen(*fields["at"]) if "at" in fields else None
            return "", Action(fields["act"], point, content=fields.get("text", ""))
        except (ValueError, KeyError, TypeError) as error:  # an ActionError is a ValueError
            raise ActionError(f'the answer is not like {{"act": "click", "at": [500, 500]}}: {error}') from error

    def format(self, action: Action, thought: str, frame: Frame) -> str:
        fields = {"act": action.kind}
        if action.start is not None:
            fields["at"] = list(frame.to_model(*action.start))
        return json.dumps(fields | ({"text": action.content} if action.content else {}))


def main():
    DIALECTS["Terse"] = Terse  # so that a saved agent finds it again
    dialect = Terse()
    frame = dialect.frame(270, 600)
    tap = Action("click", (135, 300))
    assert dialect.parse(dialect.format(tap, "", frame), frame) == ("", tap)

    env = gym.make("AndroidWorld-v0", screen_size=(270, 600))
    agent = CoachAgent("pocket", env, dialect=dialect, max_new_tokens=16)  # the pocket model does not speak it
    observation, _ = env.reset(seed=0)
    action, _ = agent.predict(observation)
    print("answer:", action)
    agent.save("terse_agent")
    assert isinstance(CoachAgent.load("terse_agent").policy.dialect, Terse)


if __name__ == "__main__":
    main()
