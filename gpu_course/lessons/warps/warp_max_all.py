"""Puzzle `warp_max_all`: every lane learns the largest number of its warp."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from gpu_course.lessons.warps import pieces
from gpu_course.lessons.warps.pieces import ALL, CASES, EVERYONE, TPB, WARP, by_warp, cells
from gpu_course.puzzle.builders import (
    INFINITIES,
    ONE_CELL_EACH,
    Idea,
    eighths,
    enough_blocks,
    gives,
    recognise,
    sized,
    special,
    where_written,
)
from gpu_course.puzzle.specification import Bonus, Case, Debrief, KernelPuzzle, Mistake, Values


def _inputs(rng: np.random.Generator, case: Case) -> Values:
    size = case.sizes["size"]
    a = eighths(rng, size, case)
    if case.sizes.get("below"):
        a = a - np.float32((size + 5) * 2.0 ** (case.sizes.get("doublings", 0) - 3))
    if case.special:
        # The last warp is not full, and whatever its idle lanes hold has to be as small as this.
        a[size // WARP * WARP :] = -math.inf
    return {"a": a, "size": size}


def _largest_of(a: np.ndarray, lanes: int) -> np.ndarray:
    """The largest number of each group of so many lanes, in all its cells."""
    groups = by_warp(a).reshape(-1, lanes)
    with np.errstate(all="ignore"):
        largest = np.fmax.reduce(groups, axis=1)
    return cells(np.repeat(largest, lanes), len(a))


def _right(a: np.ndarray) -> np.ndarray:
    return _largest_of(a, WARP)


def _from_here_on(a: np.ndarray) -> np.ndarray:
    rows = by_warp(a)[:, ::-1]
    return cells(np.fmax.accumulate(rows, axis=1)[:, ::-1], len(a))


def _at_least_zero(a: np.ndarray) -> np.ndarray:
    """What comes out where lanes without a cell hold a 0."""
    rows = by_warp(a, fill=0)
    return cells(np.repeat(rows.max(axis=1), WARP), len(a))


def _in_lane_0(a: np.ndarray) -> np.ndarray:
    return where_written(_right(a), np.arange(len(a)) % WARP == 0)


def _summed(a: np.ndarray) -> np.ndarray:
    return cells(np.repeat(by_warp(a, fill=0).sum(axis=1, dtype=np.float32), WARP), len(a))


def _too_large_or(
    *ideas: tuple[str, Idea],
) -> Callable[[Values, Case, Values, Values], str | None]:
    """Knows the ideas, and one number in all wrong cells that is larger than any of the input."""
    known = recognise(*ideas)

    def diagnose(inputs: Values, case: Case, expected: Values, got: Values) -> str | None:
        key = known(inputs, case, expected, got)
        wrong = got["out"][got["out"] != expected["out"]]
        if key is None and wrong.size and (wrong == wrong[0]).all():
            tail = inputs["a"][-(case.sizes["size"] % WARP or WARP) :]
            if wrong.size == tail.size and (tail < wrong[0]).all():
                return "began-too-high"
        return key

    return diagnose


DEBRIEF = Debrief(
    shows=("global_load.bytes", "shuffles"),
    why=(
        "Each step doubles how many numbers a lane's result stands for, and it does so in all "
        "lanes at once. So all of them know the largest at the same time, and none has to be told."
    ),
    alternative=(
        "The five bits may come in any order, for a maximum does not ask which pairs met first. "
        "`cuda.shfl_sync` with a lane number of your own, the lane's number with one bit turned, "
        "does the same."
    ),
    bonus=Bonus(
        goal="A warp without a cell need not shuffle at all.",
        counter="shuffles",
        limit=lambda case: pieces.STEPS * -(-case.sizes["size"] // WARP),
    ),
)

WARP_MAX_ALL = KernelPuzzle(
    name="02_warps/warp_max_all",
    title="every lane knows the largest",
    difficulty="medium",
    minutes=10,
    debrief=DEBRIEF,
    statement=(
        "Every lane ends with the largest number of its warp: out[i] is the largest of the 32 "
        "numbers of a that the warp of thread i has loaded, or of fewer in the last warp. There "
        "are blocks of TPB threads, enough for all of a; each thread loads one number, and each "
        "thread writes at most one cell. Use no shared memory, no atomics, and five shuffles for "
        "each warp. a holds no NaN; it may hold infinities, and a warp nothing but minus "
        "infinity."
    ),
    parameters={"warp_max_all": ("out", "a", "size")},
    cases=(
        *CASES,
        sized("all numbers below 0", size=75, below=1),
        sized("numbers near the low end of float32", size=100, below=1, doublings=118),
        special("infinities", INFINITIES, size=101),
    ),
    random_case=pieces.random_case,
    inputs=_inputs,
    launches=enough_blocks("warp_max_all", "out", "a", "size", block=TPB),
    reference=gives(_right),
    budgets=(
        pieces.NO_TILE,
        *pieces.NO_ATOMICS,
        pieces.READ_ONCE,
        pieces.shuffles(
            "Five shuffles are enough for every lane to know the result, if both lanes of a pair "
            "learn something in each of them."
        ),
    ),
    diagnose=_too_large_or(
        ("from-here-on", _from_here_on),
        ("half-a-warp", lambda a: _largest_of(a, 16)),
        ("groups", lambda a: _largest_of(a, 8)),
        ("began-at-zero", _at_least_zero),
        ("one-lane", _in_lane_0),
        ("summed", _summed),
    ),
    diagnoses={
        "inactive-lane": EVERYONE,
        "from-here-on": (
            "Each lane has the largest number from its own lane on, so only lane 0 knows all. "
            "Fetching from one side tells one lane. What if two lanes fetch from each other?"
        ),
        "half-a-warp": (
            "The two halves of each warp never met: lanes 0 to 15 have one result, 16 to 31 "
            "another. Which bit of the lane's number was never turned?"
        ),
        "groups": (
            "Groups of eight lanes have a result of their own: only the three lowest bits of the "
            "lane's number were turned. It has five, and each needs an exchange with a number that "
            "has this one bit alone."
        ),
        "began-at-zero": (
            "Where all numbers of a warp are below 0 and it has fewer than 32, your result is 0, "
            "which is not one of them. What must a lane without a number hold so that it never "
            "wins?"
        ),
        "began-too-high": (
            "The last warp's result is none of its numbers: what a lane began with was larger than "
            "all of them, and it won. No finite number is small enough for every input."
        ),
        "one-lane": (
            "One cell for each warp was written. Here every thread that has a cell writes it."
        ),
        "summed": "You add the numbers; the puzzle asks for the largest of them.",
        "race": "Two threads wrote to one cell. Each thread has a cell of its own: which?",
        "out-of-bounds": (
            "A lane without a cell touched memory. The load and the store need a guard; the "
            "shuffles must not have one."
        ),
    },
    share=ONE_CELL_EACH,
    hints=(
        (
            "`cuda.shfl_xor_sync(mask, value, bits)` gives each lane the value of the lane whose "
            "number differs from its own in these bits. With bits = 1 the lanes 0 and 1 exchange, "
            "2 and 3, and so on."
        ),
        (
            "After the first exchange both lanes of a pair know the larger of two numbers. Which "
            "exchange makes fours of the pairs, and how many exchanges make 32?"
        ),
        (
            "The bits are the five powers of two below 32. A lane without a cell takes part with "
            "a number that loses against every other, and there is one in `math`."
        ),
    ),
    mistakes=(
        Mistake("shuffle_inside_the_guard", "hazard", "inactive-lane"),
        Mistake("half_of_the_mask", "hazard", "inactive-lane"),
        Mistake("fetched_from_above", "wrong-result", "from-here-on"),
        Mistake("stopped_before_16", "wrong-result", "half-a-warp"),
        Mistake("counted_up_the_bits", "wrong-result", "groups"),
        Mistake("nothing_is_zero", "wrong-result", "began-at-zero"),
        Mistake("nothing_is_minus_a_billion", "wrong-result", "began-too-high"),
        Mistake("lane_0_writes", "wrong-result", "one-lane"),
        Mistake("summed", "wrong-result", "summed"),
        Mistake("load_without_a_guard", "hazard", "out-of-bounds"),
        Mistake("down_and_then_told", "over-budget", "over-budget"),
        Mistake("asked_every_lane", "over-budget", "over-budget"),
        Mistake("through_a_tile", "over-budget", "over-budget"),
        Mistake("every_lane_reads_all", "over-budget", "over-budget"),
        Mistake("one_lane_writes_for_all", "over-budget", "not-shared"),
    ),
    constants={"TPB": TPB, "ALL": ALL},
    equivalent_mutants={
        f"warp_max_all:constant:for bit in ({bits}):": (
            "from any lane, turning these sets of bits one after the other reaches all 32 as well"
        )
        for bits in ("17, 8, 4, 2, 1", "16, 9, 4, 2, 1", "16, 8, 5, 2, 1", "16, 8, 4, 3, 1")
    },
    source=(
        "NVIDIA, Using CUDA Warp-Level Primitives, 2018, "
        "https://developer.nvidia.com/blog/using-cuda-warp-level-primitives/"
    ),
)
