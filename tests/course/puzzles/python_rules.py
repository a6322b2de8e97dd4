"""What must hold for every Python puzzle; test_python_puzzles asks it of each."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np

from gpu_course.grading.diagnoses.sentences import PYTHON_SENTENCES
from gpu_course.grading.python.cases import part_of
from gpu_course.isolation import transport
from gpu_course.isolation.ranks import MAX_RANKS
from gpu_course.puzzle import Case, Puzzle, PythonPuzzle, index
from gpu_course.puzzle.specification import Values
from tests.course.puzzles import promises
from tests.course.puzzles.by_hand import SOLUTIONS

COLUMNS = 72
"""That a stub's docstring may have."""


def rule_names() -> list[str]:
    """The names of all rules."""
    return [name for name in globals() if name.startswith("assert_")]


def load(name: str) -> Callable[[PythonPuzzle], None]:
    """Returns a rule by its name."""
    rule: Callable[[PythonPuzzle], None] = globals()[name]
    return rule


def solution_of(puzzle: PythonPuzzle) -> dict[str, Any]:
    """Returns the names that a solution of ours defines."""
    scope: dict[str, Any] = {"__name__": puzzle.short_name}
    exec((SOLUTIONS / f"{puzzle.name}.py").read_text(encoding="utf-8"), scope)
    return scope


def _functions(relative: str) -> dict[str, tuple[str, ...]]:
    tree = ast.parse((SOLUTIONS / relative).read_text(encoding="utf-8"))
    found = [node for node in tree.body if isinstance(node, ast.FunctionDef)]
    return {node.name: tuple(arg.arg for arg in node.args.args) for node in found}


def cases_and_random(puzzle: PythonPuzzle, draws: int = 8) -> list:
    """Returns the puzzle's cases and some random ones."""
    rng = np.random.default_rng(7)
    return [*puzzle.cases, *(puzzle.random_case(rng) for _ in range(draws))]


def assert_parameters_agree(puzzle: PythonPuzzle) -> None:
    """The catalogue, the solution and every mistake name the same parameters in the same order."""
    solution = _functions(f"{puzzle.name}.py")
    assert set(puzzle.functions) <= set(solution)
    for name, parameters in puzzle.parameters.items():
        assert solution[name] == parameters
    wrong = _functions(f"{puzzle.lesson}/mistakes/{puzzle.short_name}.py")
    for mistake in puzzle.mistakes:
        assert wrong[mistake.function] == puzzle.parameters[
            mistake.stands_for or puzzle.functions[0]
        ]  # fmt: skip


def assert_cases_have_a_visible_one_first_and_names_of_their_own(puzzle: PythonPuzzle) -> None:
    assert puzzle.cases[0].visible
    assert sum(case.visible for case in puzzle.cases) == 1
    assert len({case.name for case in puzzle.cases}) == len(puzzle.cases)


def assert_inputs_cross_and_a_seed_fixes_them(puzzle: PythonPuzzle) -> None:
    for case in cases_and_random(puzzle):
        first, again = (puzzle.inputs(np.random.default_rng(1), case) for _ in range(2))
        ranks = 1 if puzzle.ranks is None else puzzle.ranks(case)
        for rank in range(ranks):
            one, other = part_of(first, rank), part_of(again, rank)
            assert transport.pack(one) == transport.pack(other)
        if not puzzle.harness:
            assert set(puzzle.parameters[puzzle.functions[0]]) <= set(first)


@lru_cache(maxsize=1)
def _expected(name: str) -> list[tuple[Case, Values, Values]]:
    """Cases of a puzzle, what they are given and what is expected: some references train models."""
    puzzle = index.find(name)
    assert isinstance(puzzle, PythonPuzzle)
    found = []
    for case in cases_and_random(puzzle):
        inputs = puzzle.inputs(np.random.default_rng(1), case)
        found.append((case, inputs, puzzle.reference(inputs, case)))
    return found


def assert_references_differ_from_case_to_case(puzzle: PythonPuzzle) -> None:
    if promises.is_alike(puzzle):
        return
    found = [transport.pack(expected) for _, _, expected in _expected(puzzle.name)]
    assert len(set(found)) > len(found) // 3


def assert_words_are_in_order(puzzle: PythonPuzzle) -> None:
    """Three different hints; a sentence for every key a mistake ends with; text without slips."""
    assert len(set(puzzle.hints)) == 3
    for mistake in puzzle.mistakes:
        assert mistake.diagnosis in puzzle.diagnoses or mistake.diagnosis in PYTHON_SENTENCES
    for text in (*puzzle.hints, *puzzle.diagnoses.values()):
        assert re.search(r"[.?)]$", text) and "  " not in text, text


def assert_the_statement_begins_with_a_sentence_and_fits_a_stub(puzzle: Puzzle) -> None:
    first, *rest = puzzle.statement.split("\n\n")
    assert first.startswith(f"{puzzle.short_name}: ") and first[-1] in ".?", first
    assert rest, "how it is called, and what is measured"
    assert all(len(line) <= COLUMNS for line in puzzle.statement.splitlines())


def assert_what_the_stub_promises_of_its_input_is_what_the_cases_hold(puzzle: PythonPuzzle) -> None:
    """The stub says what comes in: empty, huge, tied and finite as far as that matters."""
    promised = promises.promises_of(puzzle)
    if not promised:
        return
    rng = np.random.default_rng(7)
    drawn = [puzzle.random_case(rng) for _ in range(3)]
    said = promises.docstring(puzzle)
    assert promises.broken(puzzle, said, puzzle.cases, drawn) == set()
    # Neither a stub that says nothing nor a puzzle without such a case gets by.
    every = {promise.words for promise in promised}
    assert promises.broken(puzzle, "", puzzle.cases[:1], ()) == every
    rare = {promise.words for promise in promised if not promise.everywhere}
    assert promises.broken(puzzle, said, (), ()) == rare


def assert_ranks_are_asked_for_in_full(puzzle: PythonPuzzle) -> None:
    """One rank, several, lengths that do not divide; and enough bytes for hidden ones to show."""
    if puzzle.ranks is None:
        return
    numbers = {puzzle.ranks(case) for case in puzzle.cases}
    assert puzzle.torch and {1, 2} < numbers and max(numbers) <= MAX_RANKS
    large = 0
    for case, inputs, expected in _expected(puzzle.name):
        ranks = puzzle.ranks(case)
        parts = [part_of(inputs, rank) for rank in range(ranks)]
        assert all(len(each) == ranks for each in expected.values())
        values = [value for part in parts for value in part.values()]
        arrays = [a for value in values for a in (value if isinstance(value, list) else [value])]
        held = sum(array.nbytes for array in arrays if isinstance(array, np.ndarray))
        large = max(large, held if ranks > 2 else 0)
    assert large >= 100_000
