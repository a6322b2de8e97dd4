"""What the planner says of the time of the Playbook's runs, and which runs it calls healthy.

The file holds runs that are up to 33 times slower than their twins, so a rule says first which are
left out: a run is healthy where it took less than SICK times what the planner says, and where no
twin (the same but for ZeRO) is HEALED times as fast. The rule asks a run's own time: what is left
over is the planner's error on runs that went as runs go, and no forecast of whether one does.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean

import numpy as np

from gpu_course.planner.layout import Layouts
from gpu_course.planner.machines import H100_EFA
from gpu_course.planner.playbook import MODELS, PlaybookRun
from gpu_course.planner.programs import NANOTRON
from gpu_course.planner.step_time import step_time

SICK = 2.0
"""Times the planner's step: a run that takes longer is sick."""
HEALED = 1.5
"""Times as slow as its twin: such a run is sick too."""
CLOSE = 0.10
"""A choice is good whose run took at most so much longer than the fastest."""


def measured_s(runs: Sequence[PlaybookRun]) -> np.ndarray:
    """Returns the seconds of a step of each run."""
    rates = np.array([run.tokens_per_s or np.nan for run in runs])
    return np.array([run.batch * run.step.tokens for run in runs]) / rates


def predicted_s(runs: Sequence[PlaybookRun]) -> np.ndarray:
    """Returns the planner's seconds of a step of each run."""
    found = np.zeros(len(runs))
    kinds: dict[tuple[str, int], list[int]] = {}
    for index, run in enumerate(runs):
        kinds.setdefault((run.model, run.step.sequences), []).append(index)
    for (name, _), which in kinds.items():
        layouts = Layouts.of([runs[index].layout() for index in which])
        step = runs[which[0]].step
        found[which] = step_time(MODELS[name], layouts, step, H100_EFA, NANOTRON).total
    return found


def healthy(runs: Sequence[PlaybookRun]) -> np.ndarray:
    """Returns for each run whether the rule calls it healthy."""
    took = measured_s(runs)
    twins: dict[tuple[object, ...], float] = {}
    for run, seconds in zip(runs, took, strict=True):
        key = _twin(run)
        twins[key] = min(twins.get(key, np.inf), float(seconds))
    fastest = np.array([twins[_twin(run)] for run in runs])
    kept: np.ndarray = (took < SICK * predicted_s(runs)) & (took < HEALED * fastest)
    return kept


def _twin(run: PlaybookRun) -> tuple[object, ...]:
    return (run.model, run.nodes, run.dp, run.pp, run.tp, run.microbatch)


@dataclass(frozen=True)
class Cell:
    """One model on so many nodes: how well the planner ranks its runs.

    Attributes:
        model, nodes: of the cell.
        runs, healthy: how many there are.
        rank: correlation of ranks over the healthy runs; None where there are fewer than five.
        regret: how much longer the planner's choice took than the fastest run: 0.1 for a tenth.
    """

    model: str
    nodes: int
    runs: int
    healthy: int
    rank: float | None
    regret: float


def cells(runs: Sequence[PlaybookRun], among_sick: bool = False) -> list[Cell]:
    """Returns each model on each number of nodes.

    The choice is made among healthy runs, where there are some: a plan does not ask for a sick one.

    Args:
        runs: that ended.
        among_sick: True where the choice is made among all of them.
    """
    took, said, good = measured_s(runs), predicted_s(runs), healthy(runs)
    names = sorted({(run.model, run.nodes) for run in runs})
    found = []
    for model, nodes in names:
        inside = np.array([(run.model, run.nodes) == (model, nodes) for run in runs])
        kept = inside & good
        among = kept if kept.any() and not among_sick else inside
        rank = None
        if kept.sum() >= 5:
            rank = float(np.corrcoef(_ranks(took[kept]), _ranks(said[kept]))[0, 1])
        choice = np.flatnonzero(among)[said[among].argmin()]
        regret = float(took[choice] / took[inside].min() - 1)
        found.append(Cell(model, nodes, int(inside.sum()), int(kept.sum()), rank, regret))
    return found


def _ranks(values: np.ndarray) -> np.ndarray:
    """Places of values in their order, equal ones at the mean of theirs."""
    _, inverse, counts = np.unique(values, return_inverse=True, return_counts=True)
    ends = np.cumsum(counts)
    middles: np.ndarray = (ends - (counts - 1) / 2)[inverse]
    return middles


def mean_rank(found: Sequence[Cell]) -> float:
    """Returns the mean rank correlation of the cells that have one."""
    return fmean(cell.rank for cell in found if cell.rank is not None)


def good_choices(found: Sequence[Cell]) -> int:
    """Returns in how many cells the choice is close to the best."""
    return sum(cell.regret <= CLOSE for cell in found)
