"""Puzzle `zero3`: gather a unit, use it, free it, while the next one is on its way."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from typing import Any

import numpy as np

from gpu_course.lessons.zero_and_fsdp import small_gpt
from gpu_course.lessons.zero_and_fsdp.pieces import (
    FLOAT64_BYTES,
    close,
    padded,
    ranks_of,
    share,
    within_booked,
)
from gpu_course.puzzle.digits import IN_FLOAT32, to_seven_digits
from gpu_course.puzzle.specification import (
    Case,
    Debrief,
    Finding,
    Mistake,
    PerRank,
    PythonPuzzle,
    Values,
)
from gpu_course.ranks.calls import Call


def _lengths(case: Case) -> list[int]:
    return [sum(sizes) for sizes in small_gpt.unit_sizes(case)]


def _cut(x: np.ndarray, case: Case) -> list[np.ndarray]:
    """Returns for each unit the slices of all ranks, (ranks, share)."""
    ends = list(accumulate(_lengths(case)))[:-1]
    return [padded(each, ranks_of(case)) for each in np.split(x, ends)]


def room(case: Case) -> list[list[int]]:
    """Returns for each unit the bytes that may be alive as it is used forward, and backward.

    Forward: its own weights, those of the unit that comes next, and what the units so far have
    given. Backward besides: the slices of gradients that are done, the gradient of what this unit
    gave, and the whole gradient of the unit before, which may still be on its way.
    """
    ranks, lengths = ranks_of(case), _lengths(case)
    whole = [FLOAT64_BYTES * ranks * share(length, ranks) for length in lengths]
    kept = FLOAT64_BYTES * 2 * small_gpt.SEQUENCE * case.sizes["hidden"]
    last = len(lengths) - 1
    found = []
    for k in range(len(lengths)):
        after = whole[k + 1] if k < last else 0
        before = whole[k - 1] if k else 0
        done = sum(whole[k + 1 :]) // ranks
        forward = whole[k] + after + k * kept
        # A gradient that has just been made and the same one filled up.
        on_its_way = 2 * after
        backward = whole[k] + before + on_its_way + done + (last + 2) * kept + 2 * FLOAT64_BYTES
        found.append([forward, backward])
    return found


def _inputs(rng: np.random.Generator, case: Case) -> Values:
    given = small_gpt.inputs(rng, case)
    cut = _cut(given.pop("weights"), case)
    shards = tuple([unit[rank] for unit in cut] for rank in range(ranks_of(case)))
    return given | {"shards": PerRank(shards), "room": room(case)}


def _weights(inputs: Values, case: Case) -> np.ndarray:
    parts: Sequence[Sequence[np.ndarray]] = inputs["shards"].parts
    return np.concatenate(
        [
            np.concatenate([part[k] for part in parts])[:length]
            for k, length in enumerate(_lengths(case))
        ]
    )


def _gradients(inputs: Values, case: Case) -> np.ndarray:
    return small_gpt.gradients(_weights(inputs, case), inputs["tokens"].parts, case)


def _slices(gradient: np.ndarray, case: Case) -> tuple[list[np.ndarray], ...]:
    cut = _cut(gradient, case)
    return tuple([unit[rank] for unit in cut] for rank in range(ranks_of(case)))


def _reference(inputs: Values, case: Case) -> Values:
    return {"result": _slices(_gradients(inputs, case).mean(0), case)}


def _judge(inputs: Values, case: Case, got: Values) -> Finding | None:
    ranks, lengths, wire = ranks_of(case), _lengths(case), got["wire"]
    if ranks == 1:
        return None
    for rank, uses in enumerate(got["uses"]):
        for direction, k, _, held in uses:
            most = inputs["room"][k][direction == "backward"]
            if held > most:
                key = "kept" if direction == "forward" else "kept-in-backward"
                fact = f"rank {rank} holds {held:,} bytes as unit {k} is used; {most:,} will do"
                return Finding(key, fact, "over-budget")
    sizes = [FLOAT64_BYTES * (ranks - 1) * share(length, ranks) for length in lengths]
    most, least = 3 * sum(sizes), 3 * sum(sizes) - sizes[-1]
    key = "gradient-to-all" if any(c.kind == "all_reduce" for c in wire) else "too-many-bytes"
    finding = within_booked(wire, [most] * ranks, key)
    for rank, sent in enumerate(got["booked_bytes"]):
        # Whoever sends less has kept units where tensors are not counted.
        if finding is None and sent < least:
            fact = f"the calls of rank {rank} carry {sent:,} bytes; without keeping it is {least:,}"
            return Finding("kept-in-backward", fact, "over-budget")
    return finding or _not_prefetched(case, got)


def _not_prefetched(case: Case, got: Values) -> Finding | None:
    """Returns what is wrong where the unit that is used next is not on its way at a use."""
    last = len(_lengths(case)) - 1
    for rank, uses in enumerate(got["uses"]):
        own = [call for call in got["wire"] if call.rank == rank]
        gathers = [n for n, call in enumerate(own) if call.kind == "all_gather"]
        turn = next((begun for direction, k, begun, _ in uses if direction == "backward"), 0)
        forward = [at for at in gathers if at < turn]
        for direction, k, begun, _ in uses:
            if direction == "forward" and k < last:
                missing = len(forward) > last and sum(at < begun for at in gathers) < k + 2
            else:
                missing = direction == "backward" and k > 0 and _to_come(gathers, begun) > k - 1
            if missing:
                after = k + 1 if direction == "forward" else k - 1
                fact = f"unit {after} is not on its way as unit {k} is used {direction}"
                return Finding("no-prefetch", fact, "over-budget", _line(own, gathers))
    return None


def _to_come(gathers: Sequence[int], begun: int) -> int:
    return sum(at >= begun for at in gathers)


def _line(own: Sequence[Call], gathers: Sequence[int]) -> int:
    return own[gathers[0]].line if gathers else 0


def _diagnose(inputs: Values, case: Case, expected: Values, got: Values) -> str | None:
    ranks = ranks_of(case)
    if "failed" in got:
        return None
    if to_seven_digits(expected, got):
        return "seven-digits"
    if ranks == 1:
        return None
    result = got["result"]
    each = _gradients(inputs, case)
    if _alike(result, _slices(each.sum(0), case)):
        return "summed"
    if _alike(result, tuple(_slices(each[r], case)[r] for r in range(ranks))):
        return "own-gradient"
    if _alike([parts[::-1] for parts in result], expected["result"]):
        return "backward-order"
    sizes = [share(length, ranks) for length in _lengths(case)]
    if any(np.size(part) != n for parts in result for part, n in zip(parts, sizes, strict=True)):
        return "not-slices"
    right = [
        close([part], [should])
        for parts, shoulds in zip(result, expected["result"], strict=True)
        for part, should in zip(parts, shoulds, strict=True)
    ]
    if not right[0] and all(right[len(sizes) - 1 :: len(sizes)]):
        return "only-the-last-right"
    return None


def _alike(result: Any, other: Sequence[Sequence[np.ndarray]]) -> bool:
    return all(close(got, should) for got, should in zip(result, other, strict=True))


DEBRIEF = Debrief(
    shows=("booked_bytes",),
    why=(
        "Between two uses nobody needs a unit whole, so it lies in slices, and only the one in use "
        "and the next are ever there. Gathering twice costs half as much again on the wire as an "
        "all-reduce: 3 instead of 2 times the parameters."
    ),
    alternative=(
        "Keep a unit from its forward to its backward use, as `reshard_after_forward=False` does: "
        "2 times the parameters on the wire, and all of them in memory. For the last unit alone "
        "it costs nothing, since it is used again at once."
    ),
)

ZERO3 = PythonPuzzle(
    name="23_zero_and_fsdp/zero3",
    title="gather, use, free",
    difficulty="hard",
    minutes=40,
    debrief=DEBRIEF,
    statement=(
        "Every rank holds a slice of each unit of the model. Run forward and backward: gather a "
        "unit for its use, with the next one already on its way, free it afterwards, and leave on "
        "each rank its slice of every mean gradient."
    ),
    parameters={"zero3": ("units", "shards", "x")},
    harness="gpu_course.lessons.zero_and_fsdp.harness.zero3",
    ranks=ranks_of,
    torch=True,
    tolerance=(1e-9, 1e-12),
    cases=small_gpt.CASES,
    random_case=small_gpt.random_case,
    inputs=_inputs,
    reference=_reference,
    judge=_judge,
    diagnose=_diagnose,
    call=lambda inputs: "zero3(units, shards, x)",
    self_check="the bytes that are alive at each use, and what was on its way by then",
    diagnoses={
        "seven-digits": IN_FLOAT32,
        "kept": (
            "The result is right, and more units are whole than two: the one in use and the next. "
            "What holds on to the others: a list, a variable, a view?"
        ),
        "kept-in-backward": (
            "The result is right, and on the way back more is held than the unit in use, the next "
            "one, and the gradient that is on its way. Are units whole since the forward pass?"
        ),
        "no-prefetch": (
            "The result is right. The link is idle while a unit is used, and the unit waits while "
            "the link works. Begin the next gather before the use, and wait for it after."
        ),
        "gradient-to-all": (
            "The result is right, and each rank was sent whole gradients of which it keeps a "
            "slice. Which collective leaves a slice and no more?"
        ),
        "too-many-bytes": (
            "The result is right, and more was sent than three times the parameters. Count the "
            "gathers: each unit once on the way there and at most once on the way back."
        ),
        "summed": (
            "These are slices of the sum of all gradients. Asked for is the mean over the ranks."
        ),
        "own-gradient": (
            "These are slices of this rank's own gradient. The batches of the others count too."
        ),
        "not-slices": (
            "A gradient that comes back is not as long as the rank's slice of the unit, with its "
            "filling."
        ),
        "slices": "Return a list of tensors: for each unit this rank's slice of its gradient.",
        "backward-order": (
            "The slices are right, and in the order in which the backward pass made them. Asked "
            "for is the order of the units."
        ),
        "only-the-last-right": (
            "The last unit's gradient is right and the first one's is not. Each unit is called "
            "backward with the x that it had forward, and with the gradient that the unit after "
            "it gave."
        ),
        "weights-length": (
            "A unit takes exactly its own weights. What is gathered has zeros at its end where n "
            "does not divide the length."
        ),
        "freed": (
            "A tensor whose storage was given back still has a name and a shape, and no numbers. "
            "The way back needs the unit whole once more: gather it again."
        ),
        "input-changed": (
            "A slice that you were given was written to. It is the only place where these "
            "parameters live: the optimizer needs it as it is."
        ),
    },
    hints=(
        (
            "Write it first for one unit after the other, without a thought of the next: gather, "
            "forward, keep only what came out. Then the way back: gather, backward, reduce-scatter."
        ),
        (
            "dist.all_gather_single(out, shard, async_op=True) begins a gather and returns what is "
            "to be waited for. A function that returns both makes the loop short. A name "
            "that is given something else lets go of what it held."
        ),
        (
            "Forward: begin the gather of unit 0; for each k wait for what is coming, take it as "
            "the current one, begin k + 1 if there is one, use, and keep the x that went in. "
            "Backward the same with k - 1; fill up the gradient with zeros, reduce-scatter it, "
            "divide by n."
        ),
    ),
    equivalent_mutants={
        "zero3:index-earlier:whole = shards[k - 1].new_empty(n * len(shards[k]))": (
            "All slices have one dtype, and new_empty takes nothing else of them."
        ),
    },
    mistakes=(
        Mistake("keeps_all_units", "over-budget", "kept"),
        Mistake("gathers_all_first", "over-budget", "kept"),
        Mistake("two_ahead", "over-budget", "kept"),
        Mistake("keeps_gradients_whole", "over-budget", "kept-in-backward"),
        Mistake("one_after_the_other", "over-budget", "no-prefetch"),
        Mistake("prefetches_forward_only", "over-budget", "no-prefetch"),
        Mistake("all_reduces_gradients", "over-budget", "gradient-to-all"),
        Mistake("gathers_for_every_use_twice", "over-budget", "too-many-bytes"),
        Mistake("takes_the_sum", "wrong-result", "summed"),
        Mistake("cuts_its_own_gradient", "wrong-result", "own-gradient"),
        Mistake("in_the_order_it_came", "wrong-result", "backward-order"),
        Mistake("whole_gradients", "wrong-result", "not-slices"),
        Mistake("gives_what_came_out", "wrong-result", "only-the-last-right"),
        Mistake("leaves_the_filling", "wrong-result", "weights-length"),
        Mistake("frees_too_early", "wrong-result", "freed"),
        Mistake("never_waits", "hazard", "not-waited"),
    ),
    source=(
        "Rajbhandari, Rasley, Ruwase, He, ZeRO, 2019, sections 5.3 and 7.2.2; Zhao and others, "
        "PyTorch FSDP: Experiences on Scaling Fully Sharded Data Parallel, 2023, sections 3.2, 3.3"
    ),
)
