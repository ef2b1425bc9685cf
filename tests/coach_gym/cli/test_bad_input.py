"""What is wrong in files, names and numbers is told in a sentence, and nothing is begun."""

import json
from pathlib import Path

import gymnasium as gym
import pytest

from coach_gym.__main__ import main
from coach_gym.agents.data.labels import LABELS, SETTINGS
from coach_gym.envs.errors import TaskError
from tests.envs import served_phone

EXAMPLES = Path(__file__).parents[3] / "examples"
MISTAKEN = """
from coach_gym.envs.tasks.task import Task

class Mistaken(Task):
    apps = ("Settings",)
    template = "Do nothing."
    budget = 3

    def setup(self, device):
        {}["nothing"]

    def evaluate(self, device, answer):
        return 0.0

TASKS = (Mistaken,)
"""
DOCTOR = "coach-gym doctor --for device --device"
HALF = '{"about": '


@pytest.fixture(scope="module")
def adb():
    """Port of an adb server that knows no device."""
    with served_phone.adb_server() as port:
        yield port


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch, adb):
    """The working folder, with damaged files of every kind."""
    monkeypatch.setenv("ANDROID_ADB_SERVER_PORT", str(adb))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    files = {
        "half.toml": "k = [4,", "half.json": '{"k": ', "list.json": "[4]", "ledger/episodes.json": HALF,
        "list/episodes.json": "[]", "episode/a.npz": "PK", "model/config.json": HALF, f"labels/{LABELS}": HALF,
        f"empty/{LABELS}": "", f"empty/{SETTINGS}": json.dumps({"settings": {"folders": []}}),
        f"stranger/{LABELS}": json.dumps(
            {"folder": 3, "episode": "a", "step": 0, "response": "", "action": "", "good": True}
        ),
        f"stranger/{SETTINGS}": json.dumps({"settings": {"folders": []}}),
        f"settings/{SETTINGS}": HALF, "episodes/episodes.json": json.dumps({"about": None, "done": {}}),
        "shards/android_control-00000-of-00001": "garbage, and more of it", "shards/splits.json": HALF,
        "pool.jsonl": HALF, "unknown.toml": "env.worker = 'thread'", "empty.toml": "attached = [{serials = []}]",
        "away.toml": "attached = [{host = '127.0.0.1', ports = [1, 3]}]", "away_env.toml": "env.device = '127.0.0.1:3'",
        "away_lab.toml": "env.lab.device = '127.0.0.1:3'", "results.jsonl": HALF + "\n",
        "text.toml": "env = 'AndroidLab-v0'",
    }  # fmt: skip
    for name, text in files.items():
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    return tmp_path


