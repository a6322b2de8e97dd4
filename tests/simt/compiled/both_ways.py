"""Runs launches by the interpreter and compiled, on equal inputs, and says what differs.

The law is that there is never a wrong clean: a launch that ends clean when it is compiled is clean
for the interpreter too, and leaves the same bits in all arrays, the same bits written of memory
that began unset, the same counters at each line, and has taken no fewer steps than the budget was
held against. A launch that has a hazard has to be suspicious.
"""

from __future__ import annotations

import math
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

from simt import simulator
from simt.compiled import run as compiled
from simt.kernel.lower import lower
from simt.machine import launch, memory, unwritten
from simt.machine.interpreter import Interpreter
from simt.vocabulary.allocate import local_bytes

SAME, SUSPECT, HAZARD, NOT_COMPILED = "same", "suspect", "hazard", "not compiled"
WRONG = ("wrong clean", "counters", "results", "written", "steps", "crash")
"""What may never be: clean though there is a hazard, or other numbers than the interpreter's."""
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

    def judge(self, launch_: Launch) -> None:
        """Runs a launch compiled that the interpreter has run, and keeps what comes of it."""
        kind, why = launch_.judge()
        self.counts[kind] += 1
        if kind == SUSPECT:
            self.doubts[launch_.label] += 1
        elif kind == NOT_COMPILED:
            self.reasons[why] += 1
        elif kind in WRONG:
            self.wrong.append((launch_.label, kind, why))

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

    with interpreted(launched):
        yield seen


@contextmanager
def interpreted(launched: Callable[..., Any]) -> Iterator[None]:
    """Within it all launches are interpreted, and run by a function of ours."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SIMT_COMPILED", "off")
        patch.setattr(simulator._Configured, "_launch", launched)
        patch.setattr(launch, "Interpreter", Counting)
        yield


class Counting(Interpreter):
    """An interpreter that tells how many steps each batch took."""

    most = 0

    def run(self, start: Any = None) -> None:
        given = self.steps_left
        super().run(start)
        Counting.most = max(Counting.most, given - self.steps_left)


def _compared(original: Any, configured: Any, arguments: tuple[Any, ...], seen: Seen) -> Any:
    try:
        ended, launch_ = recorded(original, configured, arguments, seen.label)
    except BaseException as error:
        seen.counts[f"raised {type(error).__name__}"] += 1
        raise
    seen.judge(launch_)
    return ended


def recorded(
    original: Any, configured: Any, arguments: tuple[Any, ...], label: str
) -> tuple[Any, Launch]:
    """Runs a launch by the interpreter; returns what that gives, and the launch with it."""
    given = Copies(arguments)
    Counting.most = 0
    ended = original(configured, arguments, None)
    kinds = tuple(sorted({fault.kind for fault in ended.faults.found.values()}))
    counters = ended.by_line if configured.simulation.counters else None
    left = Copies(arguments).remembered()
    return ended, Launch(label, configured, given, left, kinds, counters, Counting.most)


@dataclass(frozen=True)
class Launch:
    """A launch that the interpreter has run.

    Attributes:
        label: what it is called.
        configured: the kernel, its grid and its block.
        given: its arguments as they were.
        left: what its arrays held afterwards.
        hazards: the kinds of what the interpreter found.
        counters: line -> what it counted; None where it counted nothing.
        steps: the most that a batch of blocks took.
    """

    label: str
    configured: Any
    given: Copies
    left: list[Part]
    hazards: tuple[str, ...]
    counters: Any
    steps: int

    def judge(self) -> tuple[str, str]:
        """Runs it compiled; returns how that ends, and why it is wrong or not compiled."""
        try:
            got = run_compiled(self.configured, self.given.fresh())
            if got is None:
                return (HAZARD if self.hazards else SUSPECT), ""
            if self.hazards:
                return "wrong clean", str(self.hazards)
            if why := self._differs(got, self.given.parts()):
                return why
            fewer = run_compiled(self.configured, self.given.fresh(), self.steps - 1)
        except compiled.NotCompiled as reason:
            return NOT_COMPILED, str(reason)
        except Exception:
            return "crash", traceback.format_exc(limit=-4)
        if fewer is not None:
            return "steps", f"clean within {self.steps - 1}"
        return SAME, ""

    def _differs(self, got: Any, mine: list[Part]) -> tuple[str, str] | None:
        known = self.counters
        if known is not None and got != known:
            lines = [n for n in sorted({*got, *known}) if got.get(n) != known.get(n)]
            return "counters", "\n".join(f"{n}: {got.get(n)}\n   {known.get(n)}" for n in lines)
        for one, other in zip(self.left, mine, strict=True):
            if one.bytes != other.bytes and not _nan_apart(one, other):
                return "results", _first_difference(one, other)
            if not np.array_equal(one.written, other.written):
                return "written", ""
        return None


def run_compiled(configured: Any, arguments: tuple[Any, ...], budget: int | None = None) -> Any:
    """Runs a launch compiled; returns its counters, or None where it is suspicious."""
    simulation, grid, block = configured.simulation, configured.grid, configured.block
    values = launch.bind_arguments(simulation.program, arguments)
    named = {k: v for n, a in values.items() for k, v in launch.arrays_in(n, a).items()}
    arrays = memory.bind(named)
    code = lower(simulation.program.written, tuple(map(launch.type_of, values.values())))
    return compiled.run(
        code,
        grid,
        block,
        {name: launch.bound(name, value, arrays) for name, value in values.items()},
        launch.blocks_in_order(grid, simulation.order_seed),
        simulation.step_budget if budget is None else budget,
        together=min(math.prod(grid), launch.blocks_together(block, local_bytes(code.arrays))),
        counted=simulation.counters,
        shuffled=simulation.order_seed is not None,
        dynamic_bytes=configured.shared_bytes,
    )


@dataclass(frozen=True)
class Part:
    """The memory of an array: its bytes, which of them have been written, and its numbers' type."""

    bytes: bytes
    written: np.ndarray
    dtype: Any


