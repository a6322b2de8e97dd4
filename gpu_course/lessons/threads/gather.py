"""Puzzle `gather`: read from anywhere."""

from __future__ import annotations

import numpy as np

from gpu_course.puzzle.builders import (
    ONE_CELL_EACH,
    TRAFFIC,
    blocks_to_cover,
    drawn,
    eighths,
    recognise,
    sized,
    special,
    where_written,
)
from gpu_course.puzzle.specification import Case, Debrief, KernelPuzzle, Launch, Mistake, Values


def _table_and_tape(rng: np.random.Generator, case: Case) -> Values:
    size, length = case.sizes["size"], case.sizes["length"]
    index = rng.integers(0, length, size).astype(np.int32)
    if size > 2:
        # The same cell asked for twice, and never in order: a scatter must collide.
        index[-1] = index[0]
        if index[1] == index[0]:
            index[1] = (index[0] + 1) % length
    return {
        "table": eighths(rng, length, case),
        "index": index,
        "tape": eighths(rng, size, case),
        "shift": case.sizes["shift"],
        "size": size,
    }


def _three_launches(case: Case) -> tuple[Launch, ...]:
    grid, block = blocks_to_cover(case.sizes["size"], case.sizes["block"]), case.sizes["block"]
    return (
        Launch("gather", grid, block, ("gathered", "table", "index", "size")),
        Launch("gather_reversed", grid, block, ("reversed", "tape", "size")),
        Launch("gather_shifted", grid, block, ("shifted", "tape", "shift", "size")),
    )


def _three_results(inputs: Values, case: Case) -> dict[str, np.ndarray]:
    return {
        "gathered": inputs["table"][inputs["index"]],
        "reversed": inputs["tape"][::-1].copy(),
        "shifted": np.roll(inputs["tape"], inputs["shift"]),
    }


def _table_copied(inputs: Values) -> dict[str, np.ndarray]:
    size, length = inputs["size"], len(inputs["table"])
    # With a table shorter than out this idea reads outside it, and never comes to a result.
    copied = inputs["table"][:size] if size <= length else np.full(size, np.nan, np.float32)
    return {"gathered": copied}


def _half_reversed(inputs: Values, case: Case) -> dict[str, np.ndarray]:
    size = case.sizes["size"]
    return {"reversed": where_written(inputs["tape"][::-1], np.arange(size) < size // 2)}


DEBRIEF = Debrief(
    shows=TRAFFIC,
    why=(
        "Each thread owns the cell it writes and may read any cell, so two threads that want the "
        "same number do not disturb each other. The other way round, with every thread writing "
        "wherever its number belongs, two could hit one cell."
    ),
    alternative=(
        "In the shifted kernel a remainder folds any shift back into the array. With a shift known "
        "to be shorter than the array, one comparison does it without a division."
    ),
)

GATHER = KernelPuzzle(
    name="01_threads/gather",
    title="read from anywhere",
    difficulty="medium",
    minutes=10,
    debrief=DEBRIEF,
    statement=(
        "Three kernels in which each thread writes at most one cell, its own, and may read any "
        "other. gather: out[i] = a[index[i]]. gather_reversed: out is a back to front. "
        "gather_shifted: every number moves `shift` cells to the right, and what falls off the "
        "end comes in again at the front; shift may be negative or larger than the array. a may "
        "hold NaN and infinities as well."
    ),
    parameters={
        "gather": ("out", "a", "index", "size"),
        "gather_reversed": ("out", "a", "size"),
        "gather_shifted": ("out", "a", "shift", "size"),
    },
    cases=(
        sized("visible example", visible=True, size=10, length=10, shift=3, block=4),
        sized("one cell", size=1, length=3, shift=2, block=4),
        sized("exactly two blocks", size=64, length=50, shift=21, block=32),
        sized("a short table, a shift to the left", size=100, length=7, shift=-5, block=32),
        sized("a long table, a shift past the end", size=37, length=500, shift=90, block=16),
        sized("large numbers", size=300, length=40_000, shift=-7000, block=128, doublings=100),
        special("NaN and infinities", size=41, length=23, shift=9, block=16),
    ),
    random_case=drawn(size=(3, 300), length=(2, 300), shift=(1, 900), block=[16, 24, 32]),
    # Six arrays of four-byte numbers, the table as long as the others.
    large=lambda least_bytes: sized(
        "past L2", size=-(-least_bytes // 24), length=-(-least_bytes // 24), shift=90, block=256
    ),
    inputs=_table_and_tape,
    launches=_three_launches,
    reference=_three_results,
    diagnose=recognise(
        ("copied-input", lambda tape: {"reversed": tape}),
        ("copied-input", lambda tape: {"shifted": tape}),
        ("copied-input", _table_copied),
        ("shifted-to-the-left", lambda tape, shift: {"shifted": np.roll(tape, -shift)}),
        ("half-reversed", _half_reversed),
    ),
    diagnoses={
        "copied-input": (
            "out is a plain copy of a. The cell that is read and the cell that is written have the "
            "same number, or both were changed alike."
        ),
        "shifted-to-the-left": (
            "The numbers moved the other way. Ask from the reader's side: cell i receives a number "
            "that used to be `shift` cells to its left."
        ),
        "half-reversed": (
            "Only the first half was written. Exchanging in place needs half the threads; here "
            "every thread fills one cell of its own."
        ),
        "race": (
            "Two threads wrote to one cell. The index array says where to read. Used as the "
            "place to write, it sends two threads to the same cell as soon as a number occurs "
            "twice."
        ),
        "out-of-bounds": (
            "An index left the array. Look at the value of the index in the `why` line: is it too "
            "large, or below zero? A negative index is refused here although NumPy would count it "
            "from the end. Where a shift leads past an end, % brings the whole index back."
        ),
    },
    share=ONE_CELL_EACH,
    hints=(
        "In all three, thread i writes out[i]. What changes is which cell of a it reads.",
        (
            "For the reversed copy, write down what cells 0, 1 and size - 1 read and find the "
            "rule. For the shift, ask which cell the number in cell i came from."
        ),
        (
            "The last cell is size - 1, not size. In Python and in Numba, x % size is never "
            "negative for a positive size, so one % takes care of both ends; mind that % binds "
            "tighter than -."
        ),
    ),
    mistakes=(
        Mistake("scattered", "hazard", "race", stands_for="gather"),
        Mistake("ignored_the_index", "wrong-result", "copied-input", stands_for="gather"),
        Mistake("no_guard", "hazard", "out-of-bounds", stands_for="gather"),
        Mistake("mirror_at_size", "hazard", "out-of-bounds", stands_for="gather_reversed"),
        Mistake("counted_from_the_end", "hazard", "out-of-bounds", stands_for="gather_reversed"),
        Mistake(
            "mirrored_both_sides", "wrong-result", "copied-input", stands_for="gather_reversed"
        ),
        Mistake(
            "half_of_the_threads", "wrong-result", "half-reversed", stands_for="gather_reversed"
        ),
        Mistake("forgot_to_wrap", "hazard", "out-of-bounds", stands_for="gather_shifted"),
        Mistake("wrapped_the_shift_only", "hazard", "out-of-bounds", stands_for="gather_shifted"),
        Mistake("wrapped_once", "hazard", "out-of-bounds", stands_for="gather_shifted"),
        Mistake("to_the_left", "wrong-result", "shifted-to-the-left", stands_for="gather_shifted"),
        Mistake(
            "two_cells_for_each_thread", "over-budget", "not-shared", stands_for="gather_reversed"
        ),
    ),
    points=15,
)
