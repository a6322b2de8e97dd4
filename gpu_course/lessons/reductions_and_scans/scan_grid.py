"""Puzzle `scan_grid`: the sums up to each number of an array, in three launches."""

from __future__ import annotations

import numpy as np

from gpu_course.lessons.reductions_and_scans.scan_pieces import (
    TPB,
    WARP,
    WARP_CONSTANTS,
    WHOLE_WARPS,
    in_tiles,
    running,
    running_in_tiles,
)
from gpu_course.lessons.reductions_and_scans.sums import NO_FLOAT64
from gpu_course.puzzle.builders import (
    ONE_CELL_EACH,
    arrays,
    blocks_to_cover,
    drawn,
    gives,
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
    Values,
)

WARPS = TPB // WARP


def _launches(case: Case) -> tuple[Launch, ...]:
    tiles = blocks_to_cover(case.sizes["size"], TPB)
    return (
        Launch("scan_tiles", tiles, TPB, ("out", "sums", "a", "size")),
        Launch("scan_sums", 1, TPB, ("sums", "tiles")),
        Launch("add_before", tiles, TPB, ("out", "sums", "size")),
    )


def _with_tiles(rng: np.random.Generator, case: Case) -> Values:
    tiles = blocks_to_cover(case.sizes["size"], TPB)
    return {**arrays("size", a="size")(rng, case), "tiles": tiles}


def _put_special_numbers(values: Values) -> None:
    """An infinity in the second tile, a NaN in the last."""
    values["a"][TPB + 10], values["a"][-3] = np.inf, np.nan


def _moved(a: np.ndarray, before: np.ndarray) -> np.ndarray:
    """The tiles, each scanned, with `before[tile]` added."""
    tiles = [running(tile) + before[number] for number, tile in enumerate(in_tiles(a, TPB))]
    return np.concatenate(tiles)


def _sums(a: np.ndarray) -> np.ndarray:
    return np.array([tile.sum(dtype=np.float32) for tile in in_tiles(a, TPB)], np.float32)


def _shifted(sums: np.ndarray) -> np.ndarray:
    return np.concatenate([np.zeros(1, np.float32), sums[:-1]])


def _begins_again(a: np.ndarray) -> np.ndarray:
    return _moved(a, _shifted(running_in_tiles(_sums(a), TPB)))


def _only_so_many(a: np.ndarray) -> np.ndarray:
    sums = _sums(a)
    return _moved(a, _shifted(np.concatenate([running(sums[:TPB]), sums[TPB:]])))


DEBRIEF = Debrief(
    shows=("global_load.sectors", "global_store.sectors", "barriers"),
    why=(
        "A launch begins when the one before it has ended, so the second sees all sums of the "
        "tiles and the third what stands before each tile. No block ever waits for another."
    ),
    alternative=(
        "The first launch can add its tile up without writing out, and the third scan it: then a "
        "is read twice and out written once, a quarter less to move."
    ),
)

