"""Why ranks wait for each other: calls that do not fit, and who stands where.

Two ranks of a group must make the same collectives in the same order, and a send must find a
receive of its size. gloo itself ends the process on some of these, and on others waits until its
timeout.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from gpu_course.parallel.calls import Call
from gpu_course.parallel.log import Log

_SAME_SIZES = {"all_reduce", "reduce", "broadcast", "all_gather", "reduce_scatter"}
_HAS_ROOT = {"broadcast", "reduce", "gather", "scatter"}
MOST_DROPPED = 4
_NOUN = {"send": "a send to", "recv": "a receive from"}


@dataclass(frozen=True)
class Disagreement:
    """Two calls that should fit each other and do not.

    Attributes:
        what: "kinds", "sizes" or "roots".
        one, other: the calls.
    """

    what: str
    one: Call
    other: Call

    @property
    def returned(self) -> Call | None:
        """The barrier of a rank that is through with the learner's code; None where none is.

        What runs an answer parts its passes by barriers, which no line of the answer calls.
        """
        for call, met in ((self.one, self.other), (self.other, self.one)):
            if self.what == "kinds" and call.kind == "barrier" and not call.line and met.line:
                return call
        return None

    @property
    def fact(self) -> str:
        """What does not fit what, in one line."""
        one, other = self.one, self.other
        if self.returned is not None:
            met = other if self.returned is one else one
            return (
                f"rank {self.returned.rank} returns without the {met.kind} that rank {met.rank} "
                "calls"
            )
        if one.kind == "send":
            return (
                f"rank {one.rank} sends {_elements(one)} to rank {other.rank}, which receives "
                f"{_elements(other)}"
            )
        nth = f"collective {one.place} of {_group(one.group)}"
        if self.what == "kinds":
            return f"{nth} is {one.kind} on rank {one.rank} and {other.kind} on rank {other.rank}"
        if self.what == "roots":
            return (
                f"{nth}, {one.kind}, has root {one.peer} on rank {one.rank} and root {other.peer} "
                f"on rank {other.rank}"
            )
        return (
            f"{nth}, {one.kind}, has {_elements(one)} on rank {one.rank} and {_elements(other)} on "
            f"rank {other.rank}"
        )

    def text(self, file: str) -> str:
        """Returns what is told of it: the fact, and both places."""
        places = [
            f"rank {call.rank} has returned" if call is self.returned else _place(call, file)
            for call in (self.one, self.other)
        ]
        text = f"{self.fact}\n  where:  {places[0]}\n          {places[1]}"
        if self.what == "kinds":
            text += "\n  try:    let all ranks of a group make the same calls in the same order"
        return text


class Agreement:
    """Lays each call beside those it has to fit, as they come in."""

    def __init__(self) -> None:
        self._first: dict[tuple[object, ...], Call] = {}
        self._seen = 0

    def broken_by(self, calls: Sequence[Call]) -> Disagreement | None:
        """Returns the first of the calls not seen before that does not fit another, or None."""
        for call in calls[self._seen :]:
            self._seen += 1
            met = self._first.setdefault(_meets(call), call)
            what = _differs(met, call)
            if what:
                one, other = sorted((met, call), key=lambda c: (c.kind != "send", c.rank))
                return Disagreement(what, one, other)
        return None


def disagreement(calls: Iterable[Call]) -> Disagreement | None:
    """Returns the first calls that do not fit each other, or None."""
    return Agreement().broken_by(list(calls))


def _meets(call: Call) -> tuple[object, ...]:
    """Returns what two calls have in common that are to fit each other."""
    if call.kind in ("send", "recv"):
        pair = (call.rank, call.peer) if call.kind == "send" else (call.peer, call.rank)
        return (call.group, pair, call.tag, call.place)
    return (call.group, call.place)


def _differs(one: Call, other: Call) -> str:
    if "send" in (one.kind, other.kind):
        return "sizes" if one.payload_bytes != other.payload_bytes else ""
    if one.kind != other.kind:
        return "kinds"
    if one.kind in _HAS_ROOT and one.peer != other.peer:
        return "roots"
    sizes = one.kind in _SAME_SIZES and sum(one.sizes) != sum(other.sizes)
    return "sizes" if sizes else ""


@dataclass(frozen=True)
class Standing:
    """Where a rank stands in a run that does not go on.

    Attributes:
        rank: which.
        text: "waits in recv from 2"; where the line is known, `line` follows in messages.
        line: of the learner's file; 0 where none is known.
    """

    rank: int
    text: str
    line: int = 0


def standings(log: Log, waiting: Sequence[int]) -> tuple[Standing, ...]:
    """Returns where every rank stands.

    Args:
        log: what the ranks told.
        waiting: the ranks that have not come to their end.
    """
    found = []
    for rank in range(log.ranks):
        call, last = log.waits_for(rank), log.last(rank)
        if rank not in waiting:
            found.append(Standing(rank, "has come to its end"))
        elif call is not None:
            found.append(Standing(rank, f"waits in {_called(call)}", call.line))
        elif last is not None:
            found.append(Standing(rank, f"is in no call; its last was {last.kind}", last.line))
        else:
            found.append(Standing(rank, "is in no call"))
    return tuple(found)


def stuck_report(
    stand: Sequence[Standing], file: str, why: str, dropped: Sequence[Call] = ()
) -> str:
    """Returns what is told of a run that stands still.

    Args:
        stand: where each rank stands.
        file: the learner's, as messages name it.
        why: what shows that it stands still.
        dropped: messages that were begun, and of which nothing was kept to wait for.
    """
    lines = [f"the run stands still: {why}"]
    for each in stand:
        if each.text.startswith("waits"):
            place = f", {file}:{each.line}" if each.line else ", called by a library"
        else:
            place = f" in {file}:{each.line}" if each.line else ""
        lines.append(f"  rank {each.rank} {each.text}{place}")
    for call in dropped[:MOST_DROPPED]:
        whom = "any rank" if call.peer is None else f"rank {call.peer}"
        lines.append(
            f"  rank {call.rank} began {_NOUN[call.kind]} {whom}, {_line(call, file)}, and kept no "
            "work to wait for: such a message may be lost"
        )
    return "\n".join(lines)


def _called(call: Call) -> str:
    if call.kind == "send":
        return f"send to {call.peer}"
    if call.kind == "recv":
        return f"recv from {'any rank' if call.peer is None else call.peer}"
    return f"{call.kind} {call.place}"


def _place(call: Call, file: str) -> str:
    return f"rank {call.rank}, {_line(call, file)}"


def _line(call: Call, file: str) -> str:
    return f"{file}:{call.line}" if call.line else "called by a library"


def _elements(call: Call) -> str:
    count = sum(call.sizes)
    return f"{count:,} element{'' if count == 1 else 's'} ({call.payload_bytes:,} bytes)"


def _group(group: Sequence[int]) -> str:
    return f"ranks {', '.join(map(str, group))}"
