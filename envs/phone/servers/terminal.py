"""An interactive shell: typed line by line, with or without a terminal."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from coach_gym.envs.phone.phone import Phone
from coach_gym.envs.phone.servers.lock import RunningPhone
from coach_gym.envs.phone.shell import Session, is_complete
from coach_gym.envs.phone.shell.language.process import Input

INTERRUPT, END, DELETE, BACKSPACE, ESCAPE = 0x03, 0x04, 0x7F, 0x08, 0x1B
WITHIN_ESCAPE = b"[O0123456789;"  # what comes between an escape and its last letter
LONGEST_LINE = 64 * 1024
MOST_READ_AGAIN = 2_000_000  # characters of the lines of one command, which are all read again with every further line


class Terminal:
    """One session of the shell.

    Args:
        phone: The phone.
        lock: Held while the phone is worked.
        read: Returns the next typed bytes; none at the end.
        write: Shows bytes.
        pty: Whether there is a terminal, which wants a prompt, an echo of what is typed, and carriage returns.
    """

    def __init__(
        self, phone: Phone, lock: RunningPhone, read: Callable[[], bytes], write: Callable[[bytes], None], pty: bool
    ) -> None:
        self._session, self._lock = Session(phone), lock
        self._read, self._write, self._pty = read, write, pty
        self._typed: Iterator[int] = iter(())
        self._escaped = False

    def run(self) -> int:
        """Runs what is typed until it ends, or until `exit`. Returns the shell's exit code."""
        code, text, left = 0, "", MOST_READ_AGAIN
        while not self._session.ended:
            self._prompt(text)
            line = self._line()
            if line is None:
                break
            text = "" if line == chr(INTERRUPT) else text + line
            left -= len(text)
            if text.strip() and left > 0 and not is_complete(text):
                continue
            code = self._carry_out(text) if text.strip() else code
            text, left = "", MOST_READ_AGAIN
        return self._carry_out(text) if text else code

    def _carry_out(self, text: str) -> int:
        with self._lock:
            output = self._session.run(text, Input(), merged=True)
        self._show(output.stdout)
        if output.endless:
            while (data := self._read()) and INTERRUPT not in data:
                pass
        return output.code

    def _prompt(self, text: str) -> None:
        if self._pty:
            self._write(b"> " if text else f"emu64x:{self._session.shell.folder} # ".encode())

    def _show(self, data: bytes) -> None:
        if data:
            self._write(data.replace(b"\n", b"\r\n") if self._pty else data)

    def _line(self) -> str | None:
        """Returns the next line with its end, or `INTERRUPT`; None at the end of the input."""
        line = bytearray()
        while len(line) < LONGEST_LINE:
            byte = next(self._typed, None)
            if byte is None:
                if not self._fetch():
                    return line.decode("utf-8", "surrogateescape") if line else None
                continue
            if byte == 0x0A or (byte == 0x0D and self._pty):
                self._echo(b"\r\n")
                return (line + b"\n").decode("utf-8", "surrogateescape")
            if not self._pty:
                line.append(byte)
            elif byte == END and not line:
                return None
            elif byte == INTERRUPT:
                self._echo(b"^C\r\n")
                return chr(INTERRUPT)
            else:
                self._edit(line, byte)
        return line.decode("utf-8", "surrogateescape")

    def _fetch(self) -> bool:
        """Waits for more typed bytes. Returns False at the end."""
        try:
            data = self._read()
        except EOFError:
            data = b""
        self._typed = iter(data)
        return bool(data)

    def _edit(self, line: bytearray, byte: int) -> None:
        """Applies a key to the line. The cursor stays at the end: keys that move it have no effect."""
        if self._escaped or byte == ESCAPE:
            self._escaped = byte == ESCAPE or byte in WITHIN_ESCAPE
        elif byte not in (DELETE, BACKSPACE):
            line.append(byte)
            self._echo(bytes([byte]))
        elif line:
            while len(line) > 1 and line[-1] & 0xC0 == 0x80:  # the rest of a character of several bytes
                line.pop()
            line.pop()
            self._echo(b"\b \b")

    def _echo(self, data: bytes) -> None:
        if self._pty:
            self._write(data)
