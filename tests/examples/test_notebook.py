"""The notebook runs from top to bottom, and what is committed of its outputs is what it shows."""

import nbformat
import pytest

pytest.importorskip("nbclient", reason="needs the extra `test`")
pytest.importorskip("ipykernel", reason="needs the extra `test`")
from benchmarks.figures.notebook import NOTEBOOK, run  # noqa: E402  (after the check that it can run)


def shown(notebook):
    return [(cell.source, [set(output.data) for output in cell.outputs]) for cell in code(notebook)]


def code(notebook):
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


@pytest.mark.slow
def test_it_runs_and_shows_what_is_committed(tmp_path):
    committed, again = nbformat.read(NOTEBOOK, as_version=4), run(tmp_path)
    assert shown(committed) == shown(again)
    forms = [form for _, outputs in shown(again) for output in outputs for form in output]
    assert forms.count("text/html") == 3 and forms.count("image/png") == 2, "observations, evaluation; strips"
    first, second = (code(notebook)[0].outputs[0].data for notebook in (committed, again))
    assert first == second, "a seed gives the same task and the same screen"


def test_its_committed_outputs_are_small():
    assert NOTEBOOK.stat().st_size < 500_000
