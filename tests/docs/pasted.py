"""Runs a block of code as if it were pasted into a file of its own: a new process, which has imported nothing of ours.

The processes are forked from one that has loaded what takes longest, so that dozens of blocks take minutes less. As a
program, this file is that process: it reads a folder and a block per line and answers with the exit status.
"""

import json
import os
import subprocess
import sys
import traceback
from functools import cache
from importlib import import_module
from pathlib import Path
from threading import Timer

PRELOADED = ("torch", "transformers", "gymnasium", "matplotlib")


def run_alone(code: str, folder: Path, timeout: float = 600) -> str | None:
    """Runs code in a folder. Returns what it printed if it failed, else None."""
    log = folder / "printed.txt"
    log.touch()
    server = _server()
    limit = Timer(timeout, server.kill)
    limit.start()
    try:
        print(json.dumps([code, str(folder), str(log)]), file=server.stdin, flush=True)
        status = server.stdout.readline().strip()
    finally:
        limit.cancel()
    if not status:
        _server.cache_clear()
        return f"still running after {timeout:g} s\n{log.read_text()}"
    return None if status == "0" else log.read_text()


@cache
def _server() -> subprocess.Popen:
    return subprocess.Popen([sys.executable, __file__], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def _serve() -> None:
    for name in PRELOADED:
        import_module(name)
    for line in sys.stdin:
        child = os.fork()
        if child == 0:
            os._exit(_run(*json.loads(line)))
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)


def _run(code: str, folder: str, log: str) -> int:
    assert "coach_gym" not in sys.modules, "a block imports it itself"
    os.chdir(folder)
    sys.path[0] = folder
    with open(log, "w", buffering=1) as printed:
        os.dup2(printed.fileno(), 1)
        os.dup2(printed.fileno(), 2)
        sys.stdout = sys.stderr = printed
        try:
            exec(compile(code, "block", "exec"), {"__name__": "__main__"})
        except BaseException:
            traceback.print_exc()
            return 1
    return 0


if __name__ == "__main__":
    _serve()
