"""No text, command line, statement or pattern keeps the phone busy for long, or takes much memory."""

import io
import struct
import time
import tracemalloc
import zipfile

import pytest
import regex

from coach_gym.envs.phone import sql
from coach_gym.envs.phone.folders import name_error
from coach_gym.envs.phone.notifications import Notification
from coach_gym.envs.phone.patterns import Guarded, TooSlow
from coach_gym.envs.phone.phone import Phone
from coach_gym.envs.phone.servers.lock import RunningPhone
from coach_gym.envs.phone.servers.uiautomator.automator import UiAutomator
from coach_gym.envs.phone.servers.uiautomator.errors import RpcError
from coach_gym.envs.phone.servers.uiautomator.server import UiAutomatorServer
from coach_gym.envs.phone.shell import run
from coach_gym.envs.phone.shell.language import interpreter, process
from coach_gym.envs.phone.storage import LONGEST
from coach_gym.envs.phone.toolkit import fonts
from coach_gym.envs.profiles import world_phone
from tests.envs.hands import Hands


@pytest.fixture(scope="module")
def phone():
    return Phone(270, 600)


def measured(text):
    """The number of characters measured while a text is laid out."""
    count = 0

    class Counting:
        def getlength(self, text):
            nonlocal count
            count += len(text)
            return 10.0 * len(text)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(fonts, "font", lambda *_: Counting())
        for cached in (fonts.wrap, fonts.text_width):
            cached.cache_clear()
        lines = fonts.wrap(text, 20, False, 300, None)
    for cached in (fonts.wrap, fonts.text_width):
        cached.cache_clear()
    assert "".join(lines).replace(" ", "") == text.replace(" ", "") and all(len(line) <= 30 for line in lines)
    return count


@pytest.mark.parametrize("unit", ["w", "word ", "ab c"])
def test_layout_is_linear_in_what_is_typed(unit):
    assert measured(unit * 4_000) < 20 * measured(unit * 250)


