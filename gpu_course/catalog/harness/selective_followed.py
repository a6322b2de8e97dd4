"""Harness of `selective_plan`: runs real layers with the products saved that the answer picks."""

from __future__ import annotations

import copy
import operator
from collections.abc import Mapping, Sequence
from types import ModuleType
from typing import Any

import numpy as np

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
    if isinstance(chosen, np.ndarray):
        chosen = chosen.tolist()
    if not isinstance(chosen, list | tuple | set | frozenset | range):
        raise Unusable(f"selective_plan returned {type(chosen).__name__}, not a list of numbers")
    chosen = [_number(each, len(products)) for each in chosen]
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


def _number(each: Any, products: int) -> int:
    """Returns a number of a product as a plain int; NumPy's whole numbers are whole numbers."""
    if isinstance(each, bool | np.bool_) or not hasattr(each, "__index__"):
        raise Unusable(f"selective_plan returned {each!r} among the numbers of products")
    number = operator.index(each)
    if not 0 <= number < products:
        raise Unusable(f"product {number} does not exist: there are {products}")
    return number
