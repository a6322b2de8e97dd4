"""Harness of `zigzag_assign`: where the tokens go, and then the way back for parts of that form."""

from __future__ import annotations

from collections.abc import Sequence
from types import ModuleType
from typing import Any

import numpy as np


def run(answer: ModuleType, parts: Sequence[np.ndarray], length: int) -> dict[str, Any]:
    """Returns "places", and "restored" where each rank has as many places as its part has tokens.

    Args:
        answer: the learner's module.
        parts: an array for each rank.
        length: tokens of the sequence.
    """
    places = answer.zigzag(length, len(parts))
    rows = places if isinstance(places, list | tuple) else []
    fits = [np.size(each) for each in rows] == [len(part) for part in parts]
    # restore goes by zigzag as a rule, and would stumble over other places.
    restored = answer.restore(list(parts), length) if fits else None
    return {"places": places, "restored": restored}
