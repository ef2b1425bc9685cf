"""Experts work the pickers for every date and time, from every date and time."""

from datetime import date, datetime, time

import pytest

from coach_gym.actions import parse_action
from coach_gym.envs.apps.calendar.data import PACKAGE, Event
from coach_gym.envs.apps.calendar.event_form import EventForm
from coach_gym.envs.devices.phone import PhoneDevice
from coach_gym.envs.phone.epoch import to_seconds
from coach_gym.envs.tasks.pickers import pick_date, pick_time
from coach_gym.envs.tasks.screen import Screen
from coach_gym.ui import compress
from tests.envs.hands import Hands


class Form(Hands):
    """The form of an event, and an expert's actions on it."""

    def __init__(self, start):
        super().__init__(PACKAGE)
        self.device = PhoneDevice(270, 600)
        self.phone = self.device.phone
        self.form = EventForm(Event(1, to_seconds(start), to_seconds(start)))
        self.phone.open_screen(PACKAGE, self.form)

    def play(self, field, picking):
        screen = Screen()
        self.phone.tap(*next(e for e in self.elements if e.id == field).center)
        screen.update({"ui": self.ui})
        steps = 0
        for text in picking(screen):
            steps += 1
            self.device.perform(parse_action(text)[1])
            screen.update({"ui": compress(self.device.ui())})
        return steps


@pytest.mark.parametrize("before", [datetime(2023, 10, 15, 16), datetime(2023, 10, 15, 9, 10)])
@pytest.mark.parametrize("at", [
    time(0), time(9), time(9, 10), time(10), time(23, 55), time(16), time(16, 5), time(7, 10), time(18, 37), time(0, 59)
])  # fmt: skip
def test_any_time(before, at):
    form = Form(before)
    steps = form.play("event_start_time", lambda s: pick_time(s, at))
    assert form.form.start == datetime.combine(before, at)
    assert steps <= (6 if at.minute % 5 else 3)


@pytest.mark.parametrize("day", [date(2023, 10, 15), date(2023, 10, 1), date(2023, 12, 31), date(2022, 11, 9)])
def test_any_date(day):
    form = Form(datetime(2023, 10, 15, 16))
    form.play("event_start_date", lambda s: pick_date(s, day))
    assert form.form.start == datetime.combine(day, time(16))
