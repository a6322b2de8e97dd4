"""What runs of pipelines take beyond those that the board shows: lines through two of them."""

from __future__ import annotations

from gpu_course.claims.models import model
from gpu_course.lessons.pipelines.claims.pipelines import speed_up

REACHED = 0.95
"""Of the speed of equal stages: the geometric mean of what torchgpipe's open rows of 2 and 4 GPUs
(U-Net and ResNet-101) and AmoebaNet's of 8 reach."""


@model()
def line_through_two(x: float, x_one: float, y_one: float, x_two: float, y_two: float) -> float:
    """Returns the value at x of the straight line through two measurements."""
    return y_one + (y_two - y_one) * (x - x_one) / (x_two - x_one)


@model()
def share_of_equal_stages(ranks: float, microbatches: float) -> float:
    """Returns the speed over two ranks with one microbatch, all but the last recomputed.

    Args:
        ranks, microbatches: of the pipeline.
    """
    again = (microbatches - 1) / microbatches
    share = 1.0 if microbatches == 1 else REACHED
    return share * speed_up(ranks, microbatches, again) / speed_up(2, 1, 0)


@model()
def scaled_to(of: float, measured: float, at: float) -> float:
    """Returns a measurement scaled to another size."""
    return measured * of / at
