"""Too few bytes in flight: what Little's law says with a latency that grows with load."""

from __future__ import annotations

import pytest

from gpu_course.claims.published import rows
from gpu_course.lessons.warps.claims import streams

CURVE = (10.0, 32, 19.0, 64, 100.0)


@pytest.mark.parametrize(
    ("law", "growth_of"),
    [
        (streams.loaded_gb_per_s, streams.growth),
        (streams.queued_gb_per_s, streams.queue_growth),
    ],
)
def test_a_law_goes_through_the_two_rows_it_was_found_from(law, growth_of) -> None:
    first, at, later, threads, ceiling = CURVE
    found = growth_of(*CURVE)
    assert law(first, at, at, ceiling, found) == pytest.approx(first)
    assert law(first, at, threads, ceiling, found) == pytest.approx(later)


@pytest.mark.parametrize("threads", [64, 128, 256])
def test_the_latency_is_what_the_law_says(threads: int) -> None:
    """Bytes in flight over GB/s, the latency, is a straight line in GB/s."""
    rate = streams.loaded_gb_per_s(10, 32, threads, 100, 0.4)
    assert (threads / rate) / (32 / 10) == pytest.approx((1 + 0.4 * rate / 100) / 1.04)
    rate = streams.queued_gb_per_s(10, 32, threads, 100, 0.4)
    longer = (1 + 0.4 * rate / (100 - rate)) / (1 + 0.4 * 10 / 90)
    assert (threads / rate) / (32 / 10) == pytest.approx(longer)


def test_no_memory_gives_more_than_its_ceiling() -> None:
    asked = [32 * 2**doubling for doubling in range(12)]
    straight = [streams.loaded_gb_per_s(10, 32, n, 100, 0.3) for n in asked]
    queued = [streams.queued_gb_per_s(10, 32, n, 100, 0.3) for n in asked]
    assert straight == sorted(straight) and straight[-1] == 100
    assert queued == sorted(queued) and 99 < queued[-1] < 100


def test_without_growth_it_is_littles_law() -> None:
    assert streams.loaded_gb_per_s(10, 32, 128, 100, 0) == streams.little_gb_per_s(10, 32, 128)
    assert streams.growth(10, 32, 20, 64, 100) == 0


def test_two_rows_give_the_third_but_for_one_card_that_stores() -> None:
    predicted = rows("02_warps", "two blocks of 128 threads on each SM")
    assert len(predicted) == 6
    off = {row.what: abs(row.mine / row.published - 1) for row in predicted}
    assert [what for what, each in off.items() if each > 0.011] == ["H200, scale"]
    assert max(off.values()) < 0.021


def test_the_latency_of_one_load_alone_is_too_short_for_small_blocks() -> None:
    for row in rows("02_warps", "two blocks of 32 threads on each SM, read"):
        assert 1.5 < row.mine / row.published < 2.1
