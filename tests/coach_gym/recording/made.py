"""An episode made by hand, with everything that is kept of one."""

import numpy as np

from coach_gym.episode import Candidate, Episode, Observation, Step

LOGPROBS = [-0.5, -0.25, -1 / 3]


def screen(shade: int) -> np.ndarray:
    pixels = np.full((40, 20, 3), shade, np.uint8)
    pixels[3:9, 2:5] = (255, 0, shade)
    return pixels


def episode(steps: int = 3, k: int = 4, goal: str = "Add a contact") -> Episode:
    texts = [f"Thought: try {i}\nAction: click(start_box='({i},{2 * i})')" for i in range(k)]
    made = [
        Step(
            Observation(screen(t), f'<Button text="b{t}" bounds="[0,0][9,9]"/>', "no" * t),
            [Candidate(text, [1, t, i], LOGPROBS, q=i / 3, advantage=0.1 - i) for i, text in enumerate(texts)],
            executed=0,
            action=texts[0],
            process_reward=1.0,
            return_=0.7,
            version=t,
            judged=True,
            reasoning="It is the right button.",
        )
        for t in range(steps)
    ]  # fmt: skip
    last = Observation(screen(steps))
    return Episode(goal, made, 1.0, None, "ContactsAddContact", {"name": "Ada"}, "done", 7, last)
