"""Whatever clients do to an app's databases: the app may end with Android's message, and the phone goes on."""

import random

import pytest

from coach_gym.envs.apps.clock import data as clock_data
from coach_gym.envs.phone.shell import run
from coach_gym.envs.profiles import lab_phone, world_phone

RECIPES, DATABASE = "com.flauschcode.broccoli", "/data/data/com.flauschcode.broccoli/databases/broccoli"
VALUES = {
    "nulls": "NULL", "texts": "'x1'", "large": "9223372036854775807", "negative": "-7", "real": "1e300",
    "bytes": "x'ff00fe'",
}  # fmt: skip
PROVIDERS = {
    "com.google.android.contacts": "com.android.providers.contacts",
    "com.google.android.dialer": "com.android.providers.contacts",
    "com.simplemobiletools.smsmessenger": "com.android.providers",
    "com.google.android.apps.messaging": "com.android.providers",
}  # fmt: skip
FILES = ("no database", "gone", "empty", "half", "flipped")
COMMANDS = (
    "am start -a android.intent.action.SET_ALARM --ei android.intent.extra.alarm.HOUR 9",
    "am start -a android.intent.action.SENDTO -d smsto:5 --es sms_body h", "am broadcast -a x.y", "dumpsys alarm",
    "content query --uri content://com.android.contacts/data", "content query --uri content://call_log/calls",
    "dumpsys activity top",
)  # fmt: skip


@pytest.fixture(scope="module", params=[world_phone, lab_phone])
def whole(request):
    return request.param(270, 600)


def databases(phone, package):
    owners = package, PROVIDERS.get(package, package)
    paths = phone.storage.files_below("/data")
    return [path for path in paths if any(owner in path for owner in owners) and is_database(phone, path)]


def is_database(phone, path):
    return phone.storage.read(path).startswith(b"SQLite format 3")


def tables(phone, path):
    return run(phone, f"sqlite3 {path} .tables").stdout.decode().split()


def columns(phone, path, table):
    rows = run(phone, f"sqlite3 {path} 'PRAGMA table_info({table})'").stdout.decode().splitlines()
    return [row.split("|")[1] for row in rows]


def flipped(data, rng):
    """The same with 200 other bytes somewhere below the header."""
    changed = bytearray(data)
    for _ in range(200):
        changed[rng.randrange(100, len(changed))] = rng.randrange(256)
    return bytes(changed)


