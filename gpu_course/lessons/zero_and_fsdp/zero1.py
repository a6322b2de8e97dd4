"""Puzzle `zero1`: a step of Adam whose moments are cut into slices, one on each rank."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from gpu_course.lessons.zero_and_fsdp.pieces import (
    FLOAT64_BYTES,
    adam,
    close,
    padded,
    ranks_of,
    share,
    within_booked,
)
from gpu_course.puzzle.digits import IN_FLOAT32, long_numbers, to_seven_digits
from gpu_course.puzzle.specification import (
    Case,
    Debrief,
    Finding,
    Mistake,
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


def _judge(inputs: Values, case: Case, got: Values) -> Finding | None:
    ranks, wire = ranks_of(case), got["wire"]
    once = FLOAT64_BYTES * (ranks - 1) * share(case.sizes["length"], ranks)
    kinds = {call.kind for call in wire}
    key = "gradient-to-all" if "all_reduce" in kinds else "too-many-bytes"
    return within_booked(wire, [2 * once] * ranks, key)


def _diagnose(inputs: Values, case: Case, expected: Values, got: Values) -> str | None:
    ranks, length = ranks_of(case), case.sizes["length"]
    if "failed" in got:
        return None
    if to_seven_digits(expected, got):
        return "seven-digits"
    if ranks == 1:
        return None
    result, right = got["result"], expected["result"]
    if any(np.size(each[0]) == ranks * share(length, ranks) != length for each in result):
        return "padding-left"
    if any(np.size(each[1]) != share(length, ranks) for each in result):
        return "whole-states"
    mean = padded(_mean(inputs), ranks)
    if close([each[1] for each in result], [each[1] for each in right]) and all(
        close([_own(each[0], r, ranks)], [_own(right[r][0], r, ranks)])
        for r, each in enumerate(result)
    ):
        return "not-gathered"
    own = [padded(part, ranks)[r] for r, part in enumerate(inputs["gradient"].parts)]
    tried: tuple[tuple[str, Slices, Callable[[int], int]], ...] = (
        ("summed", list(mean * ranks), lambda r: r),
        ("own-gradient", own, lambda r: r),
        ("other-slice", [mean[(r + 1) % ranks] for r in range(ranks)], lambda r: r),
        ("other-slice", [mean[(r - 1) % ranks] for r in range(ranks)], lambda r: r),
        ("other-slice", list(mean), lambda r: (r + 1) % ranks),
    )
    for key, gradients, at in tried:
        weights, m, _ = _stepped(inputs, gradients, at)
        if close([each[1] for each in result], m):
            whole = _whole(weights, length)
            if key != "other-slice" or close([each[0] for each in result], [whole] * ranks):
                return key
    return None


def _own(weights: np.ndarray, rank: int, ranks: int) -> np.ndarray:
    part: np.ndarray = padded(np.asarray(weights), ranks)[rank]
    return part


DEBRIEF = Debrief(
    shows=("booked_bytes",),
    why=(
        "Adam works number by number, so whoever has a slice of the gradient, of m and of v can "
        "update that slice alone. An all-reduce is a reduce-scatter and an all-gather; here the "
        "update stands between the two, and nothing more is sent."
    ),
    alternative=(
        "Give whole tensors to the ranks instead of slices, as PyTorch's ZeroRedundancyOptimizer "
        "does: nothing is cut, and the ranks hold unequal amounts."
    ),
)

ZERO1 = PythonPuzzle(
    name="23_zero_and_fsdp/zero1",
    title="a slice of Adam's states for each",
    difficulty="medium",
    minutes=20,
    debrief=DEBRIEF,
    statement=(
        "Each rank holds all parameters, the gradient of its own batch, and a slice of Adam's "
        "moments. Take the step of the mean gradient so that every rank ends with all new "
        "parameters, and send no more than an all-reduce would."
    ),
    parameters={"zero1": ("parameters", "gradient", "m", "v", "step")},
    ranks=ranks_of,
    torch=True,
    tolerance=(1e-10, 1e-12),
    cases=CASES,
    random_case=_random_case,
    inputs=_inputs,
    reference=_reference,
    judge=_judge,
    diagnose=_diagnose,
    diagnoses={
        "seven-digits": IN_FLOAT32,
        "gradient-to-all": (
            "The result is right. After an all-reduce every rank has the whole mean gradient, and "
            "each of them uses one slice of it. Which collective leaves a slice and no more?"
        ),
        "too-many-bytes": (
            "The result is right, and more was sent than has to be. Only two things must travel: "
            "shares of the gradient to the one who updates, and new parameters to all."
        ),
        "padding-left": (
            "The parameters have grown: the zeros that fill up the last slice are still at their "
            "end. Cut them off once all slices are together."
        ),
        "whole-states": (
            "The moments that come back are not as long as a slice. Each rank keeps its own slice "
            "of m and v, and no rank ever needs the others."
        ),
        "not-gathered": (
            "Each rank's own slice of the parameters is right, and the others are not: they are "
            "new on the ranks that updated them. How does everybody come by them?"
        ),
        "summed": (
            "The moments are those of the sum of the gradients. Asked for is the step of their "
            "mean, as one process would take it on all batches together."
        ),
        "own-gradient": (
            "The moments are those of this rank's own gradient. The batches of the other ranks "
            "count as well, also for this slice."
        ),
        "other-slice": (
            "A rank has put together slices of two different places. Parameters, gradient, m and v "
            "of rank r all begin at r times the length of a slice."
        ),
        "input-changed": (
            "One of the tensors you were given was written to. Make new ones: what is handed in is "
            "needed again if the step has to be repeated."
        ),
    },
    hints=(
        "Which numbers of the mean gradient does a rank need that can update only its own slice?",
        (
            "dist.reduce_scatter_single(out, x) leaves on rank r the sum of the r-th part of x; it "
            "needs an x that can be cut into n equal parts. dist.all_gather_single(out, x) puts "
            "the x of all ranks behind each other."
        ),
        (
            "Fill the gradient up with zeros to n times len(m); reduce-scatter it and divide by n; "
            "fill up the parameters in the same way and take their r-th slice; adam on the "
            "slices; all-gather the new slice, and cut off the filling."
        ),
    ),
    mistakes=(
        Mistake("all_reduces_the_gradient", "over-budget", "gradient-to-all"),
        Mistake("everybody_gathers_gradients", "over-budget", "too-many-bytes"),
        Mistake("takes_the_sum", "wrong-result", "summed"),
        Mistake("uses_its_own_gradient", "wrong-result", "own-gradient"),
        Mistake("keeps_its_slice_to_itself", "wrong-result", "not-gathered"),
        Mistake("leaves_the_filling", "wrong-result", "padding-left"),
        Mistake("returns_all_states", "wrong-result", "whole-states"),
        Mistake("slice_of_the_next", "wrong-result", "other-slice"),
        Mistake("cuts_without_filling", "exception", "exception"),
        Mistake("does_not_wait", "hazard", "not-waited"),
        Mistake("updates_in_place", "input-changed", "input-changed"),
    ),
    source=(
        "Rajbhandari, Rasley, Ruwase, He, ZeRO: Memory Optimizations Toward Training Trillion "
        "Parameter Models, 2019, sections 5.1 and 7.2.1"
    ),
)
