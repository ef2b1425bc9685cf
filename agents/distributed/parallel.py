"""Training on several processes: FSDP2, applied to the models from outside.

If `torch.distributed` is initialised, as by `torchrun`, an agent's `learn` calls `shard_learner`: weights, gradients
and optimizer states of policy and critic are sharded over the processes, layer by layer. Each process plays its share
of the episodes and learns from it. Three things differ from a single process:

- Gradients are averaged over processes, so a loss is divided by the mean over processes of the number of tokens. The
  update is then that of one process with all episodes.
- A pass through a sharded model gathers each layer from all processes, so all must make the same number of passes,
  although their episodes differ in number and length. In `in_step`, processes that are done join the others' passes.
- Sampling takes an unknown number of passes. It therefore uses a whole copy of the policy, in the precision of the
  passes, which receives the new weights after every update; or an engine of vLLM in each process, which does
  likewise and sleeps during updates; or a server that all processes share.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from copy import copy, deepcopy
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.distributed.device_mesh import DeviceMesh, init_device_mesh
from torch.distributed.fsdp import (
    CPUOffloadPolicy,
    FSDPModule,
    MixedPrecisionPolicy,
    OffloadPolicy,
    fully_shard,
)
from torch.distributed.tensor import DTensor, distribute_tensor
from torch.nn.utils import clip_grad_norm_
from torch.optim import Optimizer
from torch.utils._pytree import tree_map
from transformers.modeling_layers import GradientCheckpointingLayer

from coach_gym.agents.distributed import processes
from coach_gym.agents.generation.generator import Generator
from coach_gym.agents.generation.make import Generation, make_generator
from coach_gym.agents.generation.vllm.generator import VllmGenerator
from coach_gym.agents.models.architectures import untrained_backbone, untrained_model
from coach_gym.agents.models.critic import Critic
from coach_gym.agents.models.learner import CompactOptimizer, Learner
from coach_gym.agents.models.lora import add_like, has_lora
from coach_gym.agents.models.policy import Policy
from coach_gym.agents.models.tree import Tree, build_tree
from coach_gym.episode import Candidate, Episode, Observation, Step

_BLANK: "WeakKeyDictionary[nn.Module, Tree]" = WeakKeyDictionary()  # by sharded model: what `in_step` passes


def is_sharded(model: nn.Module) -> bool:
    """Returns whether a model is sharded over processes."""
    return isinstance(model, FSDPModule)


def shard_learner(
    learner: Learner,
    generator: Generator,
    generation: Generation,
    bfloat16: bool,
    checkpoint_activations: bool,
    cpu_offload: bool = False,
) -> Generator:
    """Shards a learner over the processes of `torch.distributed`.

    All processes hold the same learner when they call this. Afterwards its models and optimizers hold shards. Without
    processes, or if the learner is sharded already, nothing changes.

    Args:
        learner: Built as for one process. Its models may be on the CPU: they move to the process's device shard by
            shard, so that a device never holds them whole, except for the copy that is sampled from. Models without
            adapters become float32.
        generator: Generator of the unsharded policy.
        generation: How to make a generator for the copy of the policy that is sampled from.
        bfloat16: Makes forward and backward passes in bfloat16.
        checkpoint_activations: Recomputes activations in the backward pass.
        cpu_offload: Keeps shards of weights, gradients and optimizer states on the host.

    Returns:
        The generator to sample from: of a whole copy of the policy, or `generator` itself if it is vLLM's, here or in a
        server.

    Raises:
        ValueError: `bfloat16` or `cpu_offload` was requested without processes.
    """
    if checkpoint_activations:
        recompute_activations(learner.policy.model)
        if learner.critic is not None:
            recompute_activations(learner.critic.backbone)
    if not dist.is_initialized():
        if cpu_offload:
            raise ValueError("cpu_offload=True needs torch.distributed; start training with torchrun, even on one GPU")
        if bfloat16 and not has_lora(learner.policy.model):
            raise ValueError(
                "bfloat16=True needs torch.distributed; start training with torchrun, even on one GPU, or train "
                "adapters (lora_rank=16)"
            )
        return generator
    if is_sharded(learner.policy.model):
        return generator
    device = own_device()
    dtype = torch.bfloat16 if bfloat16 else torch.float32
    if not isinstance(generator, VllmGenerator):
        sampler = copy(learner.policy)
        sampler.model = _copy_on(device, dtype, learner.policy.model)
        generator = make_generator(generation, sampler)
    blank = blank_tree(learner.policy)
    mesh = init_device_mesh(device.type, (processes.size(),))
    for name, model in learner.models.items():
        before = list(model.parameters())
        _shard_to_train(model, mesh, dtype, cpu_offload, blank)
        _move_optimizer(learner.optimizer(name), before, list(model.parameters()))
    if learner.reference is not None:
        shard(learner.reference.model, mesh, dtype, cpu_offload)
        _BLANK[learner.reference.model] = blank
    if isinstance(generator, VllmGenerator):
        send_weights(learner.policy, generator, bfloat16)
    return generator


def shard_critic(critic: Critic, policy: Policy, bfloat16: bool) -> None:
    """Shards a critic that learns alone over the processes of `torch.distributed`; without any, nothing changes.

    Args:
        critic: As all processes hold it, on the CPU or a device.
        policy: Renders the prompts.
        bfloat16: Makes passes in bfloat16; weights and optimizer states are in float32.
    """
    if dist.is_initialized():
        mesh = init_device_mesh(own_device().type, (processes.size(),))
        _shard_to_train(critic, mesh, torch.bfloat16 if bfloat16 else torch.float32, False, blank_tree(policy))


def _shard_to_train(model: nn.Module, mesh: DeviceMesh, dtype: torch.dtype, cpu_offload: bool, blank: Tree) -> None:
    shard(model, mesh, dtype, cpu_offload)
    if not has_lora(model) and any(parameter.dtype != torch.float32 for parameter in model.parameters()):
        model.float()  # only now: whole weights are read as stored (`Agent`)
    _BLANK[model] = blank


def _copy_on(device: torch.device, dtype: torch.dtype, model: nn.Module) -> Any:
    """Returns a frozen copy of a model on a device, made there weight by weight; buffers keep their precision."""
    there: dict[int, Any] = {id(buffer): buffer.to(device, copy=True) for buffer in model.buffers()}
    for parameter in model.parameters():
        there[id(parameter)] = nn.Parameter(parameter.detach().to(device, dtype, copy=True), requires_grad=False)
    return deepcopy(model, there)


def recompute_activations(backbone: Any) -> None:
    """Keeps one activation per layer of a model for the backward pass, which recomputes the others."""
    backbone.gradient_checkpointing_enable({"use_reentrant": False})
    backbone.train()  # in evaluation mode layers ignore checkpointing; there is no dropout that this would enable


def check_shares(batch_size: int, group_size: int, mini_batch_size: int | None) -> None:
    """Checks that every process has a part of roll-outs and mini-batches; those of roll-outs may differ by one group.

    Raises:
        ValueError: There are too few groups, or a mini-batch does not divide by the number of processes.
    """
    number = processes.size()
    if batch_size % group_size or batch_size < number * group_size:
        raise ValueError(
            f"batch_size={batch_size} episodes in groups of {group_size} cannot be shared by {number} processes; use a "
            f"multiple of {group_size} from {number * group_size} on"
        )
    if mini_batch_size is not None and mini_batch_size % number:
        raise ValueError(
            f"mini_batch_size={mini_batch_size} episodes cannot be shared by {number} processes; use a multiple of "
            f"{number}, or None for the whole roll-out"
        )


def own_device() -> torch.device:
    """Returns the device on which this process trains."""
    if dist.get_backend() == "gloo":
        return torch.device("cpu")
    return torch.device("cuda", torch.cuda.current_device())


def shard(model: nn.Module, mesh: DeviceMesh, dtype: torch.dtype, cpu_offload: bool = False) -> None:
    """Shards a model's weights over a mesh: every decoder layer and vision block by itself, then the rest.

    Args:
        model: A model of one of the `ARCHITECTURES`, or a critic with one as backbone; tied embeddings stay tied.
        mesh: A one-dimensional device mesh.
        dtype: Precision of the passes. Weights, optimizer states and sums of gradients keep that of the weights.
        cpu_offload: Keeps shards on the host; passes fetch them layer by layer, and the optimizer steps there.
    """
    kept = CPUOffloadPolicy(pin_memory=mesh.device_type == "cuda") if cpu_offload else OffloadPolicy()
    # Inputs are not cast: the model casts what it needs to, and rotary angles lose too much in bfloat16.
    precision = MixedPrecisionPolicy(param_dtype=dtype, reduce_dtype=torch.float32, cast_forward_inputs=False)
    for module in model.modules():
        if isinstance(module, GradientCheckpointingLayer):
            fully_shard(module, mesh=mesh, mp_policy=precision, offload_policy=kept)
    if isinstance(model, Critic):  # differences between candidates are smaller than bfloat16's resolution
        exact = MixedPrecisionPolicy(cast_forward_inputs=False)
        fully_shard(model.value_head, mesh=mesh, mp_policy=exact, reshard_after_forward=True, offload_policy=kept)
    fully_shard(model, mesh=mesh, mp_policy=precision, reshard_after_forward=True, offload_policy=kept)


def _move_optimizer(optimizer: Optimizer, before: Sequence[nn.Parameter], after: Sequence[nn.Parameter]) -> None:
    """Replaces an optimizer's parameters by their shards, with their states."""
    shards = dict(zip(before, after, strict=True))
    for group in optimizer.param_groups:
        group["params"] = [shards[parameter] for parameter in group["params"]]
        if group.get("fused") and group["params"][0].device.type != "cpu":  # chosen for the CPU (`make_optimizer`);
            group["fused"] = None  # on a GPU it would want `step` there, too, which checkpoints keep on the CPU
    for old, new in shards.items():
        if old in optimizer.state:
            state = {name: value.dequantize() for name, value in optimizer.state.pop(old).items()}
            optimizer.state[new] = {name: shard_like(new, value) for name, value in state.items()}
    if isinstance(optimizer, CompactOptimizer):
        optimizer.compact()


