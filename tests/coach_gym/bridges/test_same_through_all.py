"""The same task, seed and actions give the same screens, rewards and ends, whatever they are played through."""

import pytest

from tests.coach_gym.bridges.played import assert_same, expert_actions, through_gymnasium, through_mcp, through_vector

CONTACT, QUESTION, SWITCH = (
    "AndroidWorld/ContactsAddContact-v0", "AndroidLab/ClockAlarmTime-v0", "AndroidWorld/SystemBrightnessMax-v0",
)  # fmt: skip


def plays():
    """Solved, answered, failed, refused on the way, and out of budget."""
    yield CONTACT, 3, expert_actions(CONTACT, 3), (1.0, True)
    yield QUESTION, 5, expert_actions(QUESTION, 5), (1.0, True)
    yield SWITCH, 0, ["finished()"], (0.0, False)
    yield SWITCH, 1, ["open_app(app_name='No such app')", "click(start_box='(9999,1)')", "finished()"], (0.0, False)
    yield SWITCH, 2, ["wait()"] * 10, (0.0, False)


@pytest.fixture(scope="module")
def references():
    played = []
    for id, seed, actions, verdict in plays():
        reference = through_gymnasium(id, seed, actions)
        assert (reference.reward, reference.success) == verdict
        assert reference.overs == [False] * (len(actions) - 1) + [True]
        played.append(reference)
    return played


def test_through_the_vector_environment(references):
    for each in references:
        assert_same(each, through_vector(each.id, each.seed, each.actions))


def test_through_mcp(references, tmp_path):
    pytest.importorskip("mcp.server.mcpserver")
    for each in references:
        assert_same(each, through_mcp(each.id, each.seed, each.actions, tmp_path))
