"""Puzzle `adamw`: a step of the optimizer in 28 bytes per parameter."""

from __future__ import annotations

import numpy as np

from gpu_course.puzzle.builders import (
    ONE_CELL_EACH,
    blocks_to_cover,
    drawn_case,
    eighths,
    enough_blocks,
    gives,
    sized,
    special,
)
from gpu_course.puzzle.memory_budgets import (
    IN_ORDER,
    NO_FLOAT64,
    bytes_loaded,
    bytes_stored,
)
from gpu_course.puzzle.room import puzzle_fields
from gpu_course.puzzle.specification import Case, KernelPuzzle, Values

TPB = 64
BETA_M, BETA_V = 0.9, 0.95
NUMBERS = ("rate", "decay", "eps", "fix_m", "fix_v")


def _inputs(rng: np.random.Generator, case: Case) -> Values:
    size, step = case.sizes["size"], case.sizes["step"]
    made: Values = {name: eighths(rng, size, case) for name in ("w", "m", "v", "grad")}
    made["v"] = np.abs(made["v"])
    if case.sizes.get("still"):
        for name in ("m", "v", "grad"):
            made[name][::2] = 0
    eps = 0.5 if case.sizes.get("large_eps") else 1e-8
    numbers = (0.125, 0.25, eps, 1 - BETA_M**step, 1 - BETA_V**step)
    return (
        made
        | {"size": size}
        | {name: np.float32(x) for name, x in zip(NUMBERS, numbers, strict=True)}
    )


def _stepped(inputs: Values) -> Values:
    w, m, v, grad = (inputs[name].astype(np.float64) for name in ("w", "m", "v", "grad"))
    rate, decay, eps, fix_m, fix_v = (float(inputs[name]) for name in NUMBERS)
    m = BETA_M * m + (1 - BETA_M) * grad
    v = BETA_V * v + (1 - BETA_V) * grad * grad
    w = w - rate * decay * w
    w = w - rate * (m / fix_m) / (np.sqrt(v / fix_v) + eps)
    return {"w": np.float32(w), "m": np.float32(m), "v": np.float32(v)}


ADAMW = KernelPuzzle(
    **puzzle_fields(__file__),
    cases=(
        sized("visible example", visible=True, size=100, step=3),
        sized("one parameter", size=1, step=1),
        sized("exactly one block", size=TPB, step=2),
        sized("one parameter more than two blocks", size=2 * TPB + 1, step=900),
        sized("a large eps", size=77, step=2, large_eps=1, doublings=-6),
        sized("parameters that never moved", size=70, step=5, still=1),
        special("NaN and infinities", size=83, step=2),
    ),
    random_case=drawn_case(size=(70, 300), step=(1, 40)),
    inputs=_inputs,
    large=lambda least_bytes: sized("past L2", size=blocks_to_cover(least_bytes, 4 * 7), step=10),
    launches=enough_blocks("adamw", "w", "m", "v", "grad", "size", *NUMBERS, block=TPB),
    reference=gives(_stepped),
    tolerance=(2e-6, 1e-6),
    budgets=(
        bytes_loaded(
            "Four numbers of a parameter are read, once each. What a thread has just worked out it "
            "need not fetch again."
        ),
        bytes_stored("Three numbers of a parameter are written, once each, when they are final."),
        *IN_ORDER,
        NO_FLOAT64,
    ),
    share=ONE_CELL_EACH,
)
