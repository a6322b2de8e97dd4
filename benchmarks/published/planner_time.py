"""How near the planner's step comes to what was published: a part of `benchmarks.planner`.

Errors are the planner's over the measured time, or rate, less one. Nothing here is set for a row.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from gpu_course.lessons.plan_my_run.claims import other_runs
from gpu_course.planner import known_runs, playbook_time, vtrain
from gpu_course.planner.layout import Batch, Layout, Layouts
from gpu_course.planner.machines import CONSTANTS, H100, MACHINES, TEN
from gpu_course.planner.playbook_memory import ended_runs
from gpu_course.planner.programs import MEGATRON_CORE, TORCHTITAN_FP8
from gpu_course.planner.step_time import step_time

Row = tuple[str, str, str]
"""What, the figure, and its aim."""

KORTHIKANTI = (
    # heads, hidden, layers, tp, pp, gpus, batch, microbatch, chunks; s in full, s present
    (64, 6144, 48, 8, 1, 8, 4, 4, 1, 1.42, 1.10),
    (96, 12288, 96, 8, 8, 64, 64, 1, 3, 18.13, 13.75),
    (128, 20480, 105, 8, 35, 280, 280, 1, 3, 49.05, 37.83),
    (160, 25600, 128, 8, 64, 512, 512, 1, 1, 94.42, 71.49),
)
"""arXiv 2205.05198, Tables 3 and 5: with full recomputation, and with all that the paper adds."""
WIDE_S = 39.15
"""The same, section 6.3: the third model with eight times the GPUs and sequences, and all of it."""
NARAYANAN = (
    # heads, hidden, layers, tp, pp, gpus, batch; TFLOP/s of a GPU
    (24, 2304, 24, 1, 1, 32, 512, 137),
    (32, 3072, 30, 2, 1, 64, 512, 138),
    (32, 4096, 36, 4, 1, 128, 512, 142),
    (48, 6144, 40, 8, 1, 256, 1024, 135),
    (64, 8192, 48, 8, 2, 512, 1536, 138),
    (80, 10240, 60, 8, 4, 1024, 1792, 140),
    (96, 12288, 80, 8, 8, 1536, 2304, 148),
    (128, 16384, 96, 8, 16, 1920, 2160, 155),
    (128, 20480, 105, 8, 35, 2520, 2520, 163),
    (160, 25600, 128, 8, 64, 3072, 3072, 163),
)
"""arXiv 2104.04473, Table 1."""
LLAMA3 = (
    # gpus, cp, dp, sequence; TFLOP/s of a GPU
    (8192, 1, 64, 8192, 430),
    (16384, 1, 128, 8192, 400),
    (16384, 16, 8, 131072, 380),
)
"""arXiv 2407.21783, Table 4."""
BIGSCIENCE = (
    # s of a step; layers, hidden, heads, tp, pp, dp, microbatch, batch, zero
    (143.31, 72, 14336, 64, 8, 12, 4, 1, 2048, 1),
    (139.82, 72, 14336, 64, 8, 6, 8, 1, 2048, 1),
    (133.12, 84, 13824, 64, 8, 12, 4, 4, 2048, 1),
    (137.34, 72, 14336, 64, 8, 12, 4, 2, 2048, 0),
    (135.55, 84, 13312, 64, 8, 6, 8, 2, 2048, 1),
    (120.85, 72, 14336, 64, 8, 6, 8, 4, 2048, 1),
    (138.72, 72, 14336, 112, 8, 6, 8, 4, 2048, 1),
    (124.75, 78, 13824, 96, 8, 6, 8, 4, 2048, 1),
    (122.96, 96, 12288, 64, 8, 6, 8, 4, 2048, 1),
    (114.11, 72, 14336, 64, 8, 6, 8, 4, 2048, 1),
    (99.93, 72, 14336, 64, 8, 12, 4, 2, 1568, 1),
    (114.81, 72, 14336, 64, 8, 4, 12, 4, 2016, 1),
    (110.48, 72, 14336, 64, 4, 12, 8, 2, 2048, 1),
    (112.5, 72, 14336, 64, 2, 12, 16, 2, 2048, 1),
    (142.17, 96, 12288, 64, 1, 48, 8, 1, 2048, 1),
    (147.41, 78, 13824, 128, 4, 12, 8, 2, 2048, 1),
    (35.77, 78, 13824, 96, 4, 12, 8, 2, 512, 1),
    (59.65, 78, 13824, 96, 4, 12, 8, 2, 1024, 1),
    (105.22, 70, 14336, 112, 4, 12, 8, 2, 2048, 1),
)
"""bigscience-workshop/bigscience 9e64ede, chronicles-prequel.md, open lines, and BLOOM's own."""
MLPERF_64_NODES = (16 * 128, 64, 378_852)
"""Sequences of a step, microbatches of two, and tokens per second: the third open row of Eos."""
TORCHTITAN = {"eager": (5762, 5605), "compiled": (6667, 6514), "FP8": (8532, 8380)}
"""Tokens per second and GPU of Llama 3.1 8B on 8 and on 128 GPUs."""
TORCHTITAN_70B = 829
"""The same of 70B on 256, FSDP 32 and TP 8."""
MISSES = {
    "torchtitan's 70B over its 8B": """
        The source does not say what runs again. With all of it the planner is a quarter slow; with
        nothing it is as fast as measured, and then it would not fit.""",
    "vTrain's runs of TP 2 and 4 on several nodes": """
        Some take up to 60 % longer than others of their kind. No layout, rate or link that the
        source names tells them apart.""",
    "vTrain's runs of TP 8 on one node": """
        The smallest layers wait for eight hosts, and that varies by a third from one microbatch
        size to the next.""",
    "BigScience with 112 heads": """
        15 to 22 % longer than two runs with 64, where products of 128 should be faster.""",
    "The Playbook's tensor parallelism over four nodes": """
        A third slower than its bytes and the network's rate explain.""",
}
"""Where the planner is far off, and what is known of it."""


