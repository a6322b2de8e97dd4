"""The loss that two puzzles of lesson 19 hand out: built anew, its gradient, its forward pass."""

from __future__ import annotations

from typing import Any

import numpy as np

from gpu_course.puzzle.specification import Judgement, Values

SLACK = 1.2
"""How many times the peak of our own forward pass an answer may hold."""
COPIES = 4
"""How many times the bytes of its directions an answer may hold beside that."""


def build(inputs: Values) -> tuple[Any, Any]:
    """Returns (loss, point) of a case, as the harness gives them to the answer."""
    from gpu_course.lessons.forward_gradients.flat_model import deep_problem

    return deep_problem(*(inputs[name] for name in ("depth", "width", "rows", "seed")))


def exact_gradient(inputs: Values) -> np.ndarray:
    """Returns the gradient by a backward pass: another way than the answer's."""
    loss, point = build(inputs)
    point.requires_grad_()
    loss(point).backward()
    return point.grad.numpy()


def keeps_a_graph(inputs: Values, directions: np.ndarray, peak_bytes: int) -> Judgement | None:
    """Returns a finding where an answer held more than forward passes take.

    Args:
        inputs: of the case.
        directions: (d,) or (k, d). An answer may carry all k along at once.
        peak_bytes: the most the answer held at one time.
    """
    import torch

    from gpu_course.lessons.forward_gradients.jvp import forward_gradient
    from gpu_course.measure.peak import measure_peak

    loss, point = build(inputs)
    rows = np.atleast_2d(directions)
    one = torch.from_numpy(rows[0].copy())
    ours = measure_peak(lambda: forward_gradient(loss, point, one)).peak_bytes
    # Half of what a pass holds is values, half are tangents, and there may be k of these.
    limit = SLACK * ours * (1 + len(rows)) / 2 + COPIES * directions.nbytes
    if peak_bytes <= limit:
        return None
    fact = f"{peak_bytes:,} bytes alive at one time; one pass forward needs {ours:,}"
    return Judgement("keeps-a-graph", fact, "over-budget")
