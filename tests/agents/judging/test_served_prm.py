"""Process rewards from a model behind an OpenAI-compatible server."""

import numpy as np
import pytest

from coach_gym.agents.judging.models import ServedModel
from coach_gym.agents.judging.steps import ServedPRM, load_prm
from coach_gym.agents.models.reward_models import GenerativePRM, StepwisePRM, format_judgment
from coach_gym.dialects import UITars
from coach_gym.episode import Observation
from tests.agents import tiny
from tests.agents.judging.scripted_server import said, serving
from tests.agents.judging.test_chat import client

SCREEN = Observation(np.zeros((168, 112, 3), np.uint8))


def test_every_step_is_judged_and_failures_are_unknown():
    def script(number, request):
        if "word 2" in said(request):
            return 500
        return format_judgment("word 1" in said(request), "so it is")

    steps = [(SCREEN, f"type(content='word {t}')") for t in range(3)]
    with serving(script) as server:
        prm = ServedPRM(ServedModel(client(server.url, retries=1)))
        assert isinstance(prm, StepwisePRM)
        with pytest.warns(UserWarning, match="got no answer"):
            assert prm.score("Save", steps) == [0.0, 1.0, None]
    assert all(said(request).count("[picture]") == 1 for request in server.requests)


def test_a_served_judge_reads_coordinates_in_its_own_frame():
    with serving(format_judgment(True)) as server:
        model = ServedModel(client(server.url), UITars(28 * 28, 28 * 28 * 6))
        ServedPRM(model).judge([("Save", [(SCREEN, "click(start_box='(56,84)')")])])
    width, height = model.frame(SCREEN.screenshot).image
    assert f"({width // 2},{height // 2})" in said(server.requests[0])
    assert (width, height) != (112, 168)


def test_a_local_judge_reads_coordinates_in_its_own_frame_whatever_the_policys_is():
    """The same click, said by policies with different image sizes, is one question to the judge."""
    judge = GenerativePRM(tiny.policy(dialect=UITars(28 * 28, 6 * 28 * 28)))
    width, height = judge.policy.frame(SCREEN).model
    prompts = []
    for pixels in (24, 6, 2):
        policy = tiny.policy(dialect=UITars(28 * 28, pixels * 28 * 28))
        x, y = (side // 2 for side in policy.frame(SCREEN).model)
        action = policy.parse(f"Thought: Save\nAction: click(start_box='({x},{y})')", policy.frame(SCREEN))
        prompts.append(judge.policy.tokenizer.decode(judge.prompt("Save", [(SCREEN, action)]).input_ids))
    assert prompts[0] == prompts[1] == prompts[2]
    assert f"Thought: Save\nAction: click(start_box='<|box_start|>({width // 2},{height // 2})<|" in prompts[0]


def test_a_template_without_the_screenshot_is_refused(tmp_path):
    template = tmp_path / "judge.txt"
    template.write_text("{instruction} {response}")
    with pytest.raises(ValueError, match="screenshot"):
        GenerativePRM(tiny.policy(), template)


def test_process_reward_models_by_name():
    with serving(format_judgment(True)) as server:
        prm = load_prm(f"openai:judge@{server.url}")
        assert prm.score("Save", [(SCREEN, "wait()")]) == [1.0]
    assert load_prm(prm) is prm
