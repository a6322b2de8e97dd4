"""Runs a kernel one thread after another in plain Python: slow, obvious, and no part of the course.

It is the oracle for solutions and mistakes: it shares no line with the simulator.
"""

from __future__ import annotations

import ast
import itertools
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

from gpu_course.catalog.specification import Case, KernelPuzzle, Launch

SOLUTIONS = Path(__file__).parents[2] / "solutions"
ACCESSES_PER_THREAD = 20_000


class OutOfBounds(Exception):
    """An index below 0 or past the end of its array."""


class Endless(Exception):
    """One thread made more accesses than any thread of these puzzles can need."""


@dataclass
class Watched:
    """An array that checks every index and remembers which threads wrote and read which cell."""

    values: np.ndarray
    cuda: Any
    writers: dict[tuple[int, ...], set[Any]] = field(default_factory=lambda: defaultdict(set))
    readers: dict[tuple[int, ...], set[Any]] = field(default_factory=lambda: defaultdict(set))

    def __len__(self) -> int:
        return len(self.values)

    def _cell(self, index: Any) -> tuple[int, ...]:
        self.cuda.accesses += 1
        if self.cuda.accesses > ACCESSES_PER_THREAD:
            raise Endless
        cell = tuple(int(i) for i in (index if isinstance(index, tuple) else (index,)))
        if len(cell) != self.values.ndim:
            raise OutOfBounds(f"{len(cell)} indices")
        if any(not 0 <= i < side for i, side in zip(cell, self.values.shape, strict=True)):
            raise OutOfBounds(f"{cell} in {self.values.shape}")
        return cell

    def __getitem__(self, index: Any) -> Any:
        cell = self._cell(index)
        self.readers[cell].add(self.cuda.me)
        return self.values[cell]

    def __setitem__(self, index: Any, value: Any) -> None:
        cell = self._cell(index)
        self.writers[cell].add(self.cuda.me)
        self.values[cell] = value


@dataclass
class Outcome:
    """What one case led to: a reason in the grader's words, a diagnosis, and the arrays."""

    reason: str | None
    diagnosis: str | None = None
    expected: dict[str, np.ndarray] = field(default_factory=dict)
    got: dict[str, np.ndarray] = field(default_factory=dict)
    written: dict[str, np.ndarray] = field(default_factory=dict)


