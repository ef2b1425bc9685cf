"""What `pip install` brings is the whole package: a folder that is no package, or a data file, is easily forgotten."""

import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

ROOT = Path(__file__).parents[2]
SOURCES = ("coach_gym", "coach_gym_verifiers", "agents", "envs")


def test_a_wheel_holds_every_file_of_the_package(tmp_path: Path) -> None:
    copy = tmp_path / "source"  # a build leaves files in its folder, and takes old ones from there
    for name in SOURCES:
        shutil.copytree(ROOT / name, copy / name, symlinks=True, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("setup.cfg", "pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, copy)
    build = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation", "--wheel-dir"]
    subprocess.run([*build, str(tmp_path), str(copy)], check=True, timeout=300)
    (wheel,) = tmp_path.glob("*.whl")
    packed = {name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name}
    tracked = subprocess.run(["git", "ls-files", *SOURCES], cwd=ROOT, check=True, capture_output=True, text=True).stdout
    links = {path.relative_to(ROOT).as_posix() for path in (ROOT / "coach_gym").iterdir() if path.is_symlink()}
    missing = {_installed(name) for name in tracked.split() if name not in links} - packed
    assert not missing, sorted(missing)


def _installed(name: str) -> str:
    """Where a file of this repository is installed: `agents/` and `envs/` lie beside the package they belong to."""
    return name if name.startswith("coach_gym") else f"coach_gym/{name}"
