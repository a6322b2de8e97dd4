"""Puzzles of lesson 01 with one block along one axis: zip_add, guard."""

from __future__ import annotations

import numpy as np

from gpu_course.catalog.builders import (
    ONE_CELL_EACH,
    float32_out,
    one_block,
    recognise,
    sized,
    vectors,
)
from gpu_course.catalog.specification import Case, KernelPuzzle, Mistake
from gpu_course.catalog.threads import debriefs

ZIP_ADD = KernelPuzzle(
    name="01_threads/zip_add",
    title="two arrays, one sum",
    difficulty="easy",
    minutes=4,
    debrief=debriefs.ZIP_ADD,
    statement=(
        "Write a kernel that puts a[i] + b[i] into out[i]. One block, exactly one thread per "
        "cell, so each thread writes at most one cell. This time you also write the line that "
        "finds out which thread you are."
    ),
    functions=("zip_add",),
    parameters={"zip_add": ("out", "a", "b")},
    cases=(
        sized("visible example", visible=True, size=8),
        sized("one cell", size=1),
        sized("37 cells", size=37),
        sized("256 cells", size=256),
        sized("1,024 large numbers", size=1024, doublings=12),
    ),
    random_case=lambda rng: sized("a size drawn at random", size=int(rng.integers(2, 200))),
    inputs=vectors("a", "b"),
    outputs=float32_out("size"),
    launches=one_block("zip_add", "out", "a", "b", threads="size"),
    reference=lambda inputs, case: {"out": inputs["a"] + inputs["b"]},
    diagnose=recognise(
        ("one-array-twice", lambda inputs, case: {"out": inputs["a"] + inputs["a"]}),
        ("one-array-twice", lambda inputs, case: {"out": inputs["b"] + inputs["b"]}),
        ("one-array-only", lambda inputs, case: {"out": inputs["a"]}),
        ("one-array-only", lambda inputs, case: {"out": inputs["b"]}),
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


GUARD = KernelPuzzle(
    name="01_threads/guard",
    title="more threads than data",
    difficulty="easy",
    minutes=5,
    debrief=debriefs.GUARD,
    statement=(
        "Write a kernel that puts a[i] + 10 into out[i] for the `size` cells of a. Each thread "
        "writes at most one cell. The launch brings more threads than there are cells, and the "
        "extra ones must touch nothing."
    ),
    functions=("guard",),
    parameters={"guard": ("out", "a", "size")},
    cases=(
        sized("visible example", visible=True, size=8, threads=12),
        sized("one cell", size=1, threads=4),
        sized("one thread too many", size=31, threads=32),
        sized("exactly enough threads", size=64, threads=64),
        sized("almost all threads left over", size=5, threads=256),
        sized("1,000 large numbers", size=1000, threads=1024, doublings=10),
    ),
    random_case=lambda rng: _more_threads_than_cells(int(rng.integers(2, 200)), rng),
    inputs=vectors("a", scalars=["size"]),
    outputs=float32_out("size"),
    launches=one_block("guard", "out", "a", "size"),
    reference=lambda inputs, case: {"out": inputs["a"] + np.float32(10)},
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


def _more_threads_than_cells(size: int, rng: np.random.Generator) -> Case:
    threads = size + int(rng.integers(1, 40))
    return sized("sizes drawn at random", size=size, threads=threads)
