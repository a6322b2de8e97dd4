"""What a cluster's power says of its energy in a year, and of the bill."""

from __future__ import annotations

from gpu_course.claims.models import model

HOURS_A_YEAR = 365 * 24


@model()
def twh_a_year(mw: float) -> float:
    """Returns the terawatt hours of a year at a constant power.

    >>> twh_a_year(150)
    1.314
    """
    return mw * HOURS_A_YEAR / 1e6


@model()
def million_dollars(twh: float, dollars_a_kwh: float) -> float:
    """Returns the price of energy.

    >>> million_dollars(1, 0.1)
    100.0
    """
    return twh * 1e9 * dollars_a_kwh / 1e6
