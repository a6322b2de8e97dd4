"""Puzzle `bucketed`: gradients in few messages that begin while the backward pass goes on."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gpu_course.lessons.data_parallel import pieces
from gpu_course.lessons.data_parallel.pieces import (
    ENDS,
    FLOAT64_BYTES,
    LAST,
    MIDDLE,
    NOT_ON_RANK_1,
    case,
    own_calls,
    ranks_of,
)
from gpu_course.puzzle.room import puzzle_fields
from gpu_course.puzzle.specification import Case, Judgement, PythonPuzzle, Values
from gpu_course.ranks.calls import Call

CASES = (
    case("visible example", 2, layers=3, bucket_bytes=160, visible=True),
    case("2 ranks, a layer that rank 1 does not use", 2, extras=MIDDLE, layers=4,
         beside=NOT_ON_RANK_1, bucket_bytes=64),
    case("2 ranks, every parameter is too large", 2, layers=2, bucket_bytes=8),
    case("2 ranks, the last layer is unused", 2, extras=LAST, bucket_bytes=40),
    case("2 ranks, one bucket for all", 2, layers=2, bucket_bytes=10_000),
    case("3 ranks, buckets that are filled exactly", 3, layers=2, bucket_bytes=96),
    case("3 ranks, an unused layer", 3, extras=MIDDLE, layers=3, bucket_bytes=112),
    case("3 ranks, 51 kB of parameters on each", 3, hidden=78, layers=2, bucket_bytes=4000),
    case("1 rank", 1, extras=MIDDLE, bucket_bytes=100),
    case("4 ranks, buckets for all but one parameter", 4, hidden=4, layers=2, bucket_bytes=335),
)  # fmt: skip


def _random_case(rng: np.random.Generator) -> Case:
    ranks, hidden = int(rng.choice([2, 4])), int(rng.integers(2, 7))
    room = FLOAT64_BYTES * int(rng.integers(hidden, 4 * hidden * hidden))
    name = "sizes drawn at random"
    return case(name, ranks, hidden=hidden, layers=int(rng.integers(2, 5)), bucket_bytes=room)


def buckets(sizes: Sequence[tuple[int, bool]], bucket_bytes: int) -> list[list[int]]:
    """Returns the numbers of the parameters in each bucket.

    Args:
        sizes: (numbers, whether it asks for a gradient) of each parameter.
        bucket_bytes: how full a bucket may get.

    >>> buckets(((6, True), (3, True), (3, False), (2, True)), 40)
    [[3, 1], [0]]
    """
    made: list[list[int]] = []
    left = 0
    for number in reversed(range(len(sizes))):
        numbers, asks = sizes[number]
        if not asks:
            continue
        size = FLOAT64_BYTES * numbers
        if size > left or not made:
            made.append([])
            left = bucket_bytes
        made[-1].append(number)
        left -= size
    return made


def _buckets(case: Case) -> list[list[int]]:
    sizes = [(own.numbers, own.asks) for own in pieces.parameters(case)]
    return buckets(sizes, case.sizes["bucket_bytes"])


def _sizes(case: Case) -> list[int]:
    """Returns how many numbers each message of a step has."""
    sizes = pieces.parameters(case)
    return [sum(sizes[number].numbers for number in bucket) for bucket in _buckets(case)]


def _inputs(rng: np.random.Generator, case: Case) -> Values:
    return pieces.inputs(rng, case, same_weights=True)


def _reference(inputs: Values, case: Case) -> Values:
    return pieces.trained(inputs, case, none_counts_as_zero=True)


def _follow(inputs: Values, case: Case, got: Values) -> Values:
    return pieces.counted(got)


def _judge(inputs: Values, case: Case, got: Values) -> Judgement | None:
    library = pieces.by_own_lines(got)
    if library is not None:
        return library
    most = 2 * pieces.ring_bytes(ranks_of(case), FLOAT64_BYTES * sum(_sizes(case)))
    for rank in range(ranks_of(case)):
        own = own_calls(got["wire"], rank)
        found = _messages(case, rank, own) or _overlap(case, rank, own, got["told"][rank])
        if found is not None:
            return found
    return pieces.within_booked(got, case, most)


def _messages(case: Case, rank: int, own: list[Call]) -> Judgement | None:
    """Returns what is wrong with the messages of the first step of a rank."""
    wanted = _sizes(case)
    found = [sum(call.sizes) for call in own if call.kind == "all_reduce"]
    if found == 2 * wanted:
        return None
    fact = f"rank {rank} sends {len(found)} messages in 2 steps, by the rule {2 * len(wanted)}"
    if len(found) > 2 * len(wanted):
        return Judgement("too-many-messages", fact, "over-budget", own[0].line)
    if len(found) < 2 * len(wanted):
        return Judgement("too-few-messages", fact, "over-budget", own[0].line if own else 0)
    at = next(k for k, pair in enumerate(zip(found, 2 * wanted, strict=True)) if len(set(pair)) > 1)
    fact = f"message {at} of rank {rank} has {found[at]} numbers, by the rule {(2 * wanted)[at]}"
    return Judgement("other-buckets", fact, "over-budget", own[0].line)


def _overlap(
    case: Case, rank: int, own: list[Call], told: tuple[tuple[str, int], ...]
) -> Judgement | None:
    """Returns what is wrong with when a rank's messages begin, and when it waits for them."""
    lines = {call.number: call.line for call in own}
    want = _buckets(case)
    for inside in pieces.backward_passes(told):
        waits = [number for what, number in inside if what == "waits"]
        if waits:
            fact = f"rank {rank} waits for a message in the backward pass"
            return Judgement("waits-in-backward", fact, "over-budget", lines.get(waits[0], 0))
        begun = 0
        there: set[int] = set()
        for what, number in [*inside, ("mark", ENDS)]:
            if what == "begins":
                begun += 1
            elif what == "mark":
                # When the next gradient comes, what could begin has begun.
                due = next((k for k, b in enumerate(want) if not set(b) <= there), len(want))
                if begun < due:
                    fact = f"bucket {begun} of rank {rank} is complete and does not begin"
                    return Judgement("begins-late", fact, "over-budget")
                there.add(number)
    return None


def _diagnose(inputs: Values, case: Case, expected: Values, got: Values) -> str | None:
    """Knows what was to be left alone, what was never sent, and first steps that are right."""
    if "failed" in got or ranks_of(case) == 1:
        return None
    pairs = zip(got["without"], expected["without"], strict=True)
    if any(np.any(each != right) for each, right in pairs):
        return "still-none"
    sent = sum(sum(call.sizes) for call in got["wire"] if call.kind == "all_reduce")
    if 0 < sent < 2 * ranks_of(case) * sum(_sizes(case)):
        return "bucket-left-out"
    found, right = np.stack(got["gradients"]), np.stack(expected["gradients"])
    return "second-step" if pieces.alike(found[:, 0], right[:, 0]) else None


BUCKETED = PythonPuzzle(
    **puzzle_fields(__file__),
    harness="gpu_course.lessons.data_parallel.harness.data_parallel",
    call=lambda inputs: f"bucketed(model, {inputs['bucket_bytes']})",
    self_check=(
        "When each gradient is there is told in your own processes. What they send, and in which "
        "order, is counted outside of them."
    ),
    ranks=ranks_of,
    torch=True,
    cases=CASES,
    random_case=_random_case,
    inputs=_inputs,
    reference=_reference,
    diagnose=_diagnose,
    tolerance=pieces.TOLERANCE,
    follow=_follow,
    judge=_judge,
)
