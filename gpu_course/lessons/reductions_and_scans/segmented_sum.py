"""Puzzle `segmented_sum`: many sums of neighbours, with few atomics."""

from __future__ import annotations

import numpy as np

from gpu_course.lessons.reductions_and_scans.scan_pieces import (
    TPB,
    WARP,
    WARP_CONSTANTS,
    WHOLE_WARPS,
)
from gpu_course.lessons.reductions_and_scans.sums import AS_FEW_SHUFFLES, NO_FLOAT64
from gpu_course.puzzle.builders import (
    ONE_CELL_EACH,
    eighths,
    enough_blocks,
    gives,
    recognise,
    sized,
    with_special_numbers,
)
from gpu_course.puzzle.specification import Budget, Case, Debrief, KernelPuzzle, Mistake, Values


def _inputs(rng: np.random.Generator, case: Case) -> Values:
    """Keys that never go down and leave some segments out, the first and the last among them."""
    size, segments = case.sizes["size"], case.sizes["segments"]
    used = np.sort(rng.choice(np.arange(1, segments - 1), case.sizes["used"], replace=False))
    cuts = np.sort(rng.choice(np.arange(1, size), case.sizes["used"] - 1, replace=False))
    lengths = np.diff([0, *cuts, size])
    return {
        "a": eighths(rng, size, case),
        "out": eighths(rng, segments, case),
        "key": np.repeat(used, lengths).astype(np.int32),
        "size": size,
    }


def _put_special_numbers(values: Values) -> None:
    """An infinity at the end of a segment, a NaN at the begin of another, and one at the end."""
    begins = np.flatnonzero(np.diff(values["key"])) + 1
    values["a"][[begins[1] - 1, -1]] = np.inf
    values["a"][begins[4]] = np.nan


