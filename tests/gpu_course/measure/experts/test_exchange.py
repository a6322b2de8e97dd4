"""Experts on ranks give the outputs and gradients of experts in one place."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from gpu_course.isolation import servers
from gpu_course.measure.experts.exchange import dense
from gpu_course.ranks import runner
from tests.gpu_course.measure.experts import on_ranks

NEEDS_RANKS = pytest.mark.skipif(
    not servers.available(), reason="ranks are forked, which only Linux does safely"
)


@NEEDS_RANKS
@pytest.mark.parametrize(
    ("tokens", "held"),
    [
        ([4], [3]),
        ([3, 5], [2, 2]),
        ([0, 6, 2], [1, 0, 3]),
        ([1, 2, 0, 4], [2, 1, 1, 0]),
        ([0, 0], [1, 1]),
    ],
)
def test_outputs_and_gradients_are_those_of_one_place(tokens: list[int], held: list[int]) -> None:
    given = {"tokens": tokens, "held": held, "seed": 3}
    results = runner.run_function(on_ranks.run, len(tokens), given).results
    all_of = on_ranks.whole(tokens, held, 3)
    leaves = [all_of[name].requires_grad_() for name in on_ranks.NAMES]
    y = dense(leaves[0], all_of["experts"], *leaves[1:])
    y.backward(all_of["dy"])
    right = [y.detach()]
    right += [torch.zeros_like(leaf) if leaf.grad is None else leaf.grad for leaf in leaves]
    for at, expected in enumerate(right):
        found = np.concatenate([each[at] for each in results])
        np.testing.assert_allclose(found, expected.numpy(), rtol=1e-12, atol=1e-13)


@NEEDS_RANKS
@pytest.mark.parametrize("held", [[2, 2, 1], [4, 0, 1]])
def test_a_token_for_no_expert_is_refused_on_all_ranks(held: list[int]) -> None:
    given = {"tokens": [3, 1, 2], "held": held, "seed": 5, "wrong": 2}
    assert runner.run_function(on_ranks.run, 3, given).results == ("ValueError",) * 3


def test_one_place_is_a_loop_over_tokens() -> None:
    all_of = on_ranks.whole([7], [4], 1)
    x, up, down = (all_of[name] for name in ("x", "up", "down"))
    expected = torch.zeros_like(x)
    for token, chosen in enumerate(all_of["experts"].tolist()):
        for choice, expert in enumerate(chosen):
            if expert >= 0:
                inside = torch.nn.functional.gelu(up[expert] @ x[token])
                expected[token] += all_of["weights"][token, choice] * (down[expert] @ inside)
    found = dense(x, all_of["experts"], all_of["weights"], up, down)
    torch.testing.assert_close(found, expected, rtol=1e-12, atol=1e-13)
