"""Puzzle `classify`: what an operation waits for, told by two experiments."""

from __future__ import annotations

import numpy as np

from gpu_course.puzzle.builders import sized
from gpu_course.puzzle.room import puzzle_fields
from gpu_course.puzzle.specification import Case, PythonPuzzle, Values

Run = tuple[float, float, float]
REGIMES = ("overhead", "bandwidth", "compute", "unclear")

_BORDERS: list[Run] = [
    (2.0, 2.25, 2.5),
    (2.0, 3.0, 3.0),
    (2.0, 3.0, 4.0),
    (2.0, 4.0, 3.0),
    (0.5, 0.75, 0.875),
]
"""Times that are exactly half as long again: that is not more than half."""

_HAIRS: list[Run] = [
    (s, s * (1.5 + one * 2.0**-k), s * (1.5 + other * 2.0**-k))
    for s in (2.0, 2.0**-20)
    for k in (7, 11, 18, 30, 45)
    for one, other in ((1, 1), (-1, 1), (1, -1), (-1, -1))
]
"""Times that are a hair more or less than that, of runs of two seconds and of a microsecond. All
are exact in binary, so no way to compare them has anything to round."""

_VISIBLE: list[Run] = [
    (10.0, 10.5, 10.2),
    (40.0, 41.0, 79.0),
    (50.0, 98.0, 99.0),
    (12.0, 11.0, 17.0),
]


def _case(name: str, runs: int, kinds: int, visible: bool = False, border: int = 0) -> Case:
    return sized(name, visible=visible, runs=runs, kinds=kinds, border=border)


def _run(rng: np.random.Generator, regime: str) -> Run:
    seconds = float(10.0 ** rng.uniform(-6, 1))
    flat, grown = (lambda: float(rng.uniform(0.9, 1.4))), (lambda: float(rng.uniform(1.6, 2.2)))
    flop, data = {
        "overhead": (flat(), flat()),
        "bandwidth": (flat(), grown()),
        "compute": (grown(), grown()),
        "unclear": (grown(), flat()),
    }[regime]
    return seconds, seconds * flop, seconds * data


def _inputs(rng: np.random.Generator, case: Case) -> Values:
    if case.visible:
        return {"runs": list(_VISIBLE)}
    if border := case.sizes["border"]:
        return {"runs": list((_BORDERS, _HAIRS)[border - 1])}
    kinds = REGIMES[: case.sizes["kinds"]]
    chosen = [kinds[k % len(kinds)] for k in range(case.sizes["runs"])]
    rng.shuffle(chosen)
    return {"runs": [_run(rng, regime) for regime in chosen]}


def _random_case(rng: np.random.Generator) -> Case:
    return _case("runs drawn at random", int(rng.integers(9, 40)), 4)


def _name(flop_grows: bool, data_grows: bool) -> str:
    return {
        (False, False): "overhead",
        (False, True): "bandwidth",
        (True, True): "compute",
        (True, False): "unclear",
    }[flop_grows, data_grows]


def _grows(before: float, after: float) -> bool:
    return after / before > 1.5


def _reference(inputs: Values, case: Case) -> Values:
    return {"result": [_name(_grows(s, f), _grows(s, d)) for s, f, d in inputs["runs"]]}


def _diagnose(inputs: Values, case: Case, expected: Values, got: Values) -> str | None:
    said = list(got["result"])
    if len(said) != len(inputs["runs"]):
        return "how-many"
    return "words" if any(word not in REGIMES for word in said) else None


CLASSIFY = PythonPuzzle(
    **puzzle_fields(__file__),
    cases=(
        _case("visible example", 4, 4, visible=True),
        _case("one run", 1, 1),
        _case("two kinds", 6, 2),
        _case("three kinds", 9, 3),
        _case("all four words", 16, 4),
        _case("exactly half as long again", len(_BORDERS), 4, border=1),
        _case("a hair more or less than that", len(_HAIRS), 4, border=2),
        _case("no run", 0, 4),
    ),
    random_case=_random_case,
    inputs=_inputs,
    reference=_reference,
    diagnose=_diagnose,
)
