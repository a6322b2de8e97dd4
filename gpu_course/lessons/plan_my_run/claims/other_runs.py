"""What runs take that no open row shows: the planner's step, and scaling of a run of its kind."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from gpu_course.claims.models import model
from gpu_course.measure.state_formulas import MIXED_ADAM, MIXED_ADAM_ACCUMULATING
from gpu_course.planner import known_runs
from gpu_course.planner.memory import MEGATRON, memory
from gpu_course.units import GIB

MLPERF_OPEN = {128: (24 * 128, 567_258), 16: (128 * 16, 2_575_563)}
"""Microbatches of a rank -> sequences of a step and tokens per second of GPT-3 175B on 96 and on
512 nodes of Eos, MLPerf training 3.1: its open rows with 12 chunks of eight stages."""
MLPERF_BUBBLE = 7 / 12
"""Of these runs, in microbatches."""
MEGASCALE_OPEN = {3072: 23.66, 6144: 12.21, 8192: 9.56, 12288: 6.34}
"""GPUs -> seconds of MegaScale's step of 6,144 sequences on TP 8, PP 8 and six chunks."""


def _line(points: dict[float, float]) -> tuple[float, float]:
    """Returns slope and constant of the straight line nearest to points."""
    slope, constant = np.polyfit(list(points), list(points.values()), 1)
    return float(slope), float(constant)


MLPERF_TURN_S, MLPERF_FIXED_S = _line(
    {
        m + MLPERF_BUBBLE: sequences * 2048 / tokens_per_s
        for m, (sequences, tokens_per_s) in MLPERF_OPEN.items()
    }
)
"""Of GPT-3 175B on Eos: a microbatch, and what a step takes besides."""
_TURN_S, _FIXED_S = _line(
    {6144 / (gpus / 64) + 7 / 6: step_s for gpus, step_s in MEGASCALE_OPEN.items()}
)
MEGASCALE_FIXED = _FIXED_S / _TURN_S
"""What a step of MegaScale takes besides its turns, in turns."""


@model()
def planned_vtrain_ms(
    global_batch: int, micro_batch: int, hidden: int, heads: int, layers: int, sequence: int,
    tp: int, dp: int, pp: int, gpus: int, reached: float,
) -> float:  # fmt: skip
    """Returns the planner's step of a run of vTrain, times what open rows of its kind take of it.

    Args:
        global_batch, micro_batch, hidden, heads, layers, sequence, tp, dp, pp, gpus: of the run.
        reached: time of open rows, over the planner's.
    """
    run = known_runs.vtrain_run(
        global_batch=global_batch, micro_batch=micro_batch, hidden=hidden, heads=heads,
        layers=layers, sequence=sequence, tp=tp, dp=dp, pp=pp, gpus=gpus,
    )  # fmt: skip
    return float(run.step_s) * 1e3 * reached


@model()
def planned_bigscience_s(
    layers: int, hidden: int, heads: int, tp: int, pp: int, dp: int, microbatch: int,
    global_batch: int,
) -> float:  # fmt: skip
    """Returns the planner's step of a run of BigScience."""
    run = known_runs.bigscience_run(
        layers=layers, hidden=hidden, heads=heads, tp=tp, pp=pp, dp=dp, microbatch=microbatch,
        global_batch=global_batch,
    )  # fmt: skip
    return float(run.step_s)


@model()
def planned_bigscience_gib(
    layers: int, hidden: int, heads: int, tp: int, pp: int, dp: int, microbatch: int,
    wide_gradients: bool, reached: float,
) -> float:  # fmt: skip
    """Returns the planner's GiB on the fullest GPU, times what open rows take of it.

    Args:
        layers, hidden, heads, tp, pp, dp, microbatch: of a run of BigScience.
        wide_gradients: True where gradients are added up in float32.
        reached: memory of open rows, over the planner's.
    """
    run = known_runs.bigscience_run(
        layers=layers, hidden=hidden, heads=heads, tp=tp, pp=pp, dp=dp, microbatch=microbatch,
        global_batch=2048,
    )  # fmt: skip
    recipe = MIXED_ADAM_ACCUMULATING if wide_gradients else MIXED_ADAM
    layout = replace(run.layout, recipe=recipe)
    return memory(run.model, layout, run.batch, MEGATRON).bytes / GIB * reached


