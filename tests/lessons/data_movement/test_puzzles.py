"""What is particular to the puzzles of lesson 12."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from gpu_course.grading import check
from gpu_course.puzzle import index
from gpu_course.puzzle.specification import Case, PythonPuzzle
from tests.course.puzzles.by_hand import SOLUTIONS
from tests.course.puzzles.in_process import imported_by

_found = index.find("kernel_as_operator")
assert isinstance(_found, PythonPuzzle)
OPERATOR = _found


def test_the_lesson_is_found_by_its_number_and_its_topic() -> None:
    assert index.lesson("12") is index.lesson("data_movement")


def operator_of_the_solution(launch: Callable[..., None]) -> Any:
    scope: dict[str, Any] = {}
    exec((SOLUTIONS / f"{OPERATOR.name}.py").read_text(encoding="utf-8"), scope)
    return scope["kernel_as_operator"](launch)


@pytest.mark.parametrize("case", OPERATOR.cases, ids=lambda case: case.name)
def test_all_of_opcheck_passes_for_the_solution(case: Case) -> None:
    """The harness leaves out the fourth of these tests, which brings up half a compiler."""
    import torch

    from gpu_course.lessons.data_movement.harness.kernel_as_operator import Launches, _laid_out

    given = OPERATOR.inputs(np.random.default_rng(4), case)
    laid_out = _laid_out(given["x"], given["bias"], given["turned"])
    torch.library.opcheck(operator_of_the_solution(Launches()), laid_out)


def test_what_the_launch_of_the_harness_writes_is_gelu_of_torch() -> None:
    import torch

    from gpu_course.lessons.data_movement.harness.kernel_as_operator import Launches

    x = torch.randn(5, 7, generator=torch.Generator().manual_seed(1))
    bias, out = x[0].clone(), torch.empty_like(x)
    Launches()(out, x, bias)
    torch.testing.assert_close(out, torch.nn.functional.gelu(x + bias))


@pytest.mark.parametrize(
    ("mistake", "line"),
    [
        ("writes_over_x", "the operator returned its input"),
        ("returns_a_copy", "the operator changed x"),
        ("leaves_the_gradient_out", "the operator has no gradient: backward() stops at it"),
        ("returns_rows", "the output is (6, 5), and x is (2, 3, 5)"),
        ("returns_half", "the output is float16, and x is float32"),
    ],
)
def test_a_fault_of_an_operator_is_one_plain_line(mistake: str, line: str) -> None:
    folder = SOLUTIONS / OPERATOR.lesson / "mistakes"
    text = (folder / f"{OPERATOR.short_name}.py").read_text(encoding="utf-8")
    verdict = check(OPERATOR, answer=f"{text}\n\nkernel_as_operator = {mistake}\n")
    assert str(verdict).splitlines()[1] == line
    assert len(line) <= 70


def test_the_operators_harness_holds_no_way_to_the_gradient() -> None:
    """What a harness imports is all of the course that an answer could find."""
    allowed = {"gpu_course.puzzle.harness"}
    allowed |= {f"gpu_course.puzzle.harness.{name}" for name in ("Unusable", "name_of")}
    allowed |= {"gpu_course.errors", "gpu_course.errors.Unusable"}
    assert imported_by(OPERATOR.harness) <= allowed
