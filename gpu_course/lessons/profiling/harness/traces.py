"""Harness of `find_the_bottleneck`: lays a trace out as events, and asks the answer about it."""

from __future__ import annotations

from collections.abc import Sequence
from types import ModuleType
from typing import Any

import numpy as np


def run(
    answer: ModuleType, names: Sequence[str], shapes: Sequence[str], rows: np.ndarray
) -> dict[str, Any]:
    """Returns {"result": what the answer says}.

    Args:
        answer: the learner's module.
        names, shapes: each that occurs, once.
        rows: (events, 5): number of the name, ts, dur, tid, number of the shapes.
    """
    return {"result": answer.find_the_bottleneck(events_of(names, shapes, rows))}


def events_of(
    names: Sequence[str], shapes: Sequence[str], rows: np.ndarray
) -> list[dict[str, Any]]:
    """Returns a trace as an answer gets it: a dict for each event."""
    return [
        {"name": names[name], "ts": ts, "dur": dur, "tid": tid, "shapes": shapes[shape]}
        for name, ts, dur, tid, shape in rows.tolist()
    ]
