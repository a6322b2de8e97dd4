"""How near the planner's memory comes to what was published: a part of `benchmarks.planner`."""

from __future__ import annotations

import time

import numpy as np

from gpu_course.measure.state_formulas import MIXED_ADAM, MIXED_ADAM_ACCUMULATING
from gpu_course.measure.transformer_shapes import Transformer
from gpu_course.planner.cluster import Cluster
from gpu_course.planner.layout import Batch, Layout
from gpu_course.planner.machines import H100
from gpu_course.planner.memory import MEGATRON, memory
from gpu_course.planner.playbook import playbook_runs
from gpu_course.planner.playbook_memory import (
    area_under_curve,
    ended_runs,
    errors,
    infer_modes,
    predicted_gib,
)
from gpu_course.planner.search import search
from gpu_course.units import GB

Row = tuple[str, str, str]
"""What, the figure, and its aim."""

BIGSCIENCE = (
    # GB as printed, layers, hidden, heads, tp, pp, dp, microbatch, batch, zero
    (29, 72, 14336, 64, 8, 12, 4, 1, 2048, 1),
    (38, 72, 14336, 64, 8, 6, 8, 1, 2048, 1),
    (52, 84, 13824, 64, 8, 12, 4, 4, 2048, 1),
    (72, 72, 14336, 64, 8, 12, 4, 2, 2048, 0),
    (53, 72, 14336, 112, 8, 6, 8, 4, 2048, 1),
    (59, 78, 13824, 96, 8, 6, 8, 4, 2048, 1),
    (55, 72, 14336, 64, 8, 6, 8, 4, 2048, 1),
    (59, 72, 14336, 64, 8, 4, 12, 4, 2016, 1),
    (44, 72, 14336, 64, 4, 12, 8, 2, 2048, 1),
    (63, 72, 14336, 64, 2, 12, 16, 2, 2048, 1),
    (58, 96, 12288, 64, 1, 48, 8, 1, 2048, 1),
)
"""bigscience-workshop/bigscience 9e64ede, chronicles-prequel.md, the open lines 607 to 818: what
nvidia-smi showed of the fullest GPU of 384 A100 80 GB."""


def _percent(pair: tuple[float, float]) -> str:
    return f"{100 * pair[0]:.1f} % / {100 * pair[1]:.1f} %"


def bigscience_gb(row: tuple[int, ...]) -> float:
    """Returns the planner's GB of one of the rows."""
    _, layers, hidden, heads, tp, pp, dp, microbatch, batch, zero = row
    model = Transformer(
        layers=layers, hidden=hidden, heads=heads, vocabulary=250_880, positions=2048, tied=True,
        bias=True, qkv_bias=True,
    )  # fmt: skip
    layout = Layout(
        dp=dp, tp=tp, pp=pp, zero=zero, microbatch=microbatch, recompute="full", flash=False,
        sequence_parallel=False, recipe=MIXED_ADAM if zero else MIXED_ADAM_ACCUMULATING,
    )  # fmt: skip
    return memory(model, layout, Batch(batch, 2048), MEGATRON).bytes / GB


def rows() -> list[Row]:
    """Returns the lines of the table: medians, then what nine in ten stay below."""
    runs, ended = playbook_runs(), ended_runs()
    measured = np.array([run.peak_gib for run in ended], dtype=float)
    inferred = infer_modes(ended)
    failed = np.array([run.failed for run in runs])
    deep = np.array([run.shape.layers > run.pp for run in runs])
    scores = predicted_gib(runs, fullest=True)
    found: list[Row] = [
        (
            "Playbook, peak memory, nothing inferred",
            _percent(errors(predicted_gib(ended), measured)),
            "8 % / 20 %",
        ),
        (
            "Playbook, mode of tensor parallelism inferred",
            _percent(errors(np.array([each.gib for each in inferred]), measured)),
            "5 % / 13 %",
        ),
        (
            "  runs in each mode",
            ", ".join(
                f"{sum(each.mode == mode for each in inferred)} {mode}"
                for mode in dict.fromkeys(each.mode for each in inferred)
            ),
            "",
        ),
        (
            "Playbook, failures told from fits, more layers than stages",
            f"{area_under_curve(scores[deep], failed[deep]):.3f}",
            "0.97",
        ),
        ("  all runs", f"{area_under_curve(scores, failed):.3f}", "0.93"),
    ]
    printed = np.array([row[0] for row in BIGSCIENCE], dtype=float)
    planned = np.array([bigscience_gb(row) for row in BIGSCIENCE])
    found.append(("BigScience, nvidia-smi, 11 open rows", _percent(errors(planned, printed)), ""))
    return found + _searches()


def _searches() -> list[Row]:
    dense = Transformer(
        layers=80, hidden=8192, heads=64, kv_heads=8, mlp=28672, gated=True, vocabulary=128_256,
        norm="rms",
    )  # fmt: skip
    experts = Transformer(
        layers=118, hidden=8192, heads=64, kv_heads=8, mlp=4096, gated=True, experts=32, top_k=2,
        vocabulary=128_256, norm="rms",
    )  # fmt: skip
    found: list[Row] = []
    for name, model, gpus, sequences, most in (
        ("search, dense", dense, 1024, 2048, "0.5 s"),
        ("search, experts", experts, 16_384, 4096, "3 s"),
    ):
        best_s = np.inf
        for _ in range(3):
            start = time.perf_counter()
            layouts = search(model, Cluster(H100, gpus), Batch(sequences, 8192))
            best_s = min(best_s, time.perf_counter() - start)
        what = f"{name}, {model.parameters / 1e9:.0f}B on {gpus:,} GPUs, {len(layouts):,} layouts"
        found.append((what, f"{best_s:.2f} s, {1e6 * best_s / len(layouts):.1f} us each", most))
    return found
