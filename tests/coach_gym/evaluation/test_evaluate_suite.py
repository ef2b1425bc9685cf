"""Evaluations play every task once a run, in order, and continue after an interruption."""

import json

import gymnasium as gym
import pytest

from coach_gym.actions import Action, format_action
from coach_gym.agents.judging.chat import ChatClient, ChatServerError
from coach_gym.dialects import UITars
from coach_gym.envs.suites.in_order import InOrder, instance_seed
from coach_gym.evaluation import ChatPlayer, ExpertPlayer, RandomPlayer, evaluate_suite, read_records
from coach_gym.recording.store import find_stores, read_index
from tests.agents.judging.scripted_server import said, serving
from tests.envs.fake_device import SIZE, SUITE, FakeDevice

TASKS = ["SystemWifiTurnOn", "ContactsAddContact", "ClockTimerEntry", "TasksDueOnDate"]
SETTINGS = {"screen_size": (270, 600), "tasks": TASKS}
FINISH = format_action(Action("finished"))


def expert() -> ExpertPlayer:
    return ExpertPlayer(gym.make("coach_gym:AndroidWorld-v0", **SETTINGS).get_wrapper_attr("suite"))


class Quits:
    """Gives up at once, and breaks down after some calls."""

    def __init__(self, calls: int = 1 << 30) -> None:
        self.calls = calls

    def act(self, attempts):
        self.calls -= 1
        if self.calls < 0:
            raise ChatServerError("gone")
        return [FINISH] * len(attempts)


def run(player, path, **arguments):
    return evaluate_suite(player, out=path, env_settings=SETTINGS, **arguments)


def test_every_task_is_played_once_a_run_in_order_with_other_parameters(tmp_path):
    report = run(expert(), tmp_path / "r.jsonl", runs=2, num_envs=2)
    assert [(record.run, record.task) for record in report.records] == [(r, task) for r in (0, 1) for task in TASKS]
    assert all(record.success for record in report.records)
    contacts = [record.params for record in report.records if record.task == "ContactsAddContact"]
    assert contacts[0] != contacts[1]
    rows = report.rows()
    assert rows["all"] == {"SR": 100.0, "spread": 0.0, "episodes": 8}
    assert rows["query"]["episodes"] == 2 and rows["operation"]["episodes"] == 6
    about, records = read_records(tmp_path / "r.jsonl")
    assert records == report.records and about["tasks"] == TASKS
    assert "(builtin tasks, embedded phone)" in str(report) and "embedded phone" in report.to_json()


def test_instances_depend_on_neither_the_number_of_devices_nor_what_came_before(tmp_path):
    alone, together = run(Quits(), tmp_path / "a", runs=2), run(Quits(), tmp_path / "b", runs=2, num_envs=3)
    assert [record.params for record in alone.records] == [record.params for record in together.records]
    other = run(Quits(), tmp_path / "c", runs=1, seed=31)
    assert [record.params for record in alone.records[:4]] != [record.params for record in other.records]


def test_an_interrupted_evaluation_continues_where_it_was(tmp_path):
    path = tmp_path / "r.jsonl"
    with pytest.raises(ChatServerError):
        run(Quits(3), path, runs=2)
    with path.open("a") as file:
        file.write('{"number": 3, "run"')  # the computer went off in the middle of a line
    assert len(read_records(path)[1]) == 3
    counting = Quits()
    report = run(counting, path, runs=2)
    assert (1 << 30) - counting.calls == 5  # one call for each missing episode
    assert [record.number for record in report.records] == list(range(8))
    assert len(path.read_text().splitlines()) == 1 + 8


def test_episodes_with_a_fault_are_played_again(tmp_path):
    path = tmp_path / "r.jsonl"
    run(Quits(), path)
    head, first, *rest = path.read_text().splitlines()
    faulty = json.dumps({**json.loads(first), "fault": "the device is gone", "score": None})
    path.write_text("\n".join([head, faulty, *rest]) + "\n")
    counting = Quits()
    report = run(counting, path)
    assert (1 << 30) - counting.calls == 1 and report.measures()["faults"] == 0


def test_evaluations_whose_names_differ_after_a_dot_keep_their_episodes_apart(tmp_path):
    for name in ("seed.1", "seed.2"):
        run(Quits(), tmp_path / name)
    assert [each.name for each in find_stores(tmp_path)] == ["seed.1.episodes", "seed.2.episodes"]
    assert all(len(read_index(tmp_path / f"seed.{number}.episodes")) == len(TASKS) for number in (1, 2))


def test_a_file_of_another_evaluation_is_refused(tmp_path):
    run(Quits(), tmp_path / "r.jsonl")
    with pytest.raises(ValueError, match="choose another file"):
        run(Quits(), tmp_path / "r.jsonl", seed=31)
    with pytest.raises(ValueError, match="outcome_verifier='rules' and not 'Sure'"):
        run(Quits(), tmp_path / "r.jsonl", outcome_verifier=Sure())


class Sure:
    def verify(self, episodes):
        return [1.0] * len(episodes)


