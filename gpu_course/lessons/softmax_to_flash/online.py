"""An online softmax, score by score: what is carried along, and when it is rescaled.

Source: Milakov and Gimelshein, "Online normalizer calculation for softmax" (2018), Algorithm 3.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class Step:
    """What one more score does.

    Attributes:
        score: that score.
        largest: of all so far.
        grew: whether this one is larger than all before it; True for the first.
        before: the sum of exp(score - largest) that was there.
        factor: what it is multiplied by, so that it is a sum for the new largest score.
        added: what this score adds.
        total: the sum afterwards.
    """

    score: float
    largest: float
    grew: bool
    before: float
    factor: float
    added: float
    total: float


def online_steps(scores: Iterable[float]) -> list[Step]:
    """Returns what happens at each score of a row.

    >>> [round(each.total, 3) for each in online_steps([0.0, 1.0, 1.0])]
    [1.0, 1.368, 2.368]
    """
    largest, total = -math.inf, 0.0
    steps = []
    for score in map(float, scores):
        grown = max(largest, score)
        factor = math.exp(largest - grown) if largest > -math.inf else 1.0
        added = math.exp(score - grown)
        before, total = total, factor * total + added
        steps.append(Step(score, grown, score > largest, before, factor, added, total))
        largest = grown
    return steps


def rescalings(scores: Iterable[float]) -> int:
    """Returns how often the sum of a row is rescaled: a score is larger than all before it.

    >>> rescalings([3, 1, 4, 1, 5]), rescalings([5, 4, 3]), rescalings([1, 2, 3])
    (2, 0, 2)
    """
    return sum(step.grew for step in online_steps(scores)[1:])
