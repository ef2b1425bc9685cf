"""AndroidLab's tasks behind our interface of a task."""

from __future__ import annotations

import contextlib
import shlex
from collections.abc import Callable, Mapping
from typing import Any, ClassVar

from coach_gym.actions import Action
from coach_gym.envs.apps.clock.lab import TODAY
from coach_gym.envs.devices.device import Device
from coach_gym.envs.devices.phone import PhoneDevice
from coach_gym.envs.errors import DeviceError
from coach_gym.envs.suites.official_lab import compressed, queries
from coach_gym.envs.suites.official_lab.checkout import Definition, Judging
from coach_gym.envs.suites.official_lab.prepare import prepare
from coach_gym.envs.tasks.task import Params, Task
from coach_gym.ui import Node, to_dump

BUDGET = 25  # upstream's max_rounds
SAME_ACTIONS = 5  # so many equal actions in a row end a run

AnswerJudge = Callable[[str, str, str], bool]
"""Whether an answer is right: from the question, the answer and the standard answer."""


class LabTask(Task):
    """One run of an upstream task: judged step by step by upstream's judge, as upstream does it.

    The judge sees the screen before every action, and the action. Its last word on a page that it knows is the verdict,
    whether the agent finished or not.
    """

    definition: ClassVar[Definition]
    answer_judge: ClassVar[AnswerJudge | None]
    apps: ClassVar[tuple[str, ...]]
    budget = BUDGET
    judged_unfinished = True
    always_ruled = False

    def __init__(self, params: Mapping[str, Any]) -> None:
        super().__init__(params)
        self._judging = Judging(type(self).answer_judge)
        self._judge = self.definition.judge(self._judging)
        self._actions: list[dict[str, Any]] = []
        self._judged_steps = 0
        self.result: dict[str, Any] = {"complete": False}

    @property
    def goal(self) -> str:
        """Returns the instruction in upstream's words."""
        return self.definition.goal

    def setup(self, device: Device) -> None:
        """Sets the date, prepares an embedded phone as the benchmark's image is, and opens the app."""
        package = self.definition.package
        if isinstance(device, PhoneDevice):
            phone = device.phone
            if package not in phone.apps:
                raise DeviceError(f"this phone has no {package}: make it with PhoneDevice(..., profile=ANDROID_LAB)")
            phone.now = TODAY  # upstream sets this date before every task but map.me's
            prepare(phone, self.name)
            phone.launch(package)
            return
        if self.definition.app != "map.me":
            queries.shell(device, f"date '{TODAY}'")
        queries.shell(device, f"monkey -p {shlex.quote(package)} -c android.intent.category.LAUNCHER 1")

    def watch(self, device: Device, screen: Node, action: Action) -> bool:
        """Judges the step that is about to be made; says whether it ends the run (the agent repeats itself).

        Raises:
            Exception: Whatever the answer judge raised: then there is no verdict.
        """
        line = self._line(device, action)
        self._actions.append(line["parsed_action"])
        tree = compressed.tree(to_dump(screen))
        if tree is not None:
            self._judge_step(tree, line)
        if self._judging.failure is not None:
            raise self._judging.failure
        last = self._actions[-SAME_ACTIONS:]
        return len(self._actions) > SAME_ACTIONS and all(action == last[0] for action in last)

    def _judge_step(self, tree: compressed.Tree, line: dict[str, Any]) -> None:
        """Keeps what the judge says of one step. Upstream skips steps on which a judge fails, and so do we."""
        with contextlib.suppress(Exception):
            result = self._judge.judge(tree, line)
            self._judged_steps += 1
            if result.get("judge_page", True):
                self.result = dict(result)

    def _line(self, device: Device, action: Action) -> dict[str, Any]:
        """Returns the part of upstream's trace of one step that judges read."""
        line = {"target": self.goal, "index": len(self._actions), "parsed_action": parsed_action(action)}
        if self.definition.query is not None:
            line["command"] = {self.definition.query: queries.ask(device, self.definition.query)}
        return line

    def evaluate(self, device: Device, answer: str | None) -> float | None:
        """Returns 1.0 if the last verdict says that the task is complete; None for an answer that nobody compared."""
        if self._judging.open:
            return None
        return float(self.result.get("complete") is True)

    def report(self) -> dict[str, Any]:
        """Returns what the metrics need: the judge's last word, and the numbers of steps of agent and person."""
        return {
            "judged": Params(self.result),
            "judged_steps": self._judged_steps,
            "human_steps": self.definition.human_steps,
        }


def parsed_action(action: Action) -> dict[str, Any]:
    """Returns an action as upstream's executor reports it."""
    names = {
        "click": "Tap", "long_press": "Long Press", "scroll": "Swipe", "drag": "Swipe", "type": "Type",
        "open_app": "Launch", "press_back": "Press Back", "press_home": "Press Home", "press_enter": "Press Enter",
        "wait": "Wait",
    }  # fmt: skip
    if action.kind == "finished":
        return {"operation": "finish", "action": "finish", "kwargs": {"message": action.content}}
    details = {"element": action.start, "end": action.end, "direction": action.direction, "text": action.content}
    return {"operation": "do", "action": names[action.kind], "kwargs": {k: v for k, v in details.items() if v}}


def family(definition: Definition, answer_judge: AnswerJudge | None) -> type[LabTask]:
    """Makes the task class of one definition."""
    attributes = {
        "name": definition.id,
        "definition": definition,
        "kind": definition.kind,
        "answer_judge": None if answer_judge is None else staticmethod(answer_judge),
        "apps": (definition.app,),
        "template": definition.goal,
        "__doc__": definition.goal,
    }
    return type(definition.id, (LabTask,), attributes)
