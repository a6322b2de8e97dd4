"""The tiny GPT of zero2 and zero3: its shapes, weights and batches, and the gradient of each."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from gpu_course.puzzle.on_ranks import ranks_of
from gpu_course.puzzle.specification import Case, PerRank, Values
from simt.text import count

VOCABULARY, SEQUENCE, HEADS = 12, 6, 2


def case(ranks: int, hidden: int, layers: int, name: str = "", visible: bool = False) -> Case:
    """Returns a case of a GPT of that width and depth."""
    words = name or f"{count(ranks, 'rank')}, {count(layers, 'layer')} of width {hidden}"
    return Case(words, {"ranks": ranks, "hidden": hidden, "layers": layers}, visible)


CASES = (
    case(3, 4, 2, "visible example", visible=True),
    case(3, 24, 3),
    case(2, 4, 3),
    case(1, 4, 1),
    case(4, 6, 3),
)


def random_case(rng: np.random.Generator) -> Case:
    """Returns a case of two or four ranks and three or four layers."""
    ranks, hidden = int(rng.choice([2, 4])), int(rng.choice([4, 6]))
    return case(ranks, hidden, int(rng.integers(3, 5)), "a model drawn at random")


def shape_of(case: Case) -> dict[str, int]:
    """Returns the arguments of `training.model.Shape`, but for dropout."""
    return {
        "hidden": case.sizes["hidden"], "heads": HEADS, "layers": case.sizes["layers"],
        "sequence": SEQUENCE, "vocabulary": VOCABULARY,
    }  # fmt: skip


def unit_sizes(case: Case) -> tuple[tuple[int, ...], ...]:
    """Returns for each unit the numbers of each of its parameters, in the order of the model.

    >>> from gpu_course.puzzle.specification import Case
    >>> units = unit_sizes(Case("", {"ranks": 1, "hidden": 4, "layers": 2}))
    >>> [sum(sizes) for sizes in units]
    [72, 244, 244, 56]
    """
    h = case.sizes["hidden"]
    layer = (h, h, 3 * h * h, 3 * h, h * h, h, h, h, 4 * h * h, 4 * h, 4 * h * h, h)
    entry, last = (VOCABULARY * h, SEQUENCE * h), (h, h, VOCABULARY * h)
    return (entry, *(layer for _ in range(case.sizes["layers"])), last)


def inputs(rng: np.random.Generator, case: Case) -> Values:
    """Returns weights, the same for all ranks, and for each rank tokens of its own."""
    sizes = unit_sizes(case)
    total = sum(map(sum, sizes))
    tokens = tuple(rng.integers(0, VOCABULARY, (2, SEQUENCE)) for _ in range(ranks_of(case)))
    return {
        "weights": rng.standard_normal(total) * 0.3,
        "tokens": PerRank(tokens),
        "shape": shape_of(case),
    }


def gradients(weights: np.ndarray, tokens: Sequence[np.ndarray], case: Case) -> np.ndarray:
    """Returns (ranks, parameters): the gradient of each rank's batch.

    Args:
        weights: (parameters,).
        tokens: of each rank.
        case: says the shape of the model.
    """
    key = (weights.tobytes(), tuple(each.tobytes() for each in tokens))
    return _gradients(key, tuple(sorted(shape_of(case).items())))


@lru_cache(maxsize=64)
def _gradients(key: tuple[bytes, tuple[bytes, ...]], shape: Any) -> np.ndarray:
    import torch
    from torch import nn

    from gpu_course.measure.model import GPT, Shape, next_token_loss

    model = GPT(Shape(**dict(shape), dropout=0.0)).double()
    weights = np.frombuffer(key[0]).copy()
    nn.utils.vector_to_parameters(torch.from_numpy(weights), model.parameters())
    found = []
    for each in key[1]:
        batch = torch.from_numpy(np.frombuffer(each, np.int64).copy().reshape(-1, SEQUENCE))
        loss = next_token_loss(model(batch), batch)
        parts = torch.autograd.grad(loss, list(model.parameters()))
        found.append(torch.cat([part.reshape(-1) for part in parts]).numpy())
    return np.stack(found)
