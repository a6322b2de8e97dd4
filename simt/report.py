"""What a launch leaves behind: frozen data, no behaviour beyond adding up and showing.

A `Report` says what was wrong and what was counted. A `Recording` has the launch statement by
statement, for pictures and stories: its steps stand in the order in which they happened. Threads
are global linear numbers, block by block, x fastest; warp `w` is counted over the whole grid, every
block starting on a fresh one.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import Any, Self, overload

import numpy as np

from simt.text import count

Dim3 = tuple[int, int, int]
ThreadPair = tuple[Dim3, Dim3]


class _Addable:
    """Adds field by field, so that counters of many accesses become counters of a launch."""

    def __add__(self, other: Self) -> Self:
        return type(self)(*map(operator.add, vars(self).values(), vars(other).values()))

    @classmethod
    def total(cls, parts: Collection[Self]) -> Self:
        """Returns the sum of all parts; of none, zeros. It is made once, and not part by part."""
        found = {}
        for f in fields(cls):  # type: ignore[arg-type]
            # Most fields of most lines are the zeros they began with, the very same object.
            zero: Any = f.default
            values = [v for part in parts if (v := getattr(part, f.name)) is not zero]
            if values:
                found[f.name] = zero.total(values) if isinstance(zero, _Addable) else sum(values)
        return cls(**found)

    def as_dict(self) -> dict[str, Any]:
        """Returns the counters as plain dictionaries and ints, ready for JSON."""
        out: dict[str, Any] = {}
        for f in fields(self):  # type: ignore[arg-type]
            value = getattr(self, f.name)
            out[f.name] = value.as_dict() if isinstance(value, _Addable) else int(value)
        return out


@dataclass(frozen=True)
class GlobalCounters(_Addable):
    """Warp-level traffic to global memory, in Nsight Compute's meaning.

    A request is one warp-level instruction with at least one active lane; a sector is 32 bytes;
    `excess_sectors` is what the request touched beyond the fewest sectors that could hold the
    bytes it asked for; `bytes` counts the distinct bytes asked for, not the sectors' bytes.
    """

    requests: int = 0
    sectors: int = 0
    excess_sectors: int = 0
    bytes: int = 0


@dataclass(frozen=True)
class SharedCounters(_Addable):
    """Warp-level traffic to shared memory: a wavefront is one pass through 32 four-byte banks."""

    requests: int = 0
    wavefronts: int = 0
    conflicts: int = 0


@dataclass(frozen=True)
class Counters(_Addable):
    """Everything counted in a launch, or on one line of it.

    `float32_operations` and `float64_operations` count arithmetic lane by lane, a product and a sum
    being two; `float64_comparisons` come beside them. `fma` counts the pairs of these that the
    compiler fuses, and calls of `cuda.fma`, each two of these operations itself.
    `atomic_updates` counts atomics on global memory lane by lane: those on one cell are carried out
    one after the other, though one request brings them. `shared_updates` are those on shared
    memory. `idle_loads` counts requests for global memory of a warp that then stores to shared
    memory, and has loaded nothing from there meanwhile: no work hides how long they travel.
    `wide_loads` counts the requests for shared memory that are left where a warp joins those of
    neighbours: each brings all its lanes 16 bytes that begin at a multiple of 16.
    """

    global_load: GlobalCounters = GlobalCounters()
    global_store: GlobalCounters = GlobalCounters()
    red: GlobalCounters = GlobalCounters()
    atom: GlobalCounters = GlobalCounters()
    shared_load: SharedCounters = SharedCounters()
    shared_store: SharedCounters = SharedCounters()
    local_load: int = 0
    local_store: int = 0
    shuffles: int = 0
    barriers: int = 0
    branches: int = 0
    divergent_branches: int = 0
    float32_operations: int = 0
    fma: int = 0
    float64_operations: int = 0
    float64_comparisons: int = 0
    atomic_updates: int = 0
    shared_updates: int = 0
    idle_loads: int = 0
    wide_loads: int = 0


@dataclass(frozen=True)
class Hazard:
    """One thing wrong with a launch, told as fact, place, threads, values and next step.

    Attributes:
        kind: out-of-bounds, race, barrier-divergence, uninitialised-read, inactive-lane,
            illegal-launch, endless-loop or misaligned.
        severity: "error" or "advice".
        message: the fact, one sentence.
        file, line: where in the kernel's own file.
        threads: (block xyz, thread xyz) pairs of the threads involved, at most 64 of them.
        details: "where", "code" (the text of the line), "who", "why" and "try", "count" (accesses
            at fault, lane by lane) and what the detector knows besides (array, indices, the other
            access of a race ...).
    """

    kind: str
    severity: str
    message: str
    file: str
    line: int
    threads: tuple[ThreadPair, ...] = ()
    details: Mapping[str, Any] = field(default_factory=dict)

    def text(self) -> str:
        """Returns what a person reads: fact, where with the line's text, who, why, try."""
        lines = [self.message]
        for key in ("where", "who", "why", "try"):
            if self.details.get(key):
                lines.append(f"  {key + ':':<7} {self.details[key]}")
            if key == "where" and self.details.get("code"):
                lines.append(f"{'':10}{self.details['code']}")
        return "\n".join(lines)


