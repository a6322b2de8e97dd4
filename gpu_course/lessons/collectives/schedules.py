"""Collectives as schedules: who sends which chunk to whom, step by step.

A schedule says what is to be sent and holds no numbers. It can be followed to see who holds what
after each step, priced by the busiest port of each step, drawn, and held against what ranks really
sent.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from gpu_course.errors import CourseError


@dataclass(frozen=True)
class Move:
    """A message: chunks that go from one rank to another in one step.

    Attributes:
        source, target: ranks.
        chunks: their numbers.
        adds: True where the target adds them to its own, False where it puts them in their place.
    """

    source: int
    target: int
    chunks: tuple[int, ...]
    adds: bool


Step = tuple[Move, ...]
"""Messages that do not wait for each other."""
Held = tuple[tuple[Counter[int], ...], ...]
"""[rank][chunk] -> how often each rank's numbers are in it."""


@dataclass(frozen=True)
class Schedule:
    """A collective, step by step.

    Attributes:
        name: such as "ring".
        ranks: how many take part.
        chunks: into how many the buffer is cut, all of one size.
        steps: in order.
    """

    name: str
    ranks: int
    chunks: int
    steps: tuple[Step, ...]

    def held(self, start: Held | None = None) -> tuple[Held, ...]:
        """Returns who holds what at first and after each step.

        Args:
            start: default every rank's own numbers in all of its chunks.
        """
        now = start or own(self.ranks, self.chunks)
        found = [now]
        for step in self.steps:
            now = after(now, step)
            found.append(now)
        return tuple(found)

    def most_chunks(self) -> tuple[int, ...]:
        """Returns for each step the most chunks that one rank sends or receives.

        >>> ring_all_reduce(4).most_chunks(), tree_all_reduce(4).most_chunks()
        ((1, 1, 1, 1, 1, 1), (1, 1, 1, 1))
        """
        return tuple(
            max(
                sum(len(move.chunks) for move in step if rank == getattr(move, end))
                for rank in range(self.ranks)
                for end in ("source", "target")
            )
            for step in self.steps
        )

    def sent_chunks(self) -> dict[tuple[int, int], int]:
        """Returns {(from, to): chunks that are sent}."""
        found: Counter[tuple[int, int]] = Counter()
        for step in self.steps:
            for move in step:
                found[move.source, move.target] += len(move.chunks)
        return dict(found)


def own(ranks: int, chunks: int) -> Held:
    """Returns the beginning: in all chunks of a rank its own numbers, once."""
    return tuple(tuple(Counter({rank: 1}) for _ in range(chunks)) for rank in range(ranks))


def after(held: Held, step: Step) -> Held:
    """Returns who holds what after a step, all of whose messages leave before any arrives."""
    now = [list(row) for row in held]
    for move in step:
        for chunk in move.chunks:
            sent = held[move.source][chunk]
            now[move.target][chunk] = now[move.target][chunk] + sent if move.adds else sent
    return tuple(tuple(row) for row in now)


def ring_reduce_scatter(ranks: int) -> Schedule:
    """Returns a reduce-scatter around a ring: in the end rank r holds the sum of chunk r.

    A chunk begins its way at the rank after the one that is to have it, and each rank on the way
    adds its own.
    """
    return Schedule("ring reduce-scatter", _some(ranks), ranks, _around(range(ranks), 1, True))


def ring_all_gather(ranks: int) -> Schedule:
    """Returns an all-gather around a ring: chunk r is rank r's, and goes to all others."""
    return Schedule("ring all-gather", _some(ranks), ranks, _around(range(ranks), 0, False))


def ring_all_reduce(ranks: int) -> Schedule:
    """Returns an all-reduce around a ring: a reduce-scatter, and then an all-gather."""
    halves = ring_reduce_scatter(ranks), ring_all_gather(ranks)
    return Schedule("ring", ranks, ranks, halves[0].steps + halves[1].steps)


def pat_all_gather(ranks: int) -> Schedule:
    """Returns an all-gather over parallel aggregated trees: chunk r is rank r's, and goes to all.

    Each chunk goes down a binomial tree of its own, all trees alike and turned by a rank. The first
    step goes farthest, with one chunk in each message, and the last to the next rank, with half
    of all.

    Source: Jeaugey 2025, "PAT: a new algorithm for all-gather and reduce-scatter operations at
    scale".

    >>> [(m.target, m.chunks) for step in pat_all_gather(8).steps for m in step if not m.source]
    [(4, (0,)), (2, (0, 4)), (1, (0, 2, 4, 6))]
    """
    far = [1 << k for k in reversed(range((_some(ranks) - 1).bit_length()))]
    steps = []
    for way in far:
        step = []
        for rank in range(ranks):
            # Chunk c stands `place` behind its root here; what is a multiple of 2 far goes on.
            places = ((rank - c) % ranks for c in range(ranks))
            going = [c for c, at in enumerate(places) if at % (2 * way) == 0 and at + way < ranks]
            if going:
                step.append(Move(rank, (rank + way) % ranks, tuple(going), False))
        steps.append(tuple(step))
    return Schedule("PAT all-gather", ranks, ranks, tuple(steps))


def pat_reduce_scatter(ranks: int) -> Schedule:
    """Returns a reduce-scatter over parallel aggregated trees: the all-gather, turned round.

    The first step goes to the rank before, with half of all chunks, and the last one farthest.
    """
    steps = tuple(
        tuple(Move(m.target, m.source, m.chunks, True) for m in step)
        for step in reversed(pat_all_gather(ranks).steps)
    )
    return Schedule("PAT reduce-scatter", ranks, ranks, steps)


