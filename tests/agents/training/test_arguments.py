"""Constructor arguments are visible to mypy and help(), and checked before anything is loaded."""

import inspect
import re
import subprocess
import sys
from functools import partial
from pathlib import Path
from typing import Unpack, get_type_hints

import numpy as np
import pytest
import torch
from gymnasium.vector import SyncVectorEnv

import coach_gym
from coach_gym.agents import CoachAgent, FilteredCloningAgent, GRPOAgent, PPOAgent, RLOOAgent
from coach_gym.agents.actor_critic import ActorCriticAgent, ActorCriticSettings
from coach_gym.agents.generation.transformers import TransformersGenerator
from coach_gym.agents.models.policy import Policy
from coach_gym.agents.training.arguments import checked_arguments, require_not_negative
from coach_gym.agents.training.online import OnlineAgent
from coach_gym.agents.training.settings import OnlineSettings
from tests.agents import tiny
from tests.agents.trivial_env import ButtonEnv

METHODS = [CoachAgent, PPOAgent, GRPOAgent, RLOOAgent, FilteredCloningAgent]
NUMBERS = sorted(
    name
    for name, parameter in inspect.signature(CoachAgent).parameters.items()
    if isinstance(parameter.default, float) or (isinstance(parameter.default, int) and parameter.default is not False)
    if not isinstance(parameter.default, bool)
)
FORKED = {"forks": "policy", "reward_model": None}
VARIED = {"vary_answers": True, "execute": "best", "scorer": "reward_model", "outcome_correction": 0.0}


@pytest.fixture
def nothing_loads(monkeypatch):
    monkeypatch.setattr(Policy, "load", lambda *_: pytest.fail("a model was loaded first"))


# ---- what users see ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", METHODS)
def test_the_signature_lists_every_argument(method):
    parameters = inspect.signature(method).parameters
    assert {"policy", "env", "learning_rate", "batch_size", "device", "seed"} <= parameters.keys()
    assert ("critic_learning_rate" in parameters) == (method in (CoachAgent, PPOAgent))
    assert all(each.kind is not inspect.Parameter.VAR_KEYWORD for each in parameters.values())
    assert all(each.annotation is not inspect.Parameter.empty for each in parameters.values())
    assert "max_grad_norm: float = 1.0" in str(inspect.signature(method.__init__))


@pytest.mark.parametrize(("settings", "base"), [(OnlineSettings, OnlineAgent), (ActorCriticSettings, ActorCriticAgent)])
def test_the_types_that_mypy_sees_are_those_of_the_constructor(settings, base):
    positional = ("policy", "env", "learning_rate")
    parameters = inspect.signature(base).parameters
    expected = {name: each.annotation for name, each in parameters.items() if name not in positional}
    assert get_type_hints(settings) == expected


SCRIPT = """
import gymnasium as gym
from coach_gym.agents import CoachAgent, GRPOAgent, PPOAgent

envs = gym.make_vec("AndroidWorld-v0", num_envs=2, vectorization_mode="vector_entry_point")
agent = CoachAgent("pocket", envs, k=4, batch_size=8, critic_learning_rate=1e-5, tensorboard_log="runs")
agent.learn(total_timesteps=100)
"""
WRONG = """
CoachAgent("pocket", envs, critic_lerning_rate=1e-5)
PPOAgent("pocket", envs, batch_sise=8)
GRPOAgent("pocket", envs, group_size="4")
GRPOAgent("pocket", envs, max_staleness="no")
"""


def test_mypy_reports_what_a_users_script_misspells(tmp_path):
    right, wrong = tmp_path / "right.py", tmp_path / "wrong.py"
    right.write_text(SCRIPT)
    wrong.write_text(SCRIPT + WRONG)
    root = Path(coach_gym.__file__).parents[1]
    command = [sys.executable, "-m", "mypy", "--config-file", str(root / "setup.cfg"), str(right), str(wrong)]
    printed = subprocess.run(command, capture_output=True, text=True, cwd=root).stdout
    reported = [line for line in printed.splitlines() if "error:" in line]
    lines = {int(line.split(":")[1]) for line in reported if "wrong.py" in line}
    first = len(SCRIPT.splitlines()) + 2
    assert lines == {first, first + 1, first + 2, first + 3}, printed
    assert "critic_lerning_rate" in printed and "batch_sise" in printed
    assert not [line for line in reported if "right.py" in line]


