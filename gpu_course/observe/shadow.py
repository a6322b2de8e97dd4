"""What a race detector remembers: who touched each unit of memory last, and when."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from gpu_course.simt.access import Access

NOBODY = -1


class Slot:
    """One access per unit of memory: which thread, and when.

    Attributes:
        thread: int64 (units,), NOBODY where there was none.
        time: int32 (units,).
    """

    def __init__(self, units: int) -> None:
        self.thread = np.full(units, NOBODY, np.int64)
        self.time = np.zeros(units, np.int32)

    def put(self, units: np.ndarray, threads: np.ndarray, time: int) -> None:
        """Enters an access; of several threads at one unit the last one stays."""
        self.thread[units] = threads
        self.time[units] = time


@dataclass
class Units:
    """The units of memory an access touches, worked out only when somebody asks."""

    access: Access
    first: int
    width: int

    def vector(self) -> np.ndarray:
        """int64 (n,), one unit per lane."""
        elements = self.access.elements
        return (
            elements if (self.first, self.width) == (0, 1) else self.first + elements * self.width
        )


@dataclass
class Reads:
    """Loads not yet entered in the shadow: most are overtaken by a barrier before any store."""

    time: int
    units: Units


@dataclass
class Shadow:
    """What happened to the units of one allocation.

    Two slots for readers and two for atomic updates tell any later thread of one that is not
    itself.
    """

    unit_bytes: int
    units: int
    last_store: int = NOBODY
    last_read: int = NOBODY
    pending: list[Reads] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.writer = Slot(self.units)
        self.readers = Slot(self.units), Slot(self.units)
        self._updaters: tuple[Slot, Slot] | None = None

    @property
    def updaters(self) -> tuple[Slot, Slot]:
        """Who updated it atomically: made at the first atomic, since most memory never sees one."""
        if self._updaters is None:
            self._updaters = Slot(self.units), Slot(self.units)
        return self._updaters

    @property
    def updated(self) -> bool:
        """True once there was an atomic."""
        return self._updaters is not None
