"""Puzzle `stencil_halo`: each cell and its two neighbours."""

from __future__ import annotations

import numpy as np

from gpu_course.lessons.shared_memory.pieces import (
    CASES,
    TPB,
    WARP,
    beyond,
    clamped_bytes,
    random_case,
    starts,
)
from gpu_course.puzzle.builders import (
    ONE_CELL_EACH,
    arrays,
    blocks_to_cover,
    enough_blocks,
    gives,
)
from gpu_course.puzzle.room import puzzle_fields
from gpu_course.puzzle.specification import (
    Bonus,
    Budget,
    Case,
    KernelPuzzle,
)


def _bytes(case: Case) -> int:
    size = case.sizes["size"]
    cells = sum(min(start + TPB + 1, size) - max(start - 1, 0) for start in starts(size))
    return 4 * cells + clamped_bytes(beyond(size, TPB, before=1, after=1))


def _stencil(a: np.ndarray) -> np.ndarray:
    left, right = _neighbours(a)
    return left - 2 * a + right


def _neighbours(a: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    nothing = np.zeros(1, np.float32)
    return np.concatenate([nothing, a[:-1]]), np.concatenate([a[1:], nothing])


STENCIL_HALO = KernelPuzzle(
    **puzzle_fields(__file__),
    cases=CASES,
    random_case=random_case,
    inputs=arrays("size", a="size"),
    launches=enough_blocks("stencil_halo", "out", "a", "size", block=TPB),
    reference=gives(lambda a: _stencil(a)),
    budgets=(
        Budget(
            "global_load.bytes",
            lambda case, counters: _bytes(case),
            "A block needs its own cells and one more at each side that has a neighbour; whatever "
            "is loaded beyond that could come from the tile.",
            "bytes loaded from a",
        ),
    ),
    share=ONE_CELL_EACH,
    bonus=Bonus(
        "shared_load.requests",
        lambda case: 2 * blocks_to_cover(case.sizes["size"], WARP),
    ),
)
