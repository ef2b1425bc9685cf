"""Imports go one way: no file of agents/ imports itself, directly or through others."""

import ast
from graphlib import TopologicalSorter
from pathlib import Path

import coach_gym
from coach_gym import agents

ROOT = Path(coach_gym.__file__).parent


def imported(path: Path) -> set[str]:
    """Returns our modules that a file imports anywhere, including inside functions and for types."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module:
            found |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
        elif isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
    return {name for name in found if name.startswith("coach_gym.")}


def files(folder: str) -> dict[str, Path]:
    """Returns the files of a folder by module name."""
    return {
        ".".join(["coach_gym", *path.relative_to(ROOT).with_suffix("").parts]).removesuffix(".__init__"): path
        for path in (ROOT / folder).rglob("*.py")
    }


def test_no_circles():
    mine = files("agents")
    graph = {name: imported(path) & mine.keys() - {name} for name, path in mine.items()}
    assert len(graph) > 40
    TopologicalSorter(graph).prepare()  # raises CycleError, which names the circle


def test_environments_import_no_agents():
    for name, path in files("envs").items():
        assert not [each for each in imported(path) if each.startswith("coach_gym.agents")], name


def test_agents_import_no_environments():
    """Only the code that makes the pocket models does, because it records demonstrations."""
    for name, path in files("agents").items():
        if not name.startswith("coach_gym.agents.pocket"):
            assert not [each for each in imported(path) if each.startswith("coach_gym.envs")], name


def test_the_public_surface_is_there():
    assert agents.__all__ == sorted(agents.__all__)
    assert all(getattr(agents, name).__doc__ for name in agents.__all__)
