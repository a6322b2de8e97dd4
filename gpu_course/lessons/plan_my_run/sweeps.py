"""Sweeps of layouts for the puzzle `search`: what is known of each beforehand, and how it ran.

What is known goes to an answer, how it ran stays here. Two sweeps are runs of the Ultra-Scale
Playbook's benchmark; those of the others are drawn: a machine computes some percent slower than a
GPU could, and hides a part of what it sends.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gpu_course.lessons.plan_my_run import stage_bytes, step_parts
from gpu_course.lessons.plan_my_run.trainings import (
    GPT3,
    LLAMA_3_70B,
    SMALL,
    Plain,
    batch_of,
    layout_of,
    machine_of,
    model_of,
)
from gpu_course.planner.playbook import MODELS, SEQUENCE, playbook_runs
from gpu_course.units import GB, GIB

FASTEST = machine_of(800e12, 450e9, 50e9)
"""What no H100 exceeds: 792 TFLOP/s is the most that Bekman's sweep found in a product of
matrices, and the links are those of the data sheets.

Source: Stas Bekman, ml-engineering, compute/accelerator, "Maximum Achievable Matmul FLOPS".
"""
SENT = ("tp", "pp", "dp")


@dataclass(frozen=True)
class Sweep:
    """Layouts of one training on one cluster.

    Attributes:
        layouts: as an answer gets them.
        limit_bytes: of the memory of a GPU.
        measured_s: how long a step of each took, as far as it fitted.
    """

    layouts: tuple[Plain, ...]
    limit_bytes: float
    measured_s: tuple[float, ...]

    @property
    def fitting(self) -> list[int]:
        """The numbers of the layouts that fit."""
        found = enumerate(self.layouts)
        return [number for number, each in found if each["memory_bytes"] <= self.limit_bytes]

    @property
    def best_s(self) -> float:
        """The fastest step, found among all; inf where nothing fits."""
        return min((self.measured_s[number] for number in self.fitting), default=math.inf)

    @property
    def needed(self) -> int:
        """How many layouts have to run, since what is known of them leaves them a chance."""
        return sum(floor_s(self.layouts[number]) < self.best_s for number in self.fitting)


def floor_s(layout: Plain) -> float:
    """Returns what a step takes at least.

    Args:
        layout: one of a sweep.
    """
    seconds = layout["seconds"]
    computing = seconds["compute"] + seconds["bubble"]
    return float(max(computing, *(seconds[part] for part in SENT)))


def _even(layers: int, stages: int) -> list[int]:
    each, over = divmod(layers, stages)
    return [each + (stage < over) for stage in range(stages)]


def known(model: Plain, layout: Plain, batch: Plain, machine: Plain, memory_bytes: float) -> Plain:
    """Returns what a sweep says of a layout beforehand.

    Args:
        model, layout, batch, machine: as the puzzles of this lesson take them.
        memory_bytes: of its fullest GPU.
    """
    parts = step_parts.step_seconds(model, layout, batch, machine)
    return {
        "dp": layout["dp"],
        "tp": layout["tp"],
        "pp": len(layout["stages"]),
        "zero": layout["zero"],
        "recompute": layout["recompute"],
        "microbatch": batch["microbatch"],
        "memory_bytes": memory_bytes,
        "seconds": {part: parts[part] for part in ("compute", "bubble", *SENT)},
    }


def legal_layouts(model: Plain, gpus: int, sequences: int, sequence: int) -> list[Plain]:
    """Returns the layouts of a training that can be, with what is known of them on FASTEST."""
    found = []
    axes = itertools.product((1, 2, 4, 8, 16), (1, 2, 4, 8, 16))
    ways = list(itertools.product((1, 2, 4), (0, 1), ("selective", "full")))
    for tp, pp in axes:
        if gpus % (tp * pp) or pp > model["layers"]:
            continue
        stages = _even(model["layers"], pp)
        for microbatch, zero, recompute in ways:
            layout = layout_of(
                stages, dp=gpus // tp // pp, tp=tp, sp=True, zero=zero, recompute=recompute
            )
            batch = batch_of(sequences, microbatch, sequence)
            if stage_bytes.illegal(model, layout, batch):
                continue
            memory_bytes = max(
                stage_bytes.state_bytes(model, layout, stage)
                + stage_bytes.activation_bytes(model, layout, batch, stage)
                for stage in range(pp)
            )
            found.append(known(model, layout, batch, FASTEST, memory_bytes))
    return found


TRAININGS: dict[str, tuple[Plain, int, int, int]] = {
    "small": ({**SMALL, "layers": 8}, 16, 64, 64),
    "8B": (
        model_of(32, 4_096, 32, kv_heads=8, mlp=14_336, matrices=3, vocabulary=128_256),
        64,
        256,
        8_192,
    ),
    "70B": (LLAMA_3_70B, 256, 512, 8_192),
    "GPT-3": (GPT3, 1_024, 1_536, 2_048),
}
"""Name -> model, GPUs, sequences of a step, tokens of one."""


@functools.lru_cache(maxsize=64)
def drawn_sweep(
    name: str, seed: int, limit_gb: float = 80.0, hidden: float = 0.5, order: str = ""
) -> Sweep:
    """Returns a sweep whose times are drawn.

    Args:
        name: a key of TRAININGS.
        seed: of what is drawn.
        limit_gb: of a GPU's memory.
        hidden: the part of what is sent that the machine hides, at the mean.
        order: "slowest first" for falling floors; else layouts are shuffled.
    """
    rng = np.random.default_rng([30, seed])
    layouts = legal_layouts(*TRAININGS[name])
    if order == "slowest first":
        layouts.sort(key=floor_s, reverse=True)
    else:
        layouts = [layouts[at] for at in rng.permutation(len(layouts))]
    measured = []
    for each in layouts:
        seconds = each["seconds"]
        computing = (seconds["compute"] + seconds["bubble"]) * rng.uniform(1.05, 1.2)
        shown = 1 - np.clip(hidden + rng.uniform(-0.1, 0.1), 0, 1)
        sent = sum(seconds[part] for part in SENT) * shown
        measured.append(float(max(computing + sent, floor_s(each))))
    return Sweep(tuple(layouts), limit_gb * GB, tuple(measured))


@functools.lru_cache
def playbook_sweep(name: str, nodes: int, limit_gib: float) -> Sweep:
    """Returns the runs of a cell of the Playbook's benchmark that ended, as a sweep.

    Args:
        name: of a model, a key of MODELS.
        nodes: of eight H100.
        limit_gib: the memory that a layout may take, as measured.
    """
    shape = MODELS[name]
    model = model_of(
        shape.layers,
        shape.hidden,
        shape.heads,
        mlp=shape.inside,
        matrices=3,
        vocabulary=shape.vocabulary,
        tied=shape.tied,
    )
    layouts, measured = [], []
    for run in playbook_runs():
        if (run.model, run.nodes) != (name, nodes) or run.peak_gib is None or not run.tokens_per_s:
            continue
        layout = layout_of(_even(shape.layers, run.pp), dp=run.dp, tp=run.tp, zero=run.zero)
        batch = batch_of(run.step.sequences, run.microbatch, SEQUENCE)
        layouts.append(known(model, layout, batch, FASTEST, run.peak_gib * GIB))
        measured.append(run.step.sequences * SEQUENCE / run.tokens_per_s)
    return Sweep(tuple(layouts), limit_gib * GIB, tuple(measured))


@dataclass(frozen=True)
class Tried:
    """What became of a list of pairs.

    Attributes:
        runs: how many layouts ran.
        died: numbers of those that did not fit.
        found_s: the fastest step; inf where there is none.
        found: the number of its layout, or -1.
    """

    runs: int
    died: tuple[int, ...]
    found_s: float
    found: int


def tried(sweep: Sweep, pairs: Sequence[tuple[int, Any]]) -> Tried:
    """Returns what becomes of a list: each is run unless its floor leaves it no chance.

    Args:
        sweep: the layouts, and how they ran.
        pairs: (number, floor in seconds), in the order in which they are tried.
    """
    fits, runs, died, best_s, best = set(sweep.fitting), 0, [], math.inf, -1
    for number, least_s in pairs:
        if least_s >= best_s:
            continue
        runs += 1
        if number not in fits:
            died.append(number)
        elif sweep.measured_s[number] < best_s:
            best_s, best = sweep.measured_s[number], number
    return Tried(runs, tuple(died), best_s, best)
