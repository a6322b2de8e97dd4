"""What a learner reads after a pass in lesson 04."""

from __future__ import annotations

from gpu_course.catalog.builders import blocks_to_cover
from gpu_course.catalog.specification import Bonus, Case, Debrief

_TPB, _WARP, _WINDOW = 64, 32, 4
_WARPS = _TPB // _WARP


def _race_barriers(case: Case) -> int:
    """One wait a row and one a round, where two tiles take turns."""
    blocks = blocks_to_cover(case.sizes["size"], _TPB)
    return _WARPS * (blocks + case.sizes["rows"] + blocks * (1 + case.sizes["rounds"]))


def _chunk_barriers(case: Case) -> int:
    """One wait a chunk, where two tiles take turns."""
    blocks = blocks_to_cover(case.sizes["size"], _TPB)
    chunks = blocks_to_cover(case.sizes["cols"], _TPB)
    return _WARPS * (2 * blocks + case.sizes["rows"] * chunks)


def _pooling_reads(case: Case) -> int:
    """The tile is read for the neighbours alone."""
    cols = case.sizes["cols"]
    first = min(_WINDOW - 1, cols - 1)
    return case.sizes["rows"] * (first + (_WINDOW - 1 if cols > _WARP else 0))


def _blur_reads(case: Case) -> int:
    """Sums of three along the rows first, for the rows that are wanted, then down the columns."""
    rows, width = case.sizes["rows"], blocks_to_cover(case.sizes["cols"], 16)
    heights = [min(8, rows - top) for top in range(0, rows, 8)]
    half = [blocks_to_cover(height + 2, 2) + blocks_to_cover(height, 2) for height in heights]
    return width * 3 * sum(half)


BLOCK_REVERSE = Debrief(
    shows=("global_load.sectors", "global_store.sectors", "barriers"),
    why=(
        "The tile is where the order changes, so global memory is read and written in order. The "
        "barrier between the two halves makes sure that a number is there before it is taken."
    ),
    alternative=(
        "Turn the piece round when you bring it in, or when you take it out: both are right. "
        "Either way, take care of the last piece, which may be shorter."
    ),
)

FIX_THE_RACE = Debrief(
    shows=("barriers", "shared_load.requests", "shared_store.requests"),
    why=(
        "Two accesses to one cell by different threads need a barrier between them whenever one of "
        "the two writes, whichever comes first. That holds from one turn of a loop to the next, "
        "too."
    ),
    alternative=(
        "One more barrier orders the turns of a loop. Two tiles used in turn do so as well, since "
        "no thread writes where others may still be reading."
    ),
    bonus=Bonus(
        goal="Let reverse_rows wait once a row, and add_neighbours once a round.",
        counter="barriers",
        limit=_race_barriers,
    ),
)

FIX_THE_BARRIER = Debrief(
    shows=("barriers", "divergent_branches"),
    why=(
        "A barrier counts the threads of the whole block, so it has to stand where all of them "
        "reach it, equally often. Work for only some of the threads goes into a guard before or "
        "after it."
    ),
    alternative=(
        "A loop whose bounds are the same for all threads, with a guard in it, is the usual form. "
        "Another is a flag that every thread computes and only some use."
    ),
    bonus=Bonus(
        goal="Let reverse_chunks wait once a chunk.",
        counter="barriers",
        limit=_chunk_barriers,
    ),
)

POOLING = Debrief(
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

STENCIL_HALO = Debrief(
    shows=("global_load.bytes", "shared_load.requests", "barriers"),
    why=(
        "Each block loads the two cells beyond its borders itself, so no block has to wait for "
        "another. After the barrier all neighbours are in the tile, whoever brought them."
    ),
    alternative=(
        "A loop over all places of the tile treats every place alike. Two extra loads by the "
        "threads at the ends do it as well."
    ),
    bonus=Bonus(
        goal="Two reads of the tile per cell are enough.",
        counter="shared_load.requests",
        limit=lambda case: 2 * blocks_to_cover(case.sizes["size"], _WARP),
    ),
)

CONV1D = Debrief(
    shows=("global_load.bytes", "shared_load.requests", "barriers"),
    why=(
        "Cells and weights are each wanted by many threads, so each comes into shared memory once "
        "per block. The sums themselves then need nothing from global memory."
    ),
    alternative=(
        "Bring the overhang in a loop, or with a second guarded load: both are right. The weights "
        "are the same for all blocks, which is what constant memory is made for."
    ),
)

BOX_BLUR_2D = Debrief(
    shows=("global_load.bytes", "shared_load.requests", "barriers"),
    why=(
        "The frame has more places than the block has threads, so the cells are brought in a "
        "loop, whichever thread computes which cell later. A cell outside the picture adds "
        "nothing to a sum, so it may be a zero in the tile."
    ),
    alternative=(
        "Loop over the tile by one flat number, or by row and column with two strides: both are "
        "right, and the second needs no division."
    ),
    bonus=Bonus(
        goal="Neighbouring boxes have cells in common: read the tile less often.",
        counter="shared_load.requests",
        limit=_blur_reads,
    ),
)

TRANSPOSE_TILED = Debrief(
    shows=("global_load.sectors", "global_store.sectors", "barriers"),
    why=(
        "A square is loaded along the rows of a and stored along the rows of out, so both run in "
        "order in global memory. The turning happens in the tile, where order costs no sectors."
    ),
    alternative=(
        "Turn on the way into the tile or on the way out: global memory sees no difference. The "
        "block keeps its shape, and only its row and column in the grid change places."
    ),
)

TRANSPOSE_PADDED = Debrief(
    shows=("global_load.sectors", "shared_load.conflicts", "shared_store.conflicts"),
    why=(
        "The 32 cells that a warp wants at once lie in 32 different banks, along rows and down "
        "columns alike. So each request to the tile is served in one pass."
    ),
    alternative=(
        "One unused place at the end of each row moves the next row on by a bank. Storing the "
        "cells of each row in a different order, by the exclusive or of row and column, needs no "
        "extra place."
    ),
)
