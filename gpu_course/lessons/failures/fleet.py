"""What the ranks of a run write down of each all-reduce, with slow ranks and flipped bits planted.

Times lie on a grid of 1/4096 s, and clocks too, so that a wait is exact whoever subtracts.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

TICK_S = 1 / 4096
LEAST_TICKS = 80
"""A rank is late by so many ticks, or by more: 20 ms."""


@dataclass(frozen=True)
class Fleet:
    """What happens on the ranks of a run.

    Attributes:
        ranks, steps: how many.
        late: {rank: (ticks, in how many of the steps)}: arrives so much later.
        pauses: ranks that stand still for a second, each in one step.
        flips: {(step, rank): bit of the float64}; rank None for one in the reduction itself.
        spoiled: {(step, rank): value}: a result that is NaN or infinite, as with `flips`.
        overflows: {step: value}: a rank's gradient holds it, so everybody's result does.
        cancels: True where the numbers of a gradient nearly cancel each other.
    """

    ranks: int
    steps: int
    late: Mapping[int, tuple[int, int]] = field(default_factory=dict)
    pauses: tuple[int, ...] = ()
    flips: Mapping[tuple[int, int | None], int] = field(default_factory=dict)
    spoiled: Mapping[tuple[int, int | None], float] = field(default_factory=dict)
    overflows: Mapping[int, float] = field(default_factory=dict)
    cancels: bool = False


def flipped(value: float, bit: int) -> float:
    """Returns a float64 with one bit changed; bit 0 is the last one, 62 the highest exponent bit.

    >>> flipped(1.0, 51), flipped(1.0, 62)
    (1.5, inf)
    """
    bits = np.array([value]).view(np.uint64) ^ np.uint64(1 << bit)
    return float(bits.view(np.float64)[0])


def recorded(rng: np.random.Generator, fleet: Fleet) -> dict[str, np.ndarray]:
    """Returns what the ranks wrote down: arrived, left, own, sizes and result of each step.

    Args:
        rng: draws clocks, noise and gradients.
        fleet: what happens.
    """
    shape = fleet.steps, fleet.ranks
    ready = 1000 + rng.integers(0, 12, shape)
    for rank, (_, times) in fleet.late.items():
        # The others come at one moment there, so that the median is what the case says it is.
        steps = rng.permutation(fleet.steps)[:times]
        ready[steps] = 1000
        ready[:, rank] = 1000
    for rank, (ticks, times) in fleet.late.items():
        ready[rng.permutation(fleet.steps)[:times], rank] += ticks
    for rank in fleet.pauses:
        ready[int(rng.integers(fleet.steps)), rank] += 4096
    clocks = rng.integers(-(10**6), 10**6, fleet.ranks)
    begins = np.cumsum(ready.max(1, initial=0) + 2000)[:, None]
    over = begins + ready.max(1, initial=0)[:, None] + 50

    sizes = rng.uniform(0.5, 2.0, shape) * 1e6
    own = rng.normal(size=shape) * (1e-3 if fleet.cancels else 1e5)
    for step, value in fleet.overflows.items():
        own[step, int(rng.integers(fleet.ranks))] = value
        sizes[step] = abs(value)
    with np.errstate(invalid="ignore"):
        # Who adds in another order is off by the last digits of the sizes, all ranks alike.
        rounding = rng.uniform(-1, 1, fleet.steps) * 1e-14 * sizes.sum(1)
        total = own.sum(1) + np.where(np.isfinite(rounding), rounding, 0.0)
    result = np.repeat(total[:, None], fleet.ranks, 1)
    changed = {at: flipped(float(total[at[0]]), bit) for at, bit in fleet.flips.items()}
    changed |= fleet.spoiled
    # The reduction's comes first, and a rank's own on top of it.
    for (step, at), value in sorted(changed.items(), key=lambda item: item[0][1] is not None):
        result[step, slice(None) if at is None else at] = value
    return {
        "arrived": (begins + ready + clocks) * TICK_S,
        "left": (over + clocks) * TICK_S,
        "own": own,
        "sizes": sizes,
        "result": result,
    }
