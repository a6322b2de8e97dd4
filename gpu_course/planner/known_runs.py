"""Published runs as the planner is asked of them: model, layout, batch, machine and program.

Each function takes the settings that a table prints and returns what its column shows. They hold
one set of machines and programs; what a source does not say is said here once, for all its rows.

Source: named at each function; the printed values stand beside the claims that use them.
"""

from __future__ import annotations

from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import numpy as np

from gpu_course.measure.transformer_shapes import Transformer
from gpu_course.planner.layer_time import Numbers
from gpu_course.planner.layout import Batch, Layout
from gpu_course.planner.machines import A100, H100, H100_500W, JEAN_ZAY, VTRAIN, Machine
from gpu_course.planner.programs import (
    BIGSCIENCE,
    MEGATRON,
    MEGATRON_CORE,
    MEGATRON_CORE_FP8,
    MEGATRON_DEEPSPEED,
    TORCHTITAN,
    TORCHTITAN_EAGER,
    Program,
)
from gpu_course.planner.step_time import StepTime, step_time


@dataclass(frozen=True)
class Run:
    """A run: all that its time depends on.

    Attributes:
        model: what is trained.
        layout: how it lies.
        batch: of a step.
        machine: a card of the cluster.
        program: that trains.
    """

    model: Any
    layout: Any
    batch: Any
    machine: Machine
    program: Program

    @property
    def time(self) -> StepTime:
        """What a step takes, part by part."""
        return step_time(self.model, self.layout, self.batch, self.machine, self.program)

    @property
    def step_s(self) -> Numbers:
        """What a step takes."""
        return self.time.total

    @property
    def tokens_per_s_and_card(self) -> float:
        """Tokens that each card trains on in a second."""
        tokens = self.batch.sequences * self.batch.tokens
        return float(tokens / self.layout.gpus / self.step_s)


def gpt(layers: int, hidden: int, heads: int, vocabulary: int = 51200) -> Transformer:
    """Returns a GPT of the papers: four hidden widths inside the MLP, one table at both ends."""
    return Transformer(layers=layers, hidden=hidden, heads=heads, vocabulary=vocabulary, tied=True)


def llama(
    layers: int, hidden: int, heads: int, kv_heads: int, mlp: int, vocabulary: int = 128256
) -> Transformer:
    """Returns a Llama: gated MLP, keys and values for some of the heads."""
    return Transformer(
        layers=layers, hidden=hidden, heads=heads, kv_heads=kv_heads, mlp=mlp, gated=True,
        vocabulary=vocabulary, norm="rms",
    )  # fmt: skip


MODELS = {
    "GPT3-5B": gpt(24, 4096, 32),
    "GPT3-20B": gpt(44, 6144, 48),
    "GPT3-175B": gpt(96, 12288, 96),
    "LLAMA2-7B": llama(32, 4096, 32, 32, 11008, 32000),
    "LLAMA2-13B": llama(40, 5120, 40, 40, 13824, 32000),
    "LLAMA2-70B": llama(80, 8192, 64, 8, 28672, 32000),
    "LLAMA3-8B": llama(32, 4096, 32, 8, 14336),
    "LLAMA3-70B": llama(80, 8192, 64, 8, 28672),
    "LLAMA3-405B": llama(126, 16384, 128, 8, 53248),
    "Nemotron-8B": Transformer(32, 4096, 32, mlp=16384, vocabulary=256000),
    "Nemotron-22B": Transformer(40, 6144, 48, mlp=24576, vocabulary=256000),
}
"""Shapes by the names that tables print. Those of the Nemotrons and of GPT3-5B and -20B are the
ones that their makers' configurations have."""


def teraflops(model: Transformer, run: Run, pairs: float = 0.5) -> float:
    """Returns the model's TFLOP/s of a card, with so much of all pairs of tokens counted."""
    flop = model.forward_flop(run.batch.tokens)
    counted = 3 * (sum(flop.values()) - (1 - pairs) * flop["scores"])
    return counted * run.tokens_per_s_and_card / 1e12


def vtrain_run(
    *, global_batch: Any, micro_batch: Any, hidden: Any, heads: Any, layers: Any, sequence: Any,
    tp: Any, dp: Any, pp: Any, gpus: Any = 0,
) -> Run:  # fmt: skip
    """Returns a run of vTrain's measurements, or as many as the arrays have.

    Full recomputation, 1F1B, 50,257 words. The program pads them only for tensor-parallel ranks.

    Source: VIA-Research/vTrain f8dda84.
    """
    model = columns(layers, hidden, heads, 50257)
    layout = many(dp=dp, tp=tp, pp=pp, microbatch=micro_batch, recompute="full")
    batch = SimpleNamespace(sequences=global_batch, tokens=sequence)
    return Run(model, layout, batch, VTRAIN, MEGATRON_DEEPSPEED)


