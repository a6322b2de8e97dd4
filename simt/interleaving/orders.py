"""Which orders are tried, and in which order: the simplest first, then some drawn by chance."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from simt.interleaving.schedules import Ahead, Backwards, Hold, LateStore, Point, Race
from simt.machine.lanes import WARP
from simt.machine.schedule import Kind, RoundRobin, Schedule
from simt.report import Hazard, Recording

SEEDS = 6
"""Orders drawn by chance: as many of warps, and as many of single threads."""
MAX_THREADS = 256
"""Threads in a launch that is run thread by thread: one after the other takes its time."""
MAX_OTHERS = 4
"""Threads looked at on the other side of a race, for each on this side."""


def races_of(hazard: Hazard, recording: Recording) -> list[Race]:
    """Returns pairs of accesses that race as a hazard says, those of different warps first.

    A hazard names one pair for all that race between its two lines. Warps go their own way more
    readily than the lanes of a warp, so other pairs may show more.

    Args:
        hazard: a race.
        recording: a run of the launch.
    """
    d = hazard.details
    per_block = recording.threads_per_block
    sides = [
        (d["access"], hazard.line, d["thread"]),
        (d["other_access"], d["other_line"], d["other_thread"]),
    ]
    sides.sort(key=lambda side: side[0] != "load")

    def race(one: int, other: int, cell: int) -> Race:
        first, second = (
            Point(thread, line, kind, d["array"], cell)
            for thread, (kind, line, _) in zip((one, other), sides, strict=True)
        )
        return Race(first, second, d["space"], per_block)

    named = race(sides[0][2], sides[1][2], d["cell"])
    touching = [_touching(recording, d["array"], kind, line) for kind, line, _ in sides]
    apart: list[Race] = []
    near = [named]
    for cell, threads in touching[0].items():
        for one in threads:
            for other in touching[1].get(cell, ())[:MAX_OTHERS]:
                found = race(one, other, cell)
                if one == other or (d["space"] == "shared" and not found.same_block):
                    continue
                (near if found.same_warp else apart).append(found)
    return [*_spread(apart), *_spread(near)]


def _touching(recording: Recording, array: str, kind: str, line: int) -> dict[int, list[int]]:
    """Cell -> the threads that touch it on a line."""
    kind = {"load": "read", "store": "write"}.get(kind, kind)
    found: dict[int, list[int]] = {}
    for step in recording.steps:
        if step.line == line:
            for access in step.accesses:
                if (access.array, access.kind) == (array, kind):
                    pairs = zip(access.cells.tolist(), access.threads.tolist(), strict=True)
                    for cell, thread in pairs:
                        found.setdefault(cell, []).append(thread)
    return found


def _spread(races: list[Race]) -> list[Race]:
    """The first of some races, the last, and one between them."""
    if not races:
        return []
    chosen = (races[0], races[-1], races[len(races) // 2])
    return list(dict.fromkeys(chosen))


@dataclass(frozen=True)
class Order:
    """An order to be tried.

    Attributes:
        words: what it does, for people.
        schedule: makes a schedule, which is good for one run; None runs all threads together.
    """

    words: str
    schedule: Callable[[], Schedule | None]


TOGETHER = Order("all threads run in step", lambda: None)
WARP_BY_WARP = Order("one warp runs after the other", lambda: Ahead((), "warps"))
ONE_BY_ONE = Order("one thread runs after the other", lambda: Ahead((), "threads"))


class Names:
    """Calls warps and threads by their names.

    Args:
        per_block: threads of a block.
        blocks: of the grid.
    """

    def __init__(self, per_block: int, blocks: int) -> None:
        self.per_block = per_block
        self.blocks = blocks

    def of(self, thread: int, kind: Kind) -> str:
        """Returns "warp 1", "thread 33", and of which block where there are several."""
        block, inside = divmod(thread, self.per_block)
        name = f"thread {inside}" if kind == "threads" else f"warp {inside // WARP}"
        return name if self.blocks == 1 else f"{name} of block {block}"


def orders(races: Sequence[Race], threads: int, names: Names) -> Iterator[Order]:
    """Yields the orders to be tried, the simplest first.

    Args:
        races: what the detectors found.
        threads: of the launch.
        names: says which warp or thread is meant.
    """
    few = threads <= MAX_THREADS
    kinds: list[Kind] = ["warps", "threads"] if few else ["warps"]
    if races and all(race.same_warp for race in races):
        kinds.reverse()
    if kinds[0] == "threads":
        yield from _in_a_row("threads")
    for race in races:
        if few or not race.same_warp:
            yield from _of_race(race, names)
    if kinds[0] == "warps":
        yield from _in_a_row("warps")
    for kind in kinds:
        for seed in range(SEEDS):
            words = f"the {kind} take turns at random"
            yield Order(words, partial(RoundRobin, kind, "accesses", seed))


def _in_a_row(kind: Kind) -> Iterator[Order]:
    words = f"the {kind} run one after the other"
    yield Order(f"{words}, beginning with the first", partial(Ahead, (), kind))
    yield Order(f"{words}, beginning with the last", partial(Backwards, (), kind))


def _of_race(race: Race, names: Names) -> Iterator[Order]:
    one, other = race.one, race.other
    kind: Kind = "threads" if race.same_warp else "warps"
    for ahead, behind in ((one, other), (other, one)):
        first = race.number(ahead.thread, kind), race.number(behind.thread, kind)
        words = f"{names.of(ahead.thread, kind)} runs ahead"
        yield Order(words, partial(Ahead, first, kind))
    for held, until in ((other, one), (one, other)):
        words = (
            f"{names.of(held.thread, kind)} is held up before line {held.line} until "
            f"{names.of(until.thread, kind)} has passed line {until.line}"
        )
        yield Order(words, partial(Hold, held, until, race, kind))
    if race.space == "global" and not race.same_block and other.kind == "store":
        block = other.thread // race.per_block
        words = f"what block {block} writes in line {other.line} reaches the other blocks late"
        yield Order(words, partial(LateStore, other, race))
