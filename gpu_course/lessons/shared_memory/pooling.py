"""Puzzle `pooling`: the largest of the last four."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from gpu_course.lessons.shared_memory.pieces import OUTSIDE_THE_TILE, TPB, WARP, clamped_bytes
from gpu_course.puzzle.builders import (
    INFINITIES,
    ONE_CELL_EACH,
    Idea,
    arrays,
    drawn,
    gives,
    recognise,
    sized,
    special,
)
from gpu_course.puzzle.specification import (
    Bonus,
    Budget,
    Case,
    Debrief,
    KernelPuzzle,
    Launch,
    Mistake,
    Values,
)

WINDOW = 4


def _windows(a: np.ndarray, first: int, last: int) -> list[np.ndarray]:
    """The columns `first` to `last` places to the right of each column, NaN beyond the row."""
    rows, cols = a.shape
    wide = np.full((rows, cols + 2 * WINDOW), np.nan, np.float32)
    wide[:, WINDOW : WINDOW + cols] = a
    return [wide[:, WINDOW + at : WINDOW + at + cols] for at in range(first, last + 1)]


def _largest(a: np.ndarray, first: int, last: int) -> np.ndarray:
    return np.fmax.reduce(_windows(a, first, last))


def _began_too_high_or(
    *ideas: tuple[str, Idea],
) -> Callable[[Values, Case, Values, Values], str | None]:
    """Knows the ideas, and one number in all wrong cells that is larger than any wanted."""
    known = recognise(*ideas)

    def diagnose(inputs: Values, case: Case, expected: Values, got: Values) -> str | None:
        key = known(inputs, case, expected, got)
        wrong = got["out"] != expected["out"]
        found, wanted = got["out"][wrong], expected["out"][wrong]
        if key is None and found.size and (found == found[0]).all() and (wanted < found).all():
            return "began-too-high"
        return key

    return diagnose


def _pooling_reads(case: Case) -> int:
    """The tile is read for the neighbours alone."""
    cols = case.sizes["cols"]
    first = min(WINDOW - 1, cols - 1)
    return case.sizes["rows"] * (first + (WINDOW - 1 if cols > WARP else 0))


def _at_least_zero(inputs: Values) -> dict[str, np.ndarray]:
    return {"out": np.maximum(_largest(inputs["a"], 1 - WINDOW, 0), np.float32(0))}


def _summed(inputs: Values) -> dict[str, np.ndarray]:
    with np.errstate(over="ignore"):
        total = np.nansum(_windows(inputs["a"], 1 - WINDOW, 0), axis=0, dtype=np.float32)
    return {"out": np.asarray(total)}


DEBRIEF = Debrief(
    shows=("global_load.bytes", "shared_load.requests", "barriers"),
    why=(
        "Neighbouring windows overlap, so a number is brought once and looked at by up to four "
        "threads. The barrier stands between the bringing and the looking."
    ),
    alternative=(
        "Four reads and three comparisons per thread are fine for a window of four. For long "
        "windows, take the largest of pairs, then of pairs of pairs: the number of steps grows "
        "with the logarithm."
    ),
    bonus=Bonus(
        goal="A thread's own number need not come out of the tile again.",
        counter="shared_load.requests",
        limit=_pooling_reads,
    ),
)

POOLING = KernelPuzzle(
    name="04_shared_memory/pooling",
    title="the largest of the last four",
    difficulty="medium",
    minutes=8,
    debrief=DEBRIEF,
    statement=(
        "Max pooling with a window that moves by one: out[row, col] is the largest of the last "
        "WINDOW numbers of the row, a[row, col] included; at the beginning of a row there are "
        "fewer. Each row has a block of its own, with at least as many threads as columns, and "
        "each thread writes at most one cell. Load every number from global memory once. a holds "
        "no NaN; it may hold infinities."
    ),
    parameters={"pooling": ("out", "a", "cols")},
    cases=(
        sized("visible example", visible=True, rows=3, cols=12),
        sized("one cell", rows=1, cols=1),
        sized("rows shorter than the window", rows=4, cols=3),
        sized("a thread for every column", rows=5, cols=64),
        sized("two warps, not quite", rows=7, cols=51),
        sized("numbers near the ends of float32", rows=7, cols=50, doublings=122),
        special("infinities", (-math.inf, *INFINITIES), rows=5, cols=37),
    ),
    random_case=drawn(rows=(2, 12), cols=(6, 65)),
    inputs=arrays("cols", a="rows cols"),
    launches=lambda case: (Launch("pooling", case.sizes["rows"], TPB, ("out", "a", "cols")),),
    reference=gives(lambda a: _largest(a, 1 - WINDOW, 0)),
    budgets=(
        Budget(
            "global_load.bytes",
            lambda case, counters: (
                4 * case.sizes["rows"] * case.sizes["cols"] + clamped_bytes(case.sizes["rows"])
            ),
            "Each number is wanted by up to WINDOW threads and should come from global memory "
            "once; the others find it in the tile.",
            "bytes loaded from a",
        ),
    ),
    diagnose=_began_too_high_or(
        ("began-at-zero", _at_least_zero),
        ("looked-ahead", lambda a: _largest(a, 0, WINDOW - 1)),
        ("window-short", lambda a: _largest(a, 2 - WINDOW, 0)),
        ("summed", _summed),
    ),
    diagnoses={
        **OUTSIDE_THE_TILE,
        "race": (
            "A thread compares with what its neighbours bring, and nothing makes it wait for "
            "them. What has to happen between filling the tile and reading it?"
        ),
        "barrier-divergence": (
            "The block has more threads than the row has columns, and the barrier waits for all of "
            "them. Guard the memory accesses, not the barrier."
        ),
        "out-of-bounds": (
            "An index lies outside its array. At the beginning of a row the window sticks out to "
            "the left, and at its end the block has more threads than the row has columns. Which "
            "of the two is it in the line above?"
        ),
        "uninitialised-read": (
            "A place of the tile was read, and no thread had filled it. Which columns does the "
            "row have?"
        ),
        "began-at-zero": (
            "Where all numbers of a window are negative, your result is 0, which is not one of "
            "them. Begin with a number of the window itself."
        ),
        "began-too-high": (
            "Where all numbers of a window are small, your result is not one of them: it is what "
            "your maximum begins with. No finite number is small enough for every input. Begin "
            "with a number of the window itself."
        ),
        "looked-ahead": (
            "The window lies on the wrong side: it should end at a[row, col], and yours begins "
            "there."
        ),
        "window-short": "The window is one number too short: WINDOW counts a[row, col] as well.",
        "summed": "You add the numbers of the window; the puzzle asks for the largest of them.",
    },
    share=ONE_CELL_EACH,
    hints=(
        (
            "Once a row lies in the tile, the rest is a loop over at most WINDOW places of it. "
            "Who brings what, and when may the loop begin?"
        ),
        (
            "One guard for bringing and one for the rest, the barrier between them at the "
            "outermost level. The loop goes back from the thread's own place."
        ),
        (
            "Thread 0 has one number to look at, thread 1 has two, and from thread WINDOW - 1 on "
            "each has WINDOW of them: let the loop end at the smaller of WINDOW and how many "
            "there are. Begin with the thread's own number."
        ),
    ),
    mistakes=(
        Mistake("no_barrier", "hazard", "race"),
        Mistake("barrier_behind_the_guard", "hazard", "barrier-divergence"),
        Mistake("window_past_the_start", "hazard", "out-of-bounds"),
        Mistake("began_at_zero", "wrong-result", "began-at-zero"),
        Mistake("began_at_minus_100", "wrong-result", "began-too-high"),
        Mistake("looked_ahead", "wrong-result", "looked-ahead"),
        Mistake("window_one_short", "wrong-result", "window-short"),
        Mistake("summed", "wrong-result", "summed"),
        Mistake("read_global_again", "over-budget", "over-budget"),
        Mistake("one_thread_of_each_block", "over-budget", "not-shared"),
    ),
    constants={"TPB": TPB, "WINDOW": WINDOW},
    equivalent_mutants={
        "pooling:constant:for back in range(0, min(WINDOW, col + 1)):": (
            "a number compared with itself stays the largest so far"
        ),
    },
    source="after 'Pooling' in Sasha Rush, GPU-Puzzles, https://github.com/srush/GPU-Puzzles",
)