def bigscience_run(
    *, layers: int, hidden: int, heads: int, tp: int, pp: int, dp: int, microbatch: int,
    global_batch: int, zero: int = 1, vocabulary: int = 250880, sequence: int = 2048,
) -> Run:  # fmt: skip
    """Returns a run of BigScience on 384 A100: full recomputation, 1F1B.

    Source: bigscience-workshop/bigscience 9e64ede, chronicles-prequel.md.
    """
    model = gpt(layers, hidden, heads, vocabulary)
    layout = Layout(
        dp=dp, tp=tp, pp=pp, microbatch=microbatch, recompute="full", zero=zero, flash=False,
        sequence_parallel=False,
    )  # fmt: skip
    return Run(model, layout, Batch(global_batch, sequence), JEAN_ZAY, BIGSCIENCE)


def korthikanti_run(
    *, heads: int, hidden: int, layers: int, tp: int, pp: int, gpus: int, global_batch: int,
    microbatch: int, chunks: int, present: bool,
) -> Run:  # fmt: skip
    """Returns a run of Table 5: full recomputation, or selective with sequence parallelism.

    Source: Korthikanti and others 2022, Tables 3 and 5.
    """
    layout = Layout(
        dp=gpus // tp // pp, tp=tp, pp=pp, microbatch=microbatch, chunks=chunks,
        schedule="interleaved" if chunks > 1 else "1f1b", flash=False, sequence_parallel=present,
        recompute="selective" if present else "full",
    )  # fmt: skip
    return Run(gpt(layers, hidden, heads), layout, Batch(global_batch, 2048), A100, MEGATRON)


def narayanan_run(
    *, heads: int, hidden: int, layers: int, tp: int, pp: int, gpus: int, global_batch: int
) -> Run:
    """Returns a run of Table 1 with the fastest legal microbatch and number of chunks.

    The table prints neither. Full recomputation, interleaved where there are stages.

    Source: Narayanan and others 2021, Table 1 and section 5.1.
    """
    dp = gpus // tp // pp
    model, batch = gpt(layers, hidden, heads), Batch(global_batch, 2048)
    runs = []
    for microbatch in (1, 2, 4, 8, 16):
        for chunks in (1, 2, 4) if pp > 1 else (1,):
            groups = global_batch / (dp * microbatch)
            if groups % (pp if chunks > 1 else 1) or layers % (pp * chunks):
                continue
            schedule = "interleaved" if chunks > 1 else "1f1b"
            layout = Layout(
                dp=dp, tp=tp, pp=pp, microbatch=microbatch, chunks=chunks, schedule=schedule,
                recompute="full", flash=False, sequence_parallel=False,
            )  # fmt: skip
            runs.append(Run(model, layout, batch, A100, MEGATRON))
    return min(runs, key=lambda run: float(run.step_s))


def narayanan_teraflops(**row: int) -> float:
    """Returns Table 1's TFLOP/s of a card, which count the recomputed forward pass."""
    run = narayanan_run(**row)
    b, s, layers, h, v = row["global_batch"], 2048, row["layers"], row["hidden"], 51200
    flop = 96 * b * s * layers * h**2 * (1 + s / (6 * h) + v / (16 * layers * h))
    return float(flop / row["gpus"] / run.step_s / 1e12)


