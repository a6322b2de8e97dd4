"""Puzzle `ddp`: weights from rank 0 at the start, the mean gradient after each backward pass."""

from __future__ import annotations

import numpy as np

from gpu_course.lessons.data_parallel import pieces
from gpu_course.lessons.data_parallel.pieces import DIAGNOSES, MIDDLE, NOWHERE, case, ranks_of
from gpu_course.puzzle.digits import to_seven_digits
from gpu_course.puzzle.specification import Case, Debrief, Finding, Mistake, PythonPuzzle, Values

CASES = (
    case("visible example", 2, visible=True),
    case("2 ranks with different numbers of rows", 2, uneven=True),
    case("3 ranks", 3, layers=2),
    case("3 ranks, a frozen parameter and an unused one", 3, extras=MIDDLE),
    case("3 ranks, 51 kB of parameters on each", 3, hidden=78, layers=2),
    case("1 rank", 1, extras=MIDDLE),
    case("4 ranks, a layer that no rank uses", 4, extras=MIDDLE, beside=NOWHERE),
)


def _random_case(rng: np.random.Generator) -> Case:
    ranks, hidden = int(rng.choice([2, 4])), int(rng.integers(2, 7))
    return case("sizes drawn at random", ranks, hidden=hidden, layers=2, extras=MIDDLE)


def _inputs(rng: np.random.Generator, case: Case) -> Values:
    return pieces.inputs(rng, case, same_weights=False)


def _reference(inputs: Values, case: Case) -> Values:
    return pieces.trained(inputs, case, none_counts_as_zero=False)


def _follow(inputs: Values, case: Case, got: Values) -> Values:
    return pieces.counted(got)


def _judge(inputs: Values, case: Case, got: Values) -> Finding | None:
    gradients = 2 * pieces.ring_bytes(ranks_of(case), pieces.gradient_bytes(case))
    weights = pieces.all_weight_bytes(case) if ranks_of(case) > 1 else 0
    return pieces.by_own_lines(got) or pieces.within_booked(got, case, gradients + weights)


def _diagnose(inputs: Values, case: Case, expected: Values, got: Values) -> str | None:
    ranks = ranks_of(case)
    if got.get("failed") == "standstill" and _made_fewer(got, ranks):
        return "skipped"
    if "failed" in got:
        return None
    if to_seven_digits(expected, got):
        return "seven-digits"
    if ranks == 1:
        return None
    begun = [_start(inputs, case, got, rank) for rank in range(ranks)]
    first = inputs["weights"].parts
    if all(pieces.alike(begun[rank], first[rank]) for rank in range(ranks)):
        return "not-broadcast"
    if pieces.alike(begun[0], np.mean(first, axis=0)):
        return "mean-of-weights"
    if not all(pieces.alike(each, first[0]) for each in begun):
        return "frozen-left-out" if case.sizes["extras"] else None
    times = pieces.factor(got, expected)
    if times is not None and np.isclose(times, ranks):
        return "summed"
    if times is not None and np.isclose(times, 1 / ranks):
        return "divided-twice"
    found = np.stack(got["gradients"])[:, 0]
    own = pieces.own_gradients(inputs, case)
    if pieces.alike(found, own):
        return "own-gradients"
    if pieces.alike(found[0], expected["gradients"][0][0]):
        return "one-rank-alone"
    return None


def _made_fewer(got: Values, ranks: int) -> bool:
    """Whether a rank never called all_reduce while others did."""
    made = [0] * ranks
    for call in got["wire"]:
        made[call.rank] += call.kind == "all_reduce"
    return min(made) == 0 < max(made)


def _start(inputs: Values, case: Case, got: Values, rank: int) -> np.ndarray:
    """Returns the weights a rank began with: those at its end, its steps taken back."""
    steps = np.sum(got["gradients"][rank], axis=0)
    begun: np.ndarray = got["weights"][rank] + pieces.RATE * steps
    return begun


