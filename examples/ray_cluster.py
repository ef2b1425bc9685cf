"""Environments on the machines of a Ray cluster, and a training on one of them.

    pip install 'coach-gym[ray]'
    ray start --head                                                    # where you train
    ray start --address first-host:6379 --resources '{"phone": 4}'      # on a machine with four phones
    python examples/ray_cluster.py '{"resources": {"phone": 1}}'        # each environment takes one

Without a cluster or an argument, Ray starts one on this machine, where each environment takes a CPU.
"""

import json
import sys

import gymnasium as gym
import ray

import coach_gym  # noqa: F401  (registers the environments)
from coach_gym.agents import CoachAgent


def main(actor_options):
    ray.init()  # joins the cluster of this machine or of RAY_ADDRESS, or starts one
    envs = gym.make_vec(
        "AndroidWorld-v0", num_envs=2, vectorization_mode="vector_entry_point",
        workers="ray", actor_options=actor_options,
        screen_size=(270, 600), tasks=["SystemWifiTurnOn"], max_steps=2,
    )  # fmt: skip
    agent = CoachAgent("pocket", envs, batch_size=2, mini_batch_size=2, max_new_tokens=48)
    agent.learn(total_timesteps=4)
    print("machines:", sum(node["Alive"] for node in ray.nodes()), "steps:", agent.num_timesteps)
    envs.close()


if __name__ == "__main__":
    main(json.loads(sys.argv[1]) if len(sys.argv) > 1 else {"num_cpus": 1})
