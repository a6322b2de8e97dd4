"""What the puzzles on replicas share: cases, inputs, the mean gradient, and what the wire shows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from gpu_course.puzzle.on_ranks import FLOAT64_BYTES, ranks_of
from gpu_course.puzzle.specification import Case, Judgement, PerRank, Values
from gpu_course.ranks.calls import Call
from gpu_course.ranks.traffic import booked_bytes

if TYPE_CHECKING:
    from gpu_course.lessons.data_parallel.replicas import Own

TOLERANCE = (1e-9, 1e-12)
"""Float64, of sums that may be formed in any order."""
BEGINS, ENDS, PREPARED, RATE = 1000, 1001, 1002, 0.25
"""The harness's marks of a backward pass, and its rate; a test holds them against it."""

NONE, MIDDLE, LAST = range(3)
"""The extras of a model, as `replicas` numbers them."""
EVERYWHERE, NOWHERE, NOT_ON_RANK_1 = 0, 1, 2
"""Which ranks use the layer beside the others."""


def case(
    name: str,
    ranks: int,
    *,
    hidden: int = 3,
    layers: int = 1,
    parts: int = 1,
    extras: int = NONE,
    beside: int = EVERYWHERE,
    uneven: bool = False,
    bucket_bytes: int = 0,
    stops: bool = False,
    visible: bool = False,
) -> Case:
    """Returns a case of two steps.

    Args:
        name: as messages call it.
        ranks: how many.
        hidden, layers: width and number of what lies between input and output.
        parts: microbatches of a step.
        extras: as the model takes them.
        beside: who uses the latter.
        uneven: whether the ranks have different numbers of rows.
        bucket_bytes, stops: as the harness takes them.
        visible: as in Case.
    """
    sizes = {
        "ranks": ranks, "hidden": hidden, "layers": layers, "parts": parts, "extras": extras,
        "beside": beside, "uneven": int(uneven), "bucket_bytes": bucket_bytes, "stops": int(stops),
    }  # fmt: skip
    return Case(name, sizes, visible)


def widths(case: Case) -> list[int]:
    """Returns the widths of a case's model."""
    return [2, *[case.sizes["hidden"]] * case.sizes["layers"], 2]


def parameters(case: Case) -> tuple[Own, ...]:
    """Returns the parameters of a case's model, in order."""
    from gpu_course.lessons.data_parallel.replicas import parameters_of

    return parameters_of(widths(case), case.sizes["extras"])


def _uses(case: Case) -> list[bool]:
    """Returns which ranks use the layer beside the others."""
    away = {EVERYWHERE: (), NOWHERE: range(ranks_of(case)), NOT_ON_RANK_1: (1,)}
    return [rank not in away[case.sizes["beside"]] for rank in range(ranks_of(case))]


def inputs(rng: np.random.Generator, case: Case, *, same_weights: bool) -> Values:
    """Returns what the harness is given.

    Args:
        rng: to draw from.
        case: whose.
        same_weights: whether all ranks begin with the same ones.
    """
    ranks, sizes = ranks_of(case), case.sizes
    many = sum(own.numbers for own in parameters(case))
    weights = [rng.normal(size=many) / 2 for _ in range(ranks)]
    rows = [2 + sizes["uneven"] * (rank % 2) for rank in range(ranks)]
    shape = (2, sizes["parts"])
    given: Values = {
        "widths": widths(case),
        "extras": sizes["extras"],
        "weights": PerRank(tuple(weights[0] if same_weights else each for each in weights)),
        "x": PerRank(tuple(rng.normal(size=(*shape, each, 2)) for each in rows)),
        "y": PerRank(tuple(rng.normal(size=(*shape, each, 2)) for each in rows)),
        "beside": PerRank(tuple(_uses(case))),
    }
    if sizes["bucket_bytes"]:
        given["bucket_bytes"] = sizes["bucket_bytes"]
    if sizes["parts"] > 1:
        given["stops"] = bool(sizes["stops"])
    return given


def trained(inputs: Values, case: Case, *, none_counts_as_zero: bool) -> Values:
    """Returns what every rank has after each step, if one process takes all steps.

    Args:
        inputs: of the case.
        case: whose.
        none_counts_as_zero: whether a parameter that no rank uses ends with a gradient of zeros.
    """
    from gpu_course.lessons.data_parallel import replicas

    ranks = ranks_of(case)
    model = replicas.replica(inputs["widths"], inputs["extras"], inputs["weights"].parts[0])
    found = []
    for step in range(2):
        own = []
        for rank in range(ranks):
            model.zero_grad(set_to_none=True)
            for x, y in zip(*(_rows(inputs, name, rank, step) for name in "xy"), strict=True):
                loss = replicas.loss_of(model, x, y, inputs["beside"].parts[rank])
                (loss / case.sizes["parts"]).backward()  # type: ignore[no-untyped-call]
            own.append(replicas.flat_gradients(model))
        mean = np.mean([gradients for gradients, _ in own], axis=0)
        missing = np.min([without for _, without in own], axis=0)
        if none_counts_as_zero:
            missing = missing * [not own.asks for own in parameters(case)]
        found.append((mean, missing))
        _set_gradients(model, mean, missing)
        replicas.descend(model, RATE)
    each = {
        "weights": replicas.flat_weights(model),
        "gradients": np.stack([mean for mean, _ in found]),
        "without": np.stack([missing for _, missing in found]),
    }
    return {name: (value,) * ranks for name, value in each.items()}


