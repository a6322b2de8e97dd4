"""The published rings: bounds by a count of blocks, and rows that are open on purpose."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from gpu_course.claims.kinds import Kind
from gpu_course.claims.published import forecasts, rows
from gpu_course.lessons.context_parallel.claims import ring_attention as models

LESSON = "25_context_parallel"
ONE = "Of the ideal that 8 GPUs reach, one sequence"


def test_a_plain_ring_is_within_two_points_of_its_bound() -> None:
    plain = [row for row in rows(LESSON, ONE) if row.what.startswith("plain")]
    assert len(plain) == 4
    assert all(row.mine == pytest.approx(100 * 4 / 7.5, abs=0.01) for row in plain)
    assert max(abs(row.mine - row.published) for row in plain) < 2


def test_balance_by_the_count_is_not_balance_by_the_clock() -> None:
    zigzag = [row for row in rows(LESSON, ONE) if row.what.startswith("zigzag")]
    assert len(zigzag) == 4 and all(row.mine == pytest.approx(100, abs=0.01) for row in zigzag)
    assert all(80 < row.published < 91 for row in zigzag)


def test_what_stripes_lose_goes_over_to_another_gpu() -> None:
    striped = [row for row in rows(LESSON, ONE) if row.what.startswith("striped")]
    other = [row for row in striped if "A100" in row.what]
    assert len(striped) == 4 and len(other) == 2
    assert all(abs(row.mine / row.published - 1) < 0.01 for row in other)


def test_documents_are_cut_as_the_benchmark_cuts_them() -> None:
    """Against every score of a small copy, looked at one by one."""
    ranks, share = 4, 16
    for ends in models.README_DOCUMENTS:
        small = [round(end / 8192 * share) * ranks for end in ends]
        found = np.zeros(ranks, np.int64)
        for start, stop in pairwise(small):
            for query in range(start, stop):
                found[query // share] += query - start + 1
        assert models.packed_work(small, ranks).tolist() == found.tolist()


def test_some_forecasts_must_fail_and_say_why() -> None:
    asked = forecasts(LESSON)
    broken = [row for row in asked if row.breaks]
    assert len(asked) >= 6 and 4 * len(broken) >= len(asked)
    assert {row.breaks for row in broken} == {"overhead"}


def test_a_count_of_scores_bounds_all_but_where_the_yardstick_was_another_run() -> None:
    bounds = [row for row in rows(LESSON) if row.kind is Kind.ceiling]
    assert len(bounds) == 22
    beyond = [row.what for row in bounds if not row.holds]
    assert beyond == [
        "plain ring, both passes, H800",
        "keys gathered, forward, H800",
        "keys gathered, both passes, H800",
        "keys gathered, both passes, A100",
    ]


def test_digits_of_the_source_agree_and_a_longer_context_is_slower_than_its_scores() -> None:
    found = rows(LESSON)
    assert all(row.holds for row in found if row.kind is Kind.again)
    longer = [row for row in found if "Tokens per second" in row.place]
    assert len(longer) == 3 and all(row.holds is False for row in longer)
    assert all(row.mine > row.published for row in longer)


@pytest.mark.parametrize("ranks", [2, 4, 8])
def test_blocks_on_paper_agree_with_scores(ranks: int) -> None:
    on_paper = 100 / models.gain_of_balance(ranks)
    assert models.causal_bound_percent("plain", ranks) == pytest.approx(on_paper, abs=0.02)


def test_the_line_over_lengths_goes_through_its_beginning() -> None:
    assert models.longer_context_tokens_per_s(32768, 32768, 3890) == pytest.approx(3890)
    assert models.loses_as_before_percent(10, 20, 8, 16, 12) == pytest.approx(100 * 12 / 20)
