"""Puzzle `embedding_lookup`: a row of the table for each token."""

from __future__ import annotations

import numpy as np

from gpu_course.lessons.coalescing.pieces import TPB, WARP, loads_in_order, stores_in_order
from gpu_course.puzzle.builders import (
    blocks_to_cover,
    drawn,
    eighths,
    gives,
    recognise,
    sized,
    special,
)
from gpu_course.puzzle.specification import (
    Case,
    Debrief,
    KernelPuzzle,
    Launch,
    Mistake,
    Share,
    Values,
)


def _inputs(rng: np.random.Generator, case: Case) -> Values:
    size, dim, vocab = (case.sizes[name] for name in ("size", "dim", "vocab"))
    table = eighths(rng, (vocab, dim), case)
    # Words come again, and none of them stands at its own place in the table.
    ids = rng.integers(0, vocab, size)
    ids[ids == np.arange(size)] = vocab - 1
    return {"table": table, "ids": ids.astype(np.int32), "size": size, "dim": dim}


def _columns(case: Case) -> int:
    """The most cells of a thread: one in 32 of each row of its warp."""
    return WARP * -(-case.sizes["dim"] // WARP)


def _words_of_the_lanes(table: np.ndarray, ids: np.ndarray, size: int, dim: int) -> np.ndarray:
    token, col = np.indices((size, dim))
    own = np.minimum(token // WARP * WARP + col % WARP, size - 1)
    return np.asarray(table[ids[own], col])


DEBRIEF = Debrief(
    shows=("global_load.sectors", "global_load.excess_sectors", "global_store.excess_sectors"),
    why=(
        "Which row comes next is anybody's guess, but within a row everything is in order. Where "
        "the lanes work on a row side by side, a lookup costs the sectors of that row and no more."
    ),
    alternative=(
        "All lanes may read the word's number from memory: one address for the whole warp is one "
        "sector. Or each lane reads one number, and a shuffle hands it to the others."
    ),
)

EMBEDDING_LOOKUP = KernelPuzzle(
    name="03_coalescing/embedding_lookup",
    title="a row of the table for each token",
    difficulty="medium",
    minutes=10,
    debrief=DEBRIEF,
    statement=(
        "The first layer of a language model: out[i] is row ids[i] of `table`, for each of `size` "
        "tokens. There is a thread for each token, in blocks of TPB. Each warp writes the rows of "
        "its own 32 tokens. Nobody knows which rows they will be, and still no load and no store "
        "may touch more sectors than it has to. table may hold NaN and infinities as well."
    ),
    parameters={"embedding_lookup": ("out", "table", "ids", "size", "dim")},
    cases=(
        sized("visible example", visible=True, size=40, dim=48, vocab=50),
        sized("one token, one column", size=1, dim=1, vocab=3),
        sized("exactly one block", size=TPB, dim=32, vocab=70),
        sized("ragged rows of large numbers", size=67, dim=141, vocab=90, doublings=80),
        sized("rows shorter than a warp", size=33, dim=7, vocab=40),
        special("NaN and infinities", size=43, dim=37, vocab=11),
    ),
    random_case=drawn(size=(65, 100), dim=(33, 90), vocab=(101, 130)),
    inputs=_inputs,
    # As many rows in the table as are looked up.
    large=lambda least_bytes: sized(
        "past L2",
        size=blocks_to_cover(least_bytes, 8 * 1024),
        dim=1024,
        vocab=blocks_to_cover(least_bytes, 8 * 1024),
    ),
    launches=lambda case: (
        Launch(
            "embedding_lookup",
            blocks_to_cover(case.sizes["size"], TPB),
            TPB,
            ("out", "table", "ids", "size", "dim"),
        ),
    ),
    reference=gives(lambda table, ids: table[ids]),
    budgets=(
        loads_in_order(
            "At one moment the 32 lanes of a warp read cells that do not all lie side by "
            "side. What in this problem does lie side by side?"
        ),
        stores_in_order(
            "At one moment the 32 lanes of a warp write cells of out that lie apart. What in this "
            "problem does lie side by side?"
        ),
    ),
    diagnose=recognise(
        ("position", lambda table, size: table[:size]),
        ("word-of-the-lane", _words_of_the_lanes),
    ),
    diagnoses={
        "race": (
            "Two threads write one cell. Which 32 tokens does a warp have, and which columns of a "
            "row does a lane have?"
        ),
        "out-of-bounds": (
            "The last warp may have fewer than 32 tokens, and a row may end before 32 columns do. "
            "Both need an end."
        ),
        "tail-unwritten": (
            "Rows need not be a multiple of 32 long, and the last warp need not have 32 tokens: "
            "where does the loop over the columns end, and where the one over the tokens?"
        ),
        "position": ("Row i of the table went to token i. Which word token i is stands in ids."),
        "word-of-the-lane": (
            "Each row of out is a mixture of many rows of the table. All lanes work on one token "
            "at that moment: whose word do they need?"
        ),
    },
    share=Share(
        "Each warp writes the rows of its own 32 tokens.", lambda case, out: _columns(case)
    ),
    hints=(
        (
            "One thread for each token jumps about: neighbouring lanes are in different rows of "
            "the table, and in different rows of out. Along which index are neighbours in memory?"
        ),
        (
            "Let a warp take its 32 tokens one after the other, and all its lanes work on the same "
            "one. Lane 0 has column 0, lane 1 has column 1."
        ),
        (
            "The warp's first token is the thread's number less its lane. For each token, read its "
            "word inside the loop, and then go through the columns from the lane in steps of 32. "
            "Both loops need an end that fits."
        ),
    ),
    mistakes=(
        Mistake("a_thread_for_a_token", "over-budget", "over-budget"),
        Mistake("a_piece_for_each_lane", "over-budget", "over-budget"),
        Mistake("position_for_the_word", "wrong-result", "position"),
        Mistake("word_of_the_lane", "wrong-result", "word-of-the-lane"),
        Mistake("whole_groups_only", "wrong-result", "tail-unwritten"),
        Mistake("both_warps_on_the_same_tokens", "hazard", "race"),
        Mistake("no_guard", "hazard", "out-of-bounds"),
        Mistake("one_lane_does_it_all", "over-budget", "not-shared"),
    ),
    equivalent_mutants={
        "embedding_lookup:loop-ends-late:for start in range(lane, dim + 4 * WARP, 4 * WARP):": (
            "behind the row's end every column is guarded"
        ),
        "embedding_lookup:constant:kept = cuda.local.array(5, float32)": "a cell that nobody uses",
    },
    constants={"TPB": TPB, "WARP": WARP},
)
