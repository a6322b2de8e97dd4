"""Who touched which cell: the raw material of pictures, kept for small launches only."""

from __future__ import annotations

from simt.machine.observer import Access, Observer, Setting
from simt.report import Touch

MAX_LANES = 4096
MAX_TOUCHES = 1 << 18

_KINDS = {"load": "read", "store": "write", "atomic": "atomic"}


class Touches(Observer):
    """Keeps every access of a launch of at most 4,096 lanes, in the order it happened."""

    def __init__(self) -> None:
        self.found: list[Touch] = []
        self.room = 0

    def begin(self, setting: Setting) -> None:
        """Decides whether the launch is small enough."""
        (gx, gy, gz), (bx, by, bz) = setting.grid, setting.block
        small = gx * gy * gz * bx * by * bz <= MAX_LANES
        self.room = MAX_TOUCHES if small else 0

    def access(self, access: Access) -> None:
        """Keeps one access."""
        if access.mask.count > self.room:
            return
        self.room -= access.mask.count
        self.found.append(
            Touch(
                array=access.array.name,
                shape=access.array.shape,
                kind=_KINDS[access.kind],
                line=access.line,
                threads=access.threads,
                cells=access.cells,
                space=access.array.space,
            )
        )
