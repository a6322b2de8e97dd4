"""What slices over ranks say of the memory and the volume that papers and projects print."""

from __future__ import annotations

from gpu_course.claims.models import model
from gpu_course.lessons.zero_and_fsdp.estimate import OFFLOAD, bytes_needed
from gpu_course.lessons.zero_and_fsdp.stage_bytes import bytes_of_stage
from gpu_course.measure.state_formulas import MIXED_ADAM, state_bytes
from gpu_course.units import GIB


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
    return parameters_b * sum(bytes_of_stage(stage, ranks).values())


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
    """Returns the GiB of weights, gradients and states, all cut over the ranks."""
    return 1e9 * state_bytes(parameters_b, MIXED_ADAM) / ranks / GIB


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
_PLACES = {name: number for number, name in enumerate(OFFLOAD)}
GPUS = 8
"""Of the node that DeepSpeed's tables are for."""


@model(stage=_OF, offload=_PLACES)
def deepspeed_gpu_gib(stage: int, offload: int, parameters_m: float, largest_m: float) -> float:
    """Returns the GiB of a GPU by DeepSpeed's rules, on one node of 8, as it prints them.

    Args:
        stage: of ZeRO.
        offload: 0 for nothing, 1 for the states, 2 for the weights as well.
        parameters_m: millions.
        largest_m: millions, of the largest layer.

    Source: DeepSpeed at edaa722, stage_1_and_2.py and stage3.py.
    """
    return _by_deepspeed(stage, offload, parameters_m, largest_m)[1] / GIB


@model(stage=_OF, offload=_PLACES)
def deepspeed_host_gib(stage: int, offload: int, parameters_m: float, largest_m: float) -> float:
    """Returns the GiB of the host by DeepSpeed's rules, on one node of 8, zero.Init in stage 3.

    Args:
        stage, offload, parameters_m, largest_m: as for deepspeed_gpu_gib.
    """
    return _by_deepspeed(stage, offload, parameters_m, largest_m)[0] / GIB


def _by_deepspeed(
    stage: int, offload: int, parameters_m: float, largest_m: float
) -> tuple[int, int]:
    parameters, largest = (round(1e6 * millions) for millions in (parameters_m, largest_m))
    return bytes_needed(stage, parameters, largest, GPUS, 1, OFFLOAD[int(offload)])


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
