"""What the planner's tests run on ranks."""

from __future__ import annotations

import numpy as np

from gpu_course.lessons.meshes.one_step import summed_over
from gpu_course.measure.every_axis import parts
from gpu_course.measure.every_axis.configuration import Configuration, Shape
from gpu_course.measure.every_axis.run import run


def held(line: str) -> tuple[int, tuple[int, int, int]]:
    """Returns this rank's stage, and the bytes of weights, gradients and states after a step."""
    import torch.distributed as dist

    configuration, shape = Configuration.read(line), Shape()
    rng = np.random.default_rng(1)
    weights = parts.drawn(rng, shape)
    tokens = rng.integers(0, shape.vocabulary, (shape.batch, shape.sequence + 1))
    step = run(configuration, shape, weights, tokens, summed_over(configuration))
    stage = configuration.mesh.coords(dist.get_rank())["pp"]
    return stage, (step.weight_bytes, step.gradient_bytes, step.state_bytes)
