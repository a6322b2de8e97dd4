"""Steps of published runs as the planner has them: one machine and one program for each source."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from gpu_course.claims.models import model
from gpu_course.measure.state_formulas import MIXED_ADAM
from gpu_course.planner import known_runs
from gpu_course.planner.known_runs import Run
from gpu_course.planner.layout import Batch, Layout
from gpu_course.planner.machines import A100, GB200, H100
from gpu_course.planner.memory import MEGATRON as MEGATRON_MEMORY
from gpu_course.planner.memory import memory
from gpu_course.planner.playbook import MODELS, SEQUENCE
from gpu_course.planner.programs import (
    MEGATRON,
    MEGATRON_CORE,
    MEGATRON_CORE_FP8,
    MEGATRON_DEEPSPEED,
    NANOTRON,
)
from gpu_course.units import GIB, MEGA

_NAMES = "heads hidden layers tp pp gpus global_batch microbatch chunks".split()


def _table_3(*numbers: int) -> dict[str, int]:
    return dict(zip(_NAMES, numbers, strict=True))


TABLE_3 = {
    "22B": _table_3(64, 6_144, 48, 8, 1, 8, 4, 4, 1),
    "175B": _table_3(96, 12_288, 96, 8, 8, 64, 64, 1, 3),
    "530B": _table_3(128, 20_480, 105, 8, 35, 280, 280, 1, 3),
    "1T": _table_3(160, 25_600, 128, 8, 64, 512, 512, 1, 1),
}
"""Columns of Korthikanti's Table 3."""


@model("rate", run=TABLE_3)
def planned_korthikanti_s(run: dict[str, int], present: bool, replicas: int = 1) -> float:
    """Returns the seconds of a step of Table 5.

    Args:
        run: a column of Table 3.
        present: True for selective recomputation with sequence parallelism, False for full.
        replicas: as many times the GPUs and the batch.
    """
    given = dict(run)
    given["gpus"] *= replicas
    given["global_batch"] *= replicas
    return float(known_runs.korthikanti_run(**given, present=present).step_s)


@model("rate")
def planned_megatron_tflop_per_s(
    heads: int, hidden: int, layers: int, tp: int, pp: int, gpus: int, global_batch: int
) -> float:
    """Returns the TFLOP/s of a GPU in Megatron-LM's Table 1, recomputed passes counted."""
    return known_runs.narayanan_teraflops(
        heads=heads, hidden=hidden, layers=layers, tp=tp, pp=pp, gpus=gpus,
        global_batch=global_batch,
    )  # fmt: skip


@model("rate")
def planned_megatron_days(
    heads: int, hidden: int, layers: int, tp: int, pp: int, gpus: int, global_batch: int,
    billion_tokens: float,
) -> float:  # fmt: skip
    """Returns the days of a run that never stops."""
    run = known_runs.narayanan_run(
        heads=heads, hidden=hidden, layers=layers, tp=tp, pp=pp, gpus=gpus,
        global_batch=global_batch,
    )  # fmt: skip
    steps = billion_tokens * 1e9 / (run.batch.sequences * run.batch.tokens)
    return float(steps * run.step_s / 86_400)


def _tflop_per_s(run: Run) -> float:
    """Counts a recomputed forward pass, as the paper does."""
    _, flop = run.model.training_flop(run.batch.tokens, again="layers")
    return float(flop * run.tokens_per_s_and_card / 1e12)


