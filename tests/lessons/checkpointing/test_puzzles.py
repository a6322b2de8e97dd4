"""The puzzles of lesson 17: what they compare and measure, and that nothing gives them away."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy as np
import pytest

from gpu_course.puzzle import index
from tests.course.puzzles.in_process import ANSWERS, answer_of, imported_by, outcome, verdict

LESSON = index.lesson("checkpointing")

PUZZLES = {puzzle.short_name: puzzle for puzzle in LESSON.puzzles}


def test_the_lesson_brings_its_five_puzzles() -> None:
    assert list(PUZZLES) == ["checkpoint", "rng_safe", "sqrt_plan", "log_plan", "revolve"]


@pytest.mark.parametrize("name", PUZZLES)
def test_a_harness_imports_no_plan(name: str) -> None:
    assert not ANSWERS & imported_by(PUZZLES[name].harness)


@pytest.mark.parametrize("name", PUZZLES)
def test_a_solution_passes_its_visible_case_and_a_drawn_one(name: str) -> None:
    puzzle = PUZZLES[name]
    for case in (puzzle.cases[0], puzzle.random_case(np.random.default_rng(11))):
        assert verdict(puzzle, answer_of(puzzle), case) is None


@pytest.mark.parametrize(
    ("name", "mistake"),
    [(name, mistake) for name, puzzle in PUZZLES.items() for mistake in puzzle.mistakes],
    ids=lambda value: value if isinstance(value, str) else value.function,
)
def test_mistakes_end_as_they_are_said_to(name: str, mistake: Any) -> None:
    puzzle = PUZZLES[name]
    answer = answer_of(puzzle, mistake.function)
    verdicts = (verdict(puzzle, answer, case) for case in puzzle.cases)
    assert next(found for found in verdicts if found) == (mistake.reason, mistake.diagnosis)


def test_running_a_stage_three_times_is_over_budget() -> None:
    for name in ("checkpoint", "rng_safe"):
        puzzle = PUZZLES[name]
        case = puzzle.cases[0]
        inputs = puzzle.inputs(np.random.default_rng(4), case)
        got = outcome(puzzle, answer_of(puzzle), inputs)
        assert puzzle.judge is not None and puzzle.judge(inputs, case, got) is None
        got["forward_passes"][1] = 3
        finding = puzzle.judge(inputs, case, got)
        assert finding is not None and finding.key == "run-too-often"
        assert finding.fact.startswith("stage 1 is run 3 times")


def test_the_library_is_put_back_after_a_refusal() -> None:
    import torch
    from torch.utils.checkpoint import checkpoint

    puzzle = PUZZLES["checkpoint"]
    wrong = verdict(puzzle, answer_of(puzzle, "calls_the_library"), puzzle.cases[0])
    assert wrong == ("wrong-result", "library")
    x = torch.ones(3, requires_grad=True)
    assert checkpoint(torch.sin, x, use_reentrant=False).requires_grad


def test_a_longer_first_segment_is_welcome_too() -> None:
    """Segments that get shorter take less than equal ones: the judge measures, and compares not."""
    from gpu_course.measure.schedules.plans import segmented
    from gpu_course.measure.schedules.written import written

    puzzle = PUZZLES["sqrt_plan"]
    answer = ModuleType("answer")
    answer.sqrt_plan = lambda length: written(  # type: ignore[attr-defined]
        segmented(length, [0] if length < 3 else [0, length // 2 + 1, length - 1])
    )
    assert verdict(puzzle, answer, puzzle.cases[0]) is None


def leaves_of_two(length: int) -> list[tuple[str, int]]:
    """Halves, rounded the other way, down to two stages that are saved together."""

    def go(start: int, stop: int) -> list[tuple[str, int]]:
        if stop - start <= 2:
            stages = range(start, stop)
            return [("save all", s) for s in stages] + [("backward", s) for s in reversed(stages)]
        middle = (start + stop + 1) // 2
        ahead = [("keep input", start), *(("forward", s) for s in range(start + 1, middle))]
        return ahead + go(middle, stop) + go(start, middle)

    return go(0, length)


def by_the_closed_form(length: int, checkpoints: int) -> Any:
    from gpu_course.measure.schedules.plans import revolve
    from gpu_course.measure.schedules.written import written

    return iter(written(revolve(length, checkpoints)))


def by_hooks(stage: Any, x: Any) -> Any:
    """What is saved is a number; the first look at one runs the stage again."""
    import torch

    found: dict[int, Any] = {}
    count = [0]

    def pack(tensor: Any) -> int:
        count[0] += 1
        return count[0] - 1

    def again(number: int) -> Any:
        if not found:
            keep = torch.autograd.graph.saved_tensors_hooks(
                lambda tensor: found.setdefault(len(found), tensor.detach()), lambda tensor: tensor
            )
            with torch.enable_grad(), keep:
                stage(x.detach().requires_grad_())
        return found[number]

    with torch.autograd.graph.saved_tensors_hooks(pack, again):
        return stage(x)


def by_grad(stage: Any, x: Any) -> Any:
    """torch.autograd.grad, and what it gives added up by hand."""
    import torch

    class Checkpoint(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, stage: Any, x: Any) -> Any:
            ctx.stage, ctx.x = stage, x
            return stage(x)

        @staticmethod
        def backward(ctx: Any, gradient: Any) -> Any:
            start = ctx.x.detach().clone().requires_grad_()
            with torch.enable_grad():
                y = ctx.stage(start)
            parameters = list(ctx.stage.parameters())
            first, *rest = torch.autograd.grad(y, [start, *parameters], gradient)
            for parameter, own in zip(parameters, rest, strict=True):
                parameter.grad += own
            return None, first

    return Checkpoint.apply(stage, x)


@pytest.mark.parametrize(
    ("name", "answer"),
    [
        ("log_plan", leaves_of_two),
        ("revolve", by_the_closed_form),
        ("checkpoint", by_hooks),
        ("checkpoint", by_grad),
    ],
)
def test_an_answer_written_otherwise_is_right_too(name: str, answer: Any) -> None:
    puzzle, module = PUZZLES[name], ModuleType("answer")
    setattr(module, name, answer)
    assert [verdict(puzzle, module, case) for case in puzzle.cases] == [None] * len(puzzle.cases)


@pytest.mark.parametrize(
    ("schedule", "stage"),
    [
        ([("keep input", 0), ("forward", 0), ("save all", 1)], 0),
        ([("forward", 0), ("forward", 1), ("save all", 1)], 1),
        ([("save all", 0), ("backward", 0)], None),
        ([("backward", 1), ("save all", 0), ("backward", 0)], None),
        ([], None),
    ],
)
def test_a_stage_that_runs_twice_in_a_row_is_found(schedule: Any, stage: int | None) -> None:
    from gpu_course.puzzle.planning import run_twice_in_a_row

    assert run_twice_in_a_row(schedule) == stage
