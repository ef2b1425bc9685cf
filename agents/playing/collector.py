"""Collecting batches of episodes: in rounds, or event-driven, where no device waits for another.

Event-driven, the devices that are ready share one batch of draws, and each receives its action as soon as that is
complete: its remaining candidates are drawn while it is busy. While all devices are busy, executed actions are judged.
Episodes of the next batch are reset ahead of time, and with `max_staleness` also begun, so that devices keep working
while a batch ends or the agent learns.

Whole batches are learned from, in the order of their episodes' numbers. While batch i is collected, devices may begin
episodes up to batch i + `max_staleness`, so no episode is more than that many updates old when its turn comes.
"""

from collections import deque
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from typing import Protocol

from gymnasium.vector import VectorEnv

from coach_gym.agents.generation.generator import OnFirst
from coach_gym.agents.playing.player import JudgeSteps
from coach_gym.agents.playing.rollout import Attempt, Rollout, Transition
from coach_gym.episode import Candidate, Episode, Observation, Step
from coach_gym.protocols import EventDriven

JUDGED_AT_ONCE = 8
"""Steps judged in one batch; a device that becomes ready meanwhile waits for their verdicts."""

Timed = Callable[[str], AbstractContextManager[None]]
"""Books the seconds spent inside the context under a name."""


class Player(Protocol):
    """What a collector needs of an agent.

    Attributes:
        judge: Judges executed steps while devices are busy; None if nothing is judged during the roll-out.
    """

    judge: JudgeSteps | None

    def draw(self, situations: Sequence[Attempt], on_first: OnFirst | None = None) -> list[list[Candidate]]:
        """Draws the candidates in every state; `on_first` receives the first of each as soon as it is complete."""
        ...

    def step(self, observation: Observation, candidates: list[Candidate]) -> Step:
        """Returns the step that executes the first candidate."""
        ...


class Collector:
    """Plays episodes batch by batch.

    Args:
        envs: Environments to play on.
        player: Draws candidates, and judges steps if it can.
        seeds: Seeds of the episodes from number `first` on; infinite.
        first: Number of the first episode of the next batch, among those of this process.
        size: Episodes in a batch.
        in_rounds: Lets all devices act together; always the case if `envs` is not event-driven.
        max_staleness: Batches that devices may play ahead.
        timed: Measures what the time goes to: `generate` and `env_wait`.
        keep_forks: Keeps a fork of the environment in every state whose candidates differ (`Step.env`), which takes up
            to twice the memory of a screenshot; for environments that can be forked.

    Attributes:
        rollout: The episodes in progress, which carry over from one batch to the next.
        finished: Finished attempts of later batches, by number.
    """

    def __init__(
        self,
        envs: VectorEnv,
        player: Player,
        seeds: Iterable[int],
        first: int,
        size: int,
        in_rounds: bool,
        max_staleness: int,
        timed: Timed,
        keep_forks: bool = False,
    ) -> None:
        self.player = player
        self.first = first
        self.size = size
        self.in_rounds = in_rounds or not isinstance(envs, EventDriven)
        self.max_staleness = max_staleness
        self.timed = timed
        self.keep_forks = keep_forks
        self.rollout = Rollout(envs, seeds, first, until=first)
        self.finished: dict[int, Attempt] = {}
        self._unjudged: deque[tuple[Episode, int]] = deque()

    @property
    def steps_ahead(self) -> int:
        """Steps taken in episodes of batches that are not collected yet."""
        return sum(attempt.length for attempt in [*self.finished.values(), *self.rollout.in_progress])

    def collect(self, on_step: Callable[[Transition], bool]) -> list[Attempt] | None:
        """Plays until the next batch of episodes is over.

        Args:
            on_step: Called after every transition with at least one step; False stops.

        Returns:
            The attempts of the batch, by number; None if `on_step` returned False.

        Raises:
            RuntimeError: `on_step` has played on the environments, whose episodes are in progress.
        """
        batch = range(self.first, self.first + self.size)
        while any(number not in self.finished for number in batch):
            transition = self._round(batch.stop) if self.in_rounds else self._event(batch.stop)
            if not transition.stepped:
                continue
            self.finished.update({attempt.number: attempt for attempt in transition.finished})
            if not on_step(transition):
                return None
            if not self.rollout.undisturbed:
                raise RuntimeError(
                    "a callback's on_step has begun episodes on the training environment in the middle of a roll-out; "
                    "give evaluate() an environment of its own, or call it in _on_rollout_start"
                )
        self._judge(len(self._unjudged))  # no device waits any more
        self.first = batch.stop
        return [self.finished.pop(number) for number in batch]

    def _round(self, stop: int) -> Transition:
        """Takes one action on every device, or starts episodes; all wait for the slowest."""
        self.rollout.begin_until(stop)
        if waiting := self.rollout.waiting:
            with self.timed("generate"):
                drawn = self.player.draw(waiting)
            self._execute(waiting, [candidates[:1] for candidates in drawn])
            self._complete(waiting, drawn)
        with self.timed("env_wait"):
            return self.rollout.receive(self.rollout.busy)

    def _event(self, stop: int) -> Transition:
        """Acts on the devices that are ready; without any, judges steps or waits for the next device."""
        ahead = stop + self.max_staleness * self.size
        self.rollout.begin_until(ahead + self.size)  # a reset needs no policy, so it is never stale
        waiting = [attempt for attempt in self.rollout.waiting if attempt.number < ahead]
        if waiting:
            with self.timed("generate"):
                drawn = self.player.draw(waiting, lambda number, first: self._execute([waiting[number]], [[first]]))
            self._complete(waiting, drawn)
        worked = bool(waiting) or self._judge()
        with self.timed("env_wait"):
            return self.rollout.receive(0 if worked else 1)

    def _execute(self, attempts: Sequence[Attempt], firsts: Sequence[list[Candidate]]) -> None:
        """Sends each attempt's first candidate to its device."""
        for attempt, first in zip(attempts, firsts, strict=True):
            step = self.player.step(attempt.observation, first)
            if self.keep_forks and attempt.episode.fault is None:
                step.env = self.rollout.fork(attempt)
            attempt.episode.steps.append(step)
            if self.player.judge is not None and not self.in_rounds:
                self._unjudged.append((attempt.episode, attempt.length))
        self.rollout.send(attempts, [attempt.episode.steps[-1].action for attempt in attempts])

    def _complete(self, attempts: Sequence[Attempt], drawn: Sequence[list[Candidate]]) -> None:
        for attempt, candidates in zip(attempts, drawn, strict=True):
            step = attempt.episode.steps[-1]
            step.candidates = candidates
            if len({candidate.text for candidate in candidates}) == 1:
                step.env = None  # nothing to compare

    def _judge(self, most: int = JUDGED_AT_ONCE) -> bool:
        """Judges some steps; returns False if there are none left."""
        steps = [self._unjudged.popleft() for _ in range(min(len(self._unjudged), most))]
        if steps and self.player.judge is not None:
            self.player.judge(steps)
        return bool(steps)
