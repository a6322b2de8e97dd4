"""Predictions of sealed runs of whole models: rows of lessons 30 and 33."""

from __future__ import annotations

from collections.abc import Callable
from statistics import median
from typing import Any

import numpy as np

from gpu_course.lessons.plan_my_run.claims import other_runs as models
from gpu_course.planner import known_runs, vtrain

Inputs = dict[str, Any]
Predicted = tuple[float, float, str]

ALIKE = {"single": ("hidden", "micro_batch", "tp"), "multi": ("tp",)}
"""Inputs of a run of vTrain that decide how far off the planner is, by what the open rows show; on
one node it also matters whether there are stages."""
LEAST, FEW = {"single": 0.03, "multi": 0.06}, 4
"""The least margin of a run of vTrain; twice that where open rows like it are fewer than FEW."""
FP8_REACHED = median(
    tokens_per_s / known_runs.fp8_run(**run).tokens_per_s_and_card
    for run, tokens_per_s in known_runs.FP8_OPEN
)
"""What the open rows of FP8 on H100 reach of the planner's rate, at the median."""
FP8_OFF = 0.10


def _fp8_off() -> list[float]:
    """How far the open rows of FP8 lie from what they reach at the median."""
    return [
        abs(tokens_per_s / known_runs.fp8_run(**run).tokens_per_s_and_card / FP8_REACHED - 1)
        for run, tokens_per_s in known_runs.FP8_OPEN
    ]


FP8 = {
    "nemo-GPT3-5B": {}, "nemo-GPT3-20B": {}, "nemo-LLAMA2-7B": {}, "nemo-LLAMA3-8B": {},
    "nemo-LLAMA2-70B": {"chunks": 20}, "nemo-LLAMA3-70B": {"chunks": 5},
    "mb-llama70-h100": {"model": "LLAMA3-70B", "GPUs": 64},
    "mb-llama405-h100": {"model": "LLAMA3-405B", "GPUs": 1024},
    "mb-llama8-h100": {"model": "LLAMA3-8B", "GPUs": 8},
}  # fmt: skip
"""What the rows leave out: chunks of a stage are as many as there can be with equal stages."""

MEMORY_REACHED = 1.125
"""What ten open rows of BigScience's memory take of the planner's, at the median."""

SOFTWARE = 1.10
"""What half a year of versions is taken to gain. A guess; two open rows of one model on one machine
lie 1.7 apart, the others of that source a few percent."""
ASYNC_70B = 829.0
"""Tokens per second and GPU of Llama 3.1 70B on 256 of these GPUs, FSDP 32 and TP 8: an open row of
half a year before. Its 71.9 GiB leave no room for activations that are not recomputed."""
FP8_OVER_BF16 = 8532 / 6667
"""Of Llama 3.1 8B, two open rows of the same source."""
FSDP_8B = 6514.0
"""Tokens per second and GPU of Llama 3.1 8B with FSDP alone, compiled, an open row."""
MOE_TERAFLOPS = (203.0 * 328.0) ** 0.5
"""Of two open rows of models with experts on H100."""
GIGAFLOP = {"DeepSeek V3 671B": 260.0, "GPT-OSS 20B": 24.0, "GPT-OSS 120B": 32.6}
"""Of a token. Open rows, and GPT-OSS 20B in proportion to its active parameters, 3.6 against 5.1
billion, and a larger share of attention."""

