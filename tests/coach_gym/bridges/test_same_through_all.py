"""The same task, seed and actions give the same screens, rewards and ends, whatever they are played through.

One test, which runs in every environment that has the package of an interface: `make test`, `make test-openenv` and
`make test-bridges` each run this file, and skip the interfaces of the others.
"""

import pytest

from tests.coach_gym.bridges import played
from tests.coach_gym.bridges.played import Script, assert_same, expert_actions, through_gymnasium

CONTACT, QUESTION, SWITCH = (
    "AndroidWorld/ContactsAddContact-v0", "AndroidLab/ClockAlarmTime-v0", "AndroidWorld/SystemBrightnessMax-v0",
)  # fmt: skip
REFUSED = ["open_app(app_name='No such app')", "type(content='nowhere to type')", "finished()"]
NEEDS = {  # what may be missing
    played.through_vector: "gymnasium",
    played.through_mcp: "mcp.server.mcpserver",
    played.through_openenv: "openenv.core",
    played.through_ors: "ors",
    played.through_trl: "gymnasium",
    played.through_verifiers: "verifiers.v1",
    played.through_verl_agent: "gymnasium",
}


def scripts():
    """Each with the reward that it earns: solved, answered, failed, refused on the way, out of budget."""
    yield Script(CONTACT, 3, expert_actions(CONTACT, 3)), 1.0
    yield Script(QUESTION, 5, expert_actions(QUESTION, 5)), 1.0
    yield Script(SWITCH, 0, ["finished()"]), 0.0
    yield Script(SWITCH, 1, REFUSED), 0.0
    yield Script(SWITCH, 2, ["wait()"] * 10), 0.0


@pytest.fixture(scope="module")
def references():
    episodes = []
    for script, reward in scripts():
        reference = through_gymnasium(script)
        assert (reference.reward, reference.success) == (reward, reward == 1.0)
        assert reference.ends == [False] * (len(script.actions) - 1) + [True]
        episodes.append((script, reference))
    return episodes


@pytest.mark.parametrize("through", NEEDS, ids=lambda through: through.__name__.removeprefix("through_"))
def test_an_episode_is_the_one_that_gymnasium_plays(through, references, tmp_path, monkeypatch):
    pytest.importorskip(NEEDS[through], reason=f"{NEEDS[through]} is in another environment: see the Makefile")
    monkeypatch.setenv("NO_KEY_NEEDED", "none")  # what verifiers asks for, even where no server wants it
    for number, (script, reference) in enumerate(references):
        assert_same(reference, through(script, tmp_path / str(number)))
