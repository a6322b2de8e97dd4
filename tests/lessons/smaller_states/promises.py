"""What the stubs of lesson 20 promise of their input, and what holds it."""

from __future__ import annotations

import numpy as np

from gpu_course.puzzle.specification import Values
from tests.course.puzzles.promises import Promise, everywhere, finite, one_of


def _is_zero_or_small(given: Values, least: float, most: float) -> bool:
    sizes = np.abs(given["gradients"])
    lines = (sizes.max(axis=(0, 1)), sizes.max(axis=(0, 2)))
    return any(bool(((least <= line) & (line <= most)).any()) for line in lines)


PROMISES: dict[str, tuple[Promise, ...]] = {
    "galore_project": (
        everywhere("float64 (rows, columns), finite", finite("gradient")),
        Promise("from 1 to", one_of("rank", 1)),
        Promise("shorter side has", lambda given: given["rank"] == min(given["gradient"].shape)),
    ),
    "galore_adam": (
        everywhere("float64 (rows, columns), finite", finite("gradients")),
        Promise("may be 0 throughout", lambda given: _is_zero_or_small(given, 0.0, 0.0)),
        Promise("as small as epsilon", lambda given: _is_zero_or_small(given, 1e-10, 1e-7)),
    ),
    "lora": (
        everywhere("all of it finite", finite("weight", "bias")),
        everywhere("(rows, in), finite", finite("x")),
        Promise("of one row or more", lambda given: len(given["x"]) == 1),
        Promise("of the detour: 1 or more", lambda given: len(given["a"]) == 1),
        everywhere("above 0", lambda given: given["alpha"] > 0),
    ),
    "block_quantise_state": (
        everywhere("finite, n 1 or more", finite("values")),
        Promise("may have fewer", lambda given: bool(len(given["values"]) % given["block"])),
        Promise("0.0 or -0.0", lambda given: bool((given["values"] == 0).any())),
        Promise(
            "be it 1e-37",
            lambda given: bool(((v := np.abs(given["values"])) > 0).any() and v.max() < 1e-30),
        ),
    ),
    "shared_layers": (
        Promise("is to have: 1 or more", one_of("layers", 1)),
        everywhere("finite numbers to finite numbers", finite("x")),
    ),
}
