"""What all lanes of a launch share, whichever batch or strand they run in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from gpu_course.simt.faults import FaultLog
from gpu_course.simt.inferred import Inferred
from gpu_course.simt.lanes import Lanes
from gpu_course.simt.observer import Observer
from gpu_course.simt.policy import Policy
from gpu_course.simt.printout import Printout
from gpu_course.simt.program import Program


@dataclass(frozen=True)
class State:
    """What an interpreter needs to know, but for its lanes, observers and steps.

    The attributes are those of a `machine.Machine`.
    """

    program: Program
    inferred: Inferred
    arguments: Mapping[str, Any]
    faults: FaultLog
    dynamic_bytes: int
    order_seed: int | None
    printout: Printout | None
    policy: Policy

    def of(self, lanes: Lanes, observers: Sequence[Observer], steps: int) -> tuple[Any, ...]:
        """Returns an interpreter's arguments.

        Args:
            lanes: its lanes.
            observers: told of what these do.
            steps: statements it may execute.
        """
        return (
            self.program,
            self.inferred,
            self.arguments,
            lanes,
            observers,
            self.faults,
            steps,
            self.dynamic_bytes,
            self.order_seed,
            self.printout,
            self.policy,
        )