@pytest.mark.parametrize("unit", ["w", "word ", "a\n", "日本", "\u0301"])
def test_of_a_megabyte_of_text_little_is_laid_out(unit):
    text = unit * (1_500_000 // len(unit))
    began = time.thread_time()
    assert len(fonts.wrap(text, 20, False, 300, None)) <= fonts.MOST_LINES
    assert len(fonts.wrap(text, 20, False, 300, 2)) <= 2
    assert fonts.text_width(text, 20) <= 400_000 and fonts.text_mask(text, 20).height < 40
    assert time.thread_time() - began < 5


def test_a_megabyte_in_a_notification_and_a_setting_is_drawn_at_once():
    phone = world_phone(270, 600)
    began = time.thread_time()
    for text in ("x" * 1_500_000, "a\n" * 700_000):
        phone.post(Notification("com.android.settings", text, text, phone.now))
        phone.storage.settings["global", "device_name"] = text
        phone.shade = 1
        assert phone.screenshot().any()
        phone.shade = 0
        run(phone, "am start -a android.settings.DEVICE_INFO_SETTINGS; uiautomator dump")
        phone.snackbar(text)
        assert phone.screenshot().any()
    assert time.thread_time() - began < 8


@pytest.mark.parametrize("command", [
    "printf '%*d' 999999999 1 | wc -c", "printf '%.999999999d' 1 | wc -c", "printf '%0999999999f' 1 | wc -c",
    "sqlite3 :memory: \"select printf('%.999999999c', 'x')\"",
    "sqlite3 :memory: \"select printf('%*d', 999999999, 1)\"",
    "sqlite3 :memory: \"select format('%' || '99999' || '9999d', 1)\"",
    "sqlite3 :memory: \"select replace(hex(zeroblob(8000000)), '00', 'abcdefgh')\"",
    "echo aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaac | grep -E '(a?){40}a{40}b'",
    r"echo aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaac | sed 's/\(a\{0,1\}\)\{40\}a\{40\}b/x/'",
    "x=aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaac; echo ${x//*a*a*a*a*a*a*a*a*b/y}",
    "! " * 5_000 + "true", "echo " + "!" * 5_000, "(" * 5_000, "echo " + "$(" * 5_000, "f() { f; }; f",
    "f() { f | f; }; f",
    "sqlite3 :memory: \"select instr(x, x || 'b') from (select replace(hex(zeroblob(900000)), '0', 'a') x)\"",
    "sqlite3 :memory: \"select x like '%' || x || 'b' from (select replace(hex(zeroblob(24000)), '0', 'a') x)\"",
    "sqlite3 /sdcard/p.db 'pragma page_size=65536; create table t(x)'",
    "sqlite3 /sdcard/d.db \"create table t(x); with recursive c(x) as (select 1 union all select x+1 from c)"
    " insert into t select zeroblob(1000000) from c\"",
    "sqlite3 :memory: \"create temp table t(x); with recursive c(x) as (select 1 union all select x+1 from c)"
    " insert into t select zeroblob(1000000) from c\"",
    "seq 1 99999999999 | tail -n 1", "echo {1..99999999}", "truncate -s 900M /sdcard/t",
    "dd if=/dev/zero of=/sdcard/z bs=1M count=2000",
    "x=a; while true; do x=$x$x; done",
    "x=$(printf '%09999d' 1); y=$x$x$x$x$x$x$x$x; z=$y$y$y$y$y$y$y$y; echo ${z//0/$y}",
    "x=$(head -c 3000000 /dev/zero | tr '\\0' a); echo ${x##*a*a*a*b} ${x%%*a*b} ${x%b*} ${x#*b} | wc -c",
    "x=$(printf '%9999s*'); echo ${x//$x/y} ${x#$x$x}", 'grep -F "$(seq 1 9999)" /system/build.prop',
    "grep -f /dev/zero /system/build.prop",
    "seq 1 9999 | tr '\\n' . > /sdcard/e; sed \"s/$(cat /sdcard/e)/x/\" /sdcard/e",
    "seq 1 200000 | uniq | tail -n 1", "seq 1 200000 | grep -n 1 | tail -n 1", "seq 1 200000 | comm -123 - /dev/null",
    "head -c 2000000 /dev/zero | cut -c$(seq -s, 1 2 4000) | wc -c",
    "printf \"'%s\" $(seq -s ';' 1 200000) | tr ';' '\\n' | sed 's/$/;/' | sqlite3 :memory: | tail -n 1",
    "sqlite3 :memory: \"'$(seq -s ';' 1 200000)\"",
    "head -c 9000000 /dev/zero | tr '\\001-\uffff' b | wc -c", 'mkdir -p "$(printf \'/a%.0s\' $(seq 1 60000))"',
    'logcat -e "$(seq 1 9999)"', "xxd -c 99999999 /system/build.prop | tail -n 1",
    *(f"yes {'a' * 60} | tr a '\\n' | {reader} | tail -n 1" for reader in (
        "sort", "tac", "nl", "tail", "grep -c x", "cut -c1", "paste -s", "rev", "sed 1d", "uniq -c", "wc", "comm - f",
        "diff - f", "sqlite3 :memory:", "md5sum -c", "xxd -r",
    )),
    f"yes '{'a ' * 30}' | xargs echo | wc", f"yes '{'a ' * 30}' | wc", "set -- $(yes a a a a a a)",
    "x=$(seq 1 300000); set -- $x $x $x $x $x; echo $#", "echo " + "{0,1,2,3,4,5,6,7,8,9}" * 7 + " | wc",
    "head -c 40000000 /dev/zero | base64 -w 1 | wc -c", "yes 'echo a b c d e f g' | sh", "yes 'cat << E' | sh",
    'eval "$(yes)"', "cat << E | wc\n" + "a\n" * 250_000,
])  # fmt: skip
def test_no_command_line_takes_long(phone, command):
    began = time.process_time()
    assert len(run(phone, command).stdout) < 20_000
    assert time.process_time() - began < 5


@pytest.mark.parametrize(
    "command",
    [
        "head -c 1000000 /dev/zero | cmp -l f -",
        "xxd -p -c 1 f",
        "xxd -c 1 f",
        "xxd -i f",
        "od -c f",
        "od -t x1 f",
        "xxd f | xxd -r",
    ],
)
def test_bytes_of_large_files_are_shown_in_linear_time(phone, command):
    run(phone, "head -c 1000000 /dev/urandom > /sdcard/f")
    began = time.process_time()
    assert int(run(phone, f"cd /sdcard; {command} | wc -c").stdout) >= 1_000_000
    assert time.process_time() - began < 3


@pytest.mark.parametrize("repeated", ["strings", "attributes"])
def test_a_manifest_that_is_far_larger_than_its_file_takes_no_time(phone, repeated):
    count = 900_000 if repeated == "strings" else 1
    offsets = bytes(4 * count)  # of the same string, of 32 KB
    texts = b"\xff\xff\xff\xff" + b"a" * 32767
    size = 28 + len(offsets) + len(texts)
    pool = struct.pack("<HHIIIIII", 1, 28, size, count, 0, 1 << 8, 28 + len(offsets), 0) + offsets + texts
    element = struct.pack("<HHIIIiiHHH6x", 0x0102, 16, 56, 1, 0, 0, 0, 20, 0, 65535)
    element += struct.pack("<iiiHBBi", 0, 0, 0, 8, 0, 3, 0)
    body = pool + element * (1 if repeated == "strings" else 60_000)
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("AndroidManifest.xml", struct.pack("<HHI", 3, 8, 8 + len(body)) + body)
    phone.storage.write("/data/local/tmp/large.apk", file.getvalue())
    began = time.process_time()
    assert run(phone, "pm install /data/local/tmp/large.apk").code == 1
    assert time.process_time() - began < 3


def test_walking_takes_as_long_as_there_is(phone):
    def seconds(command):
        began = time.process_time()
        assert run(phone, command).code == 0
        return time.process_time() - began

    phone.storage.now = phone.now
    for number in range(20_000):
        phone.storage.write(f"/storage/emulated/0/{number % 2000}/{number}", b"")
    assert seconds("find /sdcard/ -name 'n*' | wc -l; ls -R /sdcard/ | wc -l") < 5


def test_text_takes_no_multiple_of_its_size(phone):
    text = "x" * 1_000_000
    tracemalloc.start()
    try:
        output = run(phone, f"echo '{text}' | wc -c; echo '{text}\\c' | wc -c; printf '{text}' | wc -c")
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert output.stdout.split() == [b"1000001", b"1000000", b"1000000"] and peak < 60 * len(text)


@pytest.mark.parametrize("command", ["seq 1 99999999", "seq 0 -1 -99999999"])
def test_what_is_too_long_is_not_cut_in_silence(phone, command):
    output = run(phone, command)
    assert output.code == 137 and not output.stdout and b"Killed" in output.stderr


def test_a_notification_of_the_shell_is_drawn_and_opens_nothing(phone):
    assert run(phone, "cmd notification post -t Title tag Text; cmd statusbar expand-notifications").code == 0
    hands = Hands(None, phone=phone)
    assert hands.shows("Title") and hands.shows("Shell") and phone.screenshot().any()
    hands.tap("Title")
    assert hands.shows("Title") and phone.foreground == phone.launcher.package


def test_doubling_a_file_ends(monkeypatch):
    phone = Phone(270, 600)
    monkeypatch.setattr(process, "MOST_OUTPUT", 1 << 20)
    double = "echo aaa > /sdcard/f; while true; do cat /sdcard/f /sdcard/f > /sdcard/g; cp /sdcard/g /sdcard/f; done"
    assert run(phone, double).code == 137
    assert len(phone.storage.read("/storage/emulated/0/f")) <= 1 << 20


def test_the_disk_is_full_at_some_point(monkeypatch):
    phone = Phone(270, 600)
    monkeypatch.setattr("coach_gym.envs.phone.storage.CAPACITY", 8 << 20)
    fill = "i=0; while dd if=/dev/zero of=/sdcard/$i bs=2M count=1; do i=$((i+1)); done; echo $i"
    output = run(phone, fill)
    assert output.stdout == b"4\n" and b"dd: /storage/emulated/0/4: No space left on device\n" in output.stderr
    assert run(phone, "ls /sdcard/2").code == 0 and run(phone, "ls /sdcard/9").code != 0


ENDLESS = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x+1 FROM c)"


