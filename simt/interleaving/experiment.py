"""One launch that can be run again and again, each time in another order of its threads."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from simt.machine.observer import Observer
from simt.machine.schedule import Schedule
from simt.report import Dim3, Report
from simt.simulator import STEP_BUDGET, simulate

ROUNDING = 256
"""Results nearer than this many units in the last place are taken for the same."""


@dataclass(frozen=True)
class Run:
    """What one run left behind.

    Attributes:
        report: of the launch in question.
        outputs: the arrays that are compared, by name.
        finished: False where a launch was given up: its outputs are then not what it computes.
    """

    report: Report
    outputs: Mapping[str, np.ndarray]
    finished: bool


class Experiment(Protocol):
    """A launch on fresh data, and what its outputs should be."""

    def shape(self) -> tuple[Dim3, Dim3]:
        """Returns grid and block of the launch."""

    def run(
        self,
        schedule: Schedule | None,
        observers: Sequence[Observer] = (),
        *,
        detect_races: bool = False,
    ) -> Run:
        """Returns what a run leaves behind.

        Args:
            schedule: of the launch; None runs all threads together.
            observers: of the launch.
            detect_races: without, nothing is counted either: a run is quicker, and does not end
                early for its many races.
        """

    def expected(self) -> Mapping[str, np.ndarray] | None:
        """Returns what the outputs should be, or None where nobody knows."""

    def own_name(self, output: str) -> str | None:
        """Returns what the launched kernel calls an output; None where it does not take it."""

    def right(self, name: str, got: np.ndarray, expected: np.ndarray) -> np.ndarray:
        """Returns where an output is as expected, as bool."""


@dataclass(frozen=True)
class _Launch:
    kernel: Any
    configuration: Any
    arguments: tuple[Any, ...]

    def shape(self) -> tuple[Dim3, Dim3]:
        ready = simulate(self.kernel)[self.configuration]
        return ready.grid, ready.block

    def run(
        self,
        schedule: Schedule | None,
        observers: Sequence[Observer] = (),
        *,
        detect_races: bool = False,
    ) -> Run:
        copies = [a.copy() if isinstance(a, np.ndarray) else a for a in self.arguments]
        ready = simulate(
            self.kernel,
            schedule=schedule,
            observers=observers,
            step_budget=STEP_BUDGET,
            detect_races=detect_races,
        )
        report = ready[self.configuration](*copies)
        names = ready.kernel.parameters
        arrays = {n: c for n, c in zip(names, copies, strict=True) if isinstance(c, np.ndarray)}
        return Run(report, arrays, report.finished)

    def expected(self) -> None:
        return None

    def own_name(self, output: str) -> str:
        return output

    def right(self, name: str, got: np.ndarray, expected: np.ndarray) -> np.ndarray:
        equal = same(got, expected)
        if got.dtype.kind in "fc":
            # Sums in another order are rounded in another way, which is no fault of a race.
            close = ROUNDING * float(np.finfo(got.dtype).eps)
            with np.errstate(invalid="ignore"):
                equal |= np.isclose(got, expected, rtol=close, atol=close)
        return equal


def launch_experiment(kernel: Any, configuration: Any, arguments: Sequence[Any]) -> Experiment:
    """Returns a launch of a kernel as an experiment; the arguments themselves stay as they are."""
    kept = tuple(a.copy() if isinstance(a, np.ndarray) else a for a in arguments)
    return _Launch(kernel, configuration, kept)


def same(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Returns where two arrays hold the same, NaN being the same as NaN."""
    equal = one == other
    if one.dtype.kind in "fc":
        equal |= (one != one) & (other != other)
    return np.asarray(equal)
