"""Bytes of ring and Ulysses, against what the puzzles allow and against each other."""

from __future__ import annotations

import pytest

from gpu_course.lessons.context_parallel import sequence_costs as costs
from gpu_course.lessons.context_parallel.pieces import case, token_bytes
from gpu_course.lessons.context_parallel.sequence_costs import Attention
from gpu_course.lessons.context_parallel.sequence_layouts import LAYOUTS
from gpu_course.lessons.context_parallel.ulysses import allowed_bytes


@pytest.mark.parametrize("ranks", [1, 2, 3, 4, 6])
def test_the_formulas_are_what_the_puzzles_allow(ranks: int) -> None:
    given = case(ranks, 12, heads=12, width=5)
    shape = Attention(12, 12, 12, 5, 8)
    share = 12 // ranks
    assert costs.ring_bytes(shape, ranks) == token_bytes(given, 2) * (12 - share)
    assert costs.ring_backward_bytes(shape, ranks) == 2 * costs.ring_bytes(shape, ranks)
    assert costs.ulysses_bytes(shape, ranks) == allowed_bytes(given, [share] * ranks, 0)


@pytest.mark.parametrize("group", [1, 2, 4, 8])
def test_ring_and_ulysses_are_even_at_one_rank_more_than_the_group(group: int) -> None:
    shape = Attention(1024, 64, 64 // group)
    even = group + 1
    assert costs.ring_bytes(shape, even) == pytest.approx(costs.ulysses_bytes(shape, even))
    assert costs.ring_bytes(shape, even + 1) > costs.ulysses_bytes(shape, even + 1)
    if group > 1:
        assert costs.ring_bytes(shape, even - 1) < costs.ulysses_bytes(shape, even - 1)


@pytest.mark.parametrize(("layout", "times"), [("plain", 1), ("zigzag", 2), ("striped", 2)])
def test_a_causal_block_hides_a_message_from_as_many_tokens_as_it_has_scores(
    layout: str, times: int
) -> None:
    """Counted query by query: half of the scores take twice the tokens."""
    tokens, ranks = 64, 4
    most = max(
        sum(key <= query for query in queries for key in keys)
        for places in [LAYOUTS[layout](tokens * ranks, ranks)]
        for queries in places
        for keys in places
        if queries is not keys
    )
    shape = Attention(tokens * ranks, 16, 4)
    found = costs.hiding_tokens(shape, most / tokens**2, 1e15, 50e9)
    # Four queries share a key here: four times the work for each byte.
    assert found == pytest.approx(20_000 / 4 * times, rel=0.05)


def test_a_block_takes_as_long_as_its_message_at_that_length() -> None:
    shape = Attention(1, 12, 3, width=64, element_bytes=4)
    c = costs.hiding_tokens(shape, 0.5, 2e14, 25e9)
    scores = 0.5 * c * c * shape.heads
    assert 2 * 2 * scores * shape.width / 2e14 == pytest.approx(
        2 * c * shape.kv_heads * shape.width * shape.element_bytes / 25e9
    )


def test_a_ring_holds_less_with_more_ranks_and_a_gather_does_not_below_its_keys() -> None:
    shape = Attention(65_536, 32, 8)
    ring = [costs.held_bytes(shape, n, "ring") for n in (2, 4, 8)]
    assert ring[0] == 2 * ring[1] == 4 * ring[2]
    assert costs.held_bytes(shape, 1024, "gather") > 2 * shape.key_bytes
    assert costs.held_bytes(shape, 1, "one GPU") == 2 * (shape.query_bytes + shape.key_bytes)
    assert costs.held_bytes(shape, 2, "Ulysses") == costs.held_bytes(shape, 1, "one GPU")
    with pytest.raises(ValueError, match="star"):
        costs.held_bytes(shape, 2, "star")


def test_scores_and_matrices_are_even_at_six_widths() -> None:
    assert costs.attention_over_rest(6 * 4096, 4096) == 1
