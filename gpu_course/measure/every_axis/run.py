"""Trains the GPT for one step, on as many ranks as a configuration has."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import torch
import torch.distributed as dist
from torch import Tensor
from torch.nn import functional

from gpu_course.measure.every_axis import parts
from gpu_course.measure.every_axis.configuration import Configuration, Shape
from gpu_course.measure.every_axis.model import Stage, own_sequences, own_tokens
from gpu_course.measure.every_axis.passes import Group
from gpu_course.measure.meshes import Mesh
from gpu_course.measure.pipelines.execute import execute
from gpu_course.measure.pipelines.orders import one_f_one_b

Key = tuple[int, str]
"""A layer, or -1, and the name of a weight."""


@dataclass(frozen=True)
class Step:
    """What a rank has after a step.

    Attributes:
        loss: its part of the loss: those of all ranks that hold different tokens, on the last
            stage, add up to the mean over all tokens. 0 on other stages.
        gradients: of each weight that it holds, or of its slice, by layer and name.
        weight_bytes, gradient_bytes, state_bytes: that it holds, of what it trains.
    """

    loss: float
    gradients: dict[Key, np.ndarray]
    weight_bytes: int
    gradient_bytes: int
    state_bytes: int


def run(
    configuration: Configuration,
    shape: Shape,
    weights: Mapping[str, np.ndarray],
    tokens: np.ndarray,
    summed_over: Callable[[str], Sequence[str]],
) -> Step:
    """Returns what this rank has after one step of Adam. Every rank calls it.

    Args:
        configuration: whose sizes multiply to the number of ranks.
        shape: of the model.
        weights: as `parts.drawn` gives them, the same on all ranks.
        tokens: (batch, sequence + 1) of int64, the same on all ranks; the last of each is only
            predicted.
        summed_over: the axes over which the gradient of a weight is summed, by its name.

    Raises:
        CourseError: the configuration does not fit the model or the ranks.
    """
    alone = configuration.ranks == 1
    configuration.check(shape, None if alone else dist.get_world_size())
    mesh, rank = configuration.mesh, 0 if alone else dist.get_rank()
    place = mesh.coords(rank)
    made = Groups(mesh, rank)
    groups = {axis: made.group([axis]) for axis in ("tp", "cp", "ep", "dp")}
    own = parts.own_weights(weights, configuration, shape, place)
    sides = {key: part.shape for key, part in own.items()}
    if configuration.zero3:
        own = {key: parts.shard(p, configuration.dp, place["dp"]) for key, p in own.items()}
    given = {key: torch.from_numpy(part.copy()) for key, part in own.items()}
    stage = Stage(configuration, shape, place, given, sides, groups)
    loss = _both_passes(stage, mesh, rank, tokens)
    _sum_gradients(stage, made, summed_over)
    gradients = {key: _gradient(weight).numpy().copy() for key, weight in stage.own.items()}
    states = adam(list(stage.own.values()))
    return Step(
        loss,
        gradients,
        _bytes(stage.own.values()),
        _bytes(map(_gradient, stage.own.values())),
        _bytes(states),
    )


def adam(weights: Sequence[Tensor], rate: float = 0.01) -> list[Tensor]:
    """Changes weights by the first step of Adam, and returns its states, two for each.

    By hand, since importing `torch.optim` takes a process seconds.

    Args:
        weights: with `.grad`.
        rate: of learning.

    Source: Kingma and Ba 2014, arXiv 1412.6980, algorithm 1.
    """
    states = []
    with torch.no_grad():
        for weight in weights:
            m, v = 0.1 * _gradient(weight), 0.001 * _gradient(weight) ** 2
            weight -= rate * (m / 0.1) / ((v / 0.001).sqrt() + 1e-8)
            states += [m, v]
    return states


class Groups:
    """The process groups of a rank; each set of ranks gets one, whatever axes it came from.

    Args:
        mesh: of all ranks.
        rank: this one.
    """

    def __init__(self, mesh: Mesh, rank: int) -> None:
        self.mesh, self.rank = mesh, rank
        self._made: dict[tuple[int, ...], Group] = {}

    def group(self, axes: Sequence[str], stages: Sequence[int] | None = None) -> Group:
        """Returns this rank's group of some axes, or None where it is alone. All ranks call it.

        Args:
            axes: of the mesh.
            stages: those whose ranks are in it; None for all.
        """
        found = None
        for ranks in self.mesh.groups(*dict.fromkeys(axes)):
            kept = tuple(r for r in ranks if stages is None or self.mesh.coords(r)["pp"] in stages)
            if len(kept) < 2:
                continue
            if kept not in self._made:
                self._made[kept] = dist.new_group(list(kept))
            if self.rank in kept:
                found = self._made[kept]
        return found


def _both_passes(stage: Stage, mesh: Mesh, rank: int, tokens: np.ndarray) -> float:
    """Returns this rank's part of the loss, and leaves the gradients of its part in `.grad`."""
    configuration, shape, place = stage.configuration, stage.shape, stage.place
    mine = tokens[own_sequences(configuration, shape, place)]
    here = own_tokens(configuration, shape, place)
    inputs, targets = (
        [torch.from_numpy(each[here].copy()) for each in np.split(x, shape.microbatches, 1)]
        for x in (mine.T[:-1], mine.T[1:])
    )

    def loss(logits: Tensor, wanted: Tensor) -> Tensor:
        total = functional.cross_entropy(logits.flatten(0, 1), wanted.flatten(), reduction="sum")
        return total / (shape.batch * shape.sequence)

    if configuration.pp == 1:
        losses = []
        for x, wanted in zip(inputs, targets, strict=True):
            found = loss(stage(x), wanted)
            found.backward()  # type: ignore[no-untyped-call]
            losses.append(float(found.detach()))
        return sum(losses)
    schedule = one_f_one_b(configuration.pp, shape.microbatches)
    activations = (*inputs[0].shape, shape.hidden)
    return sum(execute(
        schedule, {place["pp"]: stage}, inputs, targets, loss, [activations] * configuration.pp,
        ranks=mesh.group(rank, "pp"),
    ))  # fmt: skip


def _sum_gradients(
    stage: Stage, groups: Groups, summed_over: Callable[[str], Sequence[str]]
) -> None:
    """Sums gradients over their axes, all those of one group in one piece."""
    configuration = stage.configuration
    pieces: dict[Group, list[Tensor]] = {}
    for name in parts.NAMES:
        # ZeRO-3 has summed over dp as it cut the gradients.
        axes = [axis for axis in summed_over(name) if not (configuration.zero3 and axis == "dp")]
        stages = [s for s in range(configuration.pp) if parts.is_held(name, configuration, s)]
        group = groups.group(axes, stages)
        own = [_gradient(weight) for (_, found), weight in stage.own.items() if found == name]
        if group is not None and own:
            pieces.setdefault(group, []).extend(own)
    for group, gradients in pieces.items():
        bucket = torch.cat([each.flatten() for each in gradients])
        dist.all_reduce(bucket, group=group)
        sizes = [each.numel() for each in gradients]
        for each, summed in zip(gradients, bucket.split(sizes), strict=True):
            each.copy_(summed.view_as(each))


def _gradient(weight: Tensor) -> Tensor:
    assert weight.grad is not None
    return weight.grad


def _bytes(tensors: Iterable[Tensor]) -> int:
    return sum(each.numel() * each.element_size() for each in tensors)
