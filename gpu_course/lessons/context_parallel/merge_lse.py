"""Puzzle `merge_lse`: the online softmax, one merge of it."""

from __future__ import annotations

import numpy as np

from gpu_course.puzzle.room import puzzle_fields
from gpu_course.puzzle.specification import Case, PythonPuzzle, Values

_BLIND, _BLIND_BOTH, _LARGE, _FAR, _LOW = 1, 2, 3, 4, 5


def _case(name: str, queries: int, width: int, kind: int = 0, visible: bool = False) -> Case:
    return Case(name, {"queries": queries, "width": width, "kind": kind}, visible)


def _random_case(rng: np.random.Generator) -> Case:
    queries, width = (int(each) for each in rng.integers(2, 9, 2))
    return _case("sizes drawn at random", queries, width)


def _part(rng: np.random.Generator, queries: int, width: int) -> tuple[np.ndarray, np.ndarray]:
    return rng.normal(size=(queries, width)), rng.normal(size=queries) + 1.0


def _inputs(rng: np.random.Generator, case: Case) -> Values:
    queries, width, kind = (case.sizes[name] for name in ("queries", "width", "kind"))
    (out, lse), (other_out, other_lse) = (_part(rng, queries, width) for _ in range(2))
    if kind == 0:
        # Now one part weighs more, now the other: neither lse is the larger one everywhere.
        turn = np.arange(queries) % 2 == 0
        less, more = np.minimum(lse, other_lse), np.maximum(lse, other_lse)
        lse, other_lse = np.where(turn, more, less), np.where(turn, less, more)
    if kind == _LARGE:
        lse, other_lse = lse + 800.0, other_lse + 801.0
    if kind == _LOW:
        lse, other_lse = lse - 900.0, other_lse - 901.0
    if kind == _FAR:
        lse = lse + np.where(np.arange(queries) % 2, 1000.0, -1000.0)
    if kind in (_BLIND, _BLIND_BOTH):
        for mean, log, start in ((out, lse, 0), (other_out, other_lse, 1)):
            mean[start::3], log[start::3] = 0.0, -np.inf
            if kind == _BLIND_BOTH:
                mean[2::3], log[2::3] = 0.0, -np.inf
    return {"out": out, "lse": lse, "other_out": other_out, "other_lse": other_lse}


def _weights(inputs: Values) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Returns (share of the first, share of the second, lse) of each query."""
    lse, other = inputs["lse"], inputs["other_lse"]
    most = np.maximum(lse, other)
    safe = np.where(np.isneginf(most), 0.0, most)
    one, two = np.exp(lse - safe), np.exp(other - safe)
    with np.errstate(divide="ignore"):
        both = safe + np.log(one + two)
    total = np.where(one + two > 0, one + two, 1.0)
    return one / total, two / total, both


def _reference(inputs: Values, case: Case) -> Values:
    one, two, both = _weights(inputs)
    out = one[:, None] * inputs["out"] + two[:, None] * inputs["other_out"]
    return {"result": (out, both)}


def _diagnose(inputs: Values, case: Case, expected: Values, got: Values) -> str | None:
    result = got["result"]
    if not isinstance(result, tuple | list) or len(result) != 2:
        return "not-a-pair"
    if case.sizes["kind"] in (_LARGE, _LOW, _FAR) and not np.isfinite(result[1]).all():
        return "overflow"
    if not any(np.isnan(np.asarray(each, dtype=float)).any() for each in result):
        return None
    return "blind" if case.sizes["kind"] in (_BLIND, _BLIND_BOTH) else "overflow"


def _call(inputs: Values) -> str:
    queries, width = inputs["out"].shape
    return f"merge_lse(out, lse, other_out, other_lse), out ({queries}, {width})"


MERGE_LSE = PythonPuzzle(
    **puzzle_fields(__file__),
    harness="gpu_course.lessons.context_parallel.harness.merge_lse",
    torch=True,
    cases=(
        _case("visible example", 2, 3, visible=True),
        _case("one query, one number", 1, 1),
        # In front of the blind: who takes exp of everything gets NaN in both.
        _case("scores in the hundreds", 4, 3, _LARGE),
        _case("scores far below zero", 4, 3, _LOW),
        _case("queries that see one part alone", 7, 2, _BLIND),
        _case("queries that see no key at all", 7, 2, _BLIND_BOTH),
        _case("a part that outweighs the other", 5, 2, _FAR),
        _case("many queries", 64, 16),
    ),
    random_case=_random_case,
    inputs=_inputs,
    reference=_reference,
    tolerance=(1e-9, 1e-12),
    diagnose=_diagnose,
    call=_call,
)
