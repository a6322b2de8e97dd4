"""A training run that can be killed: sharded over ranks, saved as it goes, and picked up again.

It runs on the ranks of the course and under torchrun alike. What a run needs to go on is in its
folder: checkpoints of `torch.distributed.checkpoint`, which any number of ranks can read, and what
each rank wrote into its log.
"""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist
import torch.distributed.checkpoint as dcp
from torch import Tensor, nn
from torch.distributed.checkpoint.state_dict import get_state_dict, set_state_dict
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard
from torch.nn import functional

WIDTH = 24
CLASSES = 5
BATCH = 12
"""Rows of a step, whatever the number of ranks: 1, 2, 3, 4 or 6 share them evenly."""
EVERY = 3
"""Steps between two checkpoints."""
SEED = 32


@dataclass(frozen=True)
class Logged:
    """What a rank wrote of a step.

    Attributes:
        attempt: the how-manieth start of the run, from 0.
        rank: who wrote it, of `size`.
        step: from 0.
        loss: of the whole batch, before the step.
        rows: that this rank took.
    """

    attempt: int
    rank: int
    size: int
    step: int
    loss: float
    rows: tuple[int, ...]


def rows_of(step: int, rank: int, size: int) -> list[int]:
    """Returns the rows of a rank in a step: the batch hangs on the step alone.

    >>> sorted(rows_of(0, 0, 2) + rows_of(0, 1, 2)) == sorted(rows_of(0, 0, 1))
    True
    """
    order = torch.randperm(100 * BATCH, generator=torch.Generator().manual_seed(SEED))
    batch: list[int] = order[step * BATCH : (step + 1) * BATCH].tolist()
    return batch[rank::size]


def drawn(rows: list[int]) -> tuple[Tensor, Tensor]:
    """Returns (x, target) of rows; each row is drawn from its own number."""
    x = torch.stack([torch.randn(WIDTH, generator=_generator(row)).double() for row in rows])
    return x, (x[:, :CLASSES]).argmax(dim=1)


def _generator(row: int) -> torch.Generator:
    return torch.Generator().manual_seed(SEED + 1 + row)


def new_model() -> nn.Sequential:
    """Returns the model at step 0, the same on every rank."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(SEED)
        return nn.Sequential(
            nn.Linear(WIDTH, 2 * WIDTH),
            nn.GELU(),
            nn.Linear(2 * WIDTH, CLASSES),
        ).double()


def train(
    folder: str,
    steps: int,
    attempt: int = 0,
    kill: tuple[int, int] | None = None,
    tell: Callable[[str], None] = lambda what: None,
) -> dict[str, Any]:
    """Trains from the newest whole checkpoint of a folder, or from the beginning.

    Every rank of the default group calls it.

    Args:
        folder: for checkpoints and logs, shared by all ranks.
        steps: how many the run has in all.
        attempt: the how-manieth start of the run this is, for the log.
        kill: (rank, step) at which a process ends itself, as the system would end it.
        tell: is told in words how far this rank is.

    Returns:
        "began", the step it went on from; "losses" of the steps since.
    """
    rank, size = dist.get_rank(), dist.get_world_size()
    mesh = init_device_mesh("cpu", (size,), mesh_dim_names=("dp",))
    model = new_model()
    fully_shard(model, mesh=mesh)
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.02)
    # A group of its own: messages of a write in the background must not meet those of a step.
    saver: Any = dist.new_group(backend="gloo")
    began, losses = _resumed(folder, model, optimizer, saver), []
    pending: Future[Any] | None = None
    tell(f"goes on with step {began}")
    for step in range(began, steps):
        rows = rows_of(step, rank, size)
        x, target = drawn(rows)
        own = functional.cross_entropy(model(x), target)
        if kill is not None and tuple(kill) == (rank, step):
            # All others have begun the step by now, and will wait for this rank's gradients.
            tell(f"is killed in step {step}")
            os.kill(os.getpid(), signal.SIGKILL)
        own.backward()  # type: ignore[no-untyped-call]
        loss = _mean(own, size)
        optimizer.step()
        optimizer.zero_grad()
        losses.append(loss)
        _log(folder, Logged(attempt, rank, size, step, loss, tuple(rows)))
        tell(f"has done step {step}")
        if pending is not None:
            pending.result()
            pending = None
        if (step + 1) % EVERY == 0 and step + 1 < steps:
            path = os.path.join(folder, f"step-{step + 1:06d}")
            state = _state(model, optimizer)
            pending = dcp.async_save(state, checkpoint_id=path, process_group=saver)  # type: ignore[assignment]
    if pending is not None:
        pending.result()
    return {"began": began, "losses": losses}


def _mean(own: Tensor, size: int) -> float:
    """Returns the mean of a number over all ranks."""
    whole = own.detach() / size
    dist.all_reduce(whole)
    return float(whole)


def _state(model: nn.Module, optimizer: torch.optim.Optimizer) -> dict[str, Any]:
    weights, states = get_state_dict(model, optimizer)
    return {"model": weights, "optimizer": states}


def _resumed(
    folder: str, model: nn.Module, optimizer: torch.optim.Optimizer, saver: dist.ProcessGroup
) -> int:
    """Loads the newest whole checkpoint, and returns the step to go on with."""
    step = newest(folder)
    if not step:
        return 0
    state = _state(model, optimizer)
    dcp.load(state, checkpoint_id=os.path.join(folder, f"step-{step:06d}"), process_group=saver)
    set_state_dict(
        model,
        optimizer,
        model_state_dict=state["model"],
        optim_state_dict=state["optimizer"],
    )
    return step


def newest(folder: str | os.PathLike[str]) -> int:
    """Returns the step of the newest checkpoint that is whole; 0 where there is none.

    Its table of contents is written last: a folder without one was given up half way.
    """
    found = Path(folder).glob("step-*/.metadata")
    return max((int(each.parent.name.partition("-")[2]) for each in found), default=0)


def _log(folder: str, logged: Logged) -> None:
    with open(os.path.join(folder, f"log-{logged.rank}.jsonl"), "a", encoding="utf-8") as log:
        log.write(json.dumps(vars(logged)) + "\n")


def logs(folder: str | os.PathLike[str]) -> list[Logged]:
    """Returns what all ranks wrote, by attempt, step and rank."""
    found = []
    for path in Path(folder).glob("log-*.jsonl"):
        for line in path.read_text(encoding="utf-8").splitlines():
            told = json.loads(line)
            found.append(Logged(**told | {"rows": tuple(told["rows"])}))
    return sorted(found, key=lambda each: (each.attempt, each.step, each.rank))
