"""Plans for measured chains: the same bits as the plain run, the plan's cost, within its peak."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence

import pytest
import torch
from torch import Tensor, nn
from torch.nn.utils.parametrizations import spectral_norm
from torch.utils.flop_counter import FlopCounterMode

from gpu_course.errors import CourseError
from gpu_course.lessons.optimal_checkpointing.dynamic_program import solve
from gpu_course.lessons.optimal_checkpointing.measured_chain import measure_chain
from gpu_course.measure.chains import MeanSquare, Residual
from gpu_course.measure.peak import allocate_gradients, measure_peak
from gpu_course.measure.schedules.execute import execute, plain
from gpu_course.measure.schedules.operations import account
from gpu_course.measure.threads import one_thread
from tests.gpu_course.measure.schedules.test_execute import Leaves, Pair

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
        nn.Sequential(nn.Flatten(), MeanSquare()),
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


class Half(nn.Module):
    """A view of a tensor of its own: a part of it is handed on, and all of it stays."""

    def forward(self, x: Tensor) -> Tensor:
        return (x * 3).chunk(2, dim=-1)[0]


class Turned(nn.Module):
    """A view that is copied: rows and columns change places in memory, too."""

    def forward(self, x: Tensor) -> Tensor:
        return x.mT.contiguous()


def views() -> tuple[list[nn.Module], Tensor]:
    """Stages with views inside; none of them hands on a view of its input."""
    stages: list[nn.Module] = [
        nn.Sequential(nn.Linear(24, 48), nn.Tanh(), nn.Flatten(0, 1)),
        nn.Sequential(Half(), nn.Tanh()),
        Half(),
        nn.Sequential(nn.Linear(12, 64), nn.Unflatten(1, (8, 8)), nn.GELU()),
        Turned(),
        spectral_norm(nn.Linear(8, 16)),
        nn.Sequential(nn.Flatten(), nn.Linear(128, 8), nn.Dropout(0.2)),
        MeanSquare(),
    ]
    return stages, torch.randn(6, 4, 24)


@pytest.fixture(autouse=True)
def _alone() -> Iterator[None]:
    """Sums are the same to the bit only where they are taken in the same order."""
    with one_thread():
        yield


CHAINS = pytest.mark.parametrize("make", [convolutions, perceptrons, views])


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


class ThroughData(nn.Module):
    """Changes its input where no version counter sees it."""

    def forward(self, x: Tensor) -> Tensor:
        x.data.mul_(2)
        return x * 3


class Counts(nn.Module):
    """Remembers in a plain attribute, which nothing puts back."""

    def __init__(self) -> None:
        super().__init__()
        self.runs = RUNS

    def forward(self, x: Tensor) -> Tensor:
        self.runs.append(1)
        return x * len(self.runs)


class Lines(list):
    """A list that copies of a module share."""

    def __deepcopy__(self, memo: object) -> Lines:
        return self


RUNS = Lines()


class LastOfLSTM(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.lstm = nn.LSTM(8, 16, batch_first=True)

    def forward(self, x: Tensor) -> Tensor:
        return self.lstm(x)[0]


@pytest.mark.parametrize(
    ("stage", "words"),
    [
        (nn.Flatten(), r"stage 1 \(Flatten\) returns a view of its input"),
        (nn.Identity(), r"stage 1 \(Identity\) returns a view"),
        (nn.Dropout(0.5).eval(), r"stage 1 \(Dropout\) returns a view"),
        (nn.Unflatten(1, (2, 4)), "returns a view"),
        (nn.ReLU(inplace=True), r"stage 1 \(ReLU\) changed its input in place"),
        (ThroughData(), r"stage 1 \(ThroughData\) changed its input in place"),
        (Pair(), r"stage 1 \(Pair\) returned tuple, not one tensor"),
        (nn.LSTM(8, 8), r"stage 1 \(LSTM\) returned tuple"),
        (Leaves(), r"leaves a tensor in its attribute skip\[0\]"),
        (Counts(), "gives other bits when it is run again"),
    ],
    ids=lambda value: value if isinstance(value, str) else type(value).__name__,
)
def test_a_stage_that_a_plan_would_be_wrong_about_is_refused_by_name(
    stage: nn.Module, words: str
) -> None:
    with pytest.raises(CourseError, match=words):
        measure_chain([nn.Linear(8, 8), stage, MeanSquare()], torch.randn(4, 8))


def test_an_lstm_gives_other_bits_without_a_graph_or_is_planned_exactly() -> None:
    """Which kernel runs is the processor's choice: where the bits differ it is refused."""
    torch.manual_seed(0)
    stage, x = LastOfLSTM(), torch.randn(4, 5, 8)
    with_graph = stage(x.clone().requires_grad_()).detach()
    with torch.no_grad():
        same = torch.equal(stage(x), with_graph)
    if same:
        assert len(measure_chain([stage, MeanSquare()], x)) == 2
    else:
        with pytest.raises(CourseError, match=r"stage 0 \(LastOfLSTM\) gives other bits"):
            measure_chain([stage, MeanSquare()], x)
