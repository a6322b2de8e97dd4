"""What the planner says of the memory of the Playbook's runs, and of the setting that they hide.

    found = infer_modes(ended_runs())     # of each run the mode of tensor parallelism, and its peak
    area = area_under_curve(predicted_gib(playbook_runs(), fullest=True), failed)

The peak in the file is that of rank 0, which is on the first stage. Whether a run fails is for the
fullest stage to say. The program writes two peaks, of memory allocated and of memory reserved, and
the file has one column: it is taken for the second, as what is over the count says.

The file does not say how tensor parallelism ran, and its script has more than one mode. Memory
tells: the same layout takes 25.7, 38.3 and 40.2 GiB. `infer_modes` takes for each run the one of
nanotron's three modes whose peak is nearest. That uses the measured peak, so what is left over is
no prediction: it says how far one of the modes explains a run.

Sources: huggingface/nanotron e24d248, helpers.py, `log_throughput` (rank 0 writes the line), and
scripts/scaling_benchmarks.py (its modes).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from gpu_course.planner.layout import Layouts
from gpu_course.planner.memory import NANOTRON, Footprint, first_stage_bytes, peak_bytes
from gpu_course.planner.playbook import MODELS, MODES, PlaybookRun, playbook_runs
from gpu_course.units import GIB


def ended_runs() -> tuple[PlaybookRun, ...]:
    """Returns the runs that ended with a result."""
    return tuple(run for run in playbook_runs() if not run.failed)


def predicted_gib(
    runs: Sequence[PlaybookRun],
    mode: str = MODES[0],
    *,
    fullest: bool = False,
    footprint: Footprint = NANOTRON,
) -> np.ndarray:
    """Returns the planner's peak of each run, in GiB.

    Args:
        runs: of the Playbook.
        mode: of tensor parallelism, for all of them.
        fullest: True for the fullest stage, False for the first, which the file is of.
        footprint: of the program.
    """
    found = np.zeros(len(runs))
    kinds: dict[tuple[str, int], list[int]] = {}
    for index, run in enumerate(runs):
        kinds.setdefault((run.model, run.step.sequences), []).append(index)
    take = peak_bytes if fullest else first_stage_bytes
    for (name, _), which in kinds.items():
        layouts = Layouts.of([runs[index].layout(mode) for index in which])
        found[which] = take(MODELS[name], layouts, runs[which[0]].step, footprint) / GIB
    return found


@dataclass(frozen=True)
class Inferred:
    """What the measured peak says of a run's hidden setting.

    Attributes:
        run: that it is said of.
        mode: of tensor parallelism, one of MODES; the first where one GPU has whole layers.
        gib: the planner's peak in that mode.
        plain_gib: in the first mode.
    """

    run: PlaybookRun
    mode: str
    gib: float
    plain_gib: float


def infer_modes(runs: Sequence[PlaybookRun]) -> list[Inferred]:
    """Returns for each run the mode whose predicted peak is nearest to the measured one.

    Args:
        runs: that ended.
    """
    peaks = np.stack([predicted_gib(runs, mode) for mode in MODES])
    measured = np.array([run.peak_gib for run in runs], dtype=float)
    nearest = np.abs(np.log(peaks / measured)).argmin(axis=0)
    return [
        Inferred(run, MODES[mode], float(peaks[mode, at]), float(peaks[0, at]))
        for at, (run, mode) in enumerate(zip(runs, nearest, strict=True))
    ]


def area_under_curve(scores: np.ndarray, positive: np.ndarray) -> float:
    """Returns how often a positive has a higher score than a negative: 1 is a perfect order.

    Ties count half.

    Args:
        scores: of each case.
        positive: of each case, a truth.

    Source: Hanley and McNeil 1982 (the area under the ROC curve is the statistic of Wilcoxon).

    >>> area_under_curve(np.array([1.0, 2.0, 2.0, 3.0]), np.array([False, False, True, True]))
    0.875
    """
    high, low = np.sort(scores[positive]), np.sort(scores[~positive])
    below = np.searchsorted(low, high, "left") + np.searchsorted(low, high, "right")
    return float(below.sum() / 2 / (len(high) * len(low)))


def errors(predicted: np.ndarray, measured: np.ndarray) -> tuple[float, float]:
    """Returns the median error, and that which nine in ten stay below, as shares of the measured.

    >>> errors(np.array([1.1, 2.0, 3.0]), np.array([1.0, 2.0, 4.0]))
    (0.1..., 0.22...)
    """
    off = np.abs(predicted / measured - 1)
    return float(np.median(off)), float(np.quantile(off, 0.9))
