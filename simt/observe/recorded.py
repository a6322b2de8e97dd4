"""What one step of a launch leaves in a recording: its accesses, and what its variables are."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from functools import partial

import numpy as np

from simt.kernel.source import Kernel
from simt.machine.lanes import WARP, Lanes
from simt.machine.memory import Array
from simt.machine.observer import Access
from simt.machine.values import Variable
from simt.observe.transactions import SECTOR_BYTES, WORD_BYTES, count_request, count_wavefronts
from simt.report import Held, StepAccess, Text

MAX_VARIABLES = 8

_KINDS = {"load": "read", "store": "write", "atomic": "atomic"}


class Holdings:
    """What the watched variables of the recorded threads are, as far as it is known by now.

    Args:
        threads: int64 (n,), the recorded threads, ascending.
        watch: names of variables; none asks for the first local ones of each function.
    """

    def __init__(self, threads: np.ndarray, watch: Sequence[str]) -> None:
        self.threads = threads
        self.watch = tuple(watch)
        self._held: dict[tuple[str, str], Held] = {}
        self._shown: dict[str, tuple[str, ...]] = {}

    def after(
        self,
        kernel: Kernel,
        before: Mapping[str, Variable],
        now: Mapping[str, Variable],
        lanes: np.ndarray,
        own: Lanes,
        whole: Lanes,
    ) -> dict[str, Held]:
        """Returns what the variables are once a statement is over.

        Args:
            kernel: the function it is in.
            before, now: the function's variables; only `lanes` can have changed them.
            lanes: int64 (n,), those that carried the statement out, within the batch.
            own: the lanes of the machine that ran it; its vectors are as long as these are many.
            whole: the lanes of the batch.
        """
        found: dict[str, Held] = {}
        for name in self._names(kernel):
            key = kernel.name, name
            given = name in kernel.parameters
            for version, variable in now.items():
                changed = before.get(version) is not variable
                if (changed or given) and version.partition("#")[0] == name:
                    self._update(key, variable, lanes, own, whole)
            if key in self._held:
                found[name] = self._held[key]
        return found

    def _names(self, kernel: Kernel) -> tuple[str, ...]:
        """The names to show of a function, which every step of it asks for."""
        if kernel.name not in self._shown:
            self._shown[kernel.name] = self.watch or local_names(kernel)
        return self._shown[kernel.name]

    def _update(
        self,
        key: tuple[str, str],
        variable: Variable,
        lanes: np.ndarray,
        own: Lanes,
        whole: Lanes,
    ) -> None:
        value = variable.value
        if not isinstance(value, np.ndarray | np.generic):
            return
        if variable.defined is not None:
            lanes = lanes[variable.defined[lanes - own.first]]
        places = np.searchsorted(self.threads, whole.global_thread[lanes])
        new = np.broadcast_to(value, own.count)[lanes - own.first]
        count = self.threads.size
        old = self._held.get(key) or Held(np.zeros(count, new.dtype), np.zeros(count, bool))
        values, known = old.values.copy(), old.known.copy()
        if values.dtype != new.dtype:
            values = values.astype(object)
        values[places] = new
        known[places] = True
        self._held[key] = Held(values, known)


def local_names(kernel: Kernel, most: int | None = MAX_VARIABLES) -> tuple[str, ...]:
    """Returns the first local variables of a kernel, in the order of the source."""
    stores = (
        node
        for node in ast.walk(kernel.tree)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    )
    ordered = sorted(stores, key=lambda node: (node.lineno, node.col_offset))
    return tuple(dict.fromkeys(node.id for node in ordered))[:most]


def step_access(access: Access, here: np.ndarray, found: np.ndarray, lanes: Lanes) -> StepAccess:
    """Returns an access as a recording keeps it, once the step is over.

    Args:
        access: the access.
        here: bool (n,), which of its lanes are recorded.
        found: (n,), what a load found.
        lanes: the lanes of the batch.
    """
    array = access.array
    if access.kind == "store":
        found = np.broadcast_to(access.values, access.elements.shape)
    elif access.kind == "atomic":
        found = array.flat[access.elements]
    cost, least = _cost(access, here, lanes)
    return StepAccess(
        kind=_KINDS[access.kind],
        array=array.name,
        space=array.space,
        shape=tuple(int(np.max(side)) for side in array.shape),
        itemsize=array.dtype.itemsize,
        threads=access.threads[here],
        cells=access.cells[here],
        values=found[here],
        addresses=access.addresses[here],
        cost=cost,
        least=least,
    )


def _cost(access: Access, here: np.ndarray, lanes: Lanes) -> tuple[dict[int, int], dict[int, int]]:
    """Warp of the grid -> what the access costs it, and the fewest that would do."""
    space = access.array.space
    if space not in ("global", "shared"):
        return {}, {}
    period = SECTOR_BYTES if space == "global" else WORD_BYTES
    counted = access.counted("cost by warp", period, partial(cost_by_warp, here))
    per_block = lanes.lanes_per_block // WARP
    cost, least = {}, {}
    for warp, pair in counted.items():
        number = int(lanes.blocks[warp // per_block]) * per_block + warp % per_block
        cost[number], least[number] = pair
    return cost, least


def cost_by_warp(here: np.ndarray, access: Access) -> dict[int, tuple[int, int]]:
    """Warp of the batch -> (what the access costs it, the fewest that bytes and mask allow)."""
    found: dict[int, tuple[int, int]] = {}
    width = access.array.component_bytes
    for warp in np.unique(access.warps[here]).tolist():
        mine = access.warps == warp
        address, lanes = access.addresses[mine], access.mask.lanes[mine]
        cost = least = 0
        for part in range(0, access.array.dtype.itemsize, width):
            if access.array.space == "global":
                traffic = count_request(address + part, lanes // WARP, width)
                cost += traffic.sectors
                least += traffic.sectors - traffic.excess_sectors
            else:
                passes = count_wavefronts(address + part, lanes, width)
                cost += passes.wavefronts
                least += passes.wavefronts - passes.conflicts
        found[warp] = cost, least
    return found


def cells_in_order(array: Array) -> np.ndarray:
    """Returns a copy of an array's cells in C order."""
    if array.contiguous:
        return array.flat.copy()
    places = np.indices(array.shape).reshape(len(array.shape), -1)
    strides = np.array(array.strides)[:, None]
    return np.asarray(array.flat[array.origin + (places * strides).sum(axis=0)])


def text_of(kernel: Kernel) -> Text:
    """Returns the lines of a function, its decorators included."""
    tree = kernel.tree
    first = min([tree.lineno, *(d.lineno for d in tree.decorator_list)])
    last = tree.end_lineno or tree.lineno
    lines = {n: kernel.lines.get(n, "") for n in range(first, last + 1)}
    return Text(kernel.name, kernel.file, lines)