CLASSES = {
    "vtrain-single": f"""
        Runs of vTrain on one node: the planner's time, times what the open rows of the same hidden
        size, microbatch and tensor parallelism, with stages or without, take of it at the median.
        The margin is how far the farthest of these lies from their median, and
        {LEAST["single"]:.0%} at least; twice that where they are fewer than {FEW}.""",
    "vtrain-multi": f"""
        Runs of vTrain on several nodes: the same with the open rows of the same tensor parallelism.
        The margin holds seventeen of twenty of them, and is {LEAST["multi"]:.0%} at least; there
        are few with a tensor parallelism of 1, 2 and 16. On open rows some of the runs of 2 and 4
        are up to 60 % slower than others of their kind, which nothing here explains.""",
    "bs-time": """
        Steps of BigScience: the planner, with what products, NVLink, network and the host of a
        stage take set on the open rows as a whole. Two open rows of one layout lie 6 % apart, and
        the planner is 3.7 % off at the mean. The margin is 11 %; 16 % with more than 100 heads,
        which is what the open row with 112 is off.""",
    "bs-mem": """
        Memory of BigScience: the planner's bytes in GiB, times 1.125, which ten open rows take of
        it at the median: nvidia-smi sees DeepSpeed's flat buffers too. Nine of the ten lie within
        8 %: 10 %. No open row adds up gradients in float32: 15 % there.""",
    "mlperf31-gpt3": """
        GPT-3 on Eos: so many turns and a fixed time, both from the open rows of 96 and 512 nodes.
        A third open row, of 64 nodes, is 0.2 % off. The margin is 4 % with 16 microbatches, and
        6 % with 8, where the fixed time is a quarter of the step.""",
    "mlperf40-gpt3": f"""
        The same half a year later: turns as before, longer where stages are fewer, and
        {SOFTWARE - 1:.0%} faster by newer software. Nothing tells how much it gains: 20 %.""",
    "mlperf40-tpu": """
        GPT-3 on TPU v5p: in proportion to the chips, of which 2 % are lost where a chip has half as
        many sequences, and 7 % with a quarter. A guess, from how little other machines lose where a
        step takes many seconds; the margin is three times the loss, 15 % at most.""",
    "mlperf51-405b": """
        Llama 3.1 405B on GB200: as many turns as microbatches and bubble, and a fixed time of 1.2
        turns, which is between none and what Eos takes. Either end is 2 % off; twice that.""",
    "megascale-Megatron-LM": """
        175B with Megatron-LM on more GPUs: the open row's time by the turns of a step, and about
        two turns more in each, which is what MegaScale's four open rows of another batch take. Its
        software is not theirs: 10 %.""",
    "megascale-MegaScale": """
        The same with MegaScale, whose four open rows lie within 3 % of it: twice that.""",
    "megascale-big-Megatron": """
        The same with Megatron-LM, a batch of 6,144 and the open row of 3,072 GPUs. The fixed turns
        are what is least known: 8 %.""",
    "asynctp-70b": f"""
        Llama 3.1 70B on 256 H100 of 500 W: the open row of half a year before, {ASYNC_70B:.0f}, or
        that times what FP8 gains with the 8B model. The open row does not say what it recomputed;
        the planner, with full recomputation, is a quarter slower: 15 % to 20 %. What asynchronous
        tensor parallelism gains is that of the open row, more where the work is faster: 4 %.""",
    "asynctp-8b": """
        Llama 3.1 8B with TP 8: the open row with FSDP alone, and three quarters of it, which is
        what the planner gives for the two layouts. 20 %. The gain has half of the work for each
        byte: 6 %.""",
    "nemo": f"""
        FP8 on H100: the planner's rate, of which seven open rows reach {FP8_REACHED:.0%} at the
        median. The farthest lies {max(_fp8_off()):.0%} from that: {FP8_OFF:.0%}.""",
    **dict.fromkeys(
        ("mb-llama70-h100", "mb-llama405", "mb-llama8"),
        """
        The same in a later version of the same program: 15 %.""",
    ),
    "mb-405b": """
        A batch three times as large: the bubble and two fixed turns are paid once. Of what versions
        change between the two rows nothing is known: 6 %.""",
    "mb-llama70-gb200": """
        Llama 3 70B on GB200 has the layout of an open row on GB300, and of its rate what Llama 3.1
        405B reaches in two other rows, 0.82, or more, as these differ in layout: 0.85 and 15 %.""",
    "automodel-Llama3-70B": """
        Llama 3 70B in bfloat16 with FSDP: open rows of LoRA in this program reach 300 to 450
        TFLOP/s on H100. 340 is taken, since the layers run forward once more: 30 %.""",
    "automodel": f"""
        Models with experts in bfloat16: the geometric mean of two open rates on H100 in FP8,
        {MOE_TERAFLOPS:.0f} TFLOP/s. These lie 1.6 times apart: 38 %.""",
    "longseq-7b": """
        Context parallelism against none: what a doubling of tensor parallelism costs, 7 % by three
        open rows of the same model, for one doubling; what runs again where a sequence does not fit
        in 80 GiB; and the bubble where a batch has fewer sequences than pipelines need. Each of
        these is a guess about a best layout that the source does not name, and the margin grows
        with their number: 7 to 35 %.""",
    "intellect1": """
        The part of a cycle that is work: minutes of inner steps over these and the all-reduce. The
        inputs have two digits of a minute and a median where a mean counts: 3 %.""",
}
"""What the margins of each class of rows come from."""