@model("rate")
def planned_zero_3_tflop_per_s(gpus: int, global_batch: int) -> float:
    """Returns the TFLOP/s of a GPU that trains 175B with ZeRO 3 alone, one microbatch a step."""
    layout = Layout(dp=gpus, zero=3, microbatch=global_batch // gpus, recompute="full", flash=False)
    gpt_3 = known_runs.gpt(96, 12_288, 96)
    return _tflop_per_s(Run(gpt_3, layout, Batch(global_batch, 2_048), A100, MEGATRON_DEEPSPEED))


@model("rate")
def planned_3d_tflop_per_s(gpus: int, global_batch: int, tp: int, pp: int) -> float:
    """Returns the same with tensor and pipeline parallelism, full recomputation, one chunk."""
    layout = Layout(
        dp=gpus // tp // pp, tp=tp, pp=pp, recompute="full", flash=False, sequence_parallel=False
    )
    gpt_3 = known_runs.gpt(96, 12_288, 96)
    return _tflop_per_s(Run(gpt_3, layout, Batch(global_batch, 2_048), A100, MEGATRON))


@model("rate")
def planned_llama_3_tflop_per_s(gpus: int, cp: int, dp: int, sequence: int) -> float:
    """Returns the TFLOP/s of a GPU in Llama 3's Table 4."""
    return known_runs.llama3_teraflops(gpus=gpus, cp=cp, dp=dp, sequence=sequence)


@model("rate")
def planned_mlperf_mega_tokens_per_s(gpus: int, microbatch: int, per_replica: int) -> float:
    """Returns the 10^6 tokens a second of GPT-3 in FP8: TP 4, PP 8 with six chunks.

    Args:
        gpus: H100.
        microbatch: sequences.
        per_replica: sequences of a replica in a step.
    """
    tp, pp, tokens = 4, 8, 2_048
    run = known_runs.fp8_run(
        model="GPT3-175B", gpus=gpus, sequences=per_replica * gpus // tp // pp, tokens=tokens,
        tp=tp, pp=pp, chunks=6, microbatch=microbatch,
    )  # fmt: skip
    return run.tokens_per_s_and_card * gpus / MEGA


@model("rate", shape={name: name for name in MODELS})
def planned_playbook_tokens_per_s(
    shape: str, dp: int, tp: int, pp: int, microbatch: int, accumulation: int, zero: int
) -> float:
    """Returns the tokens a second of each GPU in the Playbook's benchmark, tokens cut over tp."""
    from gpu_course.planner.step_time import step_time

    layout = Layout(dp=dp, tp=tp, pp=pp, microbatch=microbatch, zero=zero, split="compute")
    batch = Batch(dp * microbatch * accumulation, SEQUENCE)
    step_s: Any = step_time(MODELS[shape], layout, batch, H100, NANOTRON).total
    return float(batch.sequences * batch.tokens / layout.gpus / step_s)


@model("rate", model={name: name for name in known_runs.MODELS})
def planned_nemo_tokens_per_s(
    model: str, gpus: int, sequences: int, tokens: int, tp: int = 1, pp: int = 1, chunks: int = 1
) -> float:
    """Returns the tokens a second of each H100 in FP8, with microbatches of one sequence."""
    return known_runs.fp8_run(
        model=model, gpus=gpus, sequences=sequences, tokens=tokens, tp=tp, pp=pp, chunks=chunks
    ).tokens_per_s_and_card


def _bigscience(
    layers: int, hidden: int, heads: int, tp: int, pp: int, dp: int, microbatch: int,
    global_batch: int, zero: int,
) -> Run:  # fmt: skip
    return known_runs.bigscience_run(
        layers=layers, hidden=hidden, heads=heads, tp=tp, pp=pp, dp=dp, microbatch=microbatch,
        global_batch=global_batch, zero=zero,
    )  # fmt: skip


@model()
def chronicled_step_s(
    layers: int, hidden: int, heads: int, tp: int, pp: int, dp: int, microbatch: int,
    global_batch: int, zero: int = 1,
) -> float:  # fmt: skip
    """Returns the seconds of a step of BigScience's, on the machine that was set on these steps."""
    given = (layers, hidden, heads, tp, pp, dp, microbatch, global_batch, zero)
    return float(_bigscience(*given).step_s)


@model("memory")
def chronicled_gib(
    layers: int, hidden: int, heads: int, tp: int, pp: int, dp: int, microbatch: int,
    global_batch: int, zero: int = 1,
) -> float:  # fmt: skip
    """Returns the GiB of the fullest GPU in such a step."""
    run = _bigscience(layers, hidden, heads, tp, pp, dp, microbatch, global_batch, zero)
    layout = replace(run.layout, recipe=MIXED_ADAM)
    return float(memory(run.model, layout, run.batch, MEGATRON_MEMORY).bytes / GIB)


@model("rate")
def planned_megascale_s(gpus: int, global_batch: int) -> float:
    """Returns the seconds of a step of 175B with Megatron-LM, as MegaScale's authors ran it."""
    return float(known_runs.megascale_run(gpus=gpus, global_batch=global_batch).step_s)


@model("rate")
def planned_megascale_mfu(gpus: int, global_batch: int) -> float:
    """Returns the same as % of an A100's 312 TFLOP/s."""
    run = known_runs.megascale_run(gpus=gpus, global_batch=global_batch)
    return 100 * known_runs.teraflops(run.model, run) / 312


HIDDEN = ("parallel block", "tensor", "sends", "data")
"""What MegaScale takes away, in its order. The parallel block halves what tensor parallelism sends;
the others hide what is left of it, then sends between stages, then gradients."""


@model(hidden={name: name for name in HIDDEN})
def mfu_with_hidden(measured: float, hidden: str, gpus: int, global_batch: int) -> float:
    """Returns a utilisation once one more thing is hidden, from that before it.

    Args:
        measured: % before.
        hidden: a name of HIDDEN; all before it are hidden already.
        gpus, global_batch: of the run.
    """
    run = known_runs.megascale_run(gpus=gpus, global_batch=global_batch)
    bare = replace(MEGATRON_CORE, gradients_hidden=0.0, sends_hidden=0.0)
    time = replace(run, program=bare).time
    parts = dict(
        zip(HIDDEN, (time.tensor / 2, time.tensor / 2, time.sends, time.data), strict=True)
    )
    gone = sum(parts[each] for each in HIDDEN[: HIDDEN.index(hidden)])
    before = time.total - gone
    return float(measured * before / (before - parts[hidden]))


@model("rate")
def planned_fp4_sequences_per_s(
    sequences: int, gpus: int, tp: int, pp: int, cp: int, chunks: int
) -> float:
    """Returns the sequences of 8,192 tokens a second of Llama 3.1 405B in FP4 on GB200.

    Products gain from FP8 to FP4 what an H100's gain from bfloat16 to FP8.
    """
    layout = Layout(
        dp=gpus // tp // pp // cp,
        tp=tp,
        pp=pp,
        cp=cp,
        chunks=chunks,
        schedule="interleaved",
        zero=1,
    )
    program = replace(MEGATRON_CORE_FP8, products=MEGATRON_CORE_FP8.products**2)
    shape = known_runs.MODELS["LLAMA3-405B"]
    run = Run(shape, layout, Batch(sequences, 8_192), GB200, program)
    return float(sequences / run.step_s)
