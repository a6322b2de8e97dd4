"""Curves of training runs with faults planted in them: loss, norm of the gradient, TFLOP/s.

All values are multiples of small powers of two, so that medians and their differences are exact in
float64, and nobody's order of arithmetic decides a tie.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

GRID_LOSS, GRID_NORM, GRID_RATE = 1 / 1024, 1 / 1024, 1 / 64


Curves = tuple[list[float], list[float], list[float]]
"""Losses, norms and rates."""


@dataclass(frozen=True)
class Planted:
    """What happens in a run.

    Attributes:
        steps: how many there are.
        spikes: {step: by how many times the loss and the norm are larger there}.
        norms_alone, losses_alone: the same, of one of the two.
        not_finite: {step: (loss, norm)}, None for one that stays as it is.
        slow: {step: TFLOP/s that are missing from there on}; later ones add to earlier ones.
        hiccups: steps at which the rate is a third, as when a checkpoint is written.
        no_rate: steps without a rate.
        drift: TFLOP/s that the rate loses over the whole run, little by little.
        noise: of all values, relative.
    """

    steps: int
    spikes: dict[int, float] = field(default_factory=dict)
    norms_alone: dict[int, float] = field(default_factory=dict)
    losses_alone: dict[int, float] = field(default_factory=dict)
    not_finite: dict[int, tuple[float | None, float | None]] = field(default_factory=dict)
    slow: dict[int, float] = field(default_factory=dict)
    hiccups: tuple[int, ...] = ()
    no_rate: tuple[int, ...] = ()
    drift: float = 0.0
    noise: float = 1.0


def drawn(rng: np.random.Generator, planted: Planted) -> Curves:
    """Returns losses, norms and rates, one of each for every step.

    Args:
        rng: draws the noise.
        planted: what happens.
    """
    at = np.arange(planted.steps)
    noise = rng.normal(size=(3, planted.steps)) * planted.noise
    losses = 2.0 + 3.0 / np.sqrt(1 + at / 4) + 0.02 * noise[0]
    norms = 0.3 + 0.4 / np.sqrt(1 + at) + 0.02 * np.abs(noise[1])
    rates = 149.0 + 0.4 * noise[2] - planted.drift * at / max(1, planted.steps)
    for step, factor in (planted.spikes | planted.losses_alone).items():
        losses[step] *= factor
    for step, factor in (planted.spikes | planted.norms_alone).items():
        norms[step] *= 20 * factor
    for step, lost in planted.slow.items():
        rates[step:] -= lost
    rates[list(planted.hiccups)] /= 3
    losses, norms, rates = (
        np.round(each / grid) * grid
        for each, grid in ((losses, GRID_LOSS), (norms, GRID_NORM), (rates, GRID_RATE))
    )
    for step, values in planted.not_finite.items():
        for series, value in zip((losses, norms), values, strict=True):
            series[step] = series[step] if value is None else value
    rates[list(planted.no_rate)] = math.nan
    return losses.tolist(), norms.tolist(), rates.tolist()