@pytest.mark.parametrize(
    ("command", "told"),
    [
        ("data androidcontrol nowhere", "nowhere has no files android_control"),
        ("data androidcontrol shards", "is damaged in record 0: .* download it again"),
        ("data androidcontrol shards --split train", "splits.json cannot be read .* download it again"),
        ("data experts --env Nope-v0", "`Nope` doesn't exist"),
        ("data experts --episodes 0", "episodes=0 is too small; pass 1 or more"),
        ("data rollouts --policy nowhere", "the model nowhere cannot be loaded: there is no such directory"),
        ("train --steps 8 --policy nowhere", "there is no such directory, and a hub id has the form owner/name"),
        ("label episodes --policy nowhere", "a hub id has the form owner/name"),
        ("sft prm labels --model nowhere", "a hub id has the form owner/name"),
        ("critic --policy nowhere", "a hub id has the form owner/name"),
        ("evaluate --agent nowhere", "a hub id has the form owner/name"),
        ("data rollouts --temperature -1", "temperature=-1.0 is not above 0"),
        ("label nowhere", "nowhere holds no episodes; make some with coach-gym data"),
        ("label ledger", "episodes.json is damaged .* remove it"),
        ("label list", "episodes.json is damaged .* remove it"),
        ("label episode", "the episode episode/a.npz cannot be read .* repeat the command that wrote it"),
        ("label episodes --policy model", "the model model cannot be loaded: its config.json cannot be read"),
        ("label episodes --candidates 0", "candidates=0 is too small"),
        ("label episodes --max-prompt-length 0", "max_prompt_length=0 is too small; pass 1 or more"),
        ("label episodes --seed -1", "seed=-1 is too small; pass 0 or more"),
        ("sft policy episodes --max-prompt-length -5", "max_prompt_length=-5 is too small; pass 1 or more"),
        ("sft policy episodes --workers 1000000", "workers=1000000 is too large; pass 1024 or less"),
        ("sft policy episodes --seed 4294967296", "seed=4294967296 is too large; pass 4294967295 or less"),
        ("sft policy episodes --seed -1", "seed=-1 is too small; pass 0 or more"),
        ("sft prm labels --model pocket", "the labels in labels are damaged .* repeat the coach-gym label"),
        ("sft prm stranger", "labels are of other folders than the 0"),
        ("sft prm empty --batch-size 0", "batch_size=0 is too small"),
        ("sft prm empty --epochs 0", "epochs=0.0 is not above 0"),
        ("sft prm empty --template nowhere.txt", "nowhere.txt"),
        ("critic --labels labels", "the labels in labels are damaged"),
        ("critic --config half.toml", "the settings in half.toml cannot be read .* mend the file"),
        ("critic --env Nope-v0", "`Nope` doesn't exist"),
        ("train --steps 8 --config half.json", "the settings in half.json cannot be read"),
        ("train --steps 8 --config list.json", "list.json holds a list, not settings by name"),
        ("train --steps 0", "steps=0 is too small"),
        ("evaluate --agent random --android-lab pool.jsonl", "android_lab='pool.jsonl' cannot be written to"),
        ("train --steps 8 --keep 0", "keep=0 is too small; pass 1 or more"),
        ("train --steps 8 --eval-every 0", "eval_every=0 is too small; pass 1 or more"),
        ("train --steps 8 --eval-every 8 --eval-episodes -1", "eval_episodes=-1 is too small; pass 1 or more"),
        ("train --steps 8 --env Nope-v0", "`Nope` doesn't exist"),
        ("train --steps 8 --pool pool.jsonl", "line 1 of pool.jsonl is no task"),
        ("train --steps 8 --k two", "k='two' is of type str; pass a whole number"),
        ("train --steps 8 --kk 2", "CoachAgent has no argument 'kk'; did you mean 'k'"),
        ("evaluate --agent random --config text.toml", "env = 'AndroidLab-v0' in text.toml is no table; .* pass --env"),
        ("evaluate --runs 0", "runs=0 is too small"),
        ("evaluate --agent random --runs 99999999999", r"runs=99999999999 is too large; pass \d+ or less"),
        ("data rollouts --episodes 999999999999", "episodes=999999999999 is too large; pass 1048576 or less"),
        ("data export nowhere", "there are no episodes at nowhere"),
        ("data export half.json", "half.json is no episode that can be read .*; put back a copy"),
        ("evaluate --agent random --env Nope-v0", "`Nope` doesn't exist"),
        ("evaluate --agent random --device half.toml", "the fleet in half.toml cannot be read"),
        ("evaluate --agent random --device=", "device='' is unknown; pass 'phone'"),
        ("evaluate --agent random --device []", "device=\\[\\] is of type list; pass the name of a device"),
        ("evaluate --agent random --device 127.0.0.1:1", f"127.0.0.1:1 did not appear .* {DOCTOR} 127.0.0.1:1"),
        ("evaluate --agent expert --device emulator-5998", f"emulator-5998 did not appear .* {DOCTOR} emulator-5998"),
        ("evaluate --agent random --device empty.toml", "empty.toml has 0 emulators .* and 0 attached devices"),
        ("evaluate --agent random --device away.toml", f"127.0.0.1:1 did not .*; 127.0.0.1:3 did not .* {DOCTOR}"),
        ("data experts --device android_env:5998", f"emulator-5998 did not appear .* {DOCTOR} emulator-5998"),
        ("data rollouts --device 127.0.0.1:1", f"127.0.0.1:1 did not appear .* {DOCTOR} 127.0.0.1:1"),
        ("train --steps 8 --config away_env.toml", f"127.0.0.1:3 did not appear .* {DOCTOR} 127.0.0.1:3"),
        ("critic --config away_env.toml", f"127.0.0.1:3 did not appear .* {DOCTOR} 127.0.0.1:3"),
        ("train --steps 8 --env AndroidWorldAndLab-v0 --config away_lab.toml", "127.0.0.1:3 did not appear"),
        ("evaluate --agent random --taks 3", "AndroidEnv has no argument 'taks'; did you mean 'tasks'"),
        ("evaluate --agent expert --taks 3", "AndroidEnv has no argument 'taks'; did you mean 'tasks'"),
        ("evaluate --agent random --zzz 3", "AndroidEnv has no argument 'zzz'; help\\(AndroidEnv\\) lists all"),
        ("evaluate --agent random --env CartPole-v1", "CartPoleEnv has no suite of tasks"),
        ("evaluate --agent expert --env CartPole-v1", "CartPoleEnv has no suite of tasks"),
        ("evaluate --agent random --json nowhere/x.json", "No such file or directory: 'nowhere/x.json'"),
        ("evaluate --agent random --csv labels", "Is a directory: 'labels'"),
        ("evaluate --agent random --env AndroidWorldAndLab-v0", "BothBenchmarks has no suite of tasks"),
        ("evaluate --agent random --tasks ClockTimerEntry", "tasks='ClockTimerEntry' is of type str; pass a list"),
        ("evaluate --agent random --tasks 3", "tasks=3 is of type int; pass a list of names"),
        ("evaluate --agent random --apps shopping", "apps='shopping' is of type str; pass a list of names"),
        ("evaluate --agent random --pool 4", "pool=4 is of type int; pass a file"),
        ("evaluate --agent random --screen_size 3", "screen_size=3 must be a width and a height"),
        ("tasks --from nowhere.jsonl", "No such file or directory: 'nowhere.jsonl'"),
        ("data experts --taks 3", "AndroidEnv has no argument 'taks'; did you mean 'tasks'"),
        ("data rollouts --taks 3", "AndroidEnv has no argument 'taks'; did you mean 'tasks'"),
        ("train --steps 8 --config unknown.toml", "AndroidEnv has no argument 'worker'; did you mean 'workers'"),
        ("train --steps 8 --env AndroidWorldAndLab-v0 --config unknown.toml", "BothBenchmarks has no .* 'worker'"),
        ("critic --config unknown.toml", "AndroidEnv has no argument 'worker'; did you mean 'workers'"),
    ],
)
def test_bad_input_is_a_sentence(folder, command, told):
    before = {path for path in folder.rglob("*")}
    with pytest.raises(SystemExit, match=told) as ended:
        main([*command.split(), "--out", "out"])
    assert isinstance(ended.value.code, str)
    assert {path for path in folder.rglob("*")} - before <= {folder / "out", folder / "out" / SETTINGS} | {
        folder / "out" / "candidates.jsonl",
    }  # fmt: skip


