"""Training on several processes: FSDP2, applied to the models from outside.

Where `torch.distributed` is initialised, as `torchrun` does it, an agent's `learn` calls `distribute`: weights,
gradients and optimiser states of policy and critic are spread over the processes, layer by layer. Every process plays
its share of the episodes and learns from it. What differs from one process:

- Gradients are averaged over processes, so a loss is divided by the mean over processes of the number of tokens: the
  update is that of one process with all episodes.
- A pass through a sharded model gathers each layer from all processes, so all have to make the same number of passes,
  though their episodes differ in number and length. `in_step` has those that are done take part in the others' passes.
- Sampling takes many passes whose number nobody knows. So it has a whole copy of the policy, in the precision of
  the passes, which gets the new weights after every update; or a server has it, which all processes share.
"""

import math
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from copy import copy, deepcopy
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import numpy as np
import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.distributed.device_mesh import DeviceMesh, init_device_mesh
from torch.distributed.fsdp import FSDPModule, MixedPrecisionPolicy, fully_shard
from torch.distributed.tensor import DTensor, distribute_tensor
from torch.nn.utils import clip_grad_norm_
from torch.optim import Optimizer
from torch.utils._pytree import tree_map
from transformers.modeling_layers import GradientCheckpointingLayer

from coach_gym.agents.distributed import processes
from coach_gym.agents.generation import make_generator
from coach_gym.agents.generation.vllm.client import ServedGenerator
from coach_gym.agents.models.architectures import untrained_backbone, untrained_model
from coach_gym.agents.models.critic import Critic
from coach_gym.agents.models.policy import Policy
from coach_gym.agents.models.tree import Tree, build_tree
from coach_gym.episode import Candidate, Episode, Observation, Step

if TYPE_CHECKING:
    from coach_gym.agents.training.online import OnlineAgent

_BLANK: "WeakKeyDictionary[nn.Module, Tree]" = WeakKeyDictionary()  # of every sharded model: what `in_step` passes


def is_sharded(model: nn.Module) -> bool:
    """Whether the model is spread over processes."""
    return isinstance(model, FSDPModule)


