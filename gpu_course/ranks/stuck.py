"""Why ranks wait for each other: calls that do not fit, and who stands where.

Two ranks of a group must make the same collectives in the same order, and a send must find a
receive of its size. gloo itself ends the process on some of these, and on others waits until its
timeout.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from gpu_course.ranks.calls import NEW_GROUP, Call
from gpu_course.ranks.log import Log
from simt.text import count

_SAME_SIZES = {"all_reduce", "reduce", "broadcast", "all_gather", "reduce_scatter"}
_HAS_ROOT = {"broadcast", "reduce", "gather", "scatter"}
MAX_DROPPED = 4
_TRY = {
    "kinds": "let all ranks of a group make the same calls in the same order",
    "dtypes": "give the tensors on both sides one dtype",
    "ops": "give all ranks the same op",
    "groups": "call new_group for each group on all ranks, those that are not in it too",
    "new-group": "call new_group for each group on all ranks, those that are not in it too",
    "groups-crossed": "let all ranks call the collectives of these groups in one order",
}
IN_NO_CALL = "is in no call"
HAS_FINISHED = "has finished"
_NOUN = {"send": "a send to", "recv": "a receive from"}


@dataclass(frozen=True)
class Disagreement:
    """Two calls that should fit each other and do not.

    Attributes:
        what: "kinds", "sizes", "roots", "dtypes", "ops", "parts" or "groups".
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
        differ = self.what == "dtypes"
        if one.kind == "send":
            return (
                f"rank {one.rank} sends {_elements(one, differ)} to rank {other.rank}, which "
                f"receives {_elements(other, differ)}"
            )
        if self.what == "groups":
            return (
                f"{NEW_GROUP} {one.place} is of {_ranks(one.group)} on rank {one.rank} and of "
                f"{_ranks(other.group)} on rank {other.rank}"
            )
        nth = f"collective {one.place} of {_group(one.group)}"
        if self.what == "kinds":
            return f"{nth} is {one.kind} on rank {one.rank} and {other.kind} on rank {other.rank}"
        if self.what == "roots":
            return (
                f"{nth}, {one.kind}, has root {one.peer} on rank {one.rank} and root {other.peer} "
                f"on rank {other.rank}"
            )
        if self.what == "parts":
            giver, taker = next(pair for pair in _both(one, other) if _parts_differ(*pair))
            given, taken = _part(giver, taker)
            return (
                f"in {nth}, {one.kind}, rank {giver.rank} gives {count(given, 'element')} to rank "
                f"{taker.rank}, which takes {taken:,}"
            )
        if self.what == "ops":
            return (
                f"{nth}, {one.kind}, is {one.op} on rank {one.rank} and {other.op} on rank "
                f"{other.rank}"
            )
        return (
            f"{nth}, {one.kind}, has {_elements(one, differ)} on rank {one.rank} and "
            f"{_elements(other, differ)} on rank {other.rank}"
        )

    def places(self, file: str) -> tuple[str, str]:
        """Returns where each of the two is."""
        one, other = (
            f"rank {call.rank} has returned" if call is self.returned else _place(call, file)
            for call in (self.one, self.other)
        )
        return one, other

    @property
    def step(self) -> str:
        """What to try, or ""."""
        return _TRY.get(self.what, "")


class Agreement:
    """Lays each call beside those it has to fit, as they come in."""

    def __init__(self) -> None:
        self._met: dict[tuple[object, ...], list[Call]] = {}
        self._seen: Counter[int] = Counter()

    def broken_by(self, *lists: Sequence[Call]) -> Disagreement | None:
        """Returns the first of the calls not seen before that does not fit another, or None.

        Args:
            lists: calls, in order; each list only grows from one time to the next.
        """
        for number, calls in enumerate(lists):
            if found := self._broken_by(number, calls):
                return found
        return None

    def _broken_by(self, number: int, calls: Sequence[Call]) -> Disagreement | None:
        for call in calls[self._seen[number] :]:
            self._seen[number] += 1
            others = self._met.setdefault(_meets(call), [])
            for met in others:
                if what := _differs(met, call):
                    one, other = sorted((met, call), key=lambda c: (c.kind != "send", c.rank))
                    return Disagreement(what, one, other)
            # What all have in common is held by one of them; what two have, by each.
            if not others or call.kind == "all_to_all":
                others.append(call)
        return None


def _meets(call: Call) -> tuple[object, ...]:
    """Returns what two calls have in common that are to fit each other."""
    if call.kind == NEW_GROUP:
        # One with a name of its own is made by its ranks alone.
        return (NEW_GROUP, call.place, call.group if call.tag else ())
    if call.kind in ("send", "recv"):
        pair = (call.rank, call.peer) if call.kind == "send" else (call.peer, call.rank)
        return (call.group, pair, call.tag, call.place)
    return (call.group, call.place)


def _differs(one: Call, other: Call) -> str:
    if one.kind == NEW_GROUP:
        return "groups" if one.group != other.group else ""
    if {one.kind, other.kind} == {"send", "recv"}:
        if one.dtype != other.dtype and one.dtype and other.dtype:
            return "dtypes"
        return "sizes" if one.payload_bytes != other.payload_bytes else ""
    if "send" in (one.kind, other.kind):
        return ""
    if one.kind != other.kind:
        return "kinds"
    if one.kind in _HAS_ROOT and one.peer != other.peer:
        return "roots"
    if one.dtype and other.dtype and one.dtype != other.dtype:
        return "dtypes"
    if one.kind in _SAME_SIZES and sum(one.sizes) != sum(other.sizes):
        return "sizes"
    if one.gives and other.gives and any(_parts_differ(*pair) for pair in _both(one, other)):
        return "parts"
    return "ops" if one.op != other.op else ""


