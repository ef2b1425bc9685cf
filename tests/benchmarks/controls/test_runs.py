"""Whole runs of a few episodes, and what is kept of them."""

import copy
import json
from dataclasses import replace

import pytest
import torch

from benchmarks import ablations
from benchmarks.controls import __main__ as command
from benchmarks.controls import methods, runs, sweep
from benchmarks.controls.methods import COACH, GRIDS, METHODS
from benchmarks.controls.runs import Run, execute, play
from coach_gym.agents import CoachAgent, GRPOAgent
from coach_gym.agents.models.policy import Policy
from coach_gym.envs.errors import UsageError
from coach_gym.envs.vector import AndroidVectorEnv
from tests.agents import tiny
from tests.agents.trivial_env import ButtonEnv

TINY = {"steps": 8, "evaluations": 2, "episodes": 4}
SMALL = {"batch_size": 4, "mini_batch_size": 4, "max_new_tokens": 3, "learning_rate": 1e-3}


class Buttons(ButtonEnv):
    def fork(self):
        return copy.deepcopy(self)


@pytest.fixture
def buttons(monkeypatch, tmp_path):
    """Models and environments that take milliseconds; the files are real."""
    folder = tmp_path / "base"
    tiny.policy().save(folder)
    monkeypatch.setattr(runs, "make_envs", lambda split: AndroidVectorEnv([Buttons] * 4))
    monkeypatch.setattr(methods, "CHOSEN", tmp_path / "chosen.json")
    monkeypatch.setattr(sweep, "CHOSEN", tmp_path / "chosen.json")
    monkeypatch.setattr(runs, "play_one", runs.play_one)
    return str(folder)


def settings(name: str) -> dict:
    if not METHODS[name].learns and not METHODS[name].best_of:
        return {}
    method = METHODS[name]
    chooses = method.agent is CoachAgent or "judge" in method.settings
    return {
        **SMALL,
        **({"critic": "copy"} if "critic" in method.settings else {}),
        **({"reward_model": None} if "critic" in method.settings and "scorer" not in method.settings else {}),
        **({"k": 2, "malformed_is_worthless": False} if chooses else {}),
        **({"replay" if "cloning" in name else "self_imitation": 4} if "reword" in method.settings else {}),
    }


@pytest.mark.parametrize("name", METHODS)
def test_every_method_runs_and_is_counted(name, buttons):
    found = execute(Run(name, 0, policy=buttons, settings=settings(name), **TINY))
    json.dumps(found)
    points, counts = found["curve"], found["counts"]
    asked_again = counts["policy_prompts"] - 8
    assert asked_again == 0 or (asked_again > 0 and "max_k" in METHODS[name].settings)
    assert all(
        len(point[how]) == 4 and set(point[how]) <= set("01") for point in points for how in ("greedy", "sampled")
    )
    if METHODS[name].learns:
        assert [point["work"]["steps"] for point in points] == [point["steps"] for point in points]
        if "forks" in METHODS[name].settings:  # one step each from here to the end
            assert counts["steps"] > 8, "forks count"
        else:
            assert [point["steps"] for point in points] == [4, 8], "an episode has one step"
            assert counts["steps"] == 8, "evaluations are not counted"
        assert counts.get("updates", 0) >= 1 or "cloning" in name, "nothing may have succeeded"
        assert points[0]["work"]["policy_drawn"] < points[1]["work"]["policy_drawn"]
    else:
        assert [point["steps"] for point in points] == [0]
        assert counts["steps"] == 8, "greedy and sampled"
    given = METHODS[name].settings
    asked = "critic" in given and given.get("forks") != "policy" and "scorer" not in given
    assert ("critic_scored" in counts) == asked
    assert counts.get("judge_prompts", 0) >= ("scorer" in given or "judge" in given)


def test_evaluations_do_not_disturb_the_training(buttons):
    """The last evaluation is the same with others before it."""
    one, two = (
        Run("grpo", 0, policy=buttons, settings=settings("grpo"), steps=16, evaluations=n, episodes=8) for n in (1, 4)
    )
    last = [execute(run)["curve"][-1] for run in (one, two)]
    assert last[0]["work"] == last[1]["work"] and last[0]["sampled"] == last[1]["sampled"]


