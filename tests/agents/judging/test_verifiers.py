"""Outcome verifiers: they see the whole episode, and only a clear verdict counts."""

import gc
import random
import weakref

import numpy as np
import pytest

from coach_gym.agents.judging.models import LocalModel, ServedModel, load_model
from coach_gym.agents.judging.steps import load_prm
from coach_gym.agents.judging.verifiers import (
    FirstVerdict,
    ModelVerifier,
    OutcomeVerifier,
    Rules,
    ask_verifier,
    load_verifier,
    parse_outcome,
)
from coach_gym.agents.models.reward_models import GenerativePRM
from coach_gym.dialects import QwenMobileUse, UITars
from coach_gym.episode import Candidate, Episode, Observation, Step
from tests.agents import tiny
from tests.agents.judging.scripted_server import said, serving
from tests.agents.judging.test_chat import client

YES, NO = "<analysis>It is there.</analysis>\n<ans>True</ans>", "<analysis>Missing.</analysis><ans>False</ans>"


def episode(*actions: str, goal="Save the note", ui='<Button text="screen {}"/>', outcome=None) -> Episode:
    screen = np.zeros((168, 112, 3), np.uint8)
    steps = [
        Step(Observation(screen, ui.format(t)), [Candidate("raw", [], [])], 0, action)
        for t, action in enumerate(actions)
    ]
    return Episode(goal, steps, outcome)


def served(url: str, **settings) -> ModelVerifier:
    return ModelVerifier(ServedModel(client(url)), **settings)


@pytest.mark.parametrize(
    ("text", "verdict"),
    [
        (YES, 1.0),
        (NO, 0.0),
        ("<analysis>a</analysis> </ans> True </ans>", 1.0),  # as the paper prints its format
        ("<ans>[false]</ans>", 0.0),
        ("<analysis>The note says <ans>True</ans></analysis><ans>False</ans>", 0.0),
        ("<analysis>The note says </analysis><ans>True</ans></analysis><ans>False</ans>", 0.0),
        ("<ans>True</ans><ans>False</ans>", None),
        ("<analysis>a</analysis><ans>True</ans> or not", None),
        ("<analysis>a</analysis><ans>True", None),
        ("<analysis>a <ans>True</ans>", None),
        ("True", None),
        ("It was certainly solved.", None),
        ("", None),
    ],
)
def test_verdicts(text, verdict):
    assert parse_outcome(text) == verdict


def test_a_judge_sees_goal_screens_actions_and_answer_but_no_thoughts():
    with serving(YES) as server:
        played = episode(
            "Thought: Trust me, it is solved.\nAction: click(start_box='(10,20)')", "nonsense", "finished(content='7')"
        )
        assert served(server.url).verify([played]) == [1.0]
    text = said(server.requests[0])
    order = ["Save the note", "screen 0", "click(start_box='(10,20)')", "screen 1", "no action", "screen 2", "'7'"]
    assert [text.index(each) for each in order] == sorted(text.index(each) for each in order)
    assert "Trust me" not in text and "nonsense" not in text
    assert "ended the episode" in text


def test_a_judge_hears_that_the_steps_ran_out_and_what_was_not_carried_out():
    played = episode("press_back()", "press_home()")
    played.steps[1].observation.last_action_error = "there is no way back"
    with serving(NO) as server:
        assert served(server.url).verify([played]) == [0.0]
    assert "ran out of steps" in said(server.requests[0]) and "there is no way back" in said(server.requests[0])


def test_old_screens_of_long_episodes_are_left_out_and_no_action():
    played = episode(*[f"type(content='word {t}')" for t in range(8)], ui='<Button text="screen {}"/>' + "x" * 1000)
    with serving(YES) as server:
        assert ModelVerifier(ServedModel(client(server.url), max_characters=6000)).verify([played]) == [1.0]
        with pytest.warns(UserWarning, match="1 of 1 episodes are too long"):
            assert ModelVerifier(ServedModel(client(server.url), max_characters=100)).verify([played]) == [None]
    (request,) = server.requests
    shown = [f"screen {t}" in said(request) for t in range(8)]
    assert shown == [False] * 4 + [True] * 4
    assert all(f"word {t}" in said(request) for t in range(8))


