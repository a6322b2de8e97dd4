"""Puzzle `last_block_sum`: the sum of an array, in one launch."""

from __future__ import annotations

import numpy as np

from gpu_course.lessons.reductions_and_scans.scan_pieces import (
    TPB,
    WARP,
    WARP_CONSTANTS,
    WHOLE_WARPS,
    in_tiles,
)
from gpu_course.lessons.reductions_and_scans.sums import AS_FEW_SHUFFLES, NO_FLOAT64
from gpu_course.puzzle.builders import (
    Idea,
    blocks_to_cover,
    drawn,
    eighths,
    recognise,
    sized,
    with_special_numbers,
)
from gpu_course.puzzle.specification import (
    Budget,
    Case,
    Debrief,
    KernelPuzzle,
    Launch,
    Mistake,
    Share,
    Values,
)


def _blocks(case: Case) -> int:
    return blocks_to_cover(case.sizes["size"], TPB)


def _inputs(rng: np.random.Generator, case: Case) -> Values:
    size = case.sizes["size"]
    return {
        "a": eighths(rng, size, case),
        "b": eighths(rng, size, case),
        "size": size,
        "arrived": np.zeros(1, np.int32),
    }


def _put_special_numbers(values: Values) -> None:
    """An infinity at the end of what is added up first, a NaN in what comes next."""
    values["a"][-1], values["b"][3] = np.inf, np.nan


def _scratch(inputs: Values, case: Case) -> dict[str, np.ndarray]:
    return {"parts": np.zeros(_blocks(case), np.float32)}


def _launches(case: Case) -> tuple[Launch, ...]:
    return tuple(
        Launch("last_block_sum", _blocks(case), TPB, (out, "parts", "arrived", a, "size"))
        for out, a in (("first", "a"), ("second", "b"))
    )


def _both(idea: Idea) -> Idea:
    return lambda a, b: {"first": np.array([idea(a)]), "second": np.array([idea(b)])}


def _sum(a: np.ndarray) -> np.float32:
    return np.float32(a.sum(dtype=np.float32))


def _diagnose(inputs: Values, case: Case, expected: Values, got: Values) -> str | None:
    same = {name: np.array_equal(got[name], expected[name]) for name in expected}
    if case.sizes.get("infinite"):
        return None  # a NaN need not mean here that nothing was stored
    if np.isnan(got["first"][0]):
        return "nobody-is-last"
    if same["first"] and np.isnan(got["second"][0]):
        return "never-put-back"
    if same["first"] and same["second"] and not same["arrived"]:
        return "counts-on"
    return _known(inputs, case, expected, got)


_known = recognise(
    (
        "only-so-many-parts",
        _both(lambda a: _sum(np.concatenate(in_tiles(a, TPB)[:TPB]))),
    ),
)

DEBRIEF = Debrief(
    shows=("atomic_updates", "global_load.bytes", "barriers"),
    why=(
        "Each block writes its part, fences and then counts itself in. Whoever finds that all the "
        "others have been counted knows that their parts are there, and nobody has to wait."
    ),
    alternative=(
        "Two launches need no fence and no counter. One atomic addition of a float per block needs "
        "neither, but then the order of the additions, and with it the last bits, is another one "
        "each time."
    ),
)