def kernels(path: Path) -> dict[str, Any]:
    """Returns the functions of an answer file, undecorated, bound to a `cuda` of one thread."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    tree.body = [node for node in tree.body if not isinstance(node, ast.ImportFrom)]
    for node in tree.body:
        if isinstance(node, ast.FunctionDef):
            node.decorator_list = []
    cuda = _OneThread()
    scope: dict[str, Any] = {"cuda": cuda}
    exec(compile(tree, str(path), "exec"), scope)
    return {"cuda": cuda} | {n.name: scope[n.name] for n in tree.body if hasattr(n, "name")}


class _OneThread:
    """Stands for `numba.cuda` inside one thread."""

    def __init__(self) -> None:
        self.accesses = 0

    def become(self, grid: Any, block: Any, number: Any, thread: Any) -> None:
        """Makes this the thread `thread` of block `number`, both (z, y, x)."""
        self.gridDim, self.blockDim = _xyz(grid), _xyz(block)
        self.blockIdx, self.threadIdx = _xyz(number[::-1]), _xyz(thread[::-1])
        self.me = (number, thread)
        self.accesses = 0

    def grid(self, dimensions: int) -> Any:
        axes = "xyz"[:dimensions]
        place = tuple(
            getattr(self.blockIdx, a) * getattr(self.blockDim, a) + getattr(self.threadIdx, a)
            for a in axes
        )
        return place if dimensions > 1 else place[0]

    def gridsize(self, dimensions: int) -> Any:
        size = tuple(
            getattr(self.blockDim, a) * getattr(self.gridDim, a) for a in "xyz"[:dimensions]
        )
        return size if dimensions > 1 else size[0]


def _xyz(sides: Any) -> SimpleNamespace:
    x, y, z = _three(sides)
    return SimpleNamespace(x=x, y=y, z=z)


def _three(sides: Any) -> tuple[int, int, int]:
    full = tuple(sides) if isinstance(sides, tuple) else (sides,)
    return (*full, 1, 1)[:3]  # type: ignore[return-value]


def run_launch(functions: dict[str, Any], launch: Launch, values: dict[str, Any]) -> None:
    """Runs every thread of a launch, one after the other."""
    grid, block = _three(launch.grid), _three(launch.block)
    args = [values[name] for name in launch.args]
    for number in itertools.product(*(range(side) for side in grid[::-1])):
        for thread in itertools.product(*(range(side) for side in block[::-1])):
            functions["cuda"].become(grid, block, number, thread)
            functions[launch.function](*args)


def run_case(puzzle: KernelPuzzle, functions: dict[str, Any], case: Case, seed: int = 0) -> Outcome:
    """Returns how an answer does on one case, judged in the order of a verdict."""
    inputs = puzzle.inputs(np.random.default_rng(seed), case)
    expected = puzzle.reference(_copies(inputs), case)
    outputs = puzzle.outputs(inputs, case)
    for array in outputs.values():
        array[...] = np.nan
    values = {
        name: Watched(value.copy(), functions["cuda"]) if isinstance(value, np.ndarray) else value
        for name, value in {**inputs, **outputs}.items()
    }
    try:
        for launch in puzzle.launches(case):
            run_launch(functions, launch, values)
    except OutOfBounds:
        return Outcome("hazard", "out-of-bounds")
    except Endless:
        return Outcome("hazard", "endless-loop")
    arrays = {name: value for name, value in values.items() if isinstance(value, Watched)}
    if any(_raced(array) for array in arrays.values()):
        return Outcome("hazard", "race")
    if any(
        not np.array_equal(arrays[name].values, inputs[name]) for name in arrays if name in inputs
    ):
        return Outcome("input-changed", "input-changed")
    got = {name: arrays[name].values for name in outputs}
    if all(np.array_equal(got[name], expected[name]) for name in outputs):
        return _shared(puzzle, case, arrays)
    key = puzzle.diagnose(inputs, case, expected, got) if puzzle.diagnose else None
    written = {name: _written(arrays[name]) for name in outputs}
    return Outcome("wrong-result", key, expected, got, written)


def _shared(puzzle: KernelPuzzle, case: Case, arrays: dict[str, Watched]) -> Outcome:
    """A right result is over budget where a thread wrote, or read, far more than its share."""
    read = Counter(
        thread for each in arrays.values() for who in each.readers.values() for thread in who
    )
    assert puzzle.share is not None
    outputs = puzzle.outputs(puzzle.inputs(np.random.default_rng(0), case), case)
    for name in outputs:
        wrote = Counter(thread for who in arrays[name].writers.values() for thread in who)
        if max(wrote.values()) > puzzle.share.most(case, name):
            return Outcome("over-budget", "not-shared")
    # No thread of lesson 01 has to look at more than two cells for one of its own.
    cells = max(puzzle.share.most(case, name) for name in outputs)
    if read and max(read.values()) > 6 * cells:
        return Outcome("over-budget", "done-again")
    return Outcome(None)


def _copies(inputs: dict[str, Any]) -> dict[str, Any]:
    return {n: v.copy() if isinstance(v, np.ndarray) else v for n, v in inputs.items()}


def _raced(array: Watched) -> bool:
    return any(
        len(writers | array.readers.get(cell, set())) > 1 for cell, writers in array.writers.items()
    )


def _written(array: Watched) -> np.ndarray:
    mask = np.zeros(array.values.shape, bool)
    for cell in array.writers:
        mask[cell] = True
    return mask


def first_failure(puzzle: KernelPuzzle, functions: dict[str, Any]) -> Outcome:
    """Returns the outcome of the first case an answer fails, or a passing one."""
    for case in puzzle.cases:
        outcome = run_case(puzzle, functions, case)
        if outcome.reason is not None:
            return outcome
    return Outcome(None)