def _vtrain(name: str, inputs: Inputs) -> Predicted:
    kind = name.split("-")[1]
    rows, reached = vtrain.open_rows(kind), vtrain.reached(kind)
    same = np.all([rows[each] == inputs[each] for each in ALIKE[kind]], axis=0)
    if kind == "single":
        same &= (rows["pp"] > 1) == (inputs["pp"] > 1)
    known = reached[same]
    middle = float(median(known))
    off = np.abs(known / middle - 1)
    margin = float(off.max() if kind == "single" else np.quantile(off, 0.85))
    least = LEAST[kind] * (2 if len(known) < FEW else 1)
    run = {each: inputs[each] for each in vtrain.NAMES}
    value = models.planned_vtrain_ms(**run, reached=middle)
    return value, max(margin, least), "planned_vtrain_ms"


def _bigscience(name: str, inputs: Inputs) -> Predicted:
    names = {"tp": "TP", "pp": "PP", "dp": "DP"}
    kept = ("layers", "hidden", "heads", "microbatch", "global_batch")
    run = {each: inputs[names.get(each, each)] for each in (*kept, *names)}
    margin = 0.16 if inputs["heads"] > 100 else 0.11
    return models.planned_bigscience_s(**run), margin, "planned_bigscience_s"


def _memory(name: str, inputs: Inputs) -> Predicted:
    names = {"tp": "TP", "pp": "PP", "dp": "DP", "wide_gradients": "fp32_gradient_accumulation"}
    kept = ("layers", "hidden", "heads", "microbatch")
    run = {each: inputs[names.get(each, each)] for each in (*kept, *names)}
    value = models.planned_bigscience_gib(**run, reached=MEMORY_REACHED)
    margin = 0.15 if run["wide_gradients"] else 0.10
    return value, margin, "planned_bigscience_gib"


def _mlperf31(name: str, inputs: Inputs) -> Predicted:
    m = inputs["microbatches_per_rank"]
    value = models.mlperf_gpt3_tokens_per_s(
        inputs["global_batch_sequences"], m, models.MLPERF_BUBBLE, models.MLPERF_TURN_S, 1.0
    )
    return value, 0.04 if m >= 16 else 0.06, "mlperf_gpt3_tokens_per_s"


def _mlperf40(name: str, inputs: Inputs) -> Predicted:
    stages, b = inputs["PP"], inputs["microbatch"]
    each = inputs["samples_per_rank"]
    ranks = inputs["nodes"] * 8 // inputs["TP"] // stages
    turn_s = models.MLPERF_TURN_S * 8 / stages * b
    bubble = (stages - 1) / inputs["interleaved_chunks"]
    value = models.mlperf_gpt3_tokens_per_s(ranks * each, each / b, bubble, turn_s, SOFTWARE)
    return value, 0.20, "mlperf_gpt3_tokens_per_s"


def _tpu(name: str, inputs: Inputs) -> Predicted:
    chips, open_chips, open_batch = inputs["chips"], 1024, 2048
    halvings = np.log2(open_batch / open_chips / (inputs["global_batch_sequences"] / chips))
    lost = 0.02 if halvings <= 1 else 0.07
    value = models.chips_times(176_122, chips, open_chips, 1 - lost)
    return value, min(3 * lost, 0.15), "chips_times"


def _gb200(name: str, inputs: Inputs) -> Predicted:
    bubble = (inputs["PP"] - 1) / inputs["interleaved_chunks"]
    turns, known = inputs["samples_per_rank"] + bubble, 24 + bubble
    value = models.fewer_turns(289.7, turns, known, inputs["global_batch"] / 960, 1.2)
    return value, 0.04, "fewer_turns"


MEGASCALE = {
    "megascale-Megatron-LM": (256, 40.0, 0.10),
    "megascale-MegaScale": (256, 32.0, 0.06),
    "megascale-big-Megatron": (3072, 29.02, 0.08),
}
"""Class -> GPUs and seconds of its open row, and the margin."""


