"""Demonstrations: episodes of scripted experts, written as the pocket model answers.

An answer names its target with its place as the screen's text does (`Thought: Save 50 8`), so that acting means reading
and copying. Some episodes contain a wrong touch and the way back.
"""

from __future__ import annotations

import logging
import random
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import gymnasium as gym
import numpy as np
import torch
from PIL import Image

import coach_gym  # noqa: F401  (registers the environments)
from coach_gym.actions import Action, format_action, parse_action
from coach_gym.agents.models.chatml import ImageInput
from coach_gym.agents.models.policy import Policy
from coach_gym.agents.pocket.sequences import PATCH, Sequence
from coach_gym.dialects import Frame
from coach_gym.dialects.ui_tars import marked_name, name_and_details
from coach_gym.envs.tasks.screen import Screen
from coach_gym.envs.tasks.words import Split
from coach_gym.episode import Observation
from coach_gym.ui import Element, parse_ui

FAMILIES = {
    "AndroidWorld-v0": (
        "CameraTakePhoto", "CameraTakeVideo", "ClockStopWatchRunning", "ContactsAddContact", "ContactsDeleteContact",
        "ContactsEditPhone", "ContactsFavorite", "ContactsPhoneNumberOf", "ExpenseAmountOf", "ExpenseChangeAmount",
        "ExpenseDeleteSingle", "FilesCreateFolder", "FilesDeleteFile", "MarkorCreateFolder", "MarkorCreateNote",
        "MarkorDeleteNewestNote", "MarkorDeleteNote", "MarkorNoteLine", "OpenAppTaskEval", "RecipeDeleteSingleRecipe",
        "RecipeServingsOf", "SimpleSmsReply", "SimpleSmsReplyMostRecent", "SimpleSmsSend", "SmsDeleteThread",
        "SmsSendToContact", "SmsTextOf", "SystemBluetoothTurnOff", "SystemBluetoothTurnOn", "SystemBrightnessMax",
        "SystemBrightnessMin", "SystemWifiTurnOff", "SystemWifiTurnOn", "TasksAddTask", "TasksCompleteTask",
        "TasksDeleteTask", "TasksDueOnDate", "TurnOnWifiAndOpenApp",
    ),
    "AndroidLab-v0": ("ClockDeleteAlarm", "ClockSwitchAlarm"),
    "AndroidSight-v0": (
        "ChromePressColor", "ChromeSetSwitches", "DrawInColorOfPicture", "DrawNameDrawing", "FilesDeletePicture",
        "GalleryArrowDirection", "GalleryCountShapes", "GalleryDeleteOddOne", "GalleryDeletePicture",
        "OsmAndSideOfRiver", "SettingsSwitchBySign", "SmsColorOfPicture",
    ),
}  # fmt: skip
"""The families that the pocket model has seen, all of them training's: short ones of every app."""

SENTENCE_END = re.compile(r"[.:] ")
WORD_OR_MARK = re.compile(r"\w+|[^\w\s]")
THOUGHTS = {"open_app": "open", "scroll": "scroll", "press_back": "back", "press_home": "home",
            "press_enter": "enter", "wait": "wait"}  # fmt: skip


@dataclass
class Demonstration:
    """One episode that an expert solved.

    Attributes:
        task: Name of the task family.
        goal: The instruction.
        steps: Observation, answer, and whether the answer is to be learned.
    """

    task: str
    goal: str
    steps: list[tuple[Observation, str, bool]]


def demonstrate(
    policy: Policy, benchmark: str, families: Iterable[str], seeds: Iterable[int], screen_size: tuple[int, int],
    slips: float = 0.15, split: Split = "train",
) -> Iterator[Demonstration]:
    """Yields episodes that experts solved.

    Args:
        policy: The policy whose dialect the answers use.
        benchmark: Id of the environment.
        families: Names of the task families.
        seeds: Seeds of the instances, the same for every family.
        screen_size: Width and height of the phone in pixels.
        slips: Share of episodes with one wrong touch.
        split: Split of the instances.
    """  # fmt: skip
    env: gym.Env = gym.make(benchmark, screen_size=screen_size, split=split)
    seeds = list(seeds)
    for family in families:
        for seed in seeds:
            solved = _Recorder(policy, env, random.Random(seed), slips).play(family, seed)
            if solved is not None:
                yield solved
    env.close()


