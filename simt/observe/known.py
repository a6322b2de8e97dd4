"""Up to when which threads' accesses are known to have happened: a map that never changes.

A hand-over between threads passes on all that was known before, and a little more. So what two of
them know shares all parts but those that differ, and to join the two touches these alone: a chain
of hand-overs costs as much for each of its links, however long it is.
"""

from __future__ import annotations

from typing import Any

import numpy as np

LEAF_BITS = 7
LEAF = 1 << LEAF_BITS
BRANCH_BITS = 7
BRANCH = 1 << BRANCH_BITS
LEVELS = 3
"""Of branches above a leaf: room for 2**28 numbers, and a launch has at most 2**27 lanes."""

Tree = Any
"""None; a branch, the trees that are there by their place; or at the bottom a leaf, int32 (LEAF,):
up to when each of so many has happened."""


class Known:
    """What is known of threads, and of whole blocks; joined, never changed.

    Args:
        threads: up to when the accesses of each thread have happened.
        blocks: up to when those of all threads of each block have.
    """

    __slots__ = ("blocks", "threads")

    def __init__(self, threads: Tree = None, blocks: Tree = None) -> None:
        self.threads = threads
        self.blocks = blocks

    def __bool__(self) -> bool:
        return self.threads is not None or self.blocks is not None

    def join(self, other: Known) -> Known:
        """Returns all that either knows."""
        if other is self or not other:
            return self
        threads = joined(self.threads, other.threads)
        blocks = joined(self.blocks, other.blocks)
        for one in (self, other):
            if threads is one.threads and blocks is one.blocks:
                return one
        return Known(threads, blocks)

    def covers(self, threads: np.ndarray, times: np.ndarray, per_block: int) -> np.ndarray:
        """Returns bool (n,), True where an access by a thread at a time has surely happened."""
        found = np.zeros(threads.size, bool)
        if self.threads is not None:
            found = times < _times_of(self.threads, threads)
        if self.blocks is not None:
            found |= times < _times_of(self.blocks, threads // per_block)
        return np.asarray(found)


NOTHING = Known()


def known_until(threads: np.ndarray, times: np.ndarray, block: int, block_time: int) -> Known:
    """Returns that threads are known up to their times, and a whole block up to one.

    Args:
        threads: int64 (n,), ascending.
        times: int32 (n,).
        block, block_time: the block; of time 0, nothing is known.
    """
    blocks = _tree(np.array([block]), np.array([block_time])) if block_time else None
    return Known(_tree(threads, times) if threads.size else None, blocks)


def _tree(numbers: np.ndarray, times: np.ndarray) -> Tree:
    """The tree of some numbers, ascending."""
    places = numbers >> LEAF_BITS
    starts = np.flatnonzero(np.concatenate(([True], places[1:] != places[:-1])))
    parts = np.split(np.arange(numbers.size), starts[1:])
    level: dict[int, Tree] = {}
    for place, part in zip(places[starts].tolist(), parts, strict=True):
        leaf = np.zeros(LEAF, np.int32)
        leaf[numbers[part] & (LEAF - 1)] = times[part]
        level[place] = leaf
    for _ in range(LEVELS):
        above: dict[int, Tree] = {}
        for place, tree in level.items():
            above.setdefault(place >> BRANCH_BITS, {})[place & (BRANCH - 1)] = tree
        level = above
    return level[0]


def joined(one: Tree, other: Tree) -> Tree:
    """Returns two trees as one; a part that one of them has as it is stays that very part."""
    if other is None or one is other:
        return one
    if one is None:
        return other
    if isinstance(one, np.ndarray):
        later = np.maximum(one, other)
        for each in (one, other):
            if np.array_equal(later, each):
                return each
        return later
    new = {place: joined(one.get(place), tree) for place, tree in other.items()}
    if all(one.get(place) is tree for place, tree in new.items()):
        return one
    new = {**one, **new}
    if len(new) == len(other) and all(other[place] is tree for place, tree in new.items()):
        return other
    return new


def _times_of(tree: Tree, numbers: np.ndarray) -> np.ndarray:
    """int32 (n,), what a tree holds for some numbers; 0 for those it has not."""
    places = numbers >> LEAF_BITS
    first = int(places[0]) if places.size else 0
    if np.count_nonzero(places == first) == places.size:
        leaf = _leaf(tree, first)
        none = np.zeros(numbers.size, np.int32)
        return none if leaf is None else leaf[numbers & (LEAF - 1)]
    found = np.zeros(numbers.size, np.int32)
    for place in np.unique(places).tolist():
        leaf = _leaf(tree, place)
        if leaf is not None:
            here = places == place
            found[here] = leaf[numbers[here] & (LEAF - 1)]
    return found


def _leaf(tree: Tree, place: int) -> np.ndarray | None:
    for level in range(LEVELS - 1, -1, -1):
        tree = tree.get(place >> (level * BRANCH_BITS) & (BRANCH - 1))
        if tree is None:
            return None
    return np.asarray(tree)
