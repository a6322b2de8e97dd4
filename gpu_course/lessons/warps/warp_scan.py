"""Puzzle `warp_scan`: running sums within each warp."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from gpu_course.lessons.warps import pieces
from gpu_course.lessons.warps.pieces import CASES, TPB, WARP, by_warp, cells
from gpu_course.puzzle.builders import (
    ONE_CELL_EACH,
    arrays,
    enough_blocks,
    gives,
    recognise,
    sized,
    special,
)
from gpu_course.puzzle.room import told
from gpu_course.puzzle.specification import Bonus, KernelPuzzle
from gpu_course.puzzle.warp_budgets import NO_ATOMICS, STEPS

DELTAS = (1, 2, 4, 8, 16)
LANES = np.arange(WARP)

Adds = Callable[[np.ndarray, int], np.ndarray]
"""(number of each thread in the whole launch, delta) -> who adds what it fetched."""


def _scanned(a: np.ndarray, adds: Adds, deltas: tuple[int, ...] = DELTAS) -> np.ndarray:
    """Running sums as the steps make them, with a given idea of who adds."""
    rows = by_warp(a, fill=0)
    threads = np.arange(rows.size).reshape(rows.shape)
    for delta in deltas:
        source = np.where(delta > LANES, LANES, LANES - delta)
        rows = rows + np.where(adds(threads, delta), rows[:, source], np.float32(0))
    return cells(rows, len(a))


def _in_reach(threads: np.ndarray, delta: int) -> np.ndarray:
    return threads % WARP >= delta


def _right(a: np.ndarray) -> np.ndarray:
    return cells(by_warp(a, fill=0).cumsum(axis=1, dtype=np.float32), len(a))


def _before(a: np.ndarray) -> np.ndarray:
    return _right(a) - a


def _from_here_on(a: np.ndarray) -> np.ndarray:
    rows = by_warp(a, fill=0)[:, ::-1].cumsum(axis=1, dtype=np.float32)
    return cells(rows[:, ::-1], len(a))


WARP_SCAN = KernelPuzzle(
    **told(__file__),
    cases=(
        *CASES,
        sized("200 large numbers", size=200, doublings=100),
        special("NaN and infinities", size=101),
    ),
    random_case=pieces.random_case,
    inputs=arrays("size", a="size"),
    launches=enough_blocks("warp_scan", "out", "a", "size", block=TPB),
    reference=gives(_right),
    budgets=(
        pieces.NO_TILE,
        *NO_ATOMICS,
        pieces.READ_ONCE,
        pieces.shuffles(
            "A lane need not fetch its predecessors one by one. What a neighbour has summed "
            "already can be fetched as one number, so the distance may double in each step."
        ),
    ),
    diagnose=recognise(
        ("no-lane-guard", lambda a: _scanned(a, lambda threads, delta: threads >= 0)),
        ("thread-not-lane", lambda a: _scanned(a, lambda threads, delta: threads >= delta)),
        ("one-lane-late", lambda a: _scanned(a, lambda threads, delta: threads % WARP > delta)),
        ("window-of-16", lambda a: _scanned(a, _in_reach, DELTAS[:-1])),
        ("own-left-out", lambda a: _scanned(a, _in_reach, DELTAS[1:])),
        ("exclusive", _before),
        ("from-here-on", _from_here_on),
    ),
    share=ONE_CELL_EACH,
    bonus=Bonus(
        "shuffles",
        lambda case: STEPS * -(-case.sizes["size"] // WARP),
    ),
)