def _both(one: Call, other: Call) -> tuple[tuple[Call, Call], tuple[Call, Call]]:
    return (one, other), (other, one)


def _part(giver: Call, taker: Call) -> tuple[int, int]:
    """Returns the elements of an all-to-all that one gives the other, and that the other takes."""
    gives = giver.gives[giver.group.index(taker.rank)]
    return gives, taker.takes[taker.group.index(giver.rank)]


def _parts_differ(giver: Call, taker: Call) -> bool:
    given, taken = _part(giver, taker)
    return given != taken


@dataclass(frozen=True)
class Standing:
    """Where a rank stands in a run that does not go on.

    Attributes:
        rank: which.
        text: "waits in recv from 2"; where the line is known, `line` follows in messages.
        line: of the learner's file; 0 where none is known.
        call: what it waits in, or None.
    """

    rank: int
    text: str
    line: int = 0
    call: Call | None = None


def standings(log: Log, waiting: Sequence[int], file: str) -> tuple[Standing, ...]:
    """Returns where every rank stands.

    Args:
        log: what the ranks told.
        waiting: the ranks that have not finished.
        file: the learner's, as the ranks name it.
    """
    waits = {rank: log.waits_for(rank) for rank in waiting}
    groups = {call.group for call in waits.values() if call is not None}
    found = []
    for rank in range(log.ranks):
        call, last = log.waits_for(rank), log.last(rank)
        if rank not in waiting:
            found.append(Standing(rank, HAS_FINISHED))
        elif call is not None:
            text = f"waits in {_called(call)}"
            # With one group it is plain which, and who has not come.
            if len(groups) > 1 or call.kind == NEW_GROUP:
                text += _of_and_for(log, call)
            found.append(Standing(rank, text, call.line, call))
        elif line := log.line_of(rank, file):
            found.append(Standing(rank, IN_NO_CALL, line))
        elif last is not None:
            found.append(Standing(rank, f"{IN_NO_CALL}; its last was {last.kind}", last.line))
        else:
            found.append(Standing(rank, IN_NO_CALL))
    return tuple(found)


def _of_and_for(log: Log, call: Call) -> str:
    """Returns which group a rank waits in, and for whom."""
    group = f" of {_group(call.group)}"
    if call.kind in ("send", "recv"):
        return group
    missing = [rank for rank in log.missing_from(call) if rank != call.rank]
    return f"{group}, for {_ranks(missing)}" if missing else group


def crossed(stand: Sequence[Standing]) -> str:
    """Returns why ranks that all wait do so: "new-group", "groups-crossed", or "" for all else."""
    calls = [each.call for each in stand if each.call is not None]
    if any(call.kind == NEW_GROUP for call in calls):
        return "new-group"
    groups = {call.group for call in calls if call.kind not in ("send", "recv")}
    share = any(set(a) & set(b) for a, b in itertools.combinations(groups, 2))
    return "groups-crossed" if share else ""


def stuck_report(
    stand: Sequence[Standing],
    file: str,
    why: str,
    dropped: Sequence[Call] = (),
    *,
    head: str = "the run stands still",
) -> str:
    """Returns what is told of a run that stands still.

    Args:
        stand: where each rank stands.
        file: the learner's, as messages name it.
        why: what shows that it stands still.
        dropped: messages that were begun, and of which nothing was kept to wait for.
        head: what is said of the run.
    """
    lines = [f"{head}: {why}"]
    for each in stand:
        if each.text.startswith("waits"):
            place = f", {file}:{each.line}" if each.line else ", called by a library"
        else:
            at = "," if each.text == IN_NO_CALL else " in"
            place = f"{at} {file}:{each.line}" if each.line else ""
        lines.append(f"  rank {each.rank} {each.text}{place}")
    for call in dropped[:MAX_DROPPED]:
        whom = "any rank" if call.peer is None else f"rank {call.peer}"
        lines.append(
            f"  rank {call.rank} began {_NOUN[call.kind]} {whom}, {_line(call, file)}, and kept no "
            "work to wait for: such a message may be lost"
        )
    return "\n".join(lines)


def step_of(stand: Sequence[Standing]) -> str:
    """Returns what to try where ranks stand still, or ""."""
    return _TRY.get(crossed(stand), "")


def _called(call: Call) -> str:
    if call.kind == NEW_GROUP:
        return NEW_GROUP
    tag = f" with tag {call.tag}" if call.tag else ""
    if call.kind == "send":
        return f"send to {call.peer}{tag}"
    if call.kind == "recv":
        return f"recv from {'any rank' if call.peer is None else call.peer}{tag}"
    return f"{call.kind} {call.place}"


def _place(call: Call, file: str) -> str:
    return f"rank {call.rank}, {_line(call, file)}"


def _line(call: Call, file: str) -> str:
    return f"{file}:{call.line}" if call.line else "called by a library"


def _elements(call: Call, dtype: bool = False) -> str:
    each = count(sum(call.sizes), "element")
    which = f" of {call.dtype}" if dtype else ""
    return f"{each}{which} ({call.payload_bytes:,} bytes)"


def _group(group: Sequence[int]) -> str:
    return f"ranks {', '.join(map(str, group))}"


def _ranks(ranks: Sequence[int]) -> str:
    return f"rank {ranks[0]}" if len(ranks) == 1 else _group(ranks)
