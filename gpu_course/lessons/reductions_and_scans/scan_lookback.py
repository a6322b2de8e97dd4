"""Puzzle `scan_lookback`: the sums up to each number of an array, in one launch."""

from __future__ import annotations

import numpy as np

from gpu_course.lessons.reductions_and_scans.scan_pieces import (
    TPB,
    WARP,
    WARP_CONSTANTS,
    WHOLE_WARPS,
    running,
    running_in_tiles,
)
from gpu_course.lessons.reductions_and_scans.sums import NO_FLOAT64
from gpu_course.puzzle.builders import (
    arrays,
    blocks_to_cover,
    drawn,
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

NOTHING, TOTAL, PREFIX = 0, 1, 2
STATES = {"NOTHING": NOTHING, "TOTAL": TOTAL, "PREFIX": PREFIX}
ARGUMENTS = ("out", "a", "size", "ticket", "state", "totals", "prefixes")


def _tiles(case: Case) -> int:
    return blocks_to_cover(case.sizes["size"], TPB)


def _held_up(case: Case) -> int:
    """How many tiles have blocks that started before this launch and were held up."""
    return case.sizes.get("held_up", 0)


def _inputs(rng: np.random.Generator, case: Case) -> Values:
    made = arrays("size", a="size")(rng, case)
    found = {
        **made,
        "ticket": np.full(1, _held_up(case), np.int32),
        "state": np.full(_tiles(case), NOTHING, np.int32),
    }
    return found | _told(found["a"], case) if _held_up(case) else found


def _told(a: np.ndarray, case: Case) -> Values:
    """What is there where the first blocks were held up: tile 0 told its prefix, others a total.

    Tile 0 needs no total, so nobody may count on one.
    """
    tiles, told = _tiles(case), _held_up(case)
    out = np.full(a.size, np.nan, np.float32)
    out[: told * TPB] = running(a)[: told * TPB]
    state = np.full(tiles, NOTHING, np.int32)
    state[0], state[1:told] = PREFIX, TOTAL
    totals, prefixes = (np.full(tiles, np.nan, np.float32) for _ in "tp")
    totals[1:told] = a[TPB : told * TPB].reshape(-1, TPB).sum(axis=1)
    prefixes[0] = a[:TPB].sum()
    return {"out": out, "state": state, "totals": totals, "prefixes": prefixes}


def _put_special_numbers(values: Values) -> None:
    """An infinity in the first tile, a NaN in the second."""
    values["a"][40], values["a"][TPB + 3] = np.inf, np.nan


def _scratch(inputs: Values, case: Case) -> dict[str, np.ndarray]:
    return {
        "ticket": np.zeros(1, np.int32),
        "state": np.zeros(_tiles(case), np.int32),
        "totals": np.zeros(_tiles(case), np.float32),
        "prefixes": np.zeros(_tiles(case), np.float32),
    }


def _cells(case: Case, name: str) -> int:
    """One of out. Whoever asks for the state of a tile does so by an atomic, as if to write it."""
    return 1 if name == "out" else _tiles(case)


def _launches(case: Case) -> tuple[Launch, ...]:
    return (Launch("scan_lookback", _tiles(case) - _held_up(case), TPB, ARGUMENTS),)


def _reference(inputs: Values, case: Case) -> Values:
    state = np.full(_tiles(case), PREFIX, np.int32)
    state[1 : _held_up(case)] = TOTAL
    return {"out": running(inputs["a"]), "state": state}


_tiles_alone = recognise(("tiles-alone", lambda a: running_in_tiles(a, TPB)))


def _diagnose(inputs: Values, case: Case, expected: Values, got: Values) -> str | None:
    if np.array_equal(got["out"], expected["out"], equal_nan=True):
        return "prefix-untold"
    first = _held_up(case) * TPB
    if first and np.isnan(got["out"][first:]).all():
        return "past-a-prefix"
    return _tiles_alone(inputs, case, expected, got)


A_CELL_MORE = "a cell more of shared memory, and nobody uses it"
LANE_IS_T = "in the first warp a thread has the number of its lane"
TOTAL_UNTOLD = "the others wait for the prefix then: slower, which no count of a simulator shows"

DEBRIEF = Debrief(
    shows=("global_load.bytes", "global_store.bytes", "atomic_updates"),
    why=(
        "Each number is loaded once and stored once. A tile waits only for tiles with a smaller "
        "ticket, and whoever holds one has started: so somebody can always go on, however few "
        "blocks there is room for."
    ),
    alternative=(
        "A single thread can look back, tile after tile, until it finds a prefix; a whole warp "
        "looks at 32 tiles at a time. Production code packs state and value into one 64-bit word, "
        "which one store makes known together, and needs no fence between them."
    ),
)

SCAN_LOOKBACK = KernelPuzzle(
    name="05_reductions_and_scans/scan_lookback",
    title="running sums, in one launch",
    difficulty="hard",
    minutes=40,
    points=20,
    debrief=DEBRIEF,
    statement=(
        "out[i] = a[0] + a[1] + ... + a[i], in a single launch with a block for each tile of TPB "
        "numbers. The scan of a tile is given. You take a tile for the block, make its total known "
        "to the others, find out what all tiles before it add up to, and make known what that "
        "gives. The GPU starts blocks in any order, as many as it has room for, and may hold one "
        "up for long after it has told its total: nobody waits for a prefix where a total is told. "
        "Load each number once. Each thread writes at most one cell of out. A NaN or an infinity "
        "counts in all sums from its place on."
    ),
    parameters={"scan_lookback": ARGUMENTS},
    cases=(
        sized("visible example", visible=True, size=300),
        sized("one cell", size=1),
        sized("exactly four tiles of large numbers", size=256, doublings=90),
        sized("one cell more than two tiles", size=129),
        sized("an infinity, and then a NaN", size=70, infinite=1),
        # Two windows of a warp are looked back over, and three blocks are all that it takes.
        Case(
            "more tiles than a warp has lanes were held up",
            {"size": 35 * 64 + 9, "held_up": 33},
            whole=False,
        ),
    ),
    random_case=drawn(size=(130, 320)),
    inputs=with_special_numbers(_inputs, infinite=_put_special_numbers),
    scratch=_scratch,
    launches=_launches,
    reference=_reference,
    budgets=(
        Budget(
            "global_load.bytes",
            lambda case, counters: 4 * case.sizes["size"] + 8 * _tiles(case) ** 2,
            "The numbers before a tile have been added up by the blocks that have those tiles. Let "
            "a block ask for their sums, by one warp at most, and load its own numbers alone.",
            "bytes loaded from global memory",
        ),
        NO_FLOAT64,
    ),
    diagnose=_diagnose,
    diagnoses={
        **WHOLE_WARPS,
        "race": (
            "A thread of the block reads a cell of shared memory that another one writes in the "
            "same interval. What belongs between the two?"
        ),
        "race on totals": (
            "The total of a tile is read by another block, and nothing makes it be there. It has "
            "to be written and fenced before its state says so; and a place that others may be "
            "reading must not be written again."
        ),
        "race on prefixes": (
            "The prefix of a tile is read by another block, and nothing makes it be there. Which "
            "comes first in your kernel: the value, or the word that it is there? And what stands "
            "between them?"
        ),
        "race on state": (
            "The state is what blocks tell each other by, and a plain load of it may find an old "
            "value for ever, or come before the value it speaks of. Ask for it with an atomic that "
            "changes nothing, and tell it with an atomic."
        ),
        "endless-loop": (
            "A block waits for a state that no block sets. For which states do you wait, and who "
            "sets them, in tile 0 as well? A block that has told its total may be held up before "
            "it tells its prefix: what can you do with the total meanwhile?"
        ),
        "waits-for-a-block-outside": (
            "Here the GPU had room for one block, and started them in another order than their "
            "numbers. A block then waits for one that comes after it, and neither ever ends. Take "
            "tiles in the order in which blocks start: what do they all have to count?"
        ),
        "order-dependent": (
            "The sums are right in one order of the blocks and wrong in another. In one of them a "
            "tile finds a prefix at once, in the other totals come first. Is each tile before it "
            "counted exactly once then? How far back does a prefix reach?"
        ),
        "prefix-untold": (
            "The sums are right, and not every tile says in the end that its prefix is there. So "
            "each block has to look at all tiles before it. What does a block know once it has "
            "looked back, and who would be spared the way?"
        ),
        "past-a-prefix": (
            "A tile told its prefix, and you used another number of that tile or went on beyond "
            "it. What does a prefix already hold, and what is promised of the total there?"
        ),
        "tiles-alone": (
            "Each tile begins at zero again: what the tiles before it add up to has not reached it."
        ),
    },
    share=Share("Each thread writes at most one cell of out.", _cells, reads=False),
    hints=(
        (
            "A block must wait only for blocks that have certainly started. Who hands out numbers "
            "in the order in which blocks start? All threads of the block need the number."
        ),
        (
            "For each tile, in this order: value, fence, state. For each tile you ask: state by an "
            "atomic that changes nothing, until it is no longer NOTHING; fence; value."
        ),
        (
            "Tell the total first, so that others need not wait for you. Then go back from the "
            "tile before yours: of a tile with a PREFIX take the prefix and stop, of one with a "
            "TOTAL take the total and go one further back. At the end tell your own prefix. One "
            "thread may do all this; the block waits for it at a barrier."
        ),
    ),
    mistakes=(
        Mistake("tile_is_the_block", "hazard", "waits-for-a-block-outside"),
        Mistake("no_barrier_after_the_ticket", "hazard", "race"),
        Mistake("no_fence_before_the_state", "hazard", "race on totals"),
        Mistake("no_fence_after_the_state", "hazard", "no-fence-after"),
        Mistake("asks_by_plain_loads", "hazard", "race on state"),
        Mistake("state_before_the_prefix", "hazard", "race on prefixes"),
        Mistake("one_place_for_both", "hazard", "race on totals"),
        Mistake("prefix_never_told", "hazard", "endless-loop"),
        Mistake("waits_for_the_neighbour", "hazard", "endless-loop"),
        Mistake("adds_up_totals", "wrong-result", "past-a-prefix"),
        Mistake("keeps_its_prefix", "wrong-result", "prefix-untold"),
        Mistake("counts_twice", "order-dependent", "order-dependent"),
        Mistake("looks_nowhere", "wrong-result", "tiles-alone"),
        Mistake("adds_up_all_before", "over-budget", "over-budget"),
        Mistake("sums_in_float64", "over-budget", "over-budget"),
        Mistake("one_thread_of_each_block", "over-budget", "not-shared"),
    ),
    constants={"TPB": TPB, "WARPS": TPB // WARP, **STATES, **WARP_CONSTANTS},
    equivalent_mutants={
        "scan_lookback:constant:start = cuda.shared.array(2, float32)": A_CELL_MORE,
        "scan_lookback:constant:drawn = cuda.shared.array(2, int32)": A_CELL_MORE,
        "scan_lookback:constant:if t == 1:": (
            "whoever takes the ticket, the block reads it behind the barrier"
        ),
        "scan_lookback:constant:x = a[i] if i < size else float32(1)": (
            "nobody asks for the total of the last tile"
        ),
        "scan_lookback:constant:x = a[i] if i < size else float32(-1)": (
            "nobody asks for the total of the last tile"
        ),
        "scan_lookback:comparison:while step <= WARP:": (
            "32 lanes back there is no lane, and nobody adds what comes"
        ),
        "scan_lookback:guard-inverted:if not t < WARP:": (
            "the other warp looks back, and has lanes of the same numbers"
        ),
        "scan_lookback:statement-dropped:if lane == 0:": TOTAL_UNTOLD,
        "scan_lookback:other-name:if size == 0: #2": TOTAL_UNTOLD,
        "scan_lookback:other-name:if t == 0:": LANE_IS_T,
        "scan_lookback:other-name:if i == 0: #2": TOTAL_UNTOLD,
        "scan_lookback:other-name:if x == 0: #2": TOTAL_UNTOLD,
        "scan_lookback:other-name:if step == 0: #2": TOTAL_UNTOLD,
        "scan_lookback:other-name:if total == 0: #2": TOTAL_UNTOLD,
        "scan_lookback:constant:if lane == 1:": "another lane of the same warp tells the total",
        "scan_lookback:constant:if lane == -1:": TOTAL_UNTOLD,
        "scan_lookback:statement-dropped:cuda.atomic.exch(state, tile, TOTAL)": TOTAL_UNTOLD,
        "scan_lookback:other-array:cuda.atomic.exch(totals, tile, TOTAL)": TOTAL_UNTOLD,
        "scan_lookback:other-array:cuda.atomic.exch(prefixes, tile, TOTAL)": TOTAL_UNTOLD,
        "scan_lookback:other-name:k = nearest - t": LANE_IS_T,
        "scan_lookback:function:seen = cuda.atomic.sub(state, k, 0)": (
            "nothing less is nothing more"
        ),
        "scan_lookback:function:seen = cuda.atomic.sub(state, k, 0) #2": (
            "nothing less is nothing more"
        ),
        "scan_lookback:other-name:if k >= 0 and t <= last:": LANE_IS_T,
        "scan_lookback:constant:nearest = -2 if ready else nearest - WARP": (
            "any number below 0 ends the loop"
        ),
        "scan_lookback:other-name:if t == 0: #2": LANE_IS_T,
        "scan_lookback:constant:if lane == 1: #2": "another lane of the same warp has the same sum",
    },
    source=(
        "Duane Merrill, Michael Garland, Single-pass Parallel Prefix Scan with Decoupled "
        "Look-back, NVIDIA NVR-2016-002, 2016"
    ),
)
