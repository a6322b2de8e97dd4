"""Formulas of a pipeline's cost, held against its simulation action by action."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpu_course.measure.pipelines.closed_forms import (
    Times,
    interleaved_cost,
    zb_h1_cost,
    zb_h2_cost,
)
from gpu_course.measure.pipelines.orders import interleaved, zb_h1, zb_h2
from gpu_course.measure.pipelines.profiles import PROFILES, Profile
from gpu_course.measure.pipelines.timing import Costs, simulate

QUICK = {name: each for name, each in PROFILES.items() if each.ranks <= 16}


def times(profile: Profile) -> Times:
    return Times(profile.forward_ms, profile.input_ms, profile.weight_ms, profile.comm_ms)


@pytest.mark.parametrize("profile", QUICK.values(), ids=QUICK)
def test_measured_pipelines_take_what_the_formulas_say(profile: Profile) -> None:
    p, m, costs = profile.ranks, profile.microbatches, profile.costs
    assert simulate(zb_h1(p, m), costs).cost == pytest.approx(zb_h1_cost(p, m, times(profile)))
    assert simulate(zb_h2(p, m), costs).cost == pytest.approx(zb_h2_cost(p, m, times(profile)))


@pytest.mark.parametrize("profile", QUICK.values(), ids=QUICK)
def test_megatrons_interleaved_order_takes_a_message_for_each_rank_more(profile: Profile) -> None:
    p, m, v = profile.ranks, profile.microbatches, profile.layers
    part = Costs(
        profile.forward_ms / v, profile.input_ms / v, profile.weight_ms / v, profile.comm_ms
    )
    found = simulate(interleaved(p, m, v), part).cost
    formula = interleaved_cost(p, m, v, times(profile))
    assert found - formula == pytest.approx(p * profile.comm_ms)


@given(
    ranks=st.integers(1, 7),
    more=st.integers(0, 12),
    weight=st.floats(0.5, 1.0),
    comm=st.floats(0, 0.02),
)
def test_so_does_any_filled_pipeline_with_a_shorter_w(
    ranks: int, more: int, weight: float, comm: float
) -> None:
    microbatches = 3 * ranks + more
    given, costs = Times(1.0, 1.0, weight, comm), Costs(1.0, 1.0, weight, comm)
    for order, cost in ((zb_h1, zb_h1_cost), (zb_h2, zb_h2_cost)):
        found = simulate(order(ranks, microbatches), costs).cost
        assert found == pytest.approx(cost(ranks, microbatches, given))


def test_what_w_needs_follows_from_the_shape() -> None:
    shares = {name.split(",")[0]: each.kept for name, each in PROFILES.items()}
    assert shares.pop("1.5B") == pytest.approx(0.366, abs=5e-4)
    assert list(shares.values()) == pytest.approx([0.432] * 3, abs=5e-4)
    flash = PROFILES["1.5B, m=24"].kept_without_scores
    assert flash == pytest.approx(0.94, abs=2e-3)


def test_the_layers_of_a_profile_make_its_size() -> None:
    for name, profile in PROFILES.items():
        layers = profile.ranks * profile.layers - 2
        billions = layers * 12 * profile.hidden**2 / 1e9
        # The embedding is what is missing.
        assert 0.9 < billions / float(name.partition("B")[0]) < 1
