"""The table beside trying everything: where they agree, and where a drop wins."""

from __future__ import annotations

import copy
import math

import pytest
import torch

from gpu_course.errors import CourseError
from gpu_course.lessons.optimal_checkpointing.comparison import (
    compare,
    narrow_start,
    random_chain,
    tightest,
)
from gpu_course.lessons.optimal_checkpointing.lives import Life, lives
from gpu_course.lessons.optimal_checkpointing.measured_chain import measure_chain
from gpu_course.lessons.optimal_checkpointing.pareto import slot_bytes_of
from gpu_course.measure.peak import allocate_gradients, measure_peak
from gpu_course.measure.schedules.chain import Chain, Stage, uniform
from gpu_course.measure.schedules.execute import execute, plain
from gpu_course.measure.schedules.operations import account
from tests.lessons.optimal_checkpointing.brute_force import best_cost

# A dear stage with a small output, and one in the middle whose backward pass fills the memory.
IN_THE_WAY = Chain(
    tuple(
        Stage(output, saved, output, output + saved, 0, 0, forward_cost=cost, backward_cost=0)
        for output, saved, cost in [(1, 0, 3), (3, 0, 1), (1, 1, 1), (2, 1, 1)]
    )
)


def test_a_checkpoint_in_the_way_is_dropped_and_made_again() -> None:
    found = compare(IN_THE_WAY, 5)
    assert (found.table, found.persistent.cost, found.unrestricted.cost) == (15, 15, 12)
    assert found.gap_percent == 25
    assert best_cost(IN_THE_WAY, 5, persistent=False) == 12
    assert found.unrestricted.schedule is not None
    (dropped,) = [each for each in lives(found.unrestricted.schedule) if each.dropped]
    assert dropped.stage == 1 and dropped.again is not None
    again = found.unrestricted.schedule[dropped.again]
    assert again.stage == 0


@pytest.mark.parametrize("seed", range(20))
def test_table_and_persistent_search_agree_on_random_chains(seed: int) -> None:
    chain = random_chain(6, seed)
    memory = tightest(chain)
    for more in (0, 5, 15):
        found = compare(chain, memory + more)
        assert found.table == found.persistent.cost
        assert found.gap_percent >= 0


def test_where_nothing_fits_there_is_no_gap_to_speak_of() -> None:
    assert math.isnan(compare(uniform(3), 1).gap_percent)
    with pytest.raises(CourseError, match="no schedule fits in a memory of 1"):
        tightest(uniform(3), 1)


def test_lives_begin_and_end_with_their_operations() -> None:
    found = compare(IN_THE_WAY, 5).persistent.schedule
    assert found is not None
    assert all(not each.dropped and each.again is None for each in lives(found))
    assert {each.stage for each in lives(found)} == {1, 2, 3}
    assert Life(3, 3, 4) in lives(found)


def test_a_drop_on_real_modules_saves_work_and_no_bit() -> None:
    stages, batch = narrow_start()
    chain = measure_chain(stages, batch)
    slot = slot_bytes_of(chain, 100)
    found = compare(chain.in_slots(slot), 90)
    assert found.gap_percent > 5
    expected = copy.deepcopy(stages)
    plain(expected, batch)
    for each in (found.persistent, found.unrestricted):
        own, schedule = copy.deepcopy(stages), each.schedule
        assert schedule is not None
        for stage in own:
            allocate_gradients(stage)
        peak = measure_peak(lambda own=own, s=schedule: execute(own, batch, s)).peak_bytes
        assert peak == account(chain, schedule).peak <= 90 * slot
        for mine, theirs in zip(own, expected, strict=True):
            for a, b in zip(mine.parameters(), theirs.parameters(), strict=True):
                assert a.grad is not None and b.grad is not None and torch.equal(a.grad, b.grad)