LAST_BLOCK_SUM = KernelPuzzle(
    name="05_reductions_and_scans/last_block_sum",
    title="the last one adds up",
    difficulty="hard",
    minutes=25,
    debrief=DEBRIEF,
    statement=(
        "out[0] is the sum of all numbers of a, in one launch. Each block adds up its TPB numbers "
        "and leaves a part; the block that finishes last adds up the parts, with all its threads. "
        "A counter tells which block that is: count each block once, and leave the counter as it "
        "was, for the kernel is launched twice. Each thread writes at most one cell of out. NaN "
        "and infinities count as in any sum."
    ),
    parameters={"last_block_sum": ("out", "parts", "arrived", "a", "size")},
    cases=(
        sized("visible example", visible=True, size=200),
        sized("one cell", size=1),
        sized("exactly two blocks of large numbers", size=128, doublings=90),
        sized("one cell more than two blocks", size=129),
        sized("more blocks than threads", size=66 * 64 + 7),
        sized("an infinity, and then a NaN", size=70, infinite=1),
    ),
    random_case=drawn(size=(130, 260)),
    inputs=with_special_numbers(_inputs, infinite=_put_special_numbers),
    scratch=_scratch,
    launches=_launches,
    reference=lambda inputs, case: {
        "first": np.array([_sum(inputs["a"])]),
        "second": np.array([_sum(inputs["b"])]),
        "arrived": inputs["arrived"].copy(),
    },
    budgets=(
        Budget(
            "atomic_updates",
            lambda case, counters: 2 * _blocks(case) + 2,
            "All atomics on the counter are done one after the other, and every block has to be "
            "counted once. Which thread of a block knows that the part is there?",
            "atomics",
        ),
        Budget(
            "global_load.bytes",
            lambda case, counters: 2 * 4 * (case.sizes["size"] + _blocks(case)),
            "Each number and each part is needed once.",
            "bytes loaded from global memory",
        ),
        Budget(
            "shared_updates",
            lambda case, counters: 2 * (TPB // WARP) * (_blocks(case) + 1),
            "Atomics on one cell are carried out one after the other, on shared memory too. Let "
            "the lanes of a warp add to each other first, many at the same time.",
            "atomics on shared memory, counted thread by thread",
        ),
        AS_FEW_SHUFFLES,
        NO_FLOAT64,
    ),
    diagnose=_diagnose,
    diagnoses={
        **WHOLE_WARPS,
        "race": (
            "Threads of the block read a cell of shared memory that one of them writes in the same "
            "interval. What makes them wait for it?"
        ),
        "race on parts": (
            "The last block reads a part, and nothing makes it be there: another block may have "
            "been counted before its part has reached global memory. What has to stand between "
            "writing the part and being counted?"
        ),
        "no-fence-after": (
            "The last block has found all others counted, so their parts have reached memory. It "
            "may still read what its own multiprocessor has kept from before. What has to stand "
            "between finding that out and reading the parts?"
        ),
        "waits-for-a-block-outside": (
            "Here the GPU had room for one block. The one that adds up waits for blocks that start "
            "only when it has ended. Who can add up the parts without waiting for anybody?"
        ),
        "race on arrived": (
            "All blocks touch the counter, and here one does so without an atomic: blocks that "
            "count at the same moment, or have just been counted, are not ordered with it."
        ),
        "nobody-is-last": (
            "The first launch left no sum: no block took itself for the last. Which number does "
            "the counter hold before the last block is counted?"
        ),
        "never-put-back": (
            "The first launch is right and the second leaves no sum. With which number did its "
            "counter begin?"
        ),
        "counts-on": (
            "Both sums are right, and the counter is not as it was. It goes on with every launch, "
            "and one day it holds more than an int32 can. Who is the last to need it in a launch?"
        ),
        "only-so-many-parts": (
            "There are more parts than the block has threads, and the rest was left out."
        ),
    },
    share=Share("Each thread writes at most one cell of out."),
    hints=(
        (
            "An atomic gives back what was there before. So each block learns how many were "
            "counted before it, and exactly one learns that it is the last."
        ),
        (
            "One thread of the block: write the part, fence, count, and put what came back into "
            "shared memory. All threads of the block have to know it before they go on: they need "
            "a barrier, and the same condition for all."
        ),
        (
            "In the last block, after its fence, the threads add up the parts as they added up the "
            "numbers: each goes through them in steps of TPB, then shuffles, then the two halves. "
            "One of them puts the counter back."
        ),
    ),
    mistakes=(
        Mistake("no_fence", "hazard", "race on parts"),
        Mistake("no_fence_after", "hazard", "no-fence-after"),
        Mistake("block_0_waits", "hazard", "waits-for-a-block-outside"),
        Mistake("last_by_number", "hazard", "race on parts"),
        Mistake("no_barrier", "hazard", "race"),
        Mistake("counted_plainly", "hazard", "race on arrived"),
        Mistake("as_many_as_threads", "wrong-result", "nobody-is-last"),
        Mistake("never_put_back", "wrong-result", "never-put-back"),
        Mistake("only_so_many_parts", "wrong-result", "only-so-many-parts"),
        Mistake("a_ticket_for_each_thread", "over-budget", "over-budget"),
        Mistake("sums_in_float64", "over-budget", "over-budget"),
        Mistake("one_thread_for_the_parts", "over-budget", "not-shared"),
    ),
    equivalent_mutants={
        "last_block_sum:atomic-to-plain:arrived[0] = 0": (
            "the last block has found all others counted, and so comes after all their counts"
        ),
        "last_block_sum:constant:place = cuda.shared.array(2, int32)": "a cell that nobody uses",
        "last_block_sum:operands-swapped:halves[WARP // t] = x": (
            "threads 0 and 32 alone come here: Numba has 32 // 0 as 0, and 32 // 32 is 1"
        ),
        "last_block_sum:operands-swapped:halves[WARP // t] = x #2": (
            "threads 0 and 32 alone come here: Numba has 32 // 0 as 0, and 32 // 32 is 1"
        ),
        "last_block_sum:constant:if t == 1:": "any one thread may leave the part and count",
        "last_block_sum:constant:if t == 1: #2": "any one thread may write the sum",
    },
    constants={"TPB": TPB, "WARPS": TPB // WARP, **WARP_CONSTANTS},
    source=(
        "NVIDIA, CUDA Programming Guide: memory fence functions, with a sum as the example; CUDA "
        "samples, threadFenceReduction"
    ),
)