def shard_like(parameter: Tensor, value: Any) -> Any:
    """Shards a tensor of a parameter's shape as the parameter is sharded; returns anything else unchanged."""
    if not isinstance(parameter, DTensor) or not isinstance(value, Tensor) or value.shape != parameter.shape:
        return value
    return distribute_tensor(value.to(parameter.device), parameter.device_mesh, parameter.placements)


def split_randomness(rng: np.random.Generator) -> None:
    """Gives all processes the first one's generator for shared decisions, and each a torch seed of its own to sample.

    The first process keeps its torch generator.
    """
    rng.bit_generator.state = processes.gather(rng.bit_generator.state)[0]
    if processes.rank() > 0:
        torch.manual_seed(int(deepcopy(rng).integers(1 << 31)) + processes.rank())


def blank_tree(policy: Policy) -> Tree:
    """Returns the smallest valid input of a model: a blank screen, answered with the end of the turn."""
    screen = Observation(np.zeros((56, 56, 3), np.uint8))
    return build_tree(policy, Episode("", [Step(screen, [Candidate("", [policy.eos], [0.0])], 0, "")]))


@contextmanager
def in_step(model: nn.Module, estimate: Callable[[Tree], Tensor]) -> Iterator[None]:
    """Lets each process make any number of passes through a sharded model inside the context.

    Every pass is announced to the other processes. At the end, a process that is done joins the passes that others
    announce, with a blank screen and a loss of zero, until all are done. All processes must enter together. A pass with
    gradient must be followed by its backward pass before the next one.

    Args:
        model: The model; nothing happens unless it is sharded.
        estimate: Makes one pass through the model.
    """
    if not is_sharded(model):
        yield
        return
    announcement = model.register_forward_pre_hook(_announce, prepend=True)
    try:
        yield
    finally:
        announcement.remove()
    while processes.any_of(False):
        value = estimate(_BLANK[model])
        if value.requires_grad:
            (0.0 * value.sum()).backward()


