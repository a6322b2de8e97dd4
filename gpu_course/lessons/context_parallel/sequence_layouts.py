"""Which tokens of a sequence each rank holds, and what that makes it compute."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise

import numpy as np

Places = tuple[np.ndarray, ...]
"""For each rank the places of its tokens in the sequence, int64, in the order it holds them."""


def plain(length: int, ranks: int) -> Places:
    """Returns consecutive tokens for each rank, as `Tensor.tensor_split` cuts.

    >>> [part.tolist() for part in plain(5, 2)]
    [[0, 1, 2], [3, 4]]
    """
    return tuple(np.array_split(np.arange(length), ranks))


def zigzag(length: int, ranks: int) -> Places:
    """Returns for rank r the chunks r and 2n - 1 - r of 2n.

    >>> [part.tolist() for part in zigzag(8, 2)]
    [[0, 1, 6, 7], [2, 3, 4, 5]]
    """
    chunks = np.array_split(np.arange(length), 2 * ranks)
    return tuple(np.concatenate([chunks[r], chunks[2 * ranks - 1 - r]]) for r in range(ranks))


def striped(length: int, ranks: int) -> Places:
    """Returns every n-th token for each rank, from token r on.

    >>> [part.tolist() for part in striped(5, 2)]
    [[0, 2, 4], [1, 3]]
    """
    return tuple(np.arange(rank, length, ranks) for rank in range(ranks))


LAYOUTS: Mapping[str, Callable[[int, int], Places]] = {
    "plain": plain,
    "zigzag": zigzag,
    "striped": striped,
}
"""How a sequence is dealt out, by name."""


def work(places: Sequence[np.ndarray]) -> np.ndarray:
    """Returns how many scores each rank computes in each round of a causal ring: [rank][round].

    In round t rank r holds keys and values of rank r - t. A query looks at its own token and at
    all before it.

    >>> work(plain(4, 2)).tolist()
    [[3, 0], [3, 4]]
    """
    ranks = len(places)
    found = np.zeros((ranks, ranks), np.int64)
    for rank, queries in enumerate(places):
        for step in range(ranks):
            keys = np.sort(places[(rank - step) % ranks])
            found[rank, step] = np.searchsorted(keys, queries, side="right").sum()
    return found


def bound(found: np.ndarray) -> float:
    """Returns the least share of their time in which ranks compute, where each round waits for all.

    Args:
        found: scores, [rank][round].

    >>> round(bound(work(plain(80_000, 8))), 3)
    0.533
    """
    return float(found.sum() / (len(found) * found.max(axis=0).sum()))


def packed_work(ends: Sequence[int], ranks: int) -> np.ndarray:
    """Returns the scores of each rank where documents lie end to end and are cut in equal parts.

    Args:
        ends: where each document begins, and where the last one ends: [0, 100, 400].
        ranks: how many parts.

    >>> packed_work([0, 4, 8], 2).tolist()
    [10, 10]
    """

    def before(place: int) -> int:
        lengths = (max(0, min(place, end) - start) for start, end in pairwise(ends))
        return sum(each * (each + 1) // 2 for each in lengths)

    cuts = [ends[-1] * rank // ranks for rank in range(ranks + 1)]
    return np.array([before(stop) - before(start) for start, stop in pairwise(cuts)])
