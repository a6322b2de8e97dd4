"""Times of collectives against schedules that are priced step by step, and against brute force."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpu_course.errors import CourseError
from gpu_course.lessons.collectives.schedules import (
    Schedule,
    double_tree_all_reduce,
    pat_all_gather,
    pat_reduce_scatter,
    ring_all_gather,
    ring_all_reduce,
    ring_reduce_scatter,
    tree_all_reduce,
    two_level_all_reduce,
)
from gpu_course.measure import alpha_beta as ab
from gpu_course.measure.alpha_beta import Link

LINK = Link(5e-6, 2.5e10)
SLOW = Link(3e-5, 1.25e10)
SIZES = (0.0, 256.0, 65_536.0, 1e6, 3.7e8)
RANKS = (1, 2, 3, 4, 7, 8, 16)


def priced(schedule: Schedule, size: float, link: Link = LINK) -> float:
    """Seconds of a schedule: each step waits for its busiest port."""
    chunk = size / schedule.chunks
    return sum(link.step_s(most * chunk) for most in schedule.most_chunks())


@pytest.mark.parametrize(("ranks", "size"), list(itertools.product(RANKS, SIZES)))
def test_a_formula_is_its_schedule_step_by_step(ranks: int, size: float) -> None:
    for formula, schedule in (
        (ab.ring_reduce_scatter_s, ring_reduce_scatter(ranks)),
        (ab.ring_all_gather_s, ring_all_gather(ranks)),
        (ab.ring_all_reduce_s, ring_all_reduce(ranks)),
        (ab.tree_all_reduce_s, tree_all_reduce(ranks)),
        (ab.pat_all_gather_s, pat_all_gather(ranks)),
        (ab.pat_all_gather_s, pat_reduce_scatter(ranks)),
    ):
        assert formula(ranks, size, LINK) == pytest.approx(priced(schedule, size), rel=1e-12)


@pytest.mark.parametrize(("ranks", "pieces"), list(itertools.product((4, 6, 8, 16), (1, 2, 7))))
def test_no_step_of_a_double_tree_is_dearer_than_the_formula_says(ranks: int, pieces: int) -> None:
    schedule = double_tree_all_reduce(ranks, pieces)
    formula = ab.double_tree_all_reduce_s(ranks, 1e6, LINK, pieces)
    # The first and the last steps move one piece where the formula counts two.
    step = LINK.step_s(1e6 / pieces)
    assert len(schedule.steps) * step == pytest.approx(formula)
    assert 0 <= formula - priced(schedule, 1e6) <= 4 * step
    assert max(schedule.most_chunks()) <= 2


@pytest.mark.parametrize(("ranks", "pieces"), list(itertools.product((4, 6, 8, 16), (1, 2, 7))))
def test_one_tree_in_pieces_is_the_first_of_the_two_with_the_whole_buffer(
    ranks: int, pieces: int
) -> None:
    both = double_tree_all_reduce(ranks, pieces)
    first = [tuple(m for m in step if m.chunks[0] < pieces) for step in both.steps]
    schedule = Schedule("one tree", ranks, pieces, tuple(first))
    formula = ab.tree_in_pieces_s(ranks, 1e6, LINK, pieces)
    step = LINK.step_s(2 * 1e6 / pieces)
    assert len(schedule.steps) * step == pytest.approx(formula)
    assert 0 <= formula - priced(schedule, 1e6) <= 4 * step
    assert max(schedule.most_chunks()) <= 2


def test_two_trees_in_one_piece_take_as_long_as_one_tree() -> None:
    for ranks, size in itertools.product((4, 64, 100), SIZES):
        two = ab.double_tree_all_reduce_s(ranks, size, LINK, pieces=1)
        assert two == ab.tree_all_reduce_s(ranks, size, LINK)


@pytest.mark.parametrize("ranks", [1, 2, 3, 8, 72])
def test_links_carry_what_is_sent_and_fetched_share_by_share(ranks: int) -> None:
    ring = ring_all_reduce(ranks)
    sent = [0] * ranks
    for (source, _), chunks in ring.sent_chunks().items():
        sent[source] += chunks
    assert max(sent) / ring.chunks == pytest.approx(ab.ring_share(ranks))
    # Each rank's share is fetched from all ranks, itself included, and handed back once.
    out = sum(1 / ranks for asking in range(ranks)) + 1 / ranks
    assert ab.switch_share(ranks) == pytest.approx(out)
    assert ab.switch_share(3) == pytest.approx(ab.ring_share(3))


@pytest.mark.parametrize(("nodes", "per_node"), list(itertools.product((1, 2, 3), (1, 2, 4))))
def test_two_levels_are_priced_by_two_links(nodes: int, per_node: int) -> None:
    schedule = two_level_all_reduce(nodes, per_node)
    chunk, total = 1e6 / schedule.chunks, 0.0
    for step, most in zip(schedule.steps, schedule.most_chunks(), strict=True):
        leaves = any(m.source // per_node != m.target // per_node for m in step)
        total += (SLOW if leaves else LINK).step_s(most * chunk)
    mine = ab.two_level_all_reduce_s(nodes, per_node, 1e6, LINK, SLOW)
    assert mine == pytest.approx(total)


@settings(max_examples=60, deadline=None)
@given(st.integers(2, 300), st.floats(1, 1e9), st.floats(1e-7, 1e-3), st.floats(1e8, 1e12))
def test_no_other_number_of_pieces_is_better(
    ranks: int, size: float, alpha: float, rate: float
) -> None:
    link = Link(alpha, rate)
    best = ab.best_pieces(ranks, size, link)
    tried = [*range(1, 60), *(max(1, best + d) for d in (-2, -1, 0, 1, 2))]
    found = min(ab.double_tree_all_reduce_s(ranks, size, link, p) for p in tried)
    assert ab.double_tree_all_reduce_s(ranks, size, link) <= found * (1 + 1e-12)


@pytest.mark.parametrize("ranks", [2, 3, 4, 5, 8, 33, 512, 1000])
def test_where_ring_and_tree_meet_both_take_as_long(ranks: int) -> None:
    size = ab.ring_meets_tree_bytes(ranks, LINK)
    ring, tree = (f(ranks, size, LINK) for f in (ab.ring_all_reduce_s, ab.tree_all_reduce_s))
    larger = (f(ranks, 2 * size + 1, LINK) for f in (ab.ring_all_reduce_s, ab.tree_all_reduce_s))
    ring_larger, tree_larger = larger
    assert ring_larger < tree_larger
    assert size == 0 or ring == pytest.approx(tree)


def test_what_is_fastest_depends_on_ranks_and_bytes() -> None:
    assert ab.fastest(2, 1e9, LINK) == "ring"
    assert ab.fastest(512, 256, LINK) == "tree"
    assert ab.fastest(512, 1e7, LINK) == "double tree"
    assert ab.fastest(8, 1e9, LINK) == "ring"


def residual(link: Link, points: list[ab.Point]) -> float:
    return sum((link.step_s(size) / seconds - 1) ** 2 for size, seconds in points)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(2, 12))
def test_a_fit_is_numpys_least_squares_or_lies_on_the_border(seed: int, count: int) -> None:
    rng = np.random.default_rng(seed)
    sizes = np.sort(rng.choice(np.arange(1, 400), count, replace=False)) * 1000.0
    times = LINK.step_s(0) + sizes / LINK.bytes_per_s
    times *= rng.uniform(0.5, 1.5, count)
    points = list(zip(sizes.tolist(), times.tolist(), strict=True))
    made = ab.fit(points)
    system = np.stack([1 / times, sizes / times], axis=1)
    alpha, beta = np.linalg.lstsq(system, np.ones(count), rcond=None)[0]
    if alpha >= 0 and beta > 0:
        assert made.alpha_s == pytest.approx(alpha, rel=1e-6, abs=1e-15)
        assert 1 / made.bytes_per_s == pytest.approx(beta, rel=1e-6)
    else:
        assert made.alpha_s == 0 or math.isinf(made.bytes_per_s)
    best = residual(made, points)
    for factor in (0.9, 1.1):
        other = [Link(made.alpha_s * factor, made.bytes_per_s)]
        other += [Link(made.alpha_s, made.bytes_per_s * factor)]
        assert all(best <= residual(link, points) + 1e-12 for link in other)


def test_what_cannot_be_fitted_is_told() -> None:
    with pytest.raises(CourseError, match="one size is no fit"):
        ab.fit([(8, 1e-5), (8, 2e-5)])
    with pytest.raises(CourseError, match="not above 0"):
        ab.fit([(8, 1e-5), (80, 0.0)])
    with pytest.raises(CourseError, match="0 ranks"):
        ab.ring_all_reduce_s(0, 1.0, LINK)
    with pytest.raises(CourseError, match="without alpha"):
        ab.best_pieces(8, 1e6, Link(0.0, 1e9))
