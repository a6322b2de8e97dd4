"""One launch that can be run again and again, each time in another order of its threads."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from gpu_course.simt.observer import Observer
from gpu_course.simt.report import Dim3, Report
from gpu_course.simt.schedule import Schedule
from gpu_course.simulator import simulate

ROUNDING = 256
"""Results nearer than this many units in the last place are taken for the same."""


@dataclass(frozen=True)
class Run:
    """What one run left behind.

    Attributes:
        report: of the launch in question.
        outputs: the arrays it may have written, by the names the kernel has for them.
    """

    report: Report
    outputs: Mapping[str, np.ndarray]


class Experiment(Protocol):
    """A launch on fresh data, and what its outputs should be."""

    def shape(self) -> tuple[Dim3, Dim3]:
        """Returns grid and block of the launch."""

    def run(self, schedule: Schedule | None, observers: Sequence[Observer] = ()) -> Run:
        """Returns what a run leaves behind; None runs all threads together, and counts."""

    def expected(self) -> Mapping[str, np.ndarray] | None:
        """Returns what the outputs should be, or None where nobody knows."""

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

    def run(self, schedule: Schedule | None, observers: Sequence[Observer] = ()) -> Run:
        copies = [a.copy() if isinstance(a, np.ndarray) else a for a in self.arguments]
        # Of an order that is searched for, the outputs tell; all is counted with all in step.
        counted = schedule is None
        ready = simulate(self.kernel, schedule=schedule, observers=observers, counters=counted)
        report = ready[self.configuration](*copies)
        names = ready.kernel.parameters
        arrays = {n: c for n, c in zip(names, copies, strict=True) if isinstance(c, np.ndarray)}
        return Run(report, arrays)

    def expected(self) -> None:
        return None

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
