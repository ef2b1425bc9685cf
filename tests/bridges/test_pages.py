"""The blocks of docs/how_to/trainers.md run when pasted."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "how_to" / "trainers.md"
BLOCKS = re.findall(r"^```python\n(.*?)^```", PAGE.read_text(), re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("code", BLOCKS, ids=range(len(BLOCKS)))
def test_a_block_runs_when_pasted_alone(code, tmp_path):
    for package in re.findall(r"^(?:from|import) (trl|verifiers)", code, re.MULTILINE):
        pytest.importorskip(package, reason=f"{package} is in the environment of make test-bridges")
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
