"""A real layer against the formula: every term, every byte, for many shapes."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from gpu_course.errors import CourseError
from gpu_course.lessons.memory_ledger.formulas import beyond_the_formula
from gpu_course.lessons.memory_ledger.gap import (
    CAUSAL_MASK,
    LOG_SUMS,
    STATISTICS,
    Line,
    as_text,
    explain,
    kept_bytes,
    paper_bytes,
    ratio,
)
from gpu_course.measure.activation_formulas import (
    LayerShape,
    layer_activation_bytes,
    layer_terms,
)
from gpu_course.measure.model import Layer
from gpu_course.measure.peak import measure_peak
from gpu_course.measure.saved import saved_bytes
from tests.sampling import examples

DTYPES = {2: torch.bfloat16, 4: torch.float32}


@st.composite
def shapes(draw: st.DrawFn) -> LayerShape:
    heads = draw(st.integers(1, 5))
    return LayerShape(
        draw(st.integers(2, 24)), draw(st.integers(1, 4)), heads * draw(st.integers(1, 6)), heads
    )


@settings(max_examples=examples(60, few=15), deadline=None)
@given(shapes(), st.sampled_from([2, 4]), st.booleans())
def test_each_term_is_the_papers_and_each_difference_has_its_formula(shape, width, wide) -> None:
    layer = Layer(shape.hidden, shape.heads, softmax_float32=wide).to(DTYPES[width])
    lines = {line.name: line for line in explain(layer, shape)}
    n, scores = shape.sbh, shape.scores
    kept = {  # written out once more, number by number
        "inputs of both layer norms": 2 * width * n,
        "input of the Q, K, V products": width * n,
        "Q and K": 2 * width * n,
        "softmax output": (4 if wide else width) * scores,
        "softmax dropout mask": width * scores,
        "softmax dropout output": width * scores,
        "V": width * n,
        "input of the output product": width * n,
        "attention output dropout mask": width * n,
        "input of the first product": width * n,
        "input of GELU": 4 * width * n,
        "input of the second product": 4 * width * n,
        "mlp output dropout mask": width * n,
        STATISTICS: 4 * width * shape.sequence * shape.batch,
        CAUSAL_MASK: shape.sequence**2,
    }
    assert {name: line.kept_bytes for name, line in lines.items()} == kept
    gap = sum(line.difference for line in lines.values())
    assert gap == sum(beyond_the_formula(shape, width, 4 if wide else width).values())
    assert all(line.why for line in lines.values() if line.difference)


@pytest.mark.parametrize("width", [2, 4])
@pytest.mark.parametrize("fused", [False, True])
def test_the_lines_add_up_to_what_the_hooks_and_the_allocator_count(width, fused) -> None:
    shape = LayerShape(sequence=12, batch=3, hidden=20, heads=4)
    layer = Layer(20, 4, fused=fused).to(DTYPES[width])
    x = torch.randn(3, 12, 20, dtype=DTYPES[width], requires_grad=True)
    lines = explain(layer, shape)
    assert kept_bytes(lines) == saved_bytes(layer, x)
    left = measure_peak(lambda: layer(x)).left_bytes
    batch = output = width * shape.sbh
    # Dividing the scores by a Python number keeps that number, 8 bytes, and no hook is shown it.
    assert left == kept_bytes(lines) - batch + output + (0 if fused else 8)


def test_the_papers_own_sum() -> None:
    for s, b, h, a in ((2048, 4, 6144, 64), (2048, 1, 12288, 96), (64, 2, 64, 4)):
        shape = LayerShape(s, b, h, a)
        assert sum(t.bytes for t in layer_terms(shape)) == 34 * s * b * h + 5 * a * s * s * b


def test_the_known_ratios() -> None:
    """1.09 to 1.16 for shapes that people train, in bfloat16."""
    few = LayerShape(sequence=1024, batch=1, hidden=2048, heads=4)
    many = LayerShape(sequence=2048, batch=1, hidden=12288, heads=96)
    for shape, expected in ((few, 1.09), (many, 1.16)):
        counted = sum(term.bytes for term in layer_terms(shape))
        assert 1 + sum(beyond_the_formula(shape).values()) / counted == pytest.approx(
            expected, abs=0.015
        )


def test_fused_attention_keeps_no_scores() -> None:
    shape = LayerShape(sequence=32, batch=2, hidden=24, heads=3)
    lines = {line.name: line for line in explain(Layer(24, 3, fused=True), shape)}
    assert [name for name in lines if name.startswith("softmax") and lines[name].kept_bytes] == []
    assert lines[LOG_SUMS].kept_bytes == 2 * 32 * 3 * 4
    assert lines["Q and K"].difference == lines["V"].difference == 0


@pytest.mark.parametrize("change", ["evaluation", "no dropout"])
def test_what_it_does_not_know_it_refuses(change) -> None:
    layer = Layer(16, 2, dropout=0.0 if change == "no dropout" else 0.1)
    if change == "evaluation":
        layer.eval()
    with pytest.raises(CourseError, match="not what this explanation knows"):
        explain(layer, LayerShape(sequence=8, batch=2, hidden=16, heads=2))


def test_the_text_holds_every_line_and_the_sum() -> None:
    lines = explain(Layer(16, 2), LayerShape(sequence=8, batch=2, hidden=16, heads=2))
    text = as_text(lines)
    assert all(line.name in text for line in lines)
    assert f"{kept_bytes(lines):,}" in text and f"{paper_bytes(lines):,}" in text
    assert f"{ratio(lines):.4f} times the formula" in text


def test_the_bytes_of_a_large_layer_stand_apart() -> None:
    lines = (Line("V", 123_456_789_012, 1, "why"), Line("Q and K", 2, 3_000_000_000_000, "why"))
    told = [line.split()[-3:] for line in as_text(lines).splitlines()[1:4]]
    assert told == [
        ["123,456,789,012", "1", "-123,456,789,011"],
        ["2", "3,000,000,000,000", "+2,999,999,999,998"],
        ["123,456,789,014", "3,000,000,000,001", "+2,876,543,210,987"],
    ]


@pytest.mark.parametrize(
    ("options", "per_sbh"),
    [
        # Korthikanti Table 2, written out for t = 8 and 5as/h = 80.
        ({"tensor_parallel": 8}, 10 + 24 / 8 + 80 / 8),
        ({"tensor_parallel": 8, "sequence_parallel": True}, 34 / 8 + 80 / 8),
        ({"tensor_parallel": 8, "recompute": "selective"}, 10 + 24 / 8),
        ({"tensor_parallel": 8, "sequence_parallel": True, "recompute": "selective"}, 34 / 8),
        ({"tensor_parallel": 8, "recompute": "full"}, 2),
        ({}, 114),
    ],
)
def test_table_2(options, per_sbh) -> None:
    shape = LayerShape(sequence=2048, batch=1, hidden=12288, heads=96)
    assert layer_activation_bytes(shape, **options) == pytest.approx(shape.sbh * per_sbh)


def test_an_unknown_word_is_refused() -> None:
    with pytest.raises(ValueError, match="'some' is none of none, selective, full"):
        layer_activation_bytes(LayerShape(8, 1, 8, 1), recompute="some")