class _Recorder:
    """Plays one episode and records it."""

    def __init__(self, policy: Policy, env: gym.Env, rng: random.Random, slips: float) -> None:
        self.policy, self.env, self.random = policy, env, rng
        self.slip_at = rng.randrange(4) if rng.random() < slips else None
        self.steps: list[tuple[Observation, str, bool]] = []
        self.reward = 0.0

    def play(self, family: str, seed: int) -> Demonstration | None:
        """Returns the episode, or None if it was not solved, for example after a wrong touch without a way back."""
        self.seen, info = self.env.reset(seed=seed, options={"task": family})
        goal, screen, over = self.seen["goal"], Screen(), False
        screen.update(self.seen)
        try:
            expert = self.env.get_wrapper_attr("suite").expert(family)
            for number, action in enumerate(expert(screen, dict(info["params"]))):
                if number == self.slip_at and not self._slip():
                    return None
                over = self._act(action)
                if over:
                    break
                screen.update(self.seen)
        except LookupError as error:
            logging.getLogger(__name__).warning("%s, seed %d: the expert gave up: %s", family, seed, error)
            return None
        return Demonstration(family, goal, self.steps) if over and self.reward == 1.0 else None

    def _act(self, text: str, taught: bool = True) -> bool:
        observation = Observation(self.seen["screenshot"], self.seen["ui"], self.seen["last_action_error"])
        self.steps.append((observation, answer(self.policy, text, observation, self.seen["goal"]), taught))
        self.seen, reward, terminated, truncated, _ = self.env.step(text)
        self.reward = float(reward)
        return terminated or truncated

    def _slip(self) -> bool:
        """Touches a wrong element and goes back; returns False if that did not restore the screen."""
        before = self.seen["ui"]
        targets = [e for e in parse_ui(before) if e.clickable and e.enabled and not e.checkable]
        if not targets:
            return True
        wrong = format_action(Action("click", self.random.choice(targets).center))
        if self._act(wrong, taught=False):
            return False
        return self.seen["ui"] == before or (not self._act("press_back()") and self.seen["ui"] == before)


def answer(policy: Policy, action_text: str, observation: Observation, goal: str) -> str:
    """Writes an expert's action as the pocket model should."""
    _, action = parse_action(action_text)
    frame = policy.frame(observation)
    return policy.dialect.format(action, thought(action, observation, frame, goal), frame)


def blunder(policy: Policy, observation: Observation, goal: str, rng: random.Random) -> str:
    """Returns a well-formed answer that is probably wrong: a touch of some element, or the end of the episode."""
    elements = [element for element in parse_ui(observation.ui) if element.clickable and element.enabled]
    touch = elements and rng.random() < 0.8
    action = Action("click", rng.choice(elements).center) if touch else Action("finished")
    return answer(policy, format_action(action), observation, goal)


def thought(action: Action, observation: Observation, frame: Frame, goal: str) -> str:
    """Returns the text before the action: the target's name and place as on the screen, the question, or a word.

    Before a text is typed that stands in the goal, it says the word before it and its first one, such as `Name, named
    Harvest`. The first of them is the same in all instances, and what follows it is copied.
    """
    elements = [element for element in parse_ui(observation.ui) if element.enabled]
    if action.start is not None and action.kind != "scroll":
        here = sorted((e for e in elements if e.center == action.start), key=_passive)
        x, y = frame.to_model(*action.start)
        return f"{marked_name(here[0], goal) if here else 'here'} {x} {y}"
    if action.kind == "type":
        field = next((name_and_details(element)[0] for element in elements if element.focused), "type")
        return f"{field}{_where_it_stands(action.content, goal)}"
    if action.kind == "finished":
        return question_in(goal) or "answer" if action.content else "done"
    return THOUGHTS[action.kind]


def question_in(goal: str) -> str:
    """Returns the question of a goal, such as `How many are there?`; nothing if it asks none."""
    before, mark, _ = goal.partition("?")
    return SENTENCE_END.split(before)[-1] + mark if mark else ""


def _where_it_stands(content: str, goal: str) -> str:
    """Returns the word or mark before a text in the goal, and the text's first word; nothing if it is not there."""
    before, found, _ = goal.partition(content)
    words = WORD_OR_MARK.findall(before)
    return f", {words[-1]} {content.split()[0]}" if found and words and content.strip() else ""


def _passive(element: Element) -> bool:
    return not (element.clickable or element.long_clickable or element.editable)


def to_sequence(policy: Policy, shown: Demonstration) -> Sequence:
    """Returns the episode as one sequence of the policy's own prompts, with all taught answers in the loss."""
    chat, frame = policy.chat, policy.frame(shown.steps[0][0])
    width, height = frame.image
    blank = ImageInput(torch.empty(0), (1, height // PATCH, width // PATCH))
    sequence = Sequence(task=shown.task)
    sequence.add(policy.encode_opening(shown.goal, frame).input_ids)
    pictures = []
    for number, (observation, text, taught) in enumerate(shown.steps):
        parts = policy.dialect.observation(shown.goal, observation, number, frame, [])
        sequence.add((chat.turn("user", parts, [blank]) + chat.generation_prompt).input_ids)
        sequence.add([*chat.encode_text(text), chat.turn_end], float(taught))
        sequence.add(chat.newline)
        pictures.append(small_picture(observation, frame))
    sequence.screenshots = np.stack(pictures)
    return sequence


def small_picture(observation: Observation, frame: Frame) -> np.ndarray:
    """Returns the screenshot as the model sees it, (H, W, 3) uint8."""
    image = Image.fromarray(observation.screenshot)
    return np.array(image.resize(frame.image, Image.Resampling.BICUBIC))


def save_sequences(sequences: list[Sequence], path: Path) -> None:
    """Writes sequences to a file for `load_sequences`."""
    torch.save([
        (s.task, torch.tensor(s.ids), torch.tensor(s.weights),
         None if s.screenshots is None else torch.from_numpy(s.screenshots)) for s in sequences
    ], path)  # fmt: skip


def load_sequences(path: Path) -> list[Sequence]:
    """Reads sequences that `save_sequences` wrote, as tensors only, so that no code runs."""
    return [
        Sequence(ids.tolist(), weights.tolist(), None if shown is None else shown.numpy(), task)
        for task, ids, weights, shown in torch.load(path, weights_only=True)
    ]
