"""Whoever watches a launch: what observers are told, and of which launch."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from gpu_course.simt.access import Access
from gpu_course.simt.faults import FaultLog
from gpu_course.simt.ir import Code, Statement
from gpu_course.simt.lanes import Lanes, Mask
from gpu_course.simt.memory import Array
from gpu_course.simt.policy import STRICT, Policy
from gpu_course.simt.printout import Printout
from gpu_course.simt.report import Dim3
from gpu_course.simt.source import Kernel
from gpu_course.simt.variables import Variable


class Followed(Protocol):
    """What an observer that follows every statement may ask of whoever executes it."""

    lanes: Lanes

    @property
    def kernel(self) -> Kernel:
        """Returns the kernel or device function it is in."""

    @property
    def depth(self) -> int:
        """Returns how many calls lie above that."""

    @property
    def variables(self) -> dict[str, Variable]:
        """Returns what its variables hold."""


class Observer:
    """Whoever watches a launch; each method is called in the order things happen.

    Attributes:
        follows: True for one that is told of every statement, which takes time.
    """

    follows: bool = False

    def begin(self, setting: Setting) -> None:
        """The launch starts."""

    def batch(self, lanes: Lanes) -> None:
        """A batch of blocks starts."""

    def statement(self, machine: Followed, node: Statement, mask: Mask, turn: bool) -> None:
        """Lanes of `mask` come to a statement, or (`turn`) to a turn of a loop."""

    def access(self, access: Access) -> None:
        """Lanes load, store or update atomically."""

    def branch(self, line: int, mask: Mask, taken: Mask) -> None:
        """Lanes of `mask` met a condition; those of `taken` found it true."""

    def barrier(self, line: int, mask: Mask, blocks: np.ndarray) -> None:
        """The blocks of the batch that are True in `blocks` (bool) met at a barrier."""

    def warp_barrier(self, line: int, mask: Mask) -> None:
        """Lanes of `mask` met within their warps: those of a warp, all with each other."""

    def grid_barrier(self, line: int) -> None:
        """All threads of the grid met."""

    def fence(self, line: int, mask: Mask, *, within_block: bool = False) -> None:
        """Lanes of `mask` made what they did before visible before what they do next.

        To all threads of the GPU; or, `within_block`, to those of their block only.
        """

    def shuffle(self, line: int, mask: Mask) -> None:
        """Lanes of `mask` exchanged values within their warps."""

    def operations(self, line: int, kind: str, lanes: int) -> None:
        """So many lanes did one arithmetic operation of a kind ("float32", "float64", "fma")."""


@dataclass(frozen=True)
class Setting:
    """A launch, as those get to know it who run it and who watch it.

    Attributes:
        code: the kernel, lowered.
        grid, block: the shape as (x, y, z).
        arguments: parameter -> what it is given: an Array, a NumPy scalar, or a tuple of these.
        arrays: the array arguments by the names messages have for them.
        stored: allocations that the kernel may write to, by number.
        faults: where everybody reports what they find.
        order_seed: shuffles the order of blocks, and of lanes at atomics, when not None.
        policy: what counts as an error.
        dynamic_bytes: dynamic shared memory of a block.
        printout: where the threads print.
    """

    code: Code
    grid: Dim3
    block: Dim3
    arguments: Mapping[str, Any]
    arrays: dict[str, Array]
    stored: frozenset[int]
    faults: FaultLog
    order_seed: int | None = None
    policy: Policy = STRICT
    dynamic_bytes: int = 0
    printout: Printout = field(default_factory=Printout)
