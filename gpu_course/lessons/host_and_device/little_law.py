"""Puzzle `little_law`: how many bytes are on their way, and how many should be."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from gpu_course.puzzle.builders import sized
from gpu_course.puzzle.room import puzzle_fields
from gpu_course.puzzle.specification import Case, PythonPuzzle, Values


def _case(
    name: str, grid: int, block: int, room: int, loads: int, width: int,
    latency_ns: int, gb_per_s: int, visible: bool = False,
) -> Case:  # fmt: skip
    return sized(
        name, visible=visible, grid=grid, block=block, room=room, loads=loads,
        width=width, latency_ns=latency_ns, gb_per_s=gb_per_s,
    )  # fmt: skip


def _inputs(rng: np.random.Generator, case: Case) -> Values:
    return dict(case.sizes)


def _random_case(rng: np.random.Generator) -> Case:
    block, most = 32 * int(rng.integers(1, 17)), int(rng.integers(100, 2000))
    return _case(
        "a launch drawn at random",
        int(rng.integers(most // 2, 4 * most)), block, most, int(rng.integers(1, 5)),
        int(rng.choice([4, 8, 16])), int(rng.integers(350, 800)), int(rng.integers(700, 8000)),
    )  # fmt: skip


def _reference(inputs: Values, case: Case) -> Values:
    s = case.sizes
    blocks = s["grid"] if s["grid"] < s["room"] else s["room"]
    each = blocks * s["block"] * s["width"]
    exact = Fraction(each * s["loads"], s["latency_ns"])
    if not each:
        return {"result": (0, 0.0, None)}
    least, wanted = 0, s["latency_ns"] * s["gb_per_s"]
    while least * each < wanted:
        # In strides, since a small launch needs thousands.
        least += max(1, (wanted - least * each) // (2 * each))
    return {"result": (each * s["loads"], min(float(exact), float(s["gb_per_s"])), least)}


LITTLE_LAW = PythonPuzzle(
    **puzzle_fields(__file__),
    cases=(
        _case("visible example", 5000, 128, 1728, 2, 4, 580, 2039, visible=True),
        _case("a grid that does not fill the GPU", 40, 256, 1056, 1, 8, 550, 4800),
        _case("more than the memory delivers", 9000, 256, 1056, 8, 16, 620, 3350),
        _case("just enough", 4000, 250, 400, 5, 8, 500, 8000),
        _case("a byte too few", 1, 1, 7, 1, 1, 1, 2),
        _case("one thread", 1, 1, 2048, 1, 4, 437, 900),
        _case("no block", 0, 256, 1056, 1, 8, 550, 4800),
        _case("blocks without a place", 12, 1024, 0, 2, 8, 550, 4800),
        _case("no load", 700, 64, 500, 0, 4, 600, 1555),
        _case("loads of no bytes", 700, 64, 500, 3, 0, 600, 1555),
    ),
    random_case=_random_case,
    inputs=_inputs,
    reference=_reference,
    tolerance=(1e-12, 0.0),
)
