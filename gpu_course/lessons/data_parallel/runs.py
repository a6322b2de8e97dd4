"""What lesson 22 runs on ranks: an answer's hooks, PyTorch's DDP, Hugging Face Accelerate."""

from __future__ import annotations

import importlib
from types import ModuleType
from typing import Any

import torch
import torch.distributed as dist
from torch import nn

from gpu_course.lessons.data_parallel.training import (
    BATCH,
    RATE,
    SHAPE,
    STEPS,
    flat,
    own_tokens,
    take_steps,
    tiny_gpt,
)
from gpu_course.measure.model import Shape, drawn_gpt, next_token_loss, random_tokens
from gpu_course.ranks.wire import mark


def beside_ddp(answer: ModuleType, function: str, bucket_bytes: int) -> dict[str, float]:
    """Returns how far an answer's training is from that of DDP and of one process.

    Whoever reads the marks of the run knows when a backward pass begins and ends, and when each
    gradient is there.

    Args:
        answer: with the function.
        function: "ddp", called with a model, or "bucketed", called with `bucket_bytes` too.
        bucket_bytes: 0 for `ddp`.

    Returns:
        "from DDP" and "from one process": the largest difference of a weight.
    """
    rank, ranks = dist.get_rank(), dist.get_world_size()
    tokens, prepare = own_tokens(ranks, rank), getattr(answer, function)
    mine = tiny_gpt(0 if bucket_bytes else rank)
    for number, parameter in enumerate(mine.parameters()):
        parameter.register_post_accumulate_grad_hook(lambda _, number=number: mark(number))
    finish = prepare(mine, bucket_bytes) if bucket_bytes else prepare(mine)
    weights = take_steps(mine, tokens, mine.forward, finish or (lambda: None), mark)
    theirs = tiny_gpt(rank)
    wrapped = nn.parallel.DistributedDataParallel(theirs)
    by_ddp = take_steps(theirs, tokens, wrapped)
    alone = tiny_gpt()
    by_one = take_steps(alone, random_tokens(SHAPE, BATCH), alone.forward)
    return {
        "from DDP": float((weights - by_ddp).abs().max()),
        "from one process": float((weights - by_one).abs().max()),
    }


BIG = Shape(hidden=128, heads=4, layers=4, sequence=16, vocabulary=256, dropout=0.0)
"""A GPT of 3.4 MB in float32: large enough for more than one of DDP's buckets."""


def ddp_passes(bucket_mib: float | None, find_unused: bool) -> int:
    """Takes three backward passes under PyTorch's DDP, and returns how many parameters there are.

    A mark with its number stands before each pass.

    Args:
        bucket_mib: `bucket_cap_mb`; None for PyTorch's own.
        find_unused: `find_unused_parameters`.
    """
    model = drawn_gpt(BIG).float()
    wrapped = nn.parallel.DistributedDataParallel(
        model, bucket_cap_mb=bucket_mib, find_unused_parameters=find_unused
    )
    tokens = own_tokens(dist.get_world_size(), dist.get_rank(), BIG)
    for number in range(3):
        mark(number)
        next_token_loss(wrapped(tokens), tokens).backward()  # type: ignore[no-untyped-call]
        model.zero_grad()
    return len(list(model.parameters()))


def under_accelerate() -> dict[str, Any]:
    """Returns what the same training is under Hugging Face Accelerate.

    Returns:
        "missing": True where it is not installed; else "wraps": what it makes of the model, and
        "from one process": the largest difference of a weight.
    """
    try:
        accelerate = importlib.import_module("accelerate")
    except ImportError:
        return {"missing": True}
    accelerator = accelerate.Accelerator(cpu=True)
    model = tiny_gpt(dist.get_rank())
    optimizer = torch.optim.SGD(model.parameters(), lr=RATE)
    batch = random_tokens(SHAPE, BATCH)
    loader: Any = torch.utils.data.DataLoader(batch, batch_size=BATCH // dist.get_world_size())  # type: ignore[arg-type]
    wrapped, optimizer, loader = accelerator.prepare(model, optimizer, loader)
    for _ in range(STEPS):
        for tokens in loader:
            accelerator.backward(next_token_loss(wrapped(tokens), tokens))
            optimizer.step()
            optimizer.zero_grad()
    alone = tiny_gpt()
    by_one = take_steps(alone, batch, alone.forward)
    return {
        "missing": False,
        "wraps": type(wrapped).__name__,
        "from one process": float((flat(model) - by_one).abs().max()),
    }
