"""Bare facts about what went wrong, and what counts as wrong: `observe.explain` finds the words."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from simt.kernel.source import Kernel


@dataclass(frozen=True)
class Policy:
    """Which habits are errors.

    Attributes:
        wrap_negative: an index from -n to -1 counts from the end, as Numba compiles it, and is
            advice; where it does not, such an index is out of bounds, since it hides mistakes.
        same_value: severity of several threads storing one same value in a cell.
        unfenced: severity of a fence that is missing after an atomic, before what the atomic has
            told of is touched: the compiled code may read what was there before.
        returned: severity of a barrier that some threads have left out by returning: legal on GPUs
            from compute capability 7.0 on, and not portable.
        most_errors: a launch ends once it has been at fault so often; each costs far more than a
            statement without a fault.
        lambdas: a lambda is taken as the device function it is compiled to; a puzzle asks for a
            function with a name.
    """

    wrap_negative: bool
    same_value: str
    unfenced: str
    returned: str
    lambdas: bool
    most_errors: float = math.inf


STRICT = Policy(
    wrap_negative=False,
    same_value="error",
    unfenced="error",
    returned="error",
    lambdas=False,
    most_errors=2000,
)
FOREIGN = Policy(
    wrap_negative=True, same_value="advice", unfenced="advice", returned="advice", lambdas=True
)
POLICIES = {"puzzle": STRICT, "foreign": FOREIGN}


@dataclass(eq=False)
class Fault:
    """One kind of thing gone wrong at one place, over all lanes it happened to.

    Attributes:
        kind: the Hazard's kind.
        line: where.
        threads: int64 (n,), global linear thread numbers of the lanes at fault.
        facts: what the detector knows: array, indices, names and their values, the other access.
        expression: the index at fault as it is written, where there is one.
        cells: int64, of a race, the cells of the array that it is about, C order.
        count: lane-accesses at fault, over the whole launch.
        severity: "error" or "advice".
        kernel: the kernel or device function that `line` is a line of.
        caller: where that stands in another file than the kernel, the kernel's own line that leads
            there: "puzzles/guard.py:12".
    """

    kind: str
    line: int
    threads: np.ndarray
    facts: dict[str, Any] = field(default_factory=dict)
    expression: str = ""
    count: int = 0
    severity: str = "error"
    kernel: Kernel | None = None
    cells: np.ndarray = field(default_factory=lambda: np.empty(0, np.int64))
    caller: str = ""

    def __post_init__(self) -> None:
        self.count = self.count or len(self.threads)


class CannotGoOn(Exception):
    """Nothing more can be worked out or shown of a launch; the log has what was found."""


class FaultLog:
    """Collects faults, one per kind and place, with counts.

    Attributes:
        most_errors: so many errors are added, whatever place each is at, before CannotGoOn.
        finished: False once the launch has been given up before its end.
    """

    MAX_THREADS = 4096
    MAX_CELLS = 4096
    MAX_PLACES = 200

    def __init__(self) -> None:
        self.found: dict[tuple[Any, ...], Fault] = {}
        self.left_out = 0
        self.errors = 0
        self.most_errors: float = math.inf
        self.finished = True

    def add(self, fault: Fault, key: tuple[Any, ...] = ()) -> None:
        """Adds a fault; one with the same kind, line and key only raises the first one's count.

        Beyond MAX_PLACES of them the others are counted, in `left_out`.

        Raises:
            CannotGoOn: most_errors have been added.
        """
        self._add(fault, key)
        self.errors += fault.severity == "error"
        if self.errors >= self.most_errors:
            raise CannotGoOn

    def _add(self, fault: Fault, key: tuple[Any, ...]) -> None:
        file = fault.kernel.file if fault.kernel else ""
        place = (fault.kind, file, fault.line, *key)
        known = self.found.get(place)
        if known is None:
            if len(self.found) < self.MAX_PLACES:
                self.found[place] = fault
            else:
                self.left_out += fault.count
            return
        known.count += fault.count
        if len(known.threads) < self.MAX_THREADS:
            known.threads = np.unique(np.concatenate([known.threads, fault.threads]))
        if fault.cells.size and known.cells.size < self.MAX_CELLS:
            both = np.unique(np.concatenate([known.cells, fault.cells]))
            known.cells = both[: self.MAX_CELLS]
