"""Whoever watches a launch: what observers are told, and of which launch."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from gpu_course.simt.access import Access
from gpu_course.simt.faults import FaultLog
from gpu_course.simt.lanes import Lanes, Mask
from gpu_course.simt.memory import Array
from gpu_course.simt.policy import STRICT, Policy
from gpu_course.simt.program import Program
from gpu_course.simt.report import Dim3
from gpu_course.simt.variables import Variable


class Followed(Protocol):
    """What an observer that follows every statement may ask of whoever executes it."""

    depth: int
    variables: dict[str, Variable]

    @property
    def program(self) -> Program:
        """Returns the kernel or device function it is in."""

    @property
    def lanes(self) -> Lanes:
        """Returns the lanes it executes it for."""


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

    def statement(self, machine: Followed, node: ast.stmt, mask: Mask, turn: bool) -> None:
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
    """A launch as the observers get to know it.

    Attributes:
        program: the kernel past the static pass.
        grid, block: the shape as (x, y, z).
        arrays: the array arguments by parameter name.
        stored: allocations that the kernel may write to, by number.
        faults: where an observer reports what it finds.
        order_seed: shuffles the order of blocks when not None.
        policy: what counts as an error.
    """

    program: Program
    grid: Dim3
    block: Dim3
    arrays: dict[str, Array]
    stored: frozenset[int]
    faults: FaultLog
    order_seed: int | None = None
    policy: Policy = STRICT
