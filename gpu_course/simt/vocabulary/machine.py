"""What a word of the vocabulary may ask of the interpreter that says it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from gpu_course.simt.faults import Fault
from gpu_course.simt.ir import Call
from gpu_course.simt.lanes import Lanes, Mask
from gpu_course.simt.memory import Array
from gpu_course.simt.observer import Observer
from gpu_course.simt.policy import Policy
from gpu_course.simt.printout import Printout
from gpu_course.simt.variables import Value

if TYPE_CHECKING:
    from gpu_course.simt.source import Kernel


class Machine(Protocol):
    """One batch of blocks at a call; `interpreter.Interpreter` has it all.

    Attributes:
        lanes: the batch.
        mask: the lanes that make the call.
        returned: bool (lanes,), those that have left the kernel.
        observers: told of every barrier, shuffle and operation.
        printout: where the threads print.
        policy: what counts as an error.
    """

    lanes: Lanes
    mask: Mask
    returned: np.ndarray
    observers: Sequence[Observer]
    printout: Printout
    policy: Policy

    @property
    def kernel(self) -> Kernel:
        """Returns the kernel or device function that makes the call."""

    def fault(self, fault: Fault, key: tuple[Any, ...] = ()) -> None:
        """Reports what is wrong here."""

    def operation(self, line: int, operator: str, left: Value, right: Value) -> Value:
        """Returns left op right, counted."""

    def update(
        self,
        call: Call,
        array: Array,
        indices: tuple[Value, ...],
        name: str,
        operands: Sequence[Value],
    ) -> Value:
        """Returns the old values of cells that are updated atomically, lane after lane."""
