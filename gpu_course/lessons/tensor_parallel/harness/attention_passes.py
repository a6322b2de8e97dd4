"""Harness of `parallel_attention`: the answer cuts the weights, and runs both passes on a part."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy as np

from gpu_course.lessons.tensor_parallel.harness.layer_passes import both_passes
from gpu_course.puzzle.harness import Unusable


def run(
    answer: ModuleType,
    x: np.ndarray,
    qkv: np.ndarray,
    out: np.ndarray,
    heads: int,
    groups: int,
    dy: np.ndarray,
) -> dict[str, Any]:
    """Returns this rank's parts of both weights, y and the gradients.

    Args:
        answer: the learner's module.
        x: input.
        qkv, out: whole weights.
        heads, groups: of the whole layer.
        dy: gradient of y.
    """
    import torch

    given = [torch.from_numpy(each) for each in (qkv, out)]
    parts = answer.cut_heads(*given, heads, groups)
    if not isinstance(parts, tuple | list) or len(parts) != 2:
        said = f"{len(parts)} values" if hasattr(parts, "__len__") else type(parts).__name__
        raise Unusable(f"cut_heads returned {said}; return the parts of qkv and of out")
    if not all(isinstance(each, torch.Tensor) for each in parts):
        raise Unusable("cut_heads returned something other than two tensors")
    # Copies: what a rank holds of a weight is its part alone.
    own = [np.array(part.detach(), order="C") for part in parts]
    found = {"own_qkv": own[0], "own_out": own[1]}
    size, each = qkv.shape[0] // (heads + 2 * groups), heads // groups
    if not _fit(own[0], own[1], hidden=x.shape[1], head=size, each=each):
        # Parts of no layer: that they are wrong is what has to be said.
        return found

    def call(x: Any, qkv: Any, out: Any) -> Any:
        return answer.parallel_attention(x, qkv, out, size, each)

    given_now = {"x": x, "qkv": own[0], "out": own[1]}
    return found | both_passes("parallel_attention", call, given_now, dy)


def _fit(qkv: np.ndarray, out: np.ndarray, hidden: int, head: int, each: int) -> bool:
    """Whether these can be the weights of some whole groups."""
    if qkv.ndim != 2 or out.ndim != 2 or qkv.shape[1] != hidden or out.shape[0] != hidden:
        return False
    groups, rest = divmod(out.shape[1], each * head)
    return rest == 0 and len(qkv) == groups * (each + 2) * head
