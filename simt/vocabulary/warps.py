"""What the lanes of a warp do together: shuffles, votes, matches; and bit counting beside them.

Shuffles, votes and matches converge the lanes their mask names, and order no memory.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from simt.kernel.ir import Call
from simt.kernel.types import BOOL, INT32, INT64, UINT32, NoSuchType, NotSimulated, TupleType, Type
from simt.machine.faults import Fault
from simt.machine.lanes import WARP
from simt.machine.machine import Machine
from simt.machine.values import Value
from simt.vocabulary.functions import Function, cast, numbers, truth

_OWN = np.arange(WARP)
_BITS = np.uint64(1) << np.arange(WARP, dtype=np.uint64)


def _rows(machine: Machine, value: Value) -> np.ndarray:
    """A value as (warps, 32)."""
    if isinstance(value, np.ndarray):
        return value.reshape(-1, WARP)
    return np.full((machine.lanes.count // WARP, WARP), value)


def _named(machine: Machine, mask: Value) -> np.ndarray:
    """The lanes each lane's mask names, (warps, 32, 32) as bool: [warp, lane, named lane]."""
    rows = _rows(machine, cast(mask, INT64)).astype(np.uint64)
    return np.asarray((rows[:, :, None] & _BITS) != 0)


def together(machine: Machine, call: Call, mask: Value) -> np.ndarray:
    """Returns bool (warps, 32), the lanes that take part, after checking that the named ones do."""
    active = machine.mask.active.reshape(-1, WARP)
    if _names_all(mask) and _warps_are_whole(machine, active):
        return active
    named = _named(machine, mask)
    absent = named & ~active[:, None, :] & active[:, :, None]
    # A lane number beyond the block's last thread is nobody's: naming it is harmless.
    absent &= machine.lanes.alive.active.reshape(-1, 1, WARP)
    wrong = absent.any(axis=2)
    stranger = active & ~np.einsum("wll->wl", named)
    if wrong.any() or stranger.any():
        _report(machine, call, wrong, stranger, absent)
    return active


def _names_all(mask: Value) -> bool:
    """True for the mask that names a whole warp, given by all lanes alike."""
    return not isinstance(mask, np.ndarray) and int(mask) & 0xFFFFFFFF == 0xFFFFFFFF


def _warps_are_whole(machine: Machine, active: np.ndarray) -> bool:
    """True where of each warp either all threads are here or none."""
    alive = machine.lanes.alive
    if machine.mask.count == alive.count or machine.mask.whole_warps:
        return True
    left_out = alive.active.reshape(-1, WARP) & ~active
    return not np.count_nonzero(active.any(axis=1) & left_out.any(axis=1))


def _report(
    machine: Machine,
    call: Call,
    wrong: np.ndarray,
    stranger: np.ndarray,
    absent: np.ndarray,
) -> None:
    bad = (wrong | stranger).reshape(-1)
    lanes = np.flatnonzero(bad)
    warp, lane = divmod(int(lanes[0]), WARP)
    facts = {
        "operation": call.text,
        "absent": np.flatnonzero(absent[warp, lane]).tolist(),
        "not_named": bool(stranger[warp, lane]),
        "lane": lane,
    }
    threads = machine.lanes.global_thread[lanes]
    machine.fault(Fault("inactive-lane", call.line, threads, facts))


# Shuffles


def _shuffle_type(arguments: Sequence[Type], nodes: Sequence[ast.expr]) -> Type:
    mask, value, lane = numbers(arguments, 3, 3)
    if value.itemsize < 4 or value.kind not in "iuf":
        raise NoSuchType(f"moves 4 or 8 bytes, not {value}")
    if value.kind == "u":
        signed = f"int{8 * value.itemsize}"
        raise NoSuchType(f"moves no {value}", f"write {signed}(...) around what it moves")
    _refuse_cut(mask, "mask")
    _refuse_cut(lane, "lane")
    return value


def _refuse_cut(type_: np.dtype[Any], what: str) -> None:
    """Refuses a float or a bool where Numba would make a whole number of it in silence."""
    if type_.kind not in "iu":
        raise NotSimulated(f"a {what} of type {type_}", "write it as a whole number")


def _shuffle(source: Callable[[np.ndarray, np.ndarray], np.ndarray]) -> Function:
    """A shuffle whose lane reads from `source(own lane number, operand)`; outside: from itself."""

    def run(machine: Machine, call: Call, arguments: Sequence[Value], result: Type) -> Value:
        mask, value, operand = arguments
        active = together(machine, call, mask)
        # One row for all warps, where all of them ask for the same.
        wanted = cast(operand, INT64)
        wanted = source(_OWN, _rows(machine, wanted) if isinstance(wanted, np.ndarray) else wanted)
        inside = (wanted >= 0) & (wanted < WARP)
        wanted = np.where(inside, wanted, _OWN)
        values = _rows(machine, value)
        found = _read_from(values, wanted)
        # In a whole warp nobody is silent.
        silent = None if machine.mask.whole_warps else active & ~_read_from(active, wanted)
        if silent is not None and np.count_nonzero(silent):
            lanes = silent.reshape(-1).nonzero()[0]
            facts = {
                "operation": call.text,
                "lane": int(lanes[0]) % WARP,
                "source": int(np.broadcast_to(wanted, values.shape).reshape(-1)[lanes[0]]),
            }
            threads = machine.lanes.global_thread[lanes]
            machine.fault(Fault("inactive-lane", call.line, threads, facts), ("source",))
        machine.audience.shuffle(call.line, machine.mask)
        _tell(machine, wanted, values, found)
        return found.reshape(-1)

    return Function(_shuffle_type, run)


