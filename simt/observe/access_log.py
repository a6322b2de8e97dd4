"""What warps or threads did in a launch, access by access, with what they found and wrote."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from simt.machine.lanes import Lanes, Mask
from simt.machine.observer import Access, Observer, Setting

MAX_EVENTS = 1 << 16


@dataclass(frozen=True)
class AccessEvent:
    """One access, or one meeting (`kind` "barrier", "syncwarp", "grid", "fence" or "shuffle").

    Attributes:
        kind: "load", "store" or "atomic"; or the meeting's.
        line: the line.
        threads: int64 (n,), global linear thread numbers, of the lanes that take part; of a
            meeting of a block or the grid, all that met.
        array: the array's name.
        space: "global", "shared", "local" or "const".
        shape: the array's shape.
        cells: int64 (n,), the C-order cells.
        block: the linear number of the block whose memory it is, of a shared array; else -1.
        found: (n,), what the cells held before.
        values: (n,), what a store writes, or an atomic's last operand; None for a load.
    """

    kind: str
    line: int
    threads: np.ndarray
    array: str = ""
    space: str = ""
    shape: tuple[int, ...] = ()
    cells: np.ndarray | None = None
    block: int = -1
    found: np.ndarray | None = None
    values: np.ndarray | None = None


class AccessLog(Observer):
    """Keeps the events of a launch in the order they happened, at most 65,536 of them.

    Hand it to `simulate(kernel, observers=(recorder,))`, together with a schedule.
    """

    def __init__(self) -> None:
        self.events: list[AccessEvent] = []
        self.left_out = 0

    def begin(self, setting: Setting) -> None:
        """A launch starts, or starts anew: what was recorded is forgotten."""
        x, y, z = setting.block
        self.per_block = x * y * z
        self.events, self.left_out = [], 0

    def batch(self, lanes: Lanes) -> None:
        """Learns which threads there are."""
        self.lanes = lanes

    def _add(self, event: AccessEvent) -> None:
        if len(self.events) < MAX_EVENTS:
            self.events.append(event)
        else:
            self.left_out += 1

    def access(self, access: Access) -> None:
        """Adds an access."""
        array, values = access.array, access.values
        if values is not None:
            values = np.broadcast_to(values, access.elements.shape).copy()
        block = int(access.threads[0]) // self.per_block if array.space == "shared" else -1
        self._add(
            AccessEvent(
                kind=access.kind,
                line=access.line,
                threads=access.threads,
                array=array.name,
                space=array.space,
                shape=array.shape,
                cells=access.cells,
                block=block,
                found=array.flat[access.elements],
                values=values,
            )
        )

    def _meeting(self, kind: str, line: int, mask: Mask) -> None:
        self._add(AccessEvent(kind, line, self.lanes.global_thread[mask.lanes]))

    def barrier(self, line: int, mask: Mask, blocks: np.ndarray) -> None:
        """Adds a barrier of a block."""
        self._meeting("barrier", line, mask)

    def warp_barrier(self, line: int, mask: Mask) -> None:
        """Adds a barrier of lanes."""
        self._meeting("syncwarp", line, mask)

    def grid_barrier(self, line: int) -> None:
        """Adds a barrier of the grid; the barrier of all blocks follows it."""
        self._meeting("grid", line, self.lanes.alive)

    def fence(self, line: int, mask: Mask, *, within_block: bool = False) -> None:
        """Adds a fence."""
        self._meeting("fence", line, mask)

    def shuffle(self, line: int, mask: Mask) -> None:
        """Adds an exchange of values."""
        self._meeting("shuffle", line, mask)
