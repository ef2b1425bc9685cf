"""Tasks on files: the tree below a folder, and what of it counts."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coach_gym.envs.devices.phone import PhoneDevice
from coach_gym.envs.profiles import Profile
from coach_gym.envs.tasks.file_tree import FileTask, contents, read_tree

ROOT = "/sdcard/Download"


class Upper(FileTask):
    """One file in capitals."""

    apps, template, budget, root = ("Files",), "Write {name} in capitals.", 9, ROOT

    def expected(self, tree):
        return {**tree, self.params["name"]: tree[self.params["name"]].upper()}


class Loose(Upper):
    """Spaces between words do not count."""

    def normal(self, data):
        return b" ".join(data.split())


@pytest.fixture(scope="module")
def made_device():
    return PhoneDevice(270, 600, Profile("empty", ()))


@pytest.fixture
def device(made_device):
    made_device.reset_state()
    return made_device


def begin(device, family=Upper, **files):
    task = family({"name": "a", "files": {"a": "x y", "b/c": 5, **files}})
    task.setup(device)
    assert task.evaluate(device, None) == 0
    return task


def test_a_tree_has_empty_folders_and_no_trailing_blanks(device):
    device.write(f"{ROOT}/x/y.txt", b" a \n\n")
    assert read_tree(device, ROOT) == {"x/": b"", "x/y.txt": b" a"}
    device.remove(f"{ROOT}/x/y.txt")
    assert read_tree(device, ROOT) == {"x/": b""}


def test_the_files_of_the_start_are_written(device):
    begin(device)
    assert read_tree(device, ROOT) == {"a": b"x y", "b/": b"", "b/c": bytes(5)}


@pytest.mark.parametrize(
    ("path", "data", "score"),
    [
        ("a", b"X Y", 1), ("a", b"X Y \n", 1), ("a", b"X  Y", 0), ("a", b" X Y", 0), ("a", b"x y", 0), ("b/c", b"", 0),
        ("more", b"", 0),
    ],
)  # fmt: skip
def test_everything_below_the_folder_has_to_be_as_expected(device, path, data, score):
    task = begin(device)
    device.write(f"{ROOT}/a", b"X Y")
    device.write(f"{ROOT}/{path}", data)
    assert task.evaluate(device, None) == score


def test_what_lies_elsewhere_does_not_count(device):
    task = begin(device)
    device.write(f"{ROOT}/a", b"X Y")
    device.write("/sdcard/Documents/a", b"x")
    assert task.evaluate(device, None) == 1


@pytest.mark.parametrize("gone", ["a", "b/c", "b"])
def test_nothing_may_be_missing(device, gone):
    task = begin(device)
    device.write(f"{ROOT}/a", b"X Y")
    device.remove(f"{ROOT}/{gone}")
    assert task.evaluate(device, None) == 0


def test_a_family_says_what_of_a_file_counts(device):
    task = begin(device, Loose)
    device.write(f"{ROOT}/a", b"  X \n Y")
    assert task.evaluate(device, None) == 1


def test_files_that_were_there_already_stay(device):
    device.write(f"{ROOT}/old", b"old")
    task = begin(device)
    device.write(f"{ROOT}/a", b"X Y")
    assert task.evaluate(device, None) == 1
    device.remove(f"{ROOT}/old")
    assert task.evaluate(device, None) == 0


def test_parameters_to_mislead_an_expert():
    task = Upper({"name": "a", "files": {}})
    assert task.but(name="b") == {"name": "b", "files": {}} and task.params["name"] == "a"


def test_contents_are_texts_or_zeros():
    assert (contents("ä"), contents(3), contents(0)) == ("ä".encode(), b"\0\0\0", b"")


NAMES = st.text("abcdef", min_size=1, max_size=3)


@settings(max_examples=30)
@given(st.dictionaries(st.lists(NAMES, min_size=1, max_size=3).map("/".join), st.binary(max_size=9), max_size=6))
def test_any_tree_is_read_as_it_was_written(files):
    device = PhoneDevice(270, 600, Profile("empty", ()))
    written = {}
    for path, data in files.items():
        folders = {"/".join(path.split("/")[:n]) for n in range(1, path.count("/") + 1)}
        if folders & set(written) or any(other.startswith(f"{path}/") for other in written):
            continue  # a file cannot be a folder, too
        device.write(f"{ROOT}/{path}", data)
        written[path] = data
    tree = read_tree(device, ROOT)
    assert {path: data for path, data in tree.items() if not path.endswith("/")} == {
        path: data.rstrip() for path, data in written.items()
    }
    assert {path for path in tree if path.endswith("/")} == {
        "/".join(path.split("/")[:n]) + "/" for path in written for n in range(1, path.count("/") + 1)
    }