@pytest.mark.parametrize("command", [
    "data experts", "data rollouts", "data androidcontrol shards", "data export half.json --format androidcontrol",
    "label episodes", "sft policy episodes", "phone --web 0", "mcp",
])  # fmt: skip
def test_what_is_no_folder_is_not_written_to(folder, command):
    with pytest.raises(SystemExit, match="out='half.json/x' cannot be written to .*; pass another folder"):
        main([*command.split(), "--out", "half.json/x"])
    assert (folder / "half.json").read_text() == '{"k": '


@pytest.mark.parametrize("command", ["data experts --out", "label", "evaluate --json", "view", "phone --out"])
def test_an_empty_path_is_not_the_current_folder(command, capsys):
    with pytest.raises(SystemExit):
        main([*command.split(), ""])
    assert "the path is empty; pass . for the current folder" in capsys.readouterr().err


@pytest.mark.parametrize(("options", "told"), [
    ("--export nowhere/x.html", "No such file or directory: 'nowhere/x.html'"), ("--export .", "Is a directory: '.'"),
    ("--export x.html --episodes 0", "episodes=0 is too small"), ("--export x.html", "there are no runs in model"),
])  # fmt: skip
def test_pages_that_cannot_be_exported(folder, options, told):
    with pytest.raises(SystemExit, match=told):
        main(["view", "model", *options.split()])
    assert not (folder / "x.html").exists()


@pytest.mark.parametrize("command", ["mcp", "phone --web 0"])
@pytest.mark.parametrize("device", ["127.0.0.1:1", "emulator-5998", "nowhere"])
def test_devices_to_show_must_be_there(command, device):
    with pytest.raises(SystemExit, match=f"Cannot open {device}: .*({DOCTOR}|pass 'phone')"):
        main([*command.split(), "--device", device])


def test_trainings_must_have_a_folder():
    with pytest.raises(SystemExit, match="out='pool.jsonl/run' cannot be written to .*; pass another folder"):
        main("train --steps 8 --out pool.jsonl/run".split())


@pytest.mark.parametrize("out", [".", "model", "/proc/e.jsonl"])
def test_results_must_have_a_file(out):
    with pytest.raises(SystemExit, match=f"(Is a directory|No such file or directory|Permission denied): '{out}'"):
        main(["evaluate", "--agent", "random", "--out", out])


