"""Puzzle `zero1`: a step of Adam whose moments are cut into slices, one on each rank."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from gpu_course.lessons.zero_and_fsdp.pieces import (
    adam,
    padded,
    share,
    within_booked,
)
from gpu_course.puzzle.digits import long_numbers
from gpu_course.puzzle.on_ranks import FLOAT64_BYTES, ranks_of
from gpu_course.puzzle.room import puzzle_fields
from gpu_course.puzzle.specification import (
    Case,
    Judgement,
    PerRank,
    PythonPuzzle,
    Values,
)
from simt.text import count


def _case(ranks: int, length: int, name: str = "", visible: bool = False) -> Case:
    words = name or f"{count(ranks, 'rank')}, {count(length, 'parameter')}"
    return Case(words, {"ranks": ranks, "length": length}, visible)


CASES = (
    _case(3, 7, "visible example", visible=True),
    _case(3, 30_000),
    _case(3, 9),
    _case(2, 11),
    _case(1, 5),
    _case(4, 3, "4 ranks, fewer parameters"),
    # The last slice is nothing but filling.
    _case(4, 5),
)


def _random_case(rng: np.random.Generator) -> Case:
    ranks = int(rng.choice([2, 4]))
    length = ranks * int(rng.integers(4, 12)) + int(rng.integers(1, ranks))
    return _case(ranks, length, "a length drawn at random")


def _inputs(rng: np.random.Generator, case: Case) -> Values:
    ranks, length = ranks_of(case), case.sizes["length"]

    def eighths() -> np.ndarray:
        return rng.integers(1, 400, length) * rng.choice([-1.0, 1.0], length) / 800.0

    # Too long for float32, and around 1/2 at most.
    gradients = tuple(long_numbers(rng, length) / 128 for _ in range(ranks))
    m, v = eighths() / 4, eighths() ** 2
    return {
        "parameters": eighths() * 100,
        "gradient": PerRank(gradients),
        "m": PerRank(tuple(padded(m, ranks))),
        "v": PerRank(tuple(padded(v, ranks))),
        "step": int(rng.integers(2, 9)),
    }


Slices = Sequence[np.ndarray]


def _stepped(
    inputs: Values, gradients: Slices, at: Callable[[int], int] = lambda rank: rank
) -> tuple[Slices, Slices, Slices]:
    """Returns each rank's slice of the parameters, m and v after the step.

    Args:
        inputs: of the case.
        gradients: for each rank, of its slice.
        at: rank -> the slice of the parameters that it takes.
    """
    ranks = len(inputs["m"].parts)
    weights = padded(inputs["parameters"], ranks)
    m, v, step = inputs["m"].parts, inputs["v"].parts, inputs["step"]
    found = [adam(weights[at(r)], gradients[r], m[r], v[r], step) for r in range(ranks)]
    return [f[0] for f in found], [f[1] for f in found], [f[2] for f in found]


def _whole(slices: Slices, length: int) -> np.ndarray:
    return np.concatenate(list(slices))[:length]


def _mean(inputs: Values) -> np.ndarray:
    mean: np.ndarray = np.sum(inputs["gradient"].parts, axis=0) / len(inputs["gradient"].parts)
    return mean


def _reference(inputs: Values, case: Case) -> Values:
    ranks = ranks_of(case)
    weights, m, v = _stepped(inputs, list(padded(_mean(inputs), ranks)))
    whole = _whole(weights, case.sizes["length"])
    return {"result": tuple((whole, m[r], v[r]) for r in range(ranks))}


def _judge(inputs: Values, case: Case, got: Values) -> Judgement | None:
    ranks, wire = ranks_of(case), got["wire"]
    once = FLOAT64_BYTES * (ranks - 1) * share(case.sizes["length"], ranks)
    # The gradient travels first; an all-reduce that comes later is one of the new parameters.
    first = next((call.kind for call in wire if call.rank == 0), "")
    key = "gradient-to-all" if first == "all_reduce" else "too-many-bytes"
    return within_booked(wire, [2 * once] * ranks, key)


def _diagnose(inputs: Values, case: Case, expected: Values, got: Values) -> str | None:
    ranks, length = ranks_of(case), case.sizes["length"]
    if "failed" in got or ranks == 1 or any(len(each) != 3 for each in got["result"]):
        return None
    if any(np.size(each[0]) == ranks * share(length, ranks) != length for each in got["result"]):
        return "padding-left"
    states = [np.size(each[1]) for each in got["result"]]
    return "whole-states" if any(size != share(length, ranks) for size in states) else None


ZERO1 = PythonPuzzle(
    **puzzle_fields(__file__),
    ranks=ranks_of,
    torch=True,
    tolerance=(1e-10, 1e-12),
    cases=CASES,
    random_case=_random_case,
    inputs=_inputs,
    reference=_reference,
    diagnose=_diagnose,
    judge=_judge,
)
