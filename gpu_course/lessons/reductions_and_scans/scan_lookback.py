"""Puzzle `scan_lookback`: the sums up to each number of an array, in one launch."""

from __future__ import annotations

import numpy as np

from gpu_course.lessons.reductions_and_scans.scan_pieces import running
from gpu_course.lessons.reductions_and_scans.sums import NO_FLOAT64
from gpu_course.puzzle.builders import (
    arrays,
    blocks_to_cover,
    drawn_case,
    sized,
    with_special_numbers,
)
from gpu_course.puzzle.room import puzzle_fields
from gpu_course.puzzle.specification import (
    Budget,
    Case,
    KernelPuzzle,
    Launch,
    Share,
    Stalled,
    Values,
)

TPB, EACH = 128, 15
TILE = TPB * EACH
NOTHING, TOTAL, PREFIX, STATE = 0, 1, 2, 3
ARGUMENTS = ("out", "a", "size", "ticket", "told")


def told(state: int, numbers: np.ndarray) -> np.ndarray:
    """Returns the words that tell a state and float32 numbers.

    >>> [hex(word) for word in told(TOTAL, np.array([1.5, -2.0], np.float32))]
    ['0x3fc0000000000001', '-0x3fffffffffffffff']
    """
    bits = np.asarray(numbers, np.float32).view(np.int32)
    return (bits.astype(np.int64) << 32) | state


def _tiles(case: Case) -> int:
    return blocks_to_cover(case.sizes["size"], TILE)


def _held_up(case: Case) -> int:
    """How many tiles have blocks that started before this launch and were held up."""
    return case.sizes.get("held_up", 0)


def _numbers(rng: np.random.Generator, case: Case) -> Values:
    if case.sizes.get("ones"):  # their sums are exact however many there are, and so are the words
        signs = rng.integers(0, 2, case.sizes["size"]) * 2 - 1
        return {"a": signs.astype(np.float32), "size": case.sizes["size"]}
    if not _held_up(case):
        return arrays("size", a="size")(rng, case)
    # So many different numbers would add up to more than the 24 bits of a float32.
    numbers = rng.choice(np.delete(np.arange(-800, 801), 800), case.sizes["size"])
    return {"a": numbers.astype(np.float32) / np.float32(8), "size": case.sizes["size"]}


def _inputs(rng: np.random.Generator, case: Case) -> Values:
    found = {
        **_numbers(rng, case),
        "ticket": np.full(1, _held_up(case), np.int32),
        "told": np.zeros(_tiles(case), np.int64),
    }
    return found | _begun(found["a"], case) if _held_up(case) else found


def _begun(a: np.ndarray, case: Case) -> Values:
    """What is there where the first blocks were held up: tile 0 told its prefix, others a total.

    Or nothing, where the block of tile 0 was held up before it told anything.
    """
    tiles, held_up = _tiles(case), _held_up(case)
    if case.sizes.get("untold"):
        return {"told": np.zeros(tiles, np.int64)}
    out = np.full(a.size, np.nan, np.float32)
    out[: held_up * TILE] = running(a)[: held_up * TILE]
    sums = a[: held_up * TILE].reshape(-1, TILE).sum(axis=1)
    words = np.zeros(tiles, np.int64)
    words[0], words[1:held_up] = told(PREFIX, sums[0]), told(TOTAL, sums[1:])
    return {"out": out, "told": words}


def _put_special_numbers(values: Values) -> None:
    """An infinity in the first tile, a NaN in the second."""
    values["a"][40], values["a"][TILE + 3] = np.inf, np.nan


def _scratch(inputs: Values, case: Case) -> dict[str, np.ndarray]:
    return {"ticket": np.zeros(1, np.int32), "told": np.zeros(_tiles(case), np.int64)}


def _cells(case: Case, name: str) -> int:
    """EACH of out. Whoever asks for the word of a tile does so by an atomic, as if to write it."""
    return EACH if name == "out" else _tiles(case)


def _launches(case: Case) -> tuple[Launch, ...]:
    return (Launch("scan_lookback", _tiles(case) - _held_up(case), TPB, ARGUMENTS),)


def _reference(inputs: Values, case: Case) -> Values:
    sums = running(inputs["a"])
    if case.sizes.get("infinite"):
        return {"out": sums}  # a NaN is told as well, and its bits are those of the machine
    size = case.sizes["size"]
    ends = np.minimum(np.arange(1, _tiles(case) + 1) * TILE, size) - 1
    words = told(PREFIX, sums[ends])
    words[1 : _held_up(case)] = inputs["told"][1 : _held_up(case)]
    return {"out": sums, "told": words}


def _told_meanwhile(inputs: Values, case: Case) -> Values:
    """What is told while all wait for tile 0: the total of each other tile."""
    tiles, a = _tiles(case), inputs["a"]
    sums = np.array([a[tile * TILE : (tile + 1) * TILE].sum() for tile in range(tiles)])
    words = told(TOTAL, sums)
    words[0] = NOTHING
    return {"told": words}


def _diagnose(inputs: Values, case: Case, expected: Values, got: Values) -> str | None:
    """Knows sums that are all right: then what blocks tell of them is not."""
    if "told" not in expected or not np.array_equal(got["out"], expected["out"], equal_nan=True):
        return None
    states = np.array_equal(got["told"] & STATE, expected["told"] & STATE)
    return "prefix-wrong" if states else "prefix-untold"


SCAN_LOOKBACK = KernelPuzzle(
    **puzzle_fields(__file__),
    cases=(
        sized("visible example", visible=True, size=2 * TILE + 300),
        sized("one cell", size=1),
        sized("exactly four tiles of large numbers", size=4 * TILE, doublings=90),
        sized("one cell more than two tiles", size=2 * TILE + 1),
        sized("an infinity, and then a NaN", size=TILE + 70, infinite=1),
        # Two windows of a warp are looked back over, and three blocks are all that it takes.
        Case(
            "more tiles than a warp has lanes were held up",
            {"size": 35 * TILE + 9, "held_up": 33},
            whole=False,
        ),
    ),
    random_case=drawn_case(size=(2 * TILE + 2, 5 * TILE)),
    large=lambda least_bytes: sized("past L2", size=blocks_to_cover(least_bytes, 8), ones=1),
    stalled=(
        Stalled(
            Case(
                "the first tile was held up before it told anything",
                {"size": 3 * TILE + 9, "held_up": 1, "untold": 1},
                whole=False,
            ),
            left=_told_meanwhile,
            diagnosis="total-untold",
        ),
    ),
    inputs=with_special_numbers(_inputs, infinite=_put_special_numbers),
    scratch=_scratch,
    launches=_launches,
    reference=_reference,
    budgets=(
        Budget(
            "global_load.bytes",
            lambda case, counters: 4 * case.sizes["size"],
            "The numbers before a tile have been added up by the blocks that have those tiles. Let "
            "a block ask for their sums, and load its own numbers alone.",
            "bytes loaded from global memory",
        ),
        NO_FLOAT64,
    ),
    codes=("told",),
    diagnose=_diagnose,
    share=Share("Each thread writes at most EACH cells of out.", _cells, reads=False),
)
