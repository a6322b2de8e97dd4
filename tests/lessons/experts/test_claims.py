"""The published numbers of lesson 28, and the models that claim to explain them."""

from __future__ import annotations

import pytest

from gpu_course.claims.kinds import Kind
from gpu_course.claims.published import forecasts, rows
from gpu_course.lessons.experts.claims import experts as models
from gpu_course.lessons.experts.shapes import MODELS

LESSON = "28_experts"


def test_every_model_is_held_against_what_was_printed_of_it() -> None:
    shown = rows(LESSON)
    assert len(shown) >= 45 and len(forecasts(LESSON)) >= 4
    named = {row.arguments["name"] for row in shown if "name" in row.arguments}
    assert named == set(MODELS)


def test_misses_are_few_and_say_what_breaks() -> None:
    missed = [row for row in rows(LESSON) if row.holds is False]
    assert {row.breaks for row in missed} >= {"topology", "latency", "communication"}
    assert len(missed) == 7 and all(row.breaks for row in missed)


def test_no_sealed_size_is_among_the_open_ones() -> None:
    """32, 64 and 128 ranks of the low-latency kernels are predicted before they are opened."""
    names = [row.what for row in rows(LESSON) if row.paper.name == "DeepEP 2025"]
    assert not [name for name in names if any(f"{n} ranks" in name for n in (32, 64, 128))]


def test_flop_of_a_step_are_those_of_active_products_and_attention() -> None:
    model = MODELS["Qwen3 30B-A3B"]
    router = model.layers * model.hidden * model.experts
    without = model.flop_per_token(0)
    assert without == 6 * (model.active(1) - router)
    # Causal scores and values: 2 s/2 products of 32 heads of 128 in each of 48 layers.
    assert model.flop_per_token(4096) - without == 6 * 48 * 32 * 128 * 4096


def test_parameters_are_those_of_modules_of_these_shapes() -> None:
    """A layer of GPT-OSS, module by module, as PyTorch counts it."""
    from torch import nn

    model = MODELS["GPT-OSS 120B"]
    expert = [nn.Linear(model.hidden, 2 * model.inner), nn.Linear(model.inner, model.hidden)]
    assert model.expert == sum(p.numel() for layer in expert for p in layer.parameters())
    a = model.attention
    heads = [
        nn.Linear(model.hidden, a.heads * 64, bias=False),
        nn.Linear(model.hidden, 2 * 8 * 64, bias=False),
        nn.Linear(a.heads * 64, model.hidden, bias=False),
    ]
    assert a.weights(model.hidden) == sum(p.numel() for layer in heads for p in layer.parameters())


def test_what_stays_at_home_is_counted_and_does_not_cross() -> None:
    assert models.logical_gb_per_s(50, 2) == 100
    measured = models.other_nodes_gb_per_s(90, 2, 4)
    assert measured * 3 / 4 == pytest.approx(90 / 2)


def test_floors_and_ceilings_hold() -> None:
    bounds = [row for row in rows(LESSON) if row.kind in (Kind.floor, Kind.ceiling)]
    assert len(bounds) == 13 and all(row.holds for row in bounds)
