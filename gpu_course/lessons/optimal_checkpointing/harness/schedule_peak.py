"""Harness of `schedule_peak`: what the answer makes of a schedule, and of each beginning of it.

Where a result is wrong, the first beginning that is weighed wrongly says at which operation.
"""

from __future__ import annotations

import contextlib
import copy
import io
import time
from collections.abc import Mapping, Sequence
from types import ModuleType
from typing import Any

SECONDS = 1.0
"""How long the beginnings may take: a slow answer is not to fail for the sake of a picture."""


def run(
    answer: ModuleType, stages: Sequence[Mapping[str, int]], schedule: Sequence[tuple[str, int]]
) -> dict[str, Any]:
    """Returns what the answer returned, and the peaks of the schedule's beginnings.

    Args:
        answer: the learner's module.
        stages, schedule: what its function gets.
    """
    result = answer.schedule_peak(stages, schedule)
    return {"result": result, "peaks": _peaks(answer, stages, schedule)}


def _peaks(answer: ModuleType, stages: Any, schedule: Any) -> list[float]:
    """The peak of the first operation, of the first two, and so on, as far as it goes."""
    found: list[float] = []
    end = time.monotonic() + SECONDS
    # What the answer prints, it has printed once already.
    with contextlib.suppress(Exception), contextlib.redirect_stdout(io.StringIO()):
        for length in range(1, len(schedule) + 1):
            if time.monotonic() > end:
                break
            peak, _ = answer.schedule_peak(copy.deepcopy(stages), list(schedule[:length]))
            found.append(float(peak))
    return found
