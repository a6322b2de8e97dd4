"""Puzzle `ballot_count`: 32 lanes vote, and the votes are counted."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from gpu_course.lessons.warps import pieces
from gpu_course.lessons.warps.pieces import ALL, CASES, EVERYONE, TPB, WARP, by_warp
from gpu_course.puzzle.builders import (
    ONE_CELL_EACH,
    eighths,
    enough_blocks,
    gives,
    recognise,
    sized,
    special,
)
from gpu_course.puzzle.specification import Budget, Case, Debrief, KernelPuzzle, Mistake, Values


def _inputs(rng: np.random.Generator, case: Case) -> Values:
    size = case.sizes["size"]
    a = eighths(rng, size, case)
    # A limit that is one of the numbers: being equal to it is not being above it. It lies below 0
    # where there are such numbers.
    below = np.sort(a[a < 0]) if (a < 0).any() else np.sort(a)
    limit = below[len(below) // 2] if size > 1 else a[0] - np.float32(1)
    return {"a": a, "limit": np.float32(limit), "size": size}


def _votes(a: np.ndarray, limit: np.float32) -> np.ndarray:
    return np.asarray(by_warp(a) > limit)


def _count(votes: np.ndarray) -> np.ndarray:
    return votes.sum(axis=1).astype(np.float32)


def _bits(votes: np.ndarray) -> np.ndarray:
    """The votes as the whole number that a ballot gives: bit 31 makes it negative."""
    numbers = (votes * (np.uint64(1) << np.arange(WARP, dtype=np.uint64))).sum(axis=1)
    return numbers.astype(np.uint32).view(np.int32)


def _while_positive(a: np.ndarray, limit: np.float32) -> np.ndarray:
    votes = _votes(a, limit)
    return np.where(_bits(votes) < 0, np.float32(0), _count(votes))


def _idea(
    votes: Callable[[np.ndarray], np.ndarray],
) -> Callable[[np.ndarray, np.float32], np.ndarray]:
    return lambda a, limit: votes(_votes(a, limit)).astype(np.float32)


DEBRIEF = Debrief(
    shows=("global_load.bytes", "shuffles", "branches"),
    why=(
        "A ballot gives every lane the votes of all 32 as one number, a bit for each lane. "
        "Counting the ones of a number is a single instruction, so no sum is needed at all."
    ),
    alternative=(
        "`cuda.match_any_sync` groups lanes by their values and gives each the bits of its "
        "group. Counted in the group of those above the limit, they say the same."
    ),
)

BALLOT_COUNT = KernelPuzzle(
    name="02_warps/ballot_count",
    title="count the votes of a warp",
    difficulty="easy",
    minutes=8,
    debrief=DEBRIEF,
    statement=(
        "Each warp counts its numbers above a limit: out[w] is how many of a[32 * w] to a[32 * w "
        "+ 31] are larger than limit. The last warp may have fewer numbers. There are blocks of "
        "TPB threads, enough for all of a; each thread looks at one number, and each thread "
        "writes at most one cell of out. Use no shuffle, no shared memory and no atomics. NaN is "
        "not larger than any limit, and infinity is larger than each."
    ),
    parameters={"ballot_count": ("out", "a", "limit", "size")},
    cases=(
        *CASES,
        sized("1,000 large numbers", size=1000, doublings=100),
        special("NaN and infinities", size=101),
    ),
    random_case=pieces.random_case,
    inputs=_inputs,
    launches=enough_blocks("ballot_count", "out", "a", "limit", "size", block=TPB),
    reference=gives(_idea(_count)),
    budgets=(
        pieces.NO_TILE,
        *pieces.NO_ATOMICS,
        pieces.READ_ONCE,
        Budget(
            "shuffles",
            0,
            "A yes or a no is one bit, and a vote brings the bits of all lanes together at once. "
            "Adding them up lane by lane takes five steps.",
            "shuffles",
        ),
    ),
    diagnose=recognise(
        ("bits", _idea(_bits)),
        ("missing-lanes", lambda a, limit: _count(by_warp(a, fill=0) > limit)),
        ("any", _idea(lambda votes: np.asarray(votes.any(axis=1)))),
        ("equal-too", lambda a, limit: _count(by_warp(a) >= limit)),
        ("the-others", lambda a, limit: _count(by_warp(a) < limit)),
        ("the-others", lambda a, limit: _count(by_warp(a) <= limit)),
        ("sign-bit", _while_positive),
        ("half-the-bits", _idea(lambda votes: _count(votes[:, :16]))),
    ),
    diagnoses={
        "inactive-lane": EVERYONE,
        "bits": (
            "These are the votes themselves: a number whose bits say which lanes voted yes. How "
            "many of its bits are one?"
        ),
        "missing-lanes": (
            "The last count is too large. A lane without a number votes too, and a 0 of your own "
            "may lie above the limit. What must such a lane vote?"
        ),
        "any": "This says whether any lane voted yes. The question is how many did.",
        "equal-too": "A number equal to the limit is not above it, and you counted it.",
        "the-others": "You counted numbers that are not above the limit.",
        "sign-bit": (
            "The count is 0 wherever lane 31 voted yes. A ballot is a signed number, and its "
            "highest bit belongs to lane 31: what does your loop do with a negative number?"
        ),
        "half-the-bits": "Only the lower 16 lanes are counted. A ballot has 32 bits.",
        "race": (
            "Several lanes write one cell of out. All lanes of a warp know its count; one of them "
            "should write it, into a cell that depends on the warp."
        ),
        "out-of-bounds": (
            "A lane without a number touched memory. The comparison needs a guard; the vote must "
            "not have one."
        ),
    },
    share=ONE_CELL_EACH,
    hints=(
        (
            "`cuda.ballot_sync(mask, yes)` gives all lanes the same number: bit k is one where "
            "lane k voted yes."
        ),
        (
            "Every lane votes, also one without a number. `and` stops at the first part that is "
            "false, so a guard can be part of what is voted on."
        ),
        (
            "`cuda.popc` counts the ones of a number. Then it is as in any kernel in which one "
            "lane speaks for its warp: which lane, and which cell?"
        ),
    ),
    mistakes=(
        Mistake("vote_inside_the_guard", "hazard", "inactive-lane"),
        Mistake("half_of_the_mask", "hazard", "inactive-lane"),
        Mistake("wrote_the_votes", "wrong-result", "bits"),
        Mistake("nothing_is_zero", "wrong-result", "missing-lanes"),
        Mistake("asked_whether_any", "wrong-result", "any"),
        Mistake("equal_too", "wrong-result", "equal-too"),
        Mistake("counted_the_others", "wrong-result", "the-others"),
        Mistake("while_above_zero", "wrong-result", "sign-bit"),
        Mistake("half_of_the_bits", "wrong-result", "half-the-bits"),
        Mistake("every_lane_writes", "hazard", "race"),
        Mistake("load_without_a_guard", "hazard", "out-of-bounds"),
        Mistake("added_with_shuffles", "over-budget", "over-budget"),
        Mistake("atomics", "over-budget", "over-budget"),
        Mistake("through_a_tile", "over-budget", "over-budget"),
        Mistake("one_lane_counts", "over-budget", "over-budget"),
        Mistake("one_thread_of_each_block", "over-budget", "not-shared"),
    ),
    constants={"TPB": TPB, "ALL": ALL},
    source=(
        "NVIDIA, CUDA Programming Guide, warp vote functions, "
        "https://docs.nvidia.com/cuda/cuda-programming-guide/"
    ),
)
