"""Activations of large transformers: figures 1 and 7 of Korthikanti et al. 2022."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from gpu_course.claims.models import model
from gpu_course.measure.activation_formulas import (
    LayerShape,
    first_stage_activation_bytes,
    layer_activation_bytes,
)
from gpu_course.measure.state_formulas import MEGATRON_ADAM, layer_parameters, state_bytes
from gpu_course.units import GIB


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

TECHNIQUES: Mapping[str, Mapping[str, Any]] = {
    "none": {},
    "sequence": {"sequence_parallel": True},
    "selective": {"recompute": "selective"},
    "sequence + selective": {"sequence_parallel": True, "recompute": "selective"},
    "full": {"recompute": "full"},
}


def layer_bytes(run: Run, technique: Mapping[str, Any]) -> float:
    """Returns the bytes a layer of this run keeps on one rank under one of TECHNIQUES."""
    return layer_activation_bytes(run.shape, tensor_parallel=run.tensor, **technique)


@model(run=TABLE_3, technique=TECHNIQUES)
def percent_of_baseline(run: Run, technique: Mapping[str, Any]) -> float:
    """Returns what a layer keeps in percent of what tensor parallelism alone keeps."""
    return 100 * layer_bytes(run, technique) / layer_bytes(run, TECHNIQUES["none"])


@model(run=TABLE_3)
def states_gib(run: Run) -> float:
    """Returns GiB of parameters, gradients and optimizer states on one GPU."""
    shared = layer_parameters(run.shape.hidden, run.layers) / (run.tensor * run.pipeline)
    return state_bytes(shared, MEGATRON_ADAM) / GIB


@model(run=TABLE_3, technique=TECHNIQUES)
def activations_gib(run: Run, technique: Mapping[str, Any]) -> float:
    """Returns GiB of activations on a GPU of the first stage."""
    stage = first_stage_activation_bytes(
        layer_bytes(run, technique), run.layers, pipeline=run.pipeline, interleave=run.interleave
    )
    return stage / GIB