def test_with_shuffled_rewards_outcomes_belong_to_others(buttons):
    run = Run("grpo", 0, policy=buttons, shuffled=True, settings={**SMALL, "batch_size": 16}, **TINY)
    agent = runs.make_agent(run, AndroidVectorEnv([Buttons] * 4))
    seen: list[float | None] = []
    agent.train = lambda groups: seen.extend(episode.outcome for group in groups for episode in group)
    runs._shuffle_rewards(agent, 0)
    groups = agent.collect_rollouts()
    before = [number / 16 for number in range(16)]
    for episode, outcome in zip((episode for group in groups for episode in group), before, strict=True):
        episode.outcome = outcome
    agent.train(groups)
    assert sorted(seen) == sorted(before) and seen != before


def test_a_run_is_stored_once_and_other_settings_or_weights_are_another_run(buttons, tmp_path, monkeypatch):
    run = Run("base", 0, policy=buttons, **TINY)
    others = [
        replace(run, seed=1),
        replace(run, shuffled=True),
        replace(run, split="validation"),
        replace(run, steps=9),
    ]
    assert len({each.file() for each in [run, *others]}) == 5
    runs.play_one(run, tmp_path)
    (stored,) = play([run], tmp_path)
    assert stored["run"]["method"] == "base" and list(tmp_path.glob("base-*")) == [tmp_path / run.file()]
    name = run.file()
    tiny.policy(std=0.2).save(buttons)
    assert run.file() != name, "other weights"
    monkeypatch.setitem(runs.SHARED, "max_new_tokens", 4)
    assert run.file() != name


def test_the_trained_policy_is_kept_beside_the_result(buttons, tmp_path, monkeypatch):
    def train(agent, groups):
        agent.policy.model.lm_head.weight.data += 1

    monkeypatch.setattr(GRPOAgent, "train", train)
    run = Run("grpo", 0, policy=buttons, settings=settings("grpo"), **TINY)
    runs.play_one(run, tmp_path)
    kept, base = (Policy.load(each).model.lm_head.weight for each in (tmp_path / run.file()[: -len(".json")], buttons))
    assert torch.allclose(kept, base + 2), "two iterations"


def test_a_run_that_fails_leaves_no_result(buttons, tmp_path, monkeypatch):
    monkeypatch.setattr(runs, "evaluate", lambda *_: pytest.fail("broken"))
    with pytest.raises(pytest.fail.Exception):
        runs.play_one(Run("base", 0, policy=buttons, **TINY), tmp_path / "out")
    assert not list(tmp_path.glob("out/*"))


# ---- the sweep -----------------------------------------------------------------------------------------------------


def test_settings_are_not_chosen_on_test():
    with pytest.raises(UsageError, match="validation"):
        sweep.sweep_runs(["grpo"], [0], split="test", **TINY)


def test_every_method_that_learns_has_a_grid_of_the_same_size():
    learn = {name for name, method in METHODS.items() if method.learns}
    judged = {name for name in METHODS if name.startswith("judged")}
    cloning = {name for name in METHODS if name.startswith("cloning_")}
    controls = {"frozen", "imitates", "coach_alone", "uncorrected", "measured", *judged, *cloning}
    assert learn - controls == GRIDS.keys()
    assert len({len(grid) for grid in GRIDS.values()}) == 1
    assert all(len({json.dumps(each) for each in grid}) == len(grid) for grid in GRIDS.values())


def test_a_grid_of_another_size_is_refused(monkeypatch):
    monkeypatch.setitem(GRIDS, "grpo", GRIDS["grpo"][:1])
    with pytest.raises(ValueError, match="same number of settings.*'grpo': 1"):
        sweep.sweep_runs(["grpo", "rloo"], [0], **TINY)


def test_the_best_settings_on_validation_are_chosen_and_others_kept(buttons, monkeypatch):
    def result(method: str, number: int, bits: str) -> dict:
        run = {"method": method, "seed": 0, "settings": GRIDS[method][number], "steps": 8, "episodes": 4}
        return {"run": run, "curve": [{"greedy": bits, "sampled": bits}]}

    sweep.choose([result("grpo", number, bits) for number, bits in enumerate(["0000", "0110", "1000", "0000"])], "a")
    found = sweep.choose([result("rloo", n, bits) for n, bits in enumerate(["1111", "0000", "0000", "0000"])], "b")
    assert found["settings"] == {"grpo": GRIDS["grpo"][1], "rloo": GRIDS["rloo"][0]}
    assert methods.chosen()["grpo"] == GRIDS["grpo"][1]
    assert methods.chosen()["cloning"] == GRIDS["cloning"][0], "not swept yet"
    frozen = {**GRIDS[COACH][0], "critic_learning_rate": 0.0, "outcome_correction": 0.0}
    assert methods.chosen()["frozen"] == frozen, "a control has the settings of what it controls"
    assert methods.chosen()["measured"] == GRIDS[COACH][0]
    assert methods.chosen()["coach_alone"] == {**GRIDS[COACH][0], **methods.ALONE}
    assert methods.chosen()["uncorrected"] == {**GRIDS[COACH][0], "outcome_correction": 0.0}


