"""Makers the kernel puzzles share: inputs that show mistakes, outputs, launches, known patterns."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from gpu_course.catalog.specification import Case, Launch, Share, Values

ONE_CELL_EACH = Share("Each thread writes at most one cell.")
"""The share of a launch that has a thread for every cell."""

TRAFFIC = ("global_load.bytes", "global_store.bytes")
BRANCHES = ("branches", "divergent_branches")
"""What a debrief shows of many kernels: paths into Counters."""

Alternative = Callable[[Values, Case], Mapping[str, np.ndarray]]


def sized(name: str, *, visible: bool = False, **sizes: int) -> Case:
    """Returns a Case whose sizes are written as keyword arguments.

    >>> sized("one cell", size=1, block=4).sizes["block"]
    4
    """
    return Case(name, sizes, visible)


def blocks_to_cover(size: int, block: int) -> int:
    """Returns how many blocks of `block` threads give every one of `size` cells a thread.

    >>> [blocks_to_cover(size, 4) for size in (1, 4, 5)]
    [1, 1, 2]
    """
    return -(-size // block)


def eighths(
    rng: np.random.Generator, shape: int | tuple[int, ...], case: Case | None = None
) -> np.ndarray:
    """Returns float32 numbers that no honest mistake can hide behind.

    All are multiples of 1/8, so sums and products of a few are exact and results can be compared
    for equality. No two are the same and none is 0, so a shift, a mirror image, a transposition or
    a forgotten term changes every result; from three cells on they are never sorted.

    Args:
        rng: where the randomness comes from.
        shape: the shape of the array.
        case: where it has a size "doublings", the numbers are doubled that often: an answer that
            relies on -1000 being less than any number meets numbers less than that.
    """
    count = int(np.prod(shape))
    pool = np.array([k for k in range(-count - 4, count + 5) if k != 0], dtype=np.float32)
    drawn = rng.permutation(pool)[:count]
    while count > 2 and _sorted(drawn):
        drawn = rng.permutation(pool)[:count]
    doublings = case.sizes.get("doublings", 0) if case is not None else 0
    return (drawn * np.float32(2.0 ** (doublings - 3))).reshape(shape)


def _sorted(values: np.ndarray) -> bool:
    steps = np.diff(values)
    return bool(np.all(steps > 0) or np.all(steps < 0))


def vectors(*names: str, scalars: Sequence[str] = ()) -> Callable[..., Values]:
    """Returns an `inputs` function: a float32 vector (size,) per name, then sizes as they are.

    >>> made = vectors("a", scalars=["size"])(np.random.default_rng(0), sized("x", size=5))
    >>> made["a"].shape, made["size"]
    ((5,), 5)
    """

    def inputs(rng: np.random.Generator, case: Case) -> Values:
        made: Values = {name: eighths(rng, case.sizes["size"], case) for name in names}
        return made | {name: case.sizes[name] for name in scalars}

    return inputs


def float32_out(*sides: str) -> Callable[[Values, Case], dict[str, np.ndarray]]:
    """Returns an `outputs` function: one float32 array "out" whose sides are sizes of the case.

    >>> float32_out("rows", "cols")({}, sized("x", rows=2, cols=3))["out"].shape
    (2, 3)
    """

    def outputs(inputs: Values, case: Case) -> dict[str, np.ndarray]:
        return {"out": np.zeros(tuple(case.sizes[side] for side in sides), np.float32)}

    return outputs


def one_block(
    function: str, *args: str, threads: str | tuple[str, ...] = "threads"
) -> Callable[[Case], tuple[Launch, ...]]:
    """Returns a `launches` function: a single block, its sides named sizes of the case.

    >>> one_block("guard", "out")(sized("x", threads=12))[0].block
    12
    """

    def launches(case: Case) -> tuple[Launch, ...]:
        block: int | tuple[int, ...]
        if isinstance(threads, str):
            block = case.sizes[threads]
        else:
            block = tuple(case.sizes[side] for side in threads)
        return (Launch(function, 1, block, args),)

    return launches


def enough_blocks(function: str, *args: str) -> Callable[[Case], tuple[Launch, ...]]:
    """Returns a `launches` function: as many blocks of `block` threads as cover `size` cells.

    >>> enough_blocks("blocks", "out")(sized("x", size=10, block=4))[0].grid
    3
    """

    def launches(case: Case) -> tuple[Launch, ...]:
        size, block = case.sizes["size"], case.sizes["block"]
        return (Launch(function, blocks_to_cover(size, block), block, args),)

    return launches


def recognise(
    *alternatives: tuple[str, Alternative],
) -> Callable[[Values, Case, Values, Values], str | None]:
    """Returns a `diagnose` function that knows wrong results by the idea behind them.

    Args:
        alternatives: pairs of a diagnosis key and a function of (inputs, case) that gives the
            outputs that idea leads to, NaN where it writes nothing. The first one that equals
            what the learner got, and differs from what was expected, is the diagnosis.
    """

    def diagnose(inputs: Values, case: Case, expected: Values, got: Values) -> str | None:
        for key, alternative in alternatives:
            wrong = alternative(inputs, case)
            if all(_same(wrong[name], got[name]) for name in wrong) and not all(
                _same(wrong[name], expected[name]) for name in wrong
            ):
                return key
        return None

    return diagnose


def _same(left: np.ndarray, right: np.ndarray) -> bool:
    return np.array_equal(left, np.asarray(right), equal_nan=True)


def where_written(values: np.ndarray, written: Any) -> np.ndarray:
    """Returns the values where a thread wrote them and NaN where none did, broadcast together.

    Args:
        values: what would be written.
        written: a bool array, True where something is.

    >>> where_written(np.array([1.0, 2.0]), np.array([True, False]))
    array([ 1., nan])
    """
    return np.where(written, values, np.float32(np.nan))
