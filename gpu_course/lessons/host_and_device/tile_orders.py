"""Orders of the tiles of a matrix product, and what an L2 cache keeps of what they read.

A tile (row, col) of the result reads one strip of the left factor, ("a", row), and one of the
right, ("b", col). A strip is as high as a tile and as long as the shared side, and the cache holds
some of them: least recently used goes out. A real L2 holds lines, has sets and two halves, and many
tiles are in it at once; that an order of tiles decides what it finds is the same.

Source: Triton's tutorial "Matrix Multiplication", section on L2 cache optimizations.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from gpu_course.errors import CourseError

Tile = tuple[int, int]
Strip = tuple[str, int]


def row_by_row(rows: int, cols: int) -> list[Tile]:
    """Returns the tiles in the order of their numbers.

    >>> row_by_row(2, 2)
    [(0, 0), (0, 1), (1, 0), (1, 1)]
    """
    return [(row, col) for row in range(rows) for col in range(cols)]


def in_groups(rows: int, cols: int, height: int) -> list[Tile]:
    """Returns the tiles in groups of rows, each group column by column.

    Args:
        rows, cols: of tiles.
        height: rows of a group; the last group may have fewer.

    Raises:
        CourseError: no row is in a group.

    >>> in_groups(3, 2, 2)
    [(0, 0), (1, 0), (0, 1), (1, 1), (2, 0), (2, 1)]
    """
    if height < 1:
        raise CourseError(f"a group of {height} rows has no tile", "give 1 or more")
    return [
        (row, col)
        for top in range(0, rows, height)
        for col in range(cols)
        for row in range(top, min(rows, top + height))
    ]


def to_and_fro(rows: int, cols: int, height: int) -> list[Tile]:
    """Returns the tiles in groups of rows, every second group from the last column back.

    >>> to_and_fro(2, 3, 1)
    [(0, 0), (0, 1), (0, 2), (1, 2), (1, 1), (1, 0)]
    """
    tiles = in_groups(rows, cols, height)
    return sorted(
        tiles,
        key=lambda tile: (
            tile[0] // height,
            tile[1] if tile[0] // height % 2 == 0 else -tile[1],
            tile[0],
        ),
    )


def reads(order: Iterable[Tile]) -> list[Strip]:
    """Returns the strips that tiles read, in order.

    >>> reads([(0, 2)])
    [('a', 0), ('b', 2)]
    """
    return [strip for row, col in order for strip in (("a", row), ("b", col))]


@dataclass(frozen=True)
class Frame:
    """One tile of a film.

    Attributes:
        tile: that is computed.
        hits: of its two strips, those that were in the cache, in order.
        held: the strips in the cache after it, the one read last at the end.
    """

    tile: Tile
    hits: tuple[bool, bool]
    held: tuple[Strip, ...]


def film(order: Sequence[Tile], room: int) -> list[Frame]:
    """Returns what happens in a cache of `room` strips, tile after tile.

    >>> [frame.hits for frame in film([(0, 0), (0, 1), (0, 0)], 3)]
    [(False, False), (True, False), (True, True)]
    """
    held: OrderedDict[Strip, None] = OrderedDict()
    frames = []
    for tile in order:
        hits = []
        for strip in reads([tile]):
            hits.append(strip in held)
            held[strip] = None
            held.move_to_end(strip)
            if len(held) > room:
                held.popitem(last=False)
        frames.append(Frame(tile, (hits[0], hits[1]), tuple(held)))
    return frames


def misses(order: Sequence[Tile], room: int) -> int:
    """Returns how many strips come from memory.

    >>> misses(row_by_row(9, 9), 6), misses(in_groups(9, 9, 3), 6)
    (90, 36)
    """
    return sum(not hit for frame in film(order, room) for hit in frame.hits)


def hit_rate(order: Sequence[Tile], room: int) -> float:
    """Returns the part of the reads that the cache answers; 0 where nothing is read."""
    return 1 - misses(order, room) / (2 * len(order)) if order else 0.0


def best_groups(rows: int, cols: int, room: int) -> int:
    """Returns the misses of the best groups of rows; of columns it is the same turned round."""
    heights = range(1, max(2, min(rows, room) + 1))
    return min(misses(in_groups(rows, cols, height), room) for height in heights)


ORDERS: Mapping[str, Callable[[int, int, int], list[Tile]]] = {
    "row by row": lambda rows, cols, height: row_by_row(rows, cols),
    "in groups": in_groups,
    "to and fro": to_and_fro,
}
"""The orders of a film by name: (rows, columns, rows of a group) -> tiles."""
