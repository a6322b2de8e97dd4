"""The kernels of the course, run twice: by the simulator, and as PTX thread by thread.

Both start from the same numbers. The puzzles draw eighths, whose products float32 holds exactly, so
that it would not show whether they were fused with a sum or rounded first. Here every float of such
a case, scalars too, is multiplied by one random factor: mantissas are full then, and what was equal
or in order stays so. Where an array has them already, all stays as it was drawn, since one may
follow from another, as what a softmax was divided by does.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from gpu_course.grading.kernel.answers import mistake_answer
from gpu_course.grading.kernel.trial import STEP_BUDGET, Given, poison, prepare
from gpu_course.puzzle import Case, KernelPuzzle, Mistake
from simt.kernel.source import Kernel
from simt.kernel.source import load as read_file
from simt.report import Hazard
from simt.simulator import simulate
from tests.ptx.compiled import texts_of
from tests.ptx.launch import launch as run
from tests.ptx.memory import Fault, Watch
from tests.ptx.translate import Program

SOLUTIONS = Path(__file__).parents[2] / "solutions"
Values = dict[str, Any]


@dataclass(frozen=True)
class Answer:
    """The kernels of a puzzle: a solution, or one with a named mistake in it.

    Attributes:
        name: for messages.
        puzzle: the puzzle.
        kernels: name of the puzzle's function -> what the simulator runs.
        places: the same -> (file, name of the kernel in it), for Numba.
    """

    name: str
    puzzle: KernelPuzzle
    kernels: Mapping[str, Kernel]
    places: Mapping[str, tuple[Path, str]]


def solution(puzzle: KernelPuzzle) -> Answer:
    """Returns the solution of a puzzle."""
    file = SOLUTIONS / f"{puzzle.name}.py"
    kernels = {name: read_file(file).kernel(name) for name in puzzle.functions}
    return Answer(puzzle.name, puzzle, kernels, {name: (file, name) for name in kernels})


def with_mistake(puzzle: KernelPuzzle, mistake: Mistake) -> Answer:
    """Returns the solution of a puzzle with one of its named mistakes."""
    right = solution(puzzle)
    file = SOLUTIONS / puzzle.lesson / "mistakes" / f"{puzzle.short_name}.py"
    place = {mistake.stands_for or puzzle.functions[0]: (file, mistake.function)}
    kernels = mistake_answer(puzzle, mistake, SOLUTIONS)
    name = f"{puzzle.name} {mistake.function}"
    return Answer(name, puzzle, kernels, {**right.places, **place})


def given_of(puzzle: KernelPuzzle, case: Case, seed: int) -> Given:
    """Returns a case of a puzzle whose floats have full mantissas."""

    def drawn(rng: np.random.Generator, case: Case) -> Values:
        inputs = puzzle.inputs(rng, case)
        if any(map(_full, inputs.values())):
            return inputs
        factor = np.float32(1 + rng.random() / 4)
        return {name: _multiplied(value, factor) for name, value in inputs.items()}

    return prepare(replace(puzzle, inputs=drawn), case, seed)


def _full(value: Any) -> bool:
    """Whether an array has floats that fill more than half of a mantissa."""
    if not (isinstance(value, np.ndarray) and value.dtype.kind == "f" and value.dtype.itemsize > 2):
        return False
    finite = value[np.isfinite(value)]
    return bool((np.ldexp(np.frexp(finite)[0], np.finfo(value.dtype).nmant // 2) % 1).any())


def _multiplied(value: Any, factor: np.float32) -> Any:
    if isinstance(value, np.ndarray | np.floating) and value.dtype.kind == "f":
        with np.errstate(all="ignore"):
            return (value * factor).astype(value.dtype)
    return value * float(factor) if isinstance(value, float) else value


def started(given: Given) -> Values:
    """Returns the values of a case before its first launch: outputs poisoned."""
    values = {name: poison(array, 0) for name, array in given.outputs.items()} | dict(given.inputs)
    return copied(values)


def copied(values: Values) -> Values:
    return {n: v.copy() if isinstance(v, np.ndarray) else v for n, v in values.items()}


def by_simulator(answer: Answer, given: Given, values: Values) -> list[Hazard]:
    """Runs the launches of a case up to the first with hazards, and returns those of them.

    Only hazards that are errors count.
    """
    for each in given.launches:
        launched = simulate(answer.kernels[each.function], counters=False, step_budget=STEP_BUDGET)
        shape = (each.grid, each.block, 0, each.shared_bytes)
        report = launched[shape](*(values[name] for name in each.args))
        if found := [hazard for hazard in report.hazards if hazard.severity == "error"]:
            return found
    return []


def by_oracle(
    answer: Answer,
    given: Given,
    values: Values,
    form: str,
    keep: Path | None,
    watched: bool = False,
) -> set[str]:
    """Runs the launches of a case as PTX, and returns what went wrong, in the simulator's words.

    A fault ends it. What a `Watch` saw does not: it takes what only a warp's barrier orders for a
    race, and the fault may come in a later launch.

    Args:
        answer, given: what to run.
        values: of its arguments; arrays change in place.
        form: "shipped" or "unfused".
        keep: a folder for PTX.
        watched: True to look for races and for what is read before it is written, too.
    """
    kinds: set[str] = set()
    faults: set[str] = set()
    for each in given.launches:
        arguments = [values[name] for name in each.args]
        watch = Watch() if watched else None
        try:
            run(
                program(answer, given, each.function, form, keep, watched),
                each.grid,
                each.block,
                arguments,
                shared_bytes=each.shared_bytes,
                watch=watch,
            )
        except Fault as fault:
            faults.add(fault.kind)
        if watch is not None:
            kinds |= {"race"} if watch.races else set()
            kinds |= {"uninitialised-read"} if watch.unset else set()
        if faults:
            break
    return kinds | faults


def program(
    answer: Answer, given: Given, function: str, form: str, keep: Path | None, watched: bool = False
) -> Program:
    """Returns a kernel of an answer, ready to run."""
    file, name = answer.places[function]
    launch = next(each for each in given.launches if each.function == function)
    values = {**given.outputs, **given.inputs}
    arguments = [values[each] for each in launch.args]
    texts = texts_of(file, name, arguments, keep)
    return _program(getattr(texts, form), watched)


@lru_cache(maxsize=16)
def _program(text: str, watched: bool) -> Program:
    return Program.of(text, watched)


def differences(ours: Values, theirs: Values, tolerance: float | None) -> list[str]:
    """Returns what differs between two sets of values.

    Args:
        ours, theirs: what the simulator left, and the oracle.
        tolerance: of the largest number of an array; None where bits must be the same. A NaN is
            like any other.
    """
    found = []
    for name, left in ours.items():
        right = theirs[name]
        if not isinstance(left, np.ndarray):
            continue
        same = _bits(left) == _bits(right)
        if left.dtype.kind == "f":
            same |= np.isnan(left) & np.isnan(right)
            if tolerance is not None:
                most = np.abs(left[np.isfinite(left)]).max(initial=0.0)
                same |= np.isclose(left, right, tolerance, tolerance * most)
        for place in np.argwhere(~same)[:3]:
            at = tuple(place.tolist())
            found.append(f"{name}{list(at)} is {left[at]!r}, and {right[at]!r} as PTX")
    return found


def _bits(array: np.ndarray) -> np.ndarray:
    return array.view(f"u{array.dtype.itemsize}") if array.dtype.kind == "f" else array
