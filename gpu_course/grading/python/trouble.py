"""Ranks that did not come to their end together, as a verdict and its message tell it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from gpu_course.errors import CourseError
from gpu_course.parallel.calls import Call
from gpu_course.parallel.stuck import Disagreement, Standing


@dataclass(eq=False)
class Trouble(Exception):
    """The ranks did not come to their end as they should.

    Attributes:
        key: of the diagnosis; `reason` and `status`: of the verdict.
        fact: what happened, in one line.
        stand: what the message says of single ranks.
        calls: of the case, until then.
    """

    key: str
    reason: str
    fact: str
    stand: tuple[Standing, ...] = ()
    calls: tuple[Call, ...] = ()
    status: str = "failed"


_DIFFER = {"kinds": "calls-differ", "sizes": "sizes-differ", "roots": "roots-differ"}


def trouble_of(
    key: str,
    error: CourseError,
    stand: tuple[Standing, ...],
    odd: Disagreement | None,
    calls: tuple[Call, ...],
    dropped: tuple[Call, ...],
) -> Trouble:
    """Returns what ended a run as a check tells it; the arguments are those of a RankFailed."""
    if dropped and key in ("standstill", "deadline"):
        return never_waited_for(dropped, calls)
    if key == "standstill":
        fact = "the ranks stand still: each that is not at its end waits"
        return Trouble(key, "hazard", fact, stand, calls)
    if key == "deadline":
        fact = "the ranks do not come to their end"
        return Trouble(key, "deadline", fact, stand, calls, "timeout")
    if odd is not None:
        both = tuple(
            Standing(c.rank, "has returned" if c is odd.returned else f"calls {c.kind}", c.line)
            for c in (odd.one, odd.other)
        )
        return Trouble(_DIFFER[odd.what], "hazard", odd.fact, both, calls)
    fact = error.fact.splitlines()[0]
    return Trouble("memory" if key == "memory" else "crash", "crash", fact, (), calls)


def sent_to_itself(calls: tuple[Call, ...]) -> Trouble | None:
    """Returns what is told of a message from a rank to itself, which no backend carries."""
    for call in calls:
        if call.kind in ("send", "recv") and call.peer == call.rank:
            way = "sends to itself" if call.kind == "send" else "receives from itself"
            stand = (Standing(call.rank, way, call.line),)
            return Trouble("sends-to-itself", "exception", f"rank {call.rank} {way}", stand, calls)
    return None


def ended_its_group(ended: Sequence[tuple[int, int]], calls: tuple[Call, ...]) -> Trouble:
    """Returns what is told of ranks that ended the group they were given: (rank, line) of each."""
    rank, line = min(ended)
    stand = (Standing(rank, "ends the group", line),) if line else ()
    return Trouble("group-ended", "refused", f"rank {rank} ends the group of all", stand, calls)


def never_waited_for(loose: Sequence[Call], calls: tuple[Call, ...]) -> Trouble:
    """Returns what is told of calls that were begun, and of the first of them."""
    first = min(loose, key=lambda call: (call.number, call.rank))
    if first.kind not in ("send", "recv"):
        stand = (Standing(first.rank, f"begins {first.kind}", first.line),)
        fact = f"rank {first.rank} never waits for the {first.kind} that it begins"
        return Trouble("not-waited", "hazard", fact, stand if first.line else (), calls)
    sends = first.kind == "send"
    whom = "any rank" if first.peer is None else f"rank {first.peer}"
    way = f"sends to {whom}" if sends else f"receives from {whom}"
    stand = (Standing(first.rank, way, first.line),)
    fact = f"rank {first.rank} never waits for what it {way}"
    return Trouble("not-waited", "hazard", fact, stand if first.line else (), calls)
