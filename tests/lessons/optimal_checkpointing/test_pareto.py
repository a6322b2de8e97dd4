"""Memory against cost on real chains, and the formula of a very deep one."""

from __future__ import annotations

import numpy as np
import pytest

from gpu_course.errors import CourseError
from gpu_course.lessons.checkpointing.deep_resnet import deep_resnet
from gpu_course.lessons.optimal_checkpointing import pareto
from gpu_course.lessons.optimal_checkpointing.measured_chain import measure_chain
from gpu_course.lessons.optimal_checkpointing.pareto import against_segments, curves, gain_percent
from gpu_course.measure.chains import CHAINS, equal_stages, real_chain
from gpu_course.measure.schedules import plans
from gpu_course.measure.schedules.chain import Chain
from gpu_course.measure.schedules.operations import Kind, Operation
from gpu_course.measure.schedules.written import read, written


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


def test_deep_resnets_have_their_blocks_shared_out() -> None:
    chain = deep_resnet(101, batch=1)
    assert len(chain) == 33
    sizes = [stage.output_bytes for stage in chain.stages]
    assert sorted(set(sizes), reverse=True) == sizes[:1] + [sizes[0] // n for n in (2, 4, 8)]


def test_equal_stages_are_as_many_as_asked_for() -> None:
    assert len(equal_stages(1)[0]) == 1
    assert len(real_chain("equal", 7, 0)[0]) == 7


def test_schedules_are_read_as_they_are_written() -> None:
    schedule = plans.revolve(9, 3)
    assert read(written(schedule)) == schedule
    assert read([["save all", 0], ("backward", 0)])[1] == Operation(Kind.backward, 0)
    assert read([("save all", np.int64(3))]) == (Operation(Kind.save_all, 3),)


@pytest.mark.parametrize(
    ("pairs", "words"),
    [
        (None, "this is NoneType"),
        ([("save all", 0), 3], "operation 1 is 3"),
        ([("drop", 0)], "the words are"),
        ([(["save all"], 0)], "the words are"),
        ([("forward", 1.0)], "a stage is a whole number"),
        ([("forward", True)], "a stage is a whole number"),
    ],
)
def test_what_is_no_schedule_is_told_of(pairs: object, words: str) -> None:
    with pytest.raises(CourseError, match=words):
        read(pairs)


def test_a_plan_in_fewer_slots_that_takes_more_bytes_is_not_on_the_curve() -> None:
    points = [(5, 1.4), (7, 1.2), (8, 1.3), (7, 1.25), (9, 1.0)]
    assert pareto._front(points) == [(5, 1.4), (7, 1.2), (9, 1.0)]