def _random(rng: np.random.Generator) -> Case:
    size = int(rng.integers(65, 600))
    used = int(rng.integers(2, size // 4))
    return sized("sizes drawn at random", size=size, segments=used + 5, used=used)


def _sum(key: np.ndarray, out: np.ndarray, parts: np.ndarray) -> np.ndarray:
    found = out.copy()
    np.add.at(found, key, parts)
    return found


def _heads_of_segments(key: np.ndarray) -> np.ndarray:
    return np.concatenate([[True], key[1:] != key[:-1]])


def _suffixes(key: np.ndarray, a: np.ndarray, steps: int, *, compared: bool) -> np.ndarray:
    """What the lanes hold after so many steps of doubling distance."""
    size = -(-len(a) // WARP) * WARP
    x = np.zeros(size, np.float32)
    x[: len(a)] = a
    keys = np.full(size, -1)
    keys[: len(a)] = key
    lane = np.arange(size) % WARP
    for number in range(steps):
        step = 1 << number
        there = np.minimum(np.arange(size) + step, size - 1)
        takes = (lane + step < WARP) & (~np.array(compared) | (keys[there] == keys))
        x = x + np.where(takes, x[there], np.float32(0))
    return x[: len(a)]


def _first_of_each(key: np.ndarray, *, within_warps: bool) -> np.ndarray:
    first = _heads_of_segments(key)
    return first | (np.arange(len(key)) % WARP == 0) if within_warps else first


def _heads(key: np.ndarray, out: np.ndarray, x: np.ndarray, *, within_warps: bool) -> np.ndarray:
    at = _first_of_each(key, within_warps=within_warps)
    return _sum(key[at], out, x[at])


DEBRIEF = Debrief(
    shows=("atomic_updates", "red.requests", "shuffles"),
    why=(
        "A warp adds up each of its stretches of equal keys by shuffles, and only the first lane "
        "of a stretch goes to memory. A segment that goes on in the next warp is added to by both, "
        "so it has to be an atomic."
    ),
    alternative=(
        "With long segments a warp or a block for each segment does without atomics; with one of a "
        "million numbers and many short ones, that leaves most of the GPU idle. Here the work is "
        "cut evenly, whatever the segments are."
    ),
)

SEGMENTED_SUM = KernelPuzzle(
    name="05_reductions_and_scans/segmented_sum",
    title="many sums of neighbours",
    difficulty="medium",
    minutes=20,
    debrief=DEBRIEF,
    statement=(
        "out[s] += the sum of all a[i] with key[i] == s. The keys never go down, so each segment "
        "is a stretch of neighbours, one number long or many blocks. Each thread writes at most "
        "one cell, and a warp adds to out once for each segment it has a part of. NaN and "
        "infinities count as in any sum, each in its own segment."
    ),
    parameters={"segmented_sum": ("out", "key", "a", "size")},
    cases=(
        sized("visible example", visible=True, size=100, segments=9, used=6),
        sized("one cell", size=1, segments=3, used=1),
        sized("exactly two blocks, one segment", size=128, segments=5, used=1),
        sized("one cell more than two blocks", size=129, segments=70, used=60),
        sized("500 large numbers", size=500, segments=30, used=20, doublings=90),
        sized("infinities and a NaN", size=100, segments=20, used=12, infinite=1),
    ),
    random_case=_random,
    inputs=with_special_numbers(_inputs, infinite=_put_special_numbers),
    large=lambda least_bytes: sized(
        "past L2", size=least_bytes // 8, segments=least_bytes // 64, used=least_bytes // 128
    ),
    launches=enough_blocks("segmented_sum", "out", "key", "a", "size", block=TPB),
    reference=gives(lambda key, out, a: _sum(key, out, a)),
    budgets=(
        Budget(
            "atomic_updates",
            lambda case, counters: counters.atomic_updates,
            "Atomics on one cell are carried out one after the other. Numbers of one segment that "
            "meet in a warp can be added up there, and only the sum goes to out.",
            "atomic additions",
        ),
        AS_FEW_SHUFFLES,
        NO_FLOAT64,
    ),
    diagnose=recognise(
        (
            "lost-at-the-warp",
            lambda key, out, a: _heads(
                key, out, _suffixes(key, a, 5, compared=True), within_warps=False
            ),
        ),
        (
            "one-step",
            lambda key, out, a: _heads(
                key, out, _suffixes(key, a, 1, compared=True), within_warps=True
            ),
        ),
        (
            "keys-not-compared",
            lambda key, out, a: _heads(
                key, out, _suffixes(key, a, 5, compared=False), within_warps=True
            ),
        ),
    ),
    diagnoses={
        **WHOLE_WARPS,
        "race": (
            "Two threads add to one cell of out, and a plain addition loads, adds and stores: "
            "whoever stores last wins. A segment can go on in the next warp, and in the next block."
        ),
        "lost-at-the-warp": (
            "Segments that go on in a further warp lose their parts there. Who adds the sum of a "
            "stretch that begins with the warp, in the middle of its segment?"
        ),
        "one-step": (
            "In each warp only the first two numbers of a segment are counted. A stretch can be as "
            "long as the warp: how often does the distance have to double?"
        ),
        "keys-not-compared": (
            "The sums run on into the next segments. What a lane gets from its right neighbour "
            "belongs to its own segment only where the keys are the same."
        ),
        "done-again": (
            "Here a thread goes through all keys to find its own. Cut the numbers evenly among the "
            "threads, and let neighbours with the same key meet."
        ),
    },
    share=ONE_CELL_EACH,
    hints=(
        (
            "Equal keys stand side by side. Within a warp this is the sum by shuffles that you "
            "know, but it must not run across the end of a segment."
        ),
        (
            "Shuffle the key along with the number. A lane adds what comes from the right only if "
            "it is in the same warp and has the same key."
        ),
        (
            "After five steps the first lane of each stretch holds its sum. A lane is the first if "
            "it is lane 0, or if the lane before it has another key. Those add to out, and others "
            "may add to the same cell."
        ),
    ),
    mistakes=(
        Mistake("plain_addition", "hazard", "race"),
        Mistake("shuffles_behind_the_guard", "hazard", "inactive-lane"),
        Mistake("keys_not_compared", "wrong-result", "keys-not-compared"),
        Mistake("only_where_a_segment_begins", "wrong-result", "lost-at-the-warp"),
        Mistake("one_step_only", "wrong-result", "one-step"),
        Mistake("an_atomic_for_each", "over-budget", "over-budget"),
        Mistake("a_thread_for_each_segment", "over-budget", "done-again"),
        Mistake("sums_in_float64", "over-budget", "over-budget"),
        Mistake("one_thread_of_each_block", "over-budget", "not-shared"),
    ),
    equivalent_mutants={
        "segmented_sum:constant:x = a[i] if i < size else float32(1)": (
            "beyond the last number the key is -1, and no other lane has it"
        ),
        "segmented_sum:constant:x = a[i] if i < size else float32(-1)": (
            "beyond the last number the key is -1, and no other lane has it"
        ),
        "segmented_sum:operator-dropped:mine = key[i] if i < size else 1": (
            "beyond the last number a lane brings 0, whatever its key is"
        ),
        "segmented_sum:constant:mine = key[i] if i < size else -2": (
            "beyond the last number a lane brings 0, whatever its key is"
        ),
        "segmented_sum:constant:mine = key[i] if i < size else -0": (
            "beyond the last number a lane brings 0, whatever its key is"
        ),
        "segmented_sum:comparison:while step <= WARP:": "no lane lies a whole warp to the right",
    },
    constants={"TPB": TPB, **WARP_CONSTANTS},
    source=(
        "Shubhabrata Sengupta et al., Scan Primitives for GPU Computing, Graphics Hardware 2007"
    ),
)
