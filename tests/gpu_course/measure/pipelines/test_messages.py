"""What a pipeline sends, counted on the wire: each border between ranks, once each way."""

from __future__ import annotations

from collections import Counter

import pytest

from gpu_course.isolation import servers
from gpu_course.measure.pipelines import orders
from gpu_course.measure.pipelines.actions import Schedule
from gpu_course.measure.pipelines.pytorch import pytorch_schedule
from gpu_course.ranks import runner
from tests.gpu_course.measure.pipelines import on_ranks

pytestmark = pytest.mark.skipif(
    not servers.available(), reason="ranks are forked, which only Linux does safely"
)

SENT = {
    "1F1B": orders.one_f_one_b(3, 4),
    "interleaved": orders.interleaved(2, 4, 2),
    "one rank, two stages": orders.breadth_first(1, 2, 2),
    "a V": pytorch_schedule("ZBVZeroBubble", 2, 4),
}


def borders(schedule: Schedule) -> Counter[tuple[int, int]]:
    """Returns {(from, to): bytes} of float64 activations down and gradients up."""
    found: Counter[tuple[int, int]] = Counter()
    for stage in range(schedule.stages - 1):
        one, other = schedule.placement[stage : stage + 2]
        size = schedule.microbatches * on_ranks.ROWS * on_ranks.WIDTHS[stage + 1] * 8
        if one != other:
            found[one, other] += size
            found[other, one] += size
    return found


@pytest.mark.parametrize("schedule", SENT.values(), ids=SENT)
def test_each_border_between_ranks_is_crossed_once_each_way(schedule: Schedule) -> None:
    given = {
        "lines": schedule.lines(),
        "placement": list(schedule.placement),
        "microbatches": schedule.microbatches,
    }
    run = runner.run_function(on_ranks.run, schedule.ranks, given)
    sends = [call for call in run.calls if call.kind == "send"]
    crossed = sum(
        one != other for one, other in zip(schedule.placement, schedule.placement[1:], strict=False)
    )
    assert len(sends) == 2 * schedule.microbatches * crossed
    sent: Counter[tuple[int, int]] = Counter()
    for call in sends:
        assert call.peer is not None
        sent[call.rank, call.peer] += call.payload_bytes
    assert sent == borders(schedule)
    assert all(run.sent_bytes(rank) == sum(n for (one, _), n in sent.items() if one == rank)
               for rank in range(schedule.ranks))  # fmt: skip
    if run.socket_bytes is not None:
        # What the kernel counted on TCP is the payload and what gloo adds, never less.
        assert all(run.socket_bytes.get(pair, 0) >= size for pair, size in sent.items())
