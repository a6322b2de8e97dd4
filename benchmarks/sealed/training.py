"""Predictions of sealed runs of pipelines and of models with experts: rows of lessons 26 to 28."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from gpu_course.lessons.experts.claims import other_runs as experts
from gpu_course.lessons.pipelines.claims import other_runs as pipelines
from gpu_course.lessons.zero_bubble.claims import engine

Inputs = dict[str, Any]
Predicted = tuple[float, float, str]

H100_TERAFLOPS = (203.0, 328.0, 5113 * 23.0e-3)
"""Open rows on H100: Qwen3 30B-A3B and Nemotron 3 Nano in 26.06, and Qwen3 30B-A3B in 26.02, whose
tokens are taken at 23.0 GFLOP each."""
GB300_TERAFLOPS = {"ds3": 1648.0, "qwen235": 1335.0, "gptoss": 1081.0}
"""Open rows on GB300, and GFLOP of a token, by the name of a row."""
GIGAFLOP = {"ds3": 260.0, "qwen235": 148.1, "gptoss": 32.6}
QWEN3_30B_TOKENS_PER_S = 8826.0
"""Of one H100, the faster of two open rows."""

CLASSES = {
    "zb12": """
        Few microbatches: ranks mostly wait, so that sends and heat cost less than at full load. 3 %
        are taken off the simulation for them, and the margin is twice that.""",
    "zb10": """
        ZB-2p with a wait for all: the prediction of ZB-2p, times the simulated time of a rank over
        that to the last end. The one open row is 1 % off, ZB-2p up to 3 %.""",
    "zb4": """
        Throughput at full load: the simulated time, two sends for each microbatch and chunk that
        nobody hides, and all work 5.5 % slower on one node, 7.5 % on several. The two rates were
        read off sixteen open rows of the same table, which lie within 3 %.""",
    "zb6": """
        ZB-V over 1F1B: simulated times, with the sends of two chunks against those of one. The
        order is PyTorch's and not the authors'; its bubble is small beside what sends take.""",
    "zb8": """
        Bubble rates of ZB-V: PyTorch's order, simulated with the message that makes 1F1B wait as
        long as is given. A quarter either way, since the authors' order is another.""",
    "bs-time-batch": """
        Time of a step: the line through two open rows of the same layout. Nothing but the number
        of microbatches changes.""",
    "torchgpipe-amoeba": """
        Speed-ups: equal stages with recomputation, and 0.95 of that, the geometric mean of what
        open rows of the same page reach; they lie from 0.85 to 1.13 of it.""",
    "torchgpipe-unet-mem": """
        Memory of U-Net: in proportion to the parameters, from the one open row.""",
    "deepep-ll-dispatch": """
        Low-latency dispatch: a line in the doublings of the ranks through the open rows of 16 and
        256. It misses that of 8, which stays within a node, by a quarter.""",
    "automodel-Qwen3-MoE-30B-A3B-8": """
        A step of Qwen3 30B-A3B: the rate that the same model reached in another program on the
        same card, in FP8 where this is BF16.""",
    "mb-ds3-batch": """
        A larger batch: the bubble and 4 % of the smaller step are paid once.""",
    "mb": """
        Models with experts on H100: the geometric mean of the open rates on H100, with half of
        what larger models gain on GB300. Open rows of one model lie 1.7 times apart.""",
}
"""What the margins of each class of rows come from. The three rows of deepep-dispatch have none:
their values stand on a page that is widely quoted, and a prediction would test nothing."""


def _times(inputs: Inputs) -> dict[str, float]:
    return {
        "forward_ms": inputs["T_F_ms"],
        "input_ms": inputs["T_B_ms"],
        "weight_ms": inputs["T_W_ms"],
        "message_ms": inputs["T_comm_ms"],
    }


def _run(inputs: Inputs) -> dict[str, float]:
    return {
        "ranks": inputs["p"],
        "microbatches": inputs["m"],
        "samples": inputs["microbatch"],
        **_times(inputs),
    }


