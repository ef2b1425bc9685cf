"""The notebook of the docs runs from its first cell to its last, in a kernel of its own."""

import os
from pathlib import Path

import pytest

nbformat = pytest.importorskip("nbformat")
NotebookClient = pytest.importorskip("nbclient").NotebookClient
NOTEBOOK = Path(__file__).parents[2] / "docs" / "first_hour.ipynb"


def test_every_cell_runs(tmp_path, monkeypatch):
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(NOTEBOOK.parents[1]), os.environ.get("PYTHONPATH", "")]))
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    nbformat.validate(notebook)
    client = NotebookClient(notebook, timeout=300, resources={"metadata": {"path": str(tmp_path)}})
    done = client.execute()
    shown = [output for cell in done.cells if cell.cell_type == "code" for output in cell.outputs]
    pictures = [output for output in shown if "image/png" in output.get("data", {})]
    assert pictures, "an observation or a strip shows itself"
    assert any("html" in kind for output in shown for kind in output.get("data", {}))
