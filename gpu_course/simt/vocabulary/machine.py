"""What a word of the vocabulary may ask of the machine that says it."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Protocol

import numpy as np

from gpu_course.simt.faults import FaultLog
from gpu_course.simt.lanes import Lanes, Mask
from gpu_course.simt.memory import Array
from gpu_course.simt.observer import Observer
from gpu_course.simt.policy import Policy
from gpu_course.simt.printout import Printout
from gpu_course.simt.program import Program
from gpu_course.simt.variables import Value


class Machine(Protocol):
    """One batch of blocks at a call; `simt.machine.Machine` has it all.

    Attributes:
        program: the kernel or device function it is in.
        lanes: the batch.
        mask: the lanes that make the call.
        returned: bool (lanes,), those that have left the kernel.
        observers: told of every barrier, shuffle and operation.
        faults: where a hazard is reported.
        printout: where the threads print.
        policy: what counts as an error.
    """

    program: Program
    lanes: Lanes
    mask: Mask
    returned: np.ndarray
    observers: Sequence[Observer]
    faults: FaultLog
    printout: Printout
    policy: Policy

    def operation(self, node: ast.AST, op: ast.operator, left: Value, right: Value) -> Value:
        """Returns left op right."""

    def update(
        self,
        call: ast.Call,
        array: Array,
        indices: tuple[Value, ...],
        name: str,
        operands: Sequence[Value],
    ) -> Value:
        """Returns the old values of cells that are updated atomically, lane after lane."""

    def compare(self, op: ast.cmpop, left: Value, right: Value) -> Value:
        """Returns left op right, as bool."""
