"""Puzzle `l2_tile_order`: count what a cache finds, and find an order it likes."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np

from gpu_course.errors import Unusable
from gpu_course.lessons.host_and_device.tile_orders import (
    Tile,
    best_groups,
    in_groups,
    misses,
    reads,
    row_by_row,
)
from gpu_course.puzzle.builders import sized
from gpu_course.puzzle.room import puzzle_fields
from gpu_course.puzzle.specification import Case, Judgement, PythonPuzzle, Values

MARGIN = 1.1


def _case(
    name: str, rows: int, cols: int, room: int, count: int, names: int, cache: int,
    visible: bool = False,
) -> Case:  # fmt: skip
    return sized(
        name, visible=visible, rows=rows, cols=cols, room=room, count=count, names=names,
        cache=cache,
    )  # fmt: skip


def _inputs(rng: np.random.Generator, case: Case) -> Values:
    s = case.sizes
    if s["names"]:
        drawn = rng.integers(0, s["names"], s["count"])
        # Some are read again soon, as a program does.
        again = rng.random(s["count"]) < 0.3
        for at in np.flatnonzero(again[2:]) + 2:
            drawn[at] = drawn[at - 2]
        named = [f"{'ab'[int(n) % 2]}{int(n) // 2}" for n in drawn]
    else:
        named = [f"{side}{n}" for side, n in reads(row_by_row(4, s["count"] // 4))]
    return {
        "calls": {
            "hits": ("lru_hits", named, s["cache"]),
            "order": ("l2_tile_order", s["rows"], s["cols"], s["room"]),
        }
    }


def _random_case(rng: np.random.Generator) -> Case:
    rows, cols = (int(n) for n in rng.integers(10, 24, 2))
    return _case("sizes drawn at random", rows, cols, int(rng.integers(5, 9)), 200, 12, 5)


def hits_by_distance(named: Sequence[Hashable], room: int) -> int:
    """Returns the hits of a cache by reuse distances.

    A read finds what it wants if fewer than `room` others were read since it was last.

    >>> hits_by_distance("abcabca", 3), hits_by_distance("abcabca", 2)
    (4, 0)
    """
    last: dict[Hashable, int] = {}
    hits = 0
    for at, name in enumerate(named):
        if name in last:
            hits += len(set(named[last[name] + 1 : at])) < room
        last[name] = at
    return hits


def _reference(inputs: Values, case: Case) -> Values:
    _, named, room = inputs["calls"]["hits"]
    return {"hits": hits_by_distance(named, room)}


def _tiles(order: Any, rows: int, cols: int) -> list[Tile]:
    """Returns an order once it has every tile once."""
    if not isinstance(order, (list, tuple)):
        raise Unusable("l2_tile_order returns no list of tiles", "no-tile")
    seen: set[Tile] = set()
    for number, tile in enumerate(order):
        numbers = isinstance(tile, (list, tuple)) and len(tile) == 2
        if not numbers or not all(isinstance(n, int) and not isinstance(n, bool) for n in tile):
            raise Unusable(f"number {number} of the order is no pair of whole numbers", "no-tile")
        row, col = tile
        if not (0 <= row < rows and 0 <= col < cols):
            raise Unusable(f"tile ({row}, {col}) is not among {rows} by {cols}", "outside")
        if (row, col) in seen:
            raise Unusable(f"tile ({row}, {col}) comes twice", "twice")
        seen.add((row, col))
    missing = next((tile for tile in row_by_row(rows, cols) if tile not in seen), None)
    if missing is not None:
        raise Unusable(f"tile {missing} never comes", "missing")
    return [(row, col) for row, col in order]


def _call(inputs: Values) -> str:
    _, named, held = inputs["calls"]["hits"]
    _, rows, cols, room = inputs["calls"]["order"]
    reads = f"{len(named)} reads of {len(set(named))} names"
    return f"lru_hits({reads}, room={held}), l2_tile_order(rows={rows}, cols={cols}, room={room})"


def _follow(inputs: Values, case: Case, got: Values) -> Values:
    _, rows, cols, room = inputs["calls"]["order"]
    order = _tiles(got["order"], rows, cols)
    return {"hits": got["hits"], "order": order, "misses": misses(order, room)}


def _judge(inputs: Values, case: Case, got: Values) -> Judgement | None:
    _, rows, cols, room = inputs["calls"]["order"]
    most = int(MARGIN * max(best_groups(rows, cols, room), best_groups(cols, rows, room)))
    if got["misses"] <= most:
        return None
    order = got["order"]
    turned = [(col, row) for row, col in order]
    if order == row_by_row(rows, cols) or turned == row_by_row(cols, rows):
        key = "line-by-line"
    elif any(
        each == in_groups(*sides, height)
        for each, sides in ((order, (rows, cols)), (turned, (cols, rows)))
        for height in range(room - 1, sides[0] + 1)
    ):
        key = "too-high"
    else:
        key = "many-misses"
    fact = f"{rows} by {cols} tiles, room for {room}: {got['misses']} misses; at most {most}"
    return Judgement(key, fact, "over-budget")


L2_TILE_ORDER = PythonPuzzle(
    **puzzle_fields(__file__),
    harness="gpu_course.puzzle.harness.calls",
    cases=(
        _case("visible example", 12, 10, 6, 24, 0, 4, visible=True),
        _case("a wide result", 9, 40, 5, 60, 9, 3),
        _case("a tall result", 40, 9, 5, 60, 9, 8),
        _case("a large cache", 30, 30, 10, 300, 30, 16),
        _case("everything fits", 7, 6, 20, 50, 8, 12),
        _case("a group that is not full", 13, 11, 7, 80, 5, 4),
        _case("one row, and room for one", 1, 8, 4, 40, 3, 1),
        _case("one column, and no room", 8, 1, 4, 30, 4, 0),
        _case("no tile, and no read", 0, 5, 4, 0, 1, 4),
    ),
    random_case=_random_case,
    inputs=_inputs,
    reference=_reference,
    follow=_follow,
    judge=_judge,
    call=_call,
)