def test_only_what_imitates_gets_another_store():
    found = {name: methods.with_store(each, 7) for name, each in methods.chosen().items()}
    assert found[COACH] == {**methods.chosen()[COACH], "self_imitation": 7}
    assert found["cloning"] == {**methods.chosen()["cloning"], "replay": 7}
    assert found["coach_alone"] == methods.chosen()["coach_alone"] and found["grpo"] == methods.chosen()["grpo"]


def test_only_what_imitates_is_told_how_many_successes_to_replay():
    found = {name: methods.with_store(each, None, 5) for name, each in methods.chosen().items()}
    assert found[COACH] == {**methods.chosen()[COACH], "max_replayed": 5}
    assert found["cloning"] == {**methods.chosen()["cloning"], "max_replayed": 5}
    assert found["coach_alone"] == methods.chosen()["coach_alone"] and found["grpo"] == methods.chosen()["grpo"]


def test_another_judge_changes_what_a_judge_chooses_for_and_nothing_else():
    found = methods.with_judge(methods.chosen(), "my/judge")
    assert found["cloning_judged"] == {**methods.chosen()["cloning_judged"], "judge": "my/judge"}
    assert found["judged"]["reward_model"] == found["best_by_judge"]["reward_model"] == "my/judge"
    assert found.keys() - methods.chosen().keys() == {"best_by_judge", "best_by_judge_64", "best_by_judge_varied"}
    assert found["grpo"] == methods.chosen()["grpo"]
    assert "my/judge" not in found[COACH].values()


# ---- commands ------------------------------------------------------------------------------------------------------


@pytest.fixture
def here(monkeypatch):
    """Plays runs in this process, with settings for the buttons."""

    def at_once(planned, out, jobs):
        return [execute(replace(run, settings={**run.settings, **settings(run.method)})) for run in planned]

    monkeypatch.setattr(command, "play", at_once)
    monkeypatch.setattr(ablations, "play", at_once)


def test_the_command_compares_and_writes(buttons, here, tmp_path, monkeypatch, capsys):
    arguments = [
        "--methods",
        "base",
        "cloning",
        COACH,
        "--seeds",
        "0",
        "1",
        "--policy",
        buttons,
        "--out",
        str(tmp_path),
    ]
    small = ["--steps", "8", "--evaluations", "2", "--episodes", "4", "--json", str(tmp_path / "found.json")]
    monkeypatch.setattr("sys.argv", ["controls", *arguments, *small, "--store", "5"])
    command.main()
    found = json.loads((tmp_path / "found.json").read_text())
    assert {run["run"]["settings"].get("self_imitation") for run in found["runs"]} == {None, 5}
    assert found["ends"]["greedy"].keys() == {"base", "cloning", COACH}
    assert found["headline"]["greedy_after"] == found["ends"]["greedy"][COACH]["success"]["value"]
    assert "rerun: python -m benchmarks.controls --methods base" in capsys.readouterr().out
    assert (tmp_path / "controls.png").exists()


