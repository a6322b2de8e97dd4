"""Puzzle `imbalance`: who computes how much in a causal ring, and how long all wait."""

from __future__ import annotations

from typing import Any

import numpy as np

from gpu_course.lessons.context_parallel.pieces import KINDS
from gpu_course.lessons.context_parallel.sequence_layouts import LAYOUTS, bound, work
from gpu_course.puzzle.room import told
from gpu_course.puzzle.specification import Case, PythonPuzzle, Values
from simt.text import count

_SHUFFLED = len(KINDS)
_NAMES = (*KINDS, "dealt out by chance")


def _case(ranks: int, length: int, layout: int, name: str = "", visible: bool = False) -> Case:
    words = name or f"{count(ranks, 'rank')}, {length:,} tokens, {_NAMES[layout]}"
    return Case(words, {"ranks": ranks, "length": length, "layout": layout}, visible)


def _random_case(rng: np.random.Generator) -> Case:
    ranks, layout = int(rng.integers(2, 9)), int(rng.integers(0, len(_NAMES)))
    return _case(ranks, ranks * int(rng.integers(5, 40)) + 1, layout, "sizes drawn at random")


def _inputs(rng: np.random.Generator, case: Case) -> Values:
    ranks, length, layout = (case.sizes[name] for name in ("ranks", "length", "layout"))
    if layout == _SHUFFLED:
        ends = np.sort(rng.integers(0, length + 1, ranks - 1))
        places = list(np.split(rng.permutation(length), ends))
    else:
        places = list(LAYOUTS[KINDS[layout]](length, ranks))
    # bound is asked about scores of its own: work need not be right for it.
    scores = rng.integers(1, 100, (ranks, ranks)).tolist()
    calls = {
        "work": ("work", places),
        "share": ("bound", work(places).tolist()),
        "another_share": ("bound", scores),
    }
    return {"calls": calls}


def _reference(inputs: Values, case: Case) -> Values:
    _, places = inputs["calls"]["work"]
    shares = {
        name: bound(np.array(inputs["calls"][name][1])) for name in ("share", "another_share")
    }
    return {"work": work(places).tolist(), **shares}


def _diagnose(inputs: Values, case: Case, expected: Values, got: Values) -> str | None:
    found, right = _table(got["work"]), np.array(expected["work"])
    if found is None or found.shape != right.shape:
        return None
    if not np.array_equal(found, right):
        return _of_work(found, inputs["calls"]["work"][1])
    for name in ("share", "another_share"):
        key = _of_share(got[name], np.array(inputs["calls"][name][1]), expected[name])
        if key:
            return key
    return None


def _table(value: Any) -> np.ndarray | None:
    try:
        return np.array(value, dtype=np.int64)
    except (TypeError, ValueError, OverflowError):
        return None


def _of_work(found: np.ndarray, places: list[np.ndarray]) -> str | None:
    ranks = len(places)
    sizes = [len(own) for own in places]
    owners = [[(r - t) % ranks for t in range(ranks)] for r in range(ranks)]
    others = [[(r + t) % ranks for t in range(ranks)] for r in range(ranks)]

    def pairs(side: str, who: list[list[int]], strict: bool = False) -> list[list[int]]:
        return [
            [_seen(places[r], places[o], "left" if strict else side) for o in who[r]]
            for r in range(ranks)
        ]

    whole = [[sizes[r] * sizes[o] for o in owners[r]] for r in range(ranks)]
    blocks = [
        [
            sizes[r] * (sizes[r] + 1) // 2 if o == r else sizes[r] * sizes[o] * (o < r)
            for o in owners[r]
        ]
        for r in range(ranks)
    ]
    seen = [[sizes[o] * sizes[r] - _seen(places[r], places[o], "left") for o in owners[r]]
            for r in range(ranks)]  # fmt: skip
    for key, table in (
        ("not-causal", whole),
        ("without-itself", pairs("right", owners, strict=True)),
        ("from-the-right", pairs("right", others)),
        ("by-rank-number", [[int(_seen(places[r], places[o], "right")) for o in range(ranks)]
                            for r in range(ranks)]),
        ("looks-ahead", seen),
        ("by-order-of-ranks", blocks),
    ):  # fmt: skip
        if np.array_equal(found, np.array(table)):
            return key
    return None


def _seen(queries: np.ndarray, keys: np.ndarray, side: str) -> int:
    return int(np.searchsorted(np.sort(keys), queries, side=side).sum())  # type: ignore[call-overload]


def _of_share(got: Any, scores: np.ndarray, right: float) -> str | None:
    if not isinstance(got, int | float) or np.isclose(got, right, rtol=1e-9):
        return None
    ranks, total = len(scores), scores.sum()
    sums, slowest = scores.sum(axis=1), scores.max(axis=0).sum()
    others = {
        "rounds-do-not-wait": total / (ranks * sums.max()),
        "waiting-instead": 1 - right,
        "inverse": 1 / right,
        "not-over-ranks": total / slowest,
        "every-round-as-the-worst": total / (ranks * ranks * scores.max()),
        "least-over-most": sums.min() / sums.max(),
        "mean-of-rounds": float((scores.mean(axis=0) / scores.max(axis=0)).mean()),
        "percent": 100 * right,
    }
    # With few ranks two of them may be the same number.
    return next((k for k, value in others.items() if np.isclose(got, value, rtol=1e-9)), None)


def _call(inputs: Values) -> str:
    calls = inputs["calls"]
    held = ", ".join(str(len(own)) for own in calls["work"][1])
    scores = calls["another_share"][1]
    another = f"; another_share: bound({scores})" if len(scores) <= 3 else ""
    return f"work(places), tokens {held}; share: bound of that{another}"


IMBALANCE = PythonPuzzle(
    **told(__file__),
    harness="gpu_course.puzzle.harness.calls",
    cases=(
        _case(2, 4, 0, "visible example", visible=True),
        _case(4, 16, 0),
        _case(8, 800, 0),
        _case(4, 32, 1),
        _case(3, 20, 1),
        _case(4, 33, 2),
        _case(5, 60, _SHUFFLED),
        _case(3, 2, 0, "3 ranks, 2 tokens"),
        _case(1, 6, 0, "one rank"),
        # So many that a look at each pair does not end, and blocks of pairs do not fit.
        _case(4, 524_288, 1, "4 ranks, 524,288 tokens, zigzag"),
    ),
    random_case=_random_case,
    inputs=_inputs,
    reference=_reference,
    tolerance=(1e-9, 0.0),
    diagnose=_diagnose,
    call=_call,
)
