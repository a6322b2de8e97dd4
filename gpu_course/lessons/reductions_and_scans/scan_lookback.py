"""Puzzle `scan_lookback`: the sums up to each number of an array, in one launch."""

from __future__ import annotations

import numpy as np

from gpu_course.lessons.reductions_and_scans.scan_pieces import (
    TPB,
    running,
)
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
    Values,
)

NOTHING, TOTAL, PREFIX = 0, 1, 2
ARGUMENTS = ("out", "a", "size", "ticket", "state", "totals", "prefixes")


def _tiles(case: Case) -> int:
    return blocks_to_cover(case.sizes["size"], TPB)


def _held_up(case: Case) -> int:
    """How many tiles have blocks that started before this launch and were held up."""
    return case.sizes.get("held_up", 0)


def _inputs(rng: np.random.Generator, case: Case) -> Values:
    made = arrays("size", a="size")(rng, case)
    found = {
        **made,
        "ticket": np.full(1, _held_up(case), np.int32),
        "state": np.full(_tiles(case), NOTHING, np.int32),
    }
    return found | _told(found["a"], case) if _held_up(case) else found


def _told(a: np.ndarray, case: Case) -> Values:
    """What is there where the first blocks were held up: tile 0 told its prefix, others a total.

    Tile 0 needs no total, so nobody may count on one.
    """
    tiles, told = _tiles(case), _held_up(case)
    out = np.full(a.size, np.nan, np.float32)
    out[: told * TPB] = running(a)[: told * TPB]
    state = np.full(tiles, NOTHING, np.int32)
    state[0], state[1:told] = PREFIX, TOTAL
    totals, prefixes = (np.full(tiles, np.nan, np.float32) for _ in "tp")
    totals[1:told] = a[TPB : told * TPB].reshape(-1, TPB).sum(axis=1)
    prefixes[0] = a[:TPB].sum()
    return {"out": out, "state": state, "totals": totals, "prefixes": prefixes}


def _put_special_numbers(values: Values) -> None:
    """An infinity in the first tile, a NaN in the second."""
    values["a"][40], values["a"][TPB + 3] = np.inf, np.nan


def _scratch(inputs: Values, case: Case) -> dict[str, np.ndarray]:
    return {
        "ticket": np.zeros(1, np.int32),
        "state": np.zeros(_tiles(case), np.int32),
        "totals": np.zeros(_tiles(case), np.float32),
        "prefixes": np.zeros(_tiles(case), np.float32),
    }


def _cells(case: Case, name: str) -> int:
    """One of out. Whoever asks for the state of a tile does so by an atomic, as if to write it."""
    return 1 if name == "out" else _tiles(case)


def _launches(case: Case) -> tuple[Launch, ...]:
    return (Launch("scan_lookback", _tiles(case) - _held_up(case), TPB, ARGUMENTS),)


def _reference(inputs: Values, case: Case) -> Values:
    state = np.full(_tiles(case), PREFIX, np.int32)
    state[1 : _held_up(case)] = TOTAL
    return {"out": running(inputs["a"]), "state": state}


def _diagnose(inputs: Values, case: Case, expected: Values, got: Values) -> str | None:
    """Knows sums that are all right: then what blocks tell of them is not."""
    right = np.array_equal(got["out"], expected["out"], equal_nan=True)
    return "prefix-untold" if right else None


SCAN_LOOKBACK = KernelPuzzle(
    **puzzle_fields(__file__),
    cases=(
        sized("visible example", visible=True, size=300),
        sized("one cell", size=1),
        sized("exactly four tiles of large numbers", size=256, doublings=90),
        sized("one cell more than two tiles", size=129),
        sized("an infinity, and then a NaN", size=70, infinite=1),
        # Two windows of a warp are looked back over, and three blocks are all that it takes.
        Case(
            "more tiles than a warp has lanes were held up",
            {"size": 35 * 64 + 9, "held_up": 33},
            whole=False,
        ),
    ),
    random_case=drawn_case(size=(130, 320)),
    inputs=with_special_numbers(_inputs, infinite=_put_special_numbers),
    scratch=_scratch,
    launches=_launches,
    reference=_reference,
    budgets=(
        Budget(
            "global_load.bytes",
            lambda case, counters: 4 * case.sizes["size"] + 8 * _tiles(case) ** 2,
            "The numbers before a tile have been added up by the blocks that have those tiles. Let "
            "a block ask for their sums, by one warp at most, and load its own numbers alone.",
            "bytes loaded from global memory",
        ),
        NO_FLOAT64,
    ),
    diagnose=_diagnose,
    share=Share("Each thread writes at most one cell of out.", _cells, reads=False),
)
