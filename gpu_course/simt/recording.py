"""What a launch did, statement by statement: frozen data for pictures and stories.

Steps stand in the order in which they happened. Threads are global linear numbers, block by block,
x fastest; warp `w` is counted over the whole grid, every block starting on a fresh one.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from gpu_course.simt.report import Hazard, LaunchShape

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
    _tracks: dict[Any, Any] = field(default_factory=dict, repr=False)

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
