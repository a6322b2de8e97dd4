"""What the two plans by segments share: their chains, and what is said of too much."""

from __future__ import annotations

import numpy as np

from gpu_course.lessons.checkpointing.planning import OUTPUT_BYTES, run_twice_in_a_row
from gpu_course.puzzle.specification import Case
from simt.text import count

SOURCE = "Chen, Xu, Zhang, Guestrin, arXiv 1604.06174, section 4"


def case_of(length: int, visible: bool = False) -> Case:
    stages = "one stage" if length == 1 else f"{length} stages"
    return Case("visible example" if visible else stages, {"length": length}, visible)


def random_case(rng: np.random.Generator) -> Case:
    return Case("a length drawn at random", {"length": int(rng.integers(11, 60))})


def why_too_often(schedule: list[tuple[str, int]]) -> str:
    return "run-too-often" if run_twice_in_a_row(schedule) is None else "twice-in-a-row"


def too_much(peak: int, limit: int, length: int) -> str:
    return (
        f"{count(peak, 'byte')} alive at one time; {count(length, 'stage')} may take {limit:,} "
        f"({count(limit // OUTPUT_BYTES, 'output')})"
    )
