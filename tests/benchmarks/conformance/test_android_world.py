"""The AndroidWorld conformance benchmark: what its figures count, and a complete task if AndroidWorld is there."""

import importlib.util
import os
from types import SimpleNamespace

import pytest

from benchmarks.conformance import android_world
from benchmarks.conformance.android_world import Observer, Run, differences, run_task, summary, table
from coach_gym.envs.devices.phone import PhoneDevice
from coach_gym.envs.suites.official_world import upstream


def run(task, seed, **more):
    ms = {"setup": 20.0, "evaluate": 5.0, "teardown": 5.0}
    done = {"budget": 10, "initialised": True, "torn_down": True, "no_op": 0.0, "near_miss": 0.0, "steps": 6}
    return Run(task, seed, **{**done, "ms": ms, "core_ms": ms, **more})


ROWS = [
    run("Good", 0, expert=1.0, ours={"no_op": 0.0, "expert": 1.0}),
    run("Good", 1, expert=1.0, ours={"no_op": 0.0, "expert": 0.0}),
    run("Once", 0, expert=1.0),
    run("Once", 1, expert=0.5),
    run("Long", 0, expert=1.0, steps=11),
    run("Broken", 0, initialised=False, no_op=None, error="it fell over"),
]


def test_a_task_counts_only_if_all_its_instances_went_well():
    found = summary(ROWS)
    assert (found["initialised"], found["torn_down"]) == (3, 4)
    assert found["solved"] == 1, "one is solved once, one takes more steps than its budget has"
    assert found["median_ms"] == 30.0


def test_agreement_is_over_the_states_that_both_judged():
    assert summary(ROWS)["agreement"] == 0.75
    (difference,) = differences(ROWS)
    assert {key: difference[key] for key in ("task", "seed", "state", "upstream", "ours")} == {
        "task": "Good", "seed": 1, "state": "expert", "upstream": 1.0, "ours": 0.0,
    }  # fmt: skip


def test_the_table_has_a_line_for_each_task_and_says_what_went_wrong():
    head, *lines = table(ROWS)
    assert "(embedded phone)" in head
    assert [line.split()[0] for line in lines] == ["Good", "Once", "Long", "Broken"]
    assert "it fell over" in lines[-1]


def test_all_states_of_an_instance_ask_for_the_same_even_if_upstream_draws_it_anew_by_the_clock(monkeypatch):
    monkeypatch.setattr(android_world, "connect", lambda device: None)
    monkeypatch.setattr(android_world, "counterpart", lambda task, device: None)
    device, observer = PhoneDevice(135, 300), Observer()
    for name in ("folder_120000", "folder_120001"):
        task = SimpleNamespace(name="Folder", params={"seed": 0, "name": name}, _task={"name": name}, _env=None)
        observer.prepare(task, device, lambda: None)
    assert task.params["name"] == task._task["name"] == "folder_120000"


@pytest.mark.skipif(
    upstream.VARIABLE not in os.environ and importlib.util.find_spec(upstream.NAME) is None,
    reason=f"needs AndroidWorld: set {upstream.VARIABLE} to a checkout of google-research/android_world",
)
def test_a_task_is_prepared_solved_missed_and_torn_down():
    (row,) = run_task(None, [1], "ContactsAddContact")
    assert (row.initialised, row.torn_down, row.error) == (True, True, "")
    assert (row.no_op, row.expert, row.near_miss, row.mistake) == (0.0, 1.0, 0.0, 0.0)
    assert row.ours == {"no_op": 0.0, "expert": 1.0, "near_miss": 0.0, "mistake": 0.0}
    assert row.solved and all(row.agreements.values())
