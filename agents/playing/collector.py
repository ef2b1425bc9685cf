"""How an agent plays: in rounds, or event-driven, where no device waits for another.

Event-driven, whichever devices are ready get their actions from one batch of draws, each as soon as it is complete:
the other candidates are drawn while the device is busy with it. While all are busy, executed actions are judged.
Episodes of the next batch are reset ahead, and with `max_staleness` begun ahead, so that devices go on working while a
batch ends or the agent learns.

Episodes are learned from in the order of their numbers, whole batches at a time. While batch i is collected, devices
may begin episodes up to batch i + `max_staleness`: none is older than so many updates when its turn comes.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

from coach_gym.agents.distributed import processes
from coach_gym.agents.playing.rollout import Attempt, Rollout, Transition
from coach_gym.episode import Candidate, Episode

if TYPE_CHECKING:
    from coach_gym.agents.training.callbacks import BaseCallback
    from coach_gym.agents.training.online import OnlineAgent

JUDGED_AT_ONCE = 8
"""Steps of which a device that becomes ready has to await the verdicts."""


class Collector:
    """Plays an agent's episodes on its environments, batch by batch.

    Args:
        agent: draws candidates, and judges steps if it can; its environments are played on.

    Attributes:
        rollout: what is under way, from one batch to the next.
        first: number of the next batch's first episode, among those of this process.
    """

    def __init__(self, agent: OnlineAgent) -> None:
        assert agent.env is not None
        self.agent = agent
        self.in_rounds = agent.collection == "rounds" or not hasattr(agent.env, "send_reset")
        self.size = agent.batch_size // processes.size()
        self.first = -(-agent.num_instances // processes.size()) * agent.group_size
        self.rollout = Rollout(agent.env, agent.task_seeds(self.first), self.first, until=self.first)
        self.finished: dict[int, Attempt] = {}
        self._unjudged: deque[tuple[Episode, int]] = deque()

    def collect(self, callback: BaseCallback) -> list[Attempt] | None:
        """Plays until the next batch of episodes is over.

        Returns:
            Its attempts by number; None if the callback stopped the training.

        Raises:
            RuntimeError: The callback has played on the environments, whose episodes are under way.
        """
        batch = range(self.first, self.first + self.size)
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
                if not self.rollout.undisturbed:
                    raise RuntimeError(
                        "a callback's on_step has begun episodes on the training environment, in the midst of those of "
                        "the roll-out; give evaluate() an environment of its own, or call it in _on_rollout_start"
                    )
        while self._judge():
            pass
        self.first = batch.stop
        return [self.finished.pop(number) for number in batch]

    def _round(self, stop: int) -> Transition:
        """One action for every device, or the first states of episodes; all wait for the slowest."""
        self.rollout.begin_until(stop)
        if waiting := self.rollout.waiting:
            self._act(waiting)
        with self.agent.timed("env_wait"):
            return self.rollout.receive(self.rollout.busy)

    def _event(self, stop: int) -> Transition:
        """Actions for the devices that are ready, or else verdicts, or else a wait for the next device."""
        ahead = stop + self.agent.max_staleness * self.size
        self.rollout.begin_until(ahead + self.size)  # a reset needs no policy, so it is never stale
        waiting = [attempt for attempt in self.rollout.waiting if attempt.number < ahead]
        if waiting:
            self._act(waiting)
        worked = bool(waiting) or self._judge()
        with self.agent.timed("env_wait"):
            return self.rollout.receive(0 if worked else 1)

    def _act(self, waiting: list[Attempt]) -> None:
        """Draws responses for some states; each first one is sent on its way while others are still drawn."""
        agent = self.agent
        on_first = None if self.in_rounds else lambda number, first: self._execute({number: first}, waiting)
        with agent.timed("generate"):
            prompts = [agent.policy.prompt(a.episode.goal, a.episode.steps, a.observation) for a in waiting]
            drawn = agent.generator.sample(
                prompts, agent.n_candidates, agent.temperature, agent.max_new_tokens, on_first=on_first
            )
        if self.in_rounds:
            self._execute({number: row[0] for number, row in enumerate(drawn)}, waiting)
        for attempt, candidates in zip(waiting, drawn, strict=True):
            attempt.episode.steps[-1].candidates = candidates

    def _execute(self, firsts: dict[int, Candidate], waiting: list[Attempt]) -> None:
        """Sends actions, given by the number of their state among those that wait."""
        agent = self.agent
        attempts = [waiting[number] for number in firsts]
        for attempt, first in zip(attempts, firsts.values(), strict=True):
            attempt.episode.steps.append(agent.step(attempt.observation, [first]))
            if agent.judges_steps and not self.in_rounds:
                self._unjudged.append((attempt.episode, attempt.length))
        self.rollout.send(attempts, [attempt.episode.steps[-1].action for attempt in attempts])

    def _judge(self) -> bool:
        """Has some steps judged; False if there are none left."""
        steps = [self._unjudged.popleft() for _ in range(min(len(self._unjudged), JUDGED_AT_ONCE))]
        if steps:
            self.agent.judge_steps(steps)
        return bool(steps)

    def _note(self, transition: Transition) -> None:
        self.agent.num_timesteps += len(transition.stepped)
        self.agent.remember(transition.finished)
        self.finished.update({attempt.number: attempt for attempt in transition.finished})
