"""Puzzle `sectors`: what one warp's load costs, before it is run."""

from __future__ import annotations

import numpy as np

from gpu_course.puzzle.builders import sized
from gpu_course.puzzle.room import puzzle_fields
from gpu_course.puzzle.specification import Case, PythonPuzzle, Values
from simt.observe.transactions import count_request

LANES = 32
SIZES = (1, 2, 4, 8, 16)


def _case(name: str, stride: int, offset: int, itemsize: int, visible: bool = False) -> Case:
    return sized(name, visible=visible, stride=stride, offset=offset, itemsize=itemsize)


def _random_case(rng: np.random.Generator) -> Case:
    return _case(
        "drawn at random",
        int(rng.integers(-12, 13)),
        int(rng.integers(400, 800)),
        int(rng.choice(SIZES)),
    )


def _addresses(inputs: Values) -> np.ndarray:
    lanes = np.arange(LANES, dtype=np.int64)
    return (lanes * inputs["stride"] + inputs["offset"]) * inputs["itemsize"]


def _reference(inputs: Values, case: Case) -> Values:
    # The simulator's own counter, which the lesson shows in its reports.
    one_warp = np.zeros(LANES, np.int64)
    return {"result": count_request(_addresses(inputs), one_warp, inputs["itemsize"]).sectors}


SECTORS = PythonPuzzle(
    **puzzle_fields(__file__),
    cases=(
        _case("visible example", 2, 0, 4, visible=True),
        _case("neighbours", 1, 0, 4),
        _case("neighbours, one cell late", 1, 1, 4),
        _case("one byte each", 3, 5, 1),
        _case("eight bytes each", 1, 2, 8),
        _case("the same cell for all", 0, 9, 4),
        _case("backwards", -1, 31, 4),
        _case("backwards, in steps", -3, 100, 2),
        _case("far apart", 9, 0, 4),
        _case("sixteen bytes each", 1, 3, 16),
        _case("sixteen bytes each, far apart", 33, 7, 16),
        _case("terabytes apart", 1 << 37, (1 << 38) + 9, 8),
    ),
    random_case=_random_case,
    inputs=lambda rng, case: dict(case.sizes),
    reference=_reference,
)
