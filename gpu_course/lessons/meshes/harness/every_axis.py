"""Harness of `one_model_every_axis`: a step of the GPT on this rank, and what was said before."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import ModuleType
from typing import Any

import numpy as np

from gpu_course.measure.every_axis import parts
from gpu_course.measure.every_axis.configuration import Configuration, Shape
from gpu_course.measure.every_axis.run import run as run_step
from gpu_course.puzzle.harness import Unusable

SAID = ("weights", "gradients", "states", "wire")


def run(
    answer: ModuleType,
    config: Mapping[str, Any],
    shape: Mapping[str, int],
    weights: Sequence[np.ndarray],
    tokens: np.ndarray,
    rank: int,
) -> dict[str, Any]:
    """Returns "loss", "gradients" by the name of the weight, "held", and "said" of the answer.

    Args:
        answer: the learner's module.
        config: of a Configuration.
        shape: of a Shape.
        weights: uncut, in the order of `parts.NAMES`.
        tokens: (batch, sequence + 1).
        rank: this one.
    """
    configuration = Configuration(**config)
    axes = {name: _axes(answer, name, config) for name in parts.NAMES}
    said = answer.bytes_per_rank(dict(config), dict(shape), configuration.mesh.coords(rank))
    if not isinstance(said, dict) or set(said) != set(SAID):
        raise Unusable(f"bytes_per_rank is to return a dict of {', '.join(SAID)}", "not-the-four")
    step = run_step(
        configuration,
        Shape(**shape),
        dict(zip(parts.NAMES, weights, strict=True)),
        tokens,
        axes.__getitem__,
    )
    return {
        "loss": step.loss,
        "gradients": {parts.called(*key): gradient for key, gradient in step.gradients.items()},
        "said": said,
        "held": [step.weight_bytes, step.gradient_bytes, step.state_bytes],
    }


def _axes(answer: ModuleType, name: str, config: Mapping[str, Any]) -> list[str]:
    """Returns the axes over which an answer sums a weight's gradient.

    Raises:
        Unusable: it named no axes.
    """
    found = answer.summed_over(name, dict(config))
    known = ("dp", "tp", "cp", "pp", "ep")
    if not isinstance(found, list | tuple | set | frozenset) or not all(
        isinstance(axis, str) and axis in known for axis in found
    ):
        fact = f'summed_over("{name}", ...) returned {found!r:.30}; axes are {", ".join(known)}'
        raise Unusable(fact, "no-axes")
    return [axis for axis in known if axis in found]
