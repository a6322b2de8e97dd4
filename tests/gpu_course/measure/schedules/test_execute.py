"""Schedules on real modules: what cannot be run again is refused, and sharing is exact."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import torch
from torch import Tensor, nn

from gpu_course.errors import CourseError
from gpu_course.measure.chains import MeanSquare
from gpu_course.measure.peak import measure_peak
from gpu_course.measure.schedules import plans
from gpu_course.measure.schedules.execute import execute, plain
from gpu_course.measure.schedules.operations import Kind, Operation, ScheduleError
from gpu_course.measure.schedules.rules import fingerprint
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


class ThroughData(nn.Module):
    """Changes its input where no version counter sees it."""

    def forward(self, x: Tensor) -> Tensor:
        x.data.mul_(2)
        return x * 3


@pytest.mark.parametrize("kind", [Kind.forward, Kind.keep_input, Kind.save_all])
@pytest.mark.parametrize(
    ("stage", "words"),
    [
        (nn.ReLU(inplace=True), "changed its input in place"),
        (ThroughData(), "changed its input in place"),
        (Pair(), "returned tuple, not one tensor"),
        (Leaves(), "leaves a tensor in its attribute"),
    ],
    ids=["in place", "in place by data", "tuple", "attribute"],
)
def test_every_kind_of_run_refuses_what_cannot_be_run_again(
    kind: Kind, stage: nn.Module, words: str
) -> None:
    schedule = (Operation(Kind.save_all, 0), Operation(kind, 1))
    with pytest.raises(CourseError, match=rf"stage 1 .*{words}"):
        execute([nn.Linear(3, 3), stage, MeanSquare()], torch.randn(2, 3), schedule)


def test_the_plain_run_refuses_them_too() -> None:
    for stage in (nn.ReLU(inplace=True), ThroughData(), Pair()):
        with pytest.raises(CourseError, match="stage 1"):
            plain([nn.Linear(3, 3), stage, MeanSquare()], torch.randn(2, 3))


class LastOfLSTM(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.lstm = nn.LSTM(8, 16, batch_first=True)

    def forward(self, x: Tensor) -> Tensor:
        return self.lstm(x)[0]


class AnotherKernel(nn.Module):
    """Gives other bits where no gradient is wanted, as an nn.LSTM does on some processors."""

    def forward(self, x: Tensor) -> Tensor:
        return x * (3 if torch.is_grad_enabled() else 3.0000002)


class Counts(nn.Module):
    """Remembers in a plain attribute, which nothing puts back."""

    runs = 0

    def forward(self, x: Tensor) -> Tensor:
        self.runs += 1
        return x * self.runs


AGAIN = (
    Operation(Kind.keep_input, 0),
    Operation(Kind.forward, 1),
    Operation(Kind.save_all, 2),
    Operation(Kind.backward, 2),
    Operation(Kind.forward, 0),
    Operation(Kind.save_all, 1),
    Operation(Kind.backward, 1),
    Operation(Kind.save_all, 0),
    Operation(Kind.backward, 0),
)


@pytest.mark.parametrize("stage", [AnotherKernel(), Counts()], ids=lambda s: type(s).__name__)
def test_a_second_run_with_other_bits_is_refused(stage: nn.Module) -> None:
    stages = [nn.Linear(8, 8), stage, MeanSquare()]
    with pytest.raises(CourseError, match=r"(?s)stage 1 \(\w+\) gives other bits.* as nn.LSTM"):
        execute(stages, torch.randn(4, 8), AGAIN)
    execute(stages, torch.randn(4, 8), plans.keep_everything(3))


def test_an_lstm_that_is_run_again_is_exact_or_refused() -> None:
    """Which kernel runs is the processor's choice."""
    torch.manual_seed(0)
    x, stages = torch.randn(4, 5, 8), [nn.Linear(8, 8), LastOfLSTM(), MeanSquare()]
    expected = plain(stages, x)
    with torch.no_grad():
        without = stages[1](stages[0](x))
    if torch.equal(without, stages[1](stages[0](x)).detach()):
        for stage in stages:
            stage.zero_grad()
        assert execute(stages, x, AGAIN) == expected
    else:
        with pytest.raises(CourseError, match=r"stage 1 \(LastOfLSTM\) gives other bits"):
            execute(stages, x, AGAIN)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.complex128, torch.bool, torch.float64])
def test_a_fingerprint_sees_each_bit_and_takes_no_memory(dtype: torch.dtype) -> None:
    x = torch.arange(24).reshape(4, 6).to(dtype).T
    before = fingerprint(x)
    found = measure_peak(lambda: fingerprint(x))
    assert (found.value, found.peak_bytes) == (before, 0)
    assert fingerprint(x.clone()) == before
    changed = x.clone()
    changed[-1, -1] = 0
    assert fingerprint(changed) != before


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
