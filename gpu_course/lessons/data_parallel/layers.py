"""Layers as the optimizers of this lesson get them: lists of arrays, some of them all zeros."""

from __future__ import annotations

from typing import Any

import numpy as np

from gpu_course.puzzle.builders import sized
from gpu_course.puzzle.specification import Case, Values
from simt.text import count

NO_ZEROS, ZERO_WEIGHTS, ZERO_GRADIENT, BOTH_ZERO = range(4)
"""What is all zeros in the second array of two dimensions."""


def _model(name: str, matrices: int, zeros: int = NO_ZEROS, **more: Any) -> Case:
    return sized(name, matrices=matrices, zeros=zeros, biases=1, rows=3, **more)


MODELS = (
    sized("visible example", visible=True, matrices=2, zeros=NO_ZEROS, biases=1, rows=2),
    _model("both are zero", 3, BOTH_ZERO),
    _model("weights that are all zero", 3, ZERO_WEIGHTS),
    _model("a gradient that is all zero", 3, ZERO_GRADIENT),
    _model("one layer", 1),
    sized("a bias alone", matrices=0, zeros=NO_ZEROS, biases=1, rows=4),
    sized("four dimensions", matrices=1, zeros=NO_ZEROS, biases=0, rows=2, dimensions=4),
)


def random_model(rng: np.random.Generator) -> Case:
    """Returns a case of layers drawn at random."""
    matrices, zeros = int(rng.integers(2, 5)), int(rng.integers(0, 4))
    return sized(
        "layers drawn at random",
        matrices=matrices, zeros=zeros, biases=1, rows=int(rng.integers(2, 6)),
    )  # fmt: skip


def drawn_layers(rng: np.random.Generator, case: Case, lists: int) -> list[list[np.ndarray]]:
    """Returns lists of arrays: weights, gradients, and as many more as are asked for.

    Norms differ from layer to layer by factors, so that one layer's ratio fits no other.

    Args:
        rng: to draw from.
        case: with "matrices", "zeros", "biases" and "rows".
        lists: how many, 2 or more.
    """
    sizes = case.sizes
    shapes: list[tuple[int, ...]] = []
    for k in range(sizes["matrices"]):
        shapes.append((sizes["rows"] + k, 2, *[2] * (sizes.get("dimensions", 2) - 2)))
        shapes += [(2,)] * sizes["biases"]
    shapes = shapes or [(sizes["rows"],)]
    found = [
        [rng.normal(size=shape) * 4.0 ** rng.integers(-2, 2) for shape in shapes]
        for _ in range(lists)
    ]
    second = 1 + sizes["biases"]
    for kind, index in ((ZERO_WEIGHTS, 0), (ZERO_GRADIENT, 1)):
        if sizes["zeros"] in (kind, BOTH_ZERO):
            found[index][second][:] = 0.0
    return found


def where_a_norm_is_0(inputs: Values, case: Case, expected: Values, got: Values) -> str | None:
    """Knows a division by 0 where some layer is all zeros, whatever else was done."""
    weights = [np.asarray(each) for each in got["result"][0]]
    finite = all(np.isfinite(each).all() for each in weights)
    return "zero-unguarded" if case.sizes["zeros"] and not finite else None


def call_of(function: str, inputs: Values) -> str:
    """Returns a call as a verdict shows it: how many arrays each list has, and the numbers.

    >>> call_of("lars", {"weights": [0, 0], "gradients": [0, 0], "rate": 0.0728332479})
    'lars(lists of 2 arrays, rate=0.0728332)'
    """
    arrays = len(inputs["weights"])
    numbers = [f"{n}={v:.6g}" for n, v in inputs.items() if not isinstance(v, list)]
    listed = f"lists of {count(arrays, 'array')}"
    return f"{function}({', '.join([listed, *numbers])})"
