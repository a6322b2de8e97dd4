"""The puzzles of lesson 16: their references against counts done otherwise, and their words."""

from __future__ import annotations

import ast
import re
from functools import partial
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from gpu_course.puzzle import index
from gpu_course.puzzle.harness import Unusable
from gpu_course.puzzle.specification import Case, PythonPuzzle
from tests.course.puzzles import rules
from tests.course.puzzles.by_hand import SOLUTIONS
from tests.course.puzzles.in_process import imported_by, outcome

LESSON = index.lesson("memory_ledger")

PUZZLES = {puzzle.short_name: puzzle for puzzle in LESSON.puzzles}


def given(puzzle: PythonPuzzle, case: Case, seed: int = 4) -> dict[str, Any]:
    return puzzle.inputs(np.random.default_rng(seed), case)


def test_the_lesson_brings_its_four_puzzles() -> None:
    assert list(PUZZLES) == ["adam_bytes", "ledger", "explain_the_gap", "accumulate"]
    assert all(isinstance(puzzle, PythonPuzzle) and puzzle.torch for puzzle in LESSON.puzzles)


@pytest.mark.parametrize("name", PUZZLES)
def test_catalogue_solution_and_mistakes_name_the_same_parameters(name) -> None:
    puzzle = PUZZLES[name]
    solution = definitions(f"{puzzle.name}.py")
    assert solution == {f: tuple(p) for f, p in puzzle.parameters.items()}
    wrong = definitions(f"{puzzle.lesson}/mistakes/{name}.py")
    assert list(wrong) == [mistake.function for mistake in puzzle.mistakes]
    assert set(wrong.values()) == {puzzle.parameters[puzzle.functions[0]]}


def definitions(relative: str) -> dict[str, tuple[str, ...]]:
    tree = ast.parse((SOLUTIONS / relative).read_text(encoding="utf-8"))
    found = [node for node in tree.body if isinstance(node, ast.FunctionDef)]
    return {node.name: tuple(arg.arg for arg in node.args.args) for node in found}


@pytest.mark.parametrize("name", PUZZLES)
def test_hints_and_diagnoses_are_in_order(name) -> None:
    puzzle = PUZZLES[name]
    text = (SOLUTIONS / f"{puzzle.name}.py").read_text(encoding="utf-8")
    regions = re.findall(r"# answer\n(.*?)# end answer", text, re.DOTALL)
    lines = [line.strip() for region in regions for line in region.splitlines()]
    for words in (*puzzle.hints, *puzzle.diagnoses.values()):
        assert not any(len(line) > 8 and line in words for line in lines)
        assert words.rstrip().endswith((".", "?", ")"))
        assert "  " not in words
    assert set(puzzle.diagnoses) == {mistake.diagnosis for mistake in puzzle.mistakes}


@pytest.mark.parametrize("name", PUZZLES)
def test_a_harness_holds_no_way_to_the_answer(name) -> None:
    """What a harness imports is all of the course that an answer could find."""
    harness = PUZZLES[name].harness
    if not harness:
        return
    seen = imported_by(harness)
    hidden = {
        "saved",
        "gap",
        "ledger",
        "ledger_notes",
        "mixed",
        "activation_formulas",
        "formulas",
        "state_formulas",
    }
    own = {f"{PUZZLES[name].harness}"}
    assert not {each for each in seen - own if each.rpartition(".")[2] in hidden}


def test_the_ledgers_reference_is_what_the_allocator_says() -> None:
    from gpu_course.lessons.memory_ledger.samples import sample
    from gpu_course.measure.peak import bytes_of, measure_peak

    puzzle = PUZZLES["ledger"]
    for case in puzzle.cases:
        inputs = given(puzzle, case)
        module, x = sample(**inputs)
        forward = measure_peak(lambda module=module, x=x: module(x))
        # The batch is older than the run; of the output a linear layer keeps nothing.
        kept = puzzle.reference(inputs, case)["kept_bytes"]
        assert forward.left_bytes <= kept + bytes_of(forward.value) + 8
        assert kept <= forward.left_bytes + bytes_of(x)


def test_every_kind_of_module_is_among_the_cases() -> None:
    from gpu_course.lessons.memory_ledger.ledger import KINDS
    from gpu_course.lessons.memory_ledger.samples import MODULES

    assert tuple(MODULES) == KINDS
    kinds = {given(PUZZLES["ledger"], case)["kind"] for case in PUZZLES["ledger"].cases}
    assert kinds == set(KINDS)


