"""Puzzle `mfu`: which share of what the GPUs could do a training run does."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from gpu_course.errors import CourseError
from gpu_course.lessons.counting.foundry import WITHIN, Run, runs
from gpu_course.measure.transformer_shapes import utilisation
from gpu_course.puzzle.harness.refusing import REFUSED
from gpu_course.puzzle.room import puzzle_fields
from gpu_course.puzzle.specification import Case, Judgement, PythonPuzzle, Values

VISIBLE = {
    "parameters": 2_000_000_000,
    "layers": 30,
    "width": 2000,
    "sequence": 8000,
    "tokens_per_s": 50_000.0,
    "gpus": 8,
    "peak": 3e14,
    "again": (0.75, 1),
}
"""Here every way of the diagnoses comes to shares of its own."""

CASES: dict[str, dict[str, Any]] = {
    "visible example": VISIBLE,
    "nothing runs again": {"again": (0, 0)},
    "all layers run again": {"again": (1, 1)},
    "the pairs alone run again": {"again": (0, 1), "sequence": 65_536},
    "PaLM 540B": {
        "parameters": 540_350_000_000,
        "layers": 118,
        "width": 48 * 256,
        "sequence": 2048,
        "tokens_per_s": 238_300.0,
        "gpus": 6144,
        "peak": 275e12,
    },
    "one GPU that waits": {"gpus": 1, "tokens_per_s": 0.0},
    "a small model": {"parameters": 1000, "layers": 1, "width": 8, "sequence": 1, "gpus": 1},
    "no peak": {"peak": 0.0},
    "a peak below 0": {"peak": -3e14},
    "a peak that is NaN": {"peak": math.nan},
    "an infinite peak": {"peak": math.inf},
    "no GPU": {"gpus": 0},
    "tokens per second that are NaN": {"tokens_per_s": math.nan},
    "infinite tokens per second": {"tokens_per_s": math.inf},
    "tokens per second below 0": {"tokens_per_s": -1.0},
}
"""What differs from the visible example."""

TABLE = "half of llm-foundry's table, drawn anew"


def run_of(row: Run) -> dict[str, Any]:
    """Returns a row of the table as the puzzle gives it."""
    shape = row.shape
    return {
        "parameters": row.parameters,
        "layers": shape.layers,
        "width": shape.queries,
        "sequence": row.sequence,
        "tokens_per_s": float(row.tokens_per_s),
        "gpus": row.gpus,
        "peak": row.peak,
        "again": (1, 1) if row.recompute else (0, 0),
    }


def _drawn(rng: np.random.Generator) -> list[Run]:
    table = runs()
    return [table[n] for n in sorted(rng.choice(len(table), size=len(table) // 2, replace=False))]


def _inputs(rng: np.random.Generator, case: Case) -> Values:
    number = case.sizes["number"]
    if number < 0:
        return {"runs": [run_of(row) for row in _drawn(rng)]}
    return {"runs": [VISIBLE | list(CASES.values())[number]]}


def counted(
    parameters: float,
    layers: int,
    width: int,
    sequence: int,
    tokens_per_s: float,
    gpus: int,
    peak: float,
    again: tuple[float, float],
) -> tuple[Any, Any]:
    """Returns (mfu, hfu), or the puzzle's word where there are none."""
    forward = 2 * parameters, 4 * layers * width * sequence
    model = 3 * sum(forward)
    more = sum(share * each for share, each in zip(again, forward, strict=True))
    try:
        return tuple(utilisation(flop, tokens_per_s, gpus, peak) for flop in (model, model + more))  # type: ignore[return-value]
    except CourseError:
        return REFUSED, REFUSED


def _reference(inputs: Values, case: Case) -> Values:
    if case.sizes["number"] < 0:
        return {}  # MosaicML's own digits judge it
    first, second = counted(**inputs["runs"][0])
    return {"mfu": [first], "hfu": [second]}


def _judge(inputs: Values, case: Case, got: Values) -> Judgement | None:
    """Holds each number against what MosaicML printed for that row."""
    if case.sizes["number"] >= 0:
        return None
    by_run = {repr(run_of(row)): row for row in runs()}
    for number, given in enumerate(inputs["runs"]):
        row = by_run[repr(given)]
        for name, printed in (("mfu", row.mfu_percent), ("hfu", row.hfu_percent)):
            said = got[name][number] if len(got.get(name, ())) > number else None
            if not _close(said, printed):
                where = f"{row.model}, {row.sequence:,} tokens, {row.gpus} x {row.card}"
                return Judgement(
                    "table", f"{name} is {_percent(said)}, printed {printed} ({where})"
                )
    return None


def _close(said: Any, printed: float) -> bool:
    real = isinstance(said, int | float) and not isinstance(said, bool)
    return real and abs(100 * said - printed) <= WITHIN * printed


def _percent(said: Any) -> str:
    return f"{100 * said:.2f} %" if isinstance(said, int | float) else repr(said)


def _diagnose(inputs: Values, case: Case, expected: Values, got: Values) -> str | None:
    said, right = got.get("mfu"), expected.get("mfu")
    if right == [REFUSED]:
        return "not-refused"
    return "refused" if said == [REFUSED] else None


def _called(inputs: Values) -> str:
    told = ", ".join(f"{name}={value}" for name, value in inputs["runs"][0].items())
    return f"mfu({told})"


MFU = PythonPuzzle(
    **puzzle_fields(__file__),
    harness="gpu_course.lessons.counting.harness.table",
    cases=tuple(Case(name, {"number": n}, n == 0) for n, name in enumerate(CASES)),
    random_case=lambda rng: Case(TABLE, {"number": -1}),
    inputs=_inputs,
    reference=_reference,
    judge=_judge,
    diagnose=_diagnose,
    tolerance=(1e-12, 0.0),
    call=_called,
)
