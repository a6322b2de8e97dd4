"""Puzzle `zero3`: gather a unit, use it, free it, while the next one is on its way."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate

import numpy as np

from gpu_course.lessons.zero_and_fsdp import small_gpt
from gpu_course.lessons.zero_and_fsdp.pieces import (
    padded,
    share,
    within_booked,
)
from gpu_course.puzzle.on_ranks import FLOAT64_BYTES, ranks_of
from gpu_course.puzzle.room import puzzle_fields
from gpu_course.puzzle.specification import (
    Case,
    Judgement,
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


def _judge(inputs: Values, case: Case, got: Values) -> Judgement | None:
    ranks, lengths, wire = ranks_of(case), _lengths(case), got["wire"]
    if ranks == 1:
        return None
    for rank, uses in enumerate(got["uses"]):
        for direction, k, _, held in uses:
            most = inputs["room"][k][direction == "backward"]
            if held > most:
                key = "kept" if direction == "forward" else "kept-in-backward"
                fact = f"rank {rank} holds {held:,} bytes as unit {k} is used; {most:,} will do"
                return Judgement(key, fact, "over-budget")
    sizes = [FLOAT64_BYTES * (ranks - 1) * share(length, ranks) for length in lengths]
    most, least = 3 * sum(sizes), 3 * sum(sizes) - sizes[-1]
    # Gradients travel last; an all-reduce that comes before puts the weights of a unit together.
    at_last = [call.kind for call in wire if call.rank == 0][-1:]
    key = "gradient-to-all" if at_last == ["all_reduce"] else "too-many-bytes"
    finding = within_booked(wire, [most] * ranks, key)
    for rank, sent in enumerate(got["booked_bytes"]):
        # Whoever sends less has kept units where tensors are not counted.
        if finding is None and sent < least:
            fact = f"the calls of rank {rank} carry {sent:,} bytes; without keeping it is {least:,}"
            return Judgement("kept-in-backward", fact, "over-budget")
    return finding or _not_prefetched(case, got)


def _not_prefetched(case: Case, got: Values) -> Judgement | None:
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
                return Judgement("no-prefetch", fact, "over-budget", _line(own, gathers))
    return None


def _to_come(gathers: Sequence[int], begun: int) -> int:
    return sum(at >= begun for at in gathers)


def _line(own: Sequence[Call], gathers: Sequence[int]) -> int:
    return own[gathers[0]].line if gathers else 0


def _diagnose(inputs: Values, case: Case, expected: Values, got: Values) -> str | None:
    if "failed" in got or ranks_of(case) == 1:
        return None
    due = [share(length, ranks_of(case)) for length in _lengths(case)]
    sizes = [[np.size(part) for part in parts] for parts in got["result"]]
    return "not-slices" if any(each != due for each in sizes) else None


ZERO3 = PythonPuzzle(
    **puzzle_fields(__file__),
    harness="gpu_course.lessons.zero_and_fsdp.harness.zero3",
    ranks=ranks_of,
    torch=True,
    tolerance=(1e-9, 1e-12),
    cases=small_gpt.CASES,
    random_case=small_gpt.random_case,
    inputs=_inputs,
    reference=_reference,
    diagnose=_diagnose,
    judge=_judge,
    call=lambda inputs: "zero3(units, shards, x)",
    self_check="the bytes that are alive at each use, and what was on its way by then",
)
