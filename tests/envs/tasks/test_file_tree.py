"""Trees of files as tasks compare them."""

from coach_gym.envs.devices.phone import PhoneDevice
from coach_gym.envs.tasks.file_tree import read_tree


def test_a_tree_has_empty_folders_and_no_trailing_blanks():
    device = PhoneDevice(270, 600)
    device.write("/sdcard/Download/x/y.txt", b" a \n\n")
    assert read_tree(device, "/sdcard/Download") == {"x/": b"", "x/y.txt": b" a"}
