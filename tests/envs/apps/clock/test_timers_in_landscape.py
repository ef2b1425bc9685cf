"""The timer's keypad on a screen on its side."""

from coach_gym.actions import Action
from coach_gym.envs.devices.phone import PhoneDevice


def shown(device):
    return {node.text or node.desc for node in device.ui().walk()}


def test_all_keys_and_the_tabs_are_in_sight():
    device = PhoneDevice(600, 270)
    device.perform(Action("open_app", content="Clock"))
    tab = next(node for node in device.ui().walk() if "Timer" in (node.text, node.desc))
    left, top, right, bottom = tab.bounds
    device.perform(Action("click", start=((left + right) // 2, (top + bottom) // 2)))
    assert {*map(str, range(10)), "00", "Delete", "Stopwatch"} <= shown(device)
