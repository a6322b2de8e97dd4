"""Barriers and fences: what orders the memory accesses before against those after."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence

import numpy as np

from simt.kernel.ir import Call
from simt.kernel.types import INT32, GridType, NoSuchType, Type
from simt.machine.faults import Fault
from simt.machine.lanes import Mask
from simt.machine.machine import Machine
from simt.machine.values import Value
from simt.vocabulary.functions import Function, numbers, truth
from simt.vocabulary.warps import together


def meet(machine: Machine, call: Call) -> np.ndarray:
    """Lets the active lanes wait for their blocks; returns bool (blocks,), those that met.

    A block meets when every thread of it that the kernel started is at this barrier. Where some
    are missing, that is a hazard, and the block goes on as if they had been there.
    """
    lanes = machine.lanes
    if machine.mask.count == lanes.alive.count:
        reached = np.ones(len(lanes.blocks), bool)
        machine.audience.barrier(call.line, machine.mask, reached)
        return reached
    here = machine.mask.active.reshape(len(lanes.blocks), -1)
    arrived = here.sum(axis=1)
    reached = arrived > 0
    partial = reached & (arrived < lanes.threads_per_block)
    if partial.any():
        _report_missing(machine, call, here, partial, "block")
    machine.audience.barrier(call.line, machine.mask, reached)
    return reached


def _report_missing(
    machine: Machine, call: Call, here: np.ndarray, partial: np.ndarray, whole: str
) -> None:
    lanes = machine.lanes
    missing = (~here & partial[:, None]).reshape(-1) & lanes.alive.active
    returned = bool(np.all(machine.returned[missing]))
    present = machine.mask.active & np.repeat(partial, lanes.lanes_per_block)
    # The first thread of each block counts it in at a barrier of the grid: without it, nobody there
    # ever goes on. Others that have returned are missing as at a barrier of their block.
    endless = whole == "grid" and bool(np.any(lanes.thread[missing] == 0))
    facts = {
        "missing": lanes.global_thread[missing],
        "present": int(present.sum()),
        "all_returned": returned,
        "whole": whole,
        "endless": endless,
    }
    threads = lanes.global_thread[missing]
    severity = machine.policy.returned if returned and not endless else "error"
    fault = Fault("barrier-divergence", call.line, threads, facts, severity=severity)
    machine.fault(fault)


def _nothing(arguments: Sequence[Type], nodes: Sequence[ast.expr]) -> Type:
    numbers(arguments, 0, 0)
    return None


def _one_number(arguments: Sequence[Type], nodes: Sequence[ast.expr]) -> Type:
    (a,) = numbers(arguments, 1, 1)
    if a.kind not in "iu":
        hint = "write 1 if ... else 0" if a.kind == "b" else ""
        raise NoSuchType(f"takes a whole number, not {a}", hint)
    return INT32


def _syncthreads(machine: Machine, call: Call, arguments: Sequence[Value], result: Type) -> Value:
    meet(machine, call)
    return None


def _syncthreads_with(combine: Callable[[np.ndarray, np.ndarray], np.ndarray]) -> Function:
    """A barrier that also counts, over the block, the threads whose argument is not zero."""

    def run(machine: Machine, call: Call, arguments: Sequence[Value], result: Type) -> Value:
        lanes = machine.lanes
        meet(machine, call)
        active = machine.mask.active.reshape(len(lanes.blocks), -1)
        true = np.broadcast_to(truth(arguments[0]), lanes.count).reshape(active.shape)
        found = combine((true & active).sum(axis=1), active.sum(axis=1))
        return np.repeat(found.astype(np.int32), lanes.lanes_per_block)

    return Function(_one_number, run)


def _mask_or_nothing(arguments: Sequence[Type], nodes: Sequence[ast.expr]) -> Type:
    numbers(arguments, 0, 1)
    return None


def _syncwarp(machine: Machine, call: Call, arguments: Sequence[Value], result: Type) -> Value:
    mask = arguments[0] if arguments else np.int64(0xFFFFFFFF)
    together(machine, call, mask)
    for part in _parts(machine, mask):
        machine.audience.warp_barrier(call.line, part)


def _parts(machine: Machine, mask: Value) -> list[Mask]:
    """The active lanes by the mask they give: lanes of one warp that give another do not meet."""
    if not isinstance(mask, np.ndarray):
        return [machine.mask]
    given = mask.astype(np.int64) & 0xFFFFFFFF
    values = np.unique(given[machine.mask.lanes])
    if len(values) == 1:
        return [machine.mask]
    return [machine.mask & (given == value) for value in values]


def _fence_of(*, within_block: bool) -> Function:
    def run(machine: Machine, call: Call, arguments: Sequence[Value], result: Type) -> Value:
        machine.audience.fence(call.line, machine.mask, within_block=within_block)

    return Function(_nothing, run)


GRID = GridType()


def _grid_type(arguments: Sequence[Type], nodes: Sequence[ast.expr]) -> Type:
    numbers(arguments, 0, 0)
    return GRID


def _this_grid(machine: Machine, call: Call, arguments: Sequence[Value], type_: Type) -> Value:
    return GRID


def _meet_grid(machine: Machine, call: Call, arguments: Sequence[Value], result: Type) -> Value:
    """Lets all threads of the grid wait for each other; missing ones are a hazard."""
    blocks = len(machine.lanes.blocks)
    here = machine.mask.active.reshape(blocks, -1)
    everybody = np.full(blocks, machine.mask.count < machine.lanes.alive.count)
    if everybody.any():
        _report_missing(machine, call, here, everybody, "grid")
    machine.audience.grid_barrier(call.line)
    machine.audience.barrier(call.line, machine.mask, np.ones(blocks, bool))
    return np.int32(0)


GRID_BARRIER = "cuda.cg.this_grid().sync"
GRID_SYNC = Function(_grid_type, _meet_grid)
"""What `cuda.cg.this_grid().sync()` does, and what lowered code calls it."""

FUNCTIONS: dict[str, Function] = {
    "cuda.cg.this_grid": Function(_grid_type, _this_grid),
    "cuda.syncwarp": Function(_mask_or_nothing, _syncwarp),
    "cuda.threadfence": _fence_of(within_block=False),
    "cuda.threadfence_block": _fence_of(within_block=True),
    "cuda.threadfence_system": _fence_of(within_block=False),
    "cuda.syncthreads": Function(_nothing, _syncthreads),
    "cuda.syncthreads_count": _syncthreads_with(lambda true, active: true),
    "cuda.syncthreads_and": _syncthreads_with(lambda true, active: true == active),
    "cuda.syncthreads_or": _syncthreads_with(lambda true, active: true > 0),
}
