"""The tiny GPT trained on several ranks: by hooks of an answer, by PyTorch's DDP, by Accelerate.

What is here runs on a rank; `torch.distributed` is initialised. It is all float64, so that two
ways of adding up differ in the last digits alone.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor, nn

from gpu_course.measure.model import GPT, Shape, next_token_loss, random_tokens

SHAPE = Shape(hidden=32, heads=2, layers=2, sequence=16, vocabulary=64, dropout=0.0)
BATCH, STEPS, RATE = 8, 3, 0.5
AGREE = 1e-12
Mark = Callable[[int], None]
BEGINS, ENDS = 1000, 1001
"""Marks of a backward pass; a smaller number is that of a parameter whose gradient is there."""


def tiny_gpt(seed: int = 0, shape: Shape = SHAPE) -> GPT:
    """Returns the tiny GPT in float64, its weights drawn with a seed."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return GPT(shape).double()


def own_tokens(ranks: int, rank: int, shape: Shape = SHAPE) -> Tensor:
    """Returns a rank's sequences of the batch, every one of so many."""
    return random_tokens(shape, BATCH)[rank::ranks]


def flat(model: nn.Module) -> Tensor:
    """Returns a copy of all parameters, one behind the other."""
    return torch.cat([each.detach().flatten() for each in model.parameters()])


def take_steps(
    model: nn.Module,
    tokens: Tensor,
    forward: Callable[[Tensor], Tensor],
    finish: Callable[[], Any] = lambda: None,
    mark: Mark = lambda number: None,
) -> Tensor:
    """Returns the weights after a few steps of gradient descent.

    Args:
        model: whose parameters are changed.
        tokens: of this rank.
        forward: the model's, or that of what wraps it.
        finish: is called after each backward pass.
        mark: is told when a backward pass begins and ends.
    """
    for _ in range(STEPS):
        loss = next_token_loss(forward(tokens), tokens)
        mark(BEGINS)
        loss.backward()  # type: ignore[no-untyped-call]
        mark(ENDS)
        finish()
        with torch.no_grad():
            for each in model.parameters():
                if each.grad is not None:
                    each.sub_(RATE * each.grad)
        model.zero_grad()
    return flat(model)


def beside_ddp(prepare: Callable[..., Any], bucket_bytes: int, mark: Mark) -> dict[str, float]:
    """Returns how far an answer's training is from that of DDP and of one process.

    Args:
        prepare: `ddp(model)` or `bucketed(model, bucket_bytes)`.
        bucket_bytes: 0 for `ddp`.
        mark: is told when each gradient is there.

    Returns:
        "from DDP" and "from one process": the largest difference of a weight.
    """
    rank, ranks = dist.get_rank(), dist.get_world_size()
    tokens = own_tokens(ranks, rank)
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


def ddp_passes(mark: Mark, bucket_mib: float | None, find_unused: bool) -> int:
    """Takes three backward passes under PyTorch's DDP, and returns how many parameters there are.

    Args:
        mark: is told the number of each pass before it begins.
        bucket_mib: `bucket_cap_mb`; None for PyTorch's own.
        find_unused: `find_unused_parameters`.
    """
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        model = GPT(BIG)
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
