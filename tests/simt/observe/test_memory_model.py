"""The race detector against the PTX memory model, on random kernels: no cell missed, none too many.

`python -m tests.simt.observe.test_memory_model FIRST LAST` tries the seeds from FIRST up to LAST,
and `... FIRST LAST faults` also counts by how many of them each planted fault is told.
"""

from __future__ import annotations

import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from simt.machine import launch
from simt.machine.faults import FaultLog
from simt.machine.lanes import Lanes, Mask
from simt.machine.observer import Access, Observer, Setting
from simt.machine.schedule import RoundRobin, Schedule
from simt.simulator import simulate
from tests.sampling import EVERYTHING, examples
from tests.simt.observe.planted_faults import FAULTS, Fault, planted
from tests.simt.observe.racing_cells import RecordedRaces, cell_of
from tests.simt.observe.random_kernels import FLAGS, GLOBAL, draw
from tests.simt.observe.witness import Event, Witness

SAMPLE = 240
"""So many kernels `make test` draws; each planted fault must be told by one of them."""

RARE = {"a block's threads know the same of others", "sets keep each thread's first access"}
"""Faults that one kernel of some hundreds tells: looked for where a thousand are drawn."""


class Told(Observer):
    """What a simulator tells its observers, thread by thread.

    Attributes:
        order: whose turn each access was.
        events: what each thread did.
    """

    def begin(self, setting: Setting) -> None:
        self.per_block = int(np.prod(setting.block))
        self.all_blocks_met = False
        self.order: list[int] = []
        threads = int(np.prod(setting.grid)) * self.per_block
        self.events: list[list[Event]] = [[] for _ in range(threads)]

    def batch(self, lanes: Lanes) -> None:
        self.lanes = lanes

    def access(self, access: Access) -> None:
        turns = range(access.threads.size) if access.turns is None else access.turns.tolist()
        for k in turns:
            t = int(access.threads[k])
            self.order.append(t)
            self.events[t].append((access.kind, cell_of(access, k, self.per_block)))

    def _met(self, kind: str, threads: list[int]) -> None:
        for t in threads:
            self.events[t].append((kind, frozenset(threads)))

    def barrier(self, line: int, mask: Mask, blocks: np.ndarray) -> None:
        if self.all_blocks_met:  # a barrier of the grid is told as one of all blocks as well
            self.all_blocks_met = False
            return
        for block in self.lanes.blocks[blocks].tolist():
            self._met("block", list(range(block * self.per_block, (block + 1) * self.per_block)))

    def warp_barrier(self, line: int, mask: Mask) -> None:
        for warp in np.unique(mask.warps):
            lanes = mask.lanes[mask.warps == warp]
            self._met("warp", self.lanes.global_thread[lanes].tolist())

    def grid_barrier(self, line: int) -> None:
        self.all_blocks_met = True
        self._met("grid", list(range(len(self.events))))

    def fence(self, line: int, mask: Mask, *, within_block: bool = False) -> None:
        for t in self.lanes.global_thread[mask.lanes].tolist():
            self.events[t].append(("fence", within_block))


class Faulty(Observer):
    """A detector with a fault, beside the one without it."""

    def __init__(self, fault: Fault) -> None:
        self.fault = fault
        self.races = RecordedRaces()

    def begin(self, setting: Setting) -> None:
        with planted(self.fault):
            self.races.begin(replace(setting, faults=FaultLog()))

    def batch(self, lanes: Lanes) -> None:
        with planted(self.fault):
            self.races.batch(lanes)

    def access(self, access: Access) -> None:
        with planted(self.fault):
            self.races.access(access)

    def barrier(self, line: int, mask: Mask, blocks: np.ndarray) -> None:
        with planted(self.fault):
            self.races.barrier(line, mask, blocks)

    def warp_barrier(self, line: int, mask: Mask) -> None:
        with planted(self.fault):
            self.races.warp_barrier(line, mask)

    def grid_barrier(self, line: int) -> None:
        with planted(self.fault):
            self.races.grid_barrier(line)

    def fence(self, line: int, mask: Mask, *, within_block: bool = False) -> None:
        with planted(self.fault):
            self.races.fence(line, mask, within_block=within_block)