def _read_from(rows: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """Returns (warps, 32): what each lane finds in the lane it wants, (32,) or (warps, 32)."""
    if wanted.ndim == 1:
        return rows.take(wanted, axis=1)
    return np.take_along_axis(rows, wanted, axis=1)


def _tell(
    machine: Machine, sources: np.ndarray | None, sent: np.ndarray, received: np.ndarray
) -> None:
    """Tells those who follow every statement what the lanes that are here gave and got."""
    if machine.audience.follows:
        lanes = machine.mask.lanes
        if sources is not None:
            sources = np.broadcast_to(sources, sent.shape).reshape(-1)[lanes]
        machine.audience.exchange(
            machine.mask, sources, sent.reshape(-1)[lanes], received.reshape(-1)[lanes]
        )


# Votes and matches


def _vote(result: np.dtype[Any], decide: Callable[[np.ndarray, np.ndarray], Any]) -> Function:
    """A vote: `decide(true, taking part)` over (warps, 32), one answer per warp."""

    def type_(arguments: Sequence[Type], nodes: Sequence[ast.expr]) -> Type:
        mask, predicate = numbers(arguments, 2, 2)
        if mask.kind not in "iu":
            raise NoSuchType(f"takes a whole number as its mask, not {mask}")
        if predicate.kind not in "iub":
            raise NoSuchType(f"takes a bool or a whole number, not {predicate}")
        return result

    def run(machine: Machine, call: Call, arguments: Sequence[Value], type_: Type) -> Value:
        mask, predicate = arguments
        active = together(machine, call, mask)
        part = active
        if not _names_all(mask):
            part = active & np.einsum("wll->wl", _named(machine, mask))
        true = _rows(machine, truth(predicate)) & part
        answers = np.repeat(decide(true, part).astype(result), WARP)
        _tell(machine, None, true, answers)
        return answers

    return Function(type_, run)


def _ballot(true: np.ndarray, part: np.ndarray) -> np.ndarray:
    return np.asarray((true * _BITS).sum(axis=1, dtype=np.uint64).astype(np.uint32).view(np.int32))


def _match_any(machine: Machine, call: Call, arguments: Sequence[Value], result: Type) -> Value:
    mask, value = arguments
    active = together(machine, call, mask)
    rows = _rows(machine, value)
    same = (rows[:, :, None] == rows[:, None, :]) & active[:, None, :]
    return (same * _BITS).sum(axis=2, dtype=np.uint64).astype(np.uint32).view(np.int32).reshape(-1)


def _match_all(machine: Machine, call: Call, arguments: Sequence[Value], result: Type) -> Value:
    mask, value = arguments
    active = together(machine, call, mask)
    rows = _rows(machine, value)
    first = np.take_along_axis(rows, active.argmax(axis=1)[:, None], axis=1)
    agree = ((rows == first) | ~active).all(axis=1)
    bits = (active * _BITS).sum(axis=1, dtype=np.uint64).astype(np.uint32).view(np.int32)
    return np.repeat(np.where(agree, bits, 0).astype(np.int32), WARP), np.repeat(agree, WARP)


def _match_type(result: Type) -> Callable[[Sequence[Type], Sequence[ast.expr]], Type]:
    def type_(arguments: Sequence[Type], nodes: Sequence[ast.expr]) -> Type:
        mask, value = numbers(arguments, 2, 2)
        _refuse_cut(mask, "mask")
        if value.kind not in "iubf":
            raise NoSuchType(f"compares numbers, not {value}")
        return result

    return type_


def _nothing_to_mask(arguments: Sequence[Type], nodes: Sequence[ast.expr]) -> Type:
    numbers(arguments, 0, 0)
    return UINT32


def _activemask(machine: Machine, call: Call, arguments: Sequence[Value], type_: Type) -> Value:
    active = machine.mask.active.reshape(-1, WARP)
    return np.repeat(_ballot(active, active), WARP).view(np.uint32)


def _lanemask_lt(machine: Machine, call: Call, arguments: Sequence[Value], type_: Type) -> Value:
    lane = machine.lanes.lane_number().astype(np.uint64)
    return ((np.uint64(1) << lane) - np.uint64(1)).astype(np.uint32)


FUNCTIONS: dict[str, Function] = {
    "cuda.shfl_sync": _shuffle(lambda own, lane: lane % WARP),
    "cuda.shfl_up_sync": _shuffle(lambda own, delta: own - delta),
    "cuda.shfl_down_sync": _shuffle(lambda own, delta: own + delta),
    "cuda.shfl_xor_sync": _shuffle(lambda own, bits: own ^ bits),
    "cuda.all_sync": _vote(BOOL, lambda true, part: (true | ~part).all(axis=1)),
    "cuda.any_sync": _vote(BOOL, lambda true, part: true.any(axis=1)),
    "cuda.eq_sync": _vote(BOOL, lambda true, part: (true | ~part).all(axis=1) | ~true.any(axis=1)),
    "cuda.ballot_sync": _vote(INT32, _ballot),
    "cuda.match_any_sync": Function(_match_type(INT32), _match_any),
    "cuda.match_all_sync": Function(_match_type(TupleType((INT32, BOOL))), _match_all),
    "cuda.activemask": Function(_nothing_to_mask, _activemask),
    "cuda.lanemask_lt": Function(_nothing_to_mask, _lanemask_lt),
}
