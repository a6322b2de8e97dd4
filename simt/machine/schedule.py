"""Who runs next, where the threads of a launch run one after the other instead of all together.

Such a launch is split into *tasks*, each a warp or a single thread. Each task goes its own way, one
of them at a time, and hands on at *switch points*. A `Schedule` says what the tasks are, how fine
the switch points lie, and at each of them which task goes next. Handed to `simulate` (or to
`launch.run`), it makes any kernel run that way:

    record = AccessLog()
    schedule = RoundRobin(tasks="threads", fineness="accesses", seed=3)
    report = simulate(kernel, schedule=schedule, observers=(record,))[2, 4](out, a)
    record.events       # who touched which cell, in the order it happened, with the values
    schedule.chosen     # the task that ran on after each switch point ...
    Follow(schedule.chosen, tasks="threads", fineness="accesses")    # ... which replays the run

A schedule sees of a task what it is `about` to do, so a search can hold a task just before the
write that it is interested in. A task that waits at a barrier, or in a loop where nothing can
change until somebody else writes, is not offered until it can go on.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

Kind = Literal["warps", "threads"]
Fineness = Literal["waits", "accesses"]

START, WAIT, BARRIER = "start", "wait", "barrier"


@dataclass(frozen=True)
class About:
    """What a task does when it goes on.

    Attributes:
        kind: "start", "load", "store", "atomic", "wait" (another turn of a loop that waits for
            others) or "barrier" (it has met the others and leaves).
        line: the line.
        array: the array's name, of an access.
        find_cells: computes `cells`.
    """

    kind: str
    line: int
    array: str = ""
    find_cells: Callable[[], np.ndarray] | None = field(default=None, compare=False, repr=False)

    @property
    def cells(self) -> np.ndarray:
        """int64 (n,), the C-order cells an access is about to touch, before any bounds check."""
        return np.empty(0, np.int64) if self.find_cells is None else self.find_cells()


@dataclass(eq=False)
class Task:
    """A warp or a thread of a launch that takes turns with others, as a schedule sees it.

    Attributes:
        number: counts the tasks of the launch, block after block.
        block: linear number of its block.
        warp: which warp of the block it is, or is in.
        threads: int64 (n,), global linear numbers of its threads.
        about: what it does next.
    """

    number: int
    block: int
    warp: int
    threads: np.ndarray
    about: About


class Schedule:
    """Decides at every switch point which task goes on; subclasses say how.

    Args:
        tasks: "warps", or "threads": since compute capability 7.0 each thread makes progress by
            itself.
        fineness: "waits" switches at barriers and in loops that wait for others; "accesses" also
            before every access to global or shared memory.
        resident: how many blocks there is room for at a time: a further one starts when one of
            them has ended, as on a GPU; 0: all are there. A launch with a barrier of the grid has
            all its blocks there, or does not start.
    """

    def __init__(
        self, tasks: Kind = "warps", fineness: Fineness = "waits", resident: int = 0
    ) -> None:
        self.tasks: Kind = tasks
        self.fineness: Fineness = fineness
        self.resident = resident
        self.chosen: list[int] = []

    def choose(self, runnable: Sequence[Task], last: Task | None) -> Task:
        """Returns one of the tasks that can go on.

        Args:
            runnable: never empty, in no particular order; of those that have not started, the
                next ones only.
            last: the task that ran until now; None at the start.
        """
        raise NotImplementedError

    def next(self, runnable: Sequence[Task], last: Task | None) -> Task:
        """Returns `choose(...)`, and remembers it in `chosen`."""
        task = self.choose(runnable, last)
        self.chosen.append(task.number)
        return task


class RoundRobin(Schedule):
    """One task after the other; those that wait in a loop come when all others wait as well.

    Args:
        tasks, fineness: see `Schedule`.
        seed: draws the next task instead, when not None.

    >>> waits = Task(0, 0, 0, np.arange(1), About(WAIT, 3))
    >>> works = Task(1, 0, 0, np.arange(1), About("load", 5))
    >>> RoundRobin().choose([waits, works], works) is works
    True
    """

    def __init__(
        self, tasks: Kind = "warps", fineness: Fineness = "waits", seed: int | None = None
    ) -> None:
        super().__init__(tasks, fineness)
        self.rng = None if seed is None else np.random.default_rng(seed)

    def choose(self, runnable: Sequence[Task], last: Task | None) -> Task:
        """Returns the next one by number."""
        pool = [s for s in runnable if s.about.kind != WAIT] or runnable
        if self.fineness == "waits":
            # Those that have started end before others start: few are under way at a time.
            pool = [s for s in pool if s.about.kind != START] or pool
        if self.rng is not None:
            return pool[int(self.rng.integers(len(pool)))]
        later = [s for s in pool if last is not None and s.number > last.number]
        return min(later or pool, key=lambda s: s.number)


class Follow(RoundRobin):
    """The tasks of a list, one for each switch point; round-robin after its end.

    A number whose task cannot go on at its switch point is left out.

    Args:
        numbers: task numbers, such as another schedule's `chosen`.
        tasks, fineness: see `Schedule`; a replay takes those of the run it replays.
    """

    def __init__(
        self, numbers: Sequence[int], tasks: Kind = "threads", fineness: Fineness = "accesses"
    ) -> None:
        super().__init__(tasks, fineness)
        self.numbers = list(reversed(numbers))

    def choose(self, runnable: Sequence[Task], last: Task | None) -> Task:
        """Returns the next task of the list that can go on."""
        by_number = {task.number: task for task in runnable}
        while self.numbers:
            number = self.numbers.pop()
            if number in by_number:
                return by_number[number]
        return super().choose(runnable, last)


class Ranked(Schedule):
    """The foremost task that can go on goes on: blocks in a drawn order, and the warps in each.

    So a block ends before the next one starts, where it can. A task that waits in a loop falls
    behind all others, so the next block helps, if there is room for it: with `resident=1` there is
    none, and a block that waits for one that has not started waits for ever. With `turns`, the
    foremost falls behind now and then, whatever it is at: that brings out what needs a thread to be
    overtaken in the middle of its work (Burckhardt et al., ASPLOS 2010).

    Args:
        tasks, fineness, resident: see `Schedule`.
        seed: draws the order.
        turns: after how many switch points, on average, the foremost falls behind; 0: never.
        first: the block that comes before all others; None: a drawn one.
    """

    def __init__(
        self,
        tasks: Kind = "warps",
        fineness: Fineness = "waits",
        seed: int = 0,
        turns: int = 0,
        resident: int = 0,
        first: int | None = None,
    ) -> None:
        super().__init__(tasks, fineness, resident)
        self.rng = np.random.default_rng(seed)
        self.turns = turns
        self._blocks: dict[int, float] = {} if first is None else {first: -1.0}
        self._places: dict[int, tuple[int, float, float]] = {}
        self._behind = 0

    def choose(self, runnable: Sequence[Task], last: Task | None) -> Task:
        """Returns the foremost."""
        if last is not None and last.about.kind == WAIT:
            self._fall_behind(last)
        first = min(runnable, key=self._place)
        if self.turns and self.rng.integers(self.turns) == 0:
            self._fall_behind(first)
            first = min(runnable, key=self._place)
        return first

    def _fall_behind(self, task: Task) -> None:
        self._behind += 1
        self._places[task.number] = (self._behind, 0.0, 0.0)

    def _place(self, task: Task) -> tuple[int, float, float]:
        place = self._places.get(task.number)
        if place is None:
            block = self._blocks.setdefault(task.block, float(self.rng.random()))
            place = self._places[task.number] = (0, block, float(self.rng.random()))
        return place