def test_defaults_are_the_papers():
    defaults = {name: parameter.default for name, parameter in inspect.signature(CoachAgent).parameters.items()}
    paper = {
        "learning_rate": 1e-6, "critic_learning_rate": 1e-5, "clip_range": 0.2, "clip_range_vf": 0.5,
        "max_grad_norm": 1.0, "gamma": 0.95, "process_reward_weight": 0.2, "outcome_reward_weight": 1.0, "k": 4,
        "temperature": 1.0, "max_new_tokens": 512, "max_prompt_length": 32768, "batch_size": 8,
        "critic_warmup_ratio": 0.1, "n_epochs": 1, "critic_epochs": 1,
    }  # fmt: skip
    assert paper.items() <= defaults.items()


# ---- what is refused -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("method", "misspelt", "meant"),
    [
        (CoachAgent, "lerning_rate", "learning_rate"),
        (CoachAgent, "critic_lr_warmup_ratio", "critic_warmup_ratio"),
        (PPOAgent, "gae_lamda", "gae_lambda"),
        (GRPOAgent, "group_sise", "group_size"),
        (GRPOAgent, "tensorboard_logs", "tensorboard_log"),
    ],
)
def test_a_misspelt_argument_names_the_nearest(method, misspelt, meant, nothing_loads):
    with pytest.raises(TypeError, match=f"{method.__name__} has no argument '{misspelt}'; did you mean '{meant}'"):
        method("pocket", None, **{misspelt: 1})
    with pytest.raises(TypeError, match=r"no argument 'xyzzy'; help\("):
        method("pocket", None, xyzzy=1)


def test_a_missing_environment_is_named(nothing_loads):
    with pytest.raises(TypeError, match="missing a required argument: 'env'"):
        CoachAgent("pocket")


@pytest.mark.parametrize("wrong", ["3", [1], None, True, object()])
@pytest.mark.parametrize("name", [name for name in NUMBERS if name != "learning_rate"])
def test_numbers_of_another_type_are_refused(name, wrong, nothing_loads):
    said = rf"{name}=.* is of type {type(wrong).__name__}; pass a (whole )?number.*the default"
    with pytest.raises(TypeError, match=said):
        CoachAgent("pocket", None, **{name: wrong})


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -1, -0.5])
@pytest.mark.parametrize("name", NUMBERS)
def test_numbers_that_are_not_finite_or_negative_are_refused(name, value, nothing_loads):
    with pytest.raises((ValueError, TypeError), match=f"{name}={value}.*pass|{name}={value} must lie"):
        CoachAgent("pocket", None, **{name: value})


@pytest.mark.parametrize("name", [name for name in NUMBERS if name != "seed"])
def test_numbers_that_nothing_is_calculated_with_are_refused(name, nothing_loads):
    value = 1e300 if isinstance(inspect.signature(CoachAgent).parameters[name].default, float) else 1 << 63
    with pytest.raises(ValueError, match=rf"{re.escape(f'{name}={value}')} (is too large|must lie between|exceeds)"):
        CoachAgent("pocket", None, **{name: value})


def test_a_fraction_is_no_number_of_episodes(nothing_loads):
    with pytest.raises(TypeError, match="batch_size=8.0 is of type float; pass a whole number, for example 8"):
        PPOAgent("pocket", None, batch_size=8.0)


