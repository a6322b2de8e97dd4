"""What lesson 29 shows: meshes of any order, who talks to whom, and the learner's own groups."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Sequence

import numpy as np

from gpu_course.draw.training.meshes import (
    MeshData,
    describe_mesh,
    describe_rank,
    draw_devices,
    draw_mesh,
    pickable_html,
)
from gpu_course.errors import CourseError
from gpu_course.measure.meshes import Cluster, Mesh, pairs
from gpu_course.notebook.marks import asks_for_answers
from gpu_course.notebook.note import Note, telling
from gpu_course.notebook.own.ranks import run_own
from gpu_course.notebook.pictures import Picture
from gpu_course.ranks.runner import Run, run_function
from gpu_course.ranks.traffic import booked_bytes

LINES = frozenset({"pp"})
"""Axes along which a rank talks to its neighbours alone; along the others it is a ring."""
VIEWS = ("in space", "in nodes")
ORDERS = tuple(" ".join(order) for order in itertools.permutations(("tp", "cp", "pp", "dp")))
"""All orders of four axes."""
_names = itertools.count()


def mesh_of(order: str, **sizes: int) -> Mesh:
    """Returns the mesh with this order of axes.

    Args:
        order: names of axes, the innermost first, such as "tp cp pp dp".
        sizes: ranks along each; an axis that is not named has two.

    Raises:
        CourseError: a size is of no axis.
    """
    axes = order.split()
    if unknown := sorted(set(sizes) - set(axes)):
        raise CourseError(f"the order {order!r} has no axis {unknown[0]}", "name each axis in it")
    return Mesh.ordered(axes, {axis: sizes.get(axis, 2) for axis in axes})


def mesh_data(mesh: Mesh, coloured: str, cluster: Cluster) -> MeshData:
    """Returns what a picture of a mesh is made from.

    Args:
        mesh: the ranks, rank r on device r.
        coloured: the axis whose groups are drawn.
        cluster: the devices.
    """
    groups = {axis: mesh.groups(axis) for axis in mesh.sizes}
    if coloured not in groups:
        raise CourseError(f"there is no axis {coloured}", f"choose one of {', '.join(groups)}")
    pattern = "line" if coloured in LINES else "ring"
    senders, receivers = pairs(np.array(groups[coloured]), pattern)
    ends = zip(senders.tolist(), receivers.tolist(), strict=True)
    linked = sorted({(min(pair), max(pair)) for pair in ends})
    return MeshData(
        mesh.axes,
        [mesh.coords(rank) for rank in range(mesh.ranks)],
        groups,
        coloured,
        [(*pair, cluster.link(*pair)) for pair in linked],
        list(range(mesh.ranks)),
        cluster.node,
        cluster.rack,
    )


@telling
def in_space(
    order: str, coloured: str, picked: int | None = None, node: int = 8, **sizes: int
) -> Picture:
    """Returns a mesh in three dimensions, the groups of an axis coloured.

    Args:
        order, sizes: as for `mesh_of`.
        coloured: the axis.
        picked: a rank whose groups are outlined.
        node: devices of a node.
    """
    data = mesh_data(mesh_of(order, **sizes), coloured, Cluster(node))
    return Picture(draw_mesh(data, picked))


@telling
def in_nodes(
    order: str,
    coloured: str,
    picked: int | None = None,
    node: int = 8,
    rack: int | None = None,
    **sizes: int,
) -> Picture:
    """Returns the devices node by node, the groups of an axis coloured.

    Args:
        order, coloured, picked, node, sizes: as for `in_space`.
        rack: nodes of a rack.
    """
    data = mesh_data(mesh_of(order, **sizes), coloured, Cluster(node, rack))
    return Picture(draw_devices(data, picked))


class PickedMesh:
    """A mesh in which ranks are picked by a click, or by the arrow keys."""

    def __init__(self, data: MeshData, view: str) -> None:
        self.data = data
        self.view = view

    def __repr__(self) -> str:
        return f"{describe_mesh(self.data)}\n{describe_rank(self.data, 0)}"

    def _repr_html_(self) -> str:
        name = f"mesh{next(_names)}"
        return pickable_html(self.data, name, flat=self.view == VIEWS[1])


@telling
def pick_a_rank(
    order: str = "tp cp pp dp",
    coloured: str = "pp",
    view: str = VIEWS[0],
    node: int = 8,
    **sizes: int,
) -> PickedMesh:
    """Returns a mesh to click into: a rank that is picked shows whom it is in a group with.

    Args:
        order, coloured, node, sizes: as for `in_space`.
        view: one of VIEWS.
    """
    return PickedMesh(mesh_data(mesh_of(order, **sizes), coloured, Cluster(node)), view)


def four_axes(
    order: str = "tp cp pp dp",
    coloured: str = "pp",
    view: str = VIEWS[0],
    tp: int = 2,
    cp: int = 2,
    pp: int = 2,
    dp: int = 2,
    gpus_per_node: int = 8,
) -> PickedMesh | Note:
    """Returns a mesh of four axes to click into; see `pick_a_rank`."""
    return pick_a_rank(order, coloured, view, gpus_per_node, tp=tp, cp=cp, pp=pp, dp=dp)


@asks_for_answers
@telling
def beside_pytorch(order: str = "tp cp dp", **sizes: int) -> str:
    """Returns your groups and coordinates beside those of `init_device_mesh`, on real ranks.

    Args:
        order, sizes: as for `mesh_of`.
    """
    from gpu_course.lessons.meshes import runs

    mesh = mesh_of(order, **sizes)
    run = run_own(
        ["coords", "groups"], runs.beside_pytorch, mesh.ranks, order=order.split(), sizes=mesh.sizes
    )
    lines = [f"{mesh.ranks} ranks, innermost first: {order}"]
    lines.append("rank  axis  your group      PyTorch's       place: yours, PyTorch's")
    same = True
    for rank, result in enumerate(run.results):
        for axis, own, theirs, mine, local in result:
            same &= list(own) == list(theirs) and mine == local
            if rank in (0, mesh.ranks - 2):
                lines.append(
                    f"{rank:>4}  {axis:<4}  {_few(own):<14}  {_few(theirs):<14}  {mine}, {local}"
                )
    lines.append(f"the same on all ranks: {'yes' if same else 'no'}")
    return "\n".join(lines)


EVERY_AXIS = (
    "",
    "dp=2",
    "dp=2 zero3",
    "tp=2",
    "tp=2 sp",
    "cp=2",
    "pp=2",
    "ep=2",
    "dp=2 tp=2 sp",
)
"""Configurations of one model: each axis by itself, and a pair."""


@asks_for_answers
@telling
def one_model(lines: Sequence[str] = EVERY_AXIS) -> str:
    """Returns one model under several configurations: its loss, what a rank sends, what it holds.

    Gradients are summed as your answer says, and your formula stands beside what is counted. Of
    ranks that differ it is the one with most.

    Args:
        lines: configurations, such as "dp=2 tp=2 sp"; "" is one rank.
    """
    from gpu_course.lessons.meshes import runs
    from gpu_course.measure.every_axis.configuration import Configuration

    said = [f"{'':<26}bytes a rank sends       bytes a rank holds"]
    said.append(f"{'configuration':<14}{'loss':<13}counted      yours      counted      yours")
    by_ranks: dict[int, list[str]] = {}
    for line in lines:
        by_ranks.setdefault(Configuration.read(line).ranks, []).append(line)
    found = {}
    for ranks, alike in by_ranks.items():
        run = run_own("one_model_every_axis", runs.steps, ranks, lines=alike)
        for number, line in enumerate(alike):
            sent = [_sent_in_part(run, rank, number) for rank in range(ranks)]
            found[line] = [results[number] for results in run.results], max(sent)
    for line in lines:
        results, sent_bytes = found[line]
        held, formula, wire = (max(result[k] for result in results) for k in (1, 2, 3))
        said.append(
            f"{Configuration.read(line)!s:<14}{sum(result[0] for result in results):.8f}"
            f"  {sent_bytes:>9,.0f}  {wire:>9,.0f}  {held:>11,}  {formula:>9,.0f}"
        )
    return "\n".join(said)


def most_sent(lines: Sequence[str]) -> str:
    """Returns the configuration in which a rank of the small GPT sends the most bytes in a step.

    Args:
        lines: configurations, such as "dp=2 tp=2 sp".
    """
    from gpu_course.lessons.meshes.one_step import sent_bytes
    from gpu_course.measure.every_axis.configuration import Configuration, Shape

    def sent(line: str) -> float:
        configuration = Configuration.read(line)
        stages = range(configuration.pp)
        return max(sum(sent_bytes(configuration, Shape(), each).values()) for each in stages)

    return max(lines, key=sent)


def _sent_in_part(run: Run, rank: int, number: int) -> float:
    """Returns what a rank sent before its barrier of this number, and after the one before."""
    own = sorted((call for call in run.calls if call.rank == rank), key=lambda call: call.number)
    ends = [-1, *(call.number for call in own if call.kind == "barrier")]
    within = (call for call in own if ends[number] < call.number < ends[number + 1])
    return float(booked_bytes(within))


AGREE = 1e-12
"""Gradients in float64 that differ by less are the same but for rounding."""


@telling
def composed(meshes: Sequence[tuple[int, int, int]]) -> str:
    """Returns a step of PyTorch's own parts on meshes of real ranks, beside one process.

    Args:
        meshes: (dp, tp, pp) of each: fully_shard, parallelize_module, a pipeline of 1F1B.
    """
    lines = ["dp  tp  pp  ranks  loss      gradients             numbers on a rank"]
    for dp, tp, pp in meshes:
        results = _composed(dp, tp, pp)
        losses = [loss for loss, *_ in results if loss is not None]
        off, lost = max(each[1] for each in results), sum(each[3] for each in results)
        same = "as in one process" if off < AGREE and not lost else f"off by {off:.0e}, {lost} lost"
        held = max(each[4] for each in results)
        lines.append(
            f"{dp:>2}  {tp:>2}  {pp:>2}  {len(results):>5}  {sum(losses) / len(losses):.6f}"
            f"  {same:<20}  {held:>17,}"
        )
    return "\n".join(lines)


def share_held(dp: int, tp: int) -> str:
    """Returns which share of the weights a rank holds, in words.

    Args:
        dp, tp: ranks of fully_shard, and of parallelize_module.
    """
    share = max(each[4] for each in _composed(dp, tp, 1)) / _composed(1, 1, 1)[0][4]
    if share > 0.4:
        return "a half"
    return "a quarter" if share <= 0.25 else "a little more than a quarter"


@functools.lru_cache
def _composed(dp: int, tp: int, pp: int) -> list[tuple[float | None, float, int, int, int]]:
    from gpu_course.lessons.meshes import runs

    return list(run_function(runs.composed, dp * tp * pp, {"dp": dp, "tp": tp, "pp": pp}).results)


def _few(ranks: list[int]) -> str:
    return ", ".join(map(str, ranks))
