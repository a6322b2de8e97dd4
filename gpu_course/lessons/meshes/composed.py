"""torchtitan's composition on forked ranks: fully_shard x tensor parallel x pipeline, by PyTorch.

Each of the three is PyTorch's own, and each gets its axis of one device mesh: `parallelize_module`
cuts the layers of a stage over "tp", `fully_shard` cuts what is left over "dp", and a schedule of
`torch.distributed.pipelining` runs stages over "pp". The order is torchtitan's: tensor parallelism
first, then FSDP around it, the pipeline outside.

Source: pytorch/torchtitan, torchtitan/models/llama3/infra/parallelize.py and
torchtitan/distributed/pipeline_parallel.py; Liang and others 2024, arXiv 2410.06511.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional


class Block(nn.Module):
    """An MLP beside its input, with a norm before it."""

    def __init__(self, hidden: int) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(hidden)
        self.up = nn.Linear(hidden, 2 * hidden)
        self.down = nn.Linear(2 * hidden, hidden)

    def forward(self, x: Tensor) -> Tensor:
        """Returns the block's output, of the shape of x."""
        return x + self.down(functional.gelu(self.up(self.norm(x))))  # type: ignore[no-any-return]


@dataclass(frozen=True)
class Composed:
    """What a rank has after both passes.

    Attributes:
        loss: the mean over this rank's microbatches, on the last stage; None elsewhere.
        off: by how much the furthest of its gradients is off from one process, over its largest.
        gradients: how many weights have one.
        lost: names of weights without a gradient.
        numbers: of the weights that this rank holds.
    """

    loss: float | None
    off: float
    gradients: int
    lost: tuple[str, ...]
    numbers: int


def compose(
    dp: int, tp: int, pp: int, hidden: int = 16, batch: int = 8, seed: int = 29
) -> Composed:
    """Returns what this rank has of one step, beside the same model in one process.

    Every rank calls it. A size of 1 leaves its axis out.

    Args:
        dp, tp, pp: ranks along each axis; they multiply to the number of ranks.
        hidden: width of the model, which tp divides.
        batch: rows of all ranks of dp together.
        seed: of weights and data.
    """
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.fsdp import fully_shard
    from torch.distributed.tensor.parallel import (
        ColwiseParallel,
        RowwiseParallel,
        parallelize_module,
    )

    mesh = init_device_mesh("cpu", (pp, dp, tp), mesh_dim_names=("pp", "dp", "tp"))
    at = {axis: mesh.get_local_rank(axis) for axis in ("pp", "dp", "tp")}
    blocks, x, target = _drawn(pp, hidden, batch, seed)
    _, whole = _whole(blocks, x, target)
    layers = range(2 * at["pp"], 2 * at["pp"] + 2)
    stage = nn.Sequential(*(blocks[layer] for layer in layers))
    if tp > 1:
        cut = {"up": ColwiseParallel(), "down": RowwiseParallel()}
        for block in stage:
            parallelize_module(block, mesh["tp"], cut)
    if dp > 1:
        for block in stage:
            fully_shard(block, mesh=mesh["dp"], reshard_after_forward=pp == 1)
        fully_shard(stage, mesh=mesh["dp"], reshard_after_forward=pp == 1)
    rows = x.chunk(dp)[at["dp"]], target.chunk(dp)[at["dp"]]
    loss = _step(stage, mesh["pp"], *rows) if pp > 1 else _one_stage(stage, *rows)
    names = [name for name, _ in stage.named_parameters()]
    found = dict(stage.named_parameters())
    off = [
        _off(found[name], whole[layers[int(name.split(".")[0])]][name.split(".", 1)[1]])
        for name in names
        if found[name].grad is not None
    ]
    return Composed(
        loss=loss,
        off=max(off, default=0.0),
        gradients=len(off),
        lost=tuple(name for name in names if found[name].grad is None),
        numbers=sum(_local(each).numel() for each in found.values()),
    )


def _drawn(pp: int, hidden: int, batch: int, seed: int) -> tuple[list[Block], Tensor, Tensor]:
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        blocks = [Block(hidden).double() for _ in range(2 * pp)]
        x, target = torch.randn(2, batch, hidden, dtype=torch.float64)
    return blocks, x, target


def _whole(blocks: list[Block], x: Tensor, target: Tensor) -> tuple[float, list[dict[str, Tensor]]]:
    """Returns the loss and the gradients of one process, and leaves no gradient behind."""
    model = nn.Sequential(*blocks)
    loss = functional.mse_loss(model(x), target)
    loss.backward()  # type: ignore[no-untyped-call]
    found = [
        {
            name: each.grad.clone()
            for name, each in block.named_parameters()
            if each.grad is not None
        }
        for block in blocks
    ]
    model.zero_grad()
    return float(loss.detach()), found


def _one_stage(stage: nn.Module, x: Tensor, target: Tensor) -> float:
    loss = functional.mse_loss(stage(x), target)
    loss.backward()  # type: ignore[no-untyped-call]
    return float(loss.detach())


def _step(stage: nn.Module, mesh: Any, x: Tensor, target: Tensor) -> float | None:
    from torch.distributed.pipelining import PipelineStage, Schedule1F1B

    number, stages, microbatches = mesh.get_local_rank(), mesh.size(), 2
    device = torch.device("cpu")
    here = PipelineStage(stage, number, stages, device, group=mesh.get_group())
    schedule = Schedule1F1B(here, microbatches, loss_fn=functional.mse_loss)
    losses: list[Tensor] = []
    if number == 0:
        schedule.step(x)
    elif number == stages - 1:
        schedule.step(target=target, losses=losses)
        return float(torch.stack(losses).mean().detach())
    else:
        schedule.step()
    return None


def _local(x: Tensor) -> Tensor:
    found: Tensor = x.to_local() if hasattr(x, "to_local") else x  # type: ignore[operator]
    return found


def _off(weight: nn.Parameter, right: Tensor) -> float:
    gradient: Any = weight.grad
    whole = gradient.full_tensor() if hasattr(gradient, "full_tensor") else gradient
    return float((whole - right).abs().max() / right.abs().max())
