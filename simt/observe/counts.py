"""What needs only adding up: barriers, branches and operations per line, what a block takes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable

import numpy as np

from simt.kernel.indexed import Indexed, indexed
from simt.machine.lanes import WARP, Lanes, Mask
from simt.machine.observer import Access, Observer, Setting


class Barriers(Observer):
    """Counts barriers and shuffles by line."""

    def __init__(self) -> None:
        self.by_line: Counter[int] = Counter()
        self.shuffles: Counter[int] = Counter()

    def barrier(self, line: int, mask: Mask, blocks: np.ndarray) -> None:
        """Adds one barrier."""
        self.by_line[line] += mask.warp_count

    def shuffle(self, line: int, mask: Mask) -> None:
        """Adds one shuffle."""
        self.shuffles[line] += mask.warp_count


def divergent_warps(mask: np.ndarray, taken: np.ndarray) -> int:
    """Returns how many warps have lanes of a mask on both sides of a branch.

    Args:
        mask, taken: bool (lanes,); `taken` is part of `mask`.

    >>> lanes = np.arange(64)
    >>> divergent_warps(lanes >= 0, lanes < 40)
    1
    """
    yes = taken.reshape(-1, WARP).any(axis=1)
    no = (mask & ~taken).reshape(-1, WARP).any(axis=1)
    return int(np.count_nonzero(yes & no))


class Divergence(Observer):
    """Counts branches by line, one for each warp that meets a condition."""

    def __init__(self) -> None:
        self.branches: Counter[int] = Counter()
        self.divergent: Counter[int] = Counter()

    def branch(self, line: int, mask: Mask, taken: Mask, *, select: bool = False) -> None:
        """Adds one condition, unless it is a select."""
        if select:
            return
        self.branches[line] += mask.warp_count
        if taken is not mask and taken:
            self.divergent[line] += divergent_warps(mask.part.active, taken.part.active)


class Precision(Observer):
    """Counts arithmetic by line and kind."""

    def __init__(self) -> None:
        self.by_line: Counter[tuple[int, str]] = Counter()

    def operations(self, line: int, kind: str, lanes: int) -> None:
        """Adds one operation done by so many lanes."""
        self.by_line[line, kind] += lanes


class Idling(Observer):
    """Counts by line the loads of a warp that go into shared memory with no work in between.

    A warp that asks global memory for its next numbers, works with those in a tile, and only then
    stores what it asked for, has the work done while the numbers travel. Work on a tile begins with
    a load from it, so that is what is looked for between the load and the store.
    """

    def __init__(self) -> None:
        self.by_line: Counter[int] = Counter()
        self._travelling: dict[int, np.ndarray] = {}

    def begin(self, setting: Setting) -> None:
        """Decides whether there is shared memory to store to."""
        self._has_tiles = bool(setting.code.static_shared_bytes or setting.dynamic_bytes)
        self._threads = int(np.prod(setting.block))
        self._warps = -(-self._threads // WARP)
        self._all_warps = self._warps * int(np.prod(setting.grid))

    def batch(self, lanes: Lanes) -> None:
        """Learns which warps of the launch there are."""
        self._numbers = _numbers_of_warps(lanes)

    def access(self, access: Access) -> None:
        """Sends loads off, and forgets or counts those that travel."""
        space = access.array.space
        if not self._has_tiles or space not in ("global", "shared"):
            return
        if space == "global":
            if access.kind == "load":
                sent = self._travelling.setdefault(access.line, np.zeros(self._all_warps, np.int64))
                sent[access.counted("warps that take part", 1, self._warps_of)] += 1
        elif self._travelling:
            here = access.counted("warps that take part", 1, self._warps_of)
            for line, sent in list(self._travelling.items()):
                if access.kind != "load":
                    self.by_line[line] += int(sent[here].sum())
                sent[here] = 0
                if not sent.any():
                    del self._travelling[line]

    def _warps_of(self, access: Access) -> np.ndarray:
        """int64, the warps of the launch that take part, each once."""
        return np.asarray(self._numbers[access.mask.warps_here])


class WideLoads(Observer):
    """Counts by line the loads from shared memory that are left if each brings 16 bytes.

    A GPU can load 16 bytes for each lane at once, if they begin at a multiple of 16, and a compiler
    joins loads of neighbours into such a one. So a load costs nothing more where every lane of the
    warp finds its number in 16 bytes that it has loaded already. Since the warp last stored to
    shared memory or met others, that is: whatever is there may have changed then.
    """

    def __init__(self) -> None:
        self.by_line: Counter[int] = Counter()
        self._loaded: dict[Hashable, np.ndarray] = {}
        self._most = MAX_KEPT

    def begin(self, setting: Setting) -> None:
        """Gives each warp of the launch a clock that moves on where memory may change."""
        warps = -(-int(np.prod(setting.block)) // WARP)
        self._clock = np.zeros(warps * int(np.prod(setting.grid)), np.int64)

    def batch(self, lanes: Lanes) -> None:
        """Learns which warps of the launch there are."""
        self._numbers = _numbers_of_warps(lanes)

    def access(self, access: Access) -> None:
        """Counts the warps of a load that cannot be joined to one before it."""
        if access.array.space != "shared":
            return
        if access.kind != "load":
            self._clock[self._numbers[access.mask.warps_here]] += 1
            return
        # A loop repeats its patterns, so that each is looked at once for every place of it.
        known = access.pattern.memo
        groups = known.get(("16 bytes", access.moved))
        if groups is None:
            groups = known["16 bytes", access.moved] = self._alike(access)
        for key, here in groups:
            if key not in self._loaded:
                self._forget()
                self._loaded[key] = np.full(self._clock.size, -1, np.int64)
            loaded = self._loaded[key]
            self.by_line[access.line] += int(np.count_nonzero(loaded[here] != self._clock[here]))
            loaded[here] = self._clock[here]

    def _alike(self, access: Access) -> list[tuple[Hashable, np.ndarray]]:
        """Returns the warps of a load, those together whose lanes find their numbers alike.

        Each with a key of the 16 bytes of all its lanes: a warp's key does not depend on which
        other warps load at the same time.
        """
        whole, mask = access.array.root or access.array, access.mask
        pieces = access.in_copy * access.array.dtype.itemsize >> 4
        warps, lanes = self._numbers[mask.warps_here], mask.lanes % WARP
        if mask.whole_warps:
            found = _equal_rows(pieces.reshape(-1, WARP), warps)
            return [((whole.address, _key(row, lanes[:WARP])), here) for row, here in found]
        starts = np.flatnonzero(np.diff(mask.warps, prepend=-1)).tolist()
        alike: dict[bytes, list[int]] = {}
        for warp, start, end in zip(warps.tolist(), starts, [*starts[1:], lanes.size], strict=True):
            alike.setdefault(_key(pieces[start:end], lanes[start:end]), []).append(warp)
        return [((whole.address, key), np.array(found)) for key, found in alike.items()]

    def _forget(self) -> None:
        """Drops what no warp can use any more, where much is remembered."""
        if len(self._loaded) >= self._most:
            now = self._clock
            self._loaded = {k: v for k, v in self._loaded.items() if np.any(v == now)}
            self._most = max(MAX_KEPT, 2 * len(self._loaded))

    def barrier(self, line: int, mask: Mask, blocks: np.ndarray) -> None:
        """Lets the warps that met load anew."""
        self.warp_barrier(line, mask)

    def warp_barrier(self, line: int, mask: Mask) -> None:
        """Lets the warps whose lanes met load anew."""
        self._clock[self._numbers[mask.warps_here]] += 1


def _numbers_of_warps(lanes: Lanes) -> np.ndarray:
    """Returns int64 (warps of a batch,), the number of each within the launch."""
    of_a_block = lanes.lanes_per_block // WARP
    return (lanes.blocks[:, None] * of_a_block + np.arange(of_a_block)).reshape(-1)


def _key(pieces: np.ndarray, lanes: np.ndarray) -> bytes:
    """What the loads of two warps have in common if they are alike: each lane's 16 bytes."""
    return np.stack([pieces, lanes], axis=1).tobytes()


