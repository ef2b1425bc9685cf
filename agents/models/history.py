"""An episode as prompt segments, and how much of it a prompt shows."""

from dataclasses import dataclass
from itertools import accumulate

from coach_gym.agents.models.chatml import Segment, join


@dataclass
class History:
    """The segments of an episode; the prompt of step t is `opening, o_0, a_0, o_1, …, o_t`.

    Attributes:
        opening: Everything before the first observation.
        observations: User turns, each up to the point where the model starts to write.
        responses: The executed responses, each with the tokens that close its turn.
    """

    opening: Segment
    observations: list[Segment]
    responses: list[Segment]

    def prompt(self, start: int, step: int) -> Segment:
        """Returns the prompt of `step` that shows the history from step `start` on."""
        turns = [part for pair in zip(self.observations, self.responses, strict=False) for part in pair]
        return join([self.opening, *turns[2 * start : 2 * step], self.observations[step]])

    def prompt_lengths(self, start: int, steps: range) -> list[int]:
        """Returns the lengths of the prompts of consecutive `steps` that show the history from step `start` on."""
        turns = zip(self.observations[start:], [Segment(), *self.responses[start:]], strict=False)
        lengths = accumulate((len(seen) + len(said) for seen, said in turns), initial=len(self.opening))
        return list(lengths)[1:][steps.start - start : steps.stop - start]

    def starts(self, max_length: int, max_turns: int | None = None) -> list[int]:
        """Returns the first step shown in the prompt of each step, so that prompts stay within `max_length` tokens.

        A prompt that grows too long drops its oldest steps at once, down to half of `max_length`. Prompts between two
        such cuts extend one another and share their computation. The current observation is never dropped.

        Args:
            max_length: Maximum number of tokens.
            max_turns: Maximum number of steps; None for any number.
        """
        starts, start, length = [], 0, len(self.opening)
        sizes: list[int] = []
        for step, observation in enumerate(self.observations):
            length += len(observation)
            if length > max_length:
                while length > max_length // 2 and start < step:
                    length -= sizes[start]
                    start += 1
            while max_turns is not None and step - start >= max_turns:
                length -= sizes[start]
                start += 1
            starts.append(start)
            if step < len(self.responses):
                length += len(self.responses[step])
                sizes.append(len(observation) + len(self.responses[step]))
        return starts