def _rows(inputs: Values, name: str, rank: int, step: int) -> Any:
    import torch

    return torch.from_numpy(inputs[name].parts[rank][step])


def _set_gradients(model: Any, flat: np.ndarray, missing: np.ndarray) -> None:
    import torch

    at = 0
    for parameter, none in zip(model.parameters(), missing, strict=True):
        own = torch.from_numpy(flat[at : at + parameter.numel()].copy())
        parameter.grad = None if none else own.view_as(parameter)
        at += parameter.numel()


def gradient_bytes(case: Case) -> int:
    """Returns the bytes of the gradients that ranks exchange in a step.

    In a puzzle where None stays None, a parameter that no rank uses has none to exchange.
    """
    idle = {"scale", "unused", "last"} | ({"beside"} if case.sizes["beside"] == NOWHERE else set())
    return FLOAT64_BYTES * sum(own.numbers for own in parameters(case) if own.layer not in idle)


def all_weight_bytes(case: Case) -> int:
    """Returns the bytes of all parameters, frozen ones too."""
    return FLOAT64_BYTES * sum(own.numbers for own in parameters(case))


def ring_bytes(ranks: int, size_bytes: int) -> Fraction:
    """Returns what each rank sends for an all-reduce."""
    return Fraction(2 * (ranks - 1) * size_bytes, ranks)


def by_own_lines(got: Values) -> Judgement | None:
    """Returns what is wrong where a gradient's collective is called by no line of the answer.

    PyTorch's own DistributedDataParallel calls it from C++, without a line on the stack.
    """
    for call in got["wire"]:
        if call.kind == "all_reduce" and not call.line:
            fact = f"rank {call.rank}: all_reduce {call.place} is called by no line of yours"
            return Judgement("library-ddp", fact, "refused")
    return None


def counted(got: Values) -> Values:
    """Returns what came back, and what it cost each rank."""
    own = [own_calls(got["wire"], rank) for rank in range(len(got["told"]))]
    return got | {
        "all_reduces": tuple(sum(c.kind == "all_reduce" for c in calls) for calls in own),
        "bytes_as_in_a_ring": tuple(round(booked_bytes(calls)) for calls in own),
    }


def own_calls(wire: Sequence[Call], rank: int) -> list[Call]:
    """Returns the calls of one rank, in order."""
    return [call for call in wire if call.rank == rank]


def within_booked(
    got: Values, case: Case, allowed: Fraction | int, key: str = "too-many-bytes"
) -> Judgement | None:
    """Returns what is wrong where a rank's calls come to more bytes than allowed.

    Args:
        got: with "wire".
        case: whose.
        allowed: bytes that a rank may send, as a ring and a chain would send them.
        key: of the finding.
    """
    ranks = ranks_of(case)
    if any(call.kind in ("send", "reduce_scatter") for call in got["wire"]):
        # Pieces by hand, and those of a reduce-scatter, have whole numbers: round them up, twice
        # round the ring in each of two steps.
        filling = sum(-own.numbers % ranks for own in parameters(case))
        allowed += 2 * ring_bytes(ranks, FLOAT64_BYTES * filling)
    for rank in range(ranks):
        own = own_calls(got["wire"], rank)
        sent = booked_bytes(own)
        if sent > allowed:
            largest = max(own, key=lambda call: (call.booked_bytes, call.number))
            fact = f"rank {rank} sends {round(sent):,} bytes; {round(allowed):,} will do"
            return Judgement(key, fact, "over-budget", largest.line)
    return None


def backward_passes(told: Sequence[tuple[str, int]]) -> Iterator[list[tuple[str, int]]]:
    """Yields what a rank told during each backward pass."""
    inside: list[tuple[str, int]] | None = None
    for event in told:
        if event == ("mark", BEGINS):
            inside = []
        elif event == ("mark", ENDS) and inside is not None:
            yield inside
            inside = None
        elif inside is not None:
            inside.append(event)


# What wrong gradients look like


def alike(one: Any, other: Any) -> bool:
    """Whether two arrays are the same within what float64 rounds."""
    return np.shape(one) == np.shape(other) and np.allclose(one, other, rtol=1e-9, atol=1e-12)
