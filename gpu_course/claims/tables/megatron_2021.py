"""Sizes, rates and days of the runs in Narayanan et al. 2021."""

from __future__ import annotations

from gpu_course.claims.models import model
from gpu_course.hardware.datasheet import device
from gpu_course.measure.transformer_shapes import Transformer, training_days
from gpu_course.units import GIGA, PETA, TERA

SEQUENCE, VOCABULARY = 2048, 51_200


def gpt_of(layers: float, hidden: float, heads: float = 1) -> Transformer:
    """Returns a GPT of the paper; how its width is cut into heads changes no count."""
    return Transformer(
        int(layers),
        int(hidden),
        int(heads),
        vocabulary=VOCABULARY,
        positions=SEQUENCE,
        tied=True,
        qkv_bias=True,
        bias=True,
    )


@model()
def gpt_billions(layers: float, hidden: float, heads: float) -> float:
    """Returns the parameters in 10^9."""
    return gpt_of(layers, hidden, heads).parameters / GIGA


@model()
def percent_of_a100(teraflops: float) -> float:
    """Returns a rate in percent of what an A100's tensor cores do by the data sheet."""
    peak = device("A100").tensor_flop_per_s
    assert peak is not None
    return 100 * teraflops * TERA / peak


@model()
def aggregate_petaflops(teraflops: float, gpus: float) -> float:
    """Returns what all GPUs do together, in PFLOP/s."""
    return teraflops * TERA * gpus / PETA


@model()
def training_days_of(
    gpus: float, teraflops: float, billion_tokens: float, layers: float, hidden: float
) -> float:
    """Returns the days of a training run whose layers run forward twice."""
    machine = gpt_of(layers, hidden).training_flop(SEQUENCE, "layers")[1]
    return training_days(machine, billion_tokens * GIGA, int(gpus), teraflops * TERA)


@model()
def short_days(
    billion_parameters: float, billion_tokens: float, gpus: float, teraflops: float
) -> float:
    """Returns the days by 8TP / nX."""
    flop = 8 * billion_parameters * GIGA
    return training_days(flop, billion_tokens * GIGA, int(gpus), teraflops * TERA)
