"""What a step of the GPT must give each rank: its loss, its gradients, and the bytes it takes."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from gpu_course.measure.every_axis import parts
from gpu_course.measure.every_axis.configuration import Configuration, Shape

FLOAT64_BYTES = 8


def summed_over(configuration: Configuration) -> Callable[[str], list[str]]:
    """Returns the rule that gives every gradient its axes.

    A gradient is summed over ranks that have the same weight and have seen different tokens, or
    different parts of a sum. Experts have seen the tokens of all of ep already. With sp, whatever
    is not cut over tp has seen its own tokens only. The router's gradient comes through what the
    experts made, of which each rank of tp has a part. The table of tokens is on two stages.
    """

    def axes(name: str) -> list[str]:
        found = ["dp", "cp"]
        if "ep" not in parts.CUT.get(name, {}):
            found.append("ep")
        if name == "router" or (configuration.sp and name not in parts.CUT):
            found.append("tp")
        return [*found, "pp"] if name == "tokens" else found

    return axes


def held_bytes(configuration: Configuration, shape: Shape, stage: int) -> int:
    """Returns the bytes of the weights that a rank of a stage holds."""
    return sum(
        there * FLOAT64_BYTES * own for _, own, there, _ in _weights(configuration, shape, stage)
    )


def _weights(
    configuration: Configuration, shape: Shape, stage: int
) -> list[tuple[str, int, int, int]]:
    """Returns for each weight its name, own numbers, how many there are, and how often used."""
    first, last = stage == 0, stage == configuration.pp - 1
    layers = shape.layers // configuration.pp
    there = {"tokens": (int(first or last), first + last), "places": (int(first), int(first))}
    there["norm"] = (int(last), int(last))
    found = []
    for name, sides in parts.shapes(shape).items():
        over = [configuration.sizes[axis] for axis in parts.CUT.get(name, {})]
        own = math.prod(sides) // math.prod(over)
        if configuration.zero3:
            own = -(-own // configuration.dp)
        found.append((name, own, *there.get(name, (layers, layers))))
    return found


def sent_bytes(configuration: Configuration, shape: Shape, stage: int) -> dict[str, float]:
    """Returns what a rank of a stage sends in a step, for each reason.

    Args:
        configuration: how the model is cut.
        shape: of the model and its batch.
        stage: of the rank.

    Returns:
        Bytes of "gradients", "zero3", "tp", "cp", "ep" and "pp", a collective at a ring's volume.

    >>> whole = sent_bytes(Configuration(dp=2), Shape(), 0)
    >>> whole["gradients"] == held_bytes(Configuration(), Shape(), 0), sum(whole.values())
    (True, 46720.0)
    """
    c = configuration
    gradients = zero3 = 0.0
    for name, own, there, uses in _weights(c, shape, stage):
        axes = set(summed_over(c)(name)) - ({"dp"} if c.zero3 else set())
        sizes = [min(c.pp, 2) if axis == "pp" else c.sizes[axis] for axis in axes]
        n = math.prod(sizes)
        gradients += there * 2 * FLOAT64_BYTES * own * (n - 1) / n
        if c.zero3:
            zero3 += uses * shape.microbatches * 3 * (c.dp - 1) * FLOAT64_BYTES * own
    layers = shape.layers // c.pp
    tokens = shape.batch // (c.dp * c.ep) * shape.sequence // c.cp
    activations = FLOAT64_BYTES * tokens * shape.hidden
    neighbours = (stage > 0) + (stage < c.pp - 1)
    return {
        "gradients": gradients,
        "zero3": zero3,
        "tp": layers * 8 * activations * (c.tp - 1) / c.tp,
        "cp": layers * 4 * activations / c.tp * (c.cp - 1),
        "ep": layers * 4 * shape.experts * activations * (c.ep - 1) / c.ep,
        "pp": neighbours * activations / (c.tp if c.sp else 1),
    }


def said(configuration: Configuration, shape: Shape, place: Mapping[str, int]) -> dict[str, float]:
    """Returns what `bytes_per_rank` is to return for a place."""
    held = float(held_bytes(configuration, shape, place["pp"]))
    wire = sum(sent_bytes(configuration, shape, place["pp"]).values())
    return {"weights": held, "gradients": held, "states": 2 * held, "wire": wire}


def own_gradients(
    whole: Mapping[str, np.ndarray],
    configuration: Configuration,
    shape: Shape,
    place: Mapping[str, int],
) -> dict[str, Any]:
    """Returns the part of all gradients that a place is to have, by the names of the weights."""
    own = parts.own_weights(whole, configuration, shape, place)
    if configuration.zero3:
        own = {key: parts.shard(p, configuration.dp, place["dp"]) for key, p in own.items()}
    return {parts.called(*key): part for key, part in own.items()}
