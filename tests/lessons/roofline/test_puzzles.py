"""The puzzles of lesson 10 against counts made another way: one by one, and by brute force."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from gpu_course.lessons.roofline.classify import CLASSIFY
from gpu_course.lessons.roofline.intensity import INTENSITY
from gpu_course.lessons.roofline.layer_batch import LAYER_BATCH, _crossing
from gpu_course.lessons.roofline.time_floor import TIME_FLOOR
from gpu_course.puzzle import index
from gpu_course.puzzle.specification import Case, PythonPuzzle
from tests.course.puzzles.by_hand import SOLUTIONS
from tests.course.puzzles.python_rules import cases_and_random, solution_of

LESSON = index.lesson("roofline")

PUZZLES = {puzzle.short_name: puzzle for puzzle in LESSON.puzzles}


def given(puzzle: PythonPuzzle, case: Case, seed: int = 4) -> dict[str, Any]:
    return puzzle.inputs(np.random.default_rng(seed), case)


def every(puzzle: PythonPuzzle, draws: int = 8) -> Iterator[tuple[Case, dict[str, Any]]]:
    for case in cases_and_random(puzzle, draws):
        yield case, given(puzzle, case)


def answers(puzzle: PythonPuzzle) -> Iterator[tuple[str, Any, bool]]:
    """The solution and every mistake: (name, function, whether it is right)."""
    yield "solution", solution_of(puzzle)[puzzle.short_name], True
    scope: dict[str, Any] = {}
    file = SOLUTIONS / puzzle.lesson / "mistakes" / f"{puzzle.short_name}.py"
    exec(file.read_text(encoding="utf-8"), scope)
    for mistake in puzzle.mistakes:
        yield mistake.function, scope[mistake.function], False


def test_the_lesson_brings_its_four_puzzles() -> None:
    assert list(PUZZLES) == ["intensity", "time_floor", "classify", "layer_batch"]
    assert sum(puzzle.minutes for puzzle in LESSON.puzzles) < LESSON.minutes


# intensity: each product and each number counted one by one, at small sides


def by_counting(
    b: int, d: int, f: int, itemsizes: tuple[float, ...], own_weights: bool
) -> Fraction:
    flop, touched = 0, set()
    for row in range(b):
        for column in range(f):
            for k in range(d):
                flop += 2
                touched |= {("x", row, k), ("w", row if own_weights else 0, k, column)}
            touched.add(("y", row, column))
    width = dict(zip("xwy", map(Fraction, itemsizes), strict=True))
    return flop / sum(width[number[0]] for number in touched)


@pytest.mark.parametrize("own", [False, True])
@pytest.mark.parametrize("sides", [(1, 1, 1), (3, 5, 4), (6, 2, 7), (2, 9, 1)])
@pytest.mark.parametrize("itemsizes", [(2, 2, 2), (2, 0.5, 4), (4, 1, 2)])
def test_intensity_is_what_counting_gives(sides, itemsizes, own) -> None:
    right = float(by_counting(*sides, itemsizes, own))
    b, d, f = sides
    inputs = {"b": b, "d": d, "f": f, "itemsizes": itemsizes, "own_weights": own}
    case = INTENSITY.cases[0]
    assert INTENSITY.reference(inputs, case)["result"] == pytest.approx(right, rel=1e-12)
    assert solution_of(INTENSITY)["intensity"](**inputs) == pytest.approx(right, rel=1e-12)


# time_floor: the longest way through the graph of what waits for what


def by_the_longest_way(kernels, peak: float, bandwidth: float, launch_s: float) -> float:
    """The end of a schedule in which nothing waits longer than it must: its longest chain."""
    works = [max(f / peak, m / bandwidth) for f, m in kernels]
    return max(
        (launch_s * (first + 1) + sum(works[first:]) for first in range(len(works))), default=0.0
    )


def test_the_floor_is_the_longest_chain() -> None:
    for case, inputs in every(TIME_FLOOR, 30):
        right = by_the_longest_way(**inputs)
        assert TIME_FLOOR.reference(inputs, case)["result"] == pytest.approx(right, rel=1e-12)
    for name, answer, is_right in answers(TIME_FLOOR):
        agrees = [
            answer(**inputs) == pytest.approx(by_the_longest_way(**inputs), rel=1e-9)
            for _, inputs in every(TIME_FLOOR)
        ]
        assert all(agrees) == is_right, name


# layer_batch: batch by batch


def by_trying(d, f, itemsizes, peak, bandwidth, multiple) -> int | None:
    x, w, y = (Fraction(size) for size in itemsizes)
    for b in range(multiple, 20_000, multiple):
        moved = x * b * d + w * d * f + y * b * f
        if Fraction(2 * b * d * f) / Fraction(peak) >= moved / Fraction(bandwidth):
            return b
    return None


def test_the_batch_is_the_first_that_computes_as_long_as_it_moves() -> None:
    for case, inputs in every(LAYER_BATCH, 12):
        exact = _crossing(**inputs)
        if exact is None or exact < 15_000:
            assert LAYER_BATCH.reference(inputs, case)["result"] == by_trying(**inputs), case
    for name, answer, is_right in answers(LAYER_BATCH):
        agrees = [
            answer(**inputs) == LAYER_BATCH.reference(inputs, case)["result"]
            for case, inputs in every(LAYER_BATCH)
        ]
        assert all(agrees) == is_right, name


WHOLE = "a whole number of tiles"
HAIR = "a hair more than whole tiles"


def in_floats(d, f, itemsizes, peak, bandwidth, multiple) -> dict[str, float]:
    """Ways to write down the crossing, or how much longer the arithmetic takes at 256 rows."""
    x, w, y = itemsizes
    ridge = peak / bandwidth
    flop_s, row_s, weights_s = 2 * d * f / peak, (x * d + y * f) / bandwidth, w * d * f / bandwidth
    moved = 256 * x * d + w * d * f + 256 * y * f
    return {
        "seconds": weights_s / (flop_s - row_s),
        "bytes": w * d * f / (2 * d * f / ridge - x * d - y * f),
        "per weight": w / (2 / ridge - x / f - y / d),
        "rates": w * peak / (2 * bandwidth - peak * (x / f + y / d)),
        "FLOP": w * d * f * peak / (2 * d * f * bandwidth - (x * d + y * f) * peak),
        "inverse": 1 / ((2 * d * f / peak - row_s) * bandwidth / (w * d * f)),
        "times": 256 + 256 * flop_s - moved / bandwidth,
        "intensity": 256 + 2 * 256 * d * f / moved - ridge,
    }


def test_a_case_is_a_whole_number_of_tiles_however_the_crossing_is_written_down() -> None:
    (case,) = (case for case in LAYER_BATCH.cases if case.name == WHOLE)
    inputs = given(LAYER_BATCH, case)
    assert _crossing(**inputs) == 256 == 4 * inputs["multiple"]
    assert set(in_floats(**inputs).values()) == {256.0}


def test_no_case_of_the_batch_hangs_on_how_a_float_is_rounded() -> None:
    for case, inputs in every(LAYER_BATCH, 60):
        exact = _crossing(**inputs)
        if exact is not None and case.name not in (WHOLE, HAIR):
            off = exact / inputs["multiple"] % 1
            assert Fraction(1, 10_000) < off < Fraction(9_999, 10_000), case


def test_a_case_is_a_hair_more_than_whole_tiles_and_no_float_takes_it_for_less() -> None:
    (case,) = (case for case in LAYER_BATCH.cases if case.name == HAIR)
    inputs = given(LAYER_BATCH, case)
    exact = _crossing(**inputs)
    assert exact is not None and 0 < exact / inputs["multiple"] - 3 < Fraction(1, 1_000_000)
    ways = in_floats(**inputs)
    # The last two begin with 256 rows, and say how much longer something takes there.
    assert all(3 * 64 < ways[way] < 3 * 64 + 1e-3 for way in list(ways)[:-2])
    assert LAYER_BATCH.reference(inputs, case)["result"] == 4 * 64


def test_a_case_has_lines_that_never_cross_though_they_are_parallel() -> None:
    (case,) = (case for case in LAYER_BATCH.cases if case.name == "just too narrow")
    inputs = given(LAYER_BATCH, case)
    x, _, y = inputs["itemsizes"]
    flop_s = 2 * inputs["d"] * inputs["f"] / inputs["peak"]
    assert flop_s == (x * inputs["d"] + y * inputs["f"]) / inputs["bandwidth"]
    assert LAYER_BATCH.reference(inputs, case)["result"] is None


# classify: a table of the four pairs


def by_table(runs) -> list[str]:
    table = {"nn": "overhead", "ny": "bandwidth", "yy": "compute", "yn": "unclear"}
    return [table["ny"[2 * f > 3 * s] + "ny"[2 * d > 3 * s]] for s, f, d in runs]


def test_the_words_are_those_of_the_table() -> None:
    seen = set()
    for case, inputs in every(CLASSIFY, 12):
        said = CLASSIFY.reference(inputs, case)["result"]
        assert said == by_table(inputs["runs"])
        seen |= set(said)
    assert seen == {"overhead", "bandwidth", "compute", "unclear"}
    for name, answer, is_right in answers(CLASSIFY):
        agrees = [answer(**i) == by_table(i["runs"]) for _, i in every(CLASSIFY)]
        assert all(agrees) == is_right, name


@pytest.mark.parametrize("puzzle", [INTENSITY, TIME_FLOOR, LAYER_BATCH])
def test_in_the_visible_example_every_diagnosis_has_a_result_of_its_own(
    puzzle: PythonPuzzle,
) -> None:
    """So that what is told of a wrong answer is told of the thought that led to it."""
    inputs = given(puzzle, puzzle.cases[0])
    results = {name: answer(**inputs) for name, answer, _ in answers(puzzle)}
    made = [
        (mistake.diagnosis, results[mistake.function])
        for mistake in puzzle.mistakes
        if results[mistake.function] != pytest.approx(results["solution"], rel=1e-9)
    ]
    assert len(made) > 5
    for key, result in made:
        same = {other for other, each in made if each == pytest.approx(result, rel=1e-9)}
        assert same == {key}
