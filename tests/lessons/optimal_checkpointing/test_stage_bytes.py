"""Bytes per stage, against sums by hand and against whole chains that are measured."""

from __future__ import annotations

import copy

import pytest
import torch
from torch import nn

from gpu_course.lessons.optimal_checkpointing.stage_bytes import profile_stages
from gpu_course.measure.peak import allocate_gradients, measure_peak

ROWS, WIDTH = 32, 24
OUT = ROWS * WIDTH * 4


@pytest.mark.parametrize(
    ("stage", "output", "saved"),
    [
        (nn.Linear(WIDTH, WIDTH), OUT, 0),
        (nn.ReLU(), OUT, 0),
        # Keeps its input, which the stage before left, and nothing of its own.
        (nn.GELU(), OUT, 0),
        # The mask, as wide as the numbers it is for: PyTorch multiplies by it on a CPU.
        (nn.Dropout(0.5), OUT, OUT),
        (nn.Sequential(nn.GELU(), nn.Tanh()), OUT, 0),
        (nn.Sequential(nn.Tanh(), nn.Tanh()), OUT, OUT),
        # A mean and the inverse of a deviation for each row.
        (nn.LayerNorm(WIDTH), OUT, 2 * ROWS * 4),
        # A view of its input: nothing of its own.
        (nn.Flatten(), 0, 0),
    ],
)
def test_output_and_saved_are_those_counted_by_hand(stage, output, saved) -> None:
    (measured,) = profile_stages([stage], torch.randn(ROWS, WIDTH))
    assert measured.input_bytes == OUT
    assert measured.output_bytes == output
    assert measured.saved_bytes == saved
    assert measured.forward_bytes >= output
    assert measured.forward_saving_bytes >= output + saved


def test_a_backward_pass_rises_by_what_it_makes() -> None:
    (measured,) = profile_stages([nn.Linear(WIDTH, 100)], torch.randn(ROWS, WIDTH))
    input_gradient, weight, bias = OUT, 100 * WIDTH * 4, 100 * 4
    assert measured.input_gradient_bytes == input_gradient
    # All three are there together before the first of them is added where it belongs.
    assert measured.backward_bytes == input_gradient + weight + bias
    assert measured.backward_bytes - measured.input_gradient_bytes == weight + bias


def test_tokens_have_no_gradient() -> None:
    chain = [nn.Embedding(50, WIDTH), nn.Linear(WIDTH, 4)]
    first, second = profile_stages(chain, torch.randint(0, 50, (ROWS,)))
    assert first.input_gradient_bytes == 0
    assert first.input_bytes == ROWS * 8
    assert second.input_bytes == first.output_bytes == OUT


def make_chain(length: int) -> list[nn.Module]:
    torch.manual_seed(length)
    kinds = [
        lambda: nn.Sequential(nn.Linear(WIDTH, 50), nn.GELU(), nn.Linear(50, WIDTH)),
        lambda: nn.Sequential(nn.LayerNorm(WIDTH), nn.Dropout(0.1)),
        lambda: nn.BatchNorm1d(WIDTH),
    ]
    return [kinds[i % 3]() for i in range(length)]


@pytest.mark.parametrize("length", [1, 2, 5])
def test_what_the_stages_keep_adds_up_to_what_the_chain_keeps(length) -> None:
    chain, x = make_chain(length), torch.randn(ROWS, WIDTH)
    stages = profile_stages(chain, x)
    net = nn.Sequential(*copy.deepcopy(chain))
    x.requires_grad_()
    forward = measure_peak(lambda: net(x))
    assert forward.left_bytes == sum(s.output_bytes + s.saved_bytes for s in stages)


def test_the_modules_and_the_random_state_are_left_as_they_were() -> None:
    chain, x = make_chain(3), torch.randn(ROWS, WIDTH)
    before = copy.deepcopy(nn.Sequential(*chain).state_dict())
    state = torch.get_rng_state()
    first = profile_stages(chain, x)
    assert torch.equal(torch.get_rng_state(), state)
    assert profile_stages(chain, x) == first
    after = nn.Sequential(*chain).state_dict()
    assert all(torch.equal(before[name], after[name]) for name in before)
    assert all(parameter.grad is None for stage in chain for parameter in stage.parameters())


def test_gradients_already_there_do_not_change_the_figures() -> None:
    chain, x = make_chain(2), torch.randn(ROWS, WIDTH)
    first = profile_stages(chain, x)
    for stage in chain:
        allocate_gradients(stage)
    assert profile_stages(chain, x) == first
