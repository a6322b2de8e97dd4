"""Goodput: what share of a run's time is training that is kept, if failures come by chance."""

from __future__ import annotations

import math


def useful_share(mtbf_s: float, interval_s: float, write_s: float, recover_s: float) -> float:
    """Returns what share of the time is training that is kept, under Poisson failures.

    Failures come at any moment alike, whatever came before; in a write or a recovery too, which
    begins anew then.

    Args:
        mtbf_s: mean time between failures of the run; infinite where nothing fails.
        interval_s: training between two writes, above 0.
        write_s, recover_s: of a checkpoint, and from a failure to its state.

    Source: Daly 2006, A higher order estimate of the optimum checkpoint interval for restart dumps,
    equation 20.

    >>> round(useful_share(28_800, 1_800, 60, 300), 4)
    0.9271
    >>> useful_share(math.inf, 540, 60, 300)
    0.9
    """
    segment = (interval_s + write_s) / mtbf_s
    if not segment:
        return interval_s / (interval_s + write_s)
    return interval_s / mtbf_s * math.exp(-recover_s / mtbf_s - segment) / -math.expm1(-segment)
