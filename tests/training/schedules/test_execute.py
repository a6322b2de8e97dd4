"""Schedules on real modules: the same bits as the plain run, the plan's cost, within its peak."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence

import pytest
import torch
from torch import Tensor, nn
from torch.utils.flop_counter import FlopCounterMode

from gpu_course.errors import CourseError
from gpu_course.training.chains import MeanSquare, Residual
from gpu_course.training.peak import allocate_gradients, measure_peak
from gpu_course.training.schedules.execute import execute, plain
from gpu_course.training.schedules.measured import measure_chain
from gpu_course.training.schedules.operations import Kind, Operation, ScheduleError, account
from gpu_course.training.schedules.rotor import solve

SLOTS = 60


def convolutions() -> tuple[list[nn.Module], Tensor]:
    def block(channels: int) -> nn.Module:
        return Residual(
            nn.Sequential(
                nn.Conv2d(channels, channels, 3, padding=1), nn.BatchNorm2d(channels), nn.ReLU()
            )
        )

    stages = [
        nn.Conv2d(3, 16, 3, padding=1),
        block(16),
        block(16),
        nn.Conv2d(16, 32, 3, stride=2),
        block(32),
        nn.Flatten(),
        MeanSquare(),
    ]
    return stages, torch.randn(4, 3, 16, 16)


def perceptrons() -> tuple[list[nn.Module], Tensor]:
    def block() -> nn.Module:
        return Residual(
            nn.Sequential(
                nn.LayerNorm(32), nn.Linear(32, 128), nn.GELU(), nn.Linear(128, 32), nn.Dropout(0.3)
            )
        )

    return [nn.Embedding(50, 32), *(block() for _ in range(5)), MeanSquare()], torch.randint(
        0, 50, (8, 16)
    )


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    """Sums are the same to the bit only where they are taken in the same order."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


CHAINS = pytest.mark.parametrize("make", [convolutions, perceptrons])


def after(stages: Sequence[nn.Module]) -> list[Tensor]:
    """Every gradient and every buffer of some stages."""
    found = [p.grad for stage in stages for p in stage.parameters() if p.grad is not None]
    return found + [buffer for stage in stages for buffer in stage.buffers()]


@CHAINS
def test_every_budget_gives_the_bits_cost_and_peak_of_its_plan(make: object) -> None:
    torch.manual_seed(3)
    stages, batch = make()  # type: ignore[operator]
    chain = measure_chain(stages, batch)
    everything = account(chain, solve(chain.in_slots(256), 4000).schedule()).peak
    slot = -(-everything // SLOTS)
    table = solve(chain.in_slots(slot), SLOTS + 10)
    least = table.least_memory()
    assert least is not None
    expected, allowed = copy.deepcopy(stages), copy.deepcopy(stages)
    torch.manual_seed(7)
    expected_loss = plain(expected, batch)
    random_after = torch.get_rng_state()
    passes = set()
    for slots in range(least, SLOTS + 11, 7):
        schedule = table.schedule(slots)
        planned = account(chain, schedule)
        passes.add(planned.forward_passes)
        own = copy.deepcopy(allowed)
        for stage in own:
            allocate_gradients(stage)
        torch.manual_seed(7)
        with FlopCounterMode(display=False) as flops:
            assert execute(copy.deepcopy(own), batch, schedule) == expected_loss
        assert flops.get_total_flops() == planned.cost
        assert torch.equal(torch.get_rng_state(), random_after)
        torch.manual_seed(7)
        peak = measure_peak(lambda own=own, schedule=schedule: execute(own, batch, schedule))
        assert peak.peak_bytes <= planned.peak <= slots * slot
        for mine, theirs in zip(after(own), after(expected), strict=True):
            assert torch.equal(mine, theirs)
    assert len(passes) > 2


def test_a_stage_that_changes_its_input_is_told_of() -> None:
    schedule = (Operation(Kind.keep_input, 0), Operation(Kind.forward, 1))
    with pytest.raises(CourseError, match="changed its input in place"):
        execute([nn.Identity(), nn.ReLU(inplace=True), MeanSquare()], torch.randn(3), schedule)


def test_a_schedule_that_cannot_be_followed_is_told_of() -> None:
    with pytest.raises(ScheduleError, match="its input is not in memory"):
        execute([nn.Identity(), MeanSquare()], torch.randn(3), (Operation(Kind.save_all, 1),))
