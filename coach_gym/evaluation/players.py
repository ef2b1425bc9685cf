"""Who can be evaluated: agents, policies, models behind servers, experts, and a random one for comparison."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol, runtime_checkable

from coach_gym.actions import Action, ActionError, format_action
from coach_gym.agents.evaluation import Predictor, predict_actions
from coach_gym.agents.judging.chat import ChatClient, ChatServerError, Failure, Message, as_message
from coach_gym.agents.playing.rollout import Attempt
from coach_gym.checks import require_not_negative, require_whole
from coach_gym.dialects import Dialect, Frame, pictures
from coach_gym.envs.suites.suite import Suite
from coach_gym.envs.tasks.screen import Screen
from coach_gym.ui import parse_ui

FINISH = format_action(Action("finished"))


@runtime_checkable
class Player(Protocol):
    """Chooses actions for episodes in progress."""

    def act(self, attempts: Sequence[Attempt]) -> list[str]:
        """Returns one action for each episode; `attempt.memory` is the player's own."""
        ...


class PredictorPlayer(Player):
    """An agent, or anything else with `predict`.

    Args:
        model: The agent.
        deterministic: Whether it takes its most likely response instead of drawing one.
    """

    def __init__(self, model: Predictor, deterministic: bool = True) -> None:
        self.model = model
        self.deterministic = deterministic

    def act(self, attempts: Sequence[Attempt]) -> list[str]:
        """Predicts for all episodes in one batch."""
        return predict_actions(self.model, list(attempts), self.deterministic)


class RandomPlayer(Player):
    """Touches random elements, and sometimes goes back, scrolls or gives up: what a benchmark gives away.

    Args:
        seed: Seed of its choices.
    """

    def __init__(self, seed: int = 0) -> None:
        require_whole(0, seed=seed)
        self.seed = seed

    def act(self, attempts: Sequence[Attempt]) -> list[str]:
        """Returns actions that depend on the seed, the goal and the step alone."""
        return [self._act(attempt) for attempt in attempts]

    def _act(self, attempt: Attempt) -> str:
        rng = random.Random(f"{self.seed} {attempt.episode.goal} {attempt.length}")
        places = [each.center for each in parse_ui(attempt.observation.ui) if each.clickable and each.enabled]
        height, width = attempt.observation.screenshot.shape[:2]
        start = rng.choice(places) if places else (rng.randrange(width), rng.randrange(height))
        start = min(max(start[0], 0), width - 1), min(max(start[1], 0), height - 1)
        actions = [Action("click", start), Action("press_back"), Action("scroll", start, direction="down")]
        return format_action(rng.choices([*actions, Action("finished")], [0.8, 0.08, 0.07, 0.05])[0])


class ExpertPlayer(Player):
    """The scripted experts of a suite; one that misses something on the screen gives up.

    Args:
        suite: The suite that is evaluated.
    """

    def __init__(self, suite: Suite) -> None:
        self.suite = suite

    def act(self, attempts: Sequence[Attempt]) -> list[str]:
        """Returns the next action of each episode's script."""
        return [self._act(attempt) for attempt in attempts]

    def _act(self, attempt: Attempt) -> str:
        try:
            if attempt.memory is None:
                screen = Screen()
                script = self.suite.expert(attempt.episode.task)(screen, attempt.episode.params)
                attempt.memory = screen, script
            screen, script = attempt.memory
            screen.update({"ui": attempt.observation.ui, "screenshot": attempt.observation.screenshot})
            return next(script, FINISH)
        except LookupError:
            return FINISH


@dataclass
class _Conversation:
    opening: list[Message]
    turns: list[list[Message]] = field(default_factory=list)
    answers: list[str] = field(default_factory=list)

    def messages(self, max_turns: int | None) -> list[Message]:
        shown = self.turns if max_turns is None else self.turns[-max_turns:]
        return self.opening + [message for turn in shown for message in turn]


class ChatPlayer(Player):
    """A model behind an OpenAI-compatible server; its dialect says how many turns of an episode it is shown.

    Args:
        client: Asks the server.
        dialect: Prompt, action grammar and coordinate frame of the model family.
        max_new_tokens: Length at which an answer is cut off.
        temperature: Sampling temperature; 0 takes the most likely answer.
    """

    def __init__(
        self, client: ChatClient, dialect: Dialect, max_new_tokens: int = 512, temperature: float = 0.0
    ) -> None:
        require_whole(1, max_new_tokens=max_new_tokens)
        require_not_negative(temperature=temperature)
        self.client = client
        self.dialect = dialect
        self.max_new_tokens = max_new_tokens
        self.temperature = temperature

    def act(self, attempts: Sequence[Attempt]) -> list[str]:
        """Asks for all episodes in parallel. An answer that is no action is passed on, for the environment to refuse.

        Raises:
            ChatServerError: The server gave no answer, which says nothing about the model.
        """
        talks = [self._ask(attempt) for attempt in attempts]
        asked = [talk.messages(self.dialect.max_turns) for talk in talks]
        replies = self.client.replies(asked, self.max_new_tokens, self.temperature)
        actions = []
        for attempt, talk, reply in zip(attempts, talks, replies, strict=True):
            if isinstance(reply, Failure) and not reply.answered:
                raise ChatServerError(f"{self.client.model} at {self.client.host} does not answer: {reply.reason}")
            answer = "" if isinstance(reply, Failure) else reply
            talk.answers.append(answer)
            talk.turns[-1].append({"role": "assistant", "content": answer})
            actions.append(self._parse(answer, attempt))
        return actions

    def _ask(self, attempt: Attempt) -> _Conversation:
        """Adds the turns of the current state to the episode's conversation."""
        goal, seen = attempt.episode.goal, attempt.observation
        frame = self._frame(attempt)
        if attempt.memory is None:
            opening = self.dialect.opening(goal, frame)
            attempt.memory = _Conversation([as_message(role, parts, [], []) for role, parts in opening])
        talk: _Conversation = attempt.memory
        parts = self.dialect.observation(goal, seen, attempt.length, frame, talk.answers)
        shown = pictures(parts, seen)
        talk.turns.append([as_message("user", parts, shown, [frame] * len(shown))])
        return talk

    def _frame(self, attempt: Attempt) -> Frame:
        height, width = attempt.observation.screenshot.shape[:2]
        return self.dialect.frame(width, height).showing(attempt.observation.ui)

    def _parse(self, answer: str, attempt: Attempt) -> str:
        try:
            thought, action = self.dialect.parse(answer, self._frame(attempt))
        except ActionError:
            return answer
        return format_action(action, thought)


def as_player(model: Player | Predictor, deterministic: bool = True) -> Player:
    """Returns a player: the one given, or one around an agent."""
    return model if isinstance(model, Player) else PredictorPlayer(model, deterministic)
