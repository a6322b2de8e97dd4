"""Answers to lesson 15 that come close or are rarely given; `puzzles/answers.py` says which."""

from __future__ import annotations

from tests.course.puzzles.answers import Changes

RIGHT: dict[tuple[str, str], Changes] = {
    ("to_bf16", "half, less one where the kept bit is even"): (
        ("uint32(0x7FFF) + odd", "uint32(0x8000) - (odd ^ uint32(1))"),
    ),
    ("kahan_sum", "pairs of rows"): (
        ("lost = x - (new - total)", "back = new - total\n                lost = x - back"),
    ),
    ("kahan_sum", "the last rows first"): (
        ("row = first + k", "row = rows - 1 - first - k"),
        ("if row < rows else", "if row >= 0 else"),
    ),
    ("quantise_fp8_tiles", "the last lane writes the scale"): (("lane == 0", "lane == 31"),),
    ("round_to", "on sizes"): (("round(x / step) * step", "round(abs(x) / step) * step"),),
    ("dynamic_loss_scaler", "asks the sum of sizes"): (
        ("np.isfinite(gradient).all()", "np.isfinite(np.abs(gradient.astype(float)).sum())"),
    ),
}
CLOSE: dict[tuple[str, str], tuple[str, Changes]] = {
    ("round_to", "through float32"): (
        "wrong-result",
        (
            ("import math\n", "import math\n\nimport numpy as np\n"),
            ("        near = x\n", "        x = float(np.float32(x))\n        near = x\n"),
        ),
    ),
    ("vanishing_updates", "all that is below one step"): (
        "wrong-result",
        (("update != 0 and plain == before", "0 < abs(update) < 2.0**-mantissa_bits * abs(w)"),),
    ),
}
LAZY: dict[tuple[str, str], Changes] = {
    ("kahan_sum", "in float64"): (("total = float32(0)", "total = 0.0"),),
}
