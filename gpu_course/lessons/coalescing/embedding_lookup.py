"""Puzzle `embedding_lookup`: a row of the table for each token."""

from __future__ import annotations

import numpy as np

from gpu_course.lessons.coalescing.pieces import TPB, WARP, loads_in_order, stores_in_order
from gpu_course.puzzle.builders import (
    blocks_to_cover,
    drawn_case,
    eighths,
    gives,
    sized,
    special,
)
from gpu_course.puzzle.room import puzzle_fields
from gpu_course.puzzle.specification import (
    Case,
    KernelPuzzle,
    Launch,
    Share,
    Values,
)


def _inputs(rng: np.random.Generator, case: Case) -> Values:
    size, dim, vocab = (case.sizes[name] for name in ("size", "dim", "vocab"))
    table = eighths(rng, (vocab, dim), case)
    # Words come again, and none of them stands at its own place in the table.
    ids = rng.integers(0, vocab, size)
    ids[ids == np.arange(size)] = vocab - 1
    return {"table": table, "ids": ids.astype(np.int32), "size": size, "dim": dim}


def _columns(case: Case) -> int:
    """The most cells of a thread: one in 32 of each row of its warp."""
    return WARP * -(-case.sizes["dim"] // WARP)


EMBEDDING_LOOKUP = KernelPuzzle(
    **puzzle_fields(__file__),
    cases=(
        sized("visible example", visible=True, size=40, dim=48, vocab=50),
        sized("one token, one column", size=1, dim=1, vocab=3),
        sized("exactly one block", size=TPB, dim=32, vocab=70),
        sized("ragged rows of large numbers", size=67, dim=141, vocab=90, doublings=80),
        sized("rows shorter than a warp", size=33, dim=7, vocab=40),
        special("NaN and infinities", size=43, dim=37, vocab=11),
    ),
    random_case=drawn_case(size=(65, 100), dim=(33, 90), vocab=(101, 130)),
    inputs=_inputs,
    # As many rows in the table as are looked up.
    large=lambda least_bytes: sized(
        "past L2",
        size=blocks_to_cover(least_bytes, 8 * 1024),
        dim=1024,
        vocab=blocks_to_cover(least_bytes, 8 * 1024),
    ),
    launches=lambda case: (
        Launch(
            "embedding_lookup",
            blocks_to_cover(case.sizes["size"], TPB),
            TPB,
            ("out", "table", "ids", "size", "dim"),
        ),
    ),
    reference=gives(lambda table, ids: table[ids]),
    budgets=(
        loads_in_order(
            "At one moment the 32 lanes of a warp read cells that do not all lie side by "
            "side. What in this problem does lie side by side?"
        ),
        stores_in_order(
            "At one moment the 32 lanes of a warp write cells of out that lie apart. What in this "
            "problem does lie side by side?"
        ),
    ),
    share=Share(
        "Each warp writes the rows of its own 32 tokens.", lambda case, out: _columns(case)
    ),
)