@model(model={name: name for name in known_runs.MODELS})
def planned_fp8_tokens_per_s(
    model: str, gpus: int, sequences: int, tokens: int, tp: int, pp: int, cp: int, chunks: int,
    microbatch: int, reached: float,
) -> float:  # fmt: skip
    """Returns the planner's tokens per second and GPU in FP8, times what open rows reach of it."""
    run = known_runs.fp8_run(
        model=model, gpus=gpus, sequences=sequences, tokens=tokens, tp=tp, pp=pp, cp=cp,
        chunks=chunks, microbatch=microbatch,
    )  # fmt: skip
    return run.tokens_per_s_and_card * reached


@model()
def mlperf_gpt3_tokens_per_s(
    sequences: float, microbatches: float, bubble: float, turn_s: float, faster: float
) -> float:
    """Returns the tokens per second of GPT-3 175B on Eos: so many turns, and a fixed time.

    Args:
        sequences: of a step, 2,048 tokens each.
        microbatches: of a rank.
        bubble: in microbatches.
        turn_s: seconds of a microbatch.
        faster: what newer software gains.
    """
    step_s = (microbatches + bubble) * turn_s + MLPERF_FIXED_S
    return sequences * 2048 / step_s * faster


@model()
def chips_times(measured: float, chips: float, of_chips: float, kept: float) -> float:
    """Returns a rate that grows with the chips, of which a part is kept."""
    return measured * chips / of_chips * kept


@model()
def fewer_turns(measured: float, turns: float, of_turns: float, more: float, fixed: float) -> float:
    """Returns a rate of steps with other turns, and so many more sequences in each.

    Args:
        measured: rate of the run that is known.
        turns, of_turns: of a step, bubble included, and of the known run's.
        more: sequences of a step over those of the known one.
        fixed: what a step takes besides, in turns.
    """
    return measured * more * (of_turns + fixed) / (turns + fixed)


@model()
def step_of_turns_s(measured: float, turns: float, of_turns: float, fixed: float) -> float:
    """Returns the seconds of a step with other turns.

    Args:
        measured: seconds of the step that is known.
        turns, of_turns: of a step, bubble included, and of the known one.
        fixed: what a step takes besides, in turns.
    """
    return measured * (turns + fixed) / (of_turns + fixed)


@model()
def batch_gain(turns: float, microbatches: float, more: float, fixed: float) -> float:
    """Returns the throughput of a larger batch over that of a smaller one.

    Args:
        turns: of the smaller step, bubble included.
        microbatches: of it.
        more: microbatches of the larger step over these.
        fixed: what a step takes besides, in turns.
    """
    bubble = turns - microbatches
    return more * (turns + fixed) / (more * microbatches + bubble + fixed)


@model()
def same_rate_step_s(
    sequences: float, tokens: float, gpus: float, gigaflop: float, teraflops: float
) -> float:
    """Returns the seconds of a step at a known rate.

    Args:
        sequences, tokens: of a step, and of a sequence.
        gpus: that train.
        gigaflop: of a token.
        teraflops: of a GPU.
    """
    return sequences * tokens * gigaflop / gpus / teraflops / 1e3


@model()
def like_other_run(measured: float, ratio: float) -> float:
    """Returns a measurement of a like run, times what the difference between them is worth."""
    return measured * ratio


@model()
def tensor_gain(shown: float, compute_slower: float) -> float:
    """Returns the gain from hiding tensor-parallel traffic.

    Args:
        shown: gain of the run that is known.
        compute_slower: work that hides it, for each byte, over that of the known run.
    """
    part = (1 - 1 / shown) / compute_slower
    return 1 / (1 - part)


@model()
def context_gain(doublings: float, each: float, again: float, turns: float, kept: float) -> float:
    """Returns the rate with context parallelism over that without.

    Args:
        doublings: of tensor parallelism that it saves.
        each: what a doubling costs.
        again: time with what runs again without it, over that without running again.
        turns: time with the pipeline's bubble that the other needs, over that without.
        kept: part of the rate that context parallelism itself keeps.
    """
    return (1 + each) ** doublings * again * turns * kept


@model()
def percent_of_cycle(inner_s: float, outer_s: float, percent: float) -> float:
    """Returns what is left of a rate where each cycle of work waits for an exchange.

    Args:
        inner_s: of work.
        outer_s: of the exchange.
        percent: without exchanges.
    """
    return percent * inner_s / (inner_s + outer_s)
