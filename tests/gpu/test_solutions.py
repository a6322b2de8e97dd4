"""Every solution of the course, natively: equal to the reference, and to the simulator."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from gpu_course.grading.diagnoses.patterns import close
from gpu_course.grading.kernel.trial import attempt, poison, prepare
from gpu_course.hardware.run import run_natively
from gpu_course.puzzle import Case, KernelPuzzle, index
from simt.kernel import source

SOLUTIONS = Path(__file__).parents[2] / "solutions"
CASES = [
    pytest.param(puzzle, case, id=f"{puzzle.short_name}: {case.name}")
    for puzzle in index.puzzles()
    if isinstance(puzzle, KernelPuzzle)
    for case in (*puzzle.cases, puzzle.random_case(np.random.default_rng(0)))
]


@pytest.mark.parametrize(("puzzle", "case"), CASES)
def test_a_solution_computes_the_reference(puzzle: KernelPuzzle, case: Case) -> None:
    path = SOLUTIONS / f"{puzzle.name}.py"
    given = prepare(puzzle, case, seed=0)
    poisoned = {n: poison(a, 0) for n, a in given.outputs.items() if n not in given.inputs}
    native = run_natively(path, given.launches, {**given.inputs, **poisoned})
    module = source.load(path)
    kernels = {name: module.kernel(name) for name in puzzle.functions}
    simulated = attempt(given, kernels, 0)
    for name, expected in given.expected.items():
        assert close(native[name], expected, given.tolerances[name]).all(), name
        assert close(native[name], simulated.got[name], given.tolerances[name]).all(), name
    for name, before in given.inputs.items():
        if name in native and name not in given.outputs:
            np.testing.assert_array_equal(native[name], before)
