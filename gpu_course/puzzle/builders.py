"""Makers the kernel puzzles share: inputs that show mistakes, outputs, launches."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from gpu_course.puzzle.specification import Case, Launch, Share, Values

ONE_CELL_EACH = Share("Each thread writes at most one cell.")
"""The share of a launch that has a thread for every cell."""

MAX_DISTINCT = 1 << 20
"""Cells up to which `eighths` gives every number once."""

SPECIAL_SIZES = ("infinite", "nan", "zero")
"""Sizes by which a case asks for special numbers; see `with_special_numbers`."""

Idea = Callable[..., Any]
"""What launches lead to: the array "out", or a dict of several outputs. Its parameters are names:
of inputs, of sizes of the case, or `inputs` and `case` themselves."""


def sized(name: str, *, visible: bool = False, **sizes: int) -> Case:
    """Returns a Case whose sizes are written as keyword arguments.

    >>> sized("one cell", size=1, block=4).sizes["block"]
    4
    """
    return Case(name, sizes, visible)


INFINITIES = (math.inf, -math.inf, 0.0)
NAN_AND_INFINITIES = (math.nan, *INFINITIES)
"""What an input may hold beside ordinary numbers; the first stands in its first cell, the second in
its last: those are what a load reads that is clamped to the array. The third ends another row."""


def special(name: str, numbers: tuple[float, ...] = NAN_AND_INFINITIES, **sizes: int) -> Case:
    """Returns a Case with NaN, infinities and zeros in every array that `eighths` makes for it.

    Each puzzle has one, and says in its statement what it promises of them: an answer that leaves
    a number out by multiplying with 0 is right without them, and wrong with them.

    >>> special("NaN and infinities", size=70).special
    (nan, inf, -inf, 0.0)
    """
    return Case(name, sizes, special=numbers)


ONE_BLOCK = (
    sized("visible example", visible=True, size=8),
    sized("one cell", size=1),
    sized("37 cells", size=37),
    sized("256 cells", size=256),
    sized("1,024 large numbers", size=1024, doublings=12),
    special("NaN and infinities", size=41),
)
"""Sizes for a launch of one block with exactly one thread per cell."""


def drawn_case(**ranges: tuple[int, int] | Sequence[int]) -> Callable[[np.random.Generator], Case]:
    """Returns a `random_case` function: each size from (first, behind the last), or one of a list.

    >>> drawn_case(size=(20, 600), block=[16, 32])(np.random.default_rng(0)).name
    'sizes drawn at random'
    """
    name = "a size drawn at random" if len(ranges) == 1 else "sizes drawn at random"

    def random_case(rng: np.random.Generator) -> Case:
        found = {
            size: rng.integers(*each) if isinstance(each, tuple) else rng.choice(each)
            for size, each in ranges.items()
        }
        return Case(name, {size: int(number) for size, number in found.items()})

    return random_case


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
            relies on -1000 being less than any number meets numbers less than that. What is
            `special` in it takes the place of some numbers.

    Beyond MAX_DISTINCT cells, which is more than any check has, numbers come more than once and
    are never doubled: such arrays are only there to be timed.
    """
    count = int(np.prod(shape))
    if count > MAX_DISTINCT:
        many = rng.integers(1, MAX_DISTINCT, count, dtype=np.int32)
        many *= 1 - 2 * rng.integers(0, 2, count, dtype=np.int32)
        return (many.astype(np.float32) / np.float32(8)).reshape(shape)
    pool = np.array([k for k in range(-count - 4, count + 5) if k != 0], dtype=np.float32)
    chosen = rng.permutation(pool)[:count]
    while count > 2 and _sorted(chosen):
        chosen = rng.permutation(pool)[:count]
    doublings = case.sizes.get("doublings", 0) if case is not None else 0
    values = chosen * np.float32(2.0 ** (doublings - 3))
    if case is not None and case.special:
        places = _special_places(rng, np.empty(shape).shape)[: len(case.special)]
        values[places] = case.special[: len(places)]
    return values.reshape(shape)