def _announce(*_: Any) -> None:
    processes.any_of(True)


def clip_gradients(optimizer: Optimizer, max_norm: float) -> float:
    """Scales the gradients of all processes down to a norm.

    Returns:
        The norm before scaling.

    Raises:
        FloatingPointError: The norm is not finite; raised in all processes, since a step would spoil every weight.
    """
    norm = clip_grad_norm_([p for group in optimizer.param_groups for p in group["params"]], max_norm)
    value = float(norm.full_tensor() if isinstance(norm, DTensor) else norm)
    if not math.isfinite(value):
        raise FloatingPointError(
            f"the norm of the gradient is {value}, so no step was made and the weights are unchanged: either the "
            f"sampler's log-probabilities are far from the trainer's (common with 16-bit samplers; "
            f"recompute_log_probs=True recomputes them), or earlier steps were too large (continue from an earlier "
            f"checkpoint with a smaller learning_rate or critic_learning_rate)"
        )
    return value


@torch.no_grad()
def send_weights(policy: Policy, generator: Generator, bfloat16: bool) -> None:
    """Sends the policy's current weights to the copy that is sampled from, be it here, in vLLM, or in a server.

    Does nothing unless the policy is sharded: otherwise generators follow its weights by themselves.

    Args:
        policy: The policy that is trained.
        generator: The generator that `shard_learner` returned.
        bfloat16: Whether vLLM receives the weights in bfloat16.
    """
    if not is_sharded(policy.model):
        return
    if isinstance(generator, VllmGenerator):
        generator.follow(torch.bfloat16 if bfloat16 else policy.model.dtype)
        return
    sampler = generator.policy.model
    for whole, part in zip(sampler.parameters(), policy.model.parameters(), strict=True):
        rounded = part.to(whole.dtype)
        assert isinstance(rounded, DTensor)
        whole.copy_(rounded.full_tensor())


