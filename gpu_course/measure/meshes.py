"""Which rank stands where in a mesh, who is in a group with whom, and what crosses which link.

A mesh gives each rank a place on every axis: its tensor-parallel rank, its pipeline stage, and so
on. The order of the axes says how ranks are counted through: the first axis changes with every
rank, as the digits of a number do from the right. Ranks that differ on one axis alone are a group
of this axis. On a cluster, which has several GPUs to a node and several nodes to a rack, the order
decides which groups are close together.

Source: Llama Team 2024, "The Llama 3 Herd of Models", section 3.3.2 (the order, innermost first);
Narayanan and others 2021, "Efficient large-scale language model training on GPU clusters",
section 3.1; PyTorch's `init_device_mesh`, which names the outermost axis first.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from gpu_course.errors import CourseError

LINKS = ("in a node", "between nodes", "between racks")
"""Classes of links, the fast ones first."""

PATTERNS = ("ring", "line", "all to all")
"""How the ranks of a group talk: each to the next, round or in a line; or each to every other."""


@dataclass(frozen=True)
class Mesh:
    """A mesh of ranks.

    Attributes:
        axes: (name, size) of each axis, the innermost first: it changes with every rank.

    >>> Mesh.of(tp=2, pp=3).coords(3)
    {'tp': 1, 'pp': 1}
    """

    axes: tuple[tuple[str, int], ...]

    def __post_init__(self) -> None:
        names = [name for name, _ in self.axes]
        if len(set(names)) < len(names):
            raise CourseError(f"a mesh has each axis once, and not {', '.join(names)}")
        for name, size in self.axes:
            if size < 1:
                raise CourseError(f"axis {name} has {size} ranks; the least is 1")

    @classmethod
    def of(cls, **sizes: int) -> Mesh:
        """Returns the mesh with these axes, the innermost first.

        >>> Mesh.of(tp=8, cp=1, pp=16, dp=128).ranks
        16384
        """
        return cls(tuple(sizes.items()))

    @classmethod
    def ordered(cls, order: Sequence[str], sizes: Mapping[str, int]) -> Mesh:
        """Returns the mesh of these sizes, with its axes in this order.

        Args:
            order: names of axes, the innermost first. Each axis of `sizes` is in it.
            sizes: ranks along each axis.

        Raises:
            CourseError: an axis is missing in one of them.

        >>> Mesh.ordered(["pp", "tp"], {"tp": 2, "pp": 3}).coords(3)
        {'pp': 0, 'tp': 1}
        """
        if sorted(order) != sorted(sizes):
            raise CourseError(f"an order of {', '.join(sizes)} is not {', '.join(order)}")
        return cls(tuple((name, sizes[name]) for name in order))

    @property
    def sizes(self) -> dict[str, int]:
        """Ranks along each axis, the innermost first."""
        return dict(self.axes)

    @property
    def ranks(self) -> int:
        """How many ranks there are.

        >>> Mesh.of(tp=2, pp=3).ranks
        6
        """
        return math.prod(size for _, size in self.axes)

    def stride(self, axis: str) -> int:
        """Returns how far two neighbours on this axis are apart, in ranks.

        >>> Mesh.of(tp=8, cp=16, pp=16, dp=8).stride("pp")
        128
        """
        self._known([axis])
        within = itertools.takewhile(lambda entry: entry[0] != axis, self.axes)
        return math.prod(size for _, size in within)

    def coords(self, rank: int) -> dict[str, int]:
        """Returns the place of a rank on each axis, the innermost first.

        Raises:
            CourseError: there is no such rank.

        >>> Mesh.of(tp=8, cp=16, pp=16, dp=8).coords(2047)
        {'tp': 7, 'cp': 15, 'pp': 15, 'dp': 0}
        """
        if not 0 <= rank < self.ranks:
            raise CourseError(f"there is no rank {rank}: the mesh has ranks 0 to {self.ranks - 1}")
        place = {}
        for name, size in self.axes:
            rank, place[name] = divmod(rank, size)
        return place

    def rank(self, coords: Mapping[str, int]) -> int:
        """Returns the rank that has this place on each axis.

        Raises:
            CourseError: an axis is missing, or a place is outside of it.

        >>> Mesh.of(tp=2, pp=3).rank({"pp": 2, "tp": 1})
        5
        """
        if sorted(coords) != sorted(self.sizes):
            raise CourseError(f"a place on {', '.join(self.sizes)} is not {dict(coords)}")
        found = 0
        for name, size in reversed(self.axes):
            if not 0 <= coords[name] < size:
                raise CourseError(f"{name} = {coords[name]} is outside 0 to {size - 1}")
            found = found * size + coords[name]
        return found

    def groups(self, *axes: str) -> list[list[int]]:
        """Returns the groups of these axes: ranks that agree in all the others.

        Args:
            axes: one axis; or several, as FSDP over data and context parallel ranks has them.

        Returns:
            Lists of ranks that rise, sorted by their first rank.

        Raises:
            CourseError: the mesh has no such axis.

        >>> Mesh.of(tp=2, pp=3).groups("pp")
        [[0, 2, 4], [1, 3, 5]]
        """
        return [[int(rank) for rank in group] for group in self._groups(axes)]

    def group(self, rank: int, *axes: str) -> list[int]:
        """Returns the group of these axes that a rank is in.

        >>> Mesh.of(tp=2, pp=3).group(3, "pp")
        [1, 3, 5]
        """
        self._known(axes)
        place = self.coords(rank)
        ranges = [range(self.sizes[axis]) for axis in axes]
        found = (
            self.rank({**place, **dict(zip(axes, at, strict=True))})
            for at in itertools.product(*ranges)
        )
        return sorted(found)

    def axis_between(self, one: int, other: int) -> str | None:
        """Returns the axis in whose group both ranks are; None where they differ on several.

        >>> mesh = Mesh.of(tp=2, pp=3)
        >>> mesh.axis_between(1, 5), mesh.axis_between(0, 5)
        ('pp', None)
        """
        here, there = self.coords(one), self.coords(other)
        differing = [name for name in here if here[name] != there[name]]
        return differing[0] if len(differing) == 1 else None

    def _groups(self, axes: Sequence[str]) -> np.ndarray:
        self._known(axes)
        names = [name for name, _ in reversed(self.axes)]
        ranks = np.arange(self.ranks).reshape([size for _, size in reversed(self.axes)])
        last = [index for index, name in enumerate(names) if name in axes]
        rows = np.moveaxis(ranks, last, range(-len(last), 0))
        return np.sort(rows.reshape(-1, math.prod(self.sizes[axis] for axis in axes)), axis=1)

    def _known(self, axes: Iterable[str]) -> None:
        for axis in axes:
            if axis not in self.sizes:
                names = ", ".join(self.sizes)
                raise CourseError(f"the mesh has no axis {axis}; it has {names}")


@dataclass(frozen=True)
class Cluster:
    """Where devices stand, and so which link is between two of them.

    Devices 0, 1, 2 ... fill the nodes one after the other, and nodes fill racks.

    Attributes:
        node: devices of a node.
        rack: nodes of a rack, or of what else has the network at full rate; None for one rack.
    """

    node: int = 8
    rack: int | None = None

    def link(self, one: int, other: int) -> str:
        """Returns the class of the link between two devices, one of LINKS.

        >>> cluster = Cluster(node=8, rack=2)
        >>> cluster.link(0, 7), cluster.link(7, 8), cluster.link(15, 16)
        ('in a node', 'between nodes', 'between racks')
        """
        return LINKS[int(self.link_codes(np.array([one]), np.array([other]))[0])]

    def link_codes(self, ones: np.ndarray, others: np.ndarray) -> np.ndarray:
        """Returns for pairs of devices the place of their link in LINKS. Arrays of one shape."""
        apart = (ones // self.node != others // self.node).astype(int)
        if self.rack is not None:
            devices = self.node * self.rack
            apart += ones // devices != others // devices
        return apart


@dataclass(frozen=True)
class Traffic:
    """What a group of an axis sends in a step.

    Attributes:
        pattern: one of PATTERNS. A ring is how an all-reduce, an all-gather or a reduce-scatter
            runs, and a line is a pipeline's.
        sent_bytes: what each rank sends in a step: in a ring to the next one, in a line to each
            neighbour that it has, and all to all to the others together, each an equal part.
    """

    pattern: str
    sent_bytes: float

    def __post_init__(self) -> None:
        if self.pattern not in PATTERNS:
            raise CourseError(f"a pattern is {', '.join(PATTERNS)}, and not {self.pattern}")


def pairs(groups: np.ndarray, pattern: str) -> tuple[np.ndarray, np.ndarray]:
    """Returns who sends to whom: two arrays of ranks, a message in each place.

    Args:
        groups: (groups, ranks of a group).
        pattern: one of PATTERNS.

    >>> senders, receivers = pairs(np.array([[0, 2, 4]]), "ring")
    >>> senders.tolist(), receivers.tolist()
    ([0, 2, 4], [2, 4, 0])
    """
    size = groups.shape[1]
    if size == 1:
        steps: list[np.ndarray] = []
    elif pattern == "ring":
        return groups.ravel(), np.roll(groups, -1, axis=1).ravel()
    elif pattern == "line":
        ahead = np.stack([groups[:, :-1].ravel(), groups[:, 1:].ravel()])
        steps = [ahead, ahead[::-1]]
    else:
        steps = [
            np.stack([groups.ravel(), np.roll(groups, -by, axis=1).ravel()])
            for by in range(1, size)
        ]
    if not steps:
        return np.array([], dtype=int), np.array([], dtype=int)
    both = np.concatenate(steps, axis=1)
    return both[0], both[1]


def link_bytes(
    mesh: Mesh,
    cluster: Cluster,
    traffic: Mapping[str, Traffic],
    placement: Sequence[int] | None = None,
) -> dict[str, dict[str, float]]:
    """Returns for each axis the bytes that cross each class of links in a step, all ranks together.

    Args:
        mesh: the ranks.
        cluster: the devices.
        traffic: for each axis that sends something.
        placement: the device of each rank; without it rank r is on device r.

    Returns:
        axis -> class of links -> bytes.

    >>> cost = link_bytes(Mesh.of(tp=2, dp=2), Cluster(node=2), {"dp": Traffic("ring", 10.0)})
    >>> cost["dp"]
    {'in a node': 0.0, 'between nodes': 40.0, 'between racks': 0.0}
    """
    devices = np.arange(mesh.ranks) if placement is None else np.asarray(placement)
    if sorted(devices.tolist()) != list(range(mesh.ranks)):
        raise CourseError(f"a placement has each device from 0 to {mesh.ranks - 1} once")
    cost = {}
    for axis, sent in traffic.items():
        senders, receivers = pairs(mesh._groups([axis]), sent.pattern)
        parts = mesh.sizes[axis] - 1 if sent.pattern == "all to all" else 1
        codes = cluster.link_codes(devices[senders], devices[receivers])
        messages = np.bincount(codes, minlength=len(LINKS))
        cost[axis] = {
            link: float(many) * sent.sent_bytes / max(parts, 1)
            for link, many in zip(LINKS, messages, strict=True)
        }
    return cost


def slow_bytes(cost: Mapping[str, Mapping[str, float]]) -> float:
    """Returns the bytes that leave a node, of all axes together.

    >>> slow_bytes({"dp": {"in a node": 5.0, "between nodes": 40.0, "between racks": 2.0}})
    42.0
    """
    return sum(size for links in cost.values() for link, size in links.items() if link != LINKS[0])


def orders_by_slow_bytes(
    sizes: Mapping[str, int], cluster: Cluster, traffic: Mapping[str, Traffic]
) -> list[tuple[float, tuple[str, ...]]]:
    """Returns every order of the axes with the bytes that leave a node, the best first.

    Args:
        sizes: ranks along each axis.
        cluster: the devices.
        traffic: for each axis that sends something.

    >>> busy = {"tp": Traffic("ring", 9.0), "dp": Traffic("ring", 1.0)}
    >>> orders_by_slow_bytes({"dp": 2, "tp": 2}, Cluster(node=2), busy)
    [(4.0, ('tp', 'dp')), (36.0, ('dp', 'tp'))]
    """
    ranked = [
        (slow_bytes(link_bytes(Mesh.ordered(order, sizes), cluster, traffic)), order)
        for order in itertools.permutations(sizes)
    ]
    return sorted(ranked)
