"""From real modules to the chain a planner sees: bytes and FLOPs measured stage by stage."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from functools import partial

import torch
from torch import Tensor, nn
from torch.multiprocessing.reductions import StorageWeakRef
from torch.utils.flop_counter import FlopCounterMode

from gpu_course.errors import CourseError
from gpu_course.lessons.optimal_checkpointing.stage_bytes import StageBytes, profile_stages
from gpu_course.measure.peak import bytes_of, measure_peak
from gpu_course.measure.saved import storages
from gpu_course.measure.schedules.chain import Chain, Stage
from gpu_course.measure.schedules.execute import RANDOM_STATE_BYTES
from gpu_course.measure.schedules.rules import (
    check_loss,
    in_place,
    named,
    other_bits,
    run_stage,
    same_bits,
)
from gpu_course.measure.threads import one_thread


def measure_chain(stages: Sequence[nn.Module], batch: Tensor) -> Chain:
    """Returns the chain of real modules; sizes in bytes, costs in FLOP as PyTorch counts them.

    The stages are left as they are: copies of them run, and the random state is put back.

    Args:
        stages: modules of one input and one output, each fed by the one before; the last computes
            the loss.
        batch: what the first stage gets.

    Raises:
        CourseError: a stage that no schedule can run to the bit, or whose output is a view of its
            input, so that the two cannot be kept and let go of one by one.
    """
    _refuse(stages, batch)
    sizes = profile_stages(stages, batch)
    costs = _flops(stages, batch)
    return Chain(
        tuple(
            _stage(stage, size, after, cost)
            for stage, size, after, cost in zip(
                stages, sizes, [*sizes[1:], None], costs, strict=True
            )
        )
    )


def _refuse(stages: Sequence[nn.Module], batch: Tensor) -> None:
    """Runs each stage twice, as a schedule may, and raises where the plan would not be true."""
    if not stages:
        raise CourseError("there is no stage to measure", "give a chain of one stage or more")
    with torch.random.fork_rng(devices=[]), one_thread():
        for number, stage in enumerate(stages):
            state = torch.get_rng_state()
            # One copy runs twice: what it remembers anywhere but in its buffers shows then.
            alone = copy.deepcopy(stage)
            before = {name: (buffer, buffer.clone()) for name, buffer in alone.named_buffers()}
            y, keeps = _first(number, alone, batch)
            _put_back(number, alone, before)
            if keeps:
                raise CourseError(
                    f"{named(number, stage)} keeps a tensor somewhere when it is done; a stage "
                    "that is run by itself, or again, cannot hand anything on that way",
                    "put both ends of the skip into one stage",
                )
            torch.set_rng_state(state)
            start = batch.detach().clone().requires_grad_(batch.is_floating_point())
            again = run_stage(number, alone, start)
            if not same_bits(y, again.detach()):
                raise other_bits(number, stage, "with a graph")
            batch = y
        check_loss(stages, batch, graph=False)


@torch.no_grad()
def _first(number: int, stage: nn.Module, batch: Tensor) -> tuple[Tensor, bool]:
    """Returns (the output of a first run, whether it keeps its input or anything else)."""
    x = batch.detach().clone()
    known = storages(stage) | {x.untyped_storage()._cdata}
    peak = measure_peak(partial(run_stage, number, stage, x))
    y = peak.value
    if not same_bits(x, batch):
        raise in_place(number, stage)
    if y.untyped_storage()._cdata in known:
        raise CourseError(
            f"{named(number, stage)} returns a view of its input or of a parameter: as long as one "
            "of the two is kept, both are, and a plan counts them one by one",
            "make one stage of it and its neighbour: nn.Sequential(before, it)",
        )
    held = StorageWeakRef(x.untyped_storage())
    del x
    return y, not held.expired() or peak.left_bytes > bytes_of(y)


def _put_back(number: int, stage: nn.Module, before: dict[str, tuple[Tensor, Tensor]]) -> None:
    """Gives buffers their old values, and raises where one is no longer the same tensor."""
    now = dict(stage.named_buffers())
    for name in before.keys() | now.keys():
        if name not in before or now.get(name) is not before[name][0]:
            raise CourseError(
                f"{named(number, stage)} puts a new tensor in the place of its buffer {name} as it "
                "runs: a plan counts the memory of buffers as there already",
                f"register it at the start, and write into it: self.{name.split('.')[-1]}.copy_()",
            )
    for buffer, old in before.values():
        buffer.data.copy_(old)


def _stage(
    module: nn.Module, size: StageBytes, after: StageBytes | None, cost: tuple[int, int]
) -> Stage:
    # Running a stage again puts its buffers back afterwards: a copy of them is there meanwhile.
    # Before it begins, the state of the random generator is looked at.
    copies = sum(buffer.nbytes for buffer in module.buffers())
    return Stage(
        output_bytes=size.output_bytes,
        saved_bytes=size.saved_bytes,
        forward_bytes=max(size.forward_bytes + copies, RANDOM_STATE_BYTES),
        forward_saving_bytes=max(size.forward_saving_bytes + copies, RANDOM_STATE_BYTES),
        backward_bytes=max(0, size.backward_bytes),
        output_gradient_bytes=size.output_bytes if after is None else after.input_gradient_bytes,
        forward_cost=cost[0],
        backward_cost=cost[1],
    )


def _flops(stages: Sequence[nn.Module], batch: Tensor) -> list[tuple[int, int]]:
    """FLOPs of the forward and of the backward pass of each stage."""
    found = []
    with torch.random.fork_rng(devices=[]):
        for number, stage in enumerate(stages):
            alone = copy.deepcopy(stage)
            x = batch.detach().requires_grad_(number > 0 and batch.is_floating_point())
            with FlopCounterMode(display=False) as forward:
                y = alone(x)
            with FlopCounterMode(display=False) as backward:
                if y.requires_grad:
                    y.backward(torch.ones_like(y))
            found.append((forward.get_total_flops(), backward.get_total_flops()))
            batch = y.detach()
    return found
