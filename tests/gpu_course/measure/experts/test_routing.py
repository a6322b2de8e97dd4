"""Routes, balance and limits against loops in plain Python, PyTorch and DeepSeek's own words."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from gpu_course.measure.experts import routing


def _by_hand(row: list[float], k: int) -> list[int]:
    """The best places: no other is better, or as good and before it."""
    left, found = list(range(len(row))), []
    for _ in range(k):
        top = max(row[at] for at in left)
        found.append(next(at for at in left if row[at] == top))
        left.remove(found[-1])
    return found


@pytest.mark.parametrize("seed", range(5))
def test_routes_are_those_of_a_counter_for_each_expert(seed: int) -> None:
    rng = np.random.default_rng(seed)
    logits = rng.integers(0, 6, (20, 5)) / 4 if seed % 2 else rng.normal(size=(20, 5))
    k, capacity = 1 + seed % 5, 6
    found = routing.route(logits, k, capacity)
    counts = [0] * 5
    for token, row in enumerate(logits.tolist()):
        chosen = _by_hand(row, k)
        assert found.experts[token].tolist() == chosen
        total = sum(np.exp(row[each]) for each in chosen)
        for choice, expert in enumerate(chosen):
            kept = counts[expert] < capacity
            assert found.slots[token, choice] == (counts[expert] if kept else -1)
            weight = np.exp(row[expert]) / total if kept else 0.0
            assert found.weights[token, choice] == pytest.approx(weight, rel=1e-12)
            counts[expert] += 1


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_logits_without_weights_are_refused(bad: float) -> None:
    with pytest.raises(ValueError, match="NaN or"):
        routing.route(np.array([[0.0, bad, 1.0]]), 1, 1)
    with pytest.raises(ValueError, match="fewer than 2"):
        routing.route(np.array([[0.0, -np.inf, -np.inf]]), 2, 1)


def test_the_bias_evens_loads_out() -> None:
    rng = np.random.default_rng(0)
    liked, bias = np.linspace(-1, 1, 8), np.zeros(8)
    over = []
    for _ in range(600):
        scores = 1 / (1 + np.exp(-rng.normal(size=(256, 8)) - liked))
        experts, weights = routing.balanced_choice(scores, bias, 2)
        np.testing.assert_allclose(weights.sum(1), 1, rtol=1e-12)
        loads = routing.loads_of(experts, 8)
        over.append(loads.max() / loads.mean() - 1)
        bias = routing.moved_bias(bias, experts, 0.002)
    assert over[0] > 0.5 and np.mean(over[-50:]) < 0.2


def _deepseek_v3(scores: torch.Tensor, k: int, groups: int, limit: int) -> torch.Tensor:
    """Which experts the Gate of deepseek-ai/DeepSeek-V3, inference/model.py, takes.

    There each group is judged by its two best, which is k // limit for k 8 and limit 4.
    """
    tokens = scores.shape[0]
    grouped = scores.view(tokens, groups, -1)
    group_scores = grouped.topk(2, dim=-1)[0].sum(dim=-1)
    indices = group_scores.topk(limit, dim=-1)[1]
    mask = scores.new_ones(tokens, groups, dtype=torch.bool).scatter_(1, indices, False)
    masked = grouped.masked_fill(mask.unsqueeze(-1), float("-inf")).flatten(1)
    return masked.topk(k, dim=-1)[1]


def test_a_limit_of_nodes_is_that_of_deepseek_v3() -> None:
    scores = torch.rand(64, 256, generator=torch.Generator().manual_seed(2), dtype=torch.float64)
    found = routing.node_limited(scores.numpy(), 8, 8, 4)
    assert np.array_equal(found, _deepseek_v3(scores, 8, 8, 4).numpy())
    assert max(len({each // 32 for each in row}) for row in found.tolist()) <= 4
