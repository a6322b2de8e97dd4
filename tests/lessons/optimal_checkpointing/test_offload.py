"""Saved tensors that are sent away: the same gradients, less on the device, each byte counted."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor, nn

from gpu_course.errors import CourseError
from gpu_course.lessons.optimal_checkpointing.offload import Offloaded, run_offloaded
from gpu_course.measure.chains import MeanSquare, resnet, transformer
from gpu_course.measure.peak import allocate_gradients, measure_peak
from gpu_course.measure.saved import saved_by
from gpu_course.measure.schedules.execute import plain


def step(make: Any, way: Any) -> tuple[Any, Tensor]:
    """Returns what a step of a fresh chain gave, and all its gradients and buffers."""
    stages, batch = make()
    for stage in stages:
        allocate_gradients(stage)
    torch.manual_seed(5)
    found = way(stages, batch)
    left = [p.grad.double() for s in stages for p in s.parameters()]
    left += [b.double() for s in stages for b in s.buffers()]
    return found, torch.cat([each.flatten() for each in left])


@pytest.mark.parametrize("make", [resnet, transformer])
def test_what_is_sent_comes_back_bit_for_bit(make: Any) -> None:
    peak, expected = step(make, lambda s, b: measure_peak(lambda: plain(s, b)).peak_bytes)
    none, same = step(make, run_offloaded)
    assert torch.equal(same, expected)
    assert none == Offloaded(none.loss, peak, 0, 0, 0)
    before = peak
    for away in ((1,), (1, 2), range(10)):
        found, gradients = step(make, lambda s, b, away=away: run_offloaded(s, b, away))
        assert torch.equal(gradients, expected)
        assert found.peak_bytes < before
        assert 0 < found.host_bytes <= found.sent_bytes <= found.fetched_bytes
        before = found.peak_bytes


def test_one_storage_travels_once_and_weights_stay() -> None:
    """Two linear layers of one input and a ReLU: the hooks of the ledger say what is saved."""

    class Twice(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.a, self.b = nn.Linear(16, 16), nn.Linear(16, 16)

        def forward(self, x: Tensor) -> Tensor:
            return self.a(x).relu() + self.b(x)

    torch.manual_seed(0)
    stages, batch = [nn.Linear(16, 16), Twice(), MeanSquare()], torch.randn(8, 16)
    saved = saved_by(Twice(), torch.randn(8, 16, requires_grad=True))
    found = run_offloaded(stages, batch, [1])
    assert found.sent_bytes == sum(each.bytes for each in saved)
    # The input comes back for each layer that asks.
    assert found.fetched_bytes == sum(each.bytes * each.times for each in saved)


def test_the_batch_and_an_empty_choice_send_nothing() -> None:
    stages, batch = [nn.Linear(4, 4), MeanSquare()], torch.randn(3, 4)
    assert run_offloaded(stages, batch, [0]).sent_bytes == 0


def test_views_with_strides_and_offsets_come_back_as_they_were() -> None:
    class Cut(nn.Module):
        def forward(self, x: Tensor) -> Tensor:
            return x.mT[2:, ::2] * x.mT[:-2, 1::2]

    stages, batch = [nn.Linear(6, 6), Cut(), MeanSquare()], torch.randn(8, 6)
    expected = torch.autograd.grad(nn.Sequential(*stages)(batch), stages[0].weight)[0]
    run_offloaded(stages, batch, [1])
    assert torch.equal(stages[0].weight.grad, expected)


def test_a_stage_that_no_schedule_could_run_is_refused_here_too() -> None:
    with pytest.raises(CourseError, match="in place"):
        run_offloaded([nn.Linear(4, 4), nn.ReLU(inplace=True), MeanSquare()], torch.randn(2, 4))
