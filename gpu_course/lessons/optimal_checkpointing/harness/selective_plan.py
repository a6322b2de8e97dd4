"""Harness of `selective_plan`: asks the answer which products to save.

What a run with them saved takes, the grader finds out in its own process.
"""

from __future__ import annotations

import copy
import operator
from collections.abc import Mapping, Sequence
from types import ModuleType
from typing import Any

import numpy as np

from gpu_course.puzzle.harness import Unusable, name_of


def run(
    answer: ModuleType,
    products: Sequence[Mapping[str, Any]],
    budget: int,
    shape: Sequence[int],
    layers: int,
    seed: int,
) -> dict[str, Any]:
    """Returns the answer's choice.

    Args:
        answer: the learner's module.
        products, budget: what its function gets.
        shape, layers, seed: for whoever runs the layers; unused here.
    """
    chosen = answer.selective_plan(copy.deepcopy(list(products)), budget)
    if isinstance(chosen, np.ndarray):
        chosen = chosen.tolist()
    if not isinstance(chosen, list | tuple | set | frozenset | range):
        raise Unusable(f"selective_plan returned {name_of(chosen)}, not a list of numbers")
    chosen = [_number(each, len(products)) for each in chosen]
    if len(set(chosen)) < len(chosen):
        raise Unusable("selective_plan names a product twice", "twice")
    return {"chosen": sorted(chosen)}


def _number(each: Any, products: int) -> int:
    """Returns a number of a product as a plain int; NumPy's whole numbers are whole numbers."""
    if isinstance(each, bool | np.bool_) or not hasattr(each, "__index__"):
        raise Unusable(f"selective_plan returned {each!r} among the numbers of products")
    number = operator.index(each)
    if not 0 <= number < products:
        raise Unusable(f"product {number} does not exist: there are {products}")
    return number
