"""Puzzle `histogram`: how often each value occurs."""

from __future__ import annotations

import numpy as np

from gpu_course.lessons.reductions_and_scans.counting import counted, values_to_count
from gpu_course.puzzle.builders import ONE_CELL_EACH, drawn, enough_blocks, gives, recognise, sized
from gpu_course.puzzle.specification import Budget, Debrief, KernelPuzzle, Mistake

BINS = 40
BLOCK = 64


def _strays_kept(counts: np.ndarray, values: np.ndarray) -> dict[str, np.ndarray]:
    return counted(counts, np.clip(values, 0, BINS - 1))


def _values_added(counts: np.ndarray, values: np.ndarray) -> dict[str, np.ndarray]:
    inside = values[(values >= 0) & (values < BINS)]
    return {"counts": (counts + np.bincount(inside, inside, BINS)).astype(np.int32)}


def _without_the_last(counts: np.ndarray, values: np.ndarray) -> dict[str, np.ndarray]:
    return counted(counts, values[values != BINS - 1])


DEBRIEF = Debrief(
    shows=("global_load.bytes", "red.requests", "red.sectors"),
    why=(
        "An atomic reads, adds and writes in one step that no other thread can come between. "
        "Whole numbers add up to the same in every order, so the result is the same every time."
    ),
    alternative=(
        "Where the values are sorted, or almost, the lanes of a warp that hold the same value can "
        "agree on one of them that adds for all."
    ),
)

HISTOGRAM = KernelPuzzle(
    name="05_reductions_and_scans/histogram",
    title="how often each value occurs",
    difficulty="easy",
    minutes=6,
    debrief=DEBRIEF,
    statement=(
        "counts[v] should grow by the number of cells of values that hold v. Values below 0, or "
        "BINS and more, belong to no bin. There is a thread for each cell, and each value is "
        "loaded once. Many threads may meet at one bin; each thread writes at most one cell, and "
        "which one only the data says. A value may be any int32."
    ),
    parameters={"histogram": ("counts", "values", "size")},
    cases=(
        sized("visible example", visible=True, size=150),
        sized("one cell", size=1),
        sized("31 cells", size=31),
        sized("exactly two blocks", size=128),
        sized("almost all the same", size=261, common_percent=90),
        sized("a thousand and one", size=1001),
        sized("values far from all bins", size=70, far=1),
    ),
    random_case=drawn(size=(70, 700)),
    inputs=values_to_count(BINS, beyond=4),
    launches=enough_blocks("histogram", "counts", "values", "size", block=BLOCK),
    reference=gives(counted),
    budgets=(
        Budget(
            "global_load.bytes",
            lambda case, counters: 4 * case.sizes["size"],
            "Each value should be loaded once, by one thread. A thread that looks for the values "
            "of one bin looks at all the others, too.",
            "bytes loaded",
        ),
        Budget(
            "atom.requests",
            0,
            "Nobody needs the old count. An atomic whose old number is used waits for it, and one "
            "that compares first has to try again where two threads meet.",
            "atomics that wait for the old number",
        ),
    ),
    diagnose=recognise(
        ("strays-kept", _strays_kept),
        ("value-added", _values_added),
        ("last-bin-left-out", _without_the_last),
    ),
    diagnoses={
        "race": (
            "Several threads met at one bin, with nothing to order them. Where two add to it at "
            "once, both read the old count, and one of the two is lost. Which operation reads, "
            "adds and writes in a single step?"
        ),
        "race in global memory": (
            "Several threads met at one bin, with nothing to order them. Where two add to it at "
            "once, both read the old count, and one of the two is lost. Which operation reads, "
            "adds and writes in a single step?"
        ),
        "out-of-bounds": (
            "An index lies outside its array. Two things can be missing here: a thread may have no "
            "cell, and a value may have no bin."
        ),
        "strays-kept": (
            "Values without a bin were counted in the first and the last one. They belong to none."
        ),
        "value-added": "A bin grows by 1 for each of its cells. By what does yours grow?",
        "last-bin-left-out": "The last bin stays as it was. Which value belongs to it?",
    },
    share=ONE_CELL_EACH,
    hints=(
        "A thread looks at one value. What does it do with it, and when does it do nothing?",
        (
            "`counts[v] += 1` is three steps: read, add, write. Numba has one call for all three, "
            "which takes the array, the index and what is to be added."
        ),
        (
            "There are two guards: one for threads without a cell, and one for values without a "
            "bin. Only then comes the atomic addition of 1."
        ),
    ),
    mistakes=(
        Mistake("plain_plus", "hazard", "race"),
        Mistake("no_guard_for_the_bin", "hazard", "out-of-bounds"),
        Mistake("threads_unguarded", "hazard", "out-of-bounds"),
        Mistake("strays_into_the_nearest_bin", "wrong-result", "strays-kept"),
        Mistake("added_the_value", "wrong-result", "value-added"),
        Mistake("last_bin_left_out", "wrong-result", "last-bin-left-out"),
        Mistake("a_thread_for_each_bin", "over-budget", "over-budget"),
        Mistake("compares_and_exchanges", "over-budget", "over-budget"),
        Mistake("one_thread", "over-budget", "not-shared"),
    ),
    constants={"BINS": BINS},
)
