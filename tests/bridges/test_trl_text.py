"""A policy that writes actions as text reads in TRL's loop the very tokens that it was trained on."""

import pytest
import torch

from coach_gym.agents.models.policy import POCKET, Policy
from coach_gym.bridges.talk import Talk
from coach_gym.bridges.trl import OVER, TRLEnvironment, task_rows
from coach_gym.bridges.trl_text import text_action_processor
from coach_gym.episode import Observation, Step
from tests.bridges.scripts import TASK

ANSWER = "Thought: open\nAction: open_app(app_name='Settings')"


@pytest.fixture(scope="module")
def policy():
    return Policy.load("pocket")


@pytest.fixture(scope="module")
def processor():
    return text_action_processor(POCKET)


def tokens(processor, messages):
    return processor.apply_chat_template(
        [messages], add_generation_prompt=True, tokenize=True, return_dict=True, return_tensors="pt"
    )


def test_prompts_are_those_of_the_policy(policy, processor):
    settings = {**TASK, "dialect": policy.dialect}
    environment, (row,) = TRLEnvironment(**settings), task_rows(seeds=[0], **settings)
    talk = Talk(**settings)
    talk.begin(0)
    first = Observation(talk.seen["screenshot"], talk.seen["ui"], talk.seen["last_action_error"])
    messages = [*row["prompt"][:-1], {"role": "user", "content": environment.reset(**row)}]
    seen = tokens(processor, messages)
    wanted = policy.prompt(talk.goal, [], first)
    assert seen["input_ids"][0].tolist() == wanted.input_ids
    torch.testing.assert_close(seen["pixel_values"], wanted.images[0].pixel_values)

    talk.answer(ANSWER)
    second = Observation(talk.seen["screenshot"], talk.seen["ui"], talk.seen["last_action_error"])
    call = {"type": "function", "function": {"name": "act", "arguments": {"action": ANSWER}}}
    messages += [
        {"role": "assistant", "content": [], "tool_calls": [call]},
        {"role": "tool", "name": "act", "content": environment.act(ANSWER)},
    ]
    answered = policy.candidate(policy.chat.encode_text(ANSWER), [])
    wanted = policy.prompt(talk.goal, [Step(first, [answered], 0, ANSWER)], second)
    assert tokens(processor, messages)["input_ids"][0].tolist() == wanted.input_ids


def parsed(processor, said, answer):
    prompt = f"<|im_start|>user\n{said}<|im_end|>\n<|im_start|>assistant\n"
    encode = processor.tokenizer.encode
    return processor.tokenizer.parse_response(encode(f"{answer}<|im_end|>"), prefix=encode(prompt))


@pytest.mark.parametrize("answer", [ANSWER, "no action at all", "Thought: 'quoted' \"twice\" {x}\nAction: wait()"])
@pytest.mark.parametrize("said", ["Wi-Fi 56 31 off", f"{OVER} 56 31", f"Wi-Fi\n{OVER}"])
def test_every_answer_is_a_call_of_act(processor, said, answer):
    message = parsed(processor, said, answer)
    assert message["tool_calls"] == [{"type": "function", "function": {"name": "act", "arguments": {"action": answer}}}]


def test_the_answer_after_the_end_calls_nothing(processor):
    message = parsed(processor, OVER, ANSWER)
    assert "tool_calls" not in message and message["content"].removesuffix("<|im_end|>") == ANSWER
