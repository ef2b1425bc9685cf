"""Runs the notebook of the examples and keeps what it shows: pictures, tables and values, without warnings and bars.

    python -m benchmarks.figures.notebook
"""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import nbformat
from nbclient import NotebookClient
from nbformat import NotebookNode

NOTEBOOK = Path(__file__).parents[2] / "examples/first_hour.ipynb"
SHOWN = ("image/png", "text/html", "text/plain")  # of several forms of an output, the first is kept


def run(folder: Path) -> NotebookNode:
    """Returns the notebook with new outputs.

    Args:
        folder: Where it runs, and leaves its files.

    Raises:
        nbclient.exceptions.CellExecutionError: A cell fails.
    """
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    NotebookClient(notebook, timeout=300, resources={"metadata": {"path": str(folder)}}).execute()
    for cell in notebook.cells:
        cell.metadata.clear()  # times of execution
        if cell.cell_type == "code":
            cell.outputs = [_bare(output) for output in cell.outputs if output.output_type == "execute_result"]
    return notebook


def _bare(output: NotebookNode) -> NotebookNode:
    form = next(each for each in SHOWN if each in output.data)
    output.data = NotebookNode({form: output.data[form]})
    return output


if __name__ == "__main__":
    with TemporaryDirectory() as folder:
        nbformat.write(run(Path(folder)), NOTEBOOK)
