"""Warps that touch memory in one pattern: the pattern is counted once for all of them."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

# Most accesses have one pattern, or one more for the warps at an edge; after these few, looking
# for the next costs more than counting what is left row by row.
MOST_PATTERNS = 4


def by_group(values: np.ndarray, groups: np.ndarray) -> np.ndarray:
    """Returns the values of each group as one row; short rows repeat their first value.

    Args:
        values: int64 (n,), one per lane.
        groups: int64 (n,), the group of each lane, in ascending order.

    >>> by_group(np.array([7, 8, 9, 5]), np.array([0, 0, 0, 4]))
    array([[7, 8, 9],
           [5, 5, 5]])
    """
    starts = np.flatnonzero(groups[1:] != groups[:-1]) + 1
    count = starts.size + 1
    width = groups.size // count
    if width * count == groups.size and bool((starts == np.arange(1, count) * width).all()):
        return values.reshape(count, width)
    edges = np.concatenate(([0], starts, [groups.size]))
    sizes = edges[1:] - edges[:-1]
    width = int(sizes.max())
    rows = np.repeat(values[edges[:-1]], width)
    rows[np.arange(groups.size) + np.repeat(np.arange(count) * width - edges[:-1], sizes)] = values
    return rows.reshape(count, width)


def repeated(rows: np.ndarray) -> Iterator[tuple[np.ndarray, int]]:
    """Yields rows that are all different or nearly so, and how many times each of them occurs.

    >>> [(r.tolist(), n) for r, n in repeated(np.array([[1, 2], [1, 2], [3, 4]]))]
    [([[1, 2]], 2), ([[3, 4]], 1)]
    """
    for _ in range(MOST_PATTERNS):
        like_first = rows == rows[0]
        if like_first.all():
            yield rows[:1], len(rows)
            return
        same = like_first.all(axis=1)
        yield rows[:1], int(np.count_nonzero(same))
        rows = rows[~same]
    yield rows, 1


def sort_rows(rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Returns each row in ascending order, and the steps from one value to the next.

    >>> sort_rows(np.array([[3, 1, 1]]))
    (array([[1, 1, 3]]), array([[0, 2]]))
    """
    steps = rows[:, 1:] - rows[:, :-1]
    if (steps < 0).any():
        rows = np.sort(rows, axis=1)
        steps = rows[:, 1:] - rows[:, :-1]
    return rows, steps
