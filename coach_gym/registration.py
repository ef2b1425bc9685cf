"""The Gymnasium ids: one for each benchmark, and one for each of its tasks."""

import gymnasium as gym

from coach_gym.envs.suites.load import load_suite

NAMESPACES = {"AndroidWorld": "android_world", "AndroidLab": "android_lab", "AndroidSight": "android_sight"}


BOTH = "AndroidWorldAndLab-v0"
"""Id of the environment that draws from AndroidWorld's and AndroidLab's tasks."""


def register_envs() -> None:
    """Registers `AndroidWorld-v0`, which draws its tasks, `AndroidWorld/<Task>-v0`, and the like for
    AndroidLab and AndroidSight; and the environment of the first two together."""
    for namespace, benchmark in NAMESPACES.items():
        _register(f"{namespace}-v0", benchmark=benchmark)
        for task in load_suite(benchmark).families:
            _register(f"{namespace}/{task}-v0", benchmark=benchmark, tasks=(task,))
    gym.register(
        BOTH,
        entry_point="coach_gym.envs.both:BothBenchmarks",
        vector_entry_point="coach_gym.envs.make:make_both_vector_env",
        nondeterministic=True,
        disable_env_checker=True,
    )


def env_ids() -> list[str]:
    """Returns all ids that `register_envs` registered."""
    return [id for id in gym.registry if id.split("/")[0].removesuffix("-v0") in NAMESPACES or id == BOTH]


def _register(id: str, **kwargs: object) -> None:
    gym.register(
        id,
        entry_point="coach_gym.envs.android:AndroidEnv",
        vector_entry_point="coach_gym.envs.make:make_vector_env",
        kwargs=kwargs,
        nondeterministic=True,  # info["step_latency"] is measured; the embedded phone is deterministic
        disable_env_checker=True,  # after a first reset that was refused, Gymnasium 1.4's returns nothing from steps
    )
