"""The course's GPT that runs under every axis, as the planner sees it.

What the planner says of large runs, it says of this one too, and this one can be run on a laptop's
ranks and counted: `measure.every_axis.run` returns the bytes that each rank holds.
"""

from __future__ import annotations

from gpu_course.measure.every_axis.configuration import Configuration, Shape
from gpu_course.measure.state_formulas import Recipe
from gpu_course.measure.transformer_shapes import Transformer
from gpu_course.planner.layout import Batch, Layout
from gpu_course.planner.traffic import Wire

FLOAT64_ADAM = Recipe("float64, Adam", weight=8, gradient=8, accumulator=0, master=0, moments=16)
"""What its step holds of each parameter."""


WIRE = Wire(
    element_bytes=8, gradient_bytes=8, copies=Shape().experts, routed_cut=False, separate=True
)
"""How it writes on the wire: each expert has room for every token, and each weight is gathered in a
call of its own."""


def model_of(shape: Shape) -> Transformer:
    """Returns its shape, with experts and a learned table of positions.

    >>> model_of(Shape()).parameters
    5840
    """
    return Transformer(
        layers=shape.layers,
        hidden=shape.hidden,
        heads=shape.heads,
        mlp=shape.inside,
        experts=shape.experts,
        top_k=shape.top_k,
        vocabulary=shape.vocabulary,
        positions=shape.sequence,
        tied=True,
        norm="rms",
    )


def layout_of(configuration: Configuration, shape: Shape) -> Layout:
    """Returns its layout: expert ranks have their own sequences, so they are data-parallel ranks.

    Its ZeRO-3 cuts over dp alone, and the planner's over dp x cp: they are the same where cp and ep
    are 1.

    >>> layout_of(Configuration.read("dp=2 ep=2"), Shape()).dp
    4
    """
    dp = configuration.dp * configuration.ep
    return Layout(
        dp=dp,
        tp=configuration.tp,
        pp=configuration.pp,
        cp=configuration.cp,
        ep=configuration.ep,
        zero=3 if configuration.zero3 else 0,
        sequence_parallel=configuration.sp,
        keep_gathered=True,
        microbatch=shape.batch // (dp * shape.microbatches),
        recipe=FLOAT64_ADAM,
        flash=False,
        cut_tables=False,
    )


def batch_of(shape: Shape) -> Batch:
    """Returns what a step of it trains on."""
    return Batch(shape.batch, shape.sequence)
