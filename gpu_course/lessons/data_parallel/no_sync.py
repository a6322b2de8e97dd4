"""Puzzle `no_sync`: gradients of many microbatches, added up here, exchanged once."""

from __future__ import annotations

import numpy as np

from gpu_course.lessons.data_parallel import pieces
from gpu_course.lessons.data_parallel.pieces import DIAGNOSES, MIDDLE, case, ranks_of
from gpu_course.puzzle.digits import to_seven_digits
from gpu_course.puzzle.specification import Case, Debrief, Finding, Mistake, PythonPuzzle, Values

CASES = (
    case("visible example", 2, parts=3, visible=True),
    case("2 ranks, an error in a pause", 2, parts=2, stops=True),
    case("2 ranks, no pause at all", 2, parts=1),
    case("3 ranks, 2 microbatches", 3, parts=2, layers=2, extras=MIDDLE),
    case("3 ranks, 51 kB of parameters on each", 3, hidden=78, layers=2, parts=4),
    case("1 rank", 1, parts=3),
    case("4 ranks, 2 microbatches", 4, parts=2),
)


def _random_case(rng: np.random.Generator) -> Case:
    ranks, hidden = int(rng.choice([2, 4])), int(rng.integers(2, 7))
    return case("sizes drawn at random", ranks, hidden=hidden, parts=int(rng.integers(2, 5)))


def _inputs(rng: np.random.Generator, case: Case) -> Values:
    return pieces.inputs(rng, case, same_weights=True)


def _reference(inputs: Values, case: Case) -> Values:
    return pieces.trained(inputs, case, none_counts_as_zero=False)


def _follow(inputs: Values, case: Case, got: Values) -> Values:
    return pieces.counted(got)


def _judge(inputs: Values, case: Case, got: Values) -> Finding | None:
    allowed = 2 * pieces.ring_bytes(ranks_of(case), pieces.gradient_bytes(case))
    return pieces.by_own_lines(got) or pieces.within_booked(got, case, allowed)


def _diagnose(inputs: Values, case: Case, expected: Values, got: Values) -> str | None:
    ranks = ranks_of(case)
    if "failed" in got:
        return None
    if to_seven_digits(expected, got):
        return "seven-digits"
    if ranks == 1:
        return None
    times = pieces.factor(got, expected)
    if times is not None and np.isclose(times, ranks):
        return "summed"
    if times is not None and np.isclose(times, 1 / ranks):
        return "divided-twice"
    own = pieces.own_gradients(inputs, case)
    found, right = np.stack(got["gradients"]), np.stack(expected["gradients"])
    if pieces.alike(found[:, 0], own):
        return "after-an-error" if case.sizes["stops"] else "own-gradients"
    sent = sum(call.payload_bytes for call in pieces.own_calls(got["wire"], 0))
    if pieces.alike(np.mean(found[:, 0], axis=0), right[0, 0]):
        return "last-alone"
    if sent > 2 * pieces.gradient_bytes(case):
        return "averaged-again"
    return None


DEBRIEF = Debrief(
    shows=("all_reduces", "bytes_as_in_a_ring"),
    why=(
        "The mean over ranks of a sum is the sum of the means, so it may be formed once, at the "
        "end. k microbatches then cost the bytes of one."
    ),
    alternative=(
        "A class with __enter__ and __exit__ does what the generator does; __exit__ is called "
        "after an exception as well."
    ),
)

NO_SYNC = PythonPuzzle(
    name="22_data_parallel/no_sync",
    title="one exchange for many passes",
    difficulty="easy",
    minutes=12,
    debrief=DEBRIEF,
    statement=(
        "Return a function whose context manager keeps the hooks from sending. After the first "
        "backward pass outside of it each .grad is the mean over the ranks of all that was added "
        "up, for the bytes of one pass."
    ),
    parameters={"no_sync": ("model",)},
    harness="gpu_course.lessons.data_parallel.harness.data_parallel",
    call=lambda inputs: "no_sync(model)",
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
        "own-gradients": (
            "Each rank keeps the gradient of its own rows, so nothing is sent after the pause. "
            "What ends a pause, and does the hook see it?"
        ),
        "after-an-error": (
            "After an error in a pause nothing is sent any more. The block was left, and not by "
            "its end: what of your context manager runs then?"
        ),
        "swallowed": (
            "An error in a pause never reaches the caller, who goes on as if all were well. It has "
            "to end the pause and go on: what does your context manager catch, or return?"
        ),
        "last-alone": (
            "Only a part of what the ranks have added up is averaged, and the rest is each rank's "
            "own. What is in .grad when the last microbatch is done?"
        ),
        "averaged-again": (
            "More is sent than one exchange for a step, and the result is wrong. A gradient that "
            "is a mean already and gets a rank's own added to it is neither of both."
        ),
        "too-many-bytes": (
            "The result is right, for more than one exchange in a step. What do the passes before "
            "the last one send?"
        ),
        "exception": (
            "A context manager that a generator made can be entered once. Does every pause get "
            "one of its own?"
        ),
    },
    hints=(
        "The hooks are those of ddp, and they need to know one thing more.",
        "Something that is true or false, which pause changes and the hook looks at.",
        (
            "contextlib.contextmanager makes one from a generator: what stands before the yield "
            "runs on entry. What has to run at the end in any case belongs into a finally; and "
            "to assign a name of the function around, say nonlocal."
        ),
    ),
    mistakes=(
        Mistake("exchanges_every_time", "over-budget", "too-many-bytes"),
        Mistake("exchanges_what_is_new", "over-budget", "too-many-bytes"),
        Mistake("pauses_a_copy", "over-budget", "too-many-bytes"),
        Mistake("never_wakes", "wrong-result", "own-gradients"),
        Mistake("an_error_leaves_it_paused", "wrong-result", "after-an-error"),
        Mistake("an_error_is_lost", "wrong-result", "swallowed"),
        Mistake("one_for_all_pauses", "exception", "exception"),
        Mistake("sums", "wrong-result", "summed"),
        Mistake("sends_the_last_alone", "wrong-result", "last-alone"),
        Mistake("exchanges_after_each_pause", "over-budget", "too-many-bytes"),
        Mistake("begins_and_goes_on", "hazard", "not-waited"),
    ),
    source="PyTorch, torch.nn.parallel.DistributedDataParallel.no_sync",
)
