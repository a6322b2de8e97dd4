"""What each diagnosis says when a puzzle has no sentence of its own for it."""

from __future__ import annotations

SENTENCES: dict[str, str] = {
    "unwritten": (
        "Nothing wrote to the output. Look at the left side of your assignments: is the output "
        "on one of them, and does any thread get that far?"
    ),
    "block-unwritten": (
        "Whole blocks of threads left their cells untouched. Look at how a thread's index comes "
        "about: the block it is in has to be part of it."
    ),
    "tail-unwritten": (
        "The last cells were never written. Look at the condition that lets threads through, and "
        "at what happens when there are more cells than threads."
    ),
    "tail-wrong": (
        "The start is right and the end is not. Look at the last threads: what is different "
        "about their indices, or about the cells they read?"
    ),
    "only-first-block-right": (
        "Block 0 is right and the others are not. Something that should depend on the block "
        "depends on the place within the block alone."
    ),
    "shifted": (
        "The values are right, and they stand in the wrong cells: all moved by the same distance. "
        "Compare the index you read at with the index you write at."
    ),
    "transposed": (
        "The values are right with rows and columns exchanged. Look at which index comes first, "
        "where you read and where you write."
    ),
    "reversed": (
        "The values are right and in reverse order. Look at which end your index counts from."
    ),
    "copied-input": (
        "The output is a copy of the input. The values travel well; the operation on them is "
        "missing."
    ),
    "constant-offset": (
        "Every cell is off by the same amount. The indices are right; look at what is added."
    ),
    "constant-factor": (
        "Every cell is off by the same factor. The indices are right; look at what is multiplied, "
        "or how often something is added."
    ),
    "partly-wrong": (
        "Some cells are right and some are not. Write down the indices of the wrong ones: what do "
        "they have in common?"
    ),
    "wrong": (
        "No cell is right. Take the first one and work out by hand what its thread reads and "
        "computes."
    ),
    "out-of-bounds": "A thread reached past the end of an array. Which threads have a cell at all?",
    "race": (
        "Two threads met at one cell with nothing to order them. Give each cell one owner, or make "
        "them take turns."
    ),
    "barrier-divergence": (
        "A barrier is for every thread of the block. Bring it to a place that all of them reach."
    ),
    "uninitialised-read": "Something was read before anything was stored there.",
    "inactive-lane": "A warp operation asked for the value of a lane that does not take part.",
    "illegal-launch": "The launch asks for more than a GPU can give.",
    "endless-loop": (
        "The kernel does not come to an end. Look at the loop's condition: what in it changes from "
        "one round to the next?"
    ),
    "misaligned": "An access has to start at a multiple of its own size.",
    "refused": "A kernel may say less than Python can: numbers, arrays, loops and conditions.",
    "missing-function": "The grader calls the function by its name, so the name has to match.",
    "input-changed": (
        "An input is not what it was before the launch. Read from the inputs, write to the outputs."
    ),
    "order-dependent": (
        "The result changes with the order in which blocks and atomics run, and a GPU promises "
        "none. Look for the step whose result depends on who comes first."
    ),
    "over-budget": "The result is right; the way to it costs more than it needs to.",
}
"""Diagnosis key -> what to tell a learner when the puzzle has no sentence of its own."""

HINT_KINDS: dict[str, str] = {
    "unwritten": "who writes what",
    "block-unwritten": "a thread's index",
    "tail-unwritten": "the guard",
    "tail-wrong": "the guard",
    "only-first-block-right": "a thread's index",
    "shifted": "indices",
    "transposed": "rows and columns",
    "reversed": "indices",
    "copied-input": "the computation",
    "constant-offset": "the computation",
    "constant-factor": "the computation",
    "out-of-bounds": "the guard",
    "race": "who writes what",
    "barrier-divergence": "barriers",
    "endless-loop": "the loop",
    "input-changed": "who writes what",
    "over-budget": "the cost",
    "order-dependent": "the order of threads",
}
"""Diagnosis key -> what a hint that helps with it is about."""
