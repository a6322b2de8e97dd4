"""Puzzle `blocks`: more data than a block."""

from __future__ import annotations

import numpy as np

from gpu_course.lessons.threads.pieces import SEVERAL_BLOCKS
from gpu_course.puzzle.builders import (
    ONE_CELL_EACH,
    arrays,
    blocks_to_cover,
    drawn,
    enough_blocks,
    gives,
    recognise,
    sized,
    special,
    where_written,
)
from gpu_course.puzzle.room import told
from gpu_course.puzzle.specification import Case, KernelPuzzle, Values


def _factors_exchanged(inputs: Values, case: Case) -> dict[str, np.ndarray]:
    size, block = case.sizes["size"], case.sizes["block"]
    thread, number = np.indices((block, blocks_to_cover(size, block)))
    reached = np.isin(np.arange(size), thread * block + number)
    return {"out": where_written(inputs["a"] * inputs["a"], reached)}


BLOCKS = KernelPuzzle(
    **told(__file__),
    cases=(
        *SEVERAL_BLOCKS,
        sized("1,000 cells", size=1000, block=128),
        sized("40,000 large numbers", size=40_000, block=256, doublings=10),
        special("NaN and infinities", size=77, block=16),
    ),
    random_case=drawn(size=(20, 600), block=[16, 24, 32, 64]),
    inputs=arrays("size", a="size"),
    launches=enough_blocks("blocks", "out", "a", "size"),
    reference=gives(lambda a: a * a),
    diagnose=recognise(
        ("doubled", lambda a: a + a),
        ("gaps", _factors_exchanged),
    ),
    share=ONE_CELL_EACH,
)
