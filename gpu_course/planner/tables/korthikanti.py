"""Activations of large transformers: figures 1 and 7 of Korthikanti et al. 2022."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial

from gpu_course.planner.published import Kind, Paper, Row
from gpu_course.training.activation_formulas import (
    LayerShape,
    first_stage_activation_bytes,
    layer_activation_bytes,
)
from gpu_course.training.state_formulas import MEGATRON_ADAM, layer_parameters, state_bytes
from gpu_course.units import GIB

PAPER = Paper(
    "Korthikanti 2022",
    "Reducing Activation Recomputation in Large Transformer Models",
    "https://arxiv.org/abs/2205.05198",
)
LESSONS = ("16_memory_ledger",)


@dataclass(frozen=True)
class Run:
    """One column of the paper's Table 3.

    Attributes:
        shape: of a layer and its microbatch.
        layers: of the model.
        tensor, pipeline: ranks that share a layer, and stages.
        interleave: chunks of layers per stage.
    """

    shape: LayerShape
    layers: int
    tensor: int
    pipeline: int
    interleave: int = 1


TABLE_3 = {
    "22B": Run(LayerShape(2048, 4, 6144, 64), 48, 8, 1),
    "175B": Run(LayerShape(2048, 1, 12288, 96), 96, 8, 8, interleave=3),
    "530B": Run(LayerShape(2048, 1, 20480, 128), 105, 8, 35, interleave=3),
    "1T": Run(LayerShape(2048, 1, 25600, 160), 128, 8, 64),
}

# Percent of what tensor parallelism alone keeps, in the order of TABLE_3. The figure is a bar
# chart; its digits are those that the calculon project validates itself against
# (github.com/calculon-ai/calculon, validation.py).
FIGURE_7 = {
    "sequence": ("66.84", "62.04", "58.31", "58.31"),
    "selective": ("49.42", "56.53", "62.04", "62.04"),
    "sequence + selective": ("16.18", "18.49", "20.27", "20.27"),
    "full": ("7.64", "8.71", "9.42", "9.42"),
}
_TECHNIQUES: Mapping[str, Mapping[str, object]] = {
    "none": {},
    "sequence": {"sequence_parallel": True},
    "selective": {"recompute": "selective"},
    "sequence + selective": {"sequence_parallel": True, "recompute": "selective"},
    "full": {"recompute": "full"},
}

# GiB on one GPU: parameters and optimizer; activations as they are; activations with sequence
# parallelism and selective recomputation. Digits from the same file.
FIGURE_1 = {
    "22B": ("45.56", "59.25", "9.56"),
    "175B": ("45.56", "66.84", "12.35"),
    "530B": ("31.64", "114.02", "23.08"),
    "1T": ("32.96", "131.25", "26.56"),
}


def layer_bytes(run: Run, technique: str) -> float:
    """Returns the bytes a layer of this run keeps on one rank under a technique of Figure 7."""
    return layer_activation_bytes(
        run.shape,
        tensor_parallel=run.tensor,
        **_TECHNIQUES[technique],  # type: ignore[arg-type]
    )


def percent_of_baseline(run: Run, technique: str) -> float:
    """Returns what a layer keeps in percent of what tensor parallelism alone keeps."""
    return 100 * layer_bytes(run, technique) / layer_bytes(run, "none")


def states_gib(run: Run) -> float:
    """Returns GiB of parameters, gradients and optimizer states on one GPU."""
    shared = layer_parameters(run.shape.hidden, run.layers) / (run.tensor * run.pipeline)
    return state_bytes(shared, MEGATRON_ADAM) / GIB


def activations_gib(run: Run, technique: str) -> float:
    """Returns GiB of activations on a GPU of the first stage."""
    stage = first_stage_activation_bytes(
        layer_bytes(run, technique), run.layers, pipeline=run.pipeline, interleave=run.interleave
    )
    return stage / GIB


PIXEL_PERCENT = 100 / 562.5
"""A pixel of the bars, whose full height is 562.5 of them."""
_BARS = (
    "The paper shows bars; the digits are those the calculon project holds itself against. All are "
    "whole steps of 100 / 562.5 = 0.178 points: they were read off a drawing, pixel by pixel. A "
    "bar has two ends, each read to half a pixel, so a reading may be a pixel off. Layers alone: "
    "embedding and logits are left out, by the source and here."
)
_COMPUTED = (
    "The paper shows bars; the digits are calculon's, and there they are exact binary fractions "
    "such as 23.076171875: worked out from the same formulas, neither read off nor measured. That "
    "all agree says that both of us read the formulas alike. Layers alone, there and here: "
    "embedding, head and logits are left out."
)

ROWS = (
    *(
        Row(
            PAPER,
            "Figure 7",
            f"{model}, {technique}",
            digits[number],
            "%",
            partial(percent_of_baseline, TABLE_3[model], technique),
            "bytes per layer by Table 2, over those of tensor parallelism alone",
            LESSONS,
            Kind.formula,
            inputs_rounding=lambda: PIXEL_PERCENT,
            note=_BARS,
        )
        for technique, digits in FIGURE_7.items()
        for number, model in enumerate(TABLE_3)
    ),
    *(
        Row(
            PAPER,
            "Figure 1",
            f"{model}, {what}",
            digits[number],
            "GiB",
            compute,
            how,
            LESSONS,
            Kind.formula,
            note=_COMPUTED,
        )
        for model, digits in FIGURE_1.items()
        for number, (what, compute, how) in enumerate(
            (
                (
                    "parameters and optimizer",
                    partial(states_gib, TABLE_3[model]),
                    "18 bytes for each of 12Lh^2 parameters, shared by all GPUs of a replica",
                ),
                (
                    "activations",
                    partial(activations_gib, TABLE_3[model], "none"),
                    "layers of the model at 10 + 24/t + 5as/ht, times the interleaving's share",
                ),
                (
                    "sequence + selective",
                    partial(activations_gib, TABLE_3[model], "sequence + selective"),
                    "layers of the model at 34/t, times the interleaving's share",
                ),
            )
        )
    ),
)
