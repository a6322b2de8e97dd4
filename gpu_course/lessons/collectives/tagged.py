"""Numbers that say which place of which rank they are from, also in a sum.

From the messages of a run it is worked out who held what, step by step.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from gpu_course.lessons.collectives.schedules import Move, Schedule, own

BITS = 4
"""Of each rank: it can be in a sum up to 15 times."""
MAX_RANKS = 8

Told = Sequence[Sequence[Any]]
"""[what, peer, numbers] of one rank, in order; what is "send" or "got"."""


@dataclass(frozen=True)
class Moment:
    """Who holds what after a step, and what moved in it; None where nobody can tell.

    Attributes:
        held: [rank][place] -> how often each rank's numbers are in it.
        moves: the messages of the step.
    """

    held: tuple[tuple[Counter[int] | None, ...], ...]
    moves: tuple[Move, ...] = ()


def tags(rank: int, ranks: int, length: int) -> list[float]:
    """Returns the numbers of a rank.

    >>> [read(v, 2) == (j, {1: 1}) for j, v in enumerate(tags(1, 2, 3))]
    [True, True, True]
    """
    own_bits, place = 1 << BITS * rank, 1 << BITS * ranks
    return [float(own_bits + j * place) for j in range(length)]


def read(value: float, ranks: int) -> tuple[int, Counter[int]] | None:
    """Returns (place, how often each rank is in it) of a number, None where it is no sum of tags.

    >>> first, second = tags(0, 2, 3)[2], tags(1, 2, 3)[2]
    >>> read(first + 2 * second, 2)
    (2, Counter({1: 2, 0: 1}))
    >>> read(0.5, 2), read(first + tags(1, 2, 3)[1], 2)
    (None, None)
    """
    if not float(value).is_integer() or value <= 0:
        return None
    bits, above = int(value) % (1 << BITS * ranks), int(value) >> BITS * ranks
    inside = Counter({r: bits >> BITS * r & (1 << BITS) - 1 for r in range(ranks)})
    inside += Counter()
    times = sum(inside.values())
    if not times or above % times:
        return None
    return above // times, inside


def moments_of(schedule: Schedule) -> tuple[Moment, ...]:
    """Returns what a schedule comes to, step by step."""
    steps = ((), *schedule.steps)
    return tuple(Moment(held, step) for held, step in zip(schedule.held(), steps, strict=True))


@dataclass(frozen=True)
class Sent:
    """A message of a run.

    Attributes:
        source, target: ranks.
        step: one more than that of the last message its sender had got; the first is 1.
        numbers: how many are in it.
        inside: {place: how often each rank is in it}, of those that can be read.
    """

    source: int
    target: int
    step: int
    numbers: int
    inside: Mapping[int, Counter[int]]


def moments(
    told: Sequence[Told], length: int, results: Sequence[Sequence[float] | None]
) -> tuple[Moment, ...]:
    """Returns who held what in a run, step by step.

    A message is sent in the step after the last one whose message its sender had got by then.
    Whether what arrived was added or put in its place can't be seen at once: what the rank sends
    of that place later, or returns in the end, tells it.

    Args:
        told: by each rank, as `watching.watch` gives it.
        length: numbers of each rank's buffer.
        results: what each rank returned, as far as it is a buffer of that length.
    """
    ranks = len(told)
    sent, arrived = messages(told)
    held: list[list[Counter[int] | None]] = [list(row) for row in own(ranks, length)]
    found = [_moment(held, ())]
    ends = [_final(result, ranks, length) for result in results]
    for step in range(1, max((m.step for m in sent), default=0) + 1):
        now = [m for m in sent if m.step == step]
        for message in now:
            for place, inside in message.inside.items():
                held[message.source][place] = inside
        before, moves = [list(row) for row in held], []
        for message in now:
            added = []
            for place, inside in message.inside.items():
                mine = before[message.target][place]
                later = _later(sent, message, place, ends)
                adds = _adds(mine, inside, later)
                if message in arrived:
                    current = held[message.target][place]
                    held[message.target][place] = (
                        current + inside if adds and current is not None else inside
                    )
                added.append((place, adds))
            for adds in (True, False):
                places = tuple(sorted(p for p, a in added if a is adds))
                if places:
                    moves.append(Move(message.source, message.target, places, adds))
        found.append(_moment(held, tuple(moves)))
    if any(ends) and len(found) > 1:
        for row, end in zip(held, ends, strict=True):
            row[:] = [end.get(place, inside) for place, inside in enumerate(row)]
        found[-1] = _moment(held, found[-1].moves)
    return tuple(found)


def _moment(held: Sequence[Sequence[Counter[int] | None]], moves: tuple[Move, ...]) -> Moment:
    return Moment(tuple(tuple(row) for row in held), moves)


def messages(told: Sequence[Told]) -> tuple[list[Sent], list[Sent]]:
    """Returns the messages of a run by step and sender, and those that their targets have got.

    Args:
        told: by each rank, as `watching.watch` gives it.
    """
    ranks = len(told)
    level, at = [0] * ranks, [0] * ranks
    way: dict[tuple[int, int], deque[Sent]] = {}
    sent: list[Sent] = []
    arrived: list[Sent] = []
    going = True
    while going:
        going = False
        for rank in range(ranks):
            while at[rank] < len(told[rank]):
                what, peer, numbers = told[rank][at[rank]]
                if what == "send":
                    readings = [read(value, ranks) for value in numbers]
                    inside = dict(each for each in readings if each is not None)
                    message = Sent(rank, int(peer), level[rank] + 1, len(numbers), inside)
                    way.setdefault((rank, int(peer)), deque()).append(message)
                    sent.append(message)
                else:
                    waiting = way.get((int(peer), rank))
                    if not waiting:
                        break
                    arrived.append(waiting.popleft())
                    level[rank] = max(level[rank], arrived[-1].step)
                at[rank] += 1
                going = True
    return sorted(sent, key=lambda m: (m.step, m.source)), arrived


def _final(
    result: Sequence[float] | None, ranks: int, length: int
) -> dict[int, Counter[int] | None]:
    if result is None or len(result) != length:
        return {}
    readings = [read(value, ranks) for value in result]
    return {
        place: reading[1] if reading is not None and reading[0] == place else None
        for place, reading in enumerate(readings)
    }


def _later(
    sent: Sequence[Sent],
    message: Sent,
    place: int,
    ends: Sequence[Mapping[int, Counter[int] | None]],
) -> Counter[int] | None:
    """What the target next sends of a place, or returns."""
    for other in sorted(sent, key=lambda m: m.step):
        if other.source == message.target and other.step > message.step and place in other.inside:
            return other.inside[place]
    return ends[message.target].get(place)


def _adds(mine: Counter[int] | None, inside: Counter[int], later: Counter[int] | None) -> bool:
    if mine is None:
        return False
    if later is not None and later in (inside, mine + inside):
        return later != inside
    return not set(mine) & set(inside)
