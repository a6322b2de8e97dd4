"""Puzzle `clip`: keep it between two limits."""

from __future__ import annotations

import numpy as np

from gpu_course.puzzle.builders import (
    BRANCHES,
    INFINITIES,
    ONE_CELL_EACH,
    SEVERAL_BLOCKS,
    TRAFFIC,
    blocks_to_cover,
    drawn,
    eighths,
    enough_blocks,
    recognise,
    sized,
    special,
    where_written,
)
from gpu_course.puzzle.specification import Bonus, Case, Debrief, KernelPuzzle, Mistake, Values


def _numbers_and_limits(rng: np.random.Generator, case: Case) -> Values:
    size = case.sizes["size"]
    a = eighths(rng, size, case)
    ordered = np.sort(a)
    if size < 4:
        low, high = ordered[0] + np.float32(1), ordered[0] + np.float32(3)
    else:
        # Limits that occur in the data: equality with a limit is one of the cases. With a side
        # both lie on that side of 0, so a number's sign says nothing on where it belongs.
        side = case.sizes.get("side", 0)
        kept = ordered[np.sign(ordered) == side] if side else ordered
        low, high = kept[len(kept) // 4], kept[(3 * len(kept)) // 4]
    return {"a": a, "low": low, "high": high, "size": size}


def _clipped(inputs: Values, case: Case) -> dict[str, np.ndarray]:
    return {"out": np.minimum(np.maximum(inputs["a"], inputs["low"]), inputs["high"])}


def _everywhere(inputs: Values, limit: np.float32) -> dict[str, np.ndarray]:
    return {"out": np.full(inputs["size"], limit, np.float32)}


def _chosen_by_sign(inputs: Values) -> dict[str, np.ndarray]:
    a = inputs["a"]
    chosen: np.ndarray = np.maximum(a, inputs["low"])
    chosen[a > 0] = np.minimum(a, inputs["high"])[a > 0]
    return {"out": chosen}


def _between_unwritten(inputs: Values, case: Case) -> dict[str, np.ndarray]:
    outside = (inputs["a"] < inputs["low"]) | (inputs["a"] > inputs["high"])
    return {"out": where_written(_clipped(inputs, case)["out"], outside)}


DEBRIEF = Debrief(
    shows=(*TRAFFIC, *BRANCHES),
    why=(
        "Both limits are applied to every number, and the order of the two does not matter while "
        "low is below high. However you wrote the choice, each cell gets one value."
    ),
    alternative=(
        "min and max, or two plain ifs that change a local variable, become selects: no thread "
        "waits for another. An if with a store in each arm keeps its branches."
    ),
    bonus=Bonus(
        goal="Let the guard be the only branch.",
        counter="branches",
        limit=lambda case: (
            blocks_to_cover(case.sizes["size"], case.sizes["block"])
            * blocks_to_cover(case.sizes["block"], 32)
        ),
    ),
)

CLIP = KernelPuzzle(
    name="01_threads/clip",
    title="keep it between two limits",
    difficulty="easy",
    minutes=5,
    debrief=DEBRIEF,
    statement=(
        "Write a kernel that holds numbers between `low` and `high`. Each thread writes at most "
        "one cell, out[i]: low where a[i] is smaller than low, high where it is larger than high, "
        "and a[i] itself in between. low is smaller than high. a holds no NaN; it may hold "
        "infinities, and the limits are finite."
    ),
    parameters={"clip": ("out", "a", "low", "high", "size")},
    cases=(
        *SEVERAL_BLOCKS,
        sized("1,000 large numbers", size=1000, block=128, doublings=100),
        sized("both limits above 0", size=50, block=16, side=1),
        sized("both limits below 0", size=50, block=16, side=-1),
        special("infinities", INFINITIES, size=77, block=16),
    ),
    random_case=drawn(size=(32, 600), block=[16, 24, 32, 64], side=[-1, 0, 1]),
    inputs=_numbers_and_limits,
    launches=enough_blocks("clip", "out", "a", "low", "high", "size"),
    reference=_clipped,
    diagnose=recognise(
        ("one-limit-everywhere", lambda low, inputs: _everywhere(inputs, low)),
        ("one-limit-everywhere", lambda high, inputs: _everywhere(inputs, high)),
        ("between-unwritten", _between_unwritten),
        ("low-limit-lost", lambda a, high: np.minimum(a, high)),
        ("high-limit-lost", lambda a, low: np.maximum(a, low)),
        ("chosen-by-sign", _chosen_by_sign),
    ),
    diagnoses={
        "chosen-by-sign": (
            "Each number was held to one limit only, and its sign said to which. Here both limits "
            "lie on one side of 0: a positive number may be too small, a negative one too large."
        ),
        "one-limit-everywhere": (
            "One limit stands in every cell. A minimum keeps what is small: which limit should it "
            "meet, and which one the maximum?"
        ),
        "between-unwritten": (
            "Numbers outside the limits are right; those in between were never written. Each "
            "thread must write its cell, even when nothing has to be changed."
        ),
        "low-limit-lost": (
            "The high limit holds, the low one does not. If you wrote low first, follow a small "
            "number through all your lines: does a later one write over it?"
        ),
        "high-limit-lost": (
            "The low limit holds, the high one does not. Follow a large number through all your "
            "lines."
        ),
        "out-of-bounds": (
            "Threads of the last block ran past the end of the array: the guard is missing or lets "
            "one too many in."
        ),
        "race": (
            "Two threads wrote to one cell, so they have the same index. Does the index depend on "
            "the thread, and on the block it is in?"
        ),
    },
    share=ONE_CELL_EACH,
    hints=(
        "Three kinds of number: too small, too large, and neither. Each thread meets one of them.",
        (
            "You may write if, elif and else, or a min and a max, one inside the other. Both are "
            "right. When one has passed, try the other."
        ),
        (
            "With branches: exactly one of three assignments may reach a cell. With min and max: "
            "the larger of a[i] and low never falls below low; then do the same for the other end."
        ),
    ),
    mistakes=(
        Mistake("nothing_in_between", "wrong-result", "between-unwritten"),
        Mistake("second_if_writes_over_the_first", "wrong-result", "low-limit-lost"),
        Mistake("only_the_low_limit", "wrong-result", "high-limit-lost"),
        Mistake("minimum_with_low", "wrong-result", "one-limit-everywhere"),
        Mistake("chose_the_limit_by_sign", "wrong-result", "chosen-by-sign"),
        Mistake("no_guard", "hazard", "out-of-bounds"),
        Mistake("two_cells_for_half_of_the_threads", "over-budget", "not-shared"),
    ),
)
