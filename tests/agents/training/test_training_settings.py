"""Hyper-parameters that lie beside a saved model become the defaults of its agents."""

import inspect
import json

import pytest

from benchmarks.controls.methods import METHODS, chosen
from coach_gym.agents import CoachAgent, FilteredCloningAgent, GRPOAgent, PPOAgent, RLOOAgent
from coach_gym.agents.models import training_settings
from coach_gym.agents.models.policy import POCKET, Policy
from coach_gym.agents.training.arguments import _check_type
from tests.agents import tiny

SETTINGS = {
    "learning_rate": 3e-4, "outcome_correction": 0.5, "critic_learning_rate": 2e-5, "batch_size": 4,
    "mini_batch_size": 2, "max_new_tokens": 7, "collection": "rounds",
}  # fmt: skip
SHARED = {"learning_rate": 3e-4, "batch_size": 4, "mini_batch_size": 2, "max_new_tokens": 7, "collection": "rounds"}


@pytest.fixture
def saved(tmp_path):
    tiny.policy().save(tmp_path / "model")
    write(tmp_path / "model", SETTINGS)
    return tmp_path / "model"


def write(model, settings):
    (model / "training.json").write_text(settings if isinstance(settings, str) else json.dumps(settings))


@pytest.mark.parametrize("method", [CoachAgent, PPOAgent, GRPOAgent, FilteredCloningAgent])
def test_an_agent_takes_what_it_accepts_and_says_so_in_a_line(method, saved, capsys):
    agent = method(str(saved), None)
    expected = {name: value for name, value in SETTINGS.items() if name in inspect.signature(method).parameters}
    assert SHARED.items() <= expected.items() and {n: agent.arguments[n] for n in expected} == expected
    assert (agent.batch_size, agent.learning_rate, agent.max_new_tokens) == (4, 3e-4, 7)
    (line,) = capsys.readouterr().out.splitlines()
    assert method.__name__ in line and all(f"{name}={value!r}" in line for name, value in expected.items())
    assert ("outcome_correction" in line) == (method is CoachAgent)


def test_a_class_of_agents_takes_what_is_under_its_name(saved):
    write(saved, {**SETTINGS, "GRPOAgent": {"learning_rate": 1e-5, "group_size": 2}})

    class MyAgent(GRPOAgent):
        pass

    assert [method(saved, None).learning_rate for method in (GRPOAgent, MyAgent, CoachAgent)] == [1e-5, 1e-5, 3e-4]
    assert (GRPOAgent(saved, None).group_size, GRPOAgent(saved, None, 1e-4).learning_rate) == (2, 1e-4)


def test_what_is_given_wins_even_if_it_is_the_default(saved, capsys):
    agent = CoachAgent(saved, None, 1e-6, batch_size=8, outcome_correction=0.0, collection="events")
    assert (agent.learning_rate, agent.batch_size, agent.outcome_correction) == (1e-6, 8, 0.0)
    assert "batch_size=8" not in capsys.readouterr().out
    given = {name: agent.arguments[name] for name in SETTINGS}
    CoachAgent(saved, None, **given)
    assert capsys.readouterr().out == ""


def test_a_smaller_rollout_is_one_mini_batch(saved):
    assert CoachAgent(saved, None, batch_size=1).mini_batch_size is None
    assert CoachAgent(saved, None, batch_size=2).mini_batch_size == 2


def test_a_policy_that_is_given_as_an_object_brings_nothing_into_the_agent(saved, capsys):
    assert CoachAgent(Policy.load(saved), None).batch_size == 8 and capsys.readouterr().out == ""


def test_saved_policies_and_agents_keep_the_file_and_agents_what_was_taken(saved, tmp_path, capsys):
    agent = CoachAgent(saved, None, batch_size=2, seed=0)
    agent.save(tmp_path / "agent")
    assert json.loads((tmp_path / "agent/actor/training.json").read_text()) == SETTINGS
    assert json.loads((tmp_path / "agent/config.json").read_text())["arguments"]["learning_rate"] == 3e-4
    write(saved, {"learning_rate": 1.0})
    capsys.readouterr()
    loaded = CoachAgent.load(tmp_path / "agent")
    assert (loaded.learning_rate, loaded.batch_size, capsys.readouterr().out) == (3e-4, 2, "")
    tiny.policy().save(tmp_path / "plain")
    assert not (tmp_path / "plain/training.json").exists()


def test_a_contradiction_names_what_came_with_the_policy(saved):
    with pytest.raises(ValueError, match="outcome_correction=0.5 corrects") as caught:
        CoachAgent(saved, None, resample=True)
    assert "outcome_correction=0.5" in caught.value.__notes__[0] and "pass others" in caught.value.__notes__[0]
    assert CoachAgent(saved, None, resample=True, outcome_correction=0.0).resample


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("{", "damaged"),
        ("[]", "no JSON object"),
        ("[" * 20_000, "damaged"),
        ('{"learning_rate": NaN}', "NaN is not a finite number"),
        ('{"learning_rate": 1e999}', "learning_rate=inf is not finite"),
        ({"batch_size": "8"}, "batch_size='8' is of type str"),
        ({"batch_size": True}, "batch_size=True is of type bool"),
        ({"batch_size": 0}, "batch_size=0 is too small"),
        ({"collection": "never"}, "collection='never' is unknown"),
        ({"max_new_tokens": "48"}, "max_new_tokens='48' is of type str"),
        ({"k": [4]}, "sets 'k' to a list"),
        ({"k": {"x": 4}}, "k={'x': 4} is of type dict"),
        ({"CoachAgent": {"k": {"k": 4}}}, "sets 'k' to a dict"),
        ({"generation": "http://example.com"}, "sets 'generation', which only the user chooses"),
        ({"GRPOAgent": {"generation": "http://example.com"}}, "sets 'generation', which only the user chooses"),
        ({"tensorboard_log": "/tmp"}, "sets 'tensorboard_log', which only the user chooses"),
        ({"reward_model": "openai:spy@http://example.com/v1"}, "no other model than 'pocket'"),
        ({"critic": "/somewhere"}, "no other model than 'pocket'"),
        (json.dumps({"x" * 70_000: 1}), "bytes, and 65536 are allowed"),
    ],
)
def test_a_damaged_or_hostile_file_is_refused(saved, content, message):
    write(saved, content)
    with pytest.raises(ValueError, match=message):
        CoachAgent(saved, None)


def test_a_file_may_choose_nothing_that_sends_reads_or_writes():
    """Every text argument is either a choice among words, the user's alone, or bound to the shipped model."""
    for name, parameter in inspect.signature(CoachAgent).parameters.items():
        try:
            _check_type(name, "http://example.com", parameter)
        except (TypeError, ValueError):
            continue
        assert name in training_settings._USERS or name in training_settings._MODELS, name


def test_the_pockets_settings_are_arguments_of_its_agents():
    settings = training_settings.read_training_settings(POCKET)
    for method in (CoachAgent, PPOAgent, GRPOAgent, RLOOAgent, FilteredCloningAgent):
        parameters = inspect.signature(method).parameters
        for name, value in settings.pop(method.__name__, {}).items():
            _check_type(name, value, parameters[name])
    parameters = inspect.signature(CoachAgent).parameters
    for name, value in settings.items():
        _check_type(name, value, parameters[name])
    assert settings["learning_rate"] > 1e-6 and settings["max_new_tokens"] < 512


def test_the_pockets_settings_are_those_that_the_comparison_chose():
    for name in ("coach", "cloning", "grpo", "ppo"):
        agent = METHODS[name].agent("pocket", None)
        assert chosen()[name].items() <= agent.arguments.items()
