"""Devices that adb reaches, lent to environments: phones, emulators, or served embedded phones.

    coach-gym phone --count 3 --width 270 --height 600        # in another terminal, or use your own devices
    python examples/fleet.py 127.0.0.1:5555 127.0.0.1:5557 127.0.0.1:5559
"""

import sys

import gymnasium as gym

import coach_gym  # noqa: F401  (registers the environments)
from coach_gym.agents import CoachAgent, evaluate
from coach_gym.envs.devices.fleet import Attached, Fleet


def main(serials):
    fleet = Fleet([Attached(serial) for serial in serials], stagger=0.0)
    envs = gym.make_vec(
        "AndroidWorld-v0", num_envs=len(serials) - 1, vectorization_mode="vector_entry_point",  # one device is a spare
        device=fleet, screen_size=(270, 600), tasks=["SystemWifiTurnOnVerify"], max_steps=2,
    )  # fmt: skip
    agent = CoachAgent("pocket", envs, max_new_tokens=48, max_prompt_length=3072)
    print(evaluate(agent, envs, n_eval_episodes=2))
    print("started:", fleet.starts, "faults:", fleet.faults)
    envs.close()
    fleet.close()


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit("usage: python examples/fleet.py SERIAL SERIAL [SERIAL ...], as `adb devices` shows them")
    main(sys.argv[1:])
