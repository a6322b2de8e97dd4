"""Puzzle `dropout`: a mask that nobody stores."""

from __future__ import annotations

import numpy as np

from gpu_course.lessons.data_movement.random_words import philox
from gpu_course.puzzle.builders import blocks_to_cover, eighths, gives, sized, special
from gpu_course.puzzle.memory_budgets import (
    IN_ORDER,
    NO_FLOAT64,
    bytes_loaded,
    bytes_stored,
)
from gpu_course.puzzle.room import puzzle_fields
from gpu_course.puzzle.specification import Case, KernelPuzzle, Launch, Share, Values

TPB = 64
WORDS = 4
ARGUMENTS = ("size", "quarter", "least", "scale", "key0", "key1")


def _inputs(rng: np.random.Generator, case: Case) -> Values:
    """x and its gradient go through the kernel by the same key."""
    size = case.sizes["size"]
    drop = case.sizes.get("sixteenths", 4) / 16
    keys = (0, 0) if case.visible else rng.integers(0, 2**32, 2, dtype=np.uint32)
    least = np.uint32(drop * 2**32)
    if case.sizes.get("border"):
        counter = np.array([[size // 8, 0, 0, 0]], np.uint32)
        least = philox(counter, (int(keys[0]), int(keys[1])))[0, 1]
    return {
        "x": eighths(rng, size, case),
        "dy": eighths(rng, size),
        "size": size,
        "quarter": blocks_to_cover(size, WORDS),
        "least": least,
        "scale": np.float32(1 / (1 - drop)),
        "key0": np.uint32(keys[0]),
        "key1": np.uint32(keys[1]),
    }


def _kept(inputs: Values) -> Values:
    size, quarter = inputs["size"], inputs["quarter"]
    counters = np.zeros((quarter, WORDS), np.uint32)
    counters[:, 0] = np.arange(quarter)
    words = philox(counters, (int(inputs["key0"]), int(inputs["key1"])))
    kept = words.T.reshape(-1)[:size] >= inputs["least"]
    zero = np.float32(0)
    return {
        "out": np.where(kept, inputs["x"] * inputs["scale"], zero),
        "dx": np.where(kept, inputs["dy"] * inputs["scale"], zero),
    }


def _launches(case: Case) -> tuple[Launch, ...]:
    grid = blocks_to_cover(blocks_to_cover(case.sizes["size"], WORDS), TPB)
    return tuple(
        Launch("dropout", grid, TPB, (out, of, *ARGUMENTS))
        for out, of in (("out", "x"), ("dx", "dy"))
    )


DROPOUT = KernelPuzzle(
    **puzzle_fields(__file__),
    cases=(
        sized("visible example", visible=True, size=100),
        sized("one cell", size=1),
        sized("three cells", size=3),
        sized("exactly one block of counters", size=WORDS * TPB, sixteenths=8),
        sized("one cell more", size=WORDS * TPB + 1, sixteenths=2),
        sized("nothing is dropped", size=90, sixteenths=0),
        sized("a word that is least itself", size=160, border=1),
        sized("nearly all is dropped", size=150, sixteenths=15),
        special("NaN and infinities", size=141),
    ),
    random_case=lambda rng: sized(
        "a size drawn at random",
        size=int(rng.integers(150, 600)),
        sixteenths=int(rng.integers(1, 12)),
    ),
    inputs=_inputs,
    large=lambda least_bytes: sized("past L2", size=blocks_to_cover(least_bytes, 2 * 4)),
    launches=_launches,
    reference=gives(lambda inputs: _kept(inputs)),
    budgets=(
        bytes_loaded("Each number is read once, and no mask: the words come again from the key."),
        bytes_stored("Each cell is written once, and no mask."),
        *IN_ORDER,
        NO_FLOAT64,
    ),
    share=Share("Each thread writes at most four cells.", WORDS),
)
