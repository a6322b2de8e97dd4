"""Puzzle `find_the_bottleneck`: seven faults in recorded traces, told apart by counts."""

from __future__ import annotations

import numpy as np

from gpu_course.lessons.profiling.planted import LOOPS, drawn
from gpu_course.lessons.profiling.plants import PLANTS
from gpu_course.puzzle.builders import sized
from gpu_course.puzzle.room import puzzle_fields
from gpu_course.puzzle.specification import Case, PythonPuzzle, Values

_SOUND = [number for number, loop in enumerate(LOOPS) if loop.plant == "none"]


def _number(plant: str, kind: int) -> int:
    return next(k for k, loop in enumerate(LOOPS) if (loop.plant, loop.kind) == (plant, kind))


def _case(number: int, name: str, visible: bool = False) -> Case:
    return sized(name, visible=visible, trace=number)


def _inputs(rng: np.random.Generator, case: Case) -> Values:
    return drawn(case.sizes["trace"], rng)


def _random_case(rng: np.random.Generator) -> Case:
    return _case(int(rng.integers(len(LOOPS))), "a trace drawn at random")


def _reference(inputs: Values, case: Case) -> Values:
    """What was planted when the trace was recorded."""
    return {"result": LOOPS[case.sizes["trace"]].plant}


def _diagnose(inputs: Values, case: Case, expected: Values, got: Values) -> str | None:
    said, right = got["result"], expected["result"]
    if said not in PLANTS:
        return "words"
    if said == right:
        return None
    if right == "none":
        return "sound"
    return "overlooked" if said == "none" else None


def _call(inputs: Values) -> str:
    return f"find_the_bottleneck({len(inputs['rows']):,} events)"


FIND_THE_BOTTLENECK = PythonPuzzle(
    **puzzle_fields(__file__),
    harness="gpu_course.lessons.profiling.harness.traces",
    cases=(
        _case(_number("item", 0), "visible example", visible=True),
        _case(_SOUND[0], "trace A"),
        _case(_number("dtypes", 1), "trace B"),
        _case(_number("contiguous", 2), "trace C"),
        _case(_number("mask", 2), "trace D"),
        _case(_number("loader", 2), "trace E"),
        _case(_number("optimizer", 1), "trace F"),
        _case(_number("small operations", 2), "trace G"),
        _case(_SOUND[-1], "trace H"),
        _case(_number("mask", 1), "trace I"),
    ),
    random_case=_random_case,
    inputs=_inputs,
    reference=_reference,
    diagnose=_diagnose,
    call=_call,
)