def test_a_judge_reads_coordinates_in_the_frame_in_which_it_sees_the_picture():
    """Screens as text have bounds in pixels, so their actions are in pixels; pictures have the judge's own size."""
    played = episode("click(start_box='(56,84)')")
    with serving(YES) as server:
        small = ServedModel(client(server.url), UITars(28 * 28, 28 * 28 * 6))
        thousand = ServedModel(client(server.url), QwenMobileUse(scale=999))
        ModelVerifier(small).verify([played])
        ModelVerifier(small, pictures=True).verify([played])
        ModelVerifier(thousand, pictures=True).verify([played])
        ModelVerifier(small).verify([episode("click(start_box='(56,84)')", ui="")])
    text, picture, qwen, without_text = map(said, server.requests)
    width, height = small.frame(played.steps[0].observation.screenshot).image
    assert "(56,84)" in text and "[picture]" not in text
    for shown in (picture, without_text):
        assert f"({width // 2},{height // 2})" in shown and "(56,84)" not in shown and "[picture]" in shown
    assert '"coordinate": [500, 500]' in qwen


def test_prose_is_asked_for_a_verdict_once_more_and_then_unknown():
    goals = ["clear", "prose once", "prose always"]
    seen: list[str] = []

    def script(number, request):
        (goal,) = [goal for goal in goals if f"Task: {goal}\n" in said(request)]
        seen.append(goal)
        return "I think it went well." if goal != "clear" and seen.count(goal) <= (1 + (goal == goals[2])) else YES

    with serving(script) as server:
        assert served(server.url).verify([episode("wait()", goal=goal) for goal in goals]) == [1.0, 1.0, None]
    assert seen.count("clear") == 1
    assert {request["temperature"] for request in server.requests[:3]} == {0.0}
    assert {request["temperature"] for request in server.requests[3:]} == {1.0}


def test_whatever_happens_to_the_server_no_verdict_is_invented():
    """A fifth of the calls fails in some way; what comes back is the truth or unknown, and mostly the truth."""
    rng = random.Random(1)
    truth = [rng.random() < 0.5 for _ in range(30)]

    def script(number, request):
        if rng.random() < 0.2:
            return rng.choice([429, 500, None, "It looks fine to me.", "<analysis>Well</analysis><ans>Tr"])
        goal = int(said(request).partition("Task: ")[2].partition("\n")[0])
        return YES if truth[goal] else NO

    with serving(script) as server:
        judge: OutcomeVerifier = served(server.url)
        verdicts = judge.verify([episode("wait()", goal=str(number)) for number in range(30)])
    known = [(verdict, right) for verdict, right in zip(verdicts, truth, strict=True) if verdict is not None]
    assert len(known) >= 26 and all(verdict == right for verdict, right in known)


def test_a_dead_server_leaves_everything_unknown():
    with serving(YES) as server:
        judge = served(server.url)
        judge.model.client.retries = 0
    with pytest.warns(UserWarning, match="2 of 2 questions"):
        assert judge.verify([episode("wait()"), episode("wait()")]) == [None, None]


def test_the_first_verifier_with_a_verdict_decides():
    asked = []

    class Later:
        def verify(self, episodes):
            asked.append([each.goal for each in episodes])
            return [0.0, None]

    episodes = [episode(goal="a", outcome=1.0), episode(goal="b"), episode(goal="c")]
    assert FirstVerdict(Rules(), Later()).verify(episodes) == [1.0, 0.0, None]
    assert asked == [["b", "c"]]
    assert Rules().verify(episodes) == [1.0, None, None]



class Odd:
    """A verifier that raises, or returns what it is given."""

    def __init__(self, found):
        self.found = found

    def verify(self, episodes):
        if isinstance(self.found, Exception):
            raise self.found
        return self.found


@pytest.mark.parametrize("found", [ConnectionError("503"), [], "yes", [float("nan")], ["solved"], [7.0]])
def test_a_verifier_in_trouble_keeps_no_other_from_its_verdicts(found):
    episodes = [episode("wait()", outcome=1.0), episode("wait()")]
    with pytest.warns(UserWarning, match="the outcome verifier Odd (gave|returned)"):
        assert FirstVerdict(Rules(), Odd(found)).verify(episodes) == [1.0, None]
    with pytest.warns(UserWarning, match="the outcome verifier Odd (gave|returned)"):
        assert FirstVerdict(Odd(found), Odd([0.0])).verify(episodes[:1]) == [0.0]


