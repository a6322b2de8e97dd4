"""What lesson 29 runs on ranks: answers beside PyTorch's groups, and one model on every axis."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import ModuleType

import numpy as np
import torch.distributed as dist
from torch.distributed.device_mesh import init_device_mesh

from gpu_course.lessons.meshes.composed import compose
from gpu_course.lessons.meshes.harness.every_axis import run as run_answer
from gpu_course.measure.every_axis import parts
from gpu_course.measure.every_axis.configuration import Configuration, Shape


def beside_pytorch(
    places: ModuleType, grouped: ModuleType, order: Sequence[str], sizes: Mapping[str, int]
) -> list[tuple[str, list[int], list[int], int, int]]:
    """Returns for each axis (name, own group, PyTorch's, own place, PyTorch's), of this rank.

    Args:
        places: an answer with `coords`.
        grouped: an answer with `groups`.
        order, sizes: as these take them. PyTorch gets the axes the other way round: its first one
            is the outermost.
    """
    names = tuple(reversed(order))
    mesh = init_device_mesh("cpu", tuple(sizes[name] for name in names), mesh_dim_names=names)
    rank, found = dist.get_rank(), []
    place = places.coords(rank, list(order), dict(sizes))
    for axis in order:
        mine = grouped.groups([axis], list(order), dict(sizes))
        own = next((list(group) for group in mine if rank in group), [])
        theirs = [int(other) for other in mesh[axis].mesh.tolist()]
        found.append((axis, own, theirs, place[axis], mesh.get_local_rank(axis)))
    return found


def steps(answer: ModuleType, lines: Sequence[str]) -> list[tuple[float, int, float, float]]:
    """Returns (loss, bytes held, bytes held and sent by the answer's formula) for each line.

    The losses of all ranks add up to that of the batch. Weights and tokens are the same for every
    configuration. A barrier stands after each step.

    Args:
        answer: with `summed_over` and `bytes_per_rank`.
        lines: configurations of as many ranks as there are, such as "dp=2 tp=2 sp".
    """
    found = []
    for line in lines:
        found.append(_step(answer, Configuration.read(line)))
        dist.barrier()
    return found


def _step(answer: ModuleType, configuration: Configuration) -> tuple[float, int, float, float]:
    shape = Shape()
    rng = np.random.default_rng(29)
    weights = parts.drawn(rng, shape)
    tokens = rng.integers(0, shape.vocabulary, (shape.batch, shape.sequence + 1))
    asked = {name: getattr(shape, name) for name in Shape.__dataclass_fields__}
    uncut = [weights[name] for name in parts.NAMES]
    found = run_answer(answer, configuration.as_dict(), asked, uncut, tokens, dist.get_rank())
    # Without sp all ranks of tp have the same tokens, and so the same loss.
    alike = 1 if configuration.sp else configuration.tp
    said = found["said"]
    held = said["weights"] + said["gradients"] + said["states"]
    return found["loss"] / alike, sum(found["held"]), held, said["wire"]


def composed(dp: int, tp: int, pp: int) -> tuple[float | None, float, int, int, int]:
    """Returns (loss, furthest gradient's error, gradients, lost ones, numbers held), of this rank.

    Args:
        dp, tp, pp: ranks along each axis.
    """
    step = compose(dp, tp, pp)
    return step.loss, step.off, step.gradients, len(step.lost), step.numbers