def distribute(agent: "OnlineAgent") -> None:
    """Spreads an agent over the processes; does nothing if there are none, or if it is spread already.

    All processes hold the same agent when they call this. Afterwards its optimizers hold shards, its generator
    samples from a whole copy of the policy, episodes are drawn with the same generator on all processes, of which
    each plays its share, and each process samples with random numbers of its own.

    Args:
        agent: built as for one process. Its models may be on the CPU: they are moved to the process' device shard
            by shard, so that a device never holds them whole, apart from the copy for sampling.

    Raises:
        ValueError: Batch sizes do not divide by the number of processes, or there are no processes and the agent
            was asked for `bfloat16`.
    """
    if agent.checkpoint_activations:
        _checkpoint_activations(agent)
    if not dist.is_initialized():
        if agent.bfloat16:
            raise ValueError("bfloat16=True needs torch.distributed; start training with torchrun, on one GPU as well")
        return
    if is_sharded(agent.policy.model):
        return
    _check_sizes(agent)
    device = own_device()
    dtype = torch.bfloat16 if agent.bfloat16 else agent.policy.model.dtype
    served = isinstance(agent.generator, ServedGenerator)
    if not served:
        sampler = copy(agent.policy)
        sampler.model = deepcopy(agent.policy.model).to(device, dtype).requires_grad_(False)
    blank = blank_tree(agent.policy)
    mesh = init_device_mesh(device.type, (processes.size(),))
    for name, model in agent.models.items():
        before = list(model.parameters())
        shard(model, mesh, dtype)
        _BLANK[model] = blank
        _move_optimizer(agent.optimizers[f"{name}.optimizer"], before, list(model.parameters()))
    agent.device = device
    if served:
        refresh_sampler(agent)
    else:
        agent.generator = make_generator(agent.generation, sampler)
    window = max(1, agent.stats_window_size // processes.size())
    agent.ep_info_buffer = deque(agent.ep_info_buffer, window)
    agent.ep_success_buffer = deque(agent.ep_success_buffer, window)
    split_randomness(agent)


def _checkpoint_activations(agent: "OnlineAgent") -> None:
    backbones = [agent.policy.model] if agent.critic is None else [agent.policy.model, agent.critic.backbone]
    for backbone in backbones:
        backbone.gradient_checkpointing_enable({"use_reentrant": False})
        backbone.train()  # layers keep no activations back in evaluation; there is no dropout that this would turn on


def _check_sizes(agent: "OnlineAgent") -> None:
    number = processes.size()
    if agent.batch_size % (number * agent.group_size):
        raise ValueError(
            f"batch_size={agent.batch_size} episodes in groups of {agent.group_size} cannot be shared by {number} "
            f"processes; use a multiple of {number * agent.group_size}"
        )
    if agent.mini_batch_size is not None and agent.mini_batch_size % number:
        raise ValueError(
            f"mini_batch_size={agent.mini_batch_size} episodes cannot be shared by {number} processes; use a "
            f"multiple of {number}, or None for the whole roll-out"
        )


def own_device() -> torch.device:
    """Where this process trains."""
    if dist.get_backend() == "gloo":
        return torch.device("cpu")
    return torch.device("cuda", torch.cuda.current_device())


def shard(model: nn.Module, mesh: DeviceMesh, dtype: torch.dtype) -> None:
    """Spreads a model's weights over a mesh: every decoder layer and vision block by itself, then what is left.

    Args:
        model: of one of the `ARCHITECTURES`, or a critic with one as backbone; tied embeddings stay tied.
        mesh: of one dimension.
        dtype: of the passes. Weights, optimiser states and the sums of gradients keep the precision of the weights.
    """
    # Inputs are left as they are: the model casts what it has to, and rotary angles do not bear bfloat16.
    precision = MixedPrecisionPolicy(param_dtype=dtype, reduce_dtype=torch.float32, cast_forward_inputs=False)
    for module in model.modules():
        if isinstance(module, GradientCheckpointingLayer):
            fully_shard(module, mesh=mesh, mp_policy=precision)
    if isinstance(model, Critic):  # what tells candidates apart is smaller than bfloat16's steps
        exact = MixedPrecisionPolicy(cast_forward_inputs=False)
        fully_shard(model.value_head, mesh=mesh, mp_policy=exact, reshard_after_forward=True)
    fully_shard(model, mesh=mesh, mp_policy=precision, reshard_after_forward=True)


def _move_optimizer(optimizer: Optimizer, before: Sequence[nn.Parameter], after: Sequence[nn.Parameter]) -> None:
    """Lets an optimizer go on with the shards of the parameters that it had."""
    shards = dict(zip(before, after, strict=True))
    for group in optimizer.param_groups:
        group["params"] = [shards[parameter] for parameter in group["params"]]
    for old, new in shards.items():
        if old in optimizer.state:
            optimizer.state[new] = {name: shard_like(new, value) for name, value in optimizer.state.pop(old).items()}


def shard_like(parameter: Tensor, value: Any) -> Any:
    """A tensor of a parameter's shape, spread as the parameter is; anything else as it is."""
    if not isinstance(parameter, DTensor) or not isinstance(value, Tensor) or value.shape != parameter.shape:
        return value
    return distribute_tensor(value.to(parameter.device), parameter.device_mesh, parameter.placements)


def split_randomness(agent: "OnlineAgent") -> None:
    """One stream for what all processes decide alike, one for each of them for sampling; the first keeps its own."""
    agent.rng.bit_generator.state = processes.gather(agent.rng.bit_generator.state)[0]
    if processes.rank() > 0:
        torch.manual_seed(int(deepcopy(agent.rng).integers(1 << 31)) + processes.rank())


def blank_tree(policy: Policy) -> Tree:
    """The least that a model can be passed: a blank screen, answered with the end of the turn."""
    screen = Observation(np.zeros((56, 56, 3), np.uint8))
    return build_tree(policy, Episode("", [Step(screen, [Candidate("", [policy.eos], [0.0])], 0, "")]))


@contextmanager
def in_step(model: nn.Module, estimate: Callable[[Tree], Tensor]) -> Iterator[None]:
    """While inside, processes make as many passes through a sharded model as they like.

    Every pass is announced to the others. At the end, a process whose passes are done takes part in those that others
    announce, with a blank screen and a loss of zero, until all are done. All processes have to enter together. A pass
    with gradient is to be followed by its backward pass, before the next one.

    Args:
        model: sharded or not; if not, nothing happens.
        estimate: one pass through the model.
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
    """Scales the gradients of all processes down to a norm, and returns the norm before.

    Raises:
        FloatingPointError: It is infinite or not a number, in all processes; a step with it would spoil every weight.
    """
    norm = clip_grad_norm_([p for group in optimizer.param_groups for p in group["params"]], max_norm)
    value = float(norm.full_tensor() if isinstance(norm, DTensor) else norm)
    if not math.isfinite(value):
        raise FloatingPointError(
            f"the norm of the gradient is {value}, so no step was made with it and the weights are as before: either "
            f"the sampler's log-probabilities are far from the trainer's (common with 16-bit samplers; "
            f"recompute_log_probs=True scores them anew), or earlier steps were too large (go on from an earlier "
            f"checkpoint with a smaller learning_rate or critic_learning_rate)"
        )
    return value


@torch.no_grad()
def refresh_sampler(agent: "OnlineAgent") -> None:
    """Gives the policy's current weights to the copy that is sampled from, or to the server that has it."""
    if not is_sharded(agent.policy.model):
        return
    if isinstance(agent.generator, ServedGenerator):
        agent.generator.follow(torch.bfloat16 if agent.bfloat16 else agent.policy.model.dtype)
        return
    sampler = agent.generator.policy.model
    for whole, part in zip(sampler.parameters(), agent.policy.model.parameters(), strict=True):
        rounded = part.to(whole.dtype)
        assert isinstance(rounded, DTensor)
        whole.copy_(rounded.full_tensor())


def gather_state(state: Any) -> Any:
    """A state dict with whole tensors in place of shards: on the CPU of the first process, on others emptied."""
    if processes.size() == 1:
        return state

    def whole(value: Any) -> Any:
        if not isinstance(value, DTensor):
            return value
        full = value.full_tensor()
        return full.cpu() if processes.rank() == 0 else full.new_empty(0)

    return tree_map(whole, state)


def whole_policy(agent: "OnlineAgent") -> Policy:
    """The agent's policy itself, or if it is spread a whole copy, with weights on the first process only."""
    if not is_sharded(agent.policy.model):
        return agent.policy
    model, policy = agent.policy.model, copy(agent.policy)
    with torch.device("meta"):
        empty = untrained_model(model.config, model.dtype)
    policy.model = _whole(model, empty)
    policy.model.tie_weights()
    return policy


def whole_critic(agent: "OnlineAgent") -> Critic | None:
    """Likewise, the critic."""
    if agent.critic is None or not is_sharded(agent.critic):
        return agent.critic
    backbone = agent.critic.backbone
    with torch.device("meta"):
        empty = Critic(untrained_backbone(backbone.config, backbone.dtype))
    return _whole(agent.critic, empty)


def _whole(model: nn.Module, empty: Any) -> Any:
    """Fills a model that takes no memory yet, and draws no random numbers, with another's weights and buffers."""
    state = gather_state(model.state_dict())
    if processes.rank() == 0:
        empty.load_state_dict(state, assign=True)
        for name, buffer in model.named_buffers():
            owner, _, short = name.rpartition(".")
            setattr(empty.get_submodule(owner), short, buffer.cpu())
    return empty
