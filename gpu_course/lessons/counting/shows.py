"""What lesson 11 shows: shapes as areas, tables of counts, and a run of one's own machine."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from gpu_course.errors import CourseError
from gpu_course.lessons.counting.configs import LITGPT
from gpu_course.lessons.counting.foundry import Run, runs
from gpu_course.lessons.counting.pictures import (
    Curve,
    Point,
    draw_areas,
    draw_ratio,
    draw_utilisation,
)
from gpu_course.lessons.counting.this_cpu import Tried
from gpu_course.measure.transformer_shapes import Transformer
from gpu_course.notebook.note import telling
from gpu_course.notebook.pictures import Picture
from gpu_course.units import format_flops

CARDS = ("H100", "A100 80 GB", "A100 40 GB")
SEQUENCES = tuple(1 << n for n in range(7, 18))


def parts_shown(shape: Transformer) -> dict[str, int]:
    """Returns the parameters of a shape in the parts that a picture shows."""
    parts = shape.parts()
    used = shape.parts(active=True)["MLP"]
    return {
        "MLP": used,
        "other experts": parts["MLP"] - used,
        "attention": parts["attention"],
        "tables": parts["embedding"] + parts["positions"],
        "head": parts["head"],
        "rest": parts["biases"] + parts["norms"] + parts["router"],
    }


def flop_shown(shape: Transformer, sequence: int) -> dict[str, int]:
    """Returns the FLOP of a forward pass for a token in the parts that a picture shows."""
    flop = shape.forward_flop(sequence)
    return {
        "MLP": flop["MLP"],
        "attention": flop["attention"],
        "pairs of tokens": flop["scores"],
        "head": flop["head"],
        "rest": flop["router"],
    }


@telling
def areas_of(name: str, shape: Transformer | Mapping[str, Any], sequence: int) -> Picture:
    """Returns where a model's parameters sit, and where its FLOP, as areas side by side.

    Args:
        name: of the model.
        shape: or plain values by their names, such as layers=12.
        sequence: tokens in a sequence.
    """
    found = shape if isinstance(shape, Transformer) else Transformer.of(shape)
    words = f"{name}, {sequence:,} tokens"
    return Picture(draw_areas(words, parts_shown(found), flop_shown(found, sequence)))


def over_six_n(shape: Transformer, sequence: int) -> float:
    """Returns the FLOP of training, over six for each parameter that a token goes through."""
    return shape.training_flop(sequence)[0] / (6 * shape.active)


def ratios(models: Mapping[str, Transformer]) -> Picture:
    """Returns how many times 6N the FLOP of a token are, for sequences up to 131,072 tokens."""
    curves = [
        Curve(name, SEQUENCES, tuple(over_six_n(shape, n) for n in SEQUENCES))
        for name, shape in models.items()
    ]
    return Picture(draw_ratio(curves))


def picked(model: str, card: str = "H100", gpus: int = 8, precision: str = "bf16") -> list[Run]:
    """Returns the rows of MosaicML's table for a model on a machine."""
    return [
        row
        for row in runs()
        if (row.model, row.card, row.gpus, row.precision) == (model, card, gpus, precision)
    ]


@telling
def utilisation_of(model: str, card: str = "H100") -> Picture:
    """Returns MFU and HFU of an MPT model on eight GPUs, worked out from tokens per second.

    Args:
        model: such as "7b".
        card: "H100", "A100 80 GB" or "A100 40 GB".

    Raises:
        CourseError: the table has no run of that model on that card; a Note in a notebook.
    """
    if not picked(model, card):
        there = [each for each in CARDS if picked(model, each)]
        raise CourseError(
            f"MosaicML's table has no run of MPT {model} on 8 {card}",
            f"choose {' or '.join(there)}" if there else "choose a model such as 7b",
        )
    points = [Point(row.sequence, row.mfu(), row.hfu()) for row in picked(model, card)]
    return Picture(draw_utilisation(f"MPT {model} on 8 {card}", points))


def count_table(models: Mapping[str, Transformer] = LITGPT) -> str:
    """Returns parameters of models as a table: all, those that a token meets, and GQA."""
    rows = [f"{'':16}{'parameters':>17}{'a token meets':>17}{'heads':>7}{'KV':>4}  {'head'}"]
    for name, shape in models.items():
        head = "tied" if shape.tied else "own"
        counts = f"{shape.parameters:>17,}{shape.active:>17,}"
        heads = f"{shape.heads:>7}{shape.kv_heads or shape.heads:>4}"
        rows.append(f"{name:16}{counts}{heads}  {head}")
    return "\n".join(rows)


def flop_text(counts: Iterable[tuple[str, float]]) -> str:
    """Returns FLOP of several things below each other."""
    return "\n".join(f"{name:<42}{format_flops(flop):>14}" for name, flop in counts)


def tried_text(tried: Tried) -> str:
    """Returns a run of this machine as lines: tokens, FLOP, its best product, and the share."""
    return "\n".join(
        (
            f"{'tokens per second':<34}{tried.tokens_per_s:>12,.0f}",
            f"{'FLOP for each token':<34}{format_flops(tried.flop_per_token):>12}",
            f"{'the model, per second':<34}{format_flops(tried.model_flop_per_s):>12}",
            f"{'a large product, per second':<34}{format_flops(tried.matmul_flop_per_s):>12}",
            f"{'MFU against that product':<34}{tried.mfu:>12.0%}",
        )
    )