@pytest.mark.parametrize(
    ("method", "arguments", "error", "said"),
    [
        (CoachAgent, {"k": 0}, ValueError, "k=0.*pass 1 or more"),
        (CoachAgent, {"discount": "fwd"}, ValueError, "discount='fwd'.*'forward' or 'paper'"),
        (CoachAgent, {"collection": "never"}, ValueError, "collection='never'.*'events' or 'rounds'"),
        (CoachAgent, {"critic_warmup_ratio": 1.5}, ValueError, "critic_warmup_ratio=1.5.*between 0 and 1"),
        (CoachAgent, {"gamma": 95}, ValueError, "gamma=95.*between 0 and 1"),
        (PPOAgent, {"critic_epochs": 0}, ValueError, "critic_epochs=0.*pass 1 or more"),
        (PPOAgent, {"normalize_advantage": 1}, TypeError, "normalize_advantage=1 is of type int; pass True or False"),
        (PPOAgent, {"dialect": "ui_tars"}, ValueError, "there is no dialect 'ui_tars'; known are UITars, "),
        (PPOAgent, {"critic": 7}, TypeError, "critic=7 is of type int; pass text or Path or Critic or None"),
        (CoachAgent, {"reward_model": max}, TypeError, "reward_model=.*pass ProcessRewardModel or text or None"),
        (GRPOAgent, {"learning_rate": "1e-6"}, TypeError, "='1e-6' is of type str; pass a number or a function"),
        (GRPOAgent, {"generation": "vlm"}, ValueError, "generation='vlm' is unknown; pass 'transformers', 'vllm'"),
        (GRPOAgent, {"generation": "http://127.0.0.1:99999"}, ValueError, "99999' is not the address of a gener"),
        (GRPOAgent, {"generation": "http://h:1,http://[::1"}, ValueError, r"'http://\[::1' is not the address"),
        (GRPOAgent, {"max_new_tokens": 0}, ValueError, "max_new_tokens=0.*pass 1 or more"),
        (CoachAgent, {"batch_size": 4, "mini_batch_size": 5}, ValueError, "mini_batch_size=5.*batch_size=4"),
        (CoachAgent, {"batch_size": 10**12}, ValueError, "batch_size=1000000000000 is too large; pass 1048576 or less"),
        (CoachAgent, {"k": 10**9}, ValueError, "k=1000000000 is too large; pass 1048576 or less"),
        (PPOAgent, {"max_new_tokens": 10**12}, ValueError, "max_new_tokens=1000000000000 is too large; pass 1048576"),
        (CoachAgent, {"temperature": 0}, ValueError, "temperature=0.*deterministic=True"),
        (CoachAgent, {"temperature": 1e-40}, ValueError, "temperature=1e-40 is too small.*pass 1e-06 or more"),
        (GRPOAgent, {"rollout_temperature": 1e-40}, ValueError, "rollout_temperature=1e-40 is too small.*or more"),
        (CoachAgent, {"self_imitation": 1 << 63}, ValueError, "self_imitation=9223372036854775808 is too large; pass"),
        (PPOAgent, {"clip_range": 1.5}, ValueError, "clip_range=1.5"),
        (GRPOAgent, {"batch_size": 6}, ValueError, "batch_size=6.*group_size=4.*32"),
        (FilteredCloningAgent, {"replay": -1}, ValueError, "replay=-1.*pass 0 or more"),
        (FilteredCloningAgent, {"reword": 1.5}, ValueError, "reword=1.5 must lie between 0 and 1"),
        (FilteredCloningAgent, {"reword": 0.5, "replay": 0}, ValueError, "reword=0.5.*replay=0 keeps none; pass"),
        (FilteredCloningAgent, {"max_replayed": 0}, ValueError, "max_replayed=0 is too small; pass 1 or more"),
        (FilteredCloningAgent, {"max_replayed": 4, "replay": 0}, ValueError, "=4 is .*=0 keeps none; pass replay"),
        (CoachAgent, {"max_replayed": 4, "self_imitation": None}, ValueError, "=4 is .*=None keeps none; pass self"),
        (CoachAgent, {"rehearsal": "a", "self_imitation": None}, ValueError, "'a' is imitated.*=None imitates none"),
        (CoachAgent, {"max_rehearsed": 4}, ValueError, "max_rehearsed=4.*rehearsal=None has none; pass a folder"),
        (CoachAgent, {"revisit": 0}, ValueError, "revisit=0 is too small; pass 1 or more"),
        (CoachAgent, {"revisit": 8, "max_revisited": 0}, ValueError, "max_revisited=0 is too small; pass 1 or more"),
        (CoachAgent, {"max_revisited": 4}, ValueError, "max_revisited=4, revisit_k=None say .*=None visits none; pass"),
        (CoachAgent, {"revisit": 8, "forks": "policy", "reward_model": None}, ValueError, "revisit=8 draws others in"),
        (CoachAgent, {"revisit": 8, "revisit_k": 1, "baseline": "mean"}, ValueError, "no advantage with k=1; pass k=2"),
        (FilteredCloningAgent, {"max_rehearsed": 0}, ValueError, "max_rehearsed=0 is too small; pass 1 or more"),
        (CoachAgent, {"reword": 1.5}, ValueError, "reword=1.5 must lie between 0 and 1"),
        (CoachAgent, {"reword": 0.5, "self_imitation": None}, ValueError, "=0.5.*self_imitation=None keeps none; pass"),
        (CoachAgent, {"baseline": "median"}, ValueError, "baseline='median' is unknown; pass 'leave_one_out'"),
        (CoachAgent, {"baseline": "mean", "k": 1}, ValueError, "baseline='mean'.*pass k=2 or more"),
        (CoachAgent, {"learn_from_executed": False, "outcome_correction": 1.0}, ValueError, "leaves out of the update"),
        (CoachAgent, FORKED | {"discount_outcome": False}, ValueError, "outcomes, which discount_outc"),
        (CoachAgent, FORKED | {"outcome_reward_weight": 3.0}, ValueError, "outcome_reward_weight=3.0 would"),
        (CoachAgent, FORKED | {"critic_warmup_episodes": 8}, ValueError, "no critic, which .*_episodes=8"),
        (CoachAgent, VARIED | {"recompute_log_probs": True}, ValueError, "recompute_log_probs=True would; pass one of"),
        (FilteredCloningAgent, {"kl_coef": 0.1}, ValueError, "kl_coef=0.1 belong to the policy gradient, which"),
        (FilteredCloningAgent, {"entropy_coef": 0.1}, ValueError, "entropy_coef=0.1 and kl_coef=0.0 belong to the"),
        (GRPOAgent, {"reference": "pocket"}, ValueError, "kl_coef=0 leaves reference='pocket' unused; pass kl_coef"),
        (GRPOAgent, {"group_size": 1}, ValueError, "group_size=1.*pass 2 or more"),
        (GRPOAgent, {"device": "gpu"}, ValueError, "device='gpu' cannot be used .*; pass 'auto', 'cpu' or 'cuda'"),
        (GRPOAgent, {"device": "cuda:63"}, ValueError, "device='cuda:63' cannot be used .*; pass 'auto', 'cpu' or"),
        (PPOAgent, {"device": torch.device("cuda:63")}, ValueError, "device='cuda:63' cannot be used"),
        (CoachAgent, {"device": "meta"}, ValueError, r"device='meta' cannot be used \(.*meta tensors\); pass 'auto'"),
        (CoachAgent, {"device": "privateuseone"}, ValueError, "device='privateuseone' cannot be used .*; pass 'auto'"),
        (GRPOAgent, {"reference": (1, 2)}, TypeError, r"reference=\(1, 2\) is no pair of a model and its processor"),
        (GRPOAgent, {"reference": (1, 2, 3)}, TypeError, r"reference=\(1, 2, 3\) is no pair"),
        (GRPOAgent, {"reference": ""}, ValueError, "reference='' names no model; pass 'pocket', a directory or a hub"),
        (PPOAgent, {"critic": " "}, ValueError, "critic=' ' names no model"),
        (PPOAgent, {"reward_model": ""}, ValueError, "reward_model='' names no model"),
        (PPOAgent, {"outcome_verifier": "rules+"}, ValueError, r"outcome_verifier='rules\+' names no model; pass"),
        (PPOAgent, {"outcome_verifier": ""}, ValueError, "outcome_verifier='' names no model"),
    ],
)
def test_arguments_that_make_no_sense(method, arguments, error, said, nothing_loads):
    with pytest.raises(error, match=said):
        method("pocket", None, **arguments)


