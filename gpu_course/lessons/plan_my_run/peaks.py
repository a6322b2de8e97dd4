"""Predicted bytes beside the peaks that nanotron measured in the Playbook's benchmark.

The file has the peak of rank 0, which is on the first stage.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gpu_course.lessons.plan_my_run import stage_bytes
from gpu_course.lessons.plan_my_run.trainings import Training, batch_of, layout_of, model_of
from gpu_course.planner.layout import stage_layers
from gpu_course.planner.playbook import SEQUENCE, PlaybookRun
from gpu_course.planner.playbook_memory import ended_runs, errors, infer_modes
from gpu_course.units import GIB


def measured() -> list[PlaybookRun]:
    """Returns the runs that ended, and whose stages all have a layer: what a puzzle can ask for."""
    return [run for run in ended_runs() if min(stage_layers(run.shape, run.pp, "compute")) > 0]


def training(run: PlaybookRun, sequence_parallel: bool = True) -> Training:
    """Returns a run as plain values; attention writes no scores down, so that is "selective".

    Args:
        run: of the benchmark.
        sequence_parallel: the mode of tensor parallelism, which the file does not say.
    """
    shape = run.shape
    model = model_of(
        shape.layers,
        shape.hidden,
        shape.heads,
        mlp=shape.inside,
        matrices=3,
        vocabulary=shape.vocabulary,
        tied=shape.tied,
    )
    layout = layout_of(
        list(stage_layers(shape, run.pp, "compute")),
        dp=run.dp,
        tp=run.tp,
        sp=sequence_parallel,
        zero=run.zero,
        recompute="selective",
    )
    return Training(model, layout, batch_of(run.step.sequences, run.microbatch, SEQUENCE))


def formula_gib(run: PlaybookRun) -> float:
    """Returns the GiB of the first stage as the puzzle counts them."""
    asked = training(run)
    parts = (asked.model, asked.layout)
    states = stage_bytes.state_bytes(*parts, 0)
    return (states + stage_bytes.activation_bytes(*parts, asked.batch, 0)) / GIB


def formula_ratio() -> float:
    """Returns the median of what the puzzle's formulas count, over what was measured."""
    return float(np.median([formula_gib(run) / (run.peak_gib or 1.0) for run in measured()]))


def line(words: str, predicted: Sequence[float], peaks: Sequence[float]) -> str:
    """Returns how far predictions are off, as a line of a table."""
    ratio = np.median(np.asarray(predicted) / np.asarray(peaks))
    median, most = errors(np.asarray(predicted), np.asarray(peaks))
    return f"{words:<34}{ratio:>7.2f}{median:>10.0%}{most:>12.0%}"


HEAD = f"{'':<34}{'ratio':>7}{'median':>10}{'nine in ten':>12}"


def table(own: Sequence[float] = ()) -> str:
    """Returns how far the formulas and the planner are off.

    Args:
        own: GiB that an answer of the learner gives for each of `measured`; or nothing.
    """
    runs = measured()
    peaks = [run.peak_gib or 0.0 for run in runs]
    inferred = infer_modes(runs)
    plain, nearest = [each.plain_gib for each in inferred], [each.gib for each in inferred]
    lines = [f"{len(runs)} peaks: predicted over measured, and how far off", HEAD]
    if own:
        lines.append(line("your predict_memory", own, peaks))
    lines += [
        line("the puzzle's formulas", [formula_gib(run) for run in runs], peaks),
        line("the planner, nothing inferred", plain, peaks),
        line("the planner, the nearest mode of tp", nearest, peaks),
    ]
    return "\n".join(lines)
