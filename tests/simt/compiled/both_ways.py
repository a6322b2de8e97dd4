"""Runs launches by the interpreter and compiled, on equal inputs, and says what differs.

The law is that there is never a wrong clean: a launch that ends clean when it is compiled is clean
for the interpreter too, and leaves the same bits in all arrays, the same bits written of memory
that began unset, the same counters at each line, and has taken no fewer steps than the budget was
held against. A launch that has a hazard has to be suspicious.
"""

from __future__ import annotations

import traceback
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

from simt import simulator
from simt.compiled import run as compiled
from simt.compiled.analysis import NotCompiled
from simt.kernel.lower import lower
from simt.machine import launch, memory, unwritten
from simt.machine.interpreter import Interpreter
from simt.vocabulary.allocate import local_bytes

SAME, SUSPECT, HAZARD, NOT_COMPILED = "same", "suspect", "hazard", "not compiled"
WRONG = ("wrong clean", "counters", "results", "written", "steps", "crash")
"""What may never be: a clean launch of what has a hazard, and other numbers than the interpreter's."""
ALIGNED = 256


@dataclass
class Seen:
    """What became of the launches that were run both ways.

    Attributes:
        label: what is being run, for those that follow.
        counts: how many ended clean and the same, suspicious though clean, suspicious as they
            should be, were not compiled, were never finished by the interpreter, or differ.
        reasons: why some were not compiled.
        doubts: labels of launches that were suspicious though they are clean.
        wrong: (label, what differs, more about it).
    """

    label: str = ""
    counts: Counter[str] = field(default_factory=Counter)
    reasons: Counter[str] = field(default_factory=Counter)
    doubts: Counter[str] = field(default_factory=Counter)
    wrong: list[tuple[str, str, str]] = field(default_factory=list)

    def add(self, other: Seen) -> None:
        """Adds what another has seen."""
        self.counts += other.counts
        self.reasons += other.reasons
        self.doubts += other.doubts
        self.wrong += other.wrong

    @property
    def compiled(self) -> int:
        """How many launches ran compiled to an end or to a suspicion."""
        return self.counts[SAME] + self.counts[SUSPECT] + self.counts[HAZARD]

    @property
    def launches(self) -> int:
        """How many could have been compiled: all that the interpreter finished."""
        return self.compiled + self.counts[NOT_COMPILED] + sum(self.counts[w] for w in WRONG)


@contextmanager
def both_ways(seen: Seen) -> Iterator[Seen]:
    """Within it, each launch of `simulate` is run compiled too, on a copy of what it was given."""
    original = simulator._Configured._launch

    def launched(self: Any, arguments: tuple[Any, ...], schedule: Any) -> Any:
        if schedule is not None:
            seen.counts["scheduled"] += 1
            return original(self, arguments, schedule)
        return _compared(original, self, arguments, seen)

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SIMT_COMPILED", "off")
        patch.setattr(simulator._Configured, "_launch", launched)
        patch.setattr(launch, "Interpreter", Counting)
        yield seen


class Counting(Interpreter):
    """An interpreter that tells how many steps each batch took."""

    most = 0

    def run(self, start: Any = None) -> None:
        given = self.steps_left
        super().run(start)
        Counting.most = max(Counting.most, given - self.steps_left)


def _compared(original: Any, configured: Any, arguments: tuple[Any, ...], seen: Seen) -> Any:
    first, second = Copies(), Copies()
    mine = first.of(arguments)
    again = second.of(arguments)
    Counting.most = 0
    try:
        ended = original(configured, arguments, None)
    except BaseException as error:
        seen.counts[f"raised {type(error).__name__}"] += 1
        raise
    faults, watch = ended.faults, ended
    kind, why = NOT_COMPILED, ""
    try:
        got = run_compiled(configured, mine)
    except NotCompiled as reason:
        seen.reasons[str(reason)] += 1
    except Exception:
        kind, why = "crash", traceback.format_exc(limit=-4)
    else:
        kind, why = _verdict(configured, faults, watch, got, first)
        if kind == SAME and run_compiled(configured, again, Counting.most - 1) is not None:
            kind, why = "steps", f"clean within {Counting.most - 1}"
    seen.counts[kind] += 1
    if kind == SUSPECT:
        seen.doubts[seen.label] += 1
    if kind in WRONG:
        seen.wrong.append((seen.label, kind, why))
    return ended


def _verdict(configured: Any, faults: Any, watch: Any, got: Any, copies: Copies) -> tuple[str, str]:
    if got is None:
        return (HAZARD if faults.found else SUSPECT), ""
    if faults.found:
        return "wrong clean", str(sorted({fault.kind for fault in faults.found.values()}))
    if configured.simulation.counters and got != watch.by_line:
        known = watch.by_line
        lines = [n for n in sorted({*got, *known}) if got.get(n) != known.get(n)]
        return "counters", "\n".join(f"{n}: {got.get(n)}\n   {known.get(n)}" for n in lines)
    for one, other, dtype in copies.pairs():
        if one.tobytes() != other.tobytes() and not _nan_apart(one, other, dtype):
            return "results", _first_difference(one, other, dtype)
    if not copies.written_alike():
        return "written", ""
    return SAME, ""


