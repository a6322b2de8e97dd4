"""Puzzle `zip_add`: two arrays, one sum."""

from __future__ import annotations

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
from gpu_course.puzzle.specification import Debrief, KernelPuzzle, Mistake

DEBRIEF = Debrief(
    shows=TRAFFIC,
    why=(
        "Each thread has a different number, so each sum has one owner and no thread has to wait. "
        "All three arrays use that number, so they cannot get out of step."
    ),
    alternative=(
        "In one block the thread's own number and its number in the whole launch are the same, so "
        "either is a good index here. With a second block only the latter stays right."
    ),
)

ZIP_ADD = KernelPuzzle(
    name="01_threads/zip_add",
    title="two arrays, one sum",
    difficulty="easy",
    minutes=4,
    debrief=DEBRIEF,
    statement=(
        "Write a kernel that puts a[i] + b[i] into out[i]. One block, exactly one thread per "
        "cell, so each thread writes at most one cell. This time you also write the line that "
        "finds out which thread you are. a and b may hold NaN and infinities as well."
    ),
    parameters={"zip_add": ("out", "a", "b")},
    cases=ONE_BLOCK,
    random_case=drawn(size=(2, 200)),
    inputs=arrays(a="size", b="size"),
    launches=one_block("zip_add", "out", "a", "b", threads="size"),
    reference=gives(lambda a, b: a + b),
    diagnose=recognise(
        ("one-array-twice", lambda a: a + a),
        ("one-array-twice", lambda b: b + b),
        ("one-array-only", lambda a: a),
        ("one-array-only", lambda b: b),
    ),
    diagnoses={
        "one-array-twice": (
            "Every cell holds twice a number of one input. The other array was never read."
        ),
        "one-array-only": "out is a copy of one input. The other array was never read.",
        "race": (
            "More than one thread wrote to the same cell, so they have the same index. A block "
            "has one number, and each of its threads has a different one: which of the two did "
            "you ask for?"
        ),
        "input-changed": (
            "An input is not what it was before the launch. The sum belongs in out; a and b are "
            "only read."
        ),
        "unwritten": "out was left as it was. Which array stands on the left of your equals sign?",
        "out-of-bounds": (
            "A thread reached past the end of an array. With exactly one thread per cell, thread i "
            "needs cell i of all three arrays and no other."
        ),
    },
    share=ONE_CELL_EACH,
    hints=(
        "Two arrays in, one array out, and the same cell number in all three.",
        (
            "Each thread asks for its own number first. cuda.threadIdx has .x, .y and .z; a block "
            "that was launched with a plain number of threads counts them along x."
        ),
        (
            "Two lines: one gives the thread's number a name, one writes the sum. They differ from "
            "add_ten in where the second summand comes from."
        ),
    ),
    mistakes=(
        Mistake("same_array_twice", "wrong-result", "one-array-twice"),
        Mistake("forgot_b", "wrong-result", "one-array-only"),
        Mistake("block_number_as_index", "hazard", "race"),
        Mistake("summed_into_the_input", "input-changed", "input-changed"),
        Mistake("b_shifted_by_one", "hazard", "out-of-bounds"),
        Mistake("half_of_the_threads", "over-budget", "not-shared"),
    ),
    source="after 'Zip' in Sasha Rush, GPU-Puzzles, https://github.com/srush/GPU-Puzzles",
)