def test_databases_fill_the_disk_too(monkeypatch):
    phone = Phone(270, 600)
    monkeypatch.setattr("coach_gym.envs.phone.storage.CAPACITY", 2 << 20)
    for number in range(5):
        run(phone, f"sqlite3 /sdcard/{number}.db 'create table t(x); insert into t values(zeroblob(700000))'")
    output = run(phone, f'sqlite3 /sdcard/0.db "{ENDLESS} insert into t select zeroblob(99000) from c limit 99"')
    assert output.stderr == b"Error: database or disk is full\n"
    assert sum(phone.storage.size(path) for path in phone.storage.files_below("/")) < 3 << 20


@pytest.mark.parametrize("program", [
    f"CREATE VIEW recipes AS SELECT old.* FROM old, ({ENDLESS} SELECT x FROM c)",
    f"CREATE VIEW recipes AS SELECT old.* FROM old, ({ENDLESS} SELECT x FROM c) WHERE x < 0",
    "CREATE VIEW recipes AS SELECT recipeId, hex(zeroblob(400000000)) title, description FROM old",
    "CREATE VIEW recipes AS SELECT recipeId, instr(x, x || 'b') title, description FROM old, "
    "(SELECT replace(hex(zeroblob(1000000)), '0', 'a') x)",
])  # fmt: skip
def test_no_app_reads_for_ever_what_clients_have_programmed(program):
    phone, package = world_phone(270, 600), "com.flauschcode.broccoli"
    path = f"/data/data/{package}/databases/broccoli"
    made = "INSERT INTO recipes(title) VALUES ('x'); ALTER TABLE recipes RENAME TO old"
    assert run(phone, f'sqlite3 {path} "{made}; {program}"').code == 0
    began = time.thread_time()
    run(phone, f"am start -n {package}/.MainActivity; uiautomator dump")
    assert time.thread_time() - began < 5 and b"FATAL EXCEPTION" in run(phone, "logcat -d").stdout