def gather_state(state: Any) -> Any:
    """Replaces the shards in a state dict by whole tensors, on the CPU of the first process; others get empty ones."""

    def whole(value: Any) -> Any:
        if not isinstance(value, DTensor):
            return value
        full = value.full_tensor()
        return full.cpu() if processes.rank() == 0 else full.new_empty(0)

    return tree_map(whole, state)


def whole_policy(policy: Policy) -> Policy:
    """Returns the policy, or a whole copy if it is sharded, whose weights only the first process holds."""
    if not is_sharded(policy.model):
        return policy
    model, whole = policy.model, copy(policy)
    with torch.device("meta"):
        empty = untrained_model(model.config, model.dtype)
        add_like(empty, model)
    whole.model = _whole(model, empty)
    whole.model.tie_weights()
    return whole


def whole_critic(critic: Critic) -> Critic:
    """Returns the critic, or a whole copy if it is sharded, whose weights only the first process holds."""
    if not is_sharded(critic):
        return critic
    backbone = critic.backbone
    with torch.device("meta"):
        empty = Critic(untrained_backbone(backbone.config, backbone.dtype))
        add_like(empty.backbone, backbone)
    return _whole(critic, empty)


def _whole(model: nn.Module, empty: Any) -> Any:
    """Fills a model on the meta device with another's weights and buffers, without drawing random numbers."""
    state = gather_state(model.state_dict())
    if processes.rank() == 0:
        empty.load_state_dict(state, assign=True)
        for name, buffer in model.named_buffers():
            owner, _, short = name.rpartition(".")
            setattr(empty.get_submodule(owner), short, buffer.cpu())
    return empty
