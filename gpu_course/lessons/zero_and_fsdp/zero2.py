"""Puzzle `zero2`: each gradient goes to its owner as soon as it is there, and is let go of."""

from __future__ import annotations

import numpy as np

from gpu_course.lessons.zero_and_fsdp import small_gpt
from gpu_course.lessons.zero_and_fsdp.pieces import (
    BETA_1,
    BETA_2,
    EPSILON,
    RATE,
    adam,
    booked,
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

STEPS = 2


def owners_of(sizes: list[int], ranks: int) -> list[int]:
    """Returns who owns each parameter: one after the other goes to whoever has least so far.

    Source: FairScale, OSS.partition_parameters.

    >>> owners_of([5, 2, 2, 4], 2)
    [0, 1, 1, 1]
    """
    held = [0] * ranks
    found = []
    for size in sizes:
        rank = held.index(min(held))
        held[rank] += size
        found.append(rank)
    return found


def _sizes(case: Case) -> list[int]:
    return [size for unit in small_gpt.unit_sizes(case) for size in unit]


def _room(case: Case) -> int:
    """Returns the bytes of gradients a rank may hold beside its own: the two largest."""
    return FLOAT64_BYTES * sum(sorted(_sizes(case))[-2:])


def _inputs(rng: np.random.Generator, case: Case) -> Values:
    ranks = ranks_of(case)
    return small_gpt.inputs(rng, case) | {
        "owners": owners_of(_sizes(case), ranks),
        "rank": PerRank(tuple(range(ranks))),
        "adam": {"rate": RATE, "beta_1": BETA_1, "beta_2": BETA_2, "epsilon": EPSILON},
    }


def _trained(inputs: Values, case: Case, factor: float = 1.0, *, left: bool = False) -> np.ndarray:
    """Returns the parameters after the steps of one process.

    Args:
        inputs, case: of the puzzle.
        factor: what the mean gradient is taken times.
        left: True where the gradient of the step before is still there and added to.
    """
    weights = inputs["weights"]
    m, v, before = np.zeros_like(weights), np.zeros_like(weights), np.zeros_like(weights)
    for step in range(1, STEPS + 1):
        mean = small_gpt.gradients(weights, inputs["tokens"].parts, case).mean(0) * factor
        if left:
            before = mean = mean + before
        weights, m, v = adam(weights, mean, m, v, step)
    return weights


def _reference(inputs: Values, case: Case) -> Values:
    return {"result": (_trained(inputs, case),) * ranks_of(case)}


def _judge(inputs: Values, case: Case, got: Values) -> Judgement | None:
    ranks, sizes, wire = ranks_of(case), _sizes(case), got["wire"]
    if any(got["gradients_left"]):
        rank = next(r for r, left in enumerate(got["gradients_left"]) if left)
        fact = f"on rank {rank} {got['gradients_left'][rank]} gradients are left after the step"
        return Judgement("gradients-left", fact, "over-budget")
    most = STEPS * 2 * (ranks - 1) * FLOAT64_BYTES * sum(sizes)
    sent = [booked(wire, rank) for rank in range(ranks)]
    if sum(sent) > most:
        rank = max(range(ranks), key=lambda r: sent[r])
        call = max((c for c in wire if c.rank == rank), key=lambda c: (c.booked_bytes, -c.number))
        # Gradients travel first; an all-reduce that comes later is one of the new parameters.
        first = next((c.kind for c in wire if c.rank == 0), "")
        key = "gradient-to-all" if first == "all_reduce" else "too-many-bytes"
        fact = f"all calls together carry {int(sum(sent)):,} bytes; {most:,} will do"
        return Judgement(key, fact, "over-budget", call.line)
    room = _room(case)
    for rank, held in enumerate(got["held_bytes"]):
        if ranks > 1 and held > room:
            fact = f"rank {rank} holds {held:,} bytes of others' gradients; {room:,} will do"
            return Judgement("held", fact, "over-budget")
    return None


ZERO2 = PythonPuzzle(
    **puzzle_fields(__file__),
    harness="gpu_course.lessons.zero_and_fsdp.harness.zero2",
    ranks=ranks_of,
    torch=True,
    tolerance=(1e-8, 1e-10),
    cases=small_gpt.CASES,
    random_case=small_gpt.random_case,
    inputs=_inputs,
    reference=_reference,
    judge=_judge,
    call=lambda inputs: "zero2(parameters, owners, backward, update)",
    self_check="the bytes of gradients that are held",
)
