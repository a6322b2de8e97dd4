"""How long collectives take: a fixed time for each step, and a time for each byte.

A message of s bytes takes alpha + s / bandwidth, whoever else is sending. A collective is a
sequence of steps, and a step is over when its busiest rank is done: after alpha, and after the
bytes of the port that has most to send or to receive. That is a superstep of Valiant's BSP without
its work, l + g h with l = alpha and g = 1 / bandwidth; in the words of LogP, alpha holds the
latency and the overhead of both ends. Time for additions is left out.

Source: Valiant 1990, "A Bridging Model for Parallel Computation"; Culler and others 1993, "LogP";
Thakur, Rabenseifner and Gropp 2005, "Optimization of Collective Communication Operations in MPICH";
Sanders, Speck and Träff 2009, "Two-tree algorithms for full bandwidth broadcast, reduction and
scan"; Jeaugey 2025, "PAT: a new algorithm for all-gather and reduce-scatter operations at scale".
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from gpu_course.errors import CourseError


@dataclass(frozen=True)
class Link:
    """What a message costs.

    Attributes:
        alpha_s: seconds of a step, however small its messages.
        bytes_per_s: what a rank sends, and at the same time receives, in a second.
    """

    alpha_s: float
    bytes_per_s: float

    def step_s(self, size_bytes: float) -> float:
        """Returns the seconds of a step whose busiest port has so many bytes.

        >>> Link(1e-5, 1e9).step_s(10_000)
        2e-05
        """
        return self.alpha_s + size_bytes / self.bytes_per_s

    @property
    def half_bytes(self) -> float:
        """The size at which half of a step's time is alpha.

        >>> Link(1e-5, 1e9).half_bytes
        10000.0
        """
        return self.alpha_s * self.bytes_per_s


def superstep_s(work_s: float, most_bytes: float, link: Link) -> float:
    """Returns the seconds of a superstep: w + g h + l.

    Args:
        work_s: w, the longest computation of a rank.
        most_bytes: h, the most that one rank sends or receives.
        link: with g and l.

    Source: Valiant 1990.

    >>> superstep_s(3e-5, 10_000, Link(1e-5, 1e9))
    5e-05
    """
    return work_s + link.step_s(most_bytes)


def ring_reduce_scatter_s(ranks: int, size_bytes: float, link: Link) -> float:
    """Returns the seconds of a reduce-scatter around a ring.

    Each of the n - 1 steps passes a chunk of S / n on to the next rank.

    Args:
        ranks: n.
        size_bytes: S, of the whole buffer, which every rank brings.
        link: between neighbours.

    >>> round(ring_reduce_scatter_s(4, 4e6, Link(1e-5, 1e9)) * 1e6)
    3030
    """
    _positive(ranks)
    return (ranks - 1) * link.step_s(size_bytes / ranks)


def ring_all_gather_s(ranks: int, size_bytes: float, link: Link) -> float:
    """Returns the seconds of an all-gather around a ring: as a reduce-scatter, without additions.

    Args:
        ranks: n.
        size_bytes: S, of the whole buffer, which every rank has in the end.
        link: between neighbours.
    """
    return ring_reduce_scatter_s(ranks, size_bytes, link)


def ring_all_reduce_s(ranks: int, size_bytes: float, link: Link) -> float:
    """Returns the seconds of an all-reduce around a ring: 2 (n - 1) (alpha + S / n / bandwidth).

    Source: Patarasuk and Yuan 2009, "Bandwidth optimal all-reduce algorithms".

    >>> round(ring_all_reduce_s(4, 4e6, Link(1e-5, 1e9)) * 1e6)
    6060
    """
    return 2 * ring_reduce_scatter_s(ranks, size_bytes, link)


def levels(ranks: int) -> int:
    """Returns the steps from the farthest leaf of a binary tree to its root.

    >>> [levels(n) for n in (1, 2, 3, 4, 5, 8, 1024)]
    [0, 1, 2, 2, 3, 3, 10]
    """
    _positive(ranks)
    return (ranks - 1).bit_length()


def tree_all_reduce_s(ranks: int, size_bytes: float, link: Link) -> float:
    """Returns the seconds of an all-reduce up a binomial tree and down again, in one piece.

    In each of the 2 ceil(log2 n) steps a rank that takes part sends or receives the whole buffer.

    >>> round(tree_all_reduce_s(4, 4e6, Link(1e-5, 1e9)) * 1e6)
    16040
    """
    return 2 * levels(ranks) * link.step_s(size_bytes)


def double_tree_all_reduce_s(
    ranks: int, size_bytes: float, link: Link, pieces: int | None = None
) -> float:
    """Returns the seconds of an all-reduce over two trees, half of the buffer in each.

    A rank that has children in one tree is a leaf of the other, or nearly so: it sends two messages
    in a step and receives two. The halves follow in pieces, so that all levels have something to
    do: 2 (levels + pieces - 1) steps with S / pieces bytes in each port.

    Args:
        ranks: n.
        size_bytes: S.
        link: between any two.
        pieces: of each half; default as many as take the least time.

    >>> link = Link(1e-5, 1e9)
    >>> round(double_tree_all_reduce_s(4, 4e6, link, pieces=1) * 1e6)
    16040
    >>> round(double_tree_all_reduce_s(4, 4e6, link) * 1e6)
    8820
    """
    high = levels(ranks)
    if not high:
        return 0.0
    count = best_pieces(ranks, size_bytes, link) if pieces is None else pieces
    return 2 * (high + count - 1) * link.step_s(size_bytes / count)


def tree_in_pieces_s(ranks: int, size_bytes: float, link: Link, pieces: int) -> float:
    """Returns the seconds of an all-reduce over one binary tree, the buffer in pieces.

    As over two trees: piece after piece, each one level behind the one before. But a rank with two
    children has two pieces of the whole buffer in its port in each step, and a leaf has one.

    Args:
        ranks: n, 3 or more: with fewer there are no two children.
        size_bytes: S.
        link: between any two.
        pieces: of the buffer.

    >>> link = Link(1e-5, 1e9)
    >>> [round(tree_in_pieces_s(4, 4e6, link, k) * 1e6) for k in (1, 20)]
    [32040, 17220]
    """
    return 2 * (levels(ranks) + pieces - 1) * link.step_s(2 * size_bytes / pieces)


def best_pieces(ranks: int, size_bytes: float, link: Link) -> int:
    """Returns into how many pieces the halves of a double tree are best cut.

    (levels - 1 + p) (alpha + S / p / bandwidth) is least at p = sqrt((levels - 1) S / (alpha
    bandwidth)), and as a sum of convex terms it only grows to both sides of that.

    Raises:
        CourseError: alpha is 0, so that ever smaller pieces take ever less time.

    >>> best_pieces(4, 4e6, Link(1e-5, 1e9)), best_pieces(4, 100, Link(1e-5, 1e9))
    (20, 1)
    """
    if not link.alpha_s:
        raise CourseError("no number of pieces is best without alpha", "give a link with alpha_s")
    turn = math.sqrt(max(levels(ranks) - 1, 0) * size_bytes / link.half_bytes)
    around = {max(1, math.floor(turn)), max(1, math.ceil(turn))}
    return min(sorted(around), key=lambda p: (levels(ranks) - 1 + p) * link.step_s(size_bytes / p))


def pat_all_gather_s(ranks: int, size_bytes: float, link: Link) -> float:
    """Returns the seconds of an all-gather over parallel aggregated trees, where they fit buffers.

    Each chunk goes down a tree of its own, and what goes from a rank to the same rank goes as one
    message: ceil(log2 n) steps, a ring's bytes. A reduce-scatter is the same turned round.

    Args:
        ranks: n.
        size_bytes: S, of the whole buffer, which every rank has in the end.
        link: between any two.

    Source: Jeaugey 2025. Beyond the size of its buffers a library takes more steps.

    >>> link = Link(1e-5, 1e9)
    >>> [round(f(64, 64e3, link) * 1e6) for f in (ring_all_gather_s, pat_all_gather_s)]
    [693, 123]
    """
    return levels(ranks) * link.alpha_s + (ranks - 1) / ranks * size_bytes / link.bytes_per_s


def ring_share(ranks: int) -> float:
    """Returns what an all-reduce round a ring sends over each link, each way, in buffers.

    >>> ring_share(4)
    1.5
    """
    _positive(ranks)
    return 2 * (ranks - 1) / ranks


def switch_share(ranks: int) -> float:
    """Returns what an all-reduce in a switch sends over each rank's link, each way, in buffers.

    Each rank has a share of 1 / n of the buffer. It asks the switch for the sum of its share, so
    the switch fetches that share from everybody; and it hands the switch the sum, which gives
    everybody a copy. So a link carries the whole buffer, and a share the other way round.

    Source: NVIDIA, nccl-tests, pull request 239, where an author of NCCL has the same factor.

    >>> switch_share(8)
    1.125
    """
    _positive(ranks)
    return (ranks + 1) / ranks


def two_level_all_reduce_s(
    nodes: int, per_node: int, size_bytes: float, inside: Link, between: Link
) -> float:
    """Returns the seconds of an all-reduce in three parts, each around rings.

    A reduce-scatter inside each node leaves every rank with S / per_node bytes; an all-reduce of
    these goes between the ranks of the same place in all nodes; an all-gather inside each node ends
    it.

    Args:
        nodes, per_node: how many nodes, and ranks in each.
        size_bytes: S.
        inside: the link within a node.
        between: the link of one rank to another node: each has its own.

    Source: Jia and others 2018, "Highly Scalable Deep Learning Training System with
    Mixed-Precision", hierarchical all-reduce.

    >>> fast, slow = Link(1e-6, 1e11), Link(1e-5, 1e10)
    >>> round(two_level_all_reduce_s(4, 8, 1e9, fast, slow) * 1e3, 2)
    36.32
    """
    _positive(nodes)
    share = size_bytes / per_node
    return ring_all_reduce_s(per_node, size_bytes, inside) + ring_all_reduce_s(
        nodes, share, between
    )


ALL_REDUCES: Mapping[str, Callable[[int, float, Link], float]] = {
    "ring": ring_all_reduce_s,
    "tree": tree_all_reduce_s,
    "double tree": double_tree_all_reduce_s,
}
"""The all-reduces over one kind of link, by name: (ranks, size in bytes, link) -> seconds."""


def fastest(ranks: int, size_bytes: float, link: Link) -> str:
    """Returns the name of the all-reduce that takes the least time; the first of equals.

    >>> link = Link(1e-5, 1e10)
    >>> [fastest(64, size, link) for size in (1e3, 1e6, 1e9)]
    ['tree', 'double tree', 'ring']
    """
    return min(ALL_REDUCES, key=lambda name: ALL_REDUCES[name](ranks, size_bytes, link))


def ring_meets_tree_bytes(ranks: int, link: Link) -> float:
    """Returns the size from which a ring takes less time than a tree; 0 where it does for all.

    Both are straight lines over the size, so they meet where alpha bandwidth (n - 1 - levels) =
    S (levels - (n - 1) / n).

    >>> round(ring_meets_tree_bytes(64, Link(1e-5, 1e10)))
    1136449
    >>> ring_meets_tree_bytes(2, Link(1e-5, 1e10))
    0.0
    """
    steps, high = ranks - 1, levels(ranks)
    if not steps:
        return 0.0
    return link.half_bytes * (steps - high) / (high - steps / ranks)


Point = tuple[float, float]
"""(bytes, seconds)."""


def through(one: Point, other: Point) -> Link:
    """Returns the link whose step takes what was measured, at both of two points.

    >>> link = through((1_000, 11e-6), (10_000, 20e-6))
    >>> round(link.alpha_s * 1e6, 6), round(link.bytes_per_s)
    (10.0, 1000000000)
    """
    return fit([one, other])


def fit(points: Iterable[Point]) -> Link:
    """Returns the link whose steps are nearest to what was measured: least squares of the errors
    in proportion to each time.

    The times reach from microseconds to seconds. Plain squares would see the longest alone, and
    alpha is known from the shortest. Where a negative alpha or a negative time for a byte would fit
    best, that one is 0 or next to it, and the other is fitted alone.

    Args:
        points: (bytes, seconds) of at least two different sizes.

    Raises:
        CourseError: fewer than two sizes, or a time that is not above 0.

    >>> fit([(0, 1e-5), (10_000, 2.2e-5), (20_000, 2.8e-5), (90_000, 1e-4)]).alpha_s < 1.1e-5
    True
    """
    given = [(float(size), float(seconds)) for size, seconds in points]
    if len({size for size, _ in given}) < 2:
        raise CourseError("a line through one size is no fit", "measure two sizes at least")
    if any(seconds <= 0 for _, seconds in given):
        raise CourseError("a time is not above 0", "measure again, over many calls")
    # Each row of the system is (1, size) / seconds, and is to give 1.
    rows = [(1 / seconds, size / seconds) for size, seconds in given]
    aa, ab, bb = (sum(r[i] * r[j] for r in rows) for i, j in ((0, 0), (0, 1), (1, 1)))
    a, b = (sum(r[i] for r in rows) for i in (0, 1))
    determinant = aa * bb - ab * ab
    alpha, beta = (a * bb - b * ab) / determinant, (b * aa - a * ab) / determinant
    if alpha < 0:
        alpha, beta = 0.0, b / bb
    elif beta <= 0:
        alpha, beta = a / aa, 0.0
    return Link(alpha, 1 / beta if beta else math.inf)


def _positive(count: int) -> None:
    if count < 1:
        raise CourseError(f"{count} ranks cannot reduce anything", "give 1 or more")
