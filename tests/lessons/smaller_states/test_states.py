"""GaLore, LoRA, 8-bit moments and shared layers: against Adam, NumPy and plain stacks."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn

from gpu_course.lessons.smaller_states.galore import GaLoreAdam, distance_left
from gpu_course.lessons.smaller_states.galore_formulas import adam_numbers, galore_numbers
from gpu_course.lessons.smaller_states.holdings import held, state_numbers
from gpu_course.lessons.smaller_states.lora_model import LoRA, put_lora
from gpu_course.lessons.smaller_states.projection import grow, main_directions, shrink
from gpu_course.lessons.smaller_states.quantised_states import Adam8, dequantise, quantise
from gpu_course.lessons.smaller_states.two_back import (
    Block,
    language,
    matrices,
    others,
    train,
    two_back,
)
from gpu_course.measure.llama_shapes import Llama
from gpu_course.measure.saved import saved_bytes
from gpu_course.measure.shared_model import Shared
from tests.sampling import examples


@pytest.mark.parametrize(("shape", "basis"), [((5, 9), (5, 2)), ((9, 5), (5, 2)), ((6, 6), (6, 2))])
def test_main_directions_are_the_best_there_are(shape, basis) -> None:
    gradient = torch.randn(*shape, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    found = main_directions(gradient, 2)
    assert tuple(found.shape) == basis
    left, weights, right = np.linalg.svd(gradient.numpy(), full_matrices=False)
    best = left[:, :2] * weights[:2] @ right[:2]
    restored = grow(shrink(gradient, found), found, shape)
    np.testing.assert_allclose(restored.numpy(), best, atol=1e-12)
    assert found.untyped_storage().nbytes() == 8 * found.numel()


def test_a_basis_of_full_rank_loses_nothing_of_any_gradient() -> None:
    gradient = torch.randn(4, 7, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    basis = main_directions(gradient, 4)
    other = torch.randn(4, 7, generator=torch.Generator().manual_seed(1), dtype=torch.float64)
    assert torch.allclose(grow(shrink(other, basis), basis, other.shape), other)


def test_what_galore_does_not_project_is_updated_as_by_adam() -> None:
    ours, theirs = (nn.Parameter(torch.linspace(-1, 2, 5)) for _ in range(2))
    optimizer = GaLoreAdam([nn.Parameter(torch.zeros(2, 3))], [ours], rank=1, rate=0.1, scale=0.5)
    adam = torch.optim.Adam([theirs], lr=0.1)
    for step in range(4):
        for each in (ours, theirs):
            each.grad = torch.linspace(1, -1, 5) * (step + 1)
        optimizer.step()
        adam.step()
    assert torch.allclose(ours, theirs, rtol=1e-5)


def test_galore_holds_what_the_formula_says() -> None:
    model = two_back()
    optimizer = GaLoreAdam(matrices(model), others(model), rank=8, rate=1e-3)
    train(model, [optimizer], language(), steps=2, rows=16, every=2)
    whole = sum(p.numel() for p in others(model))
    small = sum(8 * (min(p.shape) + 2 * max(p.shape)) for p in matrices(model))
    assert held(model, optimizer)["optimizer states"] == 4 * (2 * whole + small)


def test_the_llama_formulas_add_up_by_hand() -> None:
    tiny = Llama(hidden=4, mlp=8, layers=2, vocabulary=10)
    assert tiny.in_matrices == 2 * (4 * 16 + 3 * 32)
    assert tiny.parameters == tiny.in_matrices + 2 * 40 + 5 * 4
    assert adam_numbers(tiny).all == 2 * tiny.parameters
    # Rank as large as the shorter side: full moments, and the bases on top.
    assert galore_numbers(tiny, 4).moments == 2 * tiny.parameters
    assert galore_numbers(tiny, 4).bases == 2 * 7 * 16


def test_lora_begins_as_the_layer_and_merges_into_it() -> None:
    torch.manual_seed(0)
    linear = nn.Linear(5, 3)
    x = torch.randn(4, 5)
    before = linear(x).detach()
    lora = LoRA(linear, rank=2, alpha=6.0)
    assert torch.equal(lora(x), before)
    nn.init.normal_(lora.B)
    merged = x @ lora.merged().mT + linear.bias
    assert torch.allclose(lora(x), merged, atol=1e-6)
    assert [name for name, p in lora.named_parameters() if p.requires_grad] == ["A", "B"]


def test_put_lora_reaches_every_linear_layer_of_the_blocks_and_no_other() -> None:
    model = two_back()
    put_lora(model, model.blocks, rank=2, alpha=4.0)
    trained = [name for name, p in model.named_parameters() if p.requires_grad]
    assert len(trained) == 2 * 2 * 2 and all(name[-1] in "AB" for name in trained)
    assert isinstance(model.head, nn.Linear)


@settings(max_examples=examples(60, few=15), deadline=None)
@given(
    st.lists(st.floats(-1e6, 1e6, width=32), min_size=1, max_size=40),
    st.integers(1, 12),
    st.sampled_from([1, 2, 4]),
)
def test_what_comes_back_is_close_and_zero_stays_zero(numbers, block, power) -> None:
    values = torch.tensor(numbers, dtype=torch.float32)
    codes, scales = quantise(values, block, power)
    assert codes.dtype == torch.int8 and len(codes) == len(values)
    assert len(scales) == -(-len(values) // min(block, len(values)))
    back = dequantise(codes, scales, block, power)
    assert torch.isfinite(back).all() and not back[values == 0].any()
    # Half a step of the code, at the top where the steps are widest.
    room = scales.repeat_interleave(min(block, len(values)))[: len(values)]
    assert ((back - values).abs() <= room * (power * 0.51 / 127) + 1e-37).all()


def test_eight_bits_take_a_quarter_and_the_scales() -> None:
    weight = nn.Parameter(torch.ones(1000))
    optimizer = Adam8([weight], block=256)
    weight.grad = torch.linspace(-1, 1, 1000)
    optimizer.step()
    states = held(nn.ParameterList([weight]), optimizer)["optimizer states"]
    assert states == 2 * (1000 + 4 * 4)


def test_one_layer_for_all_has_the_parameters_of_one_and_keeps_as_much() -> None:
    torch.manual_seed(0)
    block, x = Block(8), torch.randn(3, 8, requires_grad=True)
    shared, apart = Shared(block, 4), nn.Sequential(*(Block(8) for _ in range(4)))
    assert sum(p.numel() for p in shared.parameters()) * 4 == sum(
        p.numel() for p in apart.parameters()
    )
    assert saved_bytes(shared, x) == saved_bytes(apart, x)


def test_the_language_says_the_least_loss_there_is() -> None:
    source = language()
    assert torch.allclose(source.probabilities.sum(1), torch.ones(64))

    class Knows(nn.Module):
        def forward(self, contexts: torch.Tensor) -> torch.Tensor:
            rows = contexts[:, 0] * source.tokens + contexts[:, 1]
            return source.probabilities[rows].clamp_min(1e-30).log()

    assert source.loss(Knows()) == pytest.approx(source.entropy, abs=1e-5)
    contexts, behind = source.batch(500, torch.Generator().manual_seed(0))
    rows = contexts[:, 0] * source.tokens + contexts[:, 1]
    assert (source.probabilities[rows, behind] > 0).all()


def test_evenly_spread_bytes_explode_and_powers_do_not() -> None:
    ends = []
    for powers in ((1, 1), (2, 4)):
        model = two_back()
        adam = Adam8(model.parameters(), rate=3e-3, powers=powers)
        ends.append(train(model, [adam], language(), steps=50, every=50))
    assert ends[0][-1] > ends[0][0]
    assert ends[1][-1] < 1.5 < ends[1][0]


def test_training_is_the_same_every_time() -> None:
    runs = []
    for _ in range(2):
        model = two_back()
        adam = torch.optim.Adam(model.parameters(), lr=3e-3)
        runs.append(train(model, [adam], language(), steps=10, rows=32, every=5))
    assert runs[0] == runs[1] and len(runs[0]) == 3


def test_galore_stands_still_where_noise_is_larger_than_the_gradient() -> None:
    """Adam averages the noise away; directions chosen from one noisy gradient miss the target."""
    assert distance_left(4, 0, 500) < 0.2
    assert distance_left(None, 8, 500) < 0.1
    assert distance_left(4, 8, 500) > 0.9


def test_what_other_optimizers_keep_for_a_matrix() -> None:
    assert sum(state_numbers(torch.optim.Adam, 8, 4).values()) == 2 * 8 * 4
    assert sum(state_numbers(torch.optim.Adafactor, 8, 4).values()) == 8 + 4
    assert state_numbers(torch.optim.Muon, 8, 4) == {"momentum_buffer": 8 * 4}