def _short(name: str, inputs: Inputs) -> Predicted:
    _, size, _, order = name.split("-", 3)
    value = engine.short_samples_per_gpu(order, size, **_run(inputs))
    return value, 0.06, "short_samples_per_gpu"


def _waiting(name: str, inputs: Inputs) -> Predicted:
    value = engine.engine_waiting_for_all(name.split("-")[1], **_run(inputs))
    return value, 0.05, "engine_waiting_for_all"


def _full(name: str, inputs: Inputs) -> Predicted:
    _, size, _, order = name.split("-", 3)
    chunks = inputs["chunks_if_interleaved"]
    value = engine.engine_samples_per_gpu(order, size, chunks=chunks, **_run(inputs))
    return value, 0.05, "engine_samples_per_gpu"


def _zb_v(inputs: Inputs) -> tuple[float, ...]:
    return (inputs["bubble_rate_1F1B"], inputs["p"], inputs["m"], *inputs["T_ratio"])


def _step(name: str, inputs: Inputs) -> Predicted:
    microbatches = inputs["global_batch"] / inputs["DP"] / inputs["microbatch"]
    value = pipelines.line_through_two(microbatches, 32, 35.77, 64, 59.65)
    return value, 0.02, "line_through_two"


def _amoeba(name: str, inputs: Inputs) -> Predicted:
    value = pipelines.share_of_equal_stages(inputs["partitions"], inputs["microbatches"])
    return value, 0.18, "share_of_equal_stages"


def _dispatch(name: str, inputs: Inputs) -> Predicted:
    ranks = inputs["expert_parallel"]
    return experts.line_through_doublings(ranks, 16, 118, 256, 194), 0.11, "line_through_doublings"


def _qwen(name: str, inputs: Inputs) -> Predicted:
    sizes = (inputs["global_batch"], inputs["sequence"], inputs["GPUs"])
    return experts.step_s_at_rate(*sizes, QWEN3_30B_TOKENS_PER_S), 0.35, "step_s_at_rate"


def _batch(name: str, inputs: Inputs) -> Predicted:
    larger, smaller = 15360 / inputs["DP"], 4096 / inputs["DP"]
    value = experts.larger_batch_over_smaller(inputs["PP"], inputs["VP"], larger, smaller)
    return value, 0.04, "larger_batch_over_smaller"


def _tokens(name: str, inputs: Inputs) -> Predicted:
    which = name.split("-")[1]
    reached = math.prod(H100_TERAFLOPS) ** (1 / len(H100_TERAFLOPS))
    smallest = min(GB300_TERAFLOPS.values())
    given = (GIGAFLOP[which], reached, GB300_TERAFLOPS[which], smallest)
    return experts.tokens_at_known_rate(*given), 0.35, "tokens_at_known_rate"


PREDICT: dict[str, Callable[[str, Inputs], Predicted]] = {
    "zb12": _short,
    "zb10": _waiting,
    "zb4": _full,
    "zb6": lambda name, inputs: (engine.zb_v_over_1f1b(*_zb_v(inputs)), 0.07, "zb_v_over_1f1b"),
    "zb8": lambda name, inputs: (engine.zb_v_rate(*_zb_v(inputs)), 0.25, "zb_v_rate"),
    "bs-time-batch": _step,
    "torchgpipe-amoeba": _amoeba,
    "torchgpipe-unet-mem": lambda name, inputs: (
        pipelines.scaled_to(inputs["parameters"], 20.5, 2.21e9), 0.10, "scaled_to"
    ),
    "deepep-ll-dispatch": _dispatch,
    "automodel-Qwen3-MoE-30B-A3B-8": _qwen,
    "mb-ds3-batch": _batch,
    "mb": _tokens,
}  # fmt: skip
"""The class of a row -> (its name, its inputs) -> value, margin, the model's name."""
