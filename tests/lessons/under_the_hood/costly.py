"""Kernels of lesson 07 that are right and go past a budget: `puzzles/costly.py` says how."""

from __future__ import annotations

from tests.course.puzzles.answers import Changes

IN_FLOAT32 = "float64_operations + float64_comparisons"

COSTLY: dict[tuple[str, str], Changes] = {
    ("two_product", "float32_operations"): (
        ("b[i], -product)", "b[i], -product) * float32(1) * float32(1)"),
        ("import cuda", "import cuda, float32"),
    ),
    ("keep_it_in_registers", IN_FLOAT32): (("total = float32(0)", "total = 0.0"),),
}
