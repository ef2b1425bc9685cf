"""An interactive shell, typed key by key."""

import time

import pytest

from coach_gym.envs.phone.phone import Phone
from coach_gym.envs.phone.servers.lock import RunningPhone
from coach_gym.envs.phone.servers.terminal import Terminal

PROMPT = "emu64x:/ # "


def typed(*chunks, pty=True):
    """What a session shows, and its exit code."""
    waiting, shown = list(chunks), bytearray()
    phone = Phone(90, 200)

    def read():
        return waiting.pop(0) if waiting else b""

    code = Terminal(phone, RunningPhone(phone), read, shown.extend, pty).run()
    return shown.decode("utf-8", "replace"), code


def test_without_a_terminal_only_results_are_shown():
    assert typed(b"echo a\nfalse\n", pty=False) == ("a\n", 1)


def test_a_terminal_prompts_echoes_and_returns_carriages():
    assert typed(b"echo a\r") == (f"{PROMPT}echo a\r\na\r\n{PROMPT}", 0)


def test_lines_may_come_in_any_pieces():
    assert typed(b"ec", b"ho a", b"\r") == typed(b"echo a\r")


def test_the_prompt_tells_the_folder():
    assert typed(b"cd /sdcard\r")[0].endswith("emu64x:/sdcard # ")


def test_an_unfinished_line_asks_for_more():
    shown, code = typed(b"if true; then\recho yes\rfi\r")
    assert shown.count("> ") == 2 and "\r\nyes\r\n" in shown and code == 0


def test_exit_ends_the_session_with_its_code():
    assert typed(b"exit 7\recho never\r")[1] == 7 and "never\r\nnever" not in typed(b"exit 7\recho never\r")[0]


@pytest.mark.parametrize("erase", [b"\x7f", b"\x08"])
def test_a_character_is_erased_whole(erase):
    shown, _ = typed(b"echo a" + "é".encode() + erase + b"b\r")
    assert "\r\nab\r\n" in shown and "\b \b" in shown


def test_there_is_nothing_to_erase_on_an_empty_line():
    assert typed(b"\x7f\x7fecho a\r")[0] == typed(b"echo a\r")[0]


def test_control_c_drops_the_line_and_control_d_ends():
    assert typed(b"rm -r /sdcard\x03echo a\r")[0].count("^C") == 1
    assert "\r\na\r\n" in typed(b"rm -r /sdcard\x03echo a\r")[0]
    assert typed(b"\x04echo never\r") == (PROMPT, 0)


def test_cursor_keys_do_nothing():
    assert "\r\nab\r\n" in typed(b"echo a\x1b[D\x1b[1;5Cb\r")[0]


def test_what_goes_on_for_ever_ends_with_control_c():
    shown, code = typed(b"logcat\r", b"anything", b"\x03", b"echo after\r")
    assert "\r\nafter\r\n" in shown and code == 0


def test_the_last_line_needs_no_end():
    assert typed(b"echo a", pty=False) == ("a\n", 0)


def test_an_unfinished_script_is_a_syntax_error_at_the_end():
    shown, code = typed(b"if true\n", pty=False)
    assert "syntax error" in shown and code == 1


def test_a_reader_that_breaks_ends_the_session():
    def read():
        raise EOFError

    phone = Phone(90, 200)
    assert Terminal(phone, RunningPhone(phone), read, bytearray().extend, False).run() == 0


def test_a_here_document_is_read_to_its_end():
    shown, code = typed(b"cat << END\n", b"a\nb\n", b"END\necho $?\n", pty=False)
    assert (shown, code) == ("a\nb\n0\n", 0)


def test_control_c_drops_all_lines_of_an_unfinished_command():
    assert typed(b"echo '\recho never\r\x03echo a\r")[0].endswith(f"{PROMPT}echo a\r\na\r\n{PROMPT}")


@pytest.mark.parametrize("typing", [b"if true; then\n" + b"echo a\n" * 6_000, b"x" * 1_000_000])
def test_what_is_typed_is_read_at_once(typing):
    began = time.thread_time()
    typed(typing, pty=False)
    assert time.thread_time() - began < 15