@pytest.mark.parametrize(("command", "told"), [
    ("phone --width 0", "width=0 is too small"), ("phone --height -1", "height=-1 is too small"),
    ("phone --width 99999", "width=99999 is too large; pass 16384 or less"), ("mcp --height 99999", "height=99999 is"),
    ("phone --count 99999", "count=99999 is too large; pass 29991 or less"),
    ("phone --count -1", "count=-1 is too small"), ("phone --count 0", "count=0 is too small"),
    ("phone --port 99999", "port=99999 is no port"), ("phone --web 99999", "Cannot open the port 99999"),
    ("phone --grpc-port -1", "port=-1 is too small"), ("mcp --width -5", "-5 is too small"),
])  # fmt: skip
def test_phones_that_cannot_be_served(command, told, monkeypatch):
    monkeypatch.setenv("HOME", str(Path.cwd()))
    with pytest.raises(SystemExit, match=told) as ended:
        main(command.split())
    assert isinstance(ended.value.code, str)


@pytest.mark.parametrize(
    ("option", "told"),
    [
        ("--gpus 0", "gpus=0 is too small"), ("--k 0", "k=0 is too small"), ("--turns 0", "turns=0 is too small"),
        ("--gpu-memory 0", "gpu_memory=0.0 is not above 0"), ("--max-pixels 0", "max_pixels=0 is too small"),
        ("--lora-rank -1", "lora_rank=-1 is too small"), ("--screen wide", "'wide' is no width and height"),
        ("--model nowhere", "the model nowhere cannot be loaded"), ("--model model", "its config.json cannot be read"),
    ],
)  # fmt: skip
def test_plans_of_nothing_are_refused(option, told):
    with pytest.raises(SystemExit, match=told):
        main(["plan", *option.split()])


def test_a_refused_training_leaves_its_folder_free(folder):
    for k in ("two", "0"):
        with pytest.raises(SystemExit, match=f"k='?{k}"):
            main(f"train --steps 8 --k {k} --out out".split())
    assert not (folder / "out").exists()


def test_settings_of_labels_that_cannot_be_read_are_not_written_over(folder):
    with pytest.raises(SystemExit, match="label.json is damaged"):
        main("label episodes --out settings".split())
    assert (folder / "settings" / SETTINGS).read_text() == HALF


def test_a_file_of_another_evaluation_is_left_as_it_is(folder):
    with pytest.raises(SystemExit, match="results.jsonl holds no results of an evaluation, or damaged ones"):
        main("evaluate --agent random --out results.jsonl".split())
    assert (folder / "results.jsonl").read_text() == HALF + "\n"
    (folder / "results.jsonl").write_text('{"evaluation": {"agent": "random"}}\n')
    with pytest.raises(SystemExit, match="with agent='random' and not 'expert'; choose another file"):
        main("evaluate --agent expert --out results.jsonl".split())


@pytest.mark.parametrize("id", ["AndroidWorld-v0", "AndroidWorld/ClockTimerEntry-v0", "AndroidWorldAndLab-v0"])
@pytest.mark.parametrize("settings", [{"screensize": (270, 600)}, {"worker": "thread"}])
def test_unknown_arguments_of_vector_environments_are_named(id, settings):
    with pytest.raises(TypeError, match="has no argument '(screensize|worker)'; did you mean '(screen_size|workers)'"):
        gym.make_vec(id, 2, vectorization_mode="vector_entry_point", **settings)


@pytest.mark.parametrize("part", ["world", "lab"])
def test_unknown_arguments_of_one_benchmark_are_named(part):
    with pytest.raises(TypeError, match="AndroidEnv has no argument 'screensize'; did you mean 'screen_size'"):
        gym.make_vec("AndroidWorldAndLab-v0", 2, vectorization_mode="vector_entry_point", **{part: {"screensize": 3}})


@pytest.mark.parametrize("command", ["evaluate --agent random", "data experts", "data rollouts --num-envs 1"])
def test_a_mistake_in_the_users_own_task_keeps_its_traceback(folder, command, monkeypatch):
    monkeypatch.syspath_prepend(str(EXAMPLES))
    monkeypatch.syspath_prepend(str(folder))
    (folder / "mistaken").mkdir()
    (folder / "mistaken" / "app.py").write_text("from shopping_list.app import APP")
    (folder / "mistaken" / "tasks.py").write_text(MISTAKEN)
    words = [*command.split(), "--apps", '["mistaken"]', "--tasks", '["Mistaken"]', "--screen_size", "[270,600]"]
    with pytest.raises(TaskError, match="raised KeyError: 'nothing'") as raised:
        main([*words, "--out", "out"])
    assert raised.value.__cause__.__traceback__ is not None
