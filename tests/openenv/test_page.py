"""The commands and programs of docs/how_to/openenv.md and docs/how_to/ors.md work as they stand, but for the port."""

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs" / "how_to"


def block(page, language):
    (found,) = re.findall(rf"^```{language}\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    return found


@pytest.mark.parametrize("name", ["openenv", "ors"])
def test_the_server_and_the_client_of_the_page(name):
    page = (DOCS / f"{name}.md").read_text()
    program, *arguments = shlex.split(re.sub(r"^\$ |(?<=--port )\d+", "", block(page, "console")))
    assert program == "coach-gym"
    arguments.insert(arguments.index("--port") + 1, "0")
    server = subprocess.Popen([sys.executable, "-m", "coach_gym", *arguments], stdout=subprocess.PIPE, text=True)
    try:
        address = re.match(r"http://127\.0\.0\.1:\d+", server.stdout.readline())[0]
        code = re.sub(r"http://127\.0\.0\.1:\d+", address, block(page, "python"))
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300)
    finally:
        server.terminate()
        server.communicate(timeout=30)
    assert done.returncode == 0, done.stderr
    goal, end = done.stdout.splitlines()
    assert goal and end == "0.0 False False"
