"""What the checks of tasks on the system let pass."""

from coach_gym.envs.apps.settings import world_tasks as system


def test_the_clipboard_has_to_hold_the_text(device, begin):
    task = begin(system.SystemCopyToClipboard, 8)
    assert task.evaluate(device, task.params["text"]) == 0
    device.put_clipboard(f" {task.params['text']}\n")
    assert task.evaluate(device, None) == 1