def pat_all_reduce(ranks: int) -> Schedule:
    """Returns both halves of PAT, one after the other, which together are an all-reduce.

    >>> pat_all_reduce(8).most_chunks()
    (4, 2, 1, 1, 2, 4)
    """
    halves = pat_reduce_scatter(ranks), pat_all_gather(ranks)
    return Schedule("PAT", ranks, ranks, halves[0].steps + halves[1].steps)


def tree_all_reduce(ranks: int) -> Schedule:
    """Returns an all-reduce in one piece: pairs, pairs of pairs and so on to rank 0, and back.

    >>> [(m.source, m.target) for step in tree_all_reduce(4).steps for m in step]
    [(1, 0), (3, 2), (2, 0), (0, 2), (0, 1), (2, 3)]
    """
    up: list[Step] = []
    far = 1
    while far < _some(ranks):
        pairs = range(0, ranks - far, 2 * far)
        up.append(tuple(Move(rank + far, rank, (0,), True) for rank in pairs))
        far *= 2
    return Schedule("tree", ranks, 1, (*up, *_back(up)))


def tree_parent(place: int, ranks: int) -> int | None:
    """Returns the parent of a place in a binary tree: odd places are leaves, and 0 is the root.

    Source: NVIDIA, NCCL, src/graph/trees.cc: the same tree.

    >>> [tree_parent(place, 8) for place in range(8)]
    [None, 2, 4, 2, 0, 6, 4, 6]
    """
    if not place:
        return None
    bit = place & -place
    parent = (place ^ bit) | (bit << 1)
    return parent if parent < ranks else place ^ bit


def second_place(rank: int, ranks: int) -> int:
    """Returns the place of a rank in the second tree: what is even in the first is odd in it.

    >>> [second_place(rank, 4) for rank in range(4)], [second_place(rank, 5) for rank in range(5)]
    ([3, 2, 1, 0], [4, 0, 1, 2, 3])
    """
    return ranks - 1 - rank if ranks % 2 == 0 else (rank - 1) % ranks


def double_tree_all_reduce(ranks: int, pieces: int = 1) -> Schedule:
    """Returns an all-reduce over two trees, half of the buffer in each, in so many pieces.

    The first half's pieces are chunks 0 to pieces - 1. A piece goes one level up in each step, and
    later one level down; the next piece follows a step behind.
    """
    trees = (
        {rank: rank for rank in range(_some(ranks))},
        {second_place(rank, ranks): rank for rank in range(ranks)},
    )
    high = (ranks - 1).bit_length()
    up: list[list[Move]] = [[] for _ in range(high + pieces - 1 if high else 0)]
    for tree, at in enumerate(trees):
        for place in range(1, ranks):
            parent = tree_parent(place, ranks)
            assert parent is not None
            ready = _height(place, ranks)
            for piece in range(pieces):
                chunk = tree * pieces + piece
                up[ready + piece].append(Move(at[place], at[parent], (chunk,), True))
    steps = [tuple(step) for step in up]
    return Schedule("double tree", ranks, 2 * pieces, (*steps, *_back(steps)))


def _height(place: int, ranks: int) -> int:
    """Returns how many steps after a leaf's first message a place can send its own."""
    below = [p for p in range(1, ranks) if tree_parent(p, ranks) == place]
    return 1 + max(_height(p, ranks) for p in below) if below else 0


def two_level_all_reduce(nodes: int, per_node: int) -> Schedule:
    """Returns an all-reduce in three parts: scattered in the nodes, reduced between, gathered in.

    Rank r is of node r // per_node. In the first part each node does a ring's reduce-scatter over
    per_node shares, each of `nodes` chunks; then the ranks that have the same share reduce it
    around a ring of their own; then each node gathers.
    """
    ranks = _some(nodes) * _some(per_node)
    inside = [range(node * per_node, (node + 1) * per_node) for node in range(nodes)]
    across = [range(place, ranks, per_node) for place in range(per_node)]
    scatter = _together(_around(ring, 1, True, nodes) for ring in inside)
    gather = _together(_around(ring, 0, False, nodes) for ring in inside)
    between = _together(
        _around(ring, 1, True, first=place * nodes) + _around(ring, 0, False, first=place * nodes)
        for place, ring in enumerate(across)
    )
    return Schedule("two levels", ranks, ranks, scatter + between + gather)


def _around(
    ring: Sequence[int], lag: int, adds: bool, wide: int = 1, first: int = 0
) -> tuple[Step, ...]:
    """Returns the n - 1 steps around a ring: place i sends the part (i - lag - step) mod n.

    Args:
        ring: ranks in order.
        lag: 1 where part i ends at place i, 0 where it begins there.
        adds: whether a rank adds what arrives.
        wide: chunks of a part.
        first: the first chunk of part 0.
    """
    n = len(ring)

    def part(number: int) -> tuple[int, ...]:
        begin = first + number % n * wide
        return tuple(range(begin, begin + wide))

    return tuple(
        tuple(
            Move(rank, ring[(place + 1) % n], part(place - lag - step), adds)
            for place, rank in enumerate(ring)
        )
        for step in range(n - 1)
    )


def _together(parts: object) -> tuple[Step, ...]:
    """Returns rings that run at the same time, their first steps as one step, and so on."""
    rings = list(parts)  # type: ignore[call-overload]
    return tuple(
        tuple(move for step in steps for move in step) for steps in zip(*rings, strict=True)
    )


def _back(up: Sequence[Step]) -> tuple[Step, ...]:
    """Returns the way down: the same messages the other way, in the opposite order."""
    return tuple(
        tuple(Move(m.target, m.source, m.chunks, False) for m in step) for step in reversed(up)
    )


def _some(ranks: int) -> int:
    if ranks < 1:
        raise CourseError(f"{ranks} ranks make no collective", "give 1 or more")
    return ranks