@dataclass(frozen=True)
class LaunchShape:
    """The shape of a launch.

    Attributes:
        grid, block: as (x, y, z).
        warps, lanes: over the whole grid.
        shared_bytes: the shared memory of one block, static and dynamic together.
        indexed_bytes: of a thread's local arrays, those with an index that is known only as the
            kernel runs, so that they cannot be in registers.
        indexed_lines: where they are indexed so.
    """

    grid: Dim3
    block: Dim3
    warps: int
    lanes: int
    shared_bytes: int = 0
    indexed_bytes: int = 0
    indexed_lines: tuple[int, ...] = ()


@dataclass(frozen=True)
class Touch:
    """Which thread touched which cell of one array on one line, in the order it happened.

    Accesses out of bounds touch nothing; the Report's hazards name them.

    Attributes:
        array: the array's name in the kernel.
        shape: the array's shape.
        kind: "read", "write" or "atomic".
        line: the line of the access.
        threads: int64 (n,), the global linear thread numbers (block by block, x fastest).
        cells: int64 (n,), the flat C-order indices touched.
        space: where the array lies: "global", "shared" (each block has its own), "local" (each
            thread has its own).
        values: (n,), what a read found or a write left there, kept for launches of at most 64
            lanes; None above, and of an atomic.
    """

    array: str
    shape: tuple[int, ...]
    kind: str
    line: int
    threads: np.ndarray
    cells: np.ndarray
    space: str = "global"
    values: np.ndarray | None = None


class _WhenAsked:
    """The touches of a report: they are there, or whoever asks first has them found."""

    @overload
    def __get__(self, report: None, owner: type[Report]) -> tuple[Touch, ...]: ...
    @overload
    def __get__(self, report: Report, owner: type[Report]) -> tuple[Touch, ...]: ...
    def __get__(self, report: Report | None, owner: type[Report]) -> tuple[Touch, ...]:
        """Returns them; of the class, what a report has without any."""
        if report is None:
            return ()
        found: tuple[Touch, ...] | Callable[[], tuple[Touch, ...]] = vars(report)["touches"]
        if callable(found):
            vars(report)["touches"] = found = found()
        return found

    def __set__(
        self, report: Report, touches: tuple[Touch, ...] | Callable[[], tuple[Touch, ...]]
    ) -> None:
        """Keeps them, or a function that finds them."""
        vars(report)["touches"] = touches


@dataclass(frozen=True)
class Report:
    """What one launch did.

    Attributes:
        kernel, file: the kernel's name and file.
        hazards: every Hazard, errors first.
        by_line: what was counted, by line of the kernel's file.
        launch: the LaunchShape.
        touches: who touched what, kept for launches of at most 4,096 lanes; empty above. They may
            be given as a function that finds them when they are first asked for.
        printed: what the kernel printed, in thread order.
        finished: True when every thread came to its end. False where the launch was not legal, or
            was given up: an endless loop, or so many errors that it told nothing more. The arrays
            then hold what had been written by that time.
    """

    kernel: str
    file: str
    hazards: tuple[Hazard, ...]
    by_line: Mapping[int, Counters]
    launch: LaunchShape
    touches: _WhenAsked = _WhenAsked()
    printed: str = ""
    finished: bool = True

    @cached_property
    def counters(self) -> Counters:
        """Totals over the launch, added up when they are first asked for."""
        return Counters.total(self.by_line.values())

    @property
    def ok(self) -> bool:
        """True when no hazard of severity "error" was found."""
        return not any(h.severity == "error" for h in self.hazards)

    def __getstate__(self) -> dict[str, Any]:
        """Returns what a copy has: touches, and no function that would find them."""
        return {**vars(self), "touches": self.touches}

    def __repr__(self) -> str:
        shape = self.launch
        state = "ok" if self.ok else count(len(self.hazards), "hazard")
        lines = [f"Report({self.kernel}, grid {shape.grid}, block {shape.block}: {state})"]
        lines += [h.text() for h in self.hazards]
        return "\n".join(lines)


