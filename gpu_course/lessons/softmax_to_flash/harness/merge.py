"""Harness of `merge`: merges parts in nested groups, and finishes what is left."""

from __future__ import annotations

from collections.abc import Sequence
from types import ModuleType
from typing import Any

import numpy as np

from gpu_course.errors import Unusable

Part = tuple[np.ndarray, np.ndarray, np.ndarray]


def run(answer: ModuleType, parts: Sequence[Part], order: Sequence[Any]) -> dict[str, Any]:
    """Returns the attention and the log-sum-exp of each query, after all parts are merged.

    Args:
        answer: the learner's module.
        parts: (m, total, acc) of each tile, as `merge` gets them.
        order: which are merged, as numbers of parts and lists of such: [0, [1, 2]] merges 1 and 2
            first.
    """
    queries, width = parts[0][2].shape

    def merged(group: Sequence[Any]) -> Part:
        given = [parts[each] if isinstance(each, int) else merged(each) for each in group]
        return _part(answer.merge(given), queries, width)

    m, total, acc = merged(order)
    with np.errstate(divide="ignore", invalid="ignore"):
        lse = np.where(total == 0, -np.inf, m + np.log(total))
        attention = np.where(total[:, None] == 0, 0.0, acc / total[:, None])
    return {"attention": attention, "lse": lse}


def _part(result: Any, queries: int, width: int) -> Part:
    """What came back, as three arrays.

    Raises:
        Unusable: it is no part of so many queries.
    """
    if not isinstance(result, tuple | list) or len(result) != 3:
        raise Unusable("merge returned what is no tuple (m, total, acc)", "not-a-part")
    shapes = (queries,), (queries,), (queries, width)
    found = []
    for name, value, shape in zip(("m", "total", "acc"), result, shapes, strict=True):
        try:
            array = np.array(value, dtype=np.float64)
        except (TypeError, ValueError):
            raise Unusable(f"{name} holds what is no number", "not-a-part") from None
        if array.shape != shape:
            raise Unusable(f"{name} has shape {array.shape}, expected {shape}", "not-a-part")
        found.append(array)
    m, total, acc = found
    return m, total, acc
