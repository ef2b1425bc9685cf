"""Every architecture behaves as in transformers, from its processor to `generate`; others are refused."""

import json
from copy import deepcopy
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from PIL import Image
from safetensors.torch import load_file
from transformers import (
    LlavaConfig,
    LlavaForConditionalGeneration,
    ProcessorMixin,
    Qwen2_5_VLProcessor,
    Qwen2VLProcessor,
    Qwen3VLProcessor,
)

from coach_gym.agents import CoachAgent
from coach_gym.agents.generation.transformers import TransformersGenerator
from coach_gym.agents.generation.vllm.server import describe
from coach_gym.agents.models.architectures import ARCHITECTURES, read_config
from coach_gym.agents.models.chatml import stack_images
from coach_gym.agents.models.critic import Critic
from coach_gym.agents.models.policy import Policy, Prompt
from coach_gym.agents.models.tree import build_tree, log_probs, separate_log_probs, separate_tree, sequence_log_probs
from coach_gym.episode import Candidate, Episode, Observation, Step
from tests.agents import tiny
from tests.agents.distributed import test_parallel
from tests.agents.training.saving.test_save_load import buttons

PROCESSORS: dict[str, Any] = {
    "qwen2_vl": Qwen2VLProcessor,
    "qwen2_5_vl": Qwen2_5_VLProcessor,
    "qwen3_vl": Qwen3VLProcessor,
}
SCALES = {"qwen2_vl": (1000, 1000), "qwen2_5_vl": (756, 1680), "qwen3_vl": (1000, 1000)}
"""The upper ends of the published models' coordinates on a screen of 1080 x 2400."""
SIDES = {"qwen2_vl": 28, "qwen2_5_vl": 28, "qwen3_vl": 32}
ANSWERS = ["Thought: Save\nAction: click(start_box='(77,12)')", "finished(content='7')"]


