"""Puzzle `diloco`: many inner steps on each rank, one outer step together."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from gpu_course.lessons.across_oceans.pieces import ring_bytes
from gpu_course.puzzle.on_ranks import FLOAT64_BYTES, ranks_of
from gpu_course.puzzle.room import puzzle_fields
from gpu_course.puzzle.specification import Case, Judgement, PerRank, PythonPuzzle, Values
from gpu_course.ranks.traffic import booked_bytes

INNER = {"lr": 0.02, "betas": (0.8, 0.95), "eps": 1e-6, "weight_decay": 0.1}
"""Of the inner AdamW."""


def _case(
    name: str,
    ranks: int,
    h: int,
    batches: int,
    hidden: int = 3,
    rate: int = 70,
    momentum: int = 90,
    uneven: bool = False,
    visible: bool = False,
) -> Case:
    """Returns a case; rate and momentum are those of the outer optimizer, in hundredths."""
    sizes = {
        "ranks": ranks, "h": h, "batches": batches, "hidden": hidden, "rate": rate,
        "momentum": momentum, "uneven": int(uneven),
    }  # fmt: skip
    return Case(name, sizes, visible)


CASES = (
    _case("visible example", 2, 4, 12, visible=True),
    _case("3 ranks, rows that differ in number", 3, 3, 9, uneven=True),
    _case("4 ranks, the last round is shorter", 4, 4, 10),
    _case("2 ranks, one step in a round", 2, 1, 4),
    _case("2 ranks, fewer batches than a round has", 2, 8, 5),
    _case("3 ranks, no momentum and a rate of 1", 3, 2, 6, rate=100, momentum=0),
    _case("1 rank", 1, 3, 9),
    _case("2 ranks, no batch", 2, 3, 0),
    _case("3 ranks, 52 kB of parameters on each", 3, 3, 6, hidden=79),
)


def _random_case(rng: np.random.Generator) -> Case:
    ranks, h, hidden = int(rng.choice([2, 3])), int(rng.integers(2, 6)), int(rng.integers(2, 9))
    rate, momentum = int(rng.integers(30, 95)), int(rng.integers(50, 95))
    return _case("sizes drawn at random", ranks, h, 2 * h + 1, hidden, rate, momentum)


def widths(case: Case) -> list[int]:
    """Returns the widths of a case's model."""
    hidden = case.sizes["hidden"]
    return [2, hidden, hidden, 2]


def rounds(case: Case) -> int:
    """Returns how often a case's ranks meet."""
    return -(-case.sizes["batches"] // case.sizes["h"])


def parameter_bytes(case: Case) -> int:
    """Returns the bytes of a case's parameters."""
    into = widths(case)
    return FLOAT64_BYTES * sum((a + 1) * b for a, b in pairwise(into))


def _inputs(rng: np.random.Generator, case: Case) -> Values:
    ranks, s = ranks_of(case), case.sizes
    many = parameter_bytes(case) // FLOAT64_BYTES
    rows = [3 + 2 * s["uneven"] * rank for rank in range(ranks)]
    # Each rank has a target of its own, so that copies drift apart between two rounds.
    x = [rng.normal(size=(s["batches"], each, 2)) for each in rows]
    y = [rng.normal(size=each.shape) + rank for rank, each in enumerate(x)]
    return {
        "widths": widths(case),
        "weights": rng.normal(size=many) / s["hidden"] ** 0.5,
        "x": PerRank(tuple(x)),
        "y": PerRank(tuple(y)),
        "h": s["h"],
        "inner": INNER | {"betas": list(INNER["betas"])},  # type: ignore[call-overload]
        "rate": s["rate"] / 100,
        "momentum": s["momentum"] / 100,
    }


def _reference(inputs: Values, case: Case) -> Values:
    """All ranks in one process, one after the other in each round."""
    import torch

    from gpu_course.lessons.across_oceans.islands import flat, island, loss_of

    ranks = ranks_of(case)
    models = [island(inputs["widths"], inputs["weights"]) for _ in range(ranks)]
    inner = [_adamw(model, inputs["inner"]) for model in models]
    shared, velocity = flat(models[0]), torch.zeros(len(inputs["weights"]), dtype=torch.float64)
    for first in range(0, case.sizes["batches"], inputs["h"]):
        moved = torch.zeros_like(shared)
        for rank, (model, optimizer) in enumerate(zip(models, inner, strict=True)):
            torch.nn.utils.vector_to_parameters(shared.clone(), model.parameters())
            for at in range(first, min(first + inputs["h"], case.sizes["batches"])):
                batch = tuple(torch.from_numpy(inputs[name].parts[rank][at]) for name in "xy")
                optimizer.zero_grad()
                loss_of(model, batch).backward()  # type: ignore[arg-type, no-untyped-call]
                optimizer.step()
            moved += shared - flat(model)
        gradient = moved / ranks
        velocity = inputs["momentum"] * velocity + gradient
        shared = shared - inputs["rate"] * (gradient + inputs["momentum"] * velocity)
    return {"weights": (shared.numpy(),) * ranks}


def _adamw(model: Any, inner: dict[str, Any]) -> Any:
    import torch

    return torch.optim.AdamW(model.parameters(), **(inner | {"betas": tuple(inner["betas"])}))


def _follow(inputs: Values, case: Case, got: Values) -> Values:
    own = [[call for call in got["wire"] if call.rank == rank] for rank in range(ranks_of(case))]
    return got | {
        "all_reduces": tuple(sum(c.kind == "all_reduce" for c in calls) for calls in own),
        "bytes_as_in_a_ring": tuple(round(booked_bytes(calls)) for calls in own),
    }


def _judge(inputs: Values, case: Case, got: Values) -> Judgement | None:
    ranks = ranks_of(case)
    most = rounds(case) * ring_bytes(ranks, parameter_bytes(case))
    for rank in range(ranks):
        own = [call for call in got["wire"] if call.rank == rank]
        sent = booked_bytes(own)
        if sent > most:
            largest = max(own, key=lambda call: (call.booked_bytes, call.number))
            fact = f"rank {rank} sends {round(sent):,} bytes; {round(most):,} will do"
            return Judgement("too-many-bytes", fact, "over-budget", largest.line)
        if len(own) > rounds(case):
            fact = f"rank {rank} makes {len(own)} calls in {rounds(case)} rounds"
            return Judgement("too-many-messages", fact, "over-budget", own[0].line)
    return None


def _diagnose(inputs: Values, case: Case, expected: Values, got: Values) -> str | None:
    if "failed" in got:
        made = [sum(call.rank == rank for call in got["wire"]) for rank in range(ranks_of(case))]
        alone = got["failed"] == "standstill" and min(made) == 0 < max(made)
        return "left-alone" if alone else None
    found = got["weights"]
    if any(not np.allclose(each, found[0], rtol=1e-9, atol=1e-12) for each in found):
        return "copies-differ"
    return None


def _call(inputs: Values) -> str:
    batches = len(inputs["x"].parts[0])
    words = ", ".join(f"{name}={inputs[name]}" for name in ("h", "rate", "momentum"))
    return f"diloco(..., {words}), {batches} batches"


DILOCO = PythonPuzzle(
    **puzzle_fields(__file__),
    harness="gpu_course.lessons.across_oceans.harness.islands",
    ranks=ranks_of,
    torch=True,
    cases=CASES,
    random_case=_random_case,
    inputs=_inputs,
    reference=_reference,
    tolerance=(1e-9, 1e-11),
    follow=_follow,
    judge=_judge,
    diagnose=_diagnose,
    call=_call,
)
