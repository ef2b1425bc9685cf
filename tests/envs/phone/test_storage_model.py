"""The storage against a model of it, a dictionary of files and a set of folders, under any sequence of changes."""

from datetime import datetime, timedelta

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from coach_gym.envs.phone.storage import Storage

NAMES = st.sampled_from(["a", "b", "ab", "c"])
PATHS = st.lists(NAMES, min_size=1, max_size=3).map(lambda parts: "/" + "/".join(parts))
CONTENTS = st.binary(max_size=3)


def above(path):
    """The folders above a path, the root left out."""
    parts = path.split("/")[1:-1]
    return {"/" + "/".join(parts[: n + 1]) for n in range(len(parts))}


def inside(path, folder):
    return path == folder or path.startswith(folder + "/")


class Model(RuleBasedStateMachine):
    """What a storage must hold after any sequence of changes."""

    @initialize()
    def start(self):
        self.storage, self.files, self.folders = Storage(), {}, set()
        self.kept = []

    def free(self, path, folder=False):
        """Whether nothing of another kind lies at a path or above it."""
        return not (above(path) & self.files.keys()) and path not in (self.files if folder else self.folders)

    @rule(path=PATHS, data=CONTENTS)
    def write(self, path, data):
        if self.free(path):
            self.storage.now += timedelta(seconds=1)
            self.storage.write(path, data)
            self.files[path] = data, self.storage.now
            self.folders |= above(path)

    @rule(path=PATHS)
    def mkdir(self, path):
        if self.free(path, folder=True):
            self.storage.mkdir(path)
            self.folders |= above(path) | {path}

    @rule(path=PATHS)
    def remove(self, path):
        self.storage.remove(path)
        self.files = {name: file for name, file in self.files.items() if not inside(name, path)}
        self.folders = {name for name in self.folders if not inside(name, path)}

    @rule(source=PATHS, to=PATHS)
    def move(self, source, to):
        if self.may_go(source, to):
            self.storage.move(source, to)
            files, folders = self.below(source, to)
            self.remove(source)
            self.files |= files
            self.folders |= folders | above(to) if files or folders else set()

    @rule(source=PATHS, to=PATHS)
    def copy(self, source, to):
        if self.may_go(source, to):
            self.storage.now += timedelta(seconds=1)
            self.storage.copy(source, to)
            files, folders = self.below(source, to)
            self.files |= {name: (data, self.storage.now) for name, (data, _) in files.items()}
            self.folders |= folders | above(to) if files or folders else set()

    def may_go(self, source, target):
        apart = not inside(target, source) and not inside(source, target)
        known = source in self.files or source in self.folders
        return known and apart and not self.storage.exists(target) and self.free(target)

    def below(self, source, target):
        """Files and folders of a source, under their names at a target."""
        files = {target + name[len(source) :]: file for name, file in self.files.items() if inside(name, source)}
        return files, {target + name[len(source) :] for name in self.folders if inside(name, source)}

    @rule()
    def snapshot(self):
        self.kept.append((self.storage.snapshot(), dict(self.files), set(self.folders)))

    @rule(data=st.data())
    def restore(self, data):
        if self.kept:
            saved, self.files, self.folders = data.draw(st.sampled_from(self.kept))
            self.files, self.folders = dict(self.files), set(self.folders)
            self.storage.restore(saved)

    @invariant()
    def holds_what_the_model_holds(self):
        everything = self.storage.files_below("/")
        assert sorted(everything) == sorted(self.files)
        for path, (data, at) in self.files.items():
            assert (self.storage.read(path), self.storage.size(path)) == (data, len(data))
            assert self.storage.modified(path) == at
        for path in self.folders:
            assert self.storage.is_dir(path) and self.storage.read(path) is None
            names = {name[len(path) + 1 :].split("/")[0] for name in (*self.files, *self.folders) if inside(name, path)}
            assert self.storage.listdir(path) == sorted(names - {""})


Model.TestCase.settings = settings(max_examples=60, stateful_step_count=25, deadline=None)
TestStorage = Model.TestCase


def test_databases_are_files_however_they_are_looked_at():
    storage, path = Storage(), "/data/x.db"
    db = storage.create_database(path, "CREATE TABLE t (n)")
    for n in range(3):
        saved = storage.snapshot()
        db.execute("INSERT INTO t VALUES (?)", (n,))
        copy = Storage()
        copy.write(path, storage.read(path))
        assert copy.database(path).execute("SELECT count(*) FROM t").fetchone() == (n + 1,)
        storage.restore(saved)
        db = storage.database(path)
        assert db.execute("SELECT count(*) FROM t").fetchone() == (n,)
        db.execute("INSERT INTO t VALUES (?)", (n,))


def test_a_pushed_database_takes_the_place_of_the_open_one():
    storage, other, path = Storage(), Storage(), "/data/x.db"
    storage.create_database(path, "CREATE TABLE t (n)").execute("INSERT INTO t VALUES (1)")
    other.create_database(path, "CREATE TABLE t (n)").execute("INSERT INTO t VALUES (2)")
    storage.write(path, other.read(path), datetime(2020, 1, 1))
    with storage.session(path) as db:
        assert db.execute("SELECT n FROM t").fetchall() == [(2,)]
    assert storage.modified(path) == datetime(2020, 1, 1)


def test_moved_and_copied_databases_take_their_rows_along():
    storage = Storage()
    storage.create_database("/data/a/x.db", "CREATE TABLE t (n)").execute("INSERT INTO t VALUES (1)")
    storage.copy("/data/a", "/data/b")
    storage.move("/data/a", "/data/c")
    for path in ("/data/b/x.db", "/data/c/x.db"):
        assert storage.database(path).execute("SELECT n FROM t").fetchall() == [(1,)]
    storage.database("/data/b/x.db").execute("DELETE FROM t")
    assert storage.database("/data/c/x.db").execute("SELECT n FROM t").fetchall() == [(1,)]