def llama3_run(*, gpus: int, cp: int, dp: int, sequence: int) -> Run:
    """Returns a run of Llama 3 405B: TP 8, PP 16, eight chunks of a layer, 16 M tokens a step.

    Source: Llama Team 2024, Table 4 and section 3.3.2.
    """
    layout = Layout(
        dp=dp, tp=8, pp=16, cp=cp, chunks=8, schedule="interleaved", zero=1, recompute="none"
    )
    batch = Batch(2**24 // sequence, sequence)
    return Run(MODELS["LLAMA3-405B"], layout, batch, H100, MEGATRON_CORE)


def llama3_teraflops(**row: int) -> float:
    """Returns Table 4's BF16 TFLOP/s of a card, with a causal mask's pairs counted."""
    run = llama3_run(**row)
    return teraflops(run.model, run)


def torchtitan_run(
    *, model: str, dp: int, tp: int, microbatch: int, compiled: bool, recompute: str
) -> Run:
    """Returns a run of torchtitan on H100 of 500 W: FSDP and TP, sequences of 8,192.

    Source: pytorch/torchtitan, benchmarks/llama3_h100_202412_torchtitan.md.
    """
    layout = Layout(dp=dp, tp=tp, zero=3, microbatch=microbatch, recompute=recompute)
    program = TORCHTITAN if compiled else TORCHTITAN_EAGER
    return Run(MODELS[model], layout, Batch(dp * microbatch, 8192), H100_500W, program)


def fp8_run(
    *, model: str, gpus: int, sequences: int, tokens: int, tp: int = 1, pp: int = 1, cp: int = 1,
    chunks: int = 1, microbatch: int = 1,
) -> Run:  # fmt: skip
    """Returns a run of Megatron Core in FP8 on H100, nothing recomputed.

    Source: NVIDIA/NeMo-Framework-Launcher 26e42fa; MLPerf training 3.1 d06288b.
    """
    layout = Layout(
        dp=gpus // tp // pp // cp, tp=tp, pp=pp, cp=cp, chunks=chunks, microbatch=microbatch,
        schedule="interleaved" if chunks > 1 else "1f1b", zero=1,
    )  # fmt: skip
    return Run(MODELS[model], layout, Batch(sequences, tokens), H100, MEGATRON_CORE_FP8)


FP8_OPEN = (
    ({"model": "GPT3-175B", "gpus": 512, "sequences": 2048, "tokens": 2048, "tp": 4, "pp": 8,
      "chunks": 6}, 741.0),
    ({"model": "GPT3-175B", "gpus": 768, "sequences": 3072, "tokens": 2048, "tp": 4, "pp": 8,
      "chunks": 12}, 567_258 / 768),
    ({"model": "GPT3-175B", "gpus": 4096, "sequences": 2048, "tokens": 2048, "tp": 4, "pp": 8,
      "chunks": 12}, 2_575_563 / 4096),
    ({"model": "LLAMA2-13B", "gpus": 16, "sequences": 128, "tokens": 4096, "pp": 4,
      "chunks": 10}, 8344.0),
    ({"model": "LLAMA2-7B", "gpus": 8, "sequences": 128, "tokens": 4096}, 16_891.0),
    ({"model": "Nemotron-8B", "gpus": 64, "sequences": 256, "tokens": 4096, "tp": 2}, 11_753.0),
    ({"model": "Nemotron-22B", "gpus": 64, "sequences": 256, "tokens": 4096, "tp": 2, "pp": 4,
      "chunks": 10}, 4113.0),
)  # fmt: skip
"""Runs of `fp8_run`, and their tokens per second and card: of NVIDIA/NeMo-Framework-Launcher (the
fifth is supervised fine-tuning), and MLPerf's two of 96 and 512 nodes. What a source leaves out
(chunks, sequences of a step) is as in like runs of it."""


def megascale_run(*, gpus: int, global_batch: int) -> Run:
    """Returns a run of 175B with Megatron-LM as MegaScale's Table 2 has it.

    Source: Jiang and others 2024, arXiv 2402.15627, Table 2.
    """
    layout = Layout(dp=gpus // 64, tp=8, pp=8, chunks=6, schedule="interleaved", zero=1)
    model = gpt(96, 12288, 128, 64000)
    return Run(model, layout, Batch(global_batch, 2048), A100, MEGATRON_CORE)


def columns(layers: Any, hidden: Any, heads: Any, vocabulary: int) -> Any:
    """Returns GPTs of many shapes at once, with the names that the formulas read."""
    layers, hidden, heads = (np.asarray(each, float) for each in (layers, hidden, heads))
    return SimpleNamespace(
        layers=layers, hidden=hidden, heads=heads, queries=hidden, keys=hidden, inside=4 * hidden,
        gated=False, experts=0, top_k=0, vocabulary=vocabulary, table=vocabulary * hidden,
        attention_weights=4 * hidden**2, mlp_weights=8 * hidden**2,
    )  # fmt: skip


def many(**given: Any) -> Any:
    """Returns layouts of many runs at once that fused attention and sequence parallelism lack."""
    given = {
        name: each if isinstance(each, str) else np.asarray(each, float)
        for name, each in given.items()
    }
    rest = {"cp": 1.0, "ep": 1.0, "chunks": 1.0, "zero": 0, "recomputed_layers": 0}
    words = {"schedule": "1f1b", "split": "even"}
    return SimpleNamespace(**rest, **words, sequence_parallel=False, flash=False, **given)
