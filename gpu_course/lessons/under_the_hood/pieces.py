"""What puzzles of this lesson share."""

from __future__ import annotations

from gpu_course.puzzle.specification import Budget

TPB = 64

IN_FLOAT32 = Budget(
    "float64_operations + float64_comparisons",
    0,
    "Ask of each part of these lines which type it has: 0, 0.5 and a constant of the file are no "
    "float32, and a whole number with a float32, or divided by another, makes a float64.",
    "float64 operations",
)
