"""A stand-in for Android's emulator: it takes the emulator's options and serves an embedded phone on their ports.

How it behaves stands in ``behaviour.json`` in the folder of virtual devices: ``boot_seconds`` before anything answers,
or ``last_words`` to end with at once. To hang or to die it is sent SIGSTOP or SIGKILL, as any process.
"""

import argparse
import json
import os
import sys
import time
from pathlib import Path

from coach_gym.envs.phone.servers.console import auth_token
from coach_gym.envs.phone.servers.server import PhoneServer
from coach_gym.envs.profiles import world_phone

SIZE = (270, 600)


def options():
    parser = argparse.ArgumentParser(allow_abbrev=False)
    parser.add_argument("-avd", required=True)
    parser.add_argument("-ports", required=True)
    parser.add_argument("-grpc", type=int, required=True)
    parser.add_argument("-snapshot")
    for flag in ("-no-window", "-no-audio", "-no-boot-anim", "-no-snapshot-save"):
        parser.add_argument(flag, action="store_true", required=True)
    return parser.parse_args()


def main():
    given = options()
    home = Path(os.environ["ANDROID_AVD_HOME"])
    behaviour = json.loads((home / "behaviour.json").read_text())
    if not (home / f"{given.avd}.ini").exists():
        sys.exit(f"PANIC: Unknown AVD name [{given.avd}]")
    if "last_words" in behaviour:
        sys.exit(behaviour["last_words"])
    time.sleep(behaviour.get("boot_seconds", 0.0))
    serve(*map(int, given.ports.split(",")), given.grpc, given.snapshot)


def serve(console, adb, grpc, snapshot):
    phone = world_phone(*SIZE)
    with PhoneServer(phone, adb, console, grpc, token=auth_token()) as server:
        server.hardware.save(snapshot or "default_boot")
        server.hardware.killed.wait()


if __name__ == "__main__":
    main()
