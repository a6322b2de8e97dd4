"""A tiny GPT trains on the learner's kernel as an operator as it does on PyTorch's own GELU."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from gpu_course.errors import CourseError
from gpu_course.lessons.data_movement import trained
from gpu_course.notebook.own.kernels import own_kernel
from gpu_course.puzzle import KernelPuzzle, index
from tests.course.puzzles.by_hand import SOLUTIONS


def answers(folder: Path, monkeypatch: pytest.MonkeyPatch, **texts: str) -> None:
    """Writes answers to puzzles of lesson 12 into a folder, and has it looked into."""
    (folder / "12_data_movement").mkdir(exist_ok=True)
    for name, text in texts.items():
        (folder / "12_data_movement" / f"{name}.py").write_text(text, encoding="utf-8")
    monkeypatch.setenv("GPU_COURSE_ANSWERS", str(folder))


def solution(name: str) -> str:
    return (SOLUTIONS / "12_data_movement" / f"{name}.py").read_text(encoding="utf-8")


def test_both_trainings_have_the_same_losses_and_they_fall(tmp_path, monkeypatch) -> None:
    answers(
        tmp_path,
        monkeypatch,
        bias_gelu=solution("bias_gelu"),
        kernel_as_operator=solution("kernel_as_operator"),
    )
    run = trained.train_on_own(steps=12)
    np.testing.assert_allclose(run.own, run.library, rtol=1e-4)
    assert run.own[-1] < run.own[0] - 0.5
    assert run.launches == 12 * trained.SHAPE.layers and run.cells == 16_384
    assert run.apart == pytest.approx(max(np.abs(np.subtract(run.own, run.library))))
    said = str(run)
    assert said.startswith("your bias_gelu, in your kernel_as_operator; in the simulator")
    assert max(map(len, said.splitlines())) <= 70


def test_without_answers_the_solutions_stand_in_and_it_is_said(tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(SOLUTIONS.parent)
    answers(tmp_path, monkeypatch)
    monkeypatch.setattr("gpu_course.grading.workspace.answers_folder", lambda: tmp_path)
    monkeypatch.setattr("gpu_course.grading.workspace.checkout", lambda: SOLUTIONS.parent)
    assert trained.train_on_own(steps=1).whose == "our bias_gelu, in our kernel_as_operator"


def test_a_wrong_kernel_shows_in_the_losses(tmp_path, monkeypatch) -> None:
    wrong = solution("bias_gelu").replace("HALF * v * (ONE +", "HALF * v * (HALF +")
    answers(
        tmp_path,
        monkeypatch,
        bias_gelu=wrong,
        kernel_as_operator=solution("kernel_as_operator"),
    )
    assert trained.train_on_own(steps=2).apart > 1e-3


def test_an_operator_without_a_gradient_does_not_train(tmp_path, monkeypatch) -> None:
    wrong = solution("kernel_as_operator").replace(
        "    bias_gelu.register_autograd", "    (lambda *a, **k: None)"
    )
    answers(tmp_path, monkeypatch, bias_gelu=solution("bias_gelu"), kernel_as_operator=wrong)
    with pytest.raises(CourseError, match=r"does not train: RuntimeError: .*autograd"):
        trained.train_on_own(steps=1)


def test_a_kernel_that_leaves_its_arrays_stops_with_its_line(tmp_path, monkeypatch) -> None:
    wrong = solution("bias_gelu").replace("out[row, col] =", "out[row, col + 1] =")
    answers(
        tmp_path,
        monkeypatch,
        bias_gelu=wrong,
        kernel_as_operator=solution("kernel_as_operator"),
    )
    with pytest.raises(CourseError, match="outside an array"):
        trained.train_on_own(steps=1)


def test_the_launch_has_the_puzzles_blocks() -> None:
    puzzle = index.find(trained.KERNEL)
    assert isinstance(puzzle, KernelPuzzle)
    assert (puzzle.constants["TPB"], puzzle.constants["ROWS"]) == (trained.TPB, trained.ROWS)
    for case in puzzle.cases:
        (launch,) = puzzle.launches(case)
        assert launch.grid == trained._grid(case.sizes["rows"], case.sizes["cols"])


def test_the_simulator_writes_into_the_tensors_own_memory() -> None:
    launch = trained.Simulated(own_kernel("bias_gelu"))
    x, bias = torch.randn(5, 70), torch.randn(70)
    out = torch.full_like(x, torch.nan)
    launch(out, x, bias)
    torch.testing.assert_close(out, torch.nn.functional.gelu(x + bias))
