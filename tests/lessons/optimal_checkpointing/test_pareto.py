"""Memory against cost on real chains."""

from __future__ import annotations

import pytest

from gpu_course.lessons.optimal_checkpointing import pareto
from gpu_course.lessons.optimal_checkpointing.measured_chain import measure_chain
from gpu_course.lessons.optimal_checkpointing.pareto import against_segments, curves, gain_percent
from gpu_course.measure.chains import CHAINS
from gpu_course.measure.schedules.chain import Chain


@pytest.fixture(scope="module", params=list(CHAINS))
def chain(request: pytest.FixtureRequest) -> Chain:
    return measure_chain(*CHAINS[request.param](0))


def test_the_best_curve_falls_and_ends_at_the_plain_run(chain: Chain) -> None:
    best = curves(chain, 200)["best"]
    memories, costs = zip(*best, strict=True)
    assert list(memories) == sorted(memories) and list(costs) == sorted(costs, reverse=True)
    assert costs[-1] == 1.0 and costs[0] > 1.1


def test_no_usual_plan_lies_below_the_best_but_for_rounding(chain: Chain) -> None:
    found = curves(chain, 500)
    best = found.pop("best")
    slack = 1.03  # the best ones are planned in slots, each size rounded up by itself
    for points in found.values():
        for memory, cost in points:
            within = [c for m, c in best if m <= memory * slack]
            assert not within or min(within) <= cost + 1e-9


def test_the_gain_over_equal_segments_is_never_negative(chain: Chain) -> None:
    assert 0 < gain_percent(chain) < 30


def test_segments_are_held_against_the_best_schedule_in_their_memory(chain: Chain) -> None:
    found = against_segments(chain)
    assert [each.segments for each in found] == list(range(2, len(chain)))
    assert all(each.best <= each.cost for each in found)
    for each in found:
        better = [o for o in found if o.memory <= each.memory and o.cost <= each.cost]
        equal = [o for o in better if (o.memory, o.cost) == (each.memory, each.cost)]
        assert each.beaten == (len(better) > len(equal))
    unbeaten = [each.gain_percent for each in found if not each.beaten]
    assert gain_percent(chain, unbeaten=True) == pytest.approx(sum(unbeaten) / len(unbeaten))


def test_a_plan_in_fewer_slots_that_takes_more_bytes_is_not_on_the_curve() -> None:
    points = [(5, 1.4), (7, 1.2), (8, 1.3), (7, 1.25), (9, 1.0)]
    assert pareto._front(points) == [(5, 1.4), (7, 1.2), (9, 1.0)]