@pytest.mark.parametrize("policy", ["", (1, 2), (1, 2, 3), (), (torch.nn.Linear(1, 1), 2)])
def test_a_policy_that_is_none_is_refused(policy, nothing_loads):
    with pytest.raises((TypeError, ValueError), match="policy=.*(names no model|no pair of a model).*; pass"):
        CoachAgent(policy, None)


def test_an_environment_of_another_type_is_refused(nothing_loads):
    with pytest.raises(TypeError, match="env=7 is of type int; pass Env or VectorEnv or text or None"):
        CoachAgent("pocket", 7)


# ---- what is kept --------------------------------------------------------------------------------------------------


def test_the_given_arguments_are_kept_with_the_defaults():
    class Own(PPOAgent):
        def __init__(self, *args, **kwargs):
            super().__init__(*args, gamma=0.5, **kwargs)

    agent = Own(tiny.policy(), None, batch_size=np.int64(4))
    assert agent.arguments["gamma"] == 0.5 and agent.arguments["batch_size"] == 4
    assert agent.arguments["learning_rate"] == 1e-6 and agent.arguments["env"] is None
    assert agent.arguments.keys() == inspect.signature(PPOAgent).parameters.keys()
    agent.gamma = 0.1
    assert agent.arguments["gamma"] == 0.5, "an attribute is not an argument"


