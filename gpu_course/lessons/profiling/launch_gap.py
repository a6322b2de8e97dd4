"""Puzzle `launch_gap`: idle time of the device, and what of it the host is to blame for."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from gpu_course.puzzle.builders import sized
from gpu_course.puzzle.room import puzzle_fields
from gpu_course.puzzle.specification import Case, PythonPuzzle, Values

Row = tuple[int, int, int]

_VISIBLE: list[Row] = [
    (20, 40, 50),
    (110, 130, 180),
    (5, 10, 40),
    (60, 90, 100),
    (190, 230, 260),
    (70, 80, 120),
    (200, 205, 205),
]


def _case(name: str, kernels: int, visible: bool = False, streams: int = 1, kind: int = 0) -> Case:
    return sized(name, visible=visible, kernels=kernels, streams=streams, kind=kind)


def _inputs(rng: np.random.Generator, case: Case) -> Values:
    if case.visible:
        return {"kernels": list(_VISIBLE)}
    kind = case.sizes["kind"]
    free = [0] * case.sizes["streams"]
    rows: list[Row] = []
    host = int(rng.integers(0, 20))
    for _ in range(case.sizes["kernels"]):
        # kind 1: the host is slow; 2: it is far ahead; 3: now and then another thing holds back.
        host += int(rng.integers(*((1, 60), (40, 90), (1, 4), (10, 70))[kind]))
        stream = int(rng.integers(len(free)))
        held = int(rng.integers(50, 250)) if kind == 3 and rng.integers(2) else 0
        start = max(host + int(rng.integers(0, 8)), free[stream]) + held
        longest = 1 if rng.integers(6) == 0 else 20 if kind == 3 else 60
        end = start + int(rng.integers(0, longest))
        free[stream] = end
        rows.append((host, start, end))
    return {"kernels": [rows[k] for k in rng.permutation(len(rows))]}


def _random_case(rng: np.random.Generator) -> Case:
    kernels, streams = int(rng.integers(8, 30)), int(rng.integers(2, 5))
    return _case("kernels drawn at random", kernels, streams=streams, kind=3)


def _reference(inputs: Values, case: Case) -> Values:
    """From moment to moment, between any two borders next to each other."""
    rows: list[Row] = inputs["kernels"]
    moments = sorted({at for row in rows for at in row})
    first = min((start for _, start, _ in rows), default=0)
    idle = bound = 0
    for begin, end in pairwise(moments):
        if begin < first or any(start <= begin and end <= over for _, start, over in rows):
            continue
        if begin >= max(over for *_, over in rows):
            continue
        idle += end - begin
        if not any(launched <= begin and end <= start for launched, start, _ in rows):
            bound += end - begin
    return {"result": (idle, bound)}


LAUNCH_GAP = PythonPuzzle(
    **puzzle_fields(__file__),
    cases=(
        _case("visible example", 7, visible=True),
        _case("one kernel", 1),
        _case("one stream", 12),
        _case("a slow host", 15, kind=1),
        _case("a host far ahead", 15, kind=2),
        _case("three streams", 24, streams=3),
        _case("some are held back", 24, streams=3, kind=3),
        _case("no kernel", 0),
    ),
    random_case=_random_case,
    inputs=_inputs,
    reference=_reference,
)
