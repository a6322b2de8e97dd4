"""Searches the orders of a launch's threads for one in which a race makes the result wrong."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice, zip_longest

import numpy as np

from simt.errors import KernelRefused
from simt.interleaving.experiment import Experiment, Run
from simt.interleaving.orders import MAX_THREADS as MAX_THREADS_ONE_BY_ONE
from simt.interleaving.orders import (
    ONE_BY_ONE,
    TOGETHER,
    WARP_BY_WARP,
    Names,
    Order,
    orders,
    races_of,
)
from simt.interleaving.schedules import LateStore, Race
from simt.interleaving.story import UNSEEN, Culprit, Damage, damage_at, find_culprit
from simt.interleaving.story_texts import (
    tell_cut,
    tell_found,
    tell_hazards,
    tell_none,
    tell_unfinished,
    tell_wrong,
)
from simt.machine.observer import Observer
from simt.observe.recorder import MAX_THREADS, Recorder
from simt.report import Hazard, Recording, Report

MAX_TRIES = 48
MAX_RACES = 4
MAX_STEPS = 6000
MAX_VARIABLES = 3


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
        self.tried = self.unfinished = 0
        self.races: list[Race] = []

    def replay(self) -> Replay:
        together, recording = self._record(TOGETHER, detect_races=True)
        self.report = together.report
        self.names = Names(recording.threads_per_block, int(np.prod(self.report.launch.grid)))
        hazards = races_in(self.report)
        # Where all write the same value, no order of the two can show.
        harmful = [h for h in hazards if not h.details["same_value"]]
        found = [races_of(h, recording) for h in harmful[:MAX_RACES]]
        self.races = [r for alike in zip_longest(*found) for r in alike if r is not None]
        self.tried = 1
        right, wanted = self._right_run(together)
        if wanted is None:
            return Replay(tell_unfinished(self.report), self.tried)
        if right is None and not self.races:
            return Replay(tell_wrong(self.report, hazards), self.tried)
        ways = orders(self.races, self.report.launch.lanes, self.names)
        planned = list(islice(ways, MAX_TRIES - self.tried))
        most = self.tried + len(planned)
        for order in planned:
            if self.told is not None:
                self.told(self.tried, most)
            tried = self._try(order)
            if tried is not None and self._wrong(tried, wanted):
                return self._found(order, wanted, right)
        story = tell_none(self.report, hazards, self.tried, self.unfinished)
        return Replay(story, self.tried)

    def _try(self, order: Order) -> Run | None:
        """A run in another order; None where there is no result of it to compare."""
        self.tried += 1
        run = self._run_if_it_can(order)
        if run is not None and not run.finished:
            self.unfinished += 1
            return None
        return run

    def _run_if_it_can(self, order: Order) -> Run | None:
        try:
            return self._run(order)
        except KernelRefused:
            # In this order the lanes of a warp would have to wait for each other.
            return None

    def _record(self, order: Order, *, detect_races: bool = False) -> tuple[Run, Recording]:
        recorder = Recorder(self.watch, self._threads(), MAX_STEPS)
        run = self._run(order, (recorder,), detect_races=detect_races)
        return run, recorder.recording(run.report)

    def _run(
        self, order: Order, observers: Sequence[Observer] = (), *, detect_races: bool = False
    ) -> Run:
        schedule = order.schedule()
        if not isinstance(schedule, LateStore):
            return self.experiment.run(schedule, observers, detect_races=detect_races)
        both = (schedule, *observers)
        run = self.experiment.run(schedule, both, detect_races=detect_races)
        schedule.arrive()
        return run

    def _right_run(self, together: Run) -> tuple[Order | None, Mapping[str, np.ndarray] | None]:
        """An order whose result is right, if one is known, and what the outputs should be.

        All together is the order the author had in mind, unless threads add to a cell that others
        add to as well: then one after another is. Without outputs where no order came to its end.
        """
        expected = self.experiment.expected()
        candidates = [TOGETHER, WARP_BY_WARP]
        if self.report.launch.lanes <= MAX_THREADS_ONE_BY_ONE:
            adding = expected is None and any(self._updates(race) for race in self.races)
            candidates.insert(0 if adding else 2, ONE_BY_ONE)
        wanted = None
        for order in candidates:
            known = order is TOGETHER and together.finished
            run = together if known else self._run_if_it_can(order)
            if run is None or not run.finished:
                continue
            wanted = run.outputs if expected is None else expected
            if not self._wrong(run, wanted):
                return order, wanted
        return None, wanted

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
        # The recording knows arrays by the names that the launched kernel has for them.
        outputs = {own: name for name in wrong if (own := self.experiment.own_name(name))}

        def damaged(name: str, cell: int) -> Damage:
            own = self.experiment.own_name(name)
            return damage_at(name, own, cell, run.outputs[name], wanted[name], wrong[name])

        first = next(iter([*outputs.values(), *wrong]))
        damage = damaged(first, int(np.flatnonzero(wrong[first])[0]))
        culprit, whole = None, recording.whole
        if right is not None:
            other = self._record(right)[1]
            whole &= other.whole
            wrote = wrong_cells(recording, {own: wrong[name] for own, name in outputs.items()})
            culprit = find_culprit(recording, other, damage, set(wrote.values()))
            mine = [at for at, thread in wrote.items() if culprit and thread == culprit.at.thread]
            if mine:
                own, cell = min(mine)
                damage = damaged(outputs[own], cell)
        warps = self._warps(culprit, recording)
        track = recording.track(warps)
        step = culprit.at.step if culprit is not None else track[0]
        known = self.experiment.expected() is not None
        story = tell_found(recording, order, culprit, damage, self.tried, self.names, known=known)
        if right is None:
            story += (
                "\nNo order was found in which the result is right: the race is not the only fault."
            )
        elif culprit is None and not whole:
            story += f"\n{tell_cut(recording)}"
        start = track.index(step) if step in track else 0
        # The same once more, for the marks of its races; so many of them may end it early.
        marked = self._record(order, detect_races=True)[1]
        if step < len(marked.steps):
            recording = marked
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
        return replace(recording, watch=(*recording.watch[:MAX_VARIABLES], culprit.array))

    def _threads(self) -> Sequence[int]:
        """The threads to record: all, or the blocks of the races and those that come first."""
        grid, block = self.experiment.shape()
        per_block, blocks = int(np.prod(block)), int(np.prod(grid))
        if per_block * blocks <= MAX_THREADS:
            return range(per_block * blocks)
        racing = (p.thread // per_block for race in self.races for p in (race.one, race.other))
        chosen = list(dict.fromkeys((*racing, *range(blocks))))[: max(MAX_THREADS // per_block, 1)]
        return [b * per_block + t for b in chosen for t in range(per_block)]

    def _warps(self, culprit: Culprit | None, recording: Recording) -> tuple[int, ...]:
        if culprit is not None:
            threads = [culprit.at.thread]
            if culprit.other is not None:
                threads.append(culprit.other.thread)
        else:
            threads = [p.thread for race in self.races[:1] for p in (race.one, race.other)]
        found = tuple(sorted({int(w) for w in recording.warps_of(np.array(threads, np.int64))}))
        if recording.track(found):
            return found
        # A recording that was cut short may end before these begin.
        return (int(recording.warps_of(recording.steps[0].threads)[0]),)


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
    """Returns the races of a report that are errors, and that an order of the threads may show."""
    races = (h for h in report.hazards if h.kind == "race" and h.severity == "error")
    return [race for race in races if not race.details["loose"]]
