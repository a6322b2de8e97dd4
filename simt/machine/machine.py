"""What those who help the interpreter may ask of it: the vocabulary, memory, the watchdog."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from simt.kernel.ir import Call, Expression, Loop, Statement
from simt.kernel.source import Kernel
from simt.machine.faults import Fault, Policy
from simt.machine.lanes import Lanes, Mask
from simt.machine.memory import Array
from simt.machine.observer import Access, AccessPattern, Observer
from simt.machine.values import Value, Variable
from simt.report import Printout


@dataclass
class Turns:
    """A loop under way.

    Attributes:
        broken, continued: the lanes that left it by `break`, or skipped the rest of this turn.
        fruitless: how many turns in a row no lane has left it.
        seen: what the variables were, a turn ago.
    """

    broken: Mask
    continued: Mask
    fruitless: int = 0
    seen: Any = None


class Context(Protocol):
    """The warp or thread that an interpreter runs where these take turns, as `scheduler` has it."""

    def before_access(
        self, kind: str, line: int, array: Array, find_cells: Callable[[], np.ndarray]
    ) -> None:
        """It is about to touch memory."""

    def accessed(self, access: Access) -> None:
        """It has come to its cells."""

    def before_write(self) -> None:
        """It is about to write."""

    def wrote(self) -> None:
        """It has written."""

    def turned(self, loop: Loop, turns: Turns, running: Mask) -> None:
        """It has made a turn of a loop."""

    def out_of_steps(self, node: Statement, mask: Mask) -> None:
        """It has spent its steps."""

    def meets(self, call: Call) -> bool:
        """Returns whether a call waits for others."""

    def meet(self, call: Call, arguments: list[Value]) -> Value:
        """Waits for the others; returns what the call gives."""


class Machine(Protocol):
    """One batch of blocks where it stands; `interpreter.Interpreter` is one.

    Attributes:
        lanes: the batch.
        mask: the lanes that are here.
        returned: bool (lanes,), those that have left the kernel.
        audience: told of every access, barrier and operation.
        printout: where the threads print.
        policy: what counts as an error.
        context: where warps or threads take turns, the one that is run; else None.
        steps_left: statements that may still be executed.
        patterns: of each site, how the lanes touched memory there last.
        rng: draws the order in which lanes take their turn at atomics; None for their own.
    """

    lanes: Lanes
    mask: Mask
    returned: np.ndarray
    audience: Observer
    printout: Printout
    policy: Policy
    context: Context | None
    steps_left: int
    patterns: dict[int, AccessPattern]
    rng: np.random.Generator | None

    @property
    def kernel(self) -> Kernel:
        """Returns the kernel or device function that is executed."""

    @property
    def caller(self) -> str:
        """Returns the line of the kernel's own file that led into another file; else ""."""

    @property
    def variables(self) -> dict[str, Variable]:
        """Returns what its variables hold."""

    def value(self, node: Expression) -> Value:
        """Returns what an expression is worth."""

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

    def range_of(
        self, names: Iterable[tuple[str, str]], lanes: np.ndarray
    ) -> dict[str, tuple[Any, Any]]:
        """Returns the smallest and largest value of some variables over some lanes, by name."""
