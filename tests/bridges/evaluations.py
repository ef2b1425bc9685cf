"""Evaluations by verifiers' own runner, in this process."""

import asyncio

from verifiers.v1.cli.eval.runner import run_eval
from verifiers.v1.configs.cli.eval import EvalConfig

from coach_gym.bridges.verifiers import PLUGIN
from tests.bridges.scripts import SIZE, TASK


def evaluated(server, folder, tasks=1, player=None, **taskset):
    """The episodes of an evaluation, with a server on loopback as the model."""
    config = EvalConfig(
        env={
            "taskset": {
                "id": PLUGIN, "env": TASK["env"], "settings": {"screen_size": SIZE}, "seeds": tasks,
                "first_seed": 3, **taskset,
            },
            "player": player or {},
        },
        client={"base_url": server.url, "api_key_var": "NO_KEY_NEEDED"}, model="scripted", push=False, rich=None,
        max_concurrent=2, output_dir=folder, run={"dir": "run"},
    )  # fmt: skip
    return asyncio.run(run_eval(config))