class Run:
    """The kernel of a seed in the simulator, in the order that the seed draws, and the witness's.

    Args:
        seed: the seed.
        folder: where the kernel is written.
        faults: those of which a detector each watches as well.
    """

    def __init__(self, seed: int, folder: Path, faults: Iterable[str] = ()) -> None:
        self.drawn = draw(seed)
        path = folder / "kernel.py"
        path.write_text(self.drawn.text)
        kind = seed % 9
        schedule: Schedule | None = None
        if kind > 7:
            few = self.drawn.grid * self.drawn.block < 20
            schedule = RoundRobin("threads" if few else "warps", "accesses", seed=seed)
        self.told, self.races = Told(), RecordedRaces()
        self.faulty = {name: Faulty(FAULTS[name]) for name in faults}
        self.arrays = {"g": np.zeros(GLOBAL, np.int64), "f": np.zeros(FLAGS, np.int64)}
        ready = simulate(
            f"{path}:kernel",
            order_seed=None if kind < 6 else seed,
            policy="puzzle" if seed % 2 else "foreign",
            schedule=schedule,
            observers=(self.told, self.races, *self.faulty.values()),
        )
        launch.LANES_PER_BATCH = [256, 32][seed // 2 % 2]
        ready[self.drawn.grid, self.drawn.block](*self.arrays.values())
        self.witness = Witness(self.drawn, self.told.order)

    def differs(self, races: RecordedRaces) -> str:
        """Returns where a detector and the witness differ; "" where they agree."""
        right = self.witness.causality
        missed, false = right.racing - races.racing, races.racing - right.racing
        advice = (right.loose - right.racing) ^ (races.loose - races.racing)
        if missed or false or advice:
            return f"missed {sorted(missed)}, false {sorted(false)}, advice {sorted(advice)}"
        return ""

    def unlike(self) -> str:
        """Returns what the simulator and the witness did otherwise; "" where nothing."""
        for t, (told, done) in enumerate(zip(self.told.events, self.witness.events, strict=True)):
            if told != done:
                return f"thread {t}: {told}, not {done}"
        for name, array in self.arrays.items():
            left = [self.witness.memory[name, -1, k] for k in range(array.size)]
            if array.tolist() != left:
                return f"{name}: {array.tolist()}, not {left}"
        return ""


def test_random_kernels(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The detector and the simulator agree with the witness, and every planted fault is told."""
    monkeypatch.setattr(launch, "LANES_PER_BATCH", launch.LANES_PER_BATCH)
    seen: Counter[bool] = Counter()
    untold = set(FAULTS)
    due = set(FAULTS) if EVERYTHING else set(FAULTS) - RARE
    for seed in range(examples(1000, few=SAMPLE)):
        run = Run(seed, tmp_path, sorted(untold))
        assert run.unlike() == "", f"seed {seed}\n{run.drawn.text}"
        assert run.differs(run.races) == "", f"seed {seed}\n{run.drawn.text}"
        untold -= {name for name, each in run.faulty.items() if run.differs(each.races)}
        seen[bool(run.witness.causality.racing)] += 1
    assert not untold & due
    assert 2 * min(seen.values()) > max(seen.values())  # about as many race as do not


def main(first: int, last: int, names: Sequence[str]) -> None:
    """Tries many seeds; prints those on which the two differ, and by how many faults are told."""
    seen: Counter[str] = Counter()
    told: Counter[str] = Counter(dict.fromkeys(names, 0))
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(first, last):
            run = Run(seed, Path(folder), names)
            found = run.witness.causality
            seen["racing" if found.racing else "loose" if found.loose else "clean"] += 1
            if differs := run.differs(run.races) or run.unlike():
                seen["different"] += 1
                print(seed, differs)
            told.update(name for name, each in run.faulty.items() if run.differs(each.races))
    print(dict(seen))
    for name, count in told.most_common():
        print(f"{count:6} {name}")


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), list(FAULTS) if "faults" in sys.argv else [])
