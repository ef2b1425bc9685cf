"""README, CONTRIBUTING and docs: their code runs, their commands parse, their links and paths exist."""

import argparse
import ast
import builtins
import importlib
import re
import shlex
from pathlib import Path

import pytest

from coach_gym.__main__ import COMMANDS
from tests.docs.pasted import run_alone

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples"  # has the app of docs/how_to/add_an_app.md
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
FENCE = re.compile(r"^```(\w+)\n(.*?)^```", re.MULTILINE | re.DOTALL)
NOT_RUN = re.compile(r"<!-- not run: (.+) -->\n\Z")  # above a block that cannot run here
LINK = re.compile(r"(?:\]\(|src=\"|srcset=\")([^)#\"]+)[)\"]")
PATH = re.compile(r"`((?:agents|envs|benchmarks|coach_gym|docs|tests)/[\w/.]+)`")
ELSEWHERE = (  # of make test-bridges and test-openenv, and a package that we do without
    "from trl import", "verifiers.v1", "from openenv", "from ors", "import wandb",
)  # fmt: skip
TORCHRUN = {"--nproc-per-node", "--nnodes", "--rdzv-backend", "--rdzv-endpoint"}
SETTINGS = {  # of agents and engines, which the commands pass on
    "train": ["--critic", "--batch_size", "--bfloat16", "--checkpoint_activations", "--generation", "--max_staleness",
              "--lora_rank", "--cpu_offload", "--learning_rate", "--recompute_log_probs"],
    "data": ["--screen_size", "--tasks"],
    "critic": ["--bfloat16", "--checkpoint_activations"],
    "serve": ["--max_model_len"],
    "evaluate": ["--suite", "--device", "--screen_size", "--split"],
    "openenv": ["--screen_size"],
    "ors": ["--screen_size"],
}
SMALLER = {
    '"pocket", envs, tensorboard_log': '"pocket", envs, batch_size=2, tensorboard_log',
    'CoachAgent("pocket", envs)': 'CoachAgent("pocket", envs, batch_size=2)',
    "total_timesteps=2_000": "total_timesteps=16",
    "total_timesteps=1_500": "total_timesteps=16",
    "total_timesteps=1_000": "total_timesteps=8",
    "n_eval_episodes=40": "n_eval_episodes=2",
    "n_eval_episodes=8": "n_eval_episodes=2",
    "num_envs=8": "num_envs=2",
    "progress_bar=True": "progress_bar=False",
}


def blocks(language):
    return [
        pytest.param(page, found[2], id=f"{page.stem}-{number}")
        for page in PAGES
        for number, found in enumerate(FENCE.finditer(page.read_text()))
        if found[1] == language and not any(each in found[2] for each in ELSEWHERE)
    ]


def python_to_run():
    """The Python blocks, skipped where a comment above says why they cannot run here."""
    for page in PAGES:
        text = page.read_text()
        for number, found in enumerate(FENCE.finditer(text)):
            if found[1] == "python" and not any(each in found[2] for each in ELSEWHERE):
                reason = NOT_RUN.search(text, 0, found.start())
                marks = [pytest.mark.skip(reason=reason[1])] if reason else []
                yield pytest.param(found[2], id=f"{page.stem}-{number}", marks=marks)


@pytest.mark.parametrize(("page", "code"), blocks("python"))
def test_blocks_import_what_exists_and_use_only_what_they_define(page, code, monkeypatch):
    monkeypatch.syspath_prepend(str(EXAMPLES))
    tree = ast.parse(code)
    defined = set(vars(builtins))
    for node in ast.walk(tree):
        match node:
            case ast.Import(names):
                for alias in names:
                    importlib.import_module(alias.name)
                    defined.add(alias.asname or alias.name.partition(".")[0])
            case ast.ImportFrom(module, names):
                for alias in names:
                    if not hasattr(importlib.import_module(module), alias.name):
                        importlib.import_module(f"{module}.{alias.name}")
                    defined.add(alias.asname or alias.name)
            case ast.FunctionDef(name) | ast.AsyncFunctionDef(name) | ast.ClassDef(name) | ast.arg(name):
                defined.add(name)
            case ast.Name(name, ast.Store()):
                defined.add(name)
    used = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    assert used <= defined


@pytest.mark.slow
@pytest.mark.parametrize("code", python_to_run())
def test_a_block_runs_when_pasted_alone(code, tmp_path, monkeypatch):
    """In a folder and a process of its own, which has imported nothing of ours."""
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    for large, small in SMALLER.items():
        code = code.replace(large, small)
    path = f"import sys\nsys.path.insert(0, {str(EXAMPLES)!r})\n" if "shopping_list" in code else ""
    printed = run_alone(path + code, tmp_path)
    assert printed is None, f"{code}\n{printed}"


@pytest.mark.parametrize(("page", "text"), blocks("console"))
def test_commands_exist_and_take_their_options(page, text):
    for line in text.replace("\\\n", " ").splitlines():
        for command in line.removeprefix("$ ").partition(" #")[0].split(" && "):
            words = shlex.split(command)
            options = [word for word in words if word.startswith("--")]
            if words[:1] == ["make"]:
                assert f"\n{words[1]}:" in (ROOT / "Makefile").read_text()
            elif words[:1] == ["coach-gym"]:
                assert set(options) <= options_of(words[1])
            elif " -m coach_gym " in command:
                assert set(options) <= options_of(words[words.index("coach_gym") + 1]) | TORCHRUN
            elif words[:2] == ["python", "-m"] and words[2].startswith("benchmarks."):
                path = ROOT / words[2].replace(".", "/")
                path = path / "__main__.py" if path.is_dir() else path.with_suffix(".py")
                source = with_imports(path.read_text())
                assert all(f'"{option}"' in source for option in options), command


def with_imports(source):
    """A benchmark's source, and that of the benchmarks' modules from which it imports."""
    names = re.findall(r"^from (benchmarks\.[\w.]+) import", source, re.MULTILINE)
    paths = [(ROOT / name.replace(".", "/")).with_suffix(".py") for name in names]
    return source + "".join(path.read_text() for path in paths if path.exists())


def options_of(command):
    parser = argparse.ArgumentParser()
    COMMANDS[command][0].add_arguments(parser)
    return {*_options_in(parser), *SETTINGS.get(command, ())}


def _options_in(parser):
    """The options of a command and of its own subcommands."""
    parts = [each for action in parser._actions if isinstance(action, argparse._SubParsersAction)
             for each in action.choices.values()]  # fmt: skip
    return {*parser._option_string_actions, *(option for part in parts for option in _options_in(part))}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_links_and_paths_exist(page):
    text = page.read_text()
    for target in LINK.findall(text):
        assert "://" in target or (page.parent / target).exists(), target
    for path in PATH.findall(text):
        assert (ROOT / path).exists(), path


def test_every_page_can_be_reached_from_the_readme():
    seen, todo = set(), [ROOT / "README.md"]
    while todo:
        page = todo.pop()
        if page not in seen:
            seen.add(page)
            links = LINK.findall(page.read_text())
            todo += [(page.parent / target).resolve() for target in links if target.endswith(".md")]
    assert {page.resolve() for page in PAGES} <= {page.resolve() for page in seen}
