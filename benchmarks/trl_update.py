"""TRL's GRPO update of an episode's states: TRL's own loss code on our model, tokens and advantages.

Each state is a prompt with k completions, batched like TRL's trainer with `num_generations = k` and one prompt per
device: k copies of prompt and screenshots. TRL is not a dependency of coach-gym; `pip install trl` adds it (without
torchvision).
"""

from collections.abc import Callable, Iterator
from tempfile import TemporaryDirectory
from typing import Any

import torch
from torch import Tensor

from coach_gym.agents.models.chatml import stack_images
from coach_gym.agents.models.policy import Policy
from coach_gym.episode import Episode

HOW_TO_INSTALL = "pip install trl"


def version() -> str | None:
    """Returns the version of the installed TRL, or None."""
    try:
        import trl
    except ImportError:
        return None
    return trl.__version__


def trl_losses(policy: Policy, clip_range: float) -> Callable[[Episode, Tensor], Iterator[Tensor]]:
    """Makes a trainer for the policy's model, which computes the losses of episodes.

    Args:
        policy: The policy. TRL's trainer patches its model, which is useless for anything else afterwards.
        clip_range: Clip range of the ratio.

    Returns:
        A function of an episode and the advantages of its candidates, (T * k,), that yields a loss per state, summed
        over tokens: without KL, with response tokens scored under the whole vocabulary.
    """
    from datasets import Dataset
    from trl import GRPOConfig, GRPOTrainer

    unused: Any = Dataset.from_dict({"prompt": [""]})  # the trainer requires one
    with TemporaryDirectory() as folder:
        settings = GRPOConfig(
            output_dir=folder, use_cpu=True, bf16=False, report_to="none", beta=0.0, epsilon=clip_range,
            loss_type="dapo", per_device_train_batch_size=2, num_generations=2, gradient_checkpointing=False,
        )  # fmt: skip
        trainer = GRPOTrainer(
            policy.model, lambda completions, **_: [0.0] * len(completions), settings, train_dataset=unused,
            processing_class=policy.tokenizer,
        )  # fmt: skip

    def losses(episode: Episode, advantages: Tensor) -> Iterator[Tensor]:
        for t, step in enumerate(episode.steps):
            mine = advantages[: len(step.candidates)]
            advantages = advantages[len(step.candidates) :]
            yield trainer._compute_loss(policy.model, _batch(policy, episode, t, mine))

    return losses


def _batch(policy: Policy, episode: Episode, t: int, advantages: Tensor) -> dict[str, Any]:
    """Returns a state as TRL's `_generate_and_score_completions` does; all responses have one length."""
    step = episode.steps[t]
    k = len(step.candidates)
    prompt = policy.prompt(episode.goal, episode.steps[:t], step.observation)
    prompts = torch.tensor([prompt.input_ids] * k)
    completions = torch.tensor([candidate.token_ids for candidate in step.candidates])
    images = torch.cat([prompts, completions], dim=1) == policy.chat.image_pad
    return {
        "prompt_ids": prompts, "prompt_mask": torch.ones_like(prompts),
        "completion_ids": completions, "completion_mask": torch.ones_like(completions),
        "old_per_token_logps": torch.tensor([candidate.logprobs for candidate in step.candidates]),
        "advantages": advantages, "num_items_in_batch": torch.tensor(1.0),
        "num_images": [len(prompt.images)] * k, "mm_token_type_ids": images.int(),
        **stack_images(prompt.images * k, policy.device),
    }  # fmt: skip