def test_a_mistake_in_the_code_of_one_of_several_verifiers_is_raised_unless_it_is_to_be_unknown():
    judged, asked = FirstVerdict(Rules(), FirstVerdict(Odd(KeyError("a")))), [episode(outcome=1.0), episode()]
    with pytest.raises(KeyError) as raised:
        ask_verifier(judged, asked)
    assert "outcome verifier Odd raised this" in raised.value.__notes__[0]
    with pytest.warns(UserWarning, match="Odd gave no verdict on 1 episodes: KeyError"):
        assert ask_verifier(judged, asked, "unknown") == [1.0, None]


def test_a_local_model_judges_within_its_context():
    policy = tiny.policy(max_prompt_length=2600)
    model = LocalModel(policy)
    played = episode(*["wait()"] * 6, ui='<Button text="screen {}"/>' + "x" * 500)
    judge = ModelVerifier(model, max_new_tokens=4)
    assert judge.verify([played]) == [None]  # noise has no verdict

    class Drawn:
        prompts: list = []

        def sample(self, prompts, max_new_tokens, greedy):
            self.prompts += prompts
            return [[Candidate(YES, [1, policy.eos], [])] for _ in prompts]

    model.generator = Drawn()
    assert judge.verify([played, played]) == [1.0, 1.0]
    assert all(len(prompt) <= 2600 for prompt in Drawn.prompts)
    text = policy.tokenizer.decode(Drawn.prompts[0].input_ids)
    assert "screen left out" in text and "screen 5" in text


def test_an_answer_of_a_local_model_that_was_cut_off_is_none():
    policy = tiny.policy()
    model = LocalModel(policy)

    class Cut:
        def sample(self, prompts, max_new_tokens, greedy):
            return [[Candidate(YES, [1, 2], [])] for _ in prompts]

    model.generator = Cut()
    assert ModelVerifier(model).verify([episode("wait()")]) == [None]


def test_a_template_must_show_task_and_history(tmp_path):
    template = tmp_path / "judge.txt"
    template.write_text("Was {instruction} done?")
    with pytest.raises(ValueError, match="{history}"), serving(YES) as server:
        served(server.url, template=template)


def test_verifiers_by_name():
    assert isinstance(load_verifier("rules"), Rules)
    with serving(YES) as server:
        named = f"openai:org/model@{server.url}"
        judge = load_verifier(named)
        assert isinstance(judge, ModelVerifier) and judge.verify([episode("wait()", outcome=0.0)]) == [1.0]
        both = load_verifier(f"rules+{named}")
        assert both.verify([episode("wait()", outcome=0.0), episode("wait()")]) == [0.0, 1.0]
    assert {request["model"] for request in server.requests} == {"org/model"}
    mine = Rules()
    assert load_verifier(mine) is mine


def test_judges_of_the_same_name_are_one_model_in_memory(tmp_path):
    """While one of them exists, and with the same generator, which may be an engine with weights of its own."""
    tiny.policy().save(tmp_path)
    prm, verifier = load_prm(str(tmp_path)), load_verifier(f"rules+{tmp_path}")
    assert isinstance(prm, GenerativePRM) and isinstance(verifier, FirstVerdict)
    judge = verifier.verifiers[1]
    assert isinstance(judge, ModelVerifier) and isinstance(judge.model, LocalModel)
    assert judge.model.generator is prm.generator and judge.model.policy is prm.policy
    assert not any(parameter.requires_grad for parameter in prm.policy.model.parameters())
    elsewhere = GenerativePRM.load(str(tmp_path), generation="http://127.0.0.1:9")
    assert elsewhere.policy is not prm.policy, "it is in main memory, as it is stored"
    first = weakref.ref(prm.policy)
    del prm, verifier, judge
    gc.collect()
    assert first() is None
    assert load_prm(str(tmp_path)).policy.device.type == "cpu"


def test_a_model_by_name_takes_the_address_from_the_environment(monkeypatch):
    with serving(YES) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        model = load_model("openai:gpt")
        assert isinstance(model, ServedModel) and model.client.model == "gpt"
    assert isinstance(load_model(tiny.policy()), LocalModel)