def _megascale(name: str, inputs: Inputs) -> Predicted:
    gpus, measured, margin = MEGASCALE[name.rpartition("-")[0]]
    bubble = (inputs["PP"] - 1) / inputs["interleaved_chunks"]
    stage = inputs["TP"] * inputs["PP"]
    turns, known = (
        inputs["global_batch"] / (each // stage) + bubble for each in (inputs["GPUs"], gpus)
    )
    value = models.step_of_turns_s(measured, turns, known, models.MEGASCALE_FIXED)
    return value, margin, "step_of_turns_s"


def _async(name: str, inputs: Inputs) -> Predicted:
    _, size, precision, what = name.split("-")
    faster = FP8_OVER_BF16 if precision == "float8" else 1.0
    if what == "gain":
        work = {"70b": 1.0, "8b": 0.5}[size] / faster
        margin = {"70b": 0.04, "8b": 0.06}[size]
        return models.tensor_gain(876 / 829, work), margin, "tensor_gain"
    measured, ratio, margin = (
        (FSDP_8B, 0.74, 0.20) if size == "8b" else (ASYNC_70B, faster, 0.15 * faster)
    )
    return models.like_other_run(measured, ratio), margin, "like_other_run"


def _fp8(name: str, inputs: Inputs) -> Predicted:
    run = {**inputs, **FP8[name]}
    value = models.planned_fp8_tokens_per_s(
        model=run["model"], gpus=run["GPUs"], sequences=run["global_batch"],
        tokens=run["sequence"], tp=run.get("TP", 1), pp=run.get("PP", 1), cp=run.get("CP", 1),
        chunks=run.get("VP", run.get("chunks", 1)), microbatch=run["microbatch"],
        reached=FP8_REACHED,
    )  # fmt: skip
    return value, 0.15 if name.startswith("mb") else FP8_OFF, "planned_fp8_tokens_per_s"


def _bridge(name: str, inputs: Inputs) -> Predicted:
    if name == "mb-405b-batch":
        m = 512 / (1024 // (inputs["TP"] * inputs["PP"] * inputs["CP"]))
        turns = m + (inputs["PP"] - 1) / inputs["VP"]
        value = models.batch_gain(turns, m, 3.0, models.MEGASCALE_FIXED)
        return value, 0.06, "batch_gain"
    return models.like_other_run(5243, 0.85), 0.15, "like_other_run"


def _automodel(name: str, inputs: Inputs) -> Predicted:
    sizes = (inputs["global_batch"], inputs["sequence"], inputs["GPUs"])
    if inputs["model"] == "Llama3 70B":
        return models.same_rate_step_s(*sizes, 449.0, 340.0), 0.30, "same_rate_step_s"
    value = models.same_rate_step_s(*sizes, GIGAFLOP[inputs["model"]], MOE_TERAFLOPS)
    return value, 0.38, "same_rate_step_s"


LONG = {
    32768: (1, 1.0, 1.0, 0.07),
    65536: (1, 1.0, 1.0, 0.10),
    131072: (1, 1.05, 1.02, 0.15),
    262144: (0, 1.29, 1.06, 0.22),
    524288: (0, 1.0, 2.75, 0.35),
}
"""Tokens -> doublings of tensor parallelism saved, what runs again without context parallelism,
what the pipeline's bubble takes, and the margin. With 8 sequences and 512 GPUs eight stages of four
chunks have one microbatch: 1 + 7 / 4. With 16 and 256, two stages of 16 chunks: 1 + 1 / 16."""


def _long(name: str, inputs: Inputs) -> Predicted:
    doublings, again, turns, margin = LONG[inputs["sequence"]]
    kept = 0.98 if inputs["CP"] <= 4 else 0.95 if inputs["CP"] == 8 else 0.85
    value = models.context_gain(doublings, 0.07, again, turns, kept)
    return value, margin, "context_gain"


def _oceans(name: str, inputs: Inputs) -> Predicted:
    percent = inputs.get("mfu_without_communication", 100.0)
    inner_s, outer_s = 60 * inputs["inner_minutes"], inputs["median_all_reduce_s"]
    return models.percent_of_cycle(inner_s, outer_s, percent), 0.03, "percent_of_cycle"


PREDICT: dict[str, Callable[[str, Inputs], Predicted]] = {
    "vtrain-single": _vtrain,
    "vtrain-multi": _vtrain,
    "bs-time": _bigscience,
    "bs-mem": _memory,
    "mlperf31-gpt3": _mlperf31,
    "mlperf40-gpt3": _mlperf40,
    "mlperf40-tpu": _tpu,
    "mlperf51-405b": _gb200,
    "megascale-Megatron-LM": _megascale,
    "megascale-MegaScale": _megascale,
    "megascale-big-Megatron": _megascale,
    "asynctp-70b": _async,
    "asynctp-8b": _async,
    "nemo": _fp8,
    "mb-llama70-h100": _fp8,
    "mb-llama405": _fp8,
    "mb-llama8": _fp8,
    "mb-405b": _bridge,
    "mb-llama70-gb200": _bridge,
    "automodel-Llama3-70B": _automodel,
    "automodel": _automodel,
    "longseq-7b": _long,
    "intellect1": _oceans,
}
"""The class of a row -> (its name, its inputs) -> value, margin, the model's name."""
