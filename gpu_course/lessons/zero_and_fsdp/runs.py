"""What lesson 23 runs on ranks: one's own answers, ZeRO's stages, one process, FairScale."""

from __future__ import annotations

import hashlib
import importlib
from types import ModuleType
from typing import Any

import torch
import torch.distributed as dist

from gpu_course.lessons.zero_and_fsdp.harness import zero3
from gpu_course.lessons.zero_and_fsdp.saving import load, save
from gpu_course.lessons.zero_and_fsdp.slices import Adam, Zero, steps_of
from gpu_course.lessons.zero_and_fsdp.units import TINY, tiny
from gpu_course.measure.model import GPT, Shape, next_token_loss
from gpu_course.ranks.wire import mark


def sharded_step(answer: ModuleType) -> dict[str, Any]:
    """Returns the uses of a step of an answer's zero3 on the tiny GPT, and each unit's length.

    Args:
        answer: with `zero3`.
    """
    rank, ranks = dist.get_rank(), dist.get_world_size()
    units, weights, tokens = tiny(rank)
    shards = []
    for each in weights:
        filled = torch.nn.functional.pad(each, (0, -len(each) % ranks))
        shards.append(filled.chunk(ranks)[rank].clone().numpy())
    sizes = ("hidden", "heads", "layers", "sequence", "vocabulary")
    shape = {name: getattr(TINY, name) for name in sizes}
    got = zero3.run(answer, shards, tokens.numpy(), shape, [[0, 0]] * len(units))
    return {"uses": got["uses"], "lengths": [unit.length for unit in units]}


def all_stages(steps: int, narrow: str, wide: str) -> list[dict[str, Any]]:
    """Returns what some steps of each stage of ZeRO on the tiny GPT came to.

    Mark 2 k stands before the first step of stage k, and mark 2 k + 1 after it.

    Args:
        steps: how many.
        narrow, wide: dtypes of weights and gradients, and of states.
    """
    units, weights, tokens = tiny(dist.get_rank())
    told = []
    for stage in range(4):
        zero = Zero(units, weights, stage, getattr(torch, narrow), getattr(torch, wide))
        mark(2 * stage)
        for step in range(steps):
            zero.step(tokens)
            if step == 0:
                mark(2 * stage + 1)
        after = zero.all_weights().double()
        states = [each.double() for k in range(len(units)) for each in zero.states(k)]
        held = torch.cat([after, *states])
        told.append(
            {
                "after": after.numpy(),
                "held": zero.held,
                "length": len(after),
                "digest": hashlib.sha256(held.numpy().tobytes()).hexdigest(),
            }
        )
    return told


def one_process(ranks: int, steps: int, shape: Shape = TINY) -> torch.Tensor:
    """Returns all weights after some steps of PyTorch's Adam over the batches of so many ranks.

    Args:
        ranks: whose batches they are.
        steps: how many.
        shape: of the model.
    """
    weights = [each.requires_grad_() for each in tiny(shape=shape)[1]]
    numbers = Adam()
    betas = numbers.beta_1, numbers.beta_2
    adam = torch.optim.Adam(weights, lr=numbers.rate, betas=betas, eps=numbers.epsilon)
    for _ in range(steps):
        adam.zero_grad()
        for rank in range(ranks):
            units, _, x = tiny(rank, shape)
            for unit, each in zip(units, weights, strict=True):
                x = unit.call(each, x)
            (x / ranks).backward()  # type: ignore[no-untyped-call]
        adam.step()
    return torch.cat([each.detach() for each in weights])


def beside_fairscale() -> list[list[float]] | None:
    """Returns how far FairScale's weights are off ours, or None where it is not installed.

    Returns:
        For no buckets, for buckets, and for buckets with gradients set to zeros instead of None,
        the largest difference from our stage 2 after the first and the second step.
    """
    try:
        oss = importlib.import_module("fairscale.optim.oss")
        sharded = importlib.import_module("fairscale.nn.data_parallel")
    except ImportError:
        return None
    units, weights, tokens = tiny(dist.get_rank())
    numbers = Adam()
    betas = numbers.beta_1, numbers.beta_2
    settings = {"lr": numbers.rate, "betas": betas, "eps": numbers.epsilon}
    ours = [steps_of(units, weights, tokens, stage=2, steps=k)[0] for k in (1, 2)]
    found = []
    for numbers_in_a_bucket, to_none in ((0, True), (2**23, True), (2**23, False)):
        torch.manual_seed(0)
        model = GPT(TINY).double()
        optimizer = oss.OSS(model.parameters(), optim=torch.optim.Adam, **settings)
        wrapped = sharded.ShardedDataParallel(
            model, optimizer, reduce_buffer_size=numbers_in_a_bucket
        )
        off = []
        for right in ours:
            next_token_loss(wrapped(tokens), tokens).backward()  # type: ignore[no-untyped-call]
            optimizer.step()
            optimizer.zero_grad(set_to_none=to_none)
            got = torch.cat([p.detach().flatten() for p in model.parameters()])
            off.append(float((got - right).abs().max()))
        found.append(off)
    return found


def saved(folder: str) -> None:
    """Trains the tiny GPT for two steps and writes this rank's slices of its states.

    Args:
        folder: is there.
    """
    save(folder, *tiny(dist.get_rank()))


def loaded(answer: ModuleType, folder: str, saved: int) -> dict[str, Any]:
    """Returns what this rank loaded by an answer's `reshard`, and by PyTorch.

    Args:
        answer: with `reshard`.
        folder: as saved.
        saved: on how many ranks.
    """
    return load(folder, tiny()[0], saved, answer.reshard)
