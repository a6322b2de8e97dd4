"""The cells in which the simulator's detector finds races, each of them."""

from __future__ import annotations

from typing import Any

import numpy as np

from simt.machine.observer import Access, Setting
from simt.observe.races import Races
from tests.simt.observe.causality import Cell


def cell_of(access: Access, k: int, per_block: int) -> Cell:
    """Returns the cell that one of an access's lanes touches."""
    shared = access.array.space == "shared"
    block = int(access.threads[k]) // per_block if shared else -1
    return access.array.name, block, int(access.cells[k])


class RecordedRaces(Races):
    """The simulator's detector, which also remembers the cells it reports."""

    def begin(self, setting: Setting) -> None:
        super().begin(setting)
        self.racing: set[Cell] = set()
        self.loose: set[Cell] = set()

    def _report(self, access: Access, lanes: np.ndarray, *rest: Any, **more: Any) -> None:
        found = self.loose if more.get("loose") else self.racing
        found |= {cell_of(access, k, self.per_block) for k in lanes.tolist()}
        super()._report(access, lanes, *rest, **more)
