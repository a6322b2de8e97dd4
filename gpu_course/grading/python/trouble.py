"""Ranks that did not come to their end together, as a verdict and its message tell it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from gpu_course.errors import CourseError
from gpu_course.ranks.calls import Call
from gpu_course.ranks.stuck import HAS_FINISHED, IN_NO_CALL, Disagreement, Standing, crossed


@dataclass(eq=False)
class Trouble(Exception):
    """The ranks did not come to their end as they should.

    Attributes:
        key: of the diagnosis; `reason` and `status`: of the verdict.
        fact: what happened, in one line.
        stand: what the message says of single ranks.
        calls: of the case, until then.
        closer: a key that says more, for a puzzle that knows nothing better itself; or "".
    """

    key: str
    reason: str
    fact: str
    stand: tuple[Standing, ...] = ()
    calls: tuple[Call, ...] = ()
    status: str = "failed"
    closer: str = ""


_DIFFER = {
    "kinds": "calls-differ",
    "sizes": "sizes-differ",
    "roots": "roots-differ",
    "dtypes": "dtypes-differ",
    "ops": "ops-differ",
    "parts": "sizes-differ",
    "groups": "new-group",
}


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
        fact = "the ranks stand still: each rank that has not finished waits"
        return Trouble(key, "hazard", fact, stand, calls, closer=crossed(stand) or _left(stand))
    if key == "deadline":
        return Trouble(key, "deadline", _still_busy(stand), stand, calls, "timeout")
    if odd is not None:
        both = tuple(
            Standing(c.rank, "has returned" if c is odd.returned else f"calls {c.kind}", c.line)
            for c in (odd.one, odd.other)
        )
        return Trouble(_DIFFER[odd.what], "hazard", odd.fact, both, calls)
    fact = error.fact.splitlines()[0]
    where = tuple(each for each in stand if each.line)
    return Trouble("memory" if key == "memory" else "crash", "crash", fact, where, calls)


def _left(stand: Sequence[Standing]) -> str:
    """Returns "left-early" where somebody waits for a rank that has finished, else ""."""
    gone = {each.rank for each in stand if each.text == HAS_FINISHED}
    calls = [each.call for each in stand if each.call is not None]
    awaited: set[int] = set()
    for call in calls:
        one = call.peer if call.kind in ("send", "recv") else None
        awaited |= set(call.group) if one is None else {one}
    return "left-early" if gone & awaited else ""


def _still_busy(stand: Sequence[Standing]) -> str:
    """Returns who does not come to its end while others wait, where somebody does."""
    busy = [each.rank for each in stand if each.text.startswith(IN_NO_CALL)]
    if len(busy) == 1 and any(each.call is not None for each in stand):
        return f"rank {busy[0]} does not finish, and others wait for it"
    return "the ranks do not finish"


def sent_to_itself(
    calls: tuple[Call, ...], error: Mapping[str, Any] | None = None
) -> Trouble | None:
    """Returns what is told of a message from a rank to itself, which no backend carries.

    Args:
        calls: of the case.
        error: what a rank raised, with "rank": PyTorch refuses some of them before they are calls.
    """
    for call in calls:
        if call.kind in ("send", "recv") and call.peer == call.rank:
            return _to_itself(call.rank, call.kind == "send", call.line, calls)
    if error is not None and error["frames"]:
        for what in ("destination", "source"):
            if str(error["text"]).startswith(f"Invalid {what} rank: {what} rank should not be the"):
                line = error["frames"][-1][1]
                return _to_itself(error["rank"], what == "destination", line, calls)
    return None


def _to_itself(rank: int, sends: bool, line: int, calls: tuple[Call, ...]) -> Trouble:
    way = "sends to itself" if sends else "receives from itself"
    stand = (Standing(rank, way, line),)
    return Trouble("sends-to-itself", "exception", f"rank {rank} {way}", stand, calls)


def makes_its_own_group(error: Mapping[str, Any], calls: tuple[Call, ...]) -> Trouble | None:
    """Returns what is told of a group by gloo alone, which the filter lets nobody listen for.

    Args:
        error: what the rank raised, with "rank".
        calls: of the case.
    """
    text, frames = str(error["text"]), error["frames"]
    if not ("gloo/transport" in text and "Operation not permitted" in text):
        return None
    way = "makes a group of gloo's that is not the runner's"
    stand = tuple(Standing(error["rank"], way, line) for _, line in frames[-1:])
    return Trouble("group-of-its-own", "refused", f"rank {error['rank']} {way}", stand, calls)


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
