"""Runs a block of code as if it were pasted into a file of its own: a new process, which has imported nothing of ours.

The processes are forked from a server that has loaded what takes longest, so that dozens of blocks take minutes less.
"""

import sys
import traceback
from multiprocessing import get_context
from pathlib import Path

PRELOADED = ["torch", "transformers", "gymnasium", "matplotlib"]


def run_alone(code: str, folder: Path, timeout: float = 600) -> str | None:
    """Runs code in a folder. Returns what it printed if it failed, else None."""
    context = get_context("forkserver")
    context.set_forkserver_preload(PRELOADED)
    log = folder / "printed.txt"
    process = context.Process(target=_run, args=(code, str(folder), str(log)))
    process.start()
    process.join(timeout)
    if process.is_alive():
        process.kill()
        process.join()
        return f"still running after {timeout:g} s\n{log.read_text()}"
    return None if process.exitcode == 0 else log.read_text()


def _run(code: str, folder: str, log: str) -> None:
    import os

    assert "coach_gym" not in sys.modules, "a block imports it itself"
    os.chdir(folder)
    with open(log, "w", buffering=1) as printed:
        sys.stdout = sys.stderr = printed
        try:
            exec(compile(code, "block", "exec"), {"__name__": "__main__"})
        except BaseException:
            traceback.print_exc()
            printed.flush()
            os._exit(1)
        printed.flush()
