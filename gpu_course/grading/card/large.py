"""The sizes at which a real GPU is timed: a checked case made large, and its data."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from gpu_course.grading.kernel.trial import Given, prepare
from gpu_course.puzzle import Case, KernelPuzzle
from simt.machine.launch import dim3, illegal

ROUND = 256
"""Sizes that grow are multiples of this, so that a timing is not one of a ragged edge."""
QUICK_BYTES = 1 << 20
CLOSE = 1e-3
"""What a result may be off at a large size, as a part of its largest number: rounding grows with
the length of a sum, and the exact comparison is made at the sizes of the checks."""


@dataclass(frozen=True)
class Shape:
    """What a case takes: bytes of its arrays, blocks of its launches, and all else of these."""

    bytes: int
    blocks: int
    rest: tuple[object, ...]


def large_case(puzzle: KernelPuzzle, least_bytes: int) -> Case | None:
    """Returns a case whose inputs and outputs have at least so many bytes, or None.

    Where the puzzle names none itself, its largest case is made larger. A size grows where twice
    as much of it asks for more blocks of the same number of threads, all by the same factor,
    rounded up. Others stay: a block may hold no more of them. A puzzle that wants them larger, as
    a product of matrices does, names its `large` case. None: the puzzle's launches have one block,
    or a fixed grid, whatever the size.

    Args:
        puzzle: the puzzle.
        least_bytes: how large the case is to be.
    """
    if puzzle.large is not None:
        return puzzle.large(least_bytes)
    whole = [case for case in puzzle.cases if case.whole]
    base = max(whole, key=lambda case: _rank(puzzle, case))
    base = Case("past L2", {n: size for n, size in base.sizes.items() if n != "doublings"})
    growing = _growing(puzzle, base)
    if not growing:
        return None
    # How the bytes grow with the factor shows while they are few and quickly made.
    factor, quick = 1, min(QUICK_BYTES, least_bytes)
    while (few := measure(puzzle, _grown(base, growing, factor)).bytes) < quick:
        factor *= 2
    power = max(0.5, math.log2(measure(puzzle, _grown(base, growing, 2 * factor)).bytes / few))
    case = _grown(base, growing, factor * max(1.0, least_bytes / few) ** (1 / power), ROUND)
    launches = puzzle.launches(case)
    if any(illegal(dim3(each.grid, "grid"), dim3(each.block, "block")) for each in launches):
        return None
    return case


def _rank(puzzle: KernelPuzzle, case: Case) -> tuple[int, int]:
    shape = measure(puzzle, case)
    threads = max(math.prod(dim3(each.block, "block")) for each in puzzle.launches(case))
    return min(threads, ROUND), shape.bytes


def measure(puzzle: KernelPuzzle, case: Case) -> Shape:
    """Returns what a case takes, its data made for it."""
    given = prepare(puzzle, case, seed=0)
    return Shape(
        least_bytes_of(given),
        sum(math.prod(dim3(each.grid, "grid")) for each in given.launches),
        tuple((each.function, dim3(each.block, "block"), each.args) for each in given.launches),
    )


def _growing(puzzle: KernelPuzzle, base: Case) -> tuple[str, ...]:
    shape = measure(puzzle, base)
    growing = []
    for name, size in base.sizes.items():
        try:
            twice = measure(puzzle, Case("twice", {**base.sizes, name: 2 * size}))
        except Exception:  # sizes that do not go together: the specification may raise anything
            continue
        if twice.rest == shape.rest and twice.bytes > shape.bytes and twice.blocks > shape.blocks:
            growing.append(name)
    return tuple(growing)


def _grown(base: Case, growing: tuple[str, ...], factor: float, multiple: int = 1) -> Case:
    sizes = {
        name: math.ceil(size * factor / multiple) * multiple if name in growing else size
        for name, size in base.sizes.items()
    }
    return Case(base.name, sizes)


def least_bytes_of(given: Given) -> int:
    """Returns what has to cross the memory bus at least: inputs read once, outputs written once."""
    named = {name for launch in given.launches for name in launch.args}
    read = sum(
        value.nbytes
        for name, value in given.inputs.items()
        if name in named and isinstance(value, np.ndarray)
    )
    return read + sum(value.nbytes for name, value in given.expected.items() if name in named)


def furthest_off(got: np.ndarray, expected: np.ndarray) -> float:
    """Returns the largest difference as a part of the largest number expected; inf for a NaN.

    >>> furthest_off(np.array([1.0, 4.5]), np.array([1.0, 5.0]))
    0.1
    """
    if expected.size == 0:
        return 0.0
    if expected.dtype.kind not in "fc":
        return 0.0 if np.array_equal(got, expected) else math.inf
    with np.errstate(all="ignore"):
        distance = float(np.max(np.abs(np.subtract(got, expected, dtype=_wide(expected)))))
    scale = float(np.max(np.abs(expected)))
    if not math.isfinite(distance):
        return 0.0 if np.array_equal(got, expected, equal_nan=True) else math.inf
    return distance / scale if scale else distance


def _wide(expected: np.ndarray) -> type:
    return np.complex128 if expected.dtype.kind == "c" else np.float64
