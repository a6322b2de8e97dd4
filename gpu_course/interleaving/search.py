"""Searches the orders of a launch's threads for one in which a race makes the result wrong."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice, zip_longest

import numpy as np

from gpu_course.errors import KernelRefused
from gpu_course.interleaving.experiment import Experiment, Run
from gpu_course.interleaving.orders import MOST_THREADS as MOST_THREADS_ONE_BY_ONE
from gpu_course.interleaving.orders import (
    ONE_BY_ONE,
    TOGETHER,
    WARP_BY_WARP,
    Names,
    Order,
    orders,
    races_of,
)
from gpu_course.interleaving.schedules import LateStore, Race
from gpu_course.interleaving.story import (
    UNSEEN,
    Culprit,
    Damage,
    damage_at,
    find_culprit,
    find_damage,
)
from gpu_course.interleaving.words import tell_found, tell_hazards, tell_none, tell_wrong
from gpu_course.observe.recorder import MOST_THREADS, Recorder
from gpu_course.simt.observer import Observer
from gpu_course.simt.report import Hazard, Recording, Report

MOST_TRIES = 48
MOST_RACES = 4
MOST_STEPS = 6000
MOST_VARIABLES = 3


@dataclass(frozen=True)
class Replay:
    """An order in which the result is wrong, or the word that none was found.

    Attributes:
        story: a few sentences.
        tried: how many orders were run.
        recording: the run, None where none was found.
        warps: the warps it is about.
        start: the number of the step in their track at which it goes wrong.
        culprit: where it went wrong, None where that is not known.
        damage: what became wrong.
    """

    story: str
    tried: int
    recording: Recording | None = None
    warps: tuple[int, ...] = ()
    start: int = 0
    culprit: Culprit | None = None
    damage: Damage | None = None

    @property
    def found(self) -> bool:
        """True when some order gives a wrong result."""
        return self.recording is not None


Told = Callable[[int, int], None]
"""Called with how many orders of the threads were tried so far, and how many there are to try."""


def find_replay(
    experiment: Experiment, watch: Sequence[str] = (), told: Told | None = None
) -> Replay:
    """Returns an order of the threads that makes the result wrong, the simplest that is found.

    Where nobody knows what is right, two orders with two results are enough.

    Args:
        experiment: the launch.
        watch: variables and arrays to show; none shows the first local variables, and the arrays
            that are raced for.
        told: called before each order is tried.
    """
    return _Search(experiment, tuple(watch), told).replay()


class _Search:
    """One search, with what it has found out so far."""

    def __init__(self, experiment: Experiment, watch: tuple[str, ...], told: Told | None) -> None:
        self.experiment = experiment
        self.watch = watch
        self.told = told
        self.tried = 0
        self.races: list[Race] = []

    def replay(self) -> Replay:
        together, recording = self._record(TOGETHER)
        self.in_step = recording
        self.report = together.report
        self.names = Names(recording.threads_per_block, int(np.prod(self.report.launch.grid)))
        hazards = races_in(self.report)
        # Where all write the same value, no order of the two can show.
        harmful = [h for h in hazards if not h.details["same_value"]]
        found = [races_of(h, recording) for h in harmful[:MOST_RACES]]
        self.races = [r for alike in zip_longest(*found) for r in alike if r is not None]
        self.tried = 1
        right, wanted = self._right_run(together)
        if right is None and not self.races:
            return Replay(tell_wrong(self.report, hazards), self.tried)
        ways = orders(self.races, self.report.launch.lanes, self.names)
        planned = list(islice(ways, MOST_TRIES - self.tried))
        most = self.tried + len(planned)
        for order in planned:
            if self.told is not None:
                self.told(self.tried, most)
            tried = self._try(order)
            if tried is not None and self._wrong(tried, wanted):
                return self._found(order, wanted, right)
        return Replay(tell_none(self.report, hazards, self.tried), self.tried)

    def _try(self, order: Order) -> Run | None:
        self.tried += 1
        try:
            return self._run(order)
        except KernelRefused:
            # In this order the lanes of a warp would have to wait for each other.
            return None

    def _record(self, order: Order) -> tuple[Run, Recording]:
        recorder = Recorder(self.watch, self._threads(), MOST_STEPS)
        run = self._run(order, (recorder,))
        return run, recorder.recording(run.report.launch)

    def _recorded(self, right: Order) -> Recording:
        """An order whose result is right, recorded; of all in step there may be one already."""
        if right is TOGETHER and self.in_step.threads.tolist() == sorted(self._threads()):
            return self.in_step
        return self._record(right)[1]

    def _run(self, order: Order, observers: Sequence[Observer] = ()) -> Run:
        schedule = order.schedule()
        if not isinstance(schedule, LateStore):
            return self.experiment.run(schedule, observers)
        run = self.experiment.run(schedule, (schedule, *observers))
        schedule.arrive()
        return run

    def _right_run(self, together: Run) -> tuple[Order | None, Mapping[str, np.ndarray]]:
        """An order whose result is right, if one is known, and what the outputs should be.

        All together is the order the author had in mind, unless threads add to a cell that others
        add to as well: then one after another is.
        """
        expected = self.experiment.expected()
        few = self.report.launch.lanes <= MOST_THREADS_ONE_BY_ONE
        if expected is None:
            if few and any(self._updates(race) for race in self.races):
                return ONE_BY_ONE, self._run(ONE_BY_ONE).outputs
            return TOGETHER, together.outputs
        if not self._wrong(together, expected):
            return TOGETHER, expected
        for order in (WARP_BY_WARP, *([ONE_BY_ONE] if few else [])):
            if not self._wrong(self._run(order), expected):
                return order, expected
        return None, expected

    def _updates(self, race: Race) -> bool:
        """True where the thread that reads a cell also writes it, and so does the other."""
        cells = {
            (touch.kind, int(thread))
            for touch in self.report.touches
            if touch.array == race.one.array
            for thread in touch.threads[touch.cells == race.one.cell]
        }
        pair = race.one.thread, race.other.thread
        return race.space == "global" and all(
            (kind, thread) in cells for kind in ("read", "write") for thread in pair
        )

    def _wrong(self, run: Run, wanted: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
        """Output -> where it is wrong, for outputs that are wrong somewhere."""
        found = {
            name: ~self.experiment.right(name, run.outputs[name], wanted[name]) for name in wanted
        }
        return {name: mask for name, mask in found.items() if mask.any()}

    # The order that was found, once more and recorded

    def _found(
        self,
        order: Order,
        wanted: Mapping[str, np.ndarray],
        right: Order | None,
    ) -> Replay:
        run, recording = self._record(order)
        wrong = self._wrong(run, wanted)
        damage = find_damage(run.outputs, wanted, wrong)
        culprit = None
        if right is not None:
            wrote = wrong_cells(recording, wrong)
            blamed = set(wrote.values())
            culprit = find_culprit(recording, self._recorded(right), damage, blamed)
            own = [at for at, thread in wrote.items() if culprit and thread == culprit.at.thread]
            if own:
                name, cell = min(own)
                count = int(np.count_nonzero(wrong[name]))
                damage = damage_at(name, cell, run.outputs[name], wanted[name], count)
        warps = self._warps(culprit, recording)
        track = recording.track(warps)
        step = culprit.at.step if culprit is not None else track[0]
        known = self.experiment.expected() is not None
        story = tell_found(recording, order, culprit, damage, self.tried, self.names, known=known)
        if right is None:
            story += "\nNo order was found in which the result is right: the race is not all."
        start = track.index(step) if step in track else 0
        if not self.watch:
            recording = self._with_arrays(recording, culprit)
        if culprit is not None:
            told = tell_hazards(recording.hazards, culprit, self.names)
            recording = replace(recording, hazards=told)
        return Replay(story, self.tried, recording, warps, start, culprit, damage)

    def _with_arrays(self, recording: Recording, culprit: Culprit | None) -> Recording:
        """The recording, which now also shows what the array holds that is raced for."""
        if culprit is None or culprit.kind == UNSEEN:
            # What is written and not yet seen is there for some threads and not for others.
            return recording
        return replace(recording, watch=(*recording.watch[:MOST_VARIABLES], culprit.array))

    def _threads(self) -> Sequence[int]:
        """The threads to record: all, or the blocks of the races and those that come first."""
        grid, block = self.experiment.shape()
        per_block, blocks = int(np.prod(block)), int(np.prod(grid))
        if per_block * blocks <= MOST_THREADS:
            return range(per_block * blocks)
        racing = (p.thread // per_block for race in self.races for p in (race.one, race.other))
        chosen = list(dict.fromkeys((*racing, *range(blocks))))[: max(MOST_THREADS // per_block, 1)]
        return [b * per_block + t for b in chosen for t in range(per_block)]

    def _warps(self, culprit: Culprit | None, recording: Recording) -> tuple[int, ...]:
        if culprit is not None:
            threads = [culprit.at.thread]
            if culprit.other is not None:
                threads.append(culprit.other.thread)
        elif self.races:
            threads = [self.races[0].one.thread, self.races[0].other.thread]
        else:
            threads = [int(recording.threads[0])]
        return tuple(sorted({int(w) for w in recording.warps_of(np.array(threads))}))


def wrong_cells(
    recording: Recording, wrong: Mapping[str, np.ndarray]
) -> dict[tuple[str, int], int]:
    """Returns the wrong cells of outputs, with the thread that wrote each last."""
    flat = {name: mask.reshape(-1) for name, mask in wrong.items()}
    found: dict[tuple[str, int], int] = {}
    for step in recording.steps:
        for access in step.accesses:
            if access.array in flat and access.kind != "read":
                here = flat[access.array][access.cells]
                cells, threads = access.cells[here].tolist(), access.threads[here].tolist()
                for cell, thread in zip(cells, threads, strict=True):
                    found[access.array, cell] = thread
    return found


def races_in(report: Report) -> list[Hazard]:
    """Returns the races of a report that are errors."""
    return [h for h in report.hazards if h.kind == "race" and h.severity == "error"]
