"""What file managers do with folders, below their screens."""

from datetime import datetime

import pytest

from coach_gym.envs.phone.folders import (
    SHARED,
    by_type,
    copy_into,
    entries,
    free_path,
    move_into,
    name_error,
    search,
    size_text,
)
from coach_gym.envs.phone.storage import Storage


@pytest.fixture
def storage():
    storage = Storage()
    for path in ("a/one.txt", "a/Two.MD", "a/.hidden", "a/deep/one.md", "b/one.txt"):
        storage.write(f"{SHARED}/{path}", path.encode(), datetime(2023, 10, 1))
    return storage


def test_entries_are_the_visible_files_and_folders(storage):
    found = {entry.name: entry for entry in entries(storage, f"{SHARED}/a")}
    assert sorted(found) == ["Two.MD", "deep", "one.txt"]
    assert found["one.txt"] == (f"{SHARED}/a/one.txt", False, datetime(2023, 10, 1), len(b"a/one.txt"))
    assert found["deep"].folder and found["deep"].size == 0
    assert entries(storage, f"{SHARED}/missing") == []


def test_extensions(storage):
    storage.write(f"{SHARED}/c/README", b"")
    storage.mkdir(f"{SHARED}/c/old.files")
    assert {e.name: e.extension for e in entries(storage, f"{SHARED}/c")} == {"README": "", "old.files": ""}
    assert [e.name for e in sorted(entries(storage, f"{SHARED}/a"), key=by_type)] == ["deep", "Two.MD", "one.txt"]


def test_search_goes_into_folders_and_ignores_case(storage):
    assert sorted(e.path for e in search(storage, f"{SHARED}/a", "ONE")) == [
        f"{SHARED}/a/deep/one.md", f"{SHARED}/a/one.txt",
    ]  # fmt: skip


@pytest.mark.parametrize("name", ["", "x/y", ".", "..", "one.txt", "deep", "x" * 256])
def test_names_that_cannot_be_given(storage, name):
    assert name_error(storage, f"{SHARED}/a", name)


def test_names_that_can(storage):
    assert not any(name_error(storage, f"{SHARED}/a", name) for name in ("new", "ONE.txt", "a b", "…"))


def test_a_taken_name_gets_a_number_before_its_extension(storage):
    assert free_path(storage, f"{SHARED}/b", "two.txt") == f"{SHARED}/b/two.txt"
    assert free_path(storage, f"{SHARED}/b", "one.txt") == f"{SHARED}/b/one (1).txt"
    storage.write(f"{SHARED}/b/one (1).txt", b"")
    assert free_path(storage, f"{SHARED}/b", "one.txt") == f"{SHARED}/b/one (2).txt"
    assert free_path(storage, f"{SHARED}/a", ".hidden") == f"{SHARED}/a/.hidden (1)"


def test_moving_never_replaces_a_file(storage):
    move_into(storage, [f"{SHARED}/a/one.txt", f"{SHARED}/a/deep"], f"{SHARED}/b")
    assert storage.read(f"{SHARED}/b/one.txt") == b"b/one.txt"
    assert storage.read(f"{SHARED}/b/one (1).txt") == b"a/one.txt"
    assert storage.read(f"{SHARED}/b/deep/one.md") == b"a/deep/one.md"
    assert storage.listdir(f"{SHARED}/a") == [".hidden", "Two.MD"]


def test_moving_to_where_it_is_or_into_itself_changes_nothing(storage):
    before = storage.snapshot()
    move_into(storage, [f"{SHARED}/a/one.txt"], f"{SHARED}/a")
    move_into(storage, [f"{SHARED}/a"], f"{SHARED}/a/deep")
    copy_into(storage, [f"{SHARED}/a"], f"{SHARED}/a/deep")
    assert storage.snapshot() == before


def test_copying_keeps_the_original(storage):
    copy_into(storage, [f"{SHARED}/a/one.txt"], f"{SHARED}/a")
    copy_into(storage, [f"{SHARED}/a/deep"], f"{SHARED}/b")
    assert storage.read(f"{SHARED}/a/one.txt") == storage.read(f"{SHARED}/a/one (1).txt") == b"a/one.txt"
    assert storage.read(f"{SHARED}/a/deep/one.md") == storage.read(f"{SHARED}/b/deep/one.md")


@pytest.mark.parametrize(
    ("size", "text"),
    [(0, "0 B"), (999, "999 B"), (1000, "1.00 kB"), (9990, "9.99 kB"), (9_996, "10 kB"), (12_345, "12 kB"),
     (999_499, "999 kB"), (999_500, "1.00 MB"), (12_000_000, "12 MB")],
)  # fmt: skip
def test_sizes_are_written_as_android_does(size, text):
    assert size_text(size) == text