def korthikanti() -> np.ndarray:
    """Returns the errors of Table 5's times."""
    names = ("heads", "hidden", "layers", "tp", "pp", "gpus", "global_batch", "microbatch")
    found = []
    for row in KORTHIKANTI:
        given = dict(zip((*names, "chunks"), row[:9], strict=True))
        for present, seconds in ((False, row[9]), (True, row[10])):
            run = known_runs.korthikanti_run(**given, present=present)  # type: ignore[arg-type]
            found.append(float(run.step_s) / seconds - 1)
    third = dict(zip((*names, "chunks"), KORTHIKANTI[2][:9], strict=True))
    third |= {"gpus": 8 * 280, "global_batch": 8 * 280}
    wide = known_runs.korthikanti_run(**third, present=True)  # type: ignore[arg-type]
    return np.array([*found, float(wide.step_s) / WIDE_S - 1])


def narayanan() -> np.ndarray:
    """Returns the errors of Table 1's rates."""
    names = ("heads", "hidden", "layers", "tp", "pp", "gpus", "global_batch")
    rates = (
        known_runs.narayanan_teraflops(**dict(zip(names, row[:7], strict=True))) / row[7]
        for row in NARAYANAN
    )
    return np.array(list(rates)) - 1


def llama3() -> np.ndarray:
    """Returns the errors of Table 4's rates."""
    names = ("gpus", "cp", "dp", "sequence")
    rates = (
        known_runs.llama3_teraflops(**dict(zip(names, row[:4], strict=True))) / row[4]
        for row in LLAMA3
    )
    return np.array(list(rates)) - 1


def bigscience() -> np.ndarray:
    """Returns the errors of BigScience's steps."""
    names = ("layers", "hidden", "heads", "tp", "pp", "dp", "microbatch", "global_batch", "zero")
    found = []
    for seconds, *row in BIGSCIENCE:
        run = known_runs.bigscience_run(**dict(zip(names, map(int, row), strict=True)))
        found.append(float(run.step_s) / seconds - 1)
    return np.array(found)


def fp8() -> np.ndarray:
    """Returns the errors of rates in FP8 on H100."""
    rates = (
        known_runs.fp8_run(**run).tokens_per_s_and_card / measured  # type: ignore[arg-type]
        for run, measured in known_runs.FP8_OPEN
    )
    return np.array(list(rates)) - 1


def mlperf() -> float:
    """Returns the error of the third open size of Eos, from the two others."""
    sequences, pairs, measured = MLPERF_64_NODES
    turn_s = 2 * other_runs.MLPERF_TURN_S
    bubble = other_runs.MLPERF_BUBBLE
    said = other_runs.mlperf_gpt3_tokens_per_s(sequences, pairs, bubble, turn_s, 1.0)
    return said / measured - 1