def _special_places(rng: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    """All cells in the order in which they are taken: the first, the last, the end of the middle
    row (of a vector its middle), which are in three rows or three warps, and any."""
    count = int(np.prod(shape))
    middle = count // 2 if len(shape) == 1 else (shape[0] // 2 + 1) * (count // shape[0]) - 1
    places = [0, count - 1, middle, *rng.permutation(count)]
    return np.array(list(dict.fromkeys(places)))


def _sorted(values: np.ndarray) -> bool:
    steps = np.diff(values)
    return bool(np.all(steps > 0) or np.all(steps < 0))


def arrays(
    *scalars: str, ordinary: tuple[str, ...] = (), **shapes: str
) -> Callable[[np.random.Generator, Case], Values]:
    """Returns an `inputs` function: float32 arrays (see `eighths`), then sizes as they are.

    Args:
        scalars: names of sizes that kernels get as numbers.
        ordinary: names of arrays that hold nothing special, in no case.
        shapes: for each array its sides, which are names of sizes, or 1.

    >>> made = arrays("cols", a="rows cols", b="1 cols")
    >>> values = made(np.random.default_rng(0), sized("x", rows=2, cols=5))
    >>> values["a"].shape, values["b"].shape, values["cols"]
    ((2, 5), (1, 5), 5)
    """

    def inputs(rng: np.random.Generator, case: Case) -> Values:
        made: Values = {}
        for name, sides in shapes.items():
            shape = tuple(1 if side == "1" else case.sizes[side] for side in sides.split())
            made[name] = eighths(
                rng, shape, replace(case, special=()) if name in ordinary else case
            )
        return made | {name: case.sizes[name] for name in scalars}

    return inputs


def with_special_numbers(
    inputs: Callable[[np.random.Generator, Case], Values], **put: Callable[[Values], None]
) -> Callable[[np.random.Generator, Case], Values]:
    """Returns an `inputs` function that puts NaN, infinities and zeros where the puzzle says.

    What is `special` in a case stands anywhere, in all of its arrays alike. In a sum of everything
    that makes NaN of the whole, and shows nothing: there it matters what meets what.

    Args:
        inputs: makes the inputs of all cases.
        put: a size of SPECIAL_SIZES -> what changes the inputs, in place, of cases that have it.

    >>> def at_the_end(values):
    ...     values["a"][-1] = np.inf
    >>> made = with_special_numbers(arrays(a="size"), infinite=at_the_end)
    >>> float(made(np.random.default_rng(0), sized("x", size=3, infinite=1))["a"][-1])
    inf
    """

    def found(rng: np.random.Generator, case: Case) -> Values:
        values = inputs(rng, case)
        for name, change in put.items():
            if case.sizes.get(name):
                change(values)
        return values

    return found


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


def enough_blocks(
    function: str, *args: str, block: str | int | tuple[str | int, str | int] = "block"
) -> Callable[[Case], tuple[Launch, ...]]:
    """Returns a `launches` function: as many blocks as cover the cells.

    Args:
        function, args: see Launch.
        block: the threads of a block, a number or the name of a size, for `size` cells; or its
            width and height, for `cols` by `rows` cells.

    >>> enough_blocks("blocks", "out")(sized("x", size=10, block=4))[0].grid
    3
    >>> enough_blocks("blur", "out", block=(16, 8))(sized("x", rows=10, cols=16))[0].grid
    (1, 2)
    """

    def launches(case: Case) -> tuple[Launch, ...]:
        def number(side: str | int) -> int:
            return case.sizes[side] if isinstance(side, str) else side

        if not isinstance(block, tuple):
            threads = number(block)
            grid = blocks_to_cover(case.sizes["size"], threads)
            return (Launch(function, grid, threads, args),)
        width, height = number(block[0]), number(block[1])
        grid_2d = (
            blocks_to_cover(case.sizes["cols"], width),
            blocks_to_cover(case.sizes["rows"], height),
        )
        return (Launch(function, grid_2d, (width, height), args),)

    return launches


def gives(idea: Idea) -> Callable[[Values, Case], Values]:
    """Returns a `reference` function made from an Idea.

    >>> gives(lambda a, size: a[:size] + 1)({"a": np.arange(3)}, sized("x", size=2))["out"]
    array([1, 2])
    """
    names = tuple(inspect.signature(idea).parameters)

    def outputs(inputs: Values, case: Case) -> Values:
        known = {**case.sizes, **inputs, "inputs": inputs, "case": case}
        with np.errstate(all="ignore"):  # infinity less infinity is NaN, and meant to be
            found = idea(*(known[name] for name in names))
        return dict(found) if isinstance(found, Mapping) else {"out": found}

    return outputs


def began_too_high(inputs: Values, case: Case, expected: Values, got: Values) -> str | None:
    """A `diagnose` function: knows a search for the largest that began with a number too large.

    Which number that was is free, so no mistake stands for all. It is in all wrong cells, and is
    more than should be there.
    """
    wrong = got["out"] != expected["out"]
    found, wanted = got["out"][wrong], expected["out"][wrong]
    same = bool(found.size) and (found == found[0]).all()
    return "began-too-high" if same and (wanted < found).all() else None
