"""Puzzle `add_ten`: ten more in every cell."""

from __future__ import annotations

import numpy as np

from gpu_course.puzzle.builders import (
    ONE_BLOCK,
    ONE_CELL_EACH,
    TRAFFIC,
    arrays,
    drawn,
    gives,
    one_block,
    recognise,
)
from gpu_course.puzzle.specification import Case, Debrief, KernelPuzzle, Mistake


def _thread_numbers(case: Case) -> np.ndarray:
    return np.arange(case.sizes["size"], dtype=np.float32)


DEBRIEF = Debrief(
    shows=TRAFFIC,
    why=(
        "You wrote the work of one thread, and the launch ran it once for every cell. Each thread "
        "has a different i, so no two of them ever write to the same place."
    ),
    alternative=(
        "You may also read a[i] into a variable first, or write the sum the other way round: the "
        "compiler makes the same code of all of them."
    ),
)

ADD_TEN = KernelPuzzle(
    name="00_start_here/add_ten",
    title="ten more in every cell",
    difficulty="easy",
    minutes=5,
    debrief=DEBRIEF,
    statement=(
        "Write a kernel that puts a[i] + 10 into out[i]. It is launched in one block, with "
        "exactly as many threads as there are cells: each thread writes at most one cell, and no "
        "thread is left over. a may hold NaN and infinities as well."
    ),
    parameters={"add_ten": ("out", "a")},
    cases=ONE_BLOCK,
    random_case=drawn(size=(2, 200)),
    inputs=arrays(a="size"),
    launches=one_block("add_ten", "out", "a", threads="size"),
    reference=gives(lambda a: a + np.float32(10)),
    diagnose=recognise(
        ("added-index", lambda a, case: a + _thread_numbers(case)),
    ),
    diagnoses={
        "added-index": (
            "Cell 0 went up by 0, cell 1 by 1, cell 2 by 2: what you added is the number of the "
            "thread. The thread number says where to work; how much to add is the same for all."
        ),
        "copied-input": ("The numbers arrive where they should, but nothing was added to them."),
        "race": (
            "Several threads wrote to one cell. Look at the index on the left of the equals sign: "
            "does it depend on which thread is running?"
        ),
        "out-of-bounds": (
            "A thread reached outside an array. There are exactly as many threads as cells: "
            "thread i needs cell i and no neighbour of it."
        ),
        "input-changed": (
            "a is not what it was before the launch. Read from a, write to out: the program that "
            "launched this kernel may still need a."
        ),
        "unwritten": "out was left as it was. Which array stands on the left of your equals sign?",
    },
    share=ONE_CELL_EACH,
    hints=(
        "You write the work of one single thread. The launch repeats it for all of them.",
        (
            "i is already the number of this thread, and a different number in each. Which cell of "
            "a should this thread read, and which cell of out should it write?"
        ),
        (
            "One line is enough: an element of out on the left, an element of a and a constant on "
            "the right, both elements chosen by i."
        ),
    ),
    mistakes=(
        Mistake("added_index", "wrong-result", "added-index"),
        Mistake("only_copied", "wrong-result", "copied-input"),
        Mistake("everyone_writes_cell_zero", "hazard", "race"),
        Mistake("wrote_to_the_neighbour", "hazard", "out-of-bounds"),
        Mistake("wrote_to_the_input", "input-changed", "input-changed"),
        Mistake("one_thread_does_it_all", "over-budget", "not-shared"),
    ),
    source="after 'Map' in Sasha Rush, GPU-Puzzles, https://github.com/srush/GPU-Puzzles",
)
