"""ZeRO-3 against cut layers: from how many GPUs on the weights take longer to arrive than to use.

Each GPU of ZeRO-3 receives all weights twice and hands out all gradients once in a step: three
times 2 bytes for each parameter. It computes 8 FLOP for each parameter and token of its part of the
batch, recomputation included. So the parameters cancel out: which is longer depends on the tokens
of a step, the GPUs, the network and the GPU.
"""

from __future__ import annotations

from gpu_course.units import GB, TERA

FLOP_PER_PARAMETER = 8
"""Per token: two forward, two recomputed, four backward."""

WEIGHT_PASSES = 3
BF16_BYTES = 2


def crossover_gpus(tokens: float, teraflops: float, gb_per_s: float) -> float:
    """Returns from how many GPUs on a step of ZeRO-3 waits for its weights, all else hidden.

    Args:
        tokens: of a step, over all GPUs.
        teraflops: what a GPU does where it waits for nothing.
        gb_per_s: that reach a GPU.

    >>> round(crossover_gpus(1536 * 2048, 153, 25))
    685
    """
    arrives_s = WEIGHT_PASSES * BF16_BYTES / (gb_per_s * GB)
    computes_s = FLOP_PER_PARAMETER * tokens / (teraflops * TERA)
    return computes_s / arrives_s


def zero_3_teraflops(gpus: float, tokens: float, teraflops: float, gb_per_s: float) -> float:
    """Returns TFLOP/s per GPU of ZeRO-3, where what takes longer hides the other.

    Args:
        gpus: how many share the model and the batch.
        tokens, teraflops, gb_per_s: as in `crossover_gpus`.
    """
    return teraflops * min(1, crossover_gpus(tokens, teraflops, gb_per_s) / gpus)
