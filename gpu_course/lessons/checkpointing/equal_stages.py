"""What the puzzles that plan equal stages share: their chains, and what is said of too much."""

from __future__ import annotations

import numpy as np

from gpu_course.puzzle.planning import run_twice_in_a_row
from gpu_course.puzzle.specification import Case, Values
from simt.text import count

OUTPUT_BYTES = 64 * 64 * 4
"""Of a stage of measure.chains.equal_stages."""


def equal_inputs(function: str, rng: np.random.Generator, case: Case) -> Values:
    """Returns inputs for a plan of equal stages; its arguments are the sizes of the case."""
    return {
        "function": function,
        "arguments": list(case.sizes.values()),
        "chain": "equal",
        "stages": case.sizes["length"],
        "seed": int(rng.integers(1 << 30)),
    }


def called(inputs: Values) -> str:
    """Returns the call of a plan of equal stages: "revolve(10, 3)"."""
    return f"{inputs['function']}({', '.join(map(str, inputs['arguments']))})"


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
