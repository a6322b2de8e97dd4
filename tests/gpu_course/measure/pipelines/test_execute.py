"""A schedule followed on real ranks gives the losses and gradients of one process."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from gpu_course.isolation import servers
from gpu_course.measure.pipelines import orders
from gpu_course.measure.pipelines.actions import Schedule
from gpu_course.measure.pipelines.pytorch import pytorch_schedule
from gpu_course.measure.pipelines.search import search
from gpu_course.measure.pipelines.timing import Costs
from gpu_course.ranks import runner
from tests.gpu_course.measure.pipelines import on_ranks

pytestmark = pytest.mark.skipif(
    not servers.available(), reason="ranks are forked, which only Linux does safely"
)

FOLLOWED = {
    "GPipe": orders.gpipe(2, 3),
    "1F1B": orders.one_f_one_b(3, 4),
    "interleaved": orders.interleaved(2, 4, 2),
    "breadth-first": orders.breadth_first(2, 3, 2),
    "ZB-H1": orders.zb_h1(3, 4),
    "ZB-H2": orders.zb_h2(3, 5),
    "DualPipeV": pytorch_schedule("DualPipeV", 2, 4),
    "ZB-V": pytorch_schedule("ZBVZeroBubble", 2, 4),
    "searched": search(3, 5, Costs(comm=0.1), 6, tries=20).schedule,
}


@pytest.mark.parametrize("schedule", FOLLOWED.values(), ids=FOLLOWED)
@pytest.mark.parametrize(
    "engine", [on_ranks.run, on_ranks.run_on_pytorch], ids=["ours", "PyTorch's"]
)
def test_losses_and_gradients_are_those_of_one_process(
    schedule: Schedule, engine: Callable[..., object]
) -> None:
    given = {
        "lines": schedule.lines(),
        "placement": list(schedule.placement),
        "microbatches": schedule.microbatches,
    }
    results = runner.run_function(engine, schedule.ranks, given).results
    losses, gradients = on_ranks.whole(schedule.stages, schedule.microbatches)
    last = schedule.placement[-1]
    np.testing.assert_allclose(results[last][0], losses, rtol=1e-12)
    assert all(each[0] == [] for rank, each in enumerate(results) if rank != last)
    for stage, rank in enumerate(schedule.placement):
        found = results[rank][1][str(stage)]
        for part, right in zip(found, gradients[stage], strict=True):
            np.testing.assert_allclose(part, right, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize(("ranks", "microbatches"), [(2, 4), (4, 8)])
def test_two_ways_together_are_one_model(ranks: int, microbatches: int) -> None:
    schedule = orders.dualpipe(ranks, microbatches)
    given = {
        "lines": schedule.lines(),
        "placement": list(schedule.placement),
        "microbatches": microbatches,
        "ways": 2,
    }
    results = runner.run_function(on_ranks.run, ranks, given).results
    losses, gradients = on_ranks.whole(ranks, microbatches)
    # The way down ends on the last rank, and the way up on the first.
    np.testing.assert_allclose([*results[-1][0], *results[0][0]], losses, rtol=1e-12)
    for stage in range(ranks):
        down = results[stage][1][str(stage)]
        up = results[ranks - 1 - stage][1][str(ranks + stage)]
        for one, other, right in zip(down, up, gradients[stage], strict=True):
            np.testing.assert_allclose(np.add(one, other), right, rtol=1e-12, atol=1e-12)


def test_stages_that_lie_elsewhere_are_refused() -> None:
    given = {"lines": ["0F0 0B0", "1F0 1B0"], "placement": [0, 1], "microbatches": 1}
    with pytest.raises(runner.RankFailed, match="the schedule is for 2 ranks, and there are 3"):
        runner.run_function(on_ranks.run, 3, given)
