"""One training on several processes, or machines: each plays its own environments and holds a shard of the weights.

    torchrun --nproc-per-node 2 examples/several_processes.py

On several machines, start the same on each, with a first machine that the others reach:

    torchrun --nnodes 2 --nproc-per-node 8 --rdzv-backend c10d --rdzv-endpoint first-host:29500 \
        examples/several_processes.py

This runs on CPUs over gloo, as here. On GPUs over nccl and on several machines nobody has run it yet.
"""

import os

import gymnasium as gym
import torch
from torch import distributed

import coach_gym  # noqa: F401  (registers the environments)
from coach_gym.agents import CoachAgent


def main():
    if torch.cuda.is_available():
        distributed.init_process_group("cpu:gloo,cuda:nccl")
        torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
    else:
        distributed.init_process_group("gloo")
    envs = gym.make_vec(
        "AndroidWorld-v0", num_envs=1, vectorization_mode="vector_entry_point",  # those of this process
        screen_size=(270, 600), tasks=["SystemWifiTurnOn"], max_steps=2,
    )  # fmt: skip
    agent = CoachAgent("pocket", envs, batch_size=2, mini_batch_size=2, max_new_tokens=48, device="cpu")
    agent.learn(total_timesteps=4)  # shards the models, and counts the steps of all processes
    agent.save("several_processes_agent")  # whole weights, written by the first process
    if distributed.get_rank() == 0:
        print("processes:", distributed.get_world_size(), "steps:", agent.num_timesteps)
    envs.close()
    distributed.barrier()  # without it gloo's threads may hold a tensor while Python ends, and abort the process
    distributed.destroy_process_group()


if __name__ == "__main__":
    main()
