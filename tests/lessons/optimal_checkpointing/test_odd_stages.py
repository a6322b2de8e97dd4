"""Stages that are odd: each is refused by name, or planned and followed to the bit."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from gpu_course.errors import CourseError
from gpu_course.lessons.optimal_checkpointing.measured_chain import measure_chain
from gpu_course.measure.chains import MeanSquare
from gpu_course.measure.peak import allocate_gradients, measure_peak
from gpu_course.measure.schedules import plans
from gpu_course.measure.schedules.execute import execute, plain
from gpu_course.measure.schedules.operations import account

WIDTH = 32
ELSEWHERE: dict[str, Tensor] = {}


class Does(nn.Module):
    """A stage that does what a function of itself and its input does."""

    def __init__(self, do: Callable[[Any, Tensor], Any], *inner: nn.Module) -> None:
        super().__init__()
        self.do, self.inner = do, nn.ModuleList(inner)
        self.generator = torch.Generator().manual_seed(0)
        self.calls = 0
        self.seen: Any = None
        self.frozen = nn.Parameter(torch.zeros(WIDTH), requires_grad=False)
        self.average: Tensor
        self.register_buffer("average", torch.zeros(WIDTH))

    def forward(self, x: Tensor) -> Any:
        return self.do(self, x)


def counted(stage: Does, x: Tensor) -> Tensor:
    stage.calls += 1
    return x * stage.calls


def in_a_frozen_parameter(stage: Does, x: Tensor) -> Tensor:
    with torch.no_grad():
        stage.frozen.add_(x.mean(0))
    return x - stage.frozen


def replaces_its_buffer(stage: Does, x: Tensor) -> Tensor:
    stage.average = 0.9 * stage.average + x.detach().mean(0)
    return x - stage.average


def behind_autograd(stage: Does, x: Tensor) -> Tensor:
    x.data.mul_(2)
    return x.tanh()


def leaves(name: str, value: Callable[[Tensor], Any]) -> Callable[[Does, Tensor], Tensor]:
    def do(stage: Does, x: Tensor) -> Tensor:
        setattr(stage, name, value(x))
        return x.tanh()

    return do


def hands_on(stage: Does, x: Tensor) -> Tensor:
    ELSEWHERE["skip"] = x
    return x.tanh()


def hands_on_a_copy(stage: Does, x: Tensor) -> Tensor:
    y = x.tanh()
    ELSEWHERE["skip"] = y * 2
    return y


REFUSED: dict[str, tuple[Callable[[Does, Tensor], Any], str]] = {
    "generator": (
        lambda s, x: x + torch.randn(x.shape, generator=s.generator),
        "gives other bits when it is run again",
    ),
    "NumPy": (lambda s, x: x + float(np.random.rand()), "gives other bits when it is run again"),
    "counter": (counted, "gives other bits when it is run again"),
    "frozen parameter": (in_a_frozen_parameter, "gives other bits when it is run again"),
    "buffer replaced": (replaces_its_buffer, "a new tensor in the place of its buffer average"),
    "nested attribute": (leaves("seen", lambda x: {"a": [x]}), r"attribute seen\['a'\]\[0\]"),
    "private attribute": (leaves("_mine", lambda x: x), "a tensor in its attribute _mine"),
    "global": (hands_on, "keeps a tensor somewhere when it is done"),
    "global, a copy": (hands_on_a_copy, "keeps a tensor somewhere when it is done"),
    "chunk": (lambda s, x: x.chunk(2, 1)[0], "returns a view of its input"),
    "unfold": (lambda s, x: x.unfold(1, 8, 4), "returns a view of its input"),
    "expand": (lambda s, x: x.expand(3, -1, -1), "returns a view of its input"),
    "parameter": (lambda s, x: s.frozen[:4], "returns a view of its input or of a parameter"),
    "data": (behind_autograd, "changed its input in place"),
    "named tuple": (lambda s, x: x.max(1), "returned max, not one tensor"),
    "sparse": (lambda s, x: x.to_sparse(), "returned a tensor of layout torch.sparse_coo"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_stage_that_cannot_be_planned_is_refused_by_name(name: str) -> None:
    do, words = REFUSED[name]
    stages = [nn.Linear(WIDTH, WIDTH), Does(do), MeanSquare()]
    with pytest.raises(CourseError, match=rf"stage 1 \(Does\).*{words}"):
        measure_chain(stages, torch.randn(8, WIDTH))
    ELSEWHERE.clear()


RIGHT: dict[str, Callable[[], nn.Module]] = {
    "part of what is new": lambda: Does(
        lambda s, x: s.inner[0](x).chunk(2, 1)[0], nn.Linear(WIDTH, WIDTH)
    ),
    "expanded": lambda: Does(lambda s, x: s.inner[0](x).expand(3, -1, -1), nn.Linear(WIDTH, WIDTH)),
    "changed after": lambda: Does(lambda s, x: s.inner[0](x).mul_(2), nn.Linear(WIDTH, WIDTH)),
    "recurrent": lambda: Does(
        lambda s, x: s.inner[0](x.unsqueeze(1))[0], nn.GRU(WIDTH, 8, batch_first=True)
    ),
    "no gradient passes": lambda: Does(
        lambda s, x: s.inner[0](x.argmax(1)), nn.Embedding(WIDTH, 8)
    ),
    "nested dropout": lambda: nn.Sequential(
        nn.Sequential(nn.Dropout(0.4), nn.BatchNorm1d(WIDTH, momentum=None)), nn.RReLU()
    ),
    "attention": lambda: nn.TransformerEncoderLayer(WIDTH, 4, 16, 0.2, batch_first=True),
}


@pytest.mark.parametrize("name", RIGHT)
def test_an_odd_stage_is_planned_and_followed_to_the_bit(name: str) -> None:
    def chain() -> list[nn.Module]:
        torch.manual_seed(0)
        return [nn.Linear(WIDTH, WIDTH), RIGHT[name](), nn.Tanh(), MeanSquare()]

    def left(stages: list[nn.Module], run: Callable[[], Any]) -> tuple[Tensor, int]:
        for stage in stages:
            allocate_gradients(stage)
        torch.manual_seed(3)
        peak = measure_peak(run).peak_bytes
        net = nn.ModuleList(stages)
        found = [p.grad for p in net.parameters() if p.grad is not None]
        found += [*(buffer.double() for buffer in net.buffers()), torch.rand(2)]
        return torch.cat([each.flatten().double() for each in found]), peak

    batch, stages = torch.randn(8, WIDTH), chain()
    measured = measure_chain(stages, batch)
    expected, _ = left(stages, lambda: plain(stages, batch))
    for schedule in (plans.keep_everything(4), plans.revolve(4, 1), plans.logarithmic(4)):
        others = chain()
        got, peak = left(others, lambda s=others, p=schedule: execute(s, batch, p))  # type: ignore[misc]
        assert torch.equal(got, expected)
        assert peak <= account(measured, schedule).peak


def test_a_chain_that_ends_in_no_loss_is_refused_by_name() -> None:
    batch, stages = torch.randn(8, WIDTH), [nn.Linear(WIDTH, 4), nn.Tanh()]
    words = (
        r"stage 1 \(Tanh\) returned 32 numbers of shape \(8, 4\); the last stage returns the loss"
    )
    for run in (
        lambda: measure_chain(stages, batch),
        lambda: plain(stages, batch),
        lambda: execute(stages, batch, plans.keep_everything(2)),
    ):
        with pytest.raises(CourseError, match=words):
            run()


def test_a_chain_in_which_nothing_is_trained_is_refused_by_name() -> None:
    with pytest.raises(CourseError, match="nothing before it asks for one"):
        plain([nn.Tanh(), MeanSquare()], torch.randn(3, 4))


def test_a_chain_of_no_stages_is_refused() -> None:
    with pytest.raises(CourseError, match="no stage to measure"):
        measure_chain([], torch.randn(3, 4))
