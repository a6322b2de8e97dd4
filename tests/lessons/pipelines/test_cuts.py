"""Cuts into stages, against every cut there is, and layer costs, against a clock of our own."""

from __future__ import annotations

from itertools import combinations, count, pairwise, product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpu_course.errors import CourseError
from gpu_course.lessons.pipelines.balance import A_GPT
from gpu_course.lessons.pipelines.cuts import best_cut, block_partition, stage_costs
from gpu_course.lessons.pipelines.layer_costs import LayerCost, measured_layer_costs
from gpu_course.measure.model import Shape


def every_cut(layers: int, ranks: int) -> list[list[int]]:
    return [
        [end - start for start, end in pairwise((0, *inner, layers))]
        for inner in combinations(range(1, layers), ranks - 1)
    ]


def least(costs: list[int], ranks: int) -> float:
    return min(max(stage_costs(costs, cut)) for cut in every_cut(len(costs), ranks))


def test_the_best_of_all_cuts_of_few_layers() -> None:
    for layers in range(1, 6):
        for costs in product((1, 2, 5), repeat=layers):
            for ranks in range(1, layers + 1):
                cut = best_cut(costs, ranks)
                assert cut in every_cut(layers, ranks)
                assert max(stage_costs(costs, cut)) == least(list(costs), ranks)


costs_and_ranks = st.lists(st.integers(1, 30), min_size=1, max_size=9).flatmap(
    lambda costs: st.tuples(st.just(costs), st.integers(1, len(costs)))
)


@given(costs_and_ranks)
def test_block_partition_keeps_what_its_theorem_promises(drawn: tuple[list[int], int]) -> None:
    costs, ranks = drawn
    cut = block_partition(costs, ranks)
    sums = stage_costs(costs, cut)
    assert sum(cut) == len(costs) and len(cut) == ranks
    assert max(sums) - min(sums) <= max(costs)
    assert max(stage_costs(costs, best_cut(costs, ranks))) == least(costs, ranks) <= max(sums)


def test_block_partition_need_not_be_the_best() -> None:
    costs = [1, 1, 1, 1, 4]
    assert (best_cut(costs, 2), block_partition(costs, 2)) == ([4, 1], [2, 3])
    ways = [max(stage_costs(costs, make(costs, 2))) for make in (best_cut, block_partition)]
    assert ways == [4, 6]


def test_taking_away_the_cheapest_layer_makes_layers_that_are_alike_free() -> None:
    """torchgpipe's own function gives these two, as its code at 9aa856c reads."""
    assert block_partition([7] * 10, 4, shifted=True) == [2, 2, 2, 4]
    assert block_partition([7] * 10, 4) == [3, 2, 2, 3]


def test_a_head_outweighs_the_layers_of_a_gpt() -> None:
    """A cut of as many layers each, and one that stops within a layer, lose a quarter or more."""
    best = max(stage_costs(A_GPT, best_cut(A_GPT, 4)))
    for cut in ([3, 4, 3, 4], block_partition(A_GPT, 4), block_partition(A_GPT, 4, shifted=True)):
        assert max(stage_costs(A_GPT, cut)) > 1.25 * best


@pytest.mark.parametrize("make", [best_cut, block_partition])
def test_what_cannot_be_cut(make: object) -> None:
    assert callable(make)
    with pytest.raises(CourseError, match="3 layers cannot be cut into 4 stages"):
        make([1, 2, 3], 4)
    with pytest.raises(CourseError, match="cut into 0 stages"):
        make([1, 2, 3], 0)
    with pytest.raises(CourseError, match="0 layers"):
        make([], 1)


TINY = Shape(hidden=8, heads=2, layers=3, sequence=4, vocabulary=16, dropout=0.0)


def test_every_part_of_the_model_is_measured_in_its_order() -> None:
    found = measured_layer_costs(TINY, batch=1, times=1)
    assert [each.name for each in found] == ["embedding", "layer 0", "layer 1", "layer 2", "head"]
    assert all(each.forward_us > 0 and each.backward_us > 0 and each.us >= 1 for each in found)
    assert best_cut([each.us for each in found], 5) == [1] * 5


def test_the_fastest_run_of_each_way_counts() -> None:
    ticks = count()

    def clock() -> float:
        """Reads 0, 1, 4, 9 and so on: each span is longer than the one before."""
        return float(next(ticks)) ** 2

    found = measured_layer_costs(TINY, batch=1, times=2, clock=clock)
    # Readings 9 k to 9 k + 8 are a part's; its first run is the shortest.
    ways = [(2 * 9 * part + 1, 2 * 9 * part + 3) for part in range(5)]
    assert [(each.forward_us, each.backward_us) for each in found] == [
        (1e6 * down, 1e6 * back) for down, back in ways
    ]


def test_a_cost_of_nothing_is_a_microsecond() -> None:
    assert LayerCost("embedding", 0.2, 0.1).us == 1
    assert LayerCost("head", 10.4, 20.4).us == 31
