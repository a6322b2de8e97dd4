"""Harness of `selective_plan`: runs real layers with the products saved that the answer picks."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from types import ModuleType
from typing import Any

from gpu_course.catalog.harness import Unusable
from gpu_course.training.activation_formulas import LayerShape
from gpu_course.training.selective import region, run_selective


def run(
    answer: ModuleType,
    products: Sequence[Mapping[str, Any]],
    budget: int,
    shape: Sequence[int],
    layers: int,
    seed: int,
) -> dict[str, Any]:
    """Returns the answer's choice, and what a run with it took.

    Args:
        answer: the learner's module.
        products, budget: what its function gets.
        shape: sequence, batch, hidden, heads.
        layers: of the region.
        seed: of parameters, data and dropout.
    """
    chosen = answer.selective_plan(copy.deepcopy(list(products)), budget)
    if not isinstance(chosen, list | tuple | set):
        raise Unusable(f"selective_plan returned {type(chosen).__name__}, not a list of numbers")
    for number in chosen:
        if isinstance(number, bool) or not isinstance(number, int):
            raise Unusable(f"selective_plan returned {number!r} among the numbers of products")
        if not 0 <= number < len(products):
            raise Unusable(f"product {number} does not exist: there are {len(products)}")
    if len(set(chosen)) < len(chosen):
        raise Unusable("selective_plan names a product twice", "twice")
    module, x = region(LayerShape(*shape), layers, seed)
    found = run_selective(module, x, set(chosen), seed)
    nothing = run_selective(module, x, (), seed)
    return {
        "chosen": sorted(chosen),
        "loss": found.loss,
        "gradients": found.gradients.numpy(),
        "saved_bytes": found.kept_bytes - nothing.kept_bytes,
        "flops": found.flops,
    }
