"""Puzzle `overlap_fraction`: the share of copies and communication that runs under compute."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import numpy as np

from gpu_course.puzzle.builders import sized
from gpu_course.puzzle.room import puzzle_fields
from gpu_course.puzzle.specification import Case, PythonPuzzle, Values

Row = tuple[str, int, int]
KINDS = ("compute", "copy", "communication")

_VISIBLE: list[Row] = [
    ("compute", 0, 100),
    ("communication", 60, 160),
    ("compute", 90, 120),
    ("copy", 100, 130),
    ("compute", 150, 190),
    ("copy", 210, 260),
    ("compute", 240, 250),
]
_TOUCHING: list[Row] = [
    ("compute", 0, 10), ("copy", 10, 20), ("communication", 20, 30), ("compute", 30, 40),
    ("copy", 40, 40), ("compute", 33, 33), ("copy", 45, 50),
]  # fmt: skip


def _case(name: str, visible: bool = False, touching: int = 0, **counts: int) -> Case:
    return sized(name, visible=visible, touching=touching, **counts)


def _inputs(rng: np.random.Generator, case: Case) -> Values:
    if case.visible:
        return {"events": list(_VISIBLE)}
    if case.sizes["touching"]:
        return {"events": list(_TOUCHING)}
    events: list[Row] = []
    for kind in KINDS:
        many = case.sizes.get(kind, 0)
        for _ in range(many):
            start = int(rng.integers(0, 1000))
            # Some long ones that hold others, many short ones, and some without length.
            longest = (0, 40, 40, 300)[int(rng.integers(4))]
            events.append((kind, start, start + int(rng.integers(0, longest + 1))))
    return {"events": [events[k] for k in rng.permutation(len(events))]}


def _random_case(rng: np.random.Generator) -> Case:
    compute, copy, communication = (int(rng.integers(2, 9)) for _ in KINDS)
    return _case("events drawn at random", compute=compute, copy=copy, communication=communication)


def _reference(inputs: Values, case: Case) -> Values:
    """From moment to moment, between any two borders next to each other."""
    events: list[Row] = inputs["events"]
    moments = sorted({at for _, *span in events for at in span})
    moving = both = 0
    for begin, end in pairwise(moments):
        kinds = {kind for kind, s, e in events if s <= begin and end <= e}
        if kinds - {"compute"}:
            moving += end - begin
            both += (end - begin) * ("compute" in kinds)
    return {"result": float(Fraction(both, moving)) if moving else None}


OVERLAP_FRACTION = PythonPuzzle(
    **puzzle_fields(__file__),
    cases=(
        _case("visible example", visible=True),
        _case("one of each", compute=1, copy=1, communication=1),
        _case("compute of many streams", compute=25, copy=3, communication=2),
        _case("many copies at a time", compute=4, copy=25),
        _case("all three", compute=10, copy=10, communication=10),
        _case("they touch", touching=1),
        _case("compute alone", compute=6),
        _case("no compute", copy=3, communication=3),
        _case("no event"),
    ),
    random_case=_random_case,
    inputs=_inputs,
    reference=_reference,
    tolerance=(1e-9, 0.0),
)
