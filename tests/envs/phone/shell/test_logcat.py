"""`logcat` prints messages as Android 13's does, or says what it cannot do."""

from datetime import datetime

import pytest

from coach_gym.envs.phone.services import LONGEST_MESSAGE
from coach_gym.envs.phone.shell import run

CLOCK = "com.google.android.deskclock"
AT = datetime(2023, 10, 15, 15, 34, 5, 678901)


def out(phone, command):
    return run(phone, command).stdout.decode("utf-8", "surrogateescape")


@pytest.fixture
def phone(phone):
    """A phone on which the shell and an app have written messages, of one line and of two."""
    phone.launch(CLOCK)
    phone.now = AT
    run(phone, "log -p w -t net 'it is slow'")
    phone.services.write_log(AT, "E", "AndroidRuntime", "FATAL\nat x", "crash", CLOCK)
    run(phone, "log late")
    return phone


FIRST = {  # of the lines without headings
    "brief": "W/net     ( 1999): it is slow",
    "long": "[ 10-15 15:34:05.678  1999: 1999 W/net      ]",
    "process": "W( 1999) it is slow  (net)",
    "raw": "it is slow",
    "tag": "W/net     : it is slow",
    "thread": "W( 1999: 1999) it is slow",
    "threadtime": "10-15 15:34:05.678  1999  1999 W net     : it is slow",
    "time": "10-15 15:34:05.678 W/net     ( 1999): it is slow",
    "time,color": "\033[33m10-15 15:34:05.678 W/net     ( 1999): it is slow\033[0m",
    "process -v color": "\033[33mW( 1999) it is slow\033[0m  (net)",
    "raw,colour": "\033[33mit is slow\033[0m",
    "usec": "10-15 15:34:05.678901  1999  1999 W net     : it is slow",
    "threadtime -v nsec -v year": "2023-10-15 15:34:05.678901000  1999  1999 W net     : it is slow",
    "time,epoch,usec,zone": "         1697384045.678901 W/net     ( 1999): it is slow",
    "time,monotonic": "  3605.678 W/net     ( 1999): it is slow",
    "time,zone": "10-15 15:34:05.678 +0000 W/net     ( 1999): it is slow",
    "time -v UTC": "10-15 15:34:05.678 +0000 W/net     ( 1999): it is slow",
    "time,Asia/Tokyo,year": "2023-10-16 00:34:05.678 +0900 W/net     ( 1999): it is slow",
    "time,Asia/Tokyo,zone": "10-16 00:34:05.678 W/net     ( 1999): it is slow",
    "brief,uid": "W/net     ( root: 1999): it is slow",
    "uid": "10-15 15:34:05.678  root  1999  1999 W net     : it is slow",
    "brief -v descriptive -v printable": "W/net     ( 1999): it is slow",
    "brief -v tag": "W/net     : it is slow",
}


@pytest.mark.parametrize(("format", "line"), FIRST.items(), ids=FIRST)
def test_every_format_and_modifier(phone, format, line):
    assert out(phone, f"logcat -d -v {format}").splitlines()[1] == line


def test_a_message_of_several_lines(phone):
    pid = phone.services.pids[CLOCK]
    assert out(phone, "logcat -d -b crash -v brief,uid") == (
        "--------- beginning of crash\n"
        + "".join(f"E/AndroidRuntime({10000 + 100 + list(phone.apps).index(CLOCK)}:{pid:5}): {line}\n"
                  for line in ("FATAL", "at x"))
    )  # fmt: skip
    assert out(phone, "logcat -d -b crash -v long").endswith("E/AndroidRuntime ]\nFATAL\nat x\n\n")


def test_what_cannot_be_seen_is_escaped(phone):
    run(phone, "logcat -c; log $'a\\tb\\rc\\\\d\\x01\\377\\nü'; log ''")
    assert out(phone, "logcat -d -v raw,printable").splitlines()[1:] == ["a\tb\\rc\\\\d\\x01\\xFF", "ü", ""]


CHOSEN = {  # which messages: s of the shell's first, c of the app's, l of the shell's last
    "--pid=1999": "sl", "--pid 1999 -b crash": "", "--pid=1407": "c", "--uid=0": "sl", "--uid 0,10100,{uid}": "scl",
    "-e 'slow|lat'": "sl", "--regex=x$": "c", "--grep FATAL": "c", "-m 2": "sc", "--head=1": "s", "-e ate -m 1": "l",
    "-e ate -m 1 --print": "scl", "-e slow -m 1 --print": "s", "-t 2": "cl", "-t 0": "l", "-T 1 -d": "l",
    "--tail=1": "l", "-t 1 --pid=1999": "l", "-t 1697384045.0": "scl", "-t 1697384046.0": "", "-T 1 -t 3": "scl",
    "-t '10-15 15:34:05.678'": "scl", "-t '2023-10-15 15:34:06.0'": "", "-t '10-15 15:34:05.0 x'": "scl",
    "-s net": "s", "'*:E'": "c", "net:E": "cl", "'*' log:S": "sc", "net:0x": None, "net:q": None, "net:8": "scl",
    "'*:7' net:5": "s", "*:S,net": "s", ":x": None, "-b main,crash": "scl", "-b 'main crash'": "scl",
}  # fmt: skip


