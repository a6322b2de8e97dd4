"""Meshes beside NumPy's own indexing, PyTorch's device mesh, and sums written out by hand."""

import itertools
import os

import numpy as np
import pytest
import torch.distributed as dist
from hypothesis import given
from hypothesis import strategies as st
from torch.distributed.device_mesh import init_device_mesh

from gpu_course.errors import CourseError
from gpu_course.measure.meshes import (
    LINKS,
    PATTERNS,
    Cluster,
    Mesh,
    Traffic,
    link_bytes,
    orders_by_slow_bytes,
    pairs,
    slow_bytes,
)

sizes_of_axes = st.lists(st.integers(1, 4), min_size=1, max_size=5)


def named(sizes: list[int]) -> Mesh:
    return Mesh(tuple(zip("abcde", sizes, strict=False)))


@given(sizes_of_axes, st.data())
def test_coordinates_are_those_of_numpy(sizes: list[int], data: st.DataObject) -> None:
    mesh = named(sizes)
    rank = data.draw(st.integers(0, mesh.ranks - 1))
    place = mesh.coords(rank)
    assert tuple(place.values()) == np.unravel_index(rank, sizes, order="F")
    assert mesh.rank(place) == rank


@given(sizes_of_axes, st.data())
def test_a_group_is_all_that_differ_on_its_axes_alone(
    sizes: list[int], data: st.DataObject
) -> None:
    mesh = named(sizes)
    names = list(mesh.sizes)
    axes = data.draw(st.lists(st.sampled_from(names), min_size=1, unique=True))
    groups = mesh.groups(*axes)
    assert sorted(itertools.chain(*groups)) == list(range(mesh.ranks))
    rest = [name for name in names if name not in axes]
    for group in groups:
        assert len({tuple(mesh.coords(rank)[name] for name in rest) for rank in group}) == 1
        assert all(mesh.group(rank, *axes) == group for rank in group)


def test_the_axis_between_two_ranks() -> None:
    mesh = Mesh.of(tp=2, cp=2, pp=2, dp=2)
    found = {other: mesh.axis_between(0, other) for other in range(16)}
    assert {other: axis for other, axis in found.items() if axis} == {
        1: "tp",
        2: "cp",
        4: "pp",
        8: "dp",
    }


def test_pytorch_makes_the_same_groups() -> None:
    """`init_device_mesh` names the outermost axis first; a fake group stands for 24 processes."""
    from torch.testing._internal.distributed.fake_pg import FakeStore

    mesh = Mesh.of(tp=2, pp=3, dp=4)
    assert "RANK" not in os.environ
    dist.init_process_group("fake", store=FakeStore(), rank=7, world_size=mesh.ranks)
    try:
        theirs = init_device_mesh("cpu", (4, 3, 2), mesh_dim_names=("dp", "pp", "tp"))
        for axis in mesh.sizes:
            assert theirs[axis].mesh.tolist() == mesh.group(7, axis)
            assert theirs.get_local_rank(axis) == mesh.coords(7)[axis]
    finally:
        dist.destroy_process_group()


def spelled_out(
    mesh: Mesh, cluster: Cluster, axis: str, sent: Traffic, device: list[int]
) -> dict[str, float]:
    """Each message by itself."""
    cost = dict.fromkeys(LINKS, 0.0)
    for group in mesh.groups(axis):
        places = range(len(group))
        if len(group) == 1:
            continue
        if sent.pattern == "ring":
            messages = [(at, (at + 1) % len(group), sent.sent_bytes) for at in places]
        elif sent.pattern == "line":
            ahead = [(at, at + 1, sent.sent_bytes) for at in places[:-1]]
            messages = ahead + [(to, at, size) for at, to, size in ahead]
        else:
            part = sent.sent_bytes / (len(group) - 1)
            messages = [(at, to, part) for at in places for to in places if at != to]
        for at, to, size in messages:
            one, other = device[group[at]], device[group[to]]
            apart = one // cluster.node != other // cluster.node
            far = apart and cluster.rack is not None
            far = far and one // (cluster.node * cluster.rack) != other // (
                cluster.node * cluster.rack
            )
            cost[LINKS[apart + bool(far)]] += size
    return cost


@given(sizes_of_axes, st.sampled_from(PATTERNS), st.integers(1, 5), st.integers(1, 3), st.data())
def test_bytes_are_those_of_the_messages_one_by_one(
    sizes: list[int], pattern: str, node: int, rack: int, data: st.DataObject
) -> None:
    mesh, cluster = named(sizes), Cluster(node, rack)
    axis = data.draw(st.sampled_from(list(mesh.sizes)))
    device = data.draw(st.permutations(range(mesh.ranks)))
    sent = Traffic(pattern, 12.0)
    cost = link_bytes(mesh, cluster, {axis: sent}, device)[axis]
    assert cost == pytest.approx(spelled_out(mesh, cluster, axis, sent, device))


def test_a_group_of_one_sends_nothing() -> None:
    for pattern in PATTERNS:
        senders, receivers = pairs(np.array([[0], [1]]), pattern)
        assert senders.size == receivers.size == 0


def test_the_busy_axis_stays_in_the_node() -> None:
    sizes = {"dp": 4, "pp": 2, "tp": 8}
    traffic = {
        "tp": Traffic("ring", 100.0),
        "pp": Traffic("line", 3.0),
        "dp": Traffic("ring", 10.0),
    }
    ranked = orders_by_slow_bytes(sizes, Cluster(node=8), traffic)
    assert len(ranked) == 6
    best, order = ranked[0]
    assert order[0] == "tp"
    mesh = Mesh.ordered(order, sizes)
    assert slow_bytes(link_bytes(mesh, Cluster(node=8), traffic)) == best < ranked[-1][0]


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        (lambda: Mesh((("tp", 2), ("tp", 2))), "each axis once"),
        (lambda: Mesh.of(tp=0), "axis tp has 0 ranks"),
        (lambda: Mesh.of(tp=2).coords(2), "no rank 2: the mesh has ranks 0 to 1"),
        (lambda: Mesh.of(tp=2).coords(-1), "no rank -1"),
        (lambda: Mesh.of(tp=2).rank({"pp": 0}), "a place on tp is not"),
        (lambda: Mesh.of(tp=2).rank({"tp": 2}), "tp = 2 is outside 0 to 1"),
        (lambda: Mesh.of(tp=2).groups("dp"), "no axis dp; it has tp"),
        (lambda: Mesh.of(tp=2).stride("dp"), "no axis dp"),
        (lambda: Mesh.ordered(["tp"], {"tp": 2, "dp": 2}), "an order of tp, dp is not tp"),
        (lambda: Traffic("star", 1.0), "ring, line, all to all, and not star"),
        (
            lambda: link_bytes(Mesh.of(tp=2), Cluster(), {}, [0, 0]),
            "each device from 0 to 1 once",
        ),
    ],
)
def test_what_cannot_be_is_told(wrong, says: str) -> None:
    with pytest.raises(CourseError, match=says):
        wrong()
