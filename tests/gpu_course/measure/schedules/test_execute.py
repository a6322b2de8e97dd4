"""Schedules on real modules: what cannot be run again is refused, and sharing is exact."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import torch
from torch import Tensor, nn

from gpu_course.errors import CourseError
from gpu_course.measure.chains import MeanSquare
from gpu_course.measure.schedules import plans
from gpu_course.measure.schedules.execute import execute, plain
from gpu_course.measure.schedules.operations import Kind, Operation, ScheduleError
from gpu_course.measure.threads import one_thread


@pytest.fixture(autouse=True)
def _alone() -> Iterator[None]:
    """Sums are the same to the bit only where they are taken in the same order."""
    with one_thread():
        yield


def test_a_stage_that_changes_its_input_is_told_of() -> None:
    schedule = (Operation(Kind.keep_input, 0), Operation(Kind.forward, 1))
    with pytest.raises(CourseError, match="changed its input in place"):
        execute([nn.Identity(), nn.ReLU(inplace=True), MeanSquare()], torch.randn(3), schedule)


def test_a_schedule_that_cannot_be_followed_is_told_of() -> None:
    with pytest.raises(ScheduleError, match="its input is not in memory"):
        execute([nn.Identity(), MeanSquare()], torch.randn(3), (Operation(Kind.save_all, 1),))


class Pair(nn.Module):
    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        return x * 2, x * 3


class Leaves(nn.Module):
    """Hands its input to a later stage on the side, in an attribute."""

    def forward(self, x: Tensor) -> Tensor:
        self.skip = [x * 2]
        return x * 3


@pytest.mark.parametrize("kind", [Kind.forward, Kind.keep_input, Kind.save_all])
@pytest.mark.parametrize(
    ("stage", "words"),
    [
        (nn.ReLU(inplace=True), "changed its input in place"),
        (Pair(), "returned tuple, not one tensor"),
        (Leaves(), "leaves a tensor in its attribute"),
    ],
    ids=["in place", "tuple", "attribute"],
)
def test_every_kind_of_run_refuses_what_cannot_be_run_again(
    kind: Kind, stage: nn.Module, words: str
) -> None:
    schedule = (Operation(Kind.save_all, 0), Operation(kind, 1))
    with pytest.raises(CourseError, match=rf"stage 1 .*{words}"):
        execute([nn.Linear(3, 3), stage, MeanSquare()], torch.randn(2, 3), schedule)


def test_the_plain_run_refuses_them_too() -> None:
    for stage in (nn.ReLU(inplace=True), Pair()):
        with pytest.raises(CourseError, match="stage 1"):
            plain([nn.Linear(3, 3), stage, MeanSquare()], torch.randn(2, 3))


def test_a_shared_parameter_with_a_gradient_is_refused_and_without_one_is_exact() -> None:
    torch.manual_seed(0)
    shared = nn.Linear(8, 8)
    stages = [shared, nn.Tanh(), shared, nn.Sequential(nn.Tanh(), shared, MeanSquare())]
    batch, schedule = torch.randn(4, 8), plans.keep_everything(4)
    plain(stages, batch)
    assert shared.weight.grad is not None
    expected = shared.weight.grad.clone()
    with pytest.raises(CourseError, match="stages 0 and 2 share a parameter"):
        execute(stages, batch, schedule)
    shared.weight.grad.zero_()
    shared.bias.grad = None
    execute(stages, batch, schedule)
    assert torch.equal(shared.weight.grad, expected)
