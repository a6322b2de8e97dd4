"""What holds for every kernel puzzle: its specification, its solution and its mistakes.

Two oracles share no line with the simulator. A kernel whose threads never meet runs one thread
after another (`by_hand`), one with barriers, shuffles or votes as a generator per thread
(`by_intervals`). Generators are slow, so what they run are long series of which `make test` draws a
part.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from gpu_course.puzzle import KernelPuzzle, Mistake, index
from tests.course.puzzles import by_intervals, rules
from tests.course.puzzles.loops import hears_other_blocks, is_marked, loop_of
from tests.sampling import share

pytestmark = pytest.mark.long(26)

PUZZLES = {p.short_name: p for p in index.puzzles() if isinstance(p, KernelPuzzle)}
RULES = [name for name in vars(rules) if name.startswith("assert_specification_")]


def has_barriers(name: str) -> bool:
    path = rules.SOLUTIONS / f"{PUZZLES[name].name}.py"
    return "cuda.syncthreads()" in path.read_text(encoding="utf-8")


def has_warp_calls(name: str) -> bool:
    text = (rules.SOLUTIONS / f"{PUZZLES[name].name}.py").read_text(encoding="utf-8")
    return any(f"cuda.{call}(" in text for call in (*by_intervals.WARP_CALLS, "atomic.add"))


WITH_BARRIERS = [name for name in PUZZLES if has_barriers(name)]
MEETING = [name for name in PUZZLES if name in WITH_BARRIERS or has_warp_calls(name)]
WITHOUT = [name for name in PUZZLES if name not in MEETING]
MEETING = [name for name in MEETING if not is_marked(PUZZLES[name], hears_other_blocks)]


def mistakes_of(names: list[str]) -> list[Any]:
    return [
        pytest.param(name, mistake, id=f"{name}-{mistake.function}")
        for name in names
        for mistake in PUZZLES[name].mistakes
    ]


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("name", PUZZLES)
def test_the_specification_holds_together(name: str, rule: str) -> None:
    holds: Callable[[KernelPuzzle], None] = getattr(rules, rule)
    holds(PUZZLES[name])


@pytest.mark.parametrize("name", PUZZLES)
def test_the_reference_is_a_loop(name: str) -> None:
    puzzle = PUZZLES[name]
    for case in rules.cases_and_random(puzzle):
        inputs = puzzle.inputs(np.random.default_rng(3), case)
        plain = {n: v.tolist() if hasattr(v, "tolist") else v for n, v in inputs.items()}
        expected = loop_of(puzzle)(**plain)
        right = puzzle.reference(inputs, case)
        within = puzzle.tolerances(inputs, case, right)
        # Of large numbers NumPy keeps what float32 holds.
        for output, found in right.items():
            rtol, atol = within[output]
            loop = np.array(expected[output], found.dtype)
            assert found.shape == loop.shape and np.allclose(
                found, loop, rtol, atol, equal_nan=True
            ), case


@pytest.mark.parametrize("name", WITHOUT)
def test_the_solution_passes_one_thread_after_another(name: str) -> None:
    rules.assert_solution_passes(PUZZLES[name])


@pytest.mark.parametrize(("name", "mistake"), mistakes_of(WITHOUT))
def test_each_mistake_is_told_apart_one_thread_after_another(name: str, mistake: Mistake) -> None:
    rules.assert_mistake_is_told_apart(PUZZLES[name], mistake)


@pytest.mark.series(share(11, of=len(MEETING)))
@pytest.mark.parametrize("name", MEETING)
def test_the_solution_is_right_and_without_hazard_in_a_block_of_generators(name: str) -> None:
    puzzle = PUZZLES[name]
    functions = by_intervals.kernels(rules.SOLUTIONS / f"{puzzle.name}.py")
    for case in rules.cases_and_random(puzzle, draws=1):
        outcome = by_intervals.run_case(puzzle, functions, case)
        assert outcome == by_intervals.Outcome(frozenset(), True), case


@pytest.mark.series(share(36, of=len(mistakes_of(MEETING))))
@pytest.mark.parametrize(("name", "mistake"), mistakes_of(MEETING))
def test_a_block_of_generators_finds_in_each_mistake_what_the_catalogue_says(
    name: str, mistake: Mistake
) -> None:
    puzzle = PUZZLES[name]
    outcome = by_intervals.outcome_of(puzzle, mistake)
    if mistake.reason == "hazard":
        assert mistake.diagnosis in outcome.hazards
    else:
        assert outcome.hazards == frozenset()
        assert outcome.right == (mistake.reason == "over-budget")
    if mistake.reason != "over-budget":
        assert mistake.diagnosis in puzzle.diagnoses


@pytest.mark.parametrize("name", WITH_BARRIERS)
def test_at_least_four_mistakes_and_a_race_among_them(name: str) -> None:
    mistakes = PUZZLES[name].mistakes
    assert len(mistakes) >= 4
    assert "race" in {mistake.diagnosis for mistake in mistakes}