def test_the_ablations_judge_every_finding(buttons, here, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(runs, "make_agent", runs.make_agent)
    arguments = ["--studies", "executed", "baseline", "--seeds", "0", "--policy", buttons, "--out", str(tmp_path)]
    small = ["--steps", "4", "--episodes", "4", "--json", str(tmp_path / "found.json")]
    monkeypatch.setattr("sys.argv", ["ablations", *arguments, *small])
    ablations.main()
    found = json.loads((tmp_path / "found.json").read_text())
    assert found["studies"]["executed"]["findings"] == []
    (finding,) = found["studies"]["baseline"]["findings"]
    assert finding["verdict"] in ("confirmed", "refuted", "undecided") and finding["verdict"] in finding["sentence"]
    assert sum(found["headline"].values()) == 1
    assert found["base"].keys() == {"greedy", "sampled"}
    assert (tmp_path / "ablations.png").exists()
    assert "The paper does not compare these." in capsys.readouterr().out


@pytest.mark.parametrize(
    ("low", "high", "expected"), [(0.01, 0.1, "confirmed"), (-0.1, -0.01, "refuted"), (-0.1, 0.1, "undecided")]
)
def test_a_finding_is_decided_by_its_interval(low, high, expected):
    gap = {"value": 0.0, "low": low, "high": high}
    assert ablations.verdict(gap, 2) == expected and ablations.verdict(gap, 1) == "undecided"


def test_equal_variants_are_one_run():
    studies = {name: ablations.study_runs(study, [0], **TINY) for name, study in ablations.STUDIES.items()}
    files = {name: {label: runs[0].file() for label, runs in found.items()} for name, found in studies.items()}
    assert files["prm"]["PRM"] == files["critic"]["pre-trained"] == files["baseline"]["leave-one-out"]
    assert files["prm"]["PRM"] == files["executed"]["in the baseline"]
    assert files["prm"]["no PRM"] == files["k"]["k = 4"], "the paper's number"
    assert files["judge_k"]["k = 4"] == files["judge_baseline"]["leave-one-out"]
    assert files["judge_k"]["k = 4"] == files["judge_negative"]["count a tenth"]
    assert len({file for found in files.values() for file in found.values()}) == 23, "all others differ"


def test_the_cost_of_candidates_is_held_against_their_number():
    study = ablations.STUDIES["k"]
    assert ablations.cost(study, "k = 4", 1.7)["verdict"] == "confirmed"
    assert ablations.cost(study, "k = 4", 4.1)["verdict"] == "refuted"
    assert "1.62 times as long" in ablations.cost(study, "k = 4", 1.7)["sentence"]


@pytest.mark.parametrize(
    "arguments",
    [["--store", "0"], ["--store", "5", "--sweep"], ["--max-replayed", "0"], ["--max-replayed", "5", "--sweep"]],
    ids=str,
)
def test_a_store_that_means_nothing_is_refused_before_anything_trains(arguments, monkeypatch, capsys):
    monkeypatch.setattr("sys.argv", ["controls", *arguments])
    with pytest.raises(SystemExit):
        command.main()
    assert "pass 1 or more, and not with --sweep" in capsys.readouterr().err


@pytest.mark.parametrize(("setting", "value"), [("curriculum", 2.0), ("temperature", 0.7), ("mini_batch_size", 2)])
def test_an_option_is_a_setting_of_every_training(monkeypatch, capsys, setting, value):
    asked = []

    def play(runs, *_):
        asked.extend(runs)
        raise SystemExit

    monkeypatch.setattr(command, "play", play)
    option = [f"--{setting.replace('_', '-')}", str(value)]
    for arguments in (["--seeds", "0"], ["--sweep"]):
        monkeypatch.setattr("sys.argv", ["controls", "--methods", "base", "cloning", COACH, *option, *arguments])
        with pytest.raises(SystemExit):
            command.main()
    assert {run.method: run.settings.get(setting) for run in asked} == {"base": None, "cloning": value, COACH: value}
    assert "none of --sweep" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "split"),
    [
        ([], "test"), (["--store", "9"], "validation"), (["--temperature", "0.7"], "validation"),
        (["--max-replayed", "9"], "validation"), (["--mini-batch-size", "2"], "validation"),
        (["--curriculum", "2", "--split", "test"], "test"),
    ],
)  # fmt: skip
def test_settings_that_no_sweep_chose_are_measured_on_validation(monkeypatch, options, split):
    asked = []

    def play(runs, *_):
        asked.extend(runs)
        raise SystemExit

    monkeypatch.setattr(command, "play", play)
    monkeypatch.setattr("sys.argv", ["controls", "--methods", "base", COACH, "--seeds", "0", *options])
    with pytest.raises(SystemExit):
        command.main()
    assert {run.split for run in asked} == {split}


def test_methods_that_cannot_be_compared_are_refused_before_they_train(monkeypatch, capsys):
    monkeypatch.setattr("sys.argv", ["controls", "--methods", "cloning", "coach"])
    with pytest.raises(SystemExit):
        command.main()
    assert "--methods needs base" in capsys.readouterr().err