def test_adam_meets_all_four_recipes_and_one_tensor() -> None:
    sizes = [case.sizes for case in PUZZLES["adam_bytes"].cases]
    recipes = {(s["weight_bytes"], s["master_copy"]) for s in sizes}
    assert recipes == {(4, 0), (4, 1), (2, 1), (2, 0)}
    assert any(s["tensors"] == 1 for s in sizes)
    for case in rules.cases_and_random(PUZZLES["adam_bytes"]):
        inputs = given(PUZZLES["adam_bytes"], case)
        assert len(inputs["shapes"]) == case.sizes["tensors"]


def test_the_gap_meets_both_widths_and_a_wide_softmax() -> None:
    puzzle = PUZZLES["explain_the_gap"]
    widths = {(c.sizes["element_bytes"], c.sizes["softmax_bytes"]) for c in puzzle.cases}
    assert widths == {(2, 2), (4, 4), (2, 4)}
    for case in rules.cases_and_random(puzzle, draws=20):
        assert case.sizes["hidden"] % case.sizes["heads"] == 0
        assert case.sizes["softmax_bytes"] >= case.sizes["element_bytes"]


def test_accumulate_meets_parts_that_do_not_divide_the_rows() -> None:
    sizes = [case.sizes for case in PUZZLES["accumulate"].cases]
    assert any(s["rows"] % s["parts"] for s in sizes)
    assert any(s["rows"] == s["parts"] for s in sizes) and any(s["parts"] == 1 for s in sizes)
    for case in rules.cases_and_random(PUZZLES["accumulate"], draws=20):
        assert case.sizes["parts"] <= case.sizes["rows"]


def first_failure(puzzle: PythonPuzzle, answer: ModuleType) -> tuple[str, str | None] | None:
    for case in puzzle.cases:
        inputs = given(puzzle, case)
        expected = puzzle.reference(inputs, case)
        try:
            got = outcome(puzzle, answer, inputs)
        except Unusable as unusable:
            return "wrong-result", unusable.key
        for output, value in expected.items():
            if type(value) is not type(got[output]):
                return "wrong-result", "wrong-type"
            if not equal(value, got[output], puzzle.tolerance):
                assert puzzle.diagnose is not None
                return "wrong-result", puzzle.diagnose(inputs, case, expected, got)
        finding = None if puzzle.judge is None else puzzle.judge(inputs, case, got)
        if finding is not None:
            return finding.reason, finding.key
    return None


def equal(expected: Any, got: Any, tolerance: tuple[float, float]) -> bool:
    if isinstance(expected, np.ndarray):
        return got.shape == expected.shape and np.allclose(got, expected, *tolerance)
    return expected == got


def clears(model: Any, loss: Any, x: Any, y: Any, parts: int, weight: Any, **how: bool) -> None:
    for rows, targets in zip(x.tensor_split(parts), y.tensor_split(parts), strict=True):
        model.zero_grad(**how)
        (loss(model(rows), targets) * weight(len(rows) / len(x))).backward()


def all_at_once(model: Any, loss: Any, x: Any, y: Any, parts: int) -> None:
    import torch

    parameters = list(model.parameters())
    for rows, targets in zip(x.tensor_split(parts), y.tensor_split(parts), strict=True):
        part = loss(model(rows), targets) * (len(rows) / len(x))
        for parameter, own in zip(parameters, torch.autograd.grad(part, parameters), strict=True):
            parameter.grad += own


def every_fourth_row(model: Any, loss: Any, x: Any, y: Any, parts: int) -> None:
    for first in range(parts):
        part = range(len(x))[first::parts]
        (loss(model(x[list(part)]), y[list(part)]) * (len(part) / len(x))).backward()


def row_by_row(model: Any, loss: Any, x: Any, y: Any, parts: int) -> None:
    for row in range(len(x)):
        (loss(model(x[row : row + 1]), y[row : row + 1]) / len(x)).backward()


@pytest.mark.parametrize(
    ("answer", "end"),
    [
        (partial(clears, weight=lambda share: share), ("wrong-result", "last-part-only")),
        (partial(clears, weight=lambda share: 1), ("wrong-result", "last-part-only")),
        (partial(clears, weight=lambda share: 1 / 4), ("wrong-result", "last-part-only")),
        (
            partial(clears, weight=lambda share: 1, set_to_none=False),
            ("wrong-result", "last-part-only"),
        ),
        (all_at_once, ("over-budget", "second-gradients")),
        (every_fourth_row, None),
        (row_by_row, None),
    ],
)
def test_accumulate_knows_other_ways_to_write_it(answer: Any, end: Any) -> None:
    module = ModuleType("answer")
    module.accumulate = answer  # type: ignore[attr-defined]
    assert first_failure(PUZZLES["accumulate"], module) == end
