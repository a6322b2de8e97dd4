"""Runs of the Ultra-Scale Playbook's benchmark, those that ended and those that failed.

    sum(run.failed for run in playbook_runs())

Each trained on about 256 sequences of 4,096 tokens in a step, on nodes of eight H100 80 GB, in
bfloat16 with gradients added up in float32. The file says nothing of how tensor parallelism ran:
with tokens cut between the products or not, and with what is gathered for a product kept or not.

Source: Ultra-Scale Playbook, Hugging Face 2025, file of the benchmark's runs; shapes from its text.
"""

from __future__ import annotations

import csv
import functools
from dataclasses import dataclass
from pathlib import Path

from gpu_course.measure.state_formulas import MIXED_ADAM_ACCUMULATING
from gpu_course.measure.transformer_shapes import Transformer
from gpu_course.planner.layout import Batch, Layout

RUNS = Path(__file__).with_name("playbook_runs.csv")
GPUS_PER_NODE = 8
MODES = ("gather again", "keep gathered", "all-reduce")
"""How tensor parallelism can run in nanotron: REDUCE_SCATTER with tp_recompute_allgather, without
it, and ALL_REDUCE."""
SEQUENCE = 4096


def _llama(layers: int, hidden: int, heads: int, mlp: int, tied: bool) -> Transformer:
    return Transformer(
        layers=layers,
        hidden=hidden,
        heads=heads,
        mlp=mlp,
        gated=True,
        vocabulary=131_072,
        tied=tied,
        norm="rms",
    )


MODELS = {
    "1.34B": _llama(16, 2048, 32, 8192, tied=True),
    "3.57B": _llama(28, 3072, 32, 8192, tied=True),
    "8.86B": _llama(32, 4096, 32, 14336, tied=False),
    "80B": _llama(80, 8192, 64, 28672, tied=False),
}
"""The name in the file -> its shape. The two small ones have their name's number of parameters only
where embedding and head share a table, the two large ones only where they do not."""


@dataclass(frozen=True)
class PlaybookRun:
    """One run, as the file has it.

    Attributes:
        model: its name, a key of MODELS.
        nodes: of eight GPUs.
        microbatch: sequences.
        accumulation: microbatches of each rank in a step.
        batch: sequences of a step, as printed.
        dp, pp, tp: ranks along each axis.
        zero: 0 or 1.
        mfu: share of 989.5 TFLOP/s, as printed: 0.392 for 39.2 %; None where it failed.
        tokens_per_s_gpu, tokens_per_s: as printed; None where it failed.
        peak_gib: of the fullest GPU, as printed; None where it failed.
    """

    model: str
    nodes: int
    microbatch: int
    accumulation: int
    batch: int
    dp: int
    pp: int
    tp: int
    zero: int
    mfu: float | None
    tokens_per_s_gpu: float | None
    tokens_per_s: float | None
    peak_gib: float | None

    @property
    def failed(self) -> bool:
        """Whether it ended without a result: out of memory, or for another reason."""
        return self.peak_gib is None

    @property
    def gpus(self) -> int:
        """How many it ran on."""
        return self.nodes * GPUS_PER_NODE

    @property
    def shape(self) -> Transformer:
        """Of the model."""
        return MODELS[self.model]

    @property
    def step(self) -> Batch:
        """What a step trained on, as its microbatches say: in 14 runs that is not the batch."""
        return Batch(self.dp * self.microbatch * self.accumulation, SEQUENCE)

    def layout(self, mode: str = "gather again") -> Layout:
        """Returns its layout.

        Args:
            mode: of tensor parallelism, one of MODES, which the file does not say.
        """
        return Layout(
            dp=self.dp,
            tp=self.tp,
            pp=self.pp,
            zero=self.zero,
            microbatch=self.microbatch,
            sequence_parallel=mode != "all-reduce",
            keep_gathered=mode == "keep gathered",
            recipe=MIXED_ADAM_ACCUMULATING,
            split="compute",
        )


@functools.cache
def playbook_runs() -> tuple[PlaybookRun, ...]:
    """Returns all runs, in the order of the file.

    >>> runs = playbook_runs()
    >>> len(runs), sum(run.failed for run in runs)
    (1604, 756)
    """
    with RUNS.open(newline="", encoding="utf-8") as file:
        return tuple(_run(row) for row in csv.DictReader(file))


def _run(row: dict[str, str]) -> PlaybookRun:
    def number(name: str, scale: float = 1.0) -> float | None:
        return float(row[name]) * scale if row[name] else None

    return PlaybookRun(
        model=row["model"],
        nodes=int(row["nodes"]),
        microbatch=int(row["mbs"]),
        accumulation=int(row["grad_acc"]),
        batch=int(row["gbs"]),
        dp=int(row["dp"]),
        pp=int(row["pp"]),
        tp=int(row["tp"]),
        zero=int(row["zero"]),
        mfu=number("mfu_pct", 0.01),
        tokens_per_s_gpu=number("tok_s_gpu"),
        tokens_per_s=number("tok_s"),
        peak_gib=number("peak_mem_gb"),
    )
