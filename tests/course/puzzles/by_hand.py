"""Runs a kernel one thread after another in plain Python: slow, obvious, and no part of the course.

It is the oracle for solutions and mistakes: it shares no line with the simulator. What the lanes of
a warp touch together it puts together afterwards: the k-th time that each of them comes to a line.
"""

from __future__ import annotations

import ast
import itertools
import sys
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

from gpu_course.grading.kernel.budgets import counter
from gpu_course.puzzle.specification import Case, KernelPuzzle, Launch
from simt.report import Counters, GlobalCounters
from tests.course.puzzles import whole_numbers

SOLUTIONS = Path(__file__).parents[3] / "solutions"
ACCESSES_PER_THREAD = 20_000


class OutOfBounds(Exception):
    """An index below 0 or past the end of its array."""


class Endless(Exception):
    """One thread made more accesses than any thread of these puzzles can need."""


class Requests:
    """What the lanes of a warp ask of global memory together, from what each did by itself."""

    def __init__(self) -> None:
        self.block: Any = (1, 1, 1)
        self._times: Counter[Any] = Counter()
        self._asked: dict[Any, set[tuple[int, int]]] = defaultdict(set)

    def note(self, me: Any, kind: str, values: np.ndarray, cell: tuple[int, ...]) -> None:
        """Keeps the access that the thread `me` makes in the line that is running."""
        frame = sys._getframe(2)
        place = (kind, id(values), frame.f_code.co_name, frame.f_lineno)
        self._times[me, place] += 1
        number, (z, y, x) = me
        wide, high, _ = self.block
        warp = ((z * high + y) * wide + x) // 32
        flat = int(np.ravel_multi_index(cell, values.shape)) * values.itemsize
        self._asked[number, warp, place, self._times[me, place]].add((flat, values.itemsize))

    def counters(self) -> Counters:
        """Returns requests, sectors and excess sectors of all loads and stores."""
        counted = {"load": GlobalCounters(), "store": GlobalCounters()}
        for (_, _, (kind, *_), _), asked in self._asked.items():
            size = sum(itemsize for _, itemsize in asked)
            sectors = len({first // 32 for first, _ in asked})
            counted[kind] += GlobalCounters(1, sectors, sectors - -(-size // 32), size)
        return Counters(global_load=counted["load"], global_store=counted["store"])


@dataclass
class Watched:
    """An array that checks every index and remembers which threads wrote and read which cell."""

    values: np.ndarray
    cuda: Any
    requests: Requests = field(default_factory=Requests)
    writers: dict[tuple[int, ...], set[Any]] = field(default_factory=lambda: defaultdict(set))
    readers: dict[tuple[int, ...], set[Any]] = field(default_factory=lambda: defaultdict(set))

    def __len__(self) -> int:
        return len(self.values)

    @property
    def shape(self) -> tuple[int, ...]:
        return self.values.shape

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
        self.requests.note(self.cuda.me, "load", self.values, cell)
        return self.values[cell]

    def __setitem__(self, index: Any, value: Any) -> None:
        cell = self._cell(index)
        self.writers[cell].add(self.cuda.me)
        self.requests.note(self.cuda.me, "store", self.values, cell)
        self.values[cell] = value


@dataclass
class Outcome:
    """What one case led to: a reason in the grader's words, of all but a wrong result a diagnosis,
    and the arrays."""

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
    scope: dict[str, Any] = {
        "cuda": cuda,
        "float32": np.float32,
        "float64": np.float64,
        **whole_numbers.NAMES,
    }
    exec(compile(tree, str(path), "exec"), scope)
    return {"cuda": cuda} | {n.name: scope[n.name] for n in tree.body if hasattr(n, "name")}


class Unwritten(Exception):
    """A place of a thread's own array that nothing was written to."""


class _Own:
    """An array of one thread, which knows what was written to it."""

    def __init__(self, shape: Any, dtype: Any) -> None:
        self.values = np.zeros(shape, whole_numbers.dtype_of(dtype))
        self.written = np.zeros(shape, bool)
        self.shape = self.values.shape

    def __getitem__(self, index: Any) -> Any:
        if not np.all(self.written[index]):
            raise Unwritten
        return self.values[index]

    def __setitem__(self, index: Any, value: Any) -> None:
        self.values[index], self.written[index] = value, True


def _fma(a: Any, b: Any, c: Any) -> np.float32:
    """a * b + c of float32, in which one rounding is the last step."""
    if not all(map(np.isfinite, (a, b, c))):
        return np.float32(np.float64(a) * np.float64(b) + np.float64(c))
    exact = Fraction(float(a)) * Fraction(float(b)) + Fraction(float(c))
    if not exact:
        return np.float32(np.float64(a) * np.float64(b) + np.float64(c))
    # A float64 that is cut, and odd where something was cut off, is rounded to float32 as the exact
    # number is.
    near = float(exact)
    if Fraction(near) != exact and int(np.float64(near).view(np.int64)) % 2 == 0:
        near = float(np.nextafter(near, np.inf if Fraction(near) < exact else -np.inf))
    return np.float32(near)


class _OneThread:
    """Stands for `numba.cuda` inside one thread."""

    local = SimpleNamespace(array=_Own)
    # Of a block whose threads never meet, each has the whole of it.
    shared = SimpleNamespace(array=_Own)
    fma = staticmethod(_fma)

    def __init__(self) -> None:
        self.accesses = 0

    def become(self, grid: Any, block: Any, number: Any, thread: Any) -> None:
        """Makes this the thread `thread` of block `number`, both (z, y, x)."""
        self.gridDim, self.blockDim = _xyz(grid), _xyz(block)
        self.blockIdx, self.threadIdx = _xyz(number[::-1]), _xyz(thread[::-1])
        self.me = (number, thread)
        (z, y, x), (wide, high, _) = thread, _three(block)
        self.laneid = ((z * high + y) * wide + x) % 32
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
    for array in (arg for arg in args if isinstance(arg, Watched)):
        array.requests.block = block
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
        array[...] = np.nan if array.dtype.kind == "f" else np.iinfo(array.dtype).min
    requests = Requests()
    values = {
        name: Watched(value.copy(), functions["cuda"], requests)
        if isinstance(value, np.ndarray)
        else value
        for name, value in {**outputs, **inputs}.items()  # changed in place: it begins as it was
    }
    try:
        with np.errstate(all="ignore"):  # infinity less infinity
            for launch in puzzle.launches(case):
                run_launch(functions, launch, values)
    except OutOfBounds:
        return Outcome("hazard", "out-of-bounds")
    except Endless:
        return Outcome("hazard", "endless-loop")
    except Unwritten:
        return Outcome("hazard", "uninitialised-read")
    arrays = {name: value for name, value in values.items() if isinstance(value, Watched)}
    if any(_raced(array) for array in arrays.values()):
        return Outcome("hazard", "race")
    if any(
        not np.array_equal(arrays[name].values, inputs[name], equal_nan=True)
        for name in arrays
        if name in inputs and name not in outputs
    ):
        return Outcome("input-changed", "input-changed")
    got = {name: arrays[name].values for name in outputs}
    within = puzzle.tolerances(inputs, case, expected)
    if all(_is_right(puzzle, name, got[name], expected[name], within[name]) for name in outputs):
        return _shared(puzzle, case, arrays, seed)
    written = {name: _written(arrays[name]) for name in outputs}
    return Outcome("wrong-result", None, expected, got, written)


def _is_right(
    puzzle: KernelPuzzle,
    name: str,
    got: np.ndarray,
    expected: np.ndarray,
    within: tuple[float, float],
) -> bool:
    if name in puzzle.signed_zeros:
        zeros = expected == 0
        if not np.array_equal(np.signbit(got[zeros]), np.signbit(expected[zeros])):
            return False
    return np.allclose(got, expected, *within, equal_nan=True)


def _shared(puzzle: KernelPuzzle, case: Case, arrays: dict[str, Watched], seed: int) -> Outcome:
    """A right result is over budget where a thread wrote, or read, far more than its share, or
    where the warps touched more sectors than they may.
    """
    assert puzzle.share is not None
    outputs = puzzle.outputs(puzzle.inputs(np.random.default_rng(0), case), case)
    for name in outputs:
        wrote = Counter(thread for who in arrays[name].writers.values() for thread in who)
        if max(wrote.values()) > puzzle.share.most(case, name):
            return Outcome("over-budget", "not-shared")
    read = _busiest_reader(arrays)
    # No thread of lesson 01 has to look at more than two cells for one of its own.
    most = 6 * max(puzzle.share.most(case, name) for name in outputs)
    sectors = [each for each in puzzle.budgets if "sectors" in each.counter]
    if not sectors and read <= most:
        return Outcome(None)
    solved = _solved(puzzle, case, seed)
    allowed, counted = (next(iter(each.values())).requests.counters() for each in (solved, arrays))
    for budget in sectors:
        limit = budget.limit(case, allowed) if callable(budget.limit) else budget.limit
        if counter(counted, budget.counter) > limit:
            return Outcome("over-budget", "over-budget")
    if read > max(most, 2 * _busiest_reader(solved) + 2):
        return Outcome("over-budget", "done-again")
    return Outcome(None)


def _busiest_reader(arrays: dict[str, Watched]) -> int:
    read = Counter(
        thread for each in arrays.values() for who in each.readers.values() for thread in who
    )
    return max(read.values(), default=0)


def _solved(puzzle: KernelPuzzle, case: Case, seed: int) -> dict[str, Watched]:
    """Returns the arrays of a case as the solution leaves them."""
    functions, requests = kernels(SOLUTIONS / f"{puzzle.name}.py"), Requests()
    inputs = puzzle.inputs(np.random.default_rng(seed), case)
    values: dict[str, Any] = dict(inputs)
    for name, value in {**puzzle.outputs(inputs, case), **inputs}.items():
        if isinstance(value, np.ndarray):
            values[name] = Watched(value.copy(), functions["cuda"], requests)
    with np.errstate(invalid="ignore"):  # zero times infinity
        for launch in puzzle.launches(case):
            run_launch(functions, launch, values)
    return {name: each for name, each in values.items() if isinstance(each, Watched)}


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