@pytest.mark.parametrize(("words", "expected"), CHOSEN.items(), ids=CHOSEN)
def test_which_messages_are_printed(phone, words, expected):
    uid = 10100 + list(phone.apps).index(CLOCK)
    words = words.format(uid=uid).replace("1407", str(phone.services.pids[CLOCK]))
    result = run(phone, f"logcat -d -v raw {words}".replace("-d", "", "-t" in words))
    told = [line for line in result.stdout.decode().splitlines() if line[0] != "-"]
    letters = {"it is slow": "s", "FATAL": "c", "late": "l"}
    assert "".join(letters.get(line, "") for line in told) == (expected or "")
    assert result.code == (expected is None) and not result.endless


def test_variables_stand_for_what_is_not_said(phone):
    assert out(phone, "export ANDROID_LOG_TAGS='*:S net' ANDROID_PRINTF_LOG=raw,color; logcat -d").splitlines()[1:] == [
        "\033[33mit is slow\033[0m"
    ]
    assert "late" in out(phone, "export ANDROID_LOG_TAGS='*:S'; logcat -d log:I '*:S'")


def test_dividers_stand_wherever_the_buffer_changes(phone):
    headings = ["--------- beginning of main", "--------- beginning of crash"]
    assert [line for line in out(phone, "logcat -d").splitlines() if line[:2] == "--"] == headings
    for option in ("-D", "--dividers"):
        lines = out(phone, f"logcat -d {option}").splitlines()
        assert [line for line in lines if line[:2] == "--"] == [*headings, "--------- switch to main"]


def test_who_waits_gets_as_many_as_were_asked_for(phone):
    waiting = run(phone, "logcat -v raw -T 1 -m 2 --pid=1999")
    assert waiting.endless and waiting.stdout.endswith(b"main\nlate\n")
    phone.services.write_log(AT, "I", "clock", "not mine", "main", CLOCK)
    assert waiting.follow() == b""
    run(phone, "log more; log 'too much'")
    assert waiting.follow() == b"more\n" and waiting.follow() is None
    assert not run(phone, "logcat -m 1").endless


def test_the_size_of_a_message_has_a_limit(phone):
    run(phone, "logcat -c; head -c 9000 /dev/zero | tr '\\0' x | log -t big")
    assert len(out(phone, "logcat -d -v raw").splitlines()[1]) == LONGEST_MESSAGE - 3


@pytest.mark.parametrize(("words", "told"), {
    "-v nonsense": "Invalid parameter 'nonsense' to -v.", "-v time,": "Invalid parameter '' to -v.",
    "-L": "Logcat read failure: No such file or directory", "-S": "Failed to read data.", "-p": "Failed to read data.",
    "-P '~!'": "Failed to set the prune list.", "-G 1M": "failed to set the 'main,system,crash,kernel' log sizes.",
    "--buffer-size=1M": "Unknown option 'buffer-size=1M'", "-b radio -G 1M": "failed to set the 'radio' log size.",
    "--pid=0": "pid 0 out of range.", "--pid=x": "pid x out of range.",
    "--pid=1 --pid=2": "Only one --pid argument can be provided.", "--uid=root": "Unable to parse UID 'root'",
    "-m 0": "-m '0' isn't an integer greater than zero.", "-m 1 -t 1": "Cannot use -m (--max-count) and -t together.",
    "-t now": "-t 'now' not in time format.", "net:q": "Invalid filter expression 'net:q'.",
    "-b bogus": "Unknown buffer 'bogus' listed for -b.", "--wrap": "Unknown option 'wrap'",
    "-B": "Unknown option 'B'", "-e '['": "bad regex", "--clear=x": "Unknown option 'clear=x'",
}.items())  # fmt: skip
def test_what_cannot_be_done_is_refused(phone, words, told):
    result = run(phone, f"logcat -d {words}")
    assert result.code == 1 and result.stderr.decode().startswith(f"logcat: {told}") and not result.stdout


def test_warnings_go_to_standard_error(phone):
    told = run(phone, "logcat -t '10-15 15:34:05.0 x'").stderr
    assert told == b"WARNING: -t '10-15 15:34:05.0' ' x' time truncated\n"
    assert run(phone, "logcat -t 0").stderr == b"WARNING: -t 0 invalid, setting to 1\n"
    assert b"--print ignored" in run(phone, "logcat -d --print").stderr
