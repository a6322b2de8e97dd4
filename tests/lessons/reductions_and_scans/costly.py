"""Kernels of lesson 05 that are right and go past a budget: `puzzles/costly.py` says how."""

from __future__ import annotations

from tests.course.puzzles.answers import Changes
from tests.course.puzzles.costly import shuffles_on

TWICE = "max(a[i], a[i])"
WARP_SUM = ("    if lane == 0:\n        tile[warp] = total", "total", "ALL_LANES")
HALVES = "    if cuda.laneid == 0:\n        halves[t // WARP] = x"

COSTLY: dict[tuple[str, str], Changes] = {
    ("block_sum", "global_load.bytes"): (("a[i] if", f"{TWICE} if"),),
    ("grid_sum", "shuffles"): shuffles_on(*WARP_SUM),
    ("scan_block", "shuffles"): shuffles_on("    if lane == WARP - 1:", "x", "FULL"),
    ("segmented_sum", "shuffles"): (
        (
            "        step *= 2",
            "        y = cuda.shfl_xor_sync(FULL, y, 1)\n" * 3 + "        step *= 2",
        ),
    ),
    ("deterministic_sum", "shuffles"): shuffles_on("        if cuda.laneid == 0:", "x", "FULL"),
    ("last_block_sum", "shuffles"): shuffles_on(HALVES, "x", "FULL"),
    ("softmax_row_max", "global_load.bytes"): (
        (
            "part += math.exp(a[row, col] - most)",
            "if a[row, col] <= most:\n            part += math.exp(a[row, col] - most)",
        ),
    ),
    ("histogram_private", "atom.requests"): (
        ("cuda.atomic.add(counts, k, own[k])", "own[k] = cuda.atomic.add(counts, k, own[k])"),
    ),
    ("histogram_private", "global_load.bytes"): (
        ("own, values[i], 1", "own, max(values[i], values[i]), 1"),
    ),
    ("deterministic_sum", "global_load.bytes"): (
        ("rest[k * TPB] if", "max(rest[k * TPB], rest[k * TPB]) if"),
    ),
    ("last_block_sum", "global_load.bytes"): (("a[i] if", f"{TWICE} if"),),
}