def damage(phone, path, kind, rng):
    data = phone.storage.read(path)
    if kind == "gone":
        phone.storage.remove(path)
    elif kind in FILES:
        files = {"no database": b"garbage", "empty": b"", "half": data[: len(data) // 2], "flipped": flipped(data, rng)}
        phone.storage.write(path, files[kind])
    else:
        change = {"dropped": "DROP TABLE {}", "emptied": "DELETE FROM {}"}.get(kind, "UPDATE OR IGNORE {} SET {} = {}")
        for table in tables(phone, path):
            names = columns(phone, path, table) if kind in VALUES else [""]
            for name in names:
                run(phone, f'sqlite3 {path} "{change.format(table, name, VALUES.get(kind))}"')
    phone.changed()


def use(phone, package, rng):
    """Looks at the phone, opens the app, touches it here and there, and sends it whatever apps are sent."""
    open_app = f"monkey -p {package} 1; uiautomator dump"
    for command in (open_app, "input keyevent APP_SWITCH; uiautomator dump", open_app):
        assert b"UI hierchary dumped" in run(phone, command).stdout
    for _ in range(6):
        phone.tap(rng.randrange(270), rng.randrange(600))
        phone.key("WAIT")
        assert phone.screenshot().any()
    for command in COMMANDS:
        run(phone, command)
    assert b"UI hierchary dumped" in run(phone, open_app).stdout and phone.digest()


@pytest.mark.parametrize("kind", [*FILES, "dropped", "emptied", *VALUES])
def test_the_phone_goes_on(whole, kind):
    rng = random.Random(kind)
    for package in whole.apps:
        phone = whole.fork()
        if paths := databases(phone, package):
            if rng.random() < 0.5:  # while the app runs
                phone.launch(package)
                phone.ui()
            for path in paths:
                damage(phone, path, kind, rng)
            use(phone, package, rng)


@pytest.mark.parametrize("running", [False, True])
@pytest.mark.parametrize("kind", ["gone", "empty", "no database", "half"])
def test_no_app_fails_for_want_of_a_database(whole, kind, running):
    rng = random.Random(kind)
    for package in whole.apps:
        phone = whole.fork()
        paths = databases(phone, package)
        if paths and running:
            phone.launch(package)
            phone.ui()
        for path in paths:
            damage(phone, path, kind, rng)
        use(phone, package, rng)
        assert b"FATAL" not in run(phone, "logcat -d").stdout, package


def tap(phone, text):
    left, top, right, bottom = next(node.bounds for node in phone.ui().walk() if node.text == text)
    phone.tap((left + right) // 2, (top + bottom) // 2)


def words(phone):
    return [node.text for node in phone.ui().walk() if node.text and not node.decor]


def test_an_app_that_fails_ends_and_says_so(phone):
    run(phone, f"sqlite3 {DATABASE} 'DROP TABLE recipes'; am start -n {RECIPES}/.MainActivity")
    assert words(phone) == ["Broccoli keeps stopping", "App info", "Close app"]
    ids = [node.id for node in phone.ui().walk() if node.package == "android" and node.id]
    assert ids == ["android:id/alertTitle", "android:id/aerr_app_info", "android:id/aerr_close"]
    assert phone.ui().package == "android"
    assert RECIPES not in phone.stacks
    phone.key("BACK")
    phone.tap(5, 300)
    focus = run(phone, "dumpsys window | grep mCurrentFocus").stdout.decode()
    assert focus.endswith(f" u0 Application Error: {RECIPES}}}\n")
    log = run(phone, "logcat -d -s AndroidRuntime").stdout.decode()
    assert "E AndroidRuntime: FATAL EXCEPTION: main" in log and f"Process: {RECIPES}, PID: 1" in log
    tap(phone, "Close app")
    assert "Search apps" in words(phone) and "Close app" not in words(phone)
    run(phone, f"pm clear {RECIPES}; am start -n {RECIPES}/.MainActivity")
    assert phone.foreground == RECIPES and "Broccoli keeps stopping" not in words(phone)


@pytest.mark.parametrize("damage", [f"rm {DATABASE}", f": > {DATABASE}", f"echo garbage > {DATABASE}"])
def test_an_app_makes_its_database_again(phone, damage):
    schema = run(phone, f"sqlite3 {DATABASE} .schema").stdout
    run(phone, f"{damage}; am start -n {RECIPES}/.MainActivity; uiautomator dump")
    assert run(phone, f"sqlite3 {DATABASE} .schema").stdout == schema
    assert run(phone, f"sqlite3 {DATABASE} 'SELECT count(*) FROM recipes'").stdout == b"0\n"


def test_a_database_that_proves_corrupt_is_made_again(phone):
    schema, data = run(phone, f"sqlite3 {DATABASE} .schema").stdout, phone.storage.read(DATABASE)
    phone.storage.write(DATABASE, data[:4096] + bytes(len(data) - 4096))  # SQLite opens it: its tables are what is lost
    run(phone, f"am start -n {RECIPES}/.MainActivity")
    assert "Broccoli keeps stopping" in words(phone) and not phone.storage.exists(DATABASE)
    log = run(phone, "logcat -d").stdout.decode()
    assert f"E DefaultDatabaseErrorHandler: deleting the database file: {DATABASE}" in log
    assert "android.database.sqlite.SQLiteDatabaseCorruptException: database disk image is malformed" in log
    run(phone, f"am start -n {RECIPES}/.MainActivity; uiautomator dump")
    assert phone.foreground == RECIPES and run(phone, f"sqlite3 {DATABASE} .schema").stdout == schema


def test_a_provider_removes_a_corrupt_database(phone):
    path, query = "/data/data/com.android.providers.telephony/databases/mmssms.db", "content query --uri content://sms"
    data = phone.storage.read(path)
    phone.storage.write(path, data[:4096] + bytes(len(data) - 4096))
    assert b"malformed" in run(phone, query).stderr and run(phone, query).stdout == b"No result found.\n"


def test_bytes_that_are_no_text_are_no_failure(phone):
    data = phone.storage.database(DATABASE)
    data.execute("INSERT INTO recipes (title) VALUES (CAST(x'ff41' AS TEXT))")
    run(phone, f"am start -n {RECIPES}/.MainActivity")
    assert "\ufffdA" in words(phone)


def test_an_app_that_nobody_looks_at_ends_in_silence(phone):
    run(phone, "sqlite3 /data/user_de/0/com.google.android.deskclock/databases/alarms.db 'DROP TABLE alarm_instances'")
    before = words(phone)
    run(phone, "sleep 120")
    assert words(phone) == before
    assert "com.google.android.deskclock" in run(phone, "logcat -d").stdout.decode()


def test_an_app_finds_its_defaults_in_place_of_damaged_preferences(whole):
    phone = whole.fork()
    phone.storage.write(clock_data.PREFERENCES, b"garbage")
    run(phone, "sleep 120")
    use(phone, clock_data.PACKAGE, random.Random(0))
    assert b"FATAL" not in run(phone, "logcat -d").stdout


def test_faults_of_the_phone_itself_are_raised(phone, monkeypatch):
    app = phone.apps[RECIPES]
    monkeypatch.setattr(app, "main", lambda: 1 // 0)
    with pytest.raises(ZeroDivisionError):
        phone.launch(RECIPES)
