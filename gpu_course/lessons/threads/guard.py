"""Puzzle `guard`: more threads than data."""

from __future__ import annotations

import numpy as np

from gpu_course.puzzle.builders import (
    BRANCHES,
    ONE_CELL_EACH,
    TRAFFIC,
    arrays,
    gives,
    one_block,
    sized,
    special,
)
from gpu_course.puzzle.specification import Case, Debrief, KernelPuzzle, Mistake


def _more_threads_than_cells(size: int, rng: np.random.Generator) -> Case:
    threads = size + int(rng.integers(1, 40))
    return sized("sizes drawn at random", size=size, threads=threads)


DEBRIEF = Debrief(
    shows=(*TRAFFIC, *BRANCHES),
    why=(
        "A launch may be larger than the data, and the kernel itself decides who works. A thread "
        "that is turned away before its first access can do no harm."
    ),
    alternative=(
        "You can wrap the work in a condition, or let the threads without a cell return at once. "
        "Both are common. Once a kernel has barriers (lesson 04), only the first is safe."
    ),
)

GUARD = KernelPuzzle(
    name="01_threads/guard",
    title="more threads than data",
    difficulty="easy",
    minutes=5,
    debrief=DEBRIEF,
    statement=(
        "Write a kernel that puts a[i] + 10 into out[i] for the `size` cells of a. Each thread "
        "writes at most one cell. The launch brings more threads than there are cells, and the "
        "extra ones must touch nothing. a may hold NaN and infinities as well."
    ),
    parameters={"guard": ("out", "a", "size")},
    cases=(
        sized("visible example", visible=True, size=8, threads=12),
        sized("one cell", size=1, threads=4),
        sized("one thread too many", size=31, threads=32),
        sized("exactly enough threads", size=64, threads=64),
        sized("almost all threads left over", size=5, threads=256),
        sized("1,000 large numbers", size=1000, threads=1024, doublings=10),
        special("NaN and infinities", size=37, threads=40),
    ),
    random_case=lambda rng: _more_threads_than_cells(int(rng.integers(2, 200)), rng),
    inputs=arrays("size", a="size"),
    launches=one_block("guard", "out", "a", "size"),
    reference=gives(lambda a: a + np.float32(10)),
    diagnoses={
        "out-of-bounds": (
            "The threads named above have no cell, and they touched memory. Say in words which "
            "threads may work. Then test your condition at its edge: the first thread that must "
            "do nothing. Reading counts as touching too."
        ),
        "tail-unwritten": (
            "The condition turns away threads that do have a cell. Does it hold a number that "
            "fits one size only, or does it stop one cell short?"
        ),
        "unwritten": (
            "No cell of out was written. Read your condition aloud for thread 0: may it work?"
        ),
    },
    share=ONE_CELL_EACH,
    hints=(
        (
            "There are more threads here than cells, so some have no work to do. A kernel decides "
            "who works with an ordinary if."
        ),
        (
            "A thread's number and `size` are all it needs to decide. Cells are counted from 0, so "
            "ask what the number of the last cell is."
        ),
        (
            "Put both the reading of a and the writing of out inside the if. Check the condition "
            "with i = size - 1, which must work, and i = size, which must not."
        ),
    ),
    mistakes=(
        Mistake("no_guard", "hazard", "out-of-bounds"),
        Mistake("guard_lets_one_too_many_in", "hazard", "out-of-bounds"),
        Mistake("only_the_write_is_guarded", "hazard", "out-of-bounds"),
        Mistake("guard_turns_the_last_cell_away", "wrong-result", "tail-unwritten"),
        Mistake("size_of_the_example", "wrong-result", "tail-unwritten"),
        Mistake("one_thread_and_no_guard", "over-budget", "not-shared"),
        Mistake("every_thread_looks_at_all", "over-budget", "done-again"),
    ),
    source="after 'Guards' in Sasha Rush, GPU-Puzzles, https://github.com/srush/GPU-Puzzles",
)
