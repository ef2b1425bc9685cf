"""An expert that works a device directly, for tests of what it does and of what tasks make of it."""

from coach_gym.actions import parse_action
from coach_gym.envs.tasks.screen import Screen
from coach_gym.ui import compress


def work(device, expert, params, most=80):
    """Lets an expert do its work on a device, in at most so many actions; returns its answer."""
    screen = Screen()
    screen.update({"ui": compress(device.ui()), "screenshot": device.screenshot()})
    for number, text in enumerate(expert(screen, params)):
        _, action = parse_action(text)
        if action.kind == "finished":
            return action.content
        assert number < most, f"the expert is not done after {most} actions"
        device.perform(action)
        screen.update({"ui": compress(device.ui()), "screenshot": device.screenshot()})
    raise AssertionError("the expert never finished")
