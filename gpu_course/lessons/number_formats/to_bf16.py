"""Puzzle `to_bf16`: sixteen bits of thirty-two, rounded to nearest even."""

from __future__ import annotations

import numpy as np

from gpu_course.lessons.number_formats.formats import BF16, codes, rounded
from gpu_course.puzzle.builders import (
    ONE_CELL_EACH,
    blocks_to_cover,
    drawn_case,
    enough_blocks,
    gives,
    sized,
)
from gpu_course.puzzle.memory_budgets import IN_ORDER, NO_FLOAT64, bytes_loaded, bytes_stored
from gpu_course.puzzle.room import puzzle_fields
from gpu_course.puzzle.specification import Case, KernelPuzzle, Values

TPB = 128
NAN = 0x7FC0
_LOWER = (0x0000, 0x0001, 0x7FFF, 0x8000, 0x8001, 0xFFFF)
"""Lower halves at which roundings differ: nothing, and around the middle between neighbours."""
_ALL_ONES = 0x007F
"""A mantissa of which any carry goes into the exponent."""
_NOT_FINITE = (
    0x7F800000, 0xFF800000, 0x7F800001, 0x7FFFFFFF, 0xFF800001, 0xFFFFFFFF, 0x7FC01234, 0x7F80FFFF,
)  # fmt: skip
_EDGE = (0x7F7F7FFF, 0x7F7F8000, 0xFF7F8000, 0x7F7FFFFF, 0xFF7FFFFF, 0x7F7F0000)
_SMALL = (0x00000000, 0x80000000, 0x00000001, 0x00008000, 0x80008000, 0x00008001, 0x00018000,
          0x007FFFFF, 0x807F8000, 0x00800000)  # fmt: skip


def _inputs(rng: np.random.Generator, case: Case) -> Values:
    size = case.sizes["size"]
    exponents = rng.integers(100, 150, size, dtype=np.uint32)
    mantissas = rng.integers(0, 1 << 7, size, dtype=np.uint32)
    # A third of all mantissas is full: there a carry reaches the exponent.
    mantissas[rng.random(size) < 1 / 3] = _ALL_ONES
    signs = rng.integers(0, 2, size, dtype=np.uint32)
    upper = (signs << np.uint32(15)) | (exponents << np.uint32(7)) | mantissas
    lower = rng.integers(0, 1 << 16, size, dtype=np.uint32)
    chosen = rng.choice(np.array(_LOWER, np.uint32), size)
    lower = np.where(rng.random(size) < 0.75, chosen, lower)
    bits = (upper << np.uint32(16)) | lower
    for name, put in (("special", _NOT_FINITE), ("edge", _EDGE), ("small", _SMALL)):
        if case.sizes.get(name):
            places = rng.permutation(size)[: len(put)]
            bits[places] = np.array(put, np.uint32)[: len(places)]
    return {"bits": bits, "size": size}


def _rounded(bits: np.ndarray) -> np.ndarray:
    """By the nearest number, worked out in float64, not by the bits."""
    wide = bits.view(np.float32).astype(np.float64)
    number = np.where(np.isnan(wide), 0.0, wide)
    found = codes(rounded(number, BF16), BF16)
    return np.asarray(np.where(np.isnan(wide), NAN, found), np.uint16)


TO_BF16 = KernelPuzzle(
    **puzzle_fields(__file__),
    cases=(
        sized("visible example", visible=True, size=100),
        sized("one cell", size=1),
        sized("exactly one block", size=TPB),
        sized("one cell more than two blocks", size=2 * TPB + 1),
        sized("numbers close to 0", size=75, small=1),
        sized("numbers close to the largest", size=70, edge=1),
        sized("NaN and infinities", size=90, special=1),
    ),
    random_case=drawn_case(size=(100, 600), small=[0, 1], edge=[0, 1], special=[0, 1]),
    inputs=_inputs,
    large=lambda least_bytes: sized("past L2", size=blocks_to_cover(least_bytes, 6)),
    launches=enough_blocks("to_bf16", "out", "bits", "size", block=TPB),
    reference=gives(_rounded),
    budgets=(
        bytes_loaded("Each number is read once: 4 bytes. What a thread has read it can keep."),
        bytes_stored("Each cell of out is written once, when it is known."),
        *IN_ORDER,
        NO_FLOAT64,
    ),
    share=ONE_CELL_EACH,
    codes=("bits", "out"),
)
