"""How an agent plays: in rounds, or event-driven, where no device waits for another.

Event-driven, whichever devices are ready get their actions at once, from one batch. While all are busy, the collector
does what else the roll-out needs: it draws the other candidates of states whose action is out already (their prompts
are in the generator's cache), and has executed actions judged. Episodes of the next batch are reset ahead, and with
`max_staleness` begun ahead, so that devices go on working while a batch ends or the agent learns.

Episodes are learned from in the order of their numbers, whole batches at a time. While batch i is collected, devices
may begin episodes up to batch i + `max_staleness`: none is older than so many updates when its turn comes.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, TypeVar

from coach_gym.episode import Episode, Step

from . import processes
from .policy import Prompt
from .rollout import Attempt, Rollout, Transition

if TYPE_CHECKING:
    from .callbacks import BaseCallback
    from .online import OnlineAgent

Item = TypeVar("Item")

CHORES = 8
"""Steps that are completed or judged at once; a device that becomes ready waits until they are."""


class Collector:
    """Plays an agent's episodes on its environments, batch by batch.

    Args:
        agent: draws candidates, and judges steps if it can; its environments are played on.

    Attributes:
        rollout: what is under way, from one batch to the next.
    """

    def __init__(self, agent: OnlineAgent) -> None:
        assert agent.env is not None
        self.agent = agent
        self.in_rounds = agent.collection == "rounds" or not hasattr(agent.env, "send_reset")
        self.size = agent.batch_size // processes.size()
        first = agent.num_batches * self.size
        self.rollout = Rollout(agent.env, agent.task_seeds(first), first, until=first)
        self.finished: dict[int, Attempt] = {}
        self._incomplete: deque[tuple[Step, Prompt]] = deque()
        self._unjudged: deque[tuple[Episode, int]] = deque()

    def collect(self, callback: BaseCallback) -> list[Attempt] | None:
        """Plays until the next batch of episodes is over.

        Returns:
            Its attempts by number; None if the callback stopped the training.
        """
        batch = range(self.agent.num_batches * self.size, (self.agent.num_batches + 1) * self.size)
        finished: list[Attempt] = []
        while any(number not in self.finished for number in batch):
            transition = self._round(batch.stop) if self.in_rounds else self._event(batch.stop)
            if transition.stepped:
                self._note(transition)
                finished += transition.finished
                rewards, dones, infos = transition.rewards, transition.dones, transition.infos
                episodes = [attempt.episode for attempt in transition.finished]
                callback.update_locals({**locals(), "self": self.agent})
                if not callback.on_step():
                    return None
        while self._chore():
            pass
        return [self.finished.pop(number) for number in batch]

    def _round(self, stop: int) -> Transition:
        """One action for every device, or the first states of episodes; all wait for the slowest."""
        self.rollout.begin_until(stop)
        if waiting := self.rollout.waiting:
            self._act(waiting)
        with self.agent.timed("env_wait"):
            return self.rollout.receive(self.rollout.busy)

    def _event(self, stop: int) -> Transition:
        """Actions for the devices that are ready, or else something useful, or else a wait for the next device."""
        ahead = stop + self.agent.max_staleness * self.size
        self.rollout.begin_until(ahead + self.size)  # a reset needs no policy, so it is never stale
        waiting = [attempt for attempt in self.rollout.waiting if attempt.number < ahead]
        if waiting:
            self._act(waiting)
        worked = bool(waiting) or self._chore()
        with self.agent.timed("env_wait"):
            return self.rollout.receive(0 if worked else 1)

    def _act(self, waiting: list[Attempt]) -> None:
        """Draws responses for some states and sends the first ones on their way."""
        agent = self.agent
        # A backlog means that devices are faster than the policy: no pause to hide the others in, and one pass is less.
        now = agent.n_candidates if self.in_rounds or self._incomplete else 1
        with agent.timed("generate"):
            prompts = [agent.policy.prompt(a.episode.goal, a.episode.steps, a.observation) for a in waiting]
            drawn = agent.generator.sample(prompts, now, agent.temperature, agent.max_new_tokens)
        for attempt, prompt, candidates in zip(waiting, prompts, drawn, strict=True):
            step = agent.step(attempt.observation, candidates)
            attempt.episode.steps.append(step)
            if now < agent.n_candidates:
                self._incomplete.append((step, prompt))
            if agent.judges_steps and not self.in_rounds:
                self._unjudged.append((attempt.episode, attempt.length))
        self.rollout.send(waiting, [attempt.episode.steps[-1].action for attempt in waiting])

    def _chore(self) -> bool:
        """Completes or judges some steps; False if there are none left."""
        agent = self.agent
        if self._incomplete:
            steps, prompts = zip(*_take(self._incomplete, CHORES), strict=True)
            with agent.timed("generate"):
                rest = agent.n_candidates - 1
                drawn = agent.generator.sample(prompts, rest, agent.temperature, agent.max_new_tokens)
            for step, candidates in zip(steps, drawn, strict=True):
                step.candidates += candidates
        elif self._unjudged:
            agent.judge_steps(_take(self._unjudged, CHORES))
        else:
            return False
        return True

    def _note(self, transition: Transition) -> None:
        self.agent.num_timesteps += len(transition.stepped)
        self.agent.remember(transition.finished)
        self.finished.update({attempt.number: attempt for attempt in transition.finished})


def _take(items: deque[Item], number: int) -> list[Item]:
    return [items.popleft() for _ in range(min(number, len(items)))]
