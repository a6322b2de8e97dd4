"""A LLaMA on one card: counted without memory as with it, and every term by hand."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch
from torch import nn
from torch.nn import functional

from gpu_course.lessons.smaller_states.galore_formulas import adam_numbers, galore_numbers
from gpu_course.lessons.smaller_states.one_card import by_kind, on_one_card
from gpu_course.measure.llama import TOKENS, End, Layer, kept_per_token, rotated
from gpu_course.measure.llama_shapes import Llama
from gpu_course.measure.saved import saved_bytes

SMALL = Llama(hidden=256, mlp=640, layers=3, vocabulary=300)


def sizes(*args: object, **kwargs: object) -> dict[str, int]:
    terms = on_one_card(*args, **kwargs)  # type: ignore[arg-type]
    return {term.name: term.bytes for term in terms}


def test_layers_without_memory_keep_what_real_ones_keep() -> None:
    for tokens in (TOKENS, 3 * TOKENS):
        x = torch.zeros(1, tokens, 256, dtype=torch.bfloat16, requires_grad=True)
        layer, end = Layer(256, 640, 2), End(256, 300)
        real = saved_bytes(layer, x) // tokens, saved_bytes(end, x) // tokens
        assert kept_per_token(SMALL) == real


def test_a_layer_is_causal_and_a_turn_keeps_lengths() -> None:
    torch.manual_seed(0)
    layer = Layer(16, 40, 2, dtype=torch.float64)
    x = torch.randn(1, 6, 16, dtype=torch.float64)
    other = x.clone()
    other[:, 4:] += 1
    assert torch.allclose(layer(x)[:, :4], layer(other)[:, :4])
    assert not torch.allclose(layer(x)[:, 4:], layer(other)[:, 4:])
    heads = x.view(1, 6, 2, 8).transpose(1, 2)
    assert torch.allclose(rotated(heads).norm(dim=-1), heads.norm(dim=-1), rtol=1e-6)
    # What two places say to each other depends on how far apart they are, and on nothing else.
    same = heads[:, :, :1].expand(-1, -1, 6, -1)
    products = rotated(same) @ rotated(same).mT
    assert torch.allclose(products[..., 0, 2], products[..., 3, 5], rtol=1e-6)


def test_the_end_is_the_loss_of_its_logits() -> None:
    end, x = End(8, 5, dtype=torch.float32), torch.randn(1, 3, 8)
    logits = end.head(end.norm(x))[0]
    assert torch.allclose(end(x), functional.cross_entropy(logits, torch.zeros(3).long()))


def test_every_term_by_hand() -> None:
    layer, end = kept_per_token(SMALL)
    galore = galore_numbers(SMALL, 8)
    assert sizes(SMALL, 8, 100) == {
        "parameters": 2 * SMALL.parameters,
        "moments": galore.moments,
        "scales of the moments": 4 * galore.moments // 256,
        "bases": 2 * galore.bases,
        "gradients": 2 * 256 * 640,
        "of the layers": 100 * 3 * layer,
        "of logits and loss": 100 * end,
        "a decomposition, float32": 4 * (256 * 640 + 256 * 256 + 256 + 256 * 640),
    }


@pytest.mark.parametrize(
    ("switch", "term", "value"),
    [
        ({"eight_bits": False}, "moments", 2 * galore_numbers(SMALL, 8).moments),
        ({"one_gradient": False}, "gradients", 2 * SMALL.parameters),
        (
            {"checkpointed": True},
            "of the layers",
            100 * (3 * 2 * 256 + kept_per_token(SMALL)[0]),
        ),
    ],
)
def test_each_switch_moves_its_term(switch: dict, term: str, value: int) -> None:
    changed, plain = sizes(SMALL, 8, 100, **switch), sizes(SMALL, 8, 100)
    assert changed[term] == value != plain[term]
    kept = {name for name in changed if changed[name] == plain[name]}
    assert kept >= set(changed) - {term}


def test_plain_adam_has_no_bases_and_decomposes_nothing() -> None:
    kinds = by_kind(on_one_card(SMALL, None, 100, eight_bits=False, one_gradient=False))
    assert kinds["optimizer states"] == 2 * adam_numbers(SMALL).all == 2 * kinds["parameters"]
    assert kinds["gradients"] == kinds["parameters"] and "temporaries" not in kinds


def test_a_tied_table_is_counted_once_and_the_logits_stay() -> None:
    tied = replace(SMALL, tied=True)
    embedding, end = nn.Embedding(300, 256), End(256, 300)
    end.head.weight = embedding.weight
    layers = [Layer(256, 640, 2) for _ in range(3)]
    model = nn.ModuleList([embedding, *layers, end])
    assert tied.parameters == sum(p.numel() for p in model.parameters())
    two, one = sizes(SMALL, None, 100, eight_bits=False), sizes(tied, None, 100, eight_bits=False)
    table = 300 * 256
    assert two["parameters"] - one["parameters"] == 2 * table
    assert two["moments"] - one["moments"] == 2 * 2 * table
    assert two["of logits and loss"] == one["of logits and loss"]