def test_an_evaluation_does_not_go_on_in_another_dialect(tmp_path):
    with serving(f"Action: {FINISH}") as server:
        client = ChatClient("model", server.url)
        run(ChatPlayer(client, UITars()), tmp_path / "r.jsonl")
        run(ChatPlayer(client, UITars()), tmp_path / "r.jsonl", runs=2)
        with pytest.raises(ValueError, match="with dialect=.*choose another file"):
            run(ChatPlayer(client, UITars(max_pixels=50_000)), tmp_path / "r.jsonl", runs=2)


def test_a_random_player_repeats_itself_and_solves_little(tmp_path):
    first, again = run(RandomPlayer(), tmp_path / "a"), run(RandomPlayer(), tmp_path / "b", num_envs=2)
    assert [r.steps for r in first.records] == [r.steps for r in again.records]
    assert first.success_rate <= 50


def test_a_model_behind_a_server_sees_its_history_and_acts_in_its_frame(tmp_path):
    dialect, acted = UITars(28 * 28, max_pixels=28 * 28 * 60), []
    width, height = dialect.frame(270, 600).model
    click = f"Thought: Open it.\nAction: click(start_box='({width // 2},{height // 2})')"

    class Watched(ChatPlayer):
        def act(self, attempts):
            acted.extend(super().act(attempts))
            return acted[-len(attempts) :]

    def script(number, request):
        return f"Action: {FINISH}" if request["messages"][-2]["role"] == "assistant" else click

    with serving(script) as server:
        report = run(Watched(ChatClient("model", server.url), dialect), tmp_path / "r.jsonl", num_envs=2)
    assert [record.steps for record in report.records] == [2] * 4
    assert set(acted) == {"Thought: Open it.\nAction: click(start_box='(135,300)')", FINISH} and width != 270
    talk = server.requests[-1]["messages"]
    assert [message["role"] for message in talk][-3:] == ["user", "assistant", "user"]
    assert said(server.requests[-1]).count("[picture]") == 2
    assert report.measures()["requests"] == 8 and report.measures()["prompt tokens"] == 800


def test_a_server_that_is_gone_stops_the_evaluation_instead_of_failing_tasks(tmp_path):
    with serving(500) as server:
        player = ChatPlayer(ChatClient("model", server.url, retries=0), UITars())
        with pytest.raises(ChatServerError, match="does not answer"):
            run(player, tmp_path / "r.jsonl")
    assert read_records(tmp_path / "r.jsonl")[1] == []


def test_an_outcome_verifier_judges_tasks_without_a_rule(tmp_path, monkeypatch):
    from coach_gym.envs.apps.clock.world_tasks import ClockTimerEntry

    monkeypatch.setattr(ClockTimerEntry, "evaluate", lambda self, device, answer: None)
    silent = run(Quits(), tmp_path / "a")
    assert [record.score for record in silent.records if record.task == "ClockTimerEntry"] == [None]
    assert silent.measures()["without a verdict"] == 1 and silent.rows()["all"]["episodes"] == 3
    with serving("<analysis>Done</analysis><ans>True</ans>") as server:
        judged = run(Quits(), tmp_path / "b", outcome_verifier=f"rules+openai:judge@{server.url}")
    assert [record.score for record in judged.records if record.task == "ClockTimerEntry"] == [1.0]
    assert sum("Task: " in said(request) for request in server.requests) == 1


def test_seeds_are_those_of_android_worlds_runner():
    """Its formula, below 2**31: int(sha256("30_ContactsAddContact_0")) % 2**32 at upstream."""
    import hashlib

    upstream = int(hashlib.sha256(b"30_ContactsAddContact_0").hexdigest(), 16) % 2**32
    assert instance_seed(30, "ContactsAddContact", 0) == upstream % 2**31
    env = InOrder(gym.make("coach_gym:AndroidWorld-v0", **SETTINGS))
    assert [env.reset(seed=number)[1]["task"] for number in (0, 3, 4)] == [TASKS[0], TASKS[3], TASKS[0]]


def test_a_file_describes_the_devices_as_it_does_for_training(tmp_path, monkeypatch):
    fleets = []
    monkeypatch.setattr("coach_gym.envs.make.read_fleet", lambda path: fleets.append(FakeFleet(path)) or fleets[-1])
    settings = {"device": "fleet.toml", "screen_size": SIZE, "suite": SUITE}
    for _ in range(2):  # the second time, all that is left is to read the results
        report = evaluate_suite(Quits(), out=tmp_path / "r.jsonl", num_envs=2, env_settings=settings)
    assert [record.device for record in report.records] == ["fake"] * len(SUITE.families)
    assert [(fleet.path, fleet.closed) for fleet in fleets] == [("fleet.toml", True)] * 2
    assert fleets[0].lent == min(2, len(SUITE.families)) and fleets[1].lent == 0
    settings["device"] = "emulator-5554"
    with pytest.raises(ValueError, match="2 environments cannot share the device 'emulator-5554'"):
        evaluate_suite(Quits(), out=tmp_path / "one.jsonl", num_envs=2, env_settings=settings)


class FakeFleet:
    def __init__(self, path):
        self.path, self.lent, self.closed = path, 0, False

    def __call__(self):
        self.lent += 1
        return FakeDevice()

    def close(self):
        self.closed = True
