"""What the tests of lesson 29 run on ranks."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import numpy as np
import torch.distributed as dist

from gpu_course.lessons.meshes.composed import compose
from gpu_course.lessons.meshes.one_step import summed_over
from gpu_course.measure.every_axis import parts
from gpu_course.measure.every_axis.configuration import Configuration, Shape
from gpu_course.measure.every_axis.run import run


def composed(dp: int, tp: int, pp: int) -> dict[str, Any]:
    """Returns what `compose` gives this rank, by name."""
    return asdict(compose(dp, tp, pp))


def loss(line: str) -> float:
    """Returns this rank's part of the loss of a configuration."""
    configuration, shape = Configuration.read(line), Shape()
    rng = np.random.default_rng(1)
    weights = parts.drawn(rng, shape)
    tokens = rng.integers(0, shape.vocabulary, (shape.batch, shape.sequence + 1))
    step = run(configuration, shape, weights, tokens, summed_over(configuration))
    alike = 1 if configuration.sp else configuration.tp
    assert dist.is_initialized()
    return step.loss / alike
