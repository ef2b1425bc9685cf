"""A training on two nodes: two agents of torchrun, as two machines have, on one machine."""

import os
import subprocess
import sys

from coach_gym.agents import CoachAgent
from tests.agents import tiny
from tests.agents.distributed.test_parallel import BUTTONS, free_port


def test_two_nodes_train_one_agent(tmp_path):
    tiny.policy().save(tmp_path / "tiny")
    command = [
        sys.executable, "-m", "torch.distributed.run", "--nnodes", "2", "--nproc-per-node", "1", "--rdzv-backend",
        "c10d", "--rdzv-endpoint", f"127.0.0.1:{free_port()}", "--rdzv-id", "both", "-m", "coach_gym", "train",
        *BUTTONS, "--policy", tmp_path / "tiny", "--out", tmp_path / "out", "--steps", "12", "--save-every", "6",
        "--batch_size", "6", "--max_new_tokens", "3", "--critic_learning_rate", "1e-3",
    ]  # fmt: skip
    logs = [tmp_path / "first.log", tmp_path / "second.log"]
    nodes = []
    for log in logs:
        with log.open("w") as output:
            words = [str(word) for word in command]
            environment = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONFAULTHANDLER": "1"}
            nodes.append(subprocess.Popen(words, stdout=output, stderr=subprocess.STDOUT, env=environment))
    try:
        codes = [node.wait(timeout=900) for node in nodes]
    finally:
        for node in nodes:
            node.kill()  # its training ends with it
    printed = [log.read_text() for log in logs]
    assert codes == [0, 0], "\n".join(text[-3000:] for text in printed)
    assert sorted("total_timesteps" in text for text in printed) == [False, True], "the first process logs"
    assert CoachAgent.load(tmp_path / "out" / "agent").num_timesteps >= 12
    assert sorted(tmp_path.glob("out/checkpoints/agent_*_steps")), "shards of both"
