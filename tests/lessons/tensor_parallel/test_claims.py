"""The published numbers of lesson 24, and the models that claim to explain them."""

from __future__ import annotations

import pytest

from gpu_course.claims.kinds import Kind
from gpu_course.claims.published import forecasts, rows
from gpu_course.lessons.tensor_parallel.claims import tensor_parallel as models
from gpu_course.lessons.tensor_parallel.zero_or_cut import crossover_gpus, zero_3_teraflops

LESSON = "24_tensor_parallel"
PLAYBOOK = {"layers": 28, "hidden": 3072, "inside": 436.0}


def test_in_a_node_the_count_holds_and_beyond_it_fails() -> None:
    off = {
        (row.place, row.what): row.mine / row.published - 1
        for row in rows(LESSON)
        if "tokens per second" in row.place
    }
    inside = [v for (_, what), v in off.items() if what in ("4 ranks", "8 ranks")]
    assert len(inside) == 4 and max(map(abs, inside)) < 0.04
    beyond = [v for (_, what), v in off.items() if what.startswith(("16", "32"))]
    assert len(beyond) == 5 and min(map(abs, beyond)) > 0.15


def test_two_ranks_come_back_and_an_endless_bandwidth_costs_nothing() -> None:
    same = models.cut_tokens_per_s(2, 14_000, gb_per_s=436.0, **PLAYBOOK)
    assert same == pytest.approx(14_000)
    many = models.cut_tokens_per_s(64, 14_000, gb_per_s=1e12, **PLAYBOOK)
    # Each of two ranks spent 2 x 4 x 28 x 3,072 x 2 bytes for a token on its sums.
    assert many == pytest.approx(1 / (1 / 14_000 - 2 * 4 * 28 * 3072 * 2 / 436e9))


def test_forecasts_name_what_breaks() -> None:
    asked = forecasts(LESSON)
    assert len(asked) == 4
    assert {row.breaks for row in asked if row.breaks} == {"topology"}


def test_every_formula_holds_and_what_is_scaled_holds_in_a_node() -> None:
    shown = rows(LESSON)
    formulas = [row for row in shown if row.kind is not Kind.scaled]
    assert len(formulas) >= 20 and all(row.holds for row in formulas)
    scaled = {(row.place, row.what): row.holds for row in shown if row.kind is Kind.scaled}
    cut = {key: holds for key, holds in scaled.items() if "tokens per second" in key[0]}
    assert len(cut) == 9
    assert all(holds == (what in ("4 ranks", "8 ranks")) for (_, what), holds in cut.items())
    assert all(holds for key, holds in scaled.items() if key not in cut)


def test_an_overlap_may_gain_more_than_the_links_full_rate_says() -> None:
    """The time at the links' full rate is the least that sums take: nothing bounds the gain."""
    (row,) = rows(LESSON, "Table 4, asynchronous tensor parallelism")
    slower = models.hidden_tokens_per_s(**{**row.arguments, "gb_per_s": 360.0})
    assert row.kind is Kind.scaled and slower > row.mine


def test_the_crossover_is_where_both_take_equally_long() -> None:
    tokens, rate, bandwidth, parameters = 3e6, 150, 20, 1e11
    gpus = crossover_gpus(tokens, rate, bandwidth)
    computes_s = 8 * parameters * tokens / gpus / (rate * 1e12)
    assert 3 * 2 * parameters / (bandwidth * 1e9) == pytest.approx(computes_s)
    assert zero_3_teraflops(gpus / 2, tokens, rate, bandwidth) == rate
    assert zero_3_teraflops(2 * gpus, tokens, rate, bandwidth) == pytest.approx(rate / 2)