SCAN_GRID = KernelPuzzle(
    name="05_reductions_and_scans/scan_grid",
    title="running sums, in three launches",
    difficulty="medium",
    minutes=20,
    debrief=DEBRIEF,
    statement=(
        "out[i] = a[0] + a[1] + ... + a[i], for an array of any length. Three kernels, launched "
        "one after the other: scan_tiles and add_before with a block for each tile of TPB numbers, "
        "scan_sums with a single block, and there may be more tiles than it has threads. In each "
        "launch, each thread writes at most one cell of out. A NaN or an infinity counts in all "
        "sums from its place on."
    ),
    parameters={
        "scan_tiles": ("out", "sums", "a", "size"),
        "scan_sums": ("sums", "tiles"),
        "add_before": ("out", "sums", "size"),
    },
    cases=(
        sized("visible example", visible=True, size=150),
        sized("one cell", size=1),
        sized("exactly two tiles", size=128),
        sized("one cell more than two tiles", size=129),
        sized("more tiles than threads", size=130 * 64 + 1),
        sized("500 large numbers", size=500, doublings=100),
        sized("an infinity, and then a NaN", size=200, infinite=1),
    ),
    random_case=drawn(size=(65, 900)),
    inputs=with_special_numbers(_with_tiles, infinite=_put_special_numbers),
    scratch=lambda inputs, case: {"sums": np.zeros(inputs["tiles"], np.float32)},
    launches=_launches,
    reference=gives(running),
    budgets=(
        Budget(
            "global_load.sectors",
            lambda case, counters: counters.global_load.sectors + counters.global_load.requests,
            "A number is needed by all that come after it, but only in a sum. Hand sums on: then "
            "each number is loaded once, and once more to add what stands before its tile.",
            "sectors loaded",
        ),
        Budget(
            "barriers",
            lambda case, counters: (
                2 * WARPS * blocks_to_cover(case.sizes["size"], TPB) + counters.barriers
            ),
            "At every barrier all warps of the block wait for the slowest one. Within a warp "
            "shuffles do without; the block has to meet over the sums of its warps alone.",
            "waits of a warp at a barrier",
        ),
        NO_FLOAT64,
    ),
    diagnose=recognise(
        ("tiles-alone", lambda a: running_in_tiles(a, TPB)),
        ("own-tile-added", lambda a: _moved(a, running(_sums(a)))),
        ("only-so-many-tiles", _only_so_many),
        ("begins-again", _begins_again),
        ("one-tile-before", lambda a: _moved(a, _shifted(_sums(a)))),
    ),
    diagnoses={
        **WHOLE_WARPS,
        "race": (
            "A thread touches a cell of shared memory that another thread writes in the same "
            "interval. In a loop the next round belongs to the interval too: has everybody read "
            "the old numbers before the new ones come?"
        ),
        "out-of-bounds": (
            "An index lies outside its array. The sum that stands before a tile is that of another "
            "tile: does every tile have one before it?"
        ),
        "tiles-alone": (
            "Each tile begins at zero again. What the tiles before it add up to has not reached it."
        ),
        "own-tile-added": (
            "To each tile its own sum was added. What belongs there is the sum of the tiles before "
            "it alone."
        ),
        "only-so-many-tiles": (
            "The first tiles are right, and beyond them the sums begin to fail: there are more "
            "tiles than the one block of scan_sums has threads. What happens to the sums that no "
            "thread has a place for?"
        ),
        "begins-again": (
            "The sums begin at zero again after as many tiles as the block has threads. What has "
            "one round of the loop to tell the next?"
        ),
        "one-tile-before": (
            "To each tile the sum of the one tile before it was added. There are more tiles before "
            "most."
        ),
    },
    share=ONE_CELL_EACH,
    hints=(
        (
            "After the first launch each tile is scanned by itself, and sums holds one number for "
            "each tile. What has to be added to the numbers of tile 3?"
        ),
        (
            "The sums of the tiles are an array like any other: they have to be scanned too. One "
            "block does that, TPB of them at a time."
        ),
        (
            "In scan_sums each thread keeps the sum of all rounds so far in a variable of its own. "
            "A round adds it to what it stores, and then adds the whole round to it. Two barriers "
            "in a round: one before the halves are read, one before they are written again."
        ),
    ),
    mistakes=(
        Mistake("no_barrier", "hazard", "race"),
        Mistake("one_barrier_in_the_loop", "hazard", "race", stands_for="scan_sums"),
        Mistake("before_the_first_tile", "hazard", "out-of-bounds", stands_for="add_before"),
        Mistake("only_so_many_tiles", "wrong-result", "only-so-many-tiles", stands_for="scan_sums"),
        Mistake("begins_again", "wrong-result", "begins-again", stands_for="scan_sums"),
        Mistake("own_tile_added", "wrong-result", "own-tile-added", stands_for="add_before"),
        Mistake("sums_not_scanned", "wrong-result", "one-tile-before", stands_for="scan_sums"),
        Mistake("nothing_added", "wrong-result", "tiles-alone", stands_for="add_before"),
        Mistake("adds_up_from_the_start", "over-budget", "over-budget"),
        Mistake("two_tiles_in_turn", "over-budget", "over-budget"),
        Mistake("sums_in_float64", "over-budget", "over-budget"),
        Mistake("one_thread_for_the_sums", "over-budget", "not-shared", stands_for="scan_sums"),
    ),
    equivalent_mutants={
        "scan_tiles:constant:x = a[i] if i < size else float32(1)": (
            "beyond the last number nobody wants a sum, and no tile comes after the last"
        ),
        "scan_tiles:constant:x = a[i] if i < size else float32(-1)": (
            "beyond the last number nobody wants a sum, and no tile comes after the last"
        ),
        "scan_tiles:comparison:while step <= WARP:": "no lane lies a whole warp to the left",
        "scan_tiles:other-name:if t == WARP - 1:": "only the first half's sum is wanted here",
        "scan_sums:loop-ends-late:for first in range(0, tiles + TPB, TPB):": (
            "a round without a tile stores nothing, and the budget has room for its barriers"
        ),
        "scan_sums:constant:x = sums[tile] if tile < tiles else float32(1)": (
            "beyond the last tile nobody wants a sum"
        ),
        "scan_sums:constant:x = sums[tile] if tile < tiles else float32(-1)": (
            "beyond the last tile nobody wants a sum"
        ),
        "scan_sums:comparison:while step <= WARP:": "no lane lies a whole warp to the left",
    },
    constants={"TPB": TPB, "WARPS": WARPS, **WARP_CONSTANTS},
    source=(
        "Mark Harris, Shubhabrata Sengupta, John Owens, Parallel Prefix Sum (Scan) with CUDA, GPU "
        "Gems 3, 2007"
    ),
)
