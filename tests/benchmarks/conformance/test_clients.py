"""The clients' own tests on a served phone: what is counted, and a small suite from a checkout."""

import pytest

from benchmarks.conformance import clients
from benchmarks.conformance.clients import Row, Suite, run, summary, table

TESTS = '''
import adbutils
import pytest

adb = adbutils.AdbClient("127.0.0.1", 5037)


@pytest.fixture
def app():
    raise RuntimeError("there is no such app")


def test_shell():
    (device,) = adb.device_list()
    assert device.shell("getprop ro.coach_gym.embedded") == "1"


def test_wrong():
    assert adb.device_list() == []


def test_app(app):
    pass

'''


def test_a_suite_runs_against_a_phone_and_every_test_is_accounted_for(tmp_path, monkeypatch):
    folder = tmp_path / "toy" / "tests"
    folder.mkdir(parents=True)
    (folder / "test_toy.py").write_text(TESTS)
    suite = Suite("toy", ("tests",), {"@app": "no app"}, {})
    monkeypatch.setattr(clients, "SIZE", (270, 600))
    rows = run(suite, tmp_path)
    assert [(row.test.partition("::")[2], row.outcome) for row in rows] == [
        ("test_shell", "passed"), ("test_wrong", "failed"), ("test_app", "left out"),
    ]  # fmt: skip
    assert rows[2].why == "no app"
    assert summary(rows) == {"share": 1 / 2, "passed": 1, "applying": 2}


def test_a_missing_checkout_is_named(tmp_path):
    with pytest.raises(FileNotFoundError, match="clone toy into"):
        run(Suite("toy", ("tests",), {}, {}), tmp_path)


def test_the_table_gives_a_reason_for_what_does_not_pass():
    rows = [Row("a", "x.py::one", "passed"), Row("a", "x.py::two", "failed", "because")]
    rows += [Row("b", "y.py::three", "skipped")]
    shown = table(rows)
    assert "50.0%" in shown and "a x.py::two: because" in shown and "b y.py::three" in shown and "one:" not in shown