def test_paths_have_an_end(phone):
    output = run(phone, "d=/sdcard; while mkdir $d/aaaa; do d=$d/aaaa; done; ls -d $d")
    assert b"File name too long" in output.stderr and output.code == 0
    deepest = max(phone.storage._directories, key=len)
    assert 4000 < len(deepest) <= LONGEST
    for move in ("mv /sdcard/aaaa /sdcard/aaaaaaaaaa", "cp -r /sdcard/aaaa /sdcard/Music/aaaaaaaaaa"):
        assert b"File name too long" in run(phone, move).stderr and phone.storage.is_dir(deepest)
    assert name_error(phone.storage, deepest, "aaaa") == "That name is too long"


def test_a_loop_whose_commands_take_long_ends(monkeypatch):
    monkeypatch.setattr(interpreter, "MOST_SECONDS", 0.5)
    phone = Phone(270, 600)
    slow = "with recursive c(x) as (select 1 union all select x+1 from c) select zeroblob(3000000) x from c order by x"
    monkeypatch.setattr(sql, "MOST_SECONDS", 0.5)
    assert b"interrupted" in run(phone, f'sqlite3 :memory: "{slow}"').stderr
    for loop in ("while true; do screencap /sdcard/a.png; done", "while true; do uiautomator dump; done"):
        began = time.thread_time()
        assert run(phone, loop).code == 137 and time.thread_time() - began < 5


def test_patterns_are_given_up(monkeypatch):
    monkeypatch.setattr("coach_gym.envs.phone.patterns.SECONDS", 0.05)
    with pytest.raises(TooSlow, match="takes longer than"):
        Guarded("(a|aa)+$").search("a" * 200 + "b")
    assert Guarded("b+").search("abb")[0] == "bb" and Guarded("b").sub("c", "abb") == "acc"
    for wrong in ("(", "a" * 5000, "[z-a]"):
        with pytest.raises(ValueError, match="pattern|regular expression"):
            Guarded(wrong)


@pytest.mark.parametrize("flags", [0, regex.V1])
@pytest.mark.parametrize("pattern", [
    "((a{1000}){1000}){1000}", "(?:a|b){100000000}", "(?:a|bb){1000000,}", "(?:a{999}[(]b){999}",
    "(?:a{999}[^](]b){999}", r"(?:a{999}[\](]b){999}", "(?:a{999}[[:alpha:](]b){999}", "(?x)(?:a{999}# (\n){999}",
    "(?:a{999}(?#()){999}",
])  # fmt: skip
def test_repetitions_that_would_fill_the_memory_are_refused(pattern, flags):
    with pytest.raises(ValueError, match="come to more than 50000 parts"):
        Guarded(pattern, flags)


def test_repetitions_in_sets_of_sets_are_counted():
    with pytest.raises(ValueError, match="come to more than"):
        Guarded("(?:a{999}[x[y](]b){999}", regex.V1)


@pytest.mark.parametrize("pattern", [
    "([0-9a-f]{2}:){5}[0-9a-f]{2}", "[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", ".{0,60000}", "a{1,100000}",
    "[(){9}]{3}", r"\({20000}", "(?x) a{3} # three",
])  # fmt: skip
def test_repetitions_that_people_write_are_not_refused(pattern):
    Guarded(pattern)


def test_uiautomator_ends_by_itself(phone, monkeypatch):
    automator = UiAutomator(phone, RunningPhone(phone))
    began = time.monotonic()
    for pattern in ("(a+)+b", "(?=(a+)+b)a", "(.*)*x", "(a?){40}a{40}"):
        automator.call("exist", [{"textMatches": pattern}])
    with pytest.raises(RpcError, match="not a regular expression"):
        automator.call("exist", [{"textMatches": "("}])
    request = b'{"jsonrpc": "2.0", "id": 1, "method": "waitForExists", "params": [{"text": "no"}, %s]}'
    server = UiAutomatorServer(automator)
    assert server._rpc(request % b"NaN")["error"]["code"] == -32602
    for number in (b"-Infinity", b"-5"):
        assert server._rpc(request % number)["result"] is False
    assert time.monotonic() - began < 10
