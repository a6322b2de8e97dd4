"""Shares of failures, and hours until the next one, by the counts that stand beside them."""

from __future__ import annotations

from gpu_course.claims.models import model

GPUS_PER_NODE = 8
HOURS_A_DAY = 24


@model()
def share_of_failures_percent(part: float, of: float) -> float:
    """Returns a count in % of another.

    >>> round(share_of_failures_percent(72, 419), 1)
    17.2
    """
    return 100 * part / of


@model()
def hours_between_failures(gpus: float, per_1000_node_days: float) -> float:
    """Returns the mean hours until some node of a job fails.

    Args:
        gpus: of the job, eight on each node.
        per_1000_node_days: failures of a thousand nodes in a day.

    >>> round(hours_between_failures(16_384, 6.5), 1)
    1.8
    """
    return HOURS_A_DAY * 1000 / per_1000_node_days / (gpus / GPUS_PER_NODE)