def titan(kind: str, gpus: int) -> float:
    """Returns the planner's tokens per second and GPU of torchtitan's 8B."""
    run = known_runs.torchtitan_run(
        model="LLAMA3-8B", dp=gpus, tp=1, microbatch=2, compiled=kind != "eager",
        recompute="selective",
    )  # fmt: skip
    if kind == "FP8":
        run = replace(run, program=TORCHTITAN_FP8)
    return run.tokens_per_s_and_card


def torchtitan() -> dict[str, float]:
    """Returns the errors of torchtitan's ratios."""
    ratios = {
        "compiled / eager": (("compiled", 0), ("eager", 0)),
        "FP8 / compiled": (("FP8", 0), ("compiled", 0)),
        "128 / 8 GPUs": (("compiled", 1), ("compiled", 0)),
    }
    found = {}
    for name, (one, other) in ratios.items():
        measured = TORCHTITAN[one[0]][one[1]] / TORCHTITAN[other[0]][other[1]]
        said = titan(one[0], (8, 128)[one[1]]) / titan(other[0], (8, 128)[other[1]])
        found[name] = said / measured - 1
    large = known_runs.torchtitan_run(
        model="LLAMA3-70B", dp=32, tp=8, microbatch=16, compiled=True, recompute="full"
    )
    measured = TORCHTITAN_70B / TORCHTITAN["compiled"][0]
    said = large.tokens_per_s_and_card / titan("compiled", 8)
    return {**found, "70B / 8B": said / measured - 1}


def microseconds_a_layout(many: int = 50_000) -> float:
    """Returns how long the time model takes for a layout of many, on this machine."""
    layouts = Layouts.of([Layout(dp=64, tp=8, pp=2)]).take(np.zeros(many, dtype=int))
    model, batch = known_runs.MODELS["LLAMA3-405B"], Batch(4096, 8192)
    started = time.perf_counter()
    assert len(step_time(model, layouts, batch, H100, MEGATRON_CORE).total) == many
    return (time.perf_counter() - started) / many * 1e6


def rows() -> list[Row]:
    """Returns the lines of the table."""
    runs = ended_runs()
    kept = playbook_time.healthy(runs)
    off = np.abs(playbook_time.predicted_s(runs) / playbook_time.measured_s(runs) - 1)[kept]
    cells = playbook_time.cells(runs)
    single, multi = (1 / vtrain.reached(kind) - 1 for kind in ("single", "multi"))
    titans = torchtitan()
    near = [name for name in titans if name != "70B / 8B"]
    return [
        ("constants of a machine", f"{len(CONSTANTS)} ({len(MACHINES)} machines)", f"<= {TEN}"),
        _mean("Korthikanti Table 5, 9 times", korthikanti(), 4),
        _mean("Narayanan Table 1, 10 rates", narayanan(), 7),
        _mean("vTrain, one node, 720 open", single, 8.4),
        _mean("vTrain, several nodes, 54 open", multi, 6.5),
        _most("Llama 3 Table 4, 3 rates", llama3(), 5),
        _most("MLPerf, 64 nodes from 96 and 512", [mlperf()], 2),
        _most("torchtitan, ratios of 8B", [titans[name] for name in near], 10),
        _most("torchtitan, 70B / 8B", [titans["70B / 8B"]], 10),
        _mean("BigScience, 19 open steps", bigscience(), None),
        _mean("FP8 on H100, 7 open rates", fp8(), None),
        (
            f"Playbook time, {kept.sum()} of {len(runs)} runs healthy",
            f"median {np.median(off):.1%}",
            "< 14 %",
        ),
        ("Playbook, mean rank correlation", f"{playbook_time.mean_rank(cells):.3f}", "> 0.9"),
        (
            f"Playbook, choices within 10 % of the best of {len(cells)}",
            str(playbook_time.good_choices(cells)),
            ">= 22",
        ),
        (
            "  where sick runs may be chosen too",
            str(playbook_time.good_choices(playbook_time.cells(runs, among_sick=True))),
            "-",
        ),
        ("a layout's time, of 50,000", f"{microseconds_a_layout():.1f} µs", "< 18 µs"),
    ]


def _mean(what: str, errors: np.ndarray, aim: float | None) -> Row:
    off = np.abs(errors)
    found = f"mean {off.mean():.1%}, at most {off.max():.1%}"
    return what, found, f"mean < {aim} %" if aim else "-"


def _most(what: str, errors: Sequence[float] | np.ndarray, aim: float) -> Row:
    return what, f"at most {np.abs(errors).max():.1%}", f"within {aim} %"
