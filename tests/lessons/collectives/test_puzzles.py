"""The puzzles of lesson 21 against schedules that are followed, and a fit against brute force."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gpu_course.lessons.collectives.double_tree import DOUBLE_TREE, over_the_trees, trees
from gpu_course.lessons.collectives.fit_alpha_beta import _OTHERWISE, _VISIBLE, FIT_ALPHA_BETA
from gpu_course.lessons.collectives.hierarchical import HIERARCHICAL, allowed_bytes
from gpu_course.lessons.collectives.schedules import double_tree_all_reduce, two_level_all_reduce
from gpu_course.puzzle import index
from gpu_course.puzzle.specification import Case
from tests.course.puzzles.python_rules import cases_and_random, solution_of

LESSON = index.lesson("collectives")


def test_the_lesson_brings_its_seven_puzzles() -> None:
    assert [puzzle.short_name for puzzle in LESSON.puzzles] == [
        "ring_reduce_scatter", "ring_all_gather", "all_reduce", "double_tree", "hierarchical",
        "fat_tree", "fit_alpha_beta",
    ]  # fmt: skip
    assert sum(puzzle.minutes for puzzle in LESSON.puzzles) < LESSON.minutes


@pytest.mark.parametrize("ranks", range(1, 33))
def test_the_stub_of_two_trees_gives_the_trees_that_are_judged(ranks: int) -> None:
    assert tuple(solution_of(DOUBLE_TREE)["trees"](ranks)) == trees(ranks)


@pytest.mark.parametrize("ranks", range(1, 17))
def test_what_two_trees_may_send_is_what_their_schedule_sends(ranks: int) -> None:
    # A buffer of two numbers: each half is one chunk.
    sent = double_tree_all_reduce(ranks).sent_chunks()
    assert over_the_trees(ranks, 2) == {way: 8 * chunks for way, chunks in sent.items()}
    for rank in range(ranks):
        own = sum(b for (source, _), b in over_the_trees(ranks, 2).items() if source == rank)
        assert own <= 2 * 16


@pytest.mark.parametrize(("nodes", "per_node"), [(1, 1), (1, 4), (4, 1), (2, 2), (2, 3), (3, 4)])
def test_what_two_levels_may_send_is_what_their_schedule_sends(nodes: int, per_node: int) -> None:
    ranks = nodes * per_node
    case = Case("", {"ranks": ranks, "per_node": per_node, "length": ranks})
    inside, between = allowed_bytes(case)
    found = {"inside": [0] * ranks, "between": [0] * ranks}
    for (source, target), chunks in two_level_all_reduce(nodes, per_node).sent_chunks().items():
        where = "inside" if source // per_node == target // per_node else "between"
        found[where][source] += 8 * chunks
    assert found == {"inside": [inside] * ranks, "between": [between] * ranks}


def test_one_ring_would_not_pass_for_two_levels() -> None:
    case = HIERARCHICAL.cases[0]
    _, between = allowed_bytes(case)
    assert between < 8 * case.sizes["length"] * 2 * 3 / 4


def squares(runs: Any, alpha: float, rate: float) -> float:
    return sum(
        (2 * (n - 1) * (alpha + size / n / rate) / seconds - 1) ** 2 for n, size, seconds in runs
    )


def test_no_other_pair_fits_better() -> None:
    for case in cases_and_random(FIT_ALPHA_BETA, 6):
        runs = FIT_ALPHA_BETA.inputs(np.random.default_rng(4), case)["runs"]
        alpha, rate = FIT_ALPHA_BETA.reference({"runs": runs}, case)["result"]
        assert alpha > 0 and rate > 0
        assert solution_of(FIT_ALPHA_BETA)["fit_alpha_beta"](runs) == pytest.approx((alpha, rate))
        best = squares(runs, alpha, rate)
        for factor in (0.5, 0.9, 0.99, 1.01, 1.1, 2):
            assert squares(runs, alpha * factor, rate) >= best
            assert squares(runs, alpha, rate * factor) >= best


def test_the_visible_example_tells_every_way_from_the_others() -> None:
    case = FIT_ALPHA_BETA.cases[0]
    right = FIT_ALPHA_BETA.reference({"runs": _VISIBLE}, case)["result"]
    made = [right, *(way(_VISIBLE) for _, way in _OTHERWISE)]
    for k, one in enumerate(made):
        assert not [other for other in made[:k] if one == pytest.approx(other, rel=1e-4)]