MAX_LINES = 1000
MAX_LETTERS = 2000


class Printout:
    """What the threads of a launch have printed."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.left_out = 0

    def add(self, line: str) -> None:
        """Keeps a line, as long as there is room."""
        if len(self.lines) < MAX_LINES:
            self.lines.append(line if len(line) <= MAX_LETTERS else line[:MAX_LETTERS] + " ...")
        else:
            self.left_out += 1

    def text(self) -> str:
        """Returns all lines, and how many more there were."""
        more = [f"... and {count(self.left_out, 'more line')}"] if self.left_out else []
        return "".join(f"{line}\n" for line in [*self.lines, *more])


WARP = 32


@dataclass(frozen=True, eq=False)
class Text:
    """The source text of a kernel or device function.

    Attributes:
        name: the function's name.
        file: its file as messages show it.
        lines: line number -> text, for the lines of this function only.
    """

    name: str
    file: str
    lines: Mapping[int, str]


@dataclass(frozen=True, eq=False)
class StepAccess:
    """One access to memory within a step, by the threads that were in bounds.

    Attributes:
        kind: "read", "write" or "atomic".
        array, space: its name in the kernel; "global", "shared", "local" or "const".
        shape, itemsize: of the array, elements of so many bytes.
        threads: int64 (n,), who.
        cells: int64 (n,), flat C-order indices.
        values: (n,), what a read found, or what a write or an atomic left there.
        addresses: int64 (n,), first bytes; within the block's own memory for a shared array.
        cost: warp -> sectors of a global access, wavefronts of a shared one; empty for others.
        least: warp -> the fewest that bytes and mask allow.
    """

    kind: str
    array: str
    space: str
    shape: tuple[int, ...]
    itemsize: int
    threads: np.ndarray
    cells: np.ndarray
    values: np.ndarray
    addresses: np.ndarray
    cost: Mapping[int, int]
    least: Mapping[int, int]


@dataclass(frozen=True, eq=False)
class StepExchange:
    """What lanes gave each other in a shuffle or a vote.

    Attributes:
        threads: int64 (n,), who took part.
        sources: int64 (n,), the lane of its own warp that each read from; None for a vote.
        sent: (n,), what each brought.
        received: (n,), what each got.
    """

    threads: np.ndarray
    sources: np.ndarray | None
    sent: np.ndarray
    received: np.ndarray


@dataclass(frozen=True, eq=False)
class Held:
    """A variable as the recorded threads hold it.

    Attributes:
        values: (recorded threads,).
        known: bool (recorded threads,), who has assigned it.
    """

    values: np.ndarray
    known: np.ndarray


@dataclass(frozen=True, eq=False)
class Step:
    """One statement, or the test of one, carried out by some of the recorded threads.

    Attributes:
        function: the kernel or device function it is in.
        line: its line.
        threads: int64 (n,), the recorded threads that carry it out, ascending.
        taken: those of them that found a condition true; None where nothing was asked.
        accesses: in order.
        meetings: what the threads waited or stood for: "barrier", "warp barrier", "grid barrier",
            "fence", "shuffle".
        held: variable -> Held, once the step was over.
        struck: (number of a hazard, threads of this step it struck).
        part: counts the pieces of a statement that other threads came between; 0 for a whole one.
        exchanges: the shuffles and votes, in order.
    """

    function: str
    line: int
    threads: np.ndarray
    taken: np.ndarray | None
    accesses: tuple[StepAccess, ...]
    meetings: tuple[str, ...]
    held: Mapping[str, Held]
    struck: tuple[tuple[int, np.ndarray], ...] = ()
    part: int = 0
    exchanges: tuple[StepExchange, ...] = ()


@dataclass(frozen=True, eq=False)
class Start:
    """What an array held before the first step.

    Attributes:
        space, shape: of the array.
        values: (cells,) in C order; None for shared memory, which starts unset.
    """

    space: str
    shape: tuple[int, ...]
    values: np.ndarray | None


@dataclass(frozen=True, eq=False)
class Recording:
    """A launch that can be stepped through.

    Attributes:
        kernel: its name.
        launch: the LaunchShape.
        texts: function -> Text; the kernel's own comes first.
        threads: int64 (n,), the threads that were recorded, ascending.
        steps: in the order in which they happened.
        steps_taken: how many there were, those beyond the recording's bound included.
        hazards: of the whole launch; `Step.struck` counts in these.
        arrays: array -> Start, for the arrays the steps touch.
        watch: the variables and arrays to be shown, in order.
        finished: as in the launch's Report: False where it was given up.
    """

    kernel: str
    launch: LaunchShape
    texts: Mapping[str, Text]
    threads: np.ndarray
    steps: tuple[Step, ...]
    steps_taken: int
    hazards: tuple[Hazard, ...]
    arrays: Mapping[str, Start]
    watch: tuple[str, ...] = ()
    finished: bool = True
    _tracks: dict[Any, Any] = field(default_factory=dict, repr=False)

    @property
    def whole(self) -> bool:
        """True when every step that was taken is kept."""
        return self.steps_taken == len(self.steps)

    @property
    def threads_per_block(self) -> int:
        """Threads in one block."""
        x, y, z = self.launch.block
        return x * y * z

    @property
    def warps_per_block(self) -> int:
        """Warps in one block, the last one perhaps not full."""
        return -(-self.threads_per_block // WARP)

    def warps_of(self, threads: np.ndarray) -> np.ndarray:
        """Returns int64 (n,), the warp of each thread."""
        block, inside = np.divmod(np.asarray(threads), self.threads_per_block)
        return np.asarray(block * self.warps_per_block + inside // WARP)

    def lanes_of(self, threads: np.ndarray) -> np.ndarray:
        """Returns int64 (n,), the place of each thread in its warp, 0 to 31."""
        return np.asarray(np.asarray(threads) % self.threads_per_block % WARP)

    def members(self, warp: int) -> np.ndarray:
        """Returns int64 (n,), the threads of a warp."""
        block, inside = divmod(warp, self.warps_per_block)
        first = inside * WARP
        last = min(first + WARP, self.threads_per_block)
        return block * self.threads_per_block + np.arange(first, last)

    @cached_property
    def warps(self) -> tuple[int, ...]:
        """The warps that were recorded, ascending."""
        return tuple(np.unique(self.warps_of(self.threads)).tolist())

    def track(self, warps: Iterable[int]) -> tuple[int, ...]:
        """Returns the numbers of the steps in which some thread of these warps takes part."""
        wanted = tuple(warps)
        if wanted not in self._tracks:
            members = np.concatenate([self.members(w) for w in wanted] or [np.empty(0, np.int64)])
            self._tracks[wanted] = tuple(
                k for k, step in enumerate(self.steps) if np.isin(step.threads, members).any()
            )
        found: tuple[int, ...] = self._tracks[wanted]
        return found

    def contents(self, array: str, step: int, block: int) -> tuple[np.ndarray, np.ndarray]:
        """Returns (values, known) of an array's cells once a step is over.

        Args:
            array: a name of `arrays`.
            step: the number of the step; -1 for before the first.
            block: the block whose copy of a shared array is meant.
        """
        start = self.arrays[array]
        cells = int(np.prod(start.shape, dtype=np.int64))
        known = np.full(cells, start.values is not None)
        values = np.zeros(cells) if start.values is None else start.values.copy()
        for done in self.steps[: step + 1]:
            for access in done.accesses:
                if access.array != array or access.kind == "read":
                    continue
                here = np.ones(access.threads.size, bool)
                if start.space == "shared":
                    here = access.threads // self.threads_per_block == block
                if access.values.dtype != values.dtype and here.any():
                    values = values.astype(access.values.dtype)
                values[access.cells[here]] = access.values[here]
                known[access.cells[here]] = True
        return values, known