class Copies:
    """Copies of the arrays of a launch: they lie to each other as the arrays do, written as far.

    Args:
        arguments: of the launch; what they hold is remembered as it is now.
    """

    def __init__(self, arguments: tuple[Any, ...]) -> None:
        self._arguments = arguments
        self._lows: dict[int, int] = {}
        self._known: dict[int, Part] = {}
        self._raws: dict[int, tuple[np.ndarray, int]] = {}
        self._each(arguments, self._remember)

    def fresh(self) -> tuple[Any, ...]:
        """Returns copies of the arguments, on which a launch can be run."""
        self._raws = {number: _raw(part) for number, part in self._known.items()}
        copied: tuple[Any, ...] = self._each(self._arguments, self._view)
        return copied

    def remembered(self) -> list[Part]:
        """Returns what the arrays held at the beginning."""
        return list(self._known.values())

    def parts(self) -> list[Part]:
        """Returns what the fresh copies hold now."""
        return [
            _part(raw, part.dtype, start, len(part.bytes))
            for part, (raw, start) in zip(self._known.values(), self._raws.values(), strict=True)
        ]

    def _each(self, value: Any, act: Callable[[np.ndarray], Any]) -> Any:
        if isinstance(value, tuple):
            parts = tuple(self._each(part, act) for part in value)
            return type(value)(*parts) if hasattr(value, "_fields") else parts
        return act(value) if isinstance(value, np.ndarray) else value

    def _remember(self, value: np.ndarray) -> None:
        root = _root(value)
        if id(root) not in self._known:
            low, high = np.lib.array_utils.byte_bounds(root)
            written = unwritten.written_in(root)
            every = np.ones(high - low, bool)
            self._lows[id(root)] = low
            self._known[id(root)] = Part(
                _bytes_of(root).tobytes() if root.size else b"",
                every if written is None else written.copy(),
                root.dtype,
            )

    def _view(self, value: np.ndarray) -> np.ndarray:
        number = id(_root(value))
        raw, start = self._raws[number]
        address = value.__array_interface__["data"][0]
        offset = start + address - self._lows[number] if value.size else 0
        found = np.ndarray(value.shape, value.dtype, raw, offset, value.strides)
        found.flags.writeable = value.flags.writeable
        return found


def _root(value: np.ndarray) -> np.ndarray:
    """The array that an array is a part of."""
    while isinstance(value.base, np.ndarray):
        value = value.base
    return value


def _raw(part: Part) -> tuple[np.ndarray, int]:
    """Memory that holds an array, and where in it that begins."""
    raw = np.zeros(len(part.bytes) + ALIGNED, np.uint8)
    start = -raw.ctypes.data % ALIGNED
    raw[start : start + len(part.bytes)] = np.frombuffer(part.bytes, np.uint8)
    if not part.written.all():
        unwritten.begin(raw)
        known = unwritten.written_in(raw)
        assert known is not None
        known[:] = True
        known[start : start + part.written.size] = part.written
    return raw, start


def _part(raw: np.ndarray, dtype: Any, start: int, size: int) -> Part:
    written = unwritten.written_in(raw)
    known = np.ones(raw.size, bool) if written is None else written
    cells = slice(start, start + size)
    return Part(raw[cells].tobytes(), known[cells].copy(), dtype)


def _nan_apart(one: Part, other: Part) -> bool:
    """Whether two arrays differ in nothing but the sign and the payload of what is not a number.

    IEEE 754 leaves those open, a GPU has one NaN, and LLVM works a constant 0 / 0 out otherwise
    than the processor does.
    """
    if one.dtype.kind != "f":
        return False
    a, b = (np.frombuffer(each.bytes, one.dtype) for each in (one, other))
    both = np.isnan(a) & np.isnan(b)
    return bool(np.where(both, 0, a).tobytes() == np.where(both, 0, b).tobytes())


def _first_difference(one: Part, other: Part) -> str:
    if one.dtype.names or len(one.bytes) % one.dtype.itemsize:
        return ""
    a, b = (np.frombuffer(each.bytes, one.dtype) for each in (one, other))
    differ = [k for k in range(a.size) if a[k].tobytes() != b[k].tobytes()]
    return f"{len(differ)} cells; at {differ[0]} {a[differ[0]]!r}, compiled {b[differ[0]]!r}"


def _bytes_of(root: np.ndarray) -> np.ndarray:
    low, high = np.lib.array_utils.byte_bounds(root)
    first = root[tuple(slice(-1, None) if s < 0 else slice(0, 1) for s in root.strides)]
    flat = np.lib.stride_tricks.as_strided(first.view(np.uint8), (high - low,), (1,))
    return flat.reshape(-1)
