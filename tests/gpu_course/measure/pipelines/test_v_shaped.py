"""The V: two half stages on each rank, no bubble, and the memory of 1F1B."""

from __future__ import annotations

import pytest

from gpu_course.measure.pipelines.orders import one_f_one_b
from gpu_course.measure.pipelines.pytorch import pytorch_schedule
from gpu_course.measure.pipelines.timing import Costs, simulate

HALF = Costs(0.5, 0.5, 0.5, activation=0.5, kept=0.5)
"""Of a half stage, where F, I and W of a whole one take 1 each and W needs all that F has left."""


@pytest.mark.parametrize(("ranks", "microbatches"), [(2, 4), (3, 6), (4, 8), (4, 12), (8, 24)])
def test_zb_v_waits_for_nothing_and_holds_what_1f1b_does(ranks: int, microbatches: int) -> None:
    """The row ZBV of the Zero Bubble project's table: a bubble of 0 in 1 time the memory."""
    run = simulate(pytorch_schedule("ZBVZeroBubble", ranks, microbatches), HALF)
    assert (run.cost, run.bubble_rate) == (3 * microbatches, 0)
    usual = simulate(one_f_one_b(ranks, microbatches), Costs(kept=1.0))
    assert max(run.peaks) == max(usual.peaks) == ranks
    # 1F1B fills the first rank alone; the V fills all of them alike.
    assert set(run.peaks) == {ranks}
    assert min(usual.peaks) == 1
