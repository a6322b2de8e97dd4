"""Kernels of lesson 03 that are right and go past a budget: `puzzles/costly.py` says how."""

from __future__ import annotations

from tests.course.puzzles.answers import Changes

COSTLY: dict[tuple[str, str], Changes] = {
    ("sum_rows", "shuffles"): (
        (
            "step = WARP // 2\n        while step > 0:",
            "part, step = total, WARP - 1\n        while step > 0:",
        ),
        (
            "total += cuda.shfl_down_sync(ALL, total, step)",
            "total += cuda.shfl_sync(ALL, part, step)",
        ),
        ("step //= 2", "step -= 1"),
    ),
    ("sum_rows", "red.requests"): (
        (
            (
                "step = WARP // 2\n        while step > 0:\n"
                "            total += cuda.shfl_down_sync(ALL, total, step)\n"
                "            step //= 2\n"
                "        if lane == 0:\n            out[row] = total"
            ),
            (
                "if lane == 0:\n            out[row] = 0\n        cuda.syncwarp()\n"
                "        cuda.atomic.add(out, row, total)"
            ),
        ),
    ),
    ("sum_rows", "atom.requests"): (
        (
            "out[row] = total",
            (
                "out[row] = total\n            old = cuda.atomic.max(out, row, total)\n"
                "            out[row] = old"
            ),
        ),
    ),
}
