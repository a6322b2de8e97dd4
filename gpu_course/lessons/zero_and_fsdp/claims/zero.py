"""What slices over ranks say of the memory and the volume that papers and projects print."""

from __future__ import annotations

from gpu_course.claims.models import model
from gpu_course.units import GIB

WEIGHT, GRADIENT, STATES = 2, 2, 12
"""Bytes of a parameter in mixed precision: 16 bits, 16 bits, and Adam's three in 32 bits."""


@model()
def zero_gb(parameters_b: float, ranks: float, stage: float) -> float:
    """Returns the GB of weights, gradients and states that a rank holds in a stage of ZeRO.

    Args:
        parameters_b: billions.
        ranks: how many share.
        stage: 0 to 3.

    Source: Rajbhandari and others 2019, ZeRO, section 3.1 and Figure 1.

    >>> [zero_gb(7.5, 64, stage) for stage in range(4)]
    [120.0, 31.40625, 16.640625, 1.875]
    """
    kinds = ((STATES, 1), (GRADIENT, 2), (WEIGHT, 3))
    return parameters_b * sum(
        size / ranks if stage >= cut_from else size for size, cut_from in kinds
    )


@model()
def volume_over_data_parallel(stage: float) -> float:
    """Returns how many times the bytes of data parallelism a rank sends in a stage, for many ranks.

    >>> [volume_over_data_parallel(stage) for stage in range(4)]
    [1.0, 1.0, 1.0, 1.5]
    """
    gathers = 2 if stage == 3 else 1
    return (1 + gathers) / 2


@model()
def sliced_states_gib(parameters_b: float, ranks: float) -> float:
    """Returns the GiB of 16 bytes for each parameter, cut over the ranks."""
    return 16e9 * parameters_b / ranks / GIB


@model()
def fsdp_gib(parameters_b: float, ranks: float, before: float, measured_gib: float) -> float:
    """Returns the GiB on more ranks, from a measurement on few: only what is cut gets less.

    Args:
        parameters_b: billions.
        ranks: for which the memory is asked.
        before: ranks on which it was measured.
        measured_gib: that measurement.

    >>> fsdp_gib(8.03, 8, 8, 82.4)
    82.4
    """
    return (
        measured_gib
        + sliced_states_gib(parameters_b, ranks)
        - sliced_states_gib(parameters_b, before)
    )


@model()
def tokens_as_before(measured: float) -> float:
    """Returns the same rate for each GPU: gathers hide behind the layers they are ahead of."""
    return measured


_OF = {"stage 2": 2, "stage 3": 3}
_OFFLOAD = {"nothing": 0, "optimizer": 1, "all": 2}


@model(stage=_OF, offload=_OFFLOAD)
def deepspeed_gpu_gib(stage: int, offload: int, parameters_m: float, largest_m: float) -> float:
    """Returns the GiB of a GPU by DeepSpeed's rules, on one node of 8.

    Args:
        stage: of ZeRO.
        offload: 0 for nothing, 1 for the states, 2 for the weights as well.
        parameters_m: millions.
        largest_m: millions, of the largest layer.

    Source: DeepSpeed at edaa722, stage_1_and_2.py and stage3.py.
    """
    cut = {0: 18, 1: 2, 2: 0}[offload] if stage == 3 else {0: 18, 1: 0}[offload]
    whole = 4 * largest_m if stage == 3 else 2 * parameters_m
    return 1e6 * (whole + cut * parameters_m / 8) / GIB


@model(stage=_OF, offload=_OFFLOAD)
def deepspeed_host_gib(stage: int, offload: int, parameters_m: float, largest_m: float) -> float:
    """Returns the GiB of the host by DeepSpeed's rules, on one node of 8, zero.Init in stage 3.

    Args:
        stage, offload, parameters_m, largest_m: as for deepspeed_gpu_gib.
    """
    copies = 4 * 8
    if stage == 2:
        held = max(copies, 16 if offload else 0) * parameters_m
    elif offload:
        held = {1: 16, 2: 18}[offload] * parameters_m
    else:
        held = copies * largest_m
    return 1.5e6 * held / GIB


@model()
def llama_mfu_percent(
    parameters_b: float,
    embeddings_b: float,
    layers: float,
    hidden: float,
    tokens: float,
    rate: float,
    peak_tflops: float,
) -> float:
    """Returns the percent of the peak that a rate of tokens comes to, embeddings left out.

    A token takes 6 FLOP for each parameter that multiplies, and 12 times layers, width and tokens
    for the scores and their sums, no half of them left out.

    Args:
        parameters_b, embeddings_b: billions; of them all, and of the embeddings.
        layers, hidden, tokens: the shape; tokens of a sequence.
        rate: tokens per second on each GPU.
        peak_tflops: of the GPU.

    Source: torchtitan, `get_num_flop_per_token`.
    """
    flop = 6e9 * (parameters_b - embeddings_b) + 12 * layers * hidden * tokens
    return 100 * rate * flop / (peak_tflops * 1e12)