DEBRIEF = Debrief(
    shows=("all_reduces", "bytes_as_in_a_ring"),
    why=(
        "The ranks begin with equal weights, and each step adds the same mean to them, so they "
        "stay equal and no weight is ever sent again. The mean over ranks with equally many rows "
        "is the gradient of all the rows together."
    ),
    alternative=(
        "parameter.register_hook gets the gradient before it is added to .grad, and may return "
        "another one: its sum over the ranks, divided by n."
    ),
)

DDP = PythonPuzzle(
    name="22_data_parallel/ddp",
    title="one model on every rank",
    difficulty="easy",
    minutes=15,
    debrief=DEBRIEF,
    statement=(
        "Give every rank the weights of rank 0, and register hooks so that every backward pass "
        "leaves the mean of the ranks' gradients in .grad. Each parameter is sent once, and each "
        "gradient once per pass."
    ),
    parameters={"ddp": ("model",)},
    harness="gpu_course.lessons.data_parallel.harness.data_parallel",
    call=lambda inputs: "ddp(model)",
    ranks=ranks_of,
    torch=True,
    cases=CASES,
    random_case=_random_case,
    inputs=_inputs,
    reference=_reference,
    tolerance=pieces.TOLERANCE,
    follow=_follow,
    judge=_judge,
    diagnose=_diagnose,
    diagnoses={
        **DIAGNOSES,
        "not-broadcast": (
            "Each rank goes on from weights of its own. The mean of gradients that were taken at "
            "different places is the gradient of none of the models: who tells them where to begin?"
        ),
        "mean-of-weights": (
            "All ranks begin with the mean of their weights. That is one common start; asked for "
            "is the one of rank 0, and a mean of random weights is smaller than any of them."
        ),
        "frozen-left-out": (
            "Some weights still differ between the ranks at the start. A parameter that asks for "
            "no gradient is part of the model all the same."
        ),
        "one-rank-alone": (
            "Rank 0 has the mean and the others do not. They take a step as well: which call "
            "leaves the sum with everybody?"
        ),
        "skipped": (
            "A rank makes no all_reduce at all, and the others wait for it. All of a group have to "
            "make the call: which condition keeps that rank from it?"
        ),
        "roots-differ": (
            "In a broadcast one rank speaks and all others listen, so all of them have to name "
            "the same one."
        ),
        "exception": (
            "What does the error say of the parameter at hand: does it ask for a gradient, and is "
            "its .grad there at that moment?"
        ),
        "too-many-bytes": (
            "The result is right, and more crossed the wire than has to. Each gradient has to be "
            "summed once in a pass: what else is sent, or sent again?"
        ),
    },
    hints=(
        "Two things: something that is done once now, and something that is done in each pass.",
        (
            "Go through model.parameters(). What has to be sent of each, from whom? And which of "
            "them can have a hook?"
        ),
        (
            "In the hook .grad is this rank's own gradient. all_reduce adds up in place what the "
            "ranks hand in; what is missing to the mean then is a division."
        ),
    ),
    mistakes=(
        Mistake("never_broadcasts", "wrong-result", "not-broadcast"),
        Mistake("leaves_out_the_frozen", "wrong-result", "frozen-left-out"),
        Mistake("starts_from_the_mean", "wrong-result", "mean-of-weights"),
        Mistake("everybody_is_the_source", "hazard", "roots-differ"),
        Mistake("sums", "wrong-result", "summed"),
        Mistake("divides_twice", "wrong-result", "divided-twice"),
        Mistake("only_rank_0_adds", "hazard", "skipped"),
        Mistake("reduces_to_rank_0", "wrong-result", "one-rank-alone"),
        Mistake("hooks_the_frozen_too", "exception", "exception"),
        Mistake("hooks_the_tensor", "exception", "exception"),
        Mistake("begins_and_goes_on", "hazard", "not-waited"),
        Mistake("without_a_hook", "wrong-result", "own-gradients"),
        Mistake("everything_in_each_hook", "over-budget", "too-many-bytes"),
        Mistake("gathers_them_all", "over-budget", "too-many-bytes"),
        Mistake("asks_the_library", "refused", "library-ddp"),
    ),
    source=(
        "Li and others 2020, PyTorch Distributed: Experiences on Accelerating Data Parallel "
        "Training; Simon Boehm 2022, Data-Parallel Distributed Training of Deep Learning Models"
    ),
)
