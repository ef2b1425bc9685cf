"""Files, databases and settings in the phone's memory."""

import sqlite3
from datetime import datetime

import pytest

from coach_gym.envs.phone.storage import Storage

DB = "/data/data/org.example/databases/notes.db"


@pytest.fixture
def storage() -> Storage:
    return Storage()


def test_files_and_folders(storage):
    storage.write("/sdcard/a/b.txt", b"one")
    storage.mkdir("/sdcard/a/empty")
    assert storage.read("/sdcard/a/b.txt") == b"one" and storage.read("/sdcard/a") is None
    assert storage.listdir("/sdcard/a") == ["b.txt", "empty"] and storage.listdir("/nowhere") == []
    assert storage.is_dir("/sdcard/a/empty") and not storage.is_dir("/sdcard/a/b.txt")
    assert storage.size("/sdcard/a/b.txt") == 3
    storage.write("/sdcard/a/c/d.txt", b"")
    storage.write("/sdcard/ab.txt", b"")
    assert storage.files_below("/sdcard/a") == ["/sdcard/a/b.txt", "/sdcard/a/c/d.txt"]


def test_moving_and_copying_a_folder_takes_all_that_is_in_it(storage):
    storage.write("/a/x/1", b"1")
    storage.mkdir("/a/x/deep/er")
    storage.copy("/a/x", "/c")
    storage.move("/a/x", "/b/y")
    assert storage.read("/b/y/1") == storage.read("/c/1") == b"1" and storage.is_dir("/b/y/deep/er")
    assert not storage.exists("/a/x") and storage.is_dir("/a")


def test_removing_a_folder_leaves_its_namesake(storage):
    storage.write("/a/note", b"")
    storage.write("/a/notebook", b"")
    storage.remove("/a/note")
    assert storage.listdir("/a") == ["notebook"]


def test_moving_keeps_the_modification_time(storage):
    storage.write("/a", b"", datetime(2020, 1, 1))
    storage.move("/a", "/b")
    assert storage.modified("/b") == datetime(2020, 1, 1)


def test_moving_keeps_modes_and_owners(storage):
    for path in ("/a/b/c.txt", "/ab.txt"):
        storage.write(path, b"x")
    storage.attributes |= {("/a/b/c.txt", "mode"): 0o600, ("/a", "user"): 2000, ("/ab.txt", "mode"): 0o644}
    storage.move("/a", "/d")
    assert storage.attributes == {("/d/b/c.txt", "mode"): 0o600, ("/d", "user"): 2000, ("/ab.txt", "mode"): 0o644}


def test_a_database_is_a_real_sqlite_file(storage, tmp_path):
    storage.create_database(DB, "CREATE TABLE note(id INTEGER PRIMARY KEY, body TEXT)")
    storage.database(DB).execute("INSERT INTO note(body) VALUES ('hi')")
    copy = tmp_path / "copy.db"
    copy.write_bytes(storage.read(DB))
    assert sqlite3.connect(copy).execute("SELECT body FROM note").fetchall() == [("hi",)]


def test_a_schema_without_rows_is_written_too(storage):
    storage.create_database(DB, "CREATE TABLE note(id INTEGER PRIMARY KEY)")
    assert storage.read(DB).startswith(b"SQLite format 3")


def test_pushing_a_file_replaces_the_open_database(storage, tmp_path):
    storage.create_database(DB, "CREATE TABLE note(body TEXT)")
    pushed = sqlite3.connect(":memory:", isolation_level=None)
    pushed.executescript("CREATE TABLE note(body TEXT); INSERT INTO note VALUES ('pushed')")
    storage.write(DB, pushed.serialize())
    assert storage.database(DB).execute("SELECT body FROM note").fetchone() == ("pushed",)


def test_snapshots_bring_back_files_databases_settings_and_clock(storage):
    storage.create_database(DB, "CREATE TABLE note(body TEXT)")
    storage.write("/f", b"before")
    saved = storage.snapshot()
    for _ in range(2):
        storage.database(DB).execute("INSERT INTO note VALUES ('later')")
        storage.write("/f", b"after")
        storage.mkdir("/new")
        storage.settings["global", "wifi_on"] = "0"
        storage.now = datetime(2030, 1, 1)
        storage.restore(saved)
        assert storage.database(DB).execute("SELECT count(*) FROM note").fetchone() == (0,)
        assert storage.read("/f") == b"before" and not storage.exists("/new")
        assert storage.settings == {} and storage.now.year == 2023


def test_a_snapshot_is_not_changed_by_what_follows(storage):
    storage.create_database(DB, "CREATE TABLE note(body TEXT)")
    storage.database(DB).execute("INSERT INTO note VALUES ('kept')")
    saved = storage.snapshot()
    storage.database(DB).execute("DELETE FROM note")
    storage.read(DB)
    storage.restore(saved)
    assert storage.database(DB).execute("SELECT body FROM note").fetchall() == [("kept",)]


def test_a_database_in_which_nothing_was_kept_is_an_empty_file(storage):
    storage.write(DB, b"")
    db = storage.database(DB)
    db.execute("BEGIN")
    db.execute("CREATE TABLE note(body TEXT)")
    db.execute("INSERT INTO note VALUES ('lost')")
    db.execute("ROLLBACK")
    assert storage.read(DB) == b"" and storage.snapshot()
