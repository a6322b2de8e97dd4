"""What a launch leaves behind: frozen data, no behaviour beyond adding up and showing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any, Self, TypeVar

import numpy as np

Dim3 = tuple[int, int, int]
ThreadPair = tuple[Dim3, Dim3]

_C = TypeVar("_C", bound="_Addable")


class _Addable:
    """Adds field by field, so that counters of many accesses become counters of a launch."""

    def __add__(self, other: Self) -> Self:
        return type(self)(**{n: v + getattr(other, n) for n, v in vars(self).items()})

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
    being two. `fma` counts the pairs of these that the compiler fuses, and calls of `cuda.fma`.
    """

    global_load: GlobalCounters = field(default_factory=GlobalCounters)
    global_store: GlobalCounters = field(default_factory=GlobalCounters)
    red: GlobalCounters = field(default_factory=GlobalCounters)
    atom: GlobalCounters = field(default_factory=GlobalCounters)
    shared_load: SharedCounters = field(default_factory=SharedCounters)
    shared_store: SharedCounters = field(default_factory=SharedCounters)
    local_load: int = 0
    local_store: int = 0
    shuffles: int = 0
    barriers: int = 0
    branches: int = 0
    divergent_branches: int = 0
    float32_operations: int = 0
    fma: int = 0
    float64_operations: int = 0


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
        """Returns what a learner reads: fact, where with the line's text, who, why, try."""
        lines = [self.message]
        for key in ("where", "who", "why", "try"):
            if self.details.get(key):
                lines.append(f"  {key + ':':<7} {self.details[key]}")
            if key == "where" and self.details.get("code"):
                lines.append(f"{'':10}{self.details['code']}")
        return "\n".join(lines)


@dataclass(frozen=True)
class LaunchShape:
    """The shape of a launch: grid and block as (x, y, z), warps and lanes over the whole grid."""

    grid: Dim3
    block: Dim3
    warps: int
    lanes: int


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
    """

    array: str
    shape: tuple[int, ...]
    kind: str
    line: int
    threads: np.ndarray
    cells: np.ndarray
    space: str = "global"


@dataclass(frozen=True)
class Report:
    """What one launch did.

    Attributes:
        kernel, file: the kernel's name and file.
        hazards: every Hazard, errors first.
        counters: totals over the launch; `by_line` splits them by line of the kernel's file.
        launch: the LaunchShape.
        touches: who touched what, kept for launches of at most 4,096 lanes; empty above.
        printed: what the kernel printed, in thread order.
    """

    kernel: str
    file: str
    hazards: tuple[Hazard, ...]
    counters: Counters
    by_line: Mapping[int, Counters]
    launch: LaunchShape
    touches: tuple[Touch, ...] = ()
    printed: str = ""

    @property
    def ok(self) -> bool:
        """True when no hazard of severity "error" was found."""
        return not any(h.severity == "error" for h in self.hazards)

    def __repr__(self) -> str:
        shape = self.launch
        state = "ok" if self.ok else f"{len(self.hazards)} hazard(s)"
        lines = [f"Report({self.kernel}, grid {shape.grid}, block {shape.block}: {state})"]
        lines += [h.text() for h in self.hazards]
        return "\n".join(lines)