@pytest.fixture(params=ARCHITECTURES)
def architecture(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture
def policy(architecture: str) -> Policy:
    policy = tiny.policy(architecture=architecture)
    with torch.no_grad():
        policy.model.lm_head.weight[policy.eos] *= 4  # responses of many lengths
    return policy


def processor_of(policy: Policy, architecture: str) -> Any:
    """Returns transformers' own processor without its video part, which needs torchvision."""
    stock = PROCESSORS[architecture]

    class WithoutVideos(stock):
        def __init__(self, image_processor: Any = None, tokenizer: Any = None) -> None:
            ProcessorMixin.__init__(self, image_processor, tokenizer)
            for name in ("image", "video"):
                setattr(self, f"{name}_token", f"<|{name}_pad|>")
                setattr(self, f"{name}_token_id", tokenizer.convert_tokens_to_ids(f"<|{name}_pad|>"))

        @classmethod
        def get_attributes(cls) -> list[str]:
            return ["image_processor", "tokenizer"]

    dialect: Any = policy.dialect
    images = deepcopy(policy.image_processor)
    images.size = {"shortest_edge": dialect.min_pixels, "longest_edge": dialect.max_pixels}
    return WithoutVideos(images, policy.tokenizer)


def played(policy: Policy) -> Episode:
    """Returns an episode of three states, the first two answered."""
    episode = Episode("Save the note")
    rng = np.random.default_rng(0)
    for text in [*ANSWERS, ""]:
        said = Candidate(text, [*policy.chat.encode_text(text), policy.eos], [])
        episode.steps.append(Step(tiny.observation(rng), [said], 0, ""))
    return episode


def prompt_of(policy: Policy, episode: Episode) -> Prompt:
    return policy.prompt(episode.goal, episode.steps[:-1], episode.steps[-1].observation)


def processed(policy: Policy, architecture: str, episode: Episode) -> dict[str, torch.Tensor]:
    """Returns the same prompt, made by the chat template and the processor."""
    frame, kinds = policy.frame(episode.steps[0].observation), {str: "text"}

    def turn(role: str, parts: list[Any]) -> dict[str, Any]:
        content = [{"type": kinds.get(type(part), "image"), "text": part} for part in parts]
        return {"role": role, "content": content}

    messages = [turn(role, parts) for role, parts in policy.dialect.opening(episode.goal, frame)]
    for number, step in enumerate(episode.steps):
        parts = policy.dialect.observation(episode.goal, step.observation, number, frame, [])
        messages += [turn("user", parts), turn("assistant", [step.candidates[0].text])]
    text = policy.tokenizer.apply_chat_template(messages[:-1], tokenize=False, add_generation_prompt=True)
    images = [Image.fromarray(step.observation.screenshot) for step in episode.steps]
    return dict(processor_of(policy, architecture)(text=[text], images=images, return_tensors="pt"))


def test_a_prompt_is_what_the_processor_makes_of_it(policy: Policy, architecture: str) -> None:
    episode = played(policy)
    ours, theirs = prompt_of(policy, episode), processed(policy, architecture, episode)
    assert ours.input_ids == theirs["input_ids"][0].tolist()
    assert [list(image.grid) for image in ours.images] == theirs["image_grid_thw"].tolist()
    torch.testing.assert_close(stack_images(ours.images, policy.device)["pixel_values"], theirs["pixel_values"])
    expected, delta = policy.model.model.get_rope_index(**theirs)
    positions, following = policy.position_ids(ours)
    assert torch.equal(positions, expected[:, 0])
    assert following == len(ours) + int(delta)


def test_a_token_is_a_square_of_the_models_patches(policy: Policy, architecture: str) -> None:
    vision, side = policy.model.config.vision_config, SIDES[architecture]
    assert policy.chat.token_side == vision.patch_size * vision.spatial_merge_size == side
    width, height = policy.frame(tiny.observation(np.random.default_rng(0))).model
    assert width % side == height % side == 0
    assert prompt_of(policy, played(policy)).input_ids.count(policy.chat.image_pad) == 3 * width * height // side**2


def test_coordinates_are_the_published_models(policy: Policy, architecture: str) -> None:
    """UI-TARS before 1.5 is a Qwen2-VL and counts to 1000, 1.5 is a Qwen2.5-VL and counts pixels."""
    unnamed = Policy(policy.model, policy.tokenizer, policy.image_processor)
    frame = unnamed.frame(Observation(np.zeros((2400, 1080, 3), np.uint8)))
    assert frame.model == SCALES[architecture]
    assert frame.image == {28: (756, 1680), 32: (736, 1664)}[SIDES[architecture]]  # of the paper's pixels


def test_log_probs_are_those_of_a_plain_call(policy: Policy, architecture: str) -> None:
    """Covers every candidate of every step, in a tree and alone, and the sampler's own log-probabilities."""
    episode = played(policy)
    generator = TransformersGenerator(policy)
    torch.manual_seed(0)
    for t, step in enumerate(episode.steps):
        prompt = policy.prompt(episode.goal, episode.steps[:t], step.observation)
        step.candidates += generator.sample([prompt], k=3, max_new_tokens=9)[0]
    packed, separate = log_probs(policy, build_tree(policy, episode)), separate_log_probs(policy, episode)
    for t, step in enumerate(episode.steps):
        inputs = processed(policy, architecture, Episode(episode.goal, episode.steps[: t + 1]))
        for number, candidate in enumerate(step.candidates):
            expected = plain_call(policy, inputs, candidate.token_ids)
            for ours in (packed[t][number], separate[t][number]):
                torch.testing.assert_close(ours, expected, rtol=1e-5, atol=1e-5)
            if number > 0:
                torch.testing.assert_close(torch.tensor(candidate.logprobs), expected.detach(), rtol=1e-5, atol=1e-5)


def plain_call(policy: Policy, inputs: dict[str, torch.Tensor], token_ids: list[int]) -> torch.Tensor:
    """Returns the log-probabilities of a response after a processor's output, at transformers' positions."""
    said = torch.tensor([token_ids])
    more = {"input_ids": said, "attention_mask": torch.ones_like(said), "mm_token_type_ids": torch.zeros_like(said)}
    whole = inputs | {name: torch.cat([inputs[name], tail], dim=1) for name, tail in more.items()}
    logits = policy.model(**whole).logits[0, -len(token_ids) - 1 : -1]
    return policy.log_probs(logits).gather(1, said.T)[:, 0]


def test_greedy_is_what_transformers_generates(policy: Policy, architecture: str) -> None:
    """This also holds where keys and values of the previous prompt are kept."""
    episode = played(policy)
    generator = TransformersGenerator(policy)
    for t, step in enumerate(episode.steps):
        prompt = policy.prompt(episode.goal, episode.steps[:t], step.observation)
        ((ours,),) = generator.sample([prompt], max_new_tokens=12, greedy=True)
        inputs = processed(policy, architecture, Episode(episode.goal, episode.steps[: t + 1]))
        theirs = policy.model.generate(
            **inputs,
            max_new_tokens=12,
            do_sample=False,
            suppress_tokens=policy.banned,
            eos_token_id=policy.eos,
            pad_token_id=policy.tokenizer.pad_token_id,
        )
        assert ours.token_ids == theirs[0, len(prompt) :].tolist()


def test_pictures_of_a_prompt_whose_beginning_is_kept_are_seen(policy: Policy) -> None:
    episode = tiny.episode(policy, steps=3)
    generator, prompts = TransformersGenerator(policy), []
    for t, step in enumerate(episode.steps):
        prompts.append(policy.prompt(episode.goal, episode.steps[:t], step.observation))
    generator.sample(prompts[:1])
    torch.manual_seed(1)
    for prompt, row in zip(prompts, generator.sample(prompts, k=2, max_new_tokens=6), strict=True):
        for candidate in row:
            scored = sequence_log_probs(policy, prompt, candidate).detach()
            torch.testing.assert_close(torch.tensor(candidate.logprobs), scored, rtol=1e-5, atol=1e-5)


def test_a_saved_critic_is_the_same_critic(policy: Policy, tmp_path: Path) -> None:
    critic = Critic.from_policy(policy)
    torch.nn.init.normal_(critic.value_head.weight)
    critic.save(tmp_path)
    tree = separate_tree(policy, tiny.episode(policy, steps=1, k=2))
    loaded = Critic.load(tmp_path)
    assert type(loaded.backbone) is type(critic.backbone)
    assert torch.equal(loaded.q_values(tree)[0], critic.q_values(tree)[0])


def test_an_agent_learns_and_goes_on_from_its_directory(policy: Policy, architecture: str, tmp_path: Path) -> None:
    agent = CoachAgent(policy, buttons(), 1e-3, batch_size=4, max_new_tokens=3, seed=0)
    agent.learn(8)
    agent.save(tmp_path / "whole")
    agent.save_shards(tmp_path / "sharded")
    for saved in ("sharded", "whole"):
        assert read_config(tmp_path / saved / "actor").model_type == architecture
        resumed = CoachAgent.load(tmp_path / saved, env=buttons())
        for name, model in resumed.learner.models.items():
            torch.testing.assert_close(model.state_dict(), agent.learner.models[name].state_dict(), rtol=0, atol=0)
    resumed.learn(8, reset_num_timesteps=False)


def test_a_server_knows_the_shapes_without_the_weights(policy: Policy, tmp_path: Path) -> None:
    policy.save(tmp_path)
    described = describe(str(tmp_path))
    shapes = {name: weight.shape for name, weight in policy.model.named_parameters()}
    assert {name: weight.shape for name, weight in described.model.named_parameters()} == shapes
    assert all(weight.is_meta for weight in described.model.parameters())


def test_updates_of_two_processes_are_those_of_one(tmp_path: Path) -> None:
    """Visual features enter several layers, whose weights belong to no sharded layer."""
    arguments: dict[str, Any] = {"architecture": "qwen3_vl", "updates": 1}
    logged, parameters, _ = test_parallel.train("coach", None, **arguments)
    work = partial(test_parallel.train, **arguments)
    results = test_parallel.together(2, tmp_path, work, "coach", [[0], [1, 2]])
    for name, value in logged.items():
        assert results[1][0][name] == pytest.approx(value, rel=1e-4, abs=1e-6), name
    expected = test_parallel.weights(parameters)
    before = test_parallel.weights(test_parallel.make("coach", architecture="qwen3_vl").get_parameters())
    moved = [name for name in before if (expected[name] - before[name]).abs().max() > 1e-4]
    assert {name.split(".")[0] for name in moved if "deepstack" in name} == {"policy", "critic"}
    torch.testing.assert_close(test_parallel.weights(results[0][1]), expected, rtol=0, atol=5e-6)


def test_a_checkpoint_of_the_first_hour_is_read(tmp_path: Path) -> None:
    """Published Qwen2-VLs have a flat configuration and different names of their weights."""
    policy = tiny.policy(architecture="qwen2_vl")
    policy.save(tmp_path)
    assert {name.split(".")[0] for name in load_file(tmp_path / "model.safetensors")} == {"visual", "model"}
    described = json.loads((tmp_path / "config.json").read_text())
    text = described.pop("text_config")
    rope = text.pop("rope_parameters")
    text |= {
        "rope_theta": rope["rope_theta"],
        "rope_scaling": {"type": "mrope", "mrope_section": rope["mrope_section"]},
    }
    described["vision_config"] |= {"model_type": "qwen2_vl", "in_chans": 3}
    (tmp_path / "config.json").write_text(json.dumps(text | described))
    prompt = prompt_of(policy, played(policy))
    said = Candidate("", [5, policy.eos], [])
    expected, actual = (sequence_log_probs(p, prompt, said) for p in (policy, Policy.load(tmp_path, device="cpu")))
    assert torch.equal(actual, expected)


@pytest.mark.parametrize("model_type", ["qwen2", "llava", "qwen3_vl_moe", "minicpmv", None])
def test_other_architectures_are_refused_before_loading(model_type: str | None, tmp_path: Path) -> None:
    described = {} if model_type is None else {"model_type": model_type}
    (tmp_path / "config.json").write_text(json.dumps(described))
    found = f"architecture '{model_type}'" if model_type else "has no config.json with a model_type"
    with pytest.raises(ValueError, match=f"{found}; .* Qwen2-VL, Qwen2.5-VL or Qwen3-VL .*qwen2_vl, qwen2_5_vl"):
        Policy.load(tmp_path, device="cpu")


def test_a_saved_agent_is_no_model_but_its_policy_is(policy: Policy, tmp_path: Path) -> None:
    policy.save(tmp_path / "actor")
    (tmp_path / "config.json").write_text('{"class": "CoachAgent"}')
    with pytest.raises(ValueError, match=f"is a saved agent and no model: read it with load.*{tmp_path}/actor as pol"):
        Policy.load(tmp_path)
    weights = tmp_path / "actor/model.safetensors"
    weights.write_bytes(weights.read_bytes()[:100])
    with pytest.raises(ValueError, match=f"the weights of {tmp_path}/actor are damaged .*; restore them"):
        Policy.load(tmp_path / "actor")


def test_a_loaded_model_of_another_architecture_is_refused(policy: Policy) -> None:
    small = {"hidden_size": 8, "intermediate_size": 8, "num_hidden_layers": 1, "num_attention_heads": 1}
    vision, text = small | {"model_type": "clip_vision_model"}, small | {"model_type": "qwen2"}
    config = LlavaConfig(vision_config=vision, text_config=text)
    with pytest.raises(ValueError, match="LlavaForConditionalGeneration.*'llava'.*can be a Qwen2-VL"):
        Policy(LlavaForConditionalGeneration(config), policy.tokenizer, policy.image_processor)
