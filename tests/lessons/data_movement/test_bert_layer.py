"""The operators of a layer: products have the FLOP of the formula, and shares add up."""

from __future__ import annotations

import pytest

from gpu_course.hardware.cards import device
from gpu_course.lessons.data_movement.bert_layer import (
    BATCH,
    BERT_LARGE,
    CLASSES,
    SEQUENCE,
    Operator,
    byte_shares,
    floor_shares,
    flop_shares,
    training_step,
)
from gpu_course.lessons.data_movement.operations import CONTRACTION, MAP, ROW
from gpu_course.measure.transformer_shapes import Transformer

SMALL = Transformer(layers=1, hidden=48, heads=4, mlp=160, vocabulary=10)


@pytest.mark.parametrize(("model", "batch", "tokens"), [(BERT_LARGE, 8, 512), (SMALL, 3, 20)])
def test_products_have_the_flop_of_the_formula(model, batch, tokens) -> None:
    found = sum(x.flop for x in training_step(model, batch, tokens) if x.kind == CONTRACTION)
    forward = model.forward_flop(tokens)
    whole = model.training_flop(tokens)[0] - 3 * forward["head"]
    assert found == batch * tokens * whole


def test_what_the_paper_says_of_single_operators() -> None:
    """In section 4 of Ivanov 2020: 43 GFLOP of attention, 29 MFLOP of a norm, 4 of a dropout."""
    step = {each.name: each for each in training_step()}
    attention = ("qkv", "scores", "values", "projection")
    assert round(sum(step[name].flop for name in attention) / 1e9) == 43
    assert round(step["attention norm"].flop / 1e6) == 29
    assert round(step["attention dropout"].flop / 1e6) == 4
    assert round(step["MLP residual"].flop / 1e6) == 4
    assert len(step) == len(training_step()), "no two operators have one name"


def test_shares_are_per_cent_of_all_classes() -> None:
    step = training_step()
    for found in (flop_shares(step), byte_shares(step), floor_shares(step, device("V100"))):
        assert list(found) == list(CLASSES)
        assert sum(found.values()) == pytest.approx(100)
    assert flop_shares(step)[CONTRACTION] > 99.7 > 50 > byte_shares(step)[CONTRACTION]


def test_a_product_waits_for_flop_and_a_map_for_bytes() -> None:
    card = device("V100")
    assert card.tensor_flop_per_s is not None and card.bandwidth_bytes_per_s is not None
    product = Operator("product", CONTRACTION, 10**12, 10**6)
    assert product.floor_s(card) == 10**12 / card.tensor_flop_per_s
    assert Operator("bias", MAP, 10, 10**9).floor_s(card) == 10**9 / card.bandwidth_bytes_per_s


def test_each_product_goes_back_twice_and_each_mask_is_a_byte() -> None:
    step = training_step()
    forward = [x for x in step if x.kind == CONTRACTION and "factor" not in x.name]
    assert len(forward) == 6 and len([x for x in step if "factor" in x.name]) == 12
    (dropped,) = (x for x in step if x.name == "scores dropout, dX")
    scores = BATCH * BERT_LARGE.heads * SEQUENCE**2
    assert dropped.moved_bytes == 5 * scores
    assert {x.kind for x in step} == {CONTRACTION, ROW, MAP}