def test_schedules_and_makers_of_generators_are_functions():
    make = partial(TransformersGenerator, batch_size=2)
    agent = GRPOAgent(tiny.policy(), None, lambda remaining: 1e-3 * remaining, generation=make)
    assert agent.generator.batch_size == 2
    assert agent.optimizers["policy.optimizer"].param_groups[0]["lr"] == 1e-3
    with pytest.raises(TypeError, match="generation=.*returned a NoneType.*; return a generator"):
        GRPOAgent(tiny.policy(), None, generation=lambda policy: None)


class Reinforce(OnlineAgent):
    """A user's own method: every step counts as much as its episode's outcome, plus a bonus."""

    @checked_arguments(OnlineAgent)
    def __init__(self, policy, env, rate=1e-6, *, bonus: float = 0.1, **shared: Unpack[OnlineSettings]) -> None:
        require_not_negative(bonus=bonus)
        super().__init__(policy, env, rate, **shared)
        self.bonus = bonus

    def train(self, groups):
        episodes = [episode for group in groups for episode in group]
        samples = []
        for episode in episodes:
            advantages = torch.full((episode.length,), episode.outcome + self.bonus)
            samples.append(self.policy_sample(episode, self.tree(episode), advantages))
        self.update_policy(samples)


def test_an_agent_of_a_users_own_is_checked_trained_and_saved(tmp_path):
    with pytest.raises(TypeError, match="Reinforce has no argument 'bonuss'; did you mean 'bonus'"):
        Reinforce("pocket", None, bonuss=0.2)
    with pytest.raises(ValueError, match="bonus=-1"):
        Reinforce("pocket", None, bonus=-1)
    envs = SyncVectorEnv([ButtonEnv] * 4)
    agent = Reinforce(tiny.policy(), envs, 1e-3, bonus=0.5, batch_size=4, max_new_tokens=3, seed=0)
    assert agent.learn(4).n_updates == 1
    agent.save(tmp_path / "agent")
    loaded = Reinforce.load(tmp_path / "agent")
    assert loaded.bonus == 0.5 and loaded.batch_size == 4 and loaded.n_updates == 1