def run_compiled(configured: Any, arguments: tuple[Any, ...], budget: int | None = None) -> Any:
    """Runs a launch compiled; returns its counters, or None where it is suspicious."""
    simulation, grid, block = configured.simulation, configured.grid, configured.block
    values = launch.bind_arguments(simulation.program, arguments)
    named = {k: v for n, a in values.items() for k, v in launch.arrays_in(n, a).items()}
    arrays = memory.bind(named)
    code = lower(simulation.program.written, tuple(map(launch.type_of, values.values())))
    order = launch.blocks_in_order(grid, simulation.order_seed)
    together = launch.blocks_together(block, local_bytes(code.arrays))
    return compiled.run(
        code,
        grid,
        block,
        {name: launch.bound(name, value, arrays) for name, value in values.items()},
        order,
        simulation.step_budget if budget is None else budget,
        together=min(together, order.size),
        counted=simulation.counters,
        shuffled=simulation.order_seed is not None,
    )


class Copies:
    """Copies of arrays that lie to each other as the arrays do, and are written as far as they."""

    def __init__(self) -> None:
        self.roots: dict[int, tuple[np.ndarray, np.ndarray, int, int]] = {}

    def of(self, value: Any) -> Any:
        """Returns a copy of an argument of a launch."""
        if isinstance(value, tuple):
            parts = tuple(map(self.of, value))
            return type(value)(*parts) if hasattr(value, "_fields") else parts
        if not isinstance(value, np.ndarray):
            return value
        _, raw, low, start = self._root(value)
        address = value.__array_interface__["data"][0]
        offset = start + address - low if value.size else 0
        found = np.ndarray(value.shape, value.dtype, raw, offset, value.strides)
        found.flags.writeable = value.flags.writeable
        return found

    def _root(self, value: np.ndarray) -> tuple[np.ndarray, np.ndarray, int, int]:
        root = value
        while isinstance(root.base, np.ndarray):
            root = root.base
        if id(root) not in self.roots:
            low, high = np.lib.array_utils.byte_bounds(root)
            raw = np.zeros(high - low + 2 * ALIGNED, np.uint8)
            start = (low - raw.ctypes.data) % ALIGNED
            if root.size:
                raw[start : start + high - low] = _bytes_of(root)
            written = unwritten.written_in(root)
            if written is not None:
                unwritten.begin(raw)
                known = unwritten.written_in(raw)
                assert known is not None
                known[:] = True
                known[start : start + high - low] = written
            self.roots[id(root)] = root, raw, low, start
        return self.roots[id(root)]

    def pairs(self) -> Iterator[tuple[np.ndarray, np.ndarray, Any]]:
        """Yields the bytes of each array and of its copy, and what they are bytes of."""
        for root, raw, _, start in self.roots.values():
            if root.size:
                own = _bytes_of(root)
                yield own, raw[start : start + own.size], root.dtype

    def written_alike(self) -> bool:
        """Whether as much of each has been written."""
        for root, raw, _, start in self.roots.values():
            own, other = unwritten.written_in(root), unwritten.written_in(raw)
            if own is None and other is None:
                continue
            size = _bytes_of(root).size
            one = np.ones(size, bool) if own is None else own
            two = np.ones(size, bool) if other is None else other[start : start + size]
            if not np.array_equal(one, two):
                return False
        return True


def _nan_apart(one: np.ndarray, other: np.ndarray, dtype: Any) -> bool:
    """Whether two arrays differ in nothing but the sign and the payload of what is not a number.

    IEEE 754 leaves those open, a GPU has one NaN, and LLVM works a constant 0 / 0 out otherwise
    than the processor does.
    """
    if dtype.kind != "f":
        return False
    a, b = (np.frombuffer(each.tobytes(), dtype) for each in (one, other))
    both = np.isnan(a) & np.isnan(b)
    return bool(np.where(both, 0, a).tobytes() == np.where(both, 0, b).tobytes())


def _first_difference(one: np.ndarray, other: np.ndarray, dtype: Any) -> str:
    if dtype.names or one.size % dtype.itemsize:
        return ""
    a, b = (np.frombuffer(each.tobytes(), dtype) for each in (one, other))
    differ = [k for k in range(a.size) if a[k].tobytes() != b[k].tobytes()]
    return f"{len(differ)} cells; at {differ[0]} {a[differ[0]]!r}, compiled {b[differ[0]]!r}"


def _bytes_of(root: np.ndarray) -> np.ndarray:
    low, high = np.lib.array_utils.byte_bounds(root)
    first = root[tuple(slice(-1, None) if s < 0 else slice(0, 1) for s in root.strides)]
    flat = np.lib.stride_tricks.as_strided(first.view(np.uint8), (high - low,), (1,))
    return flat.reshape(-1)
