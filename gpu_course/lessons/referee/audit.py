"""The audit of the Playbook's benchmark: what its own rows say of each other.

Nothing here knows what a run should take: runs are held against runs, and labels against numbers.
The one exception is `failed_with_room`, which asks the planner.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from gpu_course.lessons.referee.credited import credited_mfu
from gpu_course.planner.playbook import MODELS, SEQUENCE, PlaybookRun, playbook_runs
from gpu_course.planner.playbook_memory import predicted_gib

HALF_A_CARD_GIB = 40
MANY_STAGES = 16
LABEL_OFF = 0.1
"""Points of MFU by which a run may miss its label's: one of its last printed digit."""
GROUPED = replace(MODELS["80B"], kv_heads=8)
"""The model of 80B with 8 heads of keys and values, 70.6 billion parameters."""


def ended() -> list[PlaybookRun]:
    """Returns the runs with a result."""
    return [run for run in playbook_runs() if not run.failed]


@dataclass(frozen=True)
class Group:
    """Runs that differ in data parallelism alone, without ZeRO: all need the same memory."""

    model: str
    tp: int
    pp: int
    microbatch: int
    runs: tuple[PlaybookRun, ...]

    @property
    def apart(self) -> float:
        """The largest peak over the smallest."""
        peaks = [run.peak_gib for run in self.runs if run.peak_gib]
        return max(peaks) / min(peaks)


def same_memory() -> list[Group]:
    """Returns the groups of two runs and more, those that lie farthest apart first."""
    found: dict[tuple[str, int, int, int], list[PlaybookRun]] = {}
    for run in ended():
        if run.zero == 0:
            found.setdefault((run.model, run.tp, run.pp, run.microbatch), []).append(run)
    groups = [Group(*key, tuple(runs)) for key, runs in found.items() if len(runs) > 1]
    return sorted(groups, key=lambda group: -group.apart)


@dataclass(frozen=True)
class Twins:
    """Two runs that differ in ZeRO alone, the slower and the faster."""

    slow: PlaybookRun
    fast: PlaybookRun

    @property
    def times(self) -> float:
        """How many times as many tokens a second the faster one makes."""
        return (self.fast.tokens_per_s_gpu or 0.0) / (self.slow.tokens_per_s_gpu or 1.0)


def twins() -> list[Twins]:
    """Returns the pairs, those that lie farthest apart first.

    Of several runs with the same settings it is the slowest of all and the fastest of all.
    """
    found: dict[tuple[object, ...], list[PlaybookRun]] = {}
    for run in ended():
        key = (run.model, run.nodes, run.dp, run.pp, run.tp, run.microbatch)
        found.setdefault(key, []).append(run)
    pairs = []
    for runs in found.values():
        if len({run.zero for run in runs}) > 1:
            ordered = sorted(runs, key=lambda run: run.tokens_per_s_gpu or 0.0)
            pairs.append(Twins(ordered[0], ordered[-1]))
    return sorted(pairs, key=lambda pair: -pair.times)


def failed_with_room() -> list[tuple[PlaybookRun, float]]:
    """Returns the failed runs that need under half a card, and the planner's GiB of each."""
    failed = [run for run in playbook_runs() if run.failed]
    needs = predicted_gib(failed)
    return [
        (run, float(gib)) for run, gib in zip(failed, needs, strict=True) if gib < HALF_A_CARD_GIB
    ]


@dataclass(frozen=True)
class Cell:
    """The runs of a model on as many nodes: the best by MFU, and the one with most tokens."""

    by_mfu: PlaybookRun
    by_tokens: PlaybookRun

    @property
    def agree(self) -> bool:
        """Whether the best by MFU is as fast as any."""
        return self.by_mfu.tokens_per_s_gpu == self.by_tokens.tokens_per_s_gpu


def cells() -> list[Cell]:
    """Returns each cell of the published picture of best layouts."""
    found: dict[tuple[str, int], list[PlaybookRun]] = {}
    for run in ended():
        found.setdefault((run.model, run.nodes), []).append(run)
    return [
        Cell(
            max(runs, key=lambda run: run.mfu or 0.0),
            max(runs, key=lambda run: run.tokens_per_s_gpu or 0.0),
        )
        for runs in found.values()
    ]


def off_label(run: PlaybookRun) -> float:
    """Returns how many points of MFU a run's label gives beyond what is printed."""
    own = credited_mfu(run.shape, run.pp, SEQUENCE, run.tokens_per_s_gpu or 0.0)
    return own - 100 * (run.mfu or 0.0)


def mislabelled(runs: Sequence[PlaybookRun] | None = None) -> list[PlaybookRun]:
    """Returns the runs of 80B whose MFU is that of the model with grouped heads, and not their own.

    Args:
        runs: to look at; all that ended if left out.
    """
    found = []
    for run in ended() if runs is None else runs:
        grouped = credited_mfu(GROUPED, run.pp, SEQUENCE, run.tokens_per_s_gpu or 0.0)
        near = abs(grouped - 100 * (run.mfu or 0.0)) <= LABEL_OFF
        if run.model == "80B" and near and off_label(run) > LABEL_OFF:
            found.append(run)
    return found
