"""Where Android's SDK and its virtual devices are on this computer."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from pathlib import Path


def sdk_root(environ: Mapping[str, str] = os.environ) -> Path | None:
    """Returns the SDK's folder, from `ANDROID_HOME`, `ANDROID_SDK_ROOT` or Android Studio's usual places, or None."""
    home = Path(environ.get("HOME", "~")).expanduser()
    named = [Path(environ[name]) for name in ("ANDROID_HOME", "ANDROID_SDK_ROOT") if environ.get(name)]
    usual = [home / "Android/Sdk", home / "Library/Android/sdk"]
    return next((folder for folder in (*named, *usual) if folder.is_dir()), None)


def emulator_binary(environ: Mapping[str, str] = os.environ) -> Path | None:
    """Returns the program `emulator` of the SDK, or the one on the path, or None."""
    root = sdk_root(environ)
    if root is not None and (root / "emulator/emulator").is_file():
        return root / "emulator/emulator"
    found = shutil.which("emulator", path=environ.get("PATH", ""))
    return Path(found) if found else None


def avd_home(environ: Mapping[str, str] = os.environ) -> Path:
    """Returns the folder of the virtual devices, which holds `NAME.ini` and `NAME.avd/` for each."""
    if environ.get("ANDROID_AVD_HOME"):
        return Path(environ["ANDROID_AVD_HOME"])
    if environ.get("ANDROID_USER_HOME"):
        return Path(environ["ANDROID_USER_HOME"], "avd")
    return Path(environ.get("HOME", "~")).expanduser() / ".android/avd"


def avd_names(environ: Mapping[str, str] = os.environ) -> list[str]:
    """Returns the names of all virtual devices."""
    return sorted(file.stem for file in avd_home(environ).glob("*.ini"))


def clone_avd(source: str, target: str, home: Path) -> None:
    """Copies a virtual device with its snapshots, unless the copy exists.

    An emulator locks its virtual device, so every emulator needs its own.

    Args:
        source: Name of the virtual device to copy. No emulator may be running on it.
        target: Name of the copy.
        home: Folder of both.

    Raises:
        FileNotFoundError: The source does not exist.
    """
    if (home / f"{target}.ini").exists():
        return
    described = (home / f"{source}.ini").read_text()
    original, copy = _folder(source, described, home), home / f"{target}.avd"
    shutil.rmtree(copy, ignore_errors=True)  # from an interrupted attempt
    shutil.copytree(original, copy, symlinks=True, ignore=shutil.ignore_patterns("*.lock"))

    def renamed(text: str) -> str:
        text = text.replace(str(original), str(copy)).replace(f"{source}.avd", f"{target}.avd")
        lines = (f"{key}={target if value == source else value}" for key, value in _entries(text))
        return "".join(f"{line}\n" for line in lines)

    for file in (*copy.glob("*.ini"), *copy.glob("snapshots/*/*.ini")):
        file.write_text(renamed(file.read_text()))
    # Written last, because its presence means that the copy is complete.
    (home / f"{target}.ini").write_text(renamed(described))


def _folder(name: str, described: str, home: Path) -> Path:
    """Returns the folder with the files of a virtual device."""
    return Path(dict(_entries(described)).get("path", home / f"{name}.avd"))


def _entries(text: str) -> list[tuple[str, str]]:
    pairs = [line.partition("=") for line in text.splitlines() if "=" in line]
    return [(key.strip(), value.strip()) for key, _, value in pairs]
