"""Who touched which cell: the raw material of pictures, kept for small launches only."""

from __future__ import annotations

import numpy as np

from simt.machine.observer import Access, Observer, Setting
from simt.report import Touch

MAX_LANES = 4096
MAX_TOUCHES = 1 << 18
MAX_LANES_VALUED = 64
"""More threads than a picture has room for values of."""

_KINDS = {"load": "read", "store": "write", "atomic": "atomic"}


class Touches(Observer):
    """Keeps every access of a launch of at most 4,096 lanes, in the order it happened."""

    def __init__(self) -> None:
        self.found: list[Touch] = []
        self.room = 0
        self.valued = False

    def begin(self, setting: Setting) -> None:
        """Decides whether the launch is small enough."""
        (gx, gy, gz), (bx, by, bz) = setting.grid, setting.block
        lanes = gx * gy * gz * bx * by * bz
        self.room = MAX_TOUCHES if lanes <= MAX_LANES else 0
        self.valued = lanes <= MAX_LANES_VALUED

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
                values=_values(access) if self.valued else None,
            )
        )


def _values(access: Access) -> np.ndarray | None:
    """What a load found, or what a store leaves; of an atomic nobody knows it yet.

    A structure is no number either.
    """
    if access.kind == "atomic" or access.array.dtype.fields:
        return None
    if access.kind == "load":
        return access.found()
    with np.errstate(all="ignore"):
        return np.full(access.elements.shape, access.values, access.array.dtype)
