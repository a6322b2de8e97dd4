"""The search through everything, against the plain one of the tests and against `account`."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpu_course.errors import CourseError
from gpu_course.lessons.optimal_checkpointing.exhaustive import LONGEST, search
from gpu_course.measure.schedules import plans
from gpu_course.measure.schedules.chain import Chain, uniform
from gpu_course.measure.schedules.operations import Kind, account
from tests.lessons.optimal_checkpointing.brute_force import best_cost
from tests.lessons.optimal_checkpointing.test_dynamic_program import stages
from tests.sampling import examples

chains = st.lists(stages(), min_size=1, max_size=5).map(lambda parts: Chain(tuple(parts)))


@settings(deadline=None, max_examples=examples(200, few=40))
@given(chain=chains, memory=st.integers(1, 40), persistent=st.booleans())
def test_the_search_finds_what_the_plain_one_finds(
    chain: Chain, memory: int, persistent: bool
) -> None:
    # The oracle tries every drop everywhere and knows no bound; it returns no schedule.
    found = search(chain, memory, persistent=persistent)
    assert found.cost == best_cost(chain, memory, persistent=persistent)


@settings(deadline=None, max_examples=examples(200, few=40))
@given(chain=chains, memory=st.integers(1, 40), persistent=st.booleans())
def test_its_schedule_fits_and_costs_what_it_says(
    chain: Chain, memory: int, persistent: bool
) -> None:
    found = search(chain, memory, persistent=persistent)
    assert (found.schedule is None) == math.isinf(found.cost)
    if found.schedule is not None:
        followed = account(chain, found.schedule)
        assert followed.cost == found.cost and followed.peak <= memory
        assert not (persistent and any(o.kind is Kind.drop for o in found.schedule))


@settings(deadline=None, max_examples=examples(100, few=20))
@given(chain=chains, memory=st.integers(1, 40))
def test_freedom_never_costs(chain: Chain, memory: int) -> None:
    assert search(chain, memory, persistent=False).cost <= search(chain, memory).cost


@pytest.mark.parametrize("checkpoints", [1, 2, 3])
def test_equal_stages_need_no_drop(checkpoints: int) -> None:
    found = search(uniform(6), checkpoints + 1, persistent=False)
    # A checkpoint of revolve is one output; beside them is the one that is being made.
    assert found.cost <= plans.advances(6, checkpoints) + 6
    assert found.schedule is not None
    assert all(operation.kind is not Kind.drop for operation in found.schedule)


def test_what_needs_no_keeping_is_not_kept() -> None:
    found = search(uniform(3), 100)
    assert found.schedule == plans.keep_everything(3)


@pytest.mark.parametrize("length", [0, LONGEST + 1])
def test_a_chain_out_of_reach_is_told_of(length: int) -> None:
    with pytest.raises(CourseError, match=f"a chain of {length} stages is out of reach"):
        search(Chain(uniform(1).stages * length), 10)