def _equal_rows(rows: np.ndarray, names: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
    """Returns each different row once, and the names of the rows that are equal to it.

    >>> [(row.tolist(), of.tolist()) for row, of in _equal_rows(np.eye(2)[[0, 1, 0]], np.arange(3))]
    [([1.0, 0.0], [0, 2]), ([0.0, 1.0], [1])]
    """
    if np.count_nonzero(rows == rows[0]) == rows.size:
        return [(rows[0], names)]  # as is most often so
    found = []
    while len(rows):
        same = (rows == rows[0]).all(axis=1)
        found.append((rows[0], names[same]))
        rows, names = rows[~same], names[~same]
    return found


MAX_KEPT = 4096
"""Loads whose 16 bytes are remembered before those are dropped that no warp can use any more."""


class Resources(Observer):
    """Notes what arrays of a kernel take: nothing for a launch that never began.

    That is the shared memory of a block, in bytes, and the local arrays that no register can hold.
    """

    def __init__(self) -> None:
        self.shared_bytes = 0
        self.indexed = Indexed()

    def begin(self, setting: Setting) -> None:
        """Adds what the kernel declares and what the launch asks for."""
        self.shared_bytes = setting.code.static_shared_bytes + setting.dynamic_bytes
        self.indexed = indexed(setting.code)
