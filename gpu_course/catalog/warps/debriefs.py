"""What a learner reads after a pass in lesson 02."""

from __future__ import annotations

from gpu_course.catalog.specification import Debrief

OCCUPANCY = Debrief(
    shows=("result",),
    why=(
        "Warps, block slots, registers and shared memory run out independently, and the one that "
        "runs out first decides. Each is handed out in whole units, so what counts is the rounded "
        "number, not the one you wrote."
    ),
    alternative=(
        "A count that adds one block at a time until something is full gives the same number. "
        "It is slower and harder to get wrong."
    ),
)
