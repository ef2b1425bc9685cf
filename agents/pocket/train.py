"""Makes the pocket models from scratch: `python -m coach_gym.agents.pocket.train`.

Stages, in order: `ground` (synthetic screens), `imitate` (experts' demonstrations, mixed with synthetic screens),
`careless` (demonstrations with errors, which leave reinforcement learning something to correct), `prm` (the process
reward model) and `critic` (the Q function), each for its share of training time. Its state is in `runs/pocket`; with
`--minutes 10` the script stops after ten minutes, and the same command continues from there.
"""

from __future__ import annotations

import argparse
import random
import time
from collections.abc import Callable, Iterator
from copy import deepcopy
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from coach_gym.agents.generation.transformers import TransformersGenerator
from coach_gym.agents.models.critic import Critic
from coach_gym.agents.models.policy import Policy
from coach_gym.agents.models.reward_models import GenerativePRM
from coach_gym.agents.models.tree import build_tree
from coach_gym.agents.pocket.build import build_policy
from coach_gym.agents.pocket.demonstrations import (  # fmt: skip
    FAMILIES,
    Demonstration,
    careless,
    demonstrate,
    load_sequences,
    save_sequences,
    to_sequence,
)
from coach_gym.agents.pocket.judgments import Judged, judge, verdict_sequences
from coach_gym.agents.pocket.screens import PLACE, Screens
from coach_gym.agents.pocket.sequences import Batch, Sequence, batches, token_loss

STAGES = {"ground": 10.0, "imitate": 46.0, "careless": 5.0, "prm": 7.0, "critic": 6.0}
"""Minutes of training of each stage, on one core of a server."""
RATES = {"ground": 8e-4, "imitate": 8e-4, "careless": 3e-4, "prm": 4e-4, "critic": 3e-4}
DECAY = 0.5
"""Share of a stage, at its end, during which the learning rate falls to zero."""

TOKENS = 3000  # of a batch
SCREEN = (270, 600)
FIRST_SEED = 1 << 20  # far from the seeds of evaluation
DEMONSTRATIONS, OTHER_SCREENS = 90, (15, (540, 1200))  # instances of each family
CARELESS, BLUNDERS = 45, 0.33  # instances of each family shown by a careless hand, and the share of steps it errs in
JUDGED, PROPOSED = 30, 14  # instances of each family that are judged, and those of them with the policy's proposals
SYNTHETIC = 0.3  # share of synthetic screens while imitating


