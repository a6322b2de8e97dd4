"""Bytes of states: measured on real optimizers, against the recipes."""

from __future__ import annotations

import math

import pytest
import torch
from torch import nn

from gpu_course.lessons.memory_ledger.formulas import bytes_live
from gpu_course.lessons.memory_ledger.mixed import MasterAdam, measure_states
from gpu_course.measure import llama
from gpu_course.measure.activation_formulas import LayerShape, end_activation_bytes, layer_terms
from gpu_course.measure.model import GPT, Shape
from gpu_course.measure.saved import saved_bytes
from gpu_course.measure.state_formulas import (
    FLOAT32_ADAM,
    MEGATRON_ADAM,
    MIXED_ADAM,
    MIXED_ADAM_ACCUMULATING,
    layer_parameters,
    state_bytes,
)

SHAPES = [(5, 7), (11,), (2, 3, 4)]
NUMBERS = sum(math.prod(shape) for shape in SHAPES)


@pytest.mark.parametrize(
    ("weight_bytes", "master", "recipe"),
    [(4, False, FLOAT32_ADAM), (2, True, MIXED_ADAM)],
)
def test_a_real_optimizer_holds_what_the_recipe_says(weight_bytes, master, recipe) -> None:
    before, jump = measure_states(SHAPES, weight_bytes, master)
    assert jump == recipe.moments * NUMBERS + 4 * len(SHAPES)
    assert before + jump == state_bytes(NUMBERS, recipe) + 4 * len(SHAPES)


def test_without_a_copy_moments_are_as_narrow_as_the_weights() -> None:
    assert measure_states(SHAPES, 2, False) == (4 * NUMBERS, 4 * NUMBERS + 4 * len(SHAPES))


@pytest.mark.parametrize(
    ("recipe", "per_parameter"),
    [
        (FLOAT32_ADAM, 16),
        (MIXED_ADAM, 16),
        (MIXED_ADAM_ACCUMULATING, 20),
        (MEGATRON_ADAM, 18),
    ],
)
def test_bytes_per_parameter(recipe, per_parameter) -> None:
    assert recipe.bytes_per_parameter == per_parameter


def test_master_adam_is_adam_on_float32_parameters() -> None:
    torch.manual_seed(0)
    values, gradients = torch.randn(6, 5), [torch.randn(6, 5) for _ in range(4)]
    narrow = nn.Parameter(values.bfloat16())
    wide = nn.Parameter(narrow.detach().float())
    mine, adam = MasterAdam([narrow], rate=1e-2), torch.optim.Adam([wide], lr=1e-2)
    for gradient in gradients:
        narrow.grad, wide.grad = gradient.bfloat16(), gradient.bfloat16().float()
        mine.step()
        adam.step()
        assert torch.equal(mine.copies[0], wide)
        assert torch.equal(narrow, wide.bfloat16())


def test_small_updates_survive_in_the_copy_alone() -> None:
    """What the copy is for: 1 + 1e-4 is 1 in bfloat16, however often it is added."""
    parameters = [nn.Parameter(torch.ones(3, dtype=torch.bfloat16)) for _ in range(2)]
    mixed = MasterAdam(parameters[:1], rate=1e-4)
    alone = torch.optim.Adam(parameters[1:], lr=1e-4)
    for _ in range(100):
        for parameter in parameters:
            parameter.grad = -torch.ones_like(parameter)
        mixed.step()
        alone.step()
    assert parameters[1].tolist() == [1.0, 1.0, 1.0]
    assert parameters[0][0] > 1


def test_twelve_l_h_squared_is_the_matrices_of_the_layers() -> None:
    shape = Shape(hidden=48, heads=4, layers=3)
    model = GPT(shape)
    matrices = [p for name, p in model.named_parameters() if "layers" in name and p.dim() == 2]
    assert sum(matrix.numel() for matrix in matrices) == layer_parameters(48, 3)


@pytest.mark.parametrize("tied", [False, True])
def test_live_bytes_with_a_vocabulary_are_those_of_a_whole_model(tied: bool) -> None:
    """Embedding and head as a model has them, one table or two; the logits whatever they share."""
    shape = LayerShape(sequence=128, batch=2, hidden=96, heads=6)
    embedding, head = nn.Embedding(500, 96), nn.Linear(96, 500, bias=False)
    if tied:
        head.weight = embedding.weight
    tables = sum(p.numel() for p in nn.ModuleList([embedding, head]).parameters())
    layers = bytes_live(shape, 5)
    whole = bytes_live(shape, 5, vocabulary=500, tied=tied)
    more = {kind: whole[kind] - layers[kind] for kind in layers}
    assert more == {
        "parameters": 2 * tables,
        "optimizer states": 12 * tables,
        "gradients": 2 * tables,
        "activations": end_activation_bytes(shape, 500),
    }


def test_the_end_of_a_model_keeps_what_the_formula_says() -> None:
    """The hooks on a norm, a head and a loss, in bfloat16 with a loss in float32."""
    shape = LayerShape(sequence=32, batch=2, hidden=64, heads=4)
    end = llama.End(64, 300)
    end.norm = nn.LayerNorm(64, dtype=torch.bfloat16)  # as in the paper
    x = torch.zeros(2, 32, 64, dtype=torch.bfloat16, requires_grad=True)
    dropout_mask, targets = shape.sbh, 8 * 64
    statistics = 4 * 64
    kept = saved_bytes(end, x)
    assert 0 <= kept + dropout_mask - end_activation_bytes(shape, 300) <= targets + statistics + 64


def test_live_bytes_are_states_and_layers() -> None:
    shape = LayerShape(sequence=128, batch=2, hidden=96, heads=6)
    live = bytes_live(shape, 5, recipe=MIXED_ADAM_ACCUMULATING)
    n = layer_parameters(96, 5)
    assert live["activations"] == 5 * sum(term.bytes for term in layer_terms(shape))
    del live["activations"]
    assert live == {"parameters": 2 * n, "optimizer states": 12 * n, "gradients": 6 * n}
    full = bytes_live(shape, 5, recompute="full")["activations"]
    assert full == 5 * 2 * shape.sbh
