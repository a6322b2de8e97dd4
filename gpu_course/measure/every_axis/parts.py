"""Which part of each weight a rank has: its layers, its heads, its experts."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from gpu_course.measure.every_axis.configuration import Configuration, Shape

IN_A_LAYER = ("norm_attention", "qkv", "out", "norm_mlp", "router", "up", "down")
"""The weights of a layer, in the order of their use."""
AROUND = ("tokens", "places", "norm")
"""The weights before and behind the layers; `tokens` is both."""
NAMES = (*AROUND, *IN_A_LAYER)

CUT: Mapping[str, Mapping[str, int]] = {
    "qkv": {"tp": 1},
    "out": {"tp": 0},
    "up": {"ep": 0, "tp": 1},
    "down": {"ep": 0, "tp": 1},
}
"""For each weight that is cut, by which axis of ranks along which of its own."""


def shapes(shape: Shape) -> dict[str, tuple[int, ...]]:
    """Returns the shape of each weight, uncut; those of a layer once.

    >>> shapes(Shape())["up"]  # experts, inside, hidden
    (4, 12, 16)
    """
    h, head = shape.hidden, shape.hidden // shape.heads
    return {
        "tokens": (shape.vocabulary, h),
        "places": (shape.sequence, h),
        "norm": (h,),
        "norm_attention": (h,),
        "qkv": (3, shape.heads, head, h),
        "out": (shape.heads, head, h),
        "norm_mlp": (h,),
        "router": (shape.experts, h),
        "up": (shape.experts, shape.inside, h),
        "down": (shape.experts, shape.inside, h),
    }


def drawn(rng: np.random.Generator, shape: Shape) -> dict[str, np.ndarray]:
    """Returns all weights of a model in float64: those of a layer stacked, (layers, ...).

    Args:
        rng: where the randomness comes from.
        shape: of the model.
    """
    found = {}
    for name, sides in shapes(shape).items():
        all_sides = (shape.layers, *sides) if name in IN_A_LAYER else sides
        numbers = rng.normal(size=all_sides)
        found[name] = 1 + numbers / 8 if name.startswith("norm") else numbers / 2
    return found


def layers_of(configuration: Configuration, shape: Shape, stage: int) -> range:
    """Returns which layers a stage has."""
    each = shape.layers // configuration.pp
    return range(stage * each, (stage + 1) * each)


def is_held(name: str, configuration: Configuration, stage: int) -> bool:
    """Whether a stage has a weight: the table of tokens is on the first stage and on the last."""
    first, last = stage == 0, stage == configuration.pp - 1
    return {"tokens": first or last, "places": first, "norm": last}.get(name, True)


def own_part(
    name: str, whole: np.ndarray, configuration: Configuration, place: Mapping[str, int]
) -> np.ndarray:
    """Returns the part of one weight that belongs to a place in the mesh, before ZeRO cuts it.

    Args:
        name: of the weight.
        whole: one layer's, uncut.
        configuration: says how many parts there are.
        place: on each axis.
    """
    for axis, along in CUT.get(name, {}).items():
        parts = np.split(whole, configuration.sizes[axis], along)
        whole = parts[place[axis]]
    return np.ascontiguousarray(whole)


def own_weights(
    weights: Mapping[str, np.ndarray],
    configuration: Configuration,
    shape: Shape,
    place: Mapping[str, int],
) -> dict[tuple[int, str], np.ndarray]:
    """Returns {(layer, name): this place's part}; the layer is -1 for what is around the layers."""
    stage, found = place["pp"], {}
    for name in AROUND:
        if is_held(name, configuration, stage):
            found[-1, name] = own_part(name, weights[name], configuration, place)
    for layer in layers_of(configuration, shape, stage):
        for name in IN_A_LAYER:
            found[layer, name] = own_part(name, weights[name][layer], configuration, place)
    return found


def shard(part: np.ndarray, ranks: int, rank: int) -> np.ndarray:
    """Returns one of equally long slices of a weight, zeros at its end where they do not divide it.

    >>> shard(np.arange(5.0), 2, 1)
    array([3., 4., 0.])
    """
    size = -(-part.size // ranks)
    return np.pad(part.ravel(), (0, ranks * size - part.size))[rank * size : (rank + 1) * size]


def called(layer: int, name: str) -> str:
    """Returns what messages call a weight.

    >>> called(2, "qkv"), called(-1, "norm")
    ('layer 2 qkv', 'norm')
    """
    return f"layer {layer} {name}" if layer >= 0 else name
