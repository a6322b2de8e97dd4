"""Puzzle `imbalance`: who computes how much in a causal ring, and how long all wait."""

from __future__ import annotations

import numpy as np

from gpu_course.lessons.context_parallel.pieces import BY_CHANCE, KINDS, NAMES
from gpu_course.lessons.context_parallel.sequence_layouts import LAYOUTS, bound, work
from gpu_course.puzzle.room import puzzle_fields
from gpu_course.puzzle.specification import Case, PythonPuzzle, Values
from simt.text import count


def _case(ranks: int, length: int, layout: int, name: str = "", visible: bool = False) -> Case:
    words = name or f"{count(ranks, 'rank')}, {length:,} tokens, {NAMES[layout]}"
    return Case(words, {"ranks": ranks, "length": length, "layout": layout}, visible)


def _random_case(rng: np.random.Generator) -> Case:
    ranks, layout = int(rng.integers(2, 9)), int(rng.integers(0, len(NAMES)))
    return _case(ranks, ranks * int(rng.integers(5, 40)) + 1, layout, "sizes drawn at random")


def _inputs(rng: np.random.Generator, case: Case) -> Values:
    ranks, length, layout = (case.sizes[name] for name in ("ranks", "length", "layout"))
    if layout == BY_CHANCE:
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


def _call(inputs: Values) -> str:
    calls = inputs["calls"]
    held = ", ".join(str(len(own)) for own in calls["work"][1])
    scores = calls["another_share"][1]
    another = f"; another_share: bound({scores})" if len(scores) <= 3 else ""
    return f"work(places), tokens {held}; share: bound of that{another}"


IMBALANCE = PythonPuzzle(
    **puzzle_fields(__file__),
    harness="gpu_course.puzzle.harness.calls",
    cases=(
        _case(2, 4, 0, "visible example", visible=True),
        _case(4, 16, 0),
        _case(8, 800, 0),
        _case(4, 32, 1),
        _case(3, 20, 1),
        _case(4, 33, 2),
        _case(5, 60, BY_CHANCE),
        _case(3, 2, 0, "3 ranks, 2 tokens"),
        _case(1, 6, 0, "one rank"),
        # So many that a look at each pair does not end, and blocks of pairs do not fit.
        _case(4, 524_288, 1, "4 ranks, 524,288 tokens, zigzag"),
    ),
    random_case=_random_case,
    inputs=_inputs,
    reference=_reference,
    tolerance=(1e-9, 0.0),
    call=_call,
)
