"""Rates of published runs from counts alone: FLOP of a token, tokens of a step, one rate or two."""

from __future__ import annotations

from gpu_course.claims.models import model
from gpu_course.measure.transformer_shapes import utilisation
from gpu_course.planner.known_runs import MODELS, gpt
from gpu_course.planner.layer_time import CAUSAL, FUSED_BACK
from gpu_course.planner.programs import MEGATRON_CORE_FP8

_NAMED = {name: name for name in MODELS}


def _flop(name: str, sequence: int, pairs: float) -> float:
    """FLOP of a token in training, with so much of all pairs of tokens counted."""
    flop = MODELS[name].forward_flop(sequence)
    return 3 * (sum(flop.values()) - (1 - pairs) * flop["scores"])


@model(name=_NAMED)
def run_teraflops(name: str, tokens_per_s: float, sequence: int, pairs: float) -> float:
    """Returns the TFLOP/s of a GPU that trains on so many tokens a second.

    Args:
        name: of the shape.
        tokens_per_s: of the GPU.
        sequence: tokens that see each other.
        pairs: which part of all pairs of tokens the source counts: 1, or 0.5 for a causal mask.
    """
    return _flop(name, sequence, pairs) * tokens_per_s / 1e12


@model()
def lora_teraflops(tokens_per_s: float, full_teraflops: float, full_tokens_per_s: float) -> float:
    """Returns the TFLOP/s of a GPU that trains adapters: two of three products of each weight.

    Args:
        tokens_per_s: of the GPU.
        full_teraflops, full_tokens_per_s: of a GPU that trains all weights of that model.
    """
    return 2 / 3 * tokens_per_s * full_teraflops / full_tokens_per_s


@model(name=_NAMED)
def at_two_rates(name: str, measured: float, of_tokens: int, tokens: int) -> float:
    """Returns the TFLOP/s with longer sequences: products in FP8, fused attention in bfloat16.

    Both rates are the planner's, and all pairs are counted, of which a causal mask leaves half.

    Args:
        name: of the shape.
        measured: TFLOP/s with sequences of `of_tokens`.
        of_tokens, tokens: of a sequence.
    """

    def rate(sequence: int) -> float:
        program, flop = MEGATRON_CORE_FP8, MODELS[name].forward_flop(sequence)
        products = 3 * (sum(flop.values()) - flop["scores"])
        scores = (1 + FUSED_BACK) * CAUSAL * flop["scores"]
        time = products / program.products + scores / program.attention
        return _flop(name, sequence, 1.0) / time

    return measured * rate(tokens) / rate(of_tokens)


@model()
def gpu_tokens_per_s(sequences: float, tokens: float, gpus: float, step_s: float) -> float:
    """Returns the tokens a second of each GPU, from the seconds of a step."""
    return sequences * tokens / gpus / step_s


@model()
def mfu_of_step(sequences: float, gpus: float, step_s: float) -> float:
    """Returns the % of an A100's 312 TFLOP/s in a step of MegaScale's 175B, causal pairs counted.

    Args:
        sequences: of a step, 2,048 tokens each.
        gpus: that train.
        step_s: seconds of a step.
    """
    flop = gpt(96, 12288, 128, 64000).forward_flop(2048)
    of_a_token = 3 * (sum(flop.values()) - flop["scores"] / 2)
    return 100 * utilisation(of_a_token, sequences * 2048 / step_s, int(gpus), 312e12)


@model(name=_NAMED)
def peak_tokens_per_s(name: str, chips: int, peak_teraflops: float, sequence: int) -> float:
    """Returns the tokens a second of all chips at their peak, with no more than causal pairs."""
    return chips * peak_teraflops * 1e12 / _flop(name, sequence, 0.5)
