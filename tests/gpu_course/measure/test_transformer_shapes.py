"""Counts of a transformer's shape against formulas that others wrote, and shapes that are none."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from gpu_course.errors import CourseError
from gpu_course.measure.llama_shapes import LLAMA_7B, LLAMAS
from gpu_course.measure.state_formulas import layer_parameters
from gpu_course.measure.transformer_shapes import Transformer, training_days, utilisation

GPT = Transformer(
    24, 2304, 24, vocabulary=51_200, positions=2048, tied=True, qkv_bias=True, bias=True
)


SIDES = [(24, 2304, 24), (1, 8, 2), (128, 25600, 8)]


@pytest.mark.parametrize(("layers", "hidden", "heads"), SIDES)
def test_a_gpt_is_what_the_formulas_of_megatron_say(layers: int, hidden: int, heads: int) -> None:
    """P = 12lh^2 (1 + 13/12h + (V + s)/12lh) and F = 96Bslh^2 (1 + s/6h + V/16lh), in integers."""
    gpt = replace(GPT, layers=layers, hidden=hidden, heads=heads)
    n, h, v, s, batch = layers, hidden, 51_200, 2048, 3
    last_norm = 2 * h  # which the paper leaves out
    assert gpt.parameters - last_norm == 12 * n * h * h + 13 * n * h + (v + s) * h
    step = 96 * batch * s * n * h * h + 16 * batch * n * h * s * s + 6 * batch * s * h * v
    assert gpt.training_flop(s, "layers")[1] * batch * s == step
    parts = gpt.parts()
    assert parts["attention"] + parts["MLP"] == layer_parameters(h, n)


@pytest.mark.parametrize("llama", [*LLAMAS.values(), LLAMA_7B])
def test_a_llama_is_the_sum_of_its_matrices(llama) -> None:
    inside = llama.layers * sum(rows * columns for rows, columns in llama.matrices)
    tables = 2 * llama.vocabulary * llama.hidden
    assert llama.in_matrices == inside
    assert llama.parameters == inside + tables + (2 * llama.layers + 1) * llama.hidden


def test_selective_recomputation_costs_what_korthikanti_says() -> None:
    """The two products of the scores are s / 6h of the others; a second forward pass a third."""
    gpt = Transformer(96, 12288, 96, vocabulary=1)
    forward = gpt.forward_flop(2048)
    weights = forward["attention"] + forward["MLP"]
    assert forward["scores"] / weights == pytest.approx(2048 / 6 / 12288)
    model, runs = gpt.training_flop(2048, "attention")
    assert runs - model == forward["scores"]


def test_a_token_goes_through_some_experts_and_all_tables() -> None:
    one = Transformer(2, 8, 2, mlp=16, gated=True, vocabulary=10)
    many = replace(one, experts=5, top_k=2)
    mlp = 2 * one.mlp_weights
    assert many.parameters == one.parameters + 4 * mlp + 2 * 5 * 8
    assert many.active == one.parameters + mlp + 2 * 5 * 8
    assert many.forward_flop(3)["MLP"] == 2 * one.forward_flop(3)["MLP"]
    assert many.forward_flop(3)["router"] == 2 * 2 * 5 * 8


def test_a_tied_head_has_no_parameters_and_is_multiplied_all_the_same() -> None:
    tied, loose = (Transformer(1, 8, 2, vocabulary=10, tied=each) for each in (True, False))
    assert loose.parameters - tied.parameters == 80
    assert tied.forward_flop(4) == loose.forward_flop(4)


@pytest.mark.parametrize(
    ("odd", "words"),
    [
        ({"heads": 5}, "5 heads do not divide 2304 hidden numbers"),
        ({"kv_heads": 7}, "7 KV heads do not divide 24 heads"),
        ({"kv_heads": 48}, "48 KV heads do not divide 24 heads"),
        ({"layers": 0}, "layers is 0"),
        ({"layers": -1}, "layers is -1"),
        ({"layers": math.nan}, "layers is nan"),
        ({"layers": True}, "layers is True"),
        ({"hidden": 2304.0}, "hidden is 2304.0"),
        ({"experts": 4, "top_k": 5}, "goes through 5 of 4 experts"),
        ({"experts": 4}, "goes through 0 of 4 experts"),
        ({"top_k": 1}, "goes through 1 of 0 experts"),
        ({"norm": "batch"}, "no norm is called 'batch'"),
    ],
)
def test_a_shape_that_is_none_is_told(odd, words: str) -> None:
    with pytest.raises(CourseError, match=words):
        replace(GPT, **odd)


def test_a_config_is_read_by_its_names() -> None:
    config = {"layers": 1, "hidden": 8, "heads": 2}
    assert Transformer.of(config) == Transformer(1, 8, 2)
    with pytest.raises(CourseError, match="no shape has n_layer"):
        Transformer.of(config | {"n_layer": 3})
    with pytest.raises(CourseError, match="heads is missing"):
        Transformer.of({"layers": 1, "hidden": 8})


@pytest.mark.parametrize("sequence", [0, -1, 2.5, math.nan, True])
def test_a_sequence_has_tokens(sequence) -> None:
    with pytest.raises(CourseError, match="a sequence"):
        GPT.forward_flop(sequence)


def test_what_runs_again_has_a_name() -> None:
    with pytest.raises(CourseError, match="nothing is known of 'all'"):
        GPT.training_flop(8, "all")


@pytest.mark.parametrize(
    ("name", "value"),
    [("flop_per_token", math.nan), ("tokens_per_s", -1.0), ("tokens_per_s", math.inf),
     ("chips", 0), ("peak", 0.0), ("peak", -1.0), ("peak", math.nan)],
)  # fmt: skip
def test_a_share_of_no_peak_is_told(name: str, value: float) -> None:
    given = {"flop_per_token": 1.0, "tokens_per_s": 1.0, "chips": 1, "peak": 1.0}
    assert utilisation(**given) == 1.0
    with pytest.raises(CourseError, match=name):
        utilisation(**{**given, name: value})


def test_a_run_takes_its_flop_over_its_rate() -> None:
    assert training_days(86_400.0, 10, 5, 1.0) == 2.0
    assert utilisation(1.0, 0.0, 1, 1.0) == 0.0
    with pytest.raises(CourseError, match="chips"):
        training_days(1.0, 1.0, 0, 1.0)
