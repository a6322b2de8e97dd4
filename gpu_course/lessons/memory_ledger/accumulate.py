"""Puzzle `accumulate`: the gradient of a whole batch with the memory of a part."""

from __future__ import annotations

import numpy as np

from gpu_course.puzzle.room import puzzle_fields
from gpu_course.puzzle.specification import (
    Case,
    Held,
    Judgement,
    PythonPuzzle,
    Values,
)
from simt.text import count

SLACK = 1.1
"""How many times the peak of the largest part an answer may hold."""


def _case(name: str, rows: int, parts: int, width: int, visible: bool = False) -> Case:
    return Case(name, {"rows": rows, "parts": parts, "width": width}, visible)


def _inputs(rng: np.random.Generator, case: Case) -> Values:
    return {**case.sizes, "seed": int(rng.integers(1 << 30))}


def _random_case(rng: np.random.Generator) -> Case:
    parts = int(rng.integers(3, 9))
    # A rest of at least one row, and parts of some size, so that the memory shows.
    rows = parts * int(rng.integers(30, 50)) + int(rng.integers(1, parts))
    return _case("a batch drawn at random", rows, parts, int(rng.integers(4, 9)))


def _reference(inputs: Values, case: Case) -> Values:
    from gpu_course.lessons.memory_ledger.accumulation import full_gradient

    return {"gradient": full_gradient(inputs["rows"], inputs["width"], inputs["seed"]).numpy()}


def _peak_of_the_rest(inputs: Values) -> int:
    """The bytes that a last part takes which has all that is left over."""
    from gpu_course.lessons.memory_ledger.accumulation import peak_bytes_of_rows

    rows, parts = inputs["rows"], inputs["parts"]
    return peak_bytes_of_rows(rows - rows // parts * (parts - 1), inputs["width"], inputs["seed"])


def _judge(inputs: Values, case: Case, got: Values) -> Judgement | None:
    from gpu_course.lessons.memory_ledger.accumulation import peak_bytes_of_rows

    rows, parts, width, seed = (inputs[name] for name in ("rows", "parts", "width", "seed"))
    if not got["same_model"]:
        return Judgement("model-changed", "the gradient is right, and the parameters have changed")
    largest = -(-rows // parts)
    # Whoever picks rows by their numbers holds the numbers, and copies the rows.
    room = 8 * (largest * (width + 3) + rows)
    limit = SLACK * peak_bytes_of_rows(largest, width, seed) + room
    peak = got["peak_bytes"]
    if peak <= limit:
        return None
    whole = peak_bytes_of_rows(rows, width, seed)
    key = "all-graphs"
    if parts > 1 and peak == whole:
        key = "whole-batch"
    elif rows % parts and abs(peak - _peak_of_the_rest(inputs)) <= room:
        key = "rest-in-one"
    elif peak <= limit + got["gradient"].nbytes:
        key = "second-gradients"
    fact = (
        f"{peak:,} bytes alive at one time; {count(largest, 'row')} may take {limit:,.0f}; "
        f"all {rows:,} at once take {whole:,}"
    )
    return Judgement(key, fact, "over-budget")


def _diagnose(inputs: Values, case: Case, expected: Values, got: Values) -> str | None:
    """Knows gradients that are still as they were before."""
    return None if np.any(got["gradient"]) else "zeros"


_TOLERANCE = (1e-9, 1e-12)


ACCUMULATE = PythonPuzzle(
    **puzzle_fields(__file__),
    harness="gpu_course.lessons.memory_ledger.harness.accumulate",
    torch=True,
    cases=(
        _case("visible example", 96, 4, 6, visible=True),
        _case("a rest of two rows", 122, 4, 5),
        _case("one part", 64, 1, 6),
        _case("a row for each part", 7, 7, 3),
        _case("many parts, a rest of nine", 109, 10, 4),
    ),
    random_case=_random_case,
    inputs=_inputs,
    reference=_reference,
    judge=_judge,
    diagnose=_diagnose,
    # A rest is fewer rows than there are parts: what a kernel can tell takes thousands of parts.
    self_check="gradients that are freed and made anew, and a rest that is one part",
    held=(Held(_case("a large batch", 60_000, 30, 8), 58 << 20),),
    tolerance=_TOLERANCE,
)