class Optimizers:
    """Muon for the matrices of the decoder's layers, AdamW for the rest, one schedule for both.

    Args:
        model: The model in training.
        rate: Learning rate of AdamW; Muon's is `MUON` times that.
    """

    MUON, WARM_UP = 6.0, 50

    def __init__(self, model: nn.Module, rate: float) -> None:
        named = [(name, parameter) for name, parameter in model.named_parameters() if parameter.requires_grad]
        inner = [p for name, p in named if "language_model.layers" in name and p.ndim == 2]
        known = {id(p) for p in inner}
        rest = [p for _, p in named if id(p) not in known]
        self.parameters = inner + rest
        self.rates = (self.MUON * rate, rate)
        self.optimizers: list[torch.optim.Optimizer] = [
            torch.optim.Muon(inner, lr=self.rates[0], momentum=0.95, weight_decay=0.01),
            torch.optim.AdamW(rest, lr=self.rates[1], betas=(0.9, 0.95), weight_decay=0.01),
        ]
        self.steps = 0

    def step(self, loss: Tensor, factor: float) -> None:
        """Makes one update at `factor` times the full learning rate."""
        loss.backward()
        nn.utils.clip_grad_norm_(self.parameters, 1.0)
        self.steps += 1
        for optimizer, rate in zip(self.optimizers, self.rates, strict=True):
            for group in optimizer.param_groups:
                group["lr"] = rate * factor * min(1.0, self.steps / self.WARM_UP)
            optimizer.step()
            optimizer.zero_grad()

    def state_dict(self) -> dict[str, Any]:
        """Returns the state for `load_state_dict`."""
        return {"steps": self.steps, "optimizers": [optimizer.state_dict() for optimizer in self.optimizers]}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Restores what `state_dict` returned."""
        self.steps = state["steps"]
        for optimizer, kept in zip(self.optimizers, state["optimizers"], strict=True):
            optimizer.load_state_dict(kept)


class Curriculum:
    """Synthetic screens that grow by an element whenever nearly all places are named correctly."""

    ENOUGH, ELEMENTS, SCREENS = 0.92, 24, 3

    def __init__(self, policy: Policy, seed: int) -> None:
        self.source = Screens(policy.tokenizer, seed)
        self.elements, self.screens, self.accuracy = 3, 1, 0.0
        self._batches: Iterator[Batch] = iter(())
        self._random = random.Random(seed)
        self._image = policy.chat.image_pad

    def next(self) -> Batch:
        """Returns a batch of the current difficulty."""
        batch = next(self._batches, None)
        if batch is None:
            count = max(16, 8 * TOKENS // (20 * self.elements * self.screens))
            fresh = [self._sequence() for _ in range(count)]
            self._batches = batches(fresh, TOKENS, self._image, self._random)
            batch = next(self._batches)
        return batch

    def _sequence(self) -> Sequence:
        """A sequence of the current size; at full size, of any size and mostly about what the goal names."""
        if self.elements < self.ELEMENTS:
            return self.source.sequence(self.elements, self.screens)
        elements, screens = self._random.randint(4, self.elements), self._random.randint(1, self.screens)
        return self.source.sequence(elements, screens, dense=0.1)

    def learn(self, right: Tensor, weights: Tensor) -> None:
        """Records how many places were named correctly, and may raise the difficulty."""
        self.accuracy += 0.05 * (right[weights == PLACE].float().mean().item() - self.accuracy)
        if self.accuracy < self.ENOUGH:
            return
        if self.elements < self.ELEMENTS:
            self.elements += 1 if self.elements < 8 else 2
        else:
            self.screens = min(self.screens + 1, self.SCREENS)
        self.accuracy, self._batches = 0.85, iter(())


class Workshop:
    """The models in training, and everything needed to continue after a pause.

    Args:
        directory: Keeps the state and the training data between runs.
        device: Device of the models; `"auto"` is CUDA if available.
        minutes: Length of every stage, `STAGES` by default.
    """

    def __init__(self, directory: Path, device: str = "auto", minutes: dict[str, float] | None = None) -> None:
        directory.mkdir(parents=True, exist_ok=True)
        self.directory, self.minutes = directory, minutes or STAGES
        self.seconds = dict.fromkeys(STAGES, 0.0)
        self.random = random.Random(time.time_ns())
        self.policy = build_policy()
        place = "cuda" if device == "auto" and torch.cuda.is_available() else device.replace("auto", "cpu")
        self.policy.model.to(place)
        self.curriculum = Curriculum(self.policy, self.random.randrange(1 << 31))
        self.prm: GenerativePRM | None = None
        self.critic: Critic | None = None
        self._optimizers: Optimizers | None = None
        if self._state.is_file():
            self._restore(torch.load(self._state, weights_only=True, map_location=place))

    @property
    def _state(self) -> Path:
        return self.directory / "state.pt"

    def run(self, deadline: float) -> bool:
        """Trains until all stages are done or the monotonic clock reaches `deadline`; returns whether all are done."""
        makers = {
            "ground": self._ground, "imitate": self._imitate, "careless": self._careless, "prm": self._prm,
            "critic": self._critic,
        }  # fmt: skip
        for stage, make in makers.items():
            if self.seconds[stage] < 60 * self.minutes[stage]:
                model, step = make()
                self._train(stage, model, step, deadline)
                if self.seconds[stage] < 60 * self.minutes[stage]:
                    return False
                self._optimizers = None
        return True

    def publish(self, directory: Path) -> None:
        """Writes the three models in bfloat16, as `Policy.load`, `GenerativePRM.load` and `Critic.load` read them."""
        assert self.prm is not None and self.critic is not None
        for name, policy in (("policy", self.policy), ("prm", self.prm.policy)):
            policy.model.to(torch.bfloat16)
            policy.save(directory / name)
        self.critic.to(torch.bfloat16).save(directory / "critic")

    def _train(self, stage: str, model: nn.Module, step: Callable[[], tuple[Tensor, Tensor]], deadline: float) -> None:
        optimizers = self._optimizers = self._optimizers or Optimizers(model, RATES[stage])
        budget, last, saved = 60 * self.minutes[stage], time.monotonic(), time.monotonic()
        loss_mean = right_mean = 0.0
        while self.seconds[stage] < budget and last < deadline:
            loss, right = step()
            optimizers.step(loss, min(1.0, (1 - self.seconds[stage] / budget) / DECAY))
            loss_mean += 0.02 * (loss.item() - loss_mean)
            right_mean += 0.02 * (right.float().mean().item() - right_mean)
            now = time.monotonic()
            self.seconds[stage] += now - last
            last = now
            if optimizers.steps % 100 == 0:
                progress = f"{stage} {self.seconds[stage]:.0f}/{budget:.0f} s, step {optimizers.steps}"
                size = f", screens of {self.curriculum.elements}" if stage == "ground" else ""
                print(f"{progress}: loss {loss_mean:.3f}, right {right_mean:.3f}{size}", flush=True)
            if now - saved > 60:
                self._save()
                saved = now
        self._save()

    def _ground(self) -> tuple[nn.Module, Callable[[], tuple[Tensor, Tensor]]]:
        return self.policy.model, self._synthetic_step

    def _synthetic_step(self) -> tuple[Tensor, Tensor]:
        loss, right, weights = token_loss(self.policy.model, self.curriculum.next())
        self.curriculum.learn(right, weights)
        return loss, right

    def _imitate(self) -> tuple[nn.Module, Callable[[], tuple[Tensor, Tensor]]]:
        shown = self._endless(self._cached("demonstrations", self._demonstrations))

        def step() -> tuple[Tensor, Tensor]:
            if self.random.random() < SYNTHETIC:
                return self._synthetic_step()
            return token_loss(self.policy.model, next(shown))[:2]

        return self.policy.model, step

    def _careless(self) -> tuple[nn.Module, Callable[[], tuple[Tensor, Tensor]]]:
        def sequences() -> list[Sequence]:
            shown = self._solved(range(2000, 2000 + CARELESS), SCREEN)
            return [to_sequence(self.policy, careless(self.policy, s, self.random, BLUNDERS)) for s in shown]

        blundered = self._endless(self._cached("careless", sequences))
        return self.policy.model, lambda: token_loss(self.policy.model, next(blundered))[:2]

    def _prm(self) -> tuple[nn.Module, Callable[[], tuple[Tensor, Tensor]]]:
        prm = self.prm = self.prm or GenerativePRM(_copy(self.policy))

        def verdicts() -> list[Sequence]:
            return [s for judged in self._judged(1) for s in verdict_sequences(prm, judged, self.random)]

        questions = self._endless(self._cached("verdicts", verdicts))
        return prm.policy.model, lambda: token_loss(prm.policy.model, next(questions))[:2]

    def _critic(self) -> tuple[nn.Module, Callable[[], tuple[Tensor, Tensor]]]:
        critic = self.critic = self.critic or Critic.from_policy(self.policy)
        pool = [judged for judged in self._judged(2, PROPOSED) if not all(map(all, judged.good))]
        return critic, lambda: value_loss(critic, self.policy, self.random.choice(pool))

    def _demonstrations(self) -> list[Sequence]:
        others, size = OTHER_SCREENS
        rounds = [(range(DEMONSTRATIONS), SCREEN), (range(1000, 1000 + others), size)]
        return [to_sequence(self.policy, s) for numbers, screen in rounds for s in self._solved(numbers, screen)]

    def _solved(self, numbers: range, screen: tuple[int, int]) -> Iterator[Demonstration]:
        seeds = range(FIRST_SEED + numbers.start, FIRST_SEED + numbers.stop)
        for benchmark, families in FAMILIES.items():
            yield from demonstrate(self.policy, benchmark, families, seeds, screen)

    def _judged(self, part: int, count: int = JUDGED) -> Iterator[Judged]:
        """Judged episodes on instances that no other stage uses."""
        generator, first = TransformersGenerator(self.policy), 10_000 * part
        for seeds, proposer in (
            (range(first, first + PROPOSED), generator), (range(first + PROPOSED, first + count), None)
        ):  # fmt: skip
            for shown in self._solved(seeds, SCREEN):
                yield judge(self.policy, shown, self.random, proposer)

    def _cached(self, name: str, make: Callable[[], list[Sequence]]) -> list[Sequence]:
        path = self.directory / f"{name}.pt"
        if not path.is_file():
            save_sequences(make(), path)
        return load_sequences(path)

    def _endless(self, sequences: list[Sequence]) -> Iterator[Batch]:
        while True:
            yield from batches(sequences, TOKENS, self.policy.chat.image_pad, self.random)

    def _save(self) -> None:
        models = {"policy": self.policy.model.state_dict()}
        if self.prm is not None:
            models["prm"] = self.prm.policy.model.state_dict()
        if self.critic is not None:
            models["critic"] = self.critic.state_dict()
        state = {
            "seconds": self.seconds, "models": models,
            "curriculum": (self.curriculum.elements, self.curriculum.screens),
            "optimizers": self._optimizers.state_dict() if self._optimizers else None,
        }  # fmt: skip
        partial = self._state.with_suffix(".tmp")
        torch.save(state, partial)
        partial.replace(self._state)

    def _restore(self, state: dict[str, Any]) -> None:
        models = state["models"]
        self.seconds = state["seconds"]
        self.curriculum.elements, self.curriculum.screens = state["curriculum"]
        self.policy.model.load_state_dict(models["policy"])
        trained: nn.Module = self.policy.model
        if "prm" in models:
            self.prm = GenerativePRM(_copy(self.policy))
            self.prm.policy.model.load_state_dict(models["prm"])
            trained = self.prm.policy.model
        if "critic" in models:
            self.critic = Critic.from_policy(self.policy)
            self.critic.load_state_dict(models["critic"])
            trained = self.critic
        stage = next((s for s in STAGES if self.seconds[s] < 60 * self.minutes[s]), None)
        if state["optimizers"] is not None and stage is not None and self.seconds[stage] > 0:
            self._optimizers = Optimizers(trained, RATES[stage])
            self._optimizers.load_state_dict(state["optimizers"])


def _copy(policy: Policy) -> Policy:
    return Policy(deepcopy(policy.model), policy.tokenizer, policy.image_processor, policy.dialect)


def value_loss(critic: Critic, policy: Policy, judged: Judged) -> tuple[Tensor, Tensor]:
    """Computes the squared error of Q against 1 for good and 0 for bad answers.

    In every state both kinds have the same weight, whatever their numbers.

    Returns:
        The loss, and for every answer whether its Q is on the correct side of 1/2.
    """
    losses, right = [], []
    for q, verdicts in zip(critic.q_values(build_tree(policy, judged.episode)), judged.good, strict=True):
        truth = torch.tensor(verdicts, dtype=torch.float32, device=q.device)
        if not all(verdicts):  # the expert's own answer is good, so both kinds are there
            weights = torch.where(truth > 0, 0.5 / truth.sum(), 0.5 / (1 - truth).sum())
            losses.append((weights * (q - truth) ** 2).sum())
            right.append((q > 0.5) == (truth > 0.5))
    return torch.stack(losses).mean(), torch.cat(right)


def main() -> None:
    """Runs the command."""
    program = "python -m coach_gym.agents.pocket.train"
    parser = argparse.ArgumentParser(prog=program, description="Makes the pocket models.")
    parser.add_argument("--minutes", type=float, default=float("inf"), help="stop after so long; run again to go on")
    parser.add_argument("--out", type=Path, default=Path("runs/pocket"), help="state and data between slices")
    parser.add_argument("--weights", type=Path, default=Path(__file__).parent / "weights")
    parser.add_argument("--device", default="auto")
    parser.add_argument("--threads", type=int, default=1, help="threads of torch")
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    workshop = Workshop(arguments.out, arguments.device)
    if workshop.run(time.monotonic() + 60 * arguments.minutes):
        workshop.publish(arguments.weights)
        print(f"written: {arguments.weights}/policy, prm, critic")
    else:
        print("to go on, run the same command again")


if __name__ == "__main__":
    main()
