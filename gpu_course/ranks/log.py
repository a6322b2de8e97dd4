"""What the ranks of a run told of their calls, as it comes in.

What is read here was written by processes that run anybody's code: a line that is no event is left
out, and a rank that writes without end is named.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from gpu_course.ranks.calls import KINDS, NEW_GROUP, Call

MAX_READ = 1 << 16
MAX_READS = 64
"""At one time from one rank: whoever writes faster than this is read must not hold up the rest."""
MAX_EVENTS = 300_000
MAX_LINE = 1 << 16
MAX_SIZES = 4096
_WORD = re.compile(r"[A-Za-z0-9_+]{0,60}")
_FRAME = re.compile(rb'  File "(.*)", line (\d{1,7}) in .*')
_LARGEST = 1 << 53


class Log:
    """The events of all ranks.

    Args:
        handles: for each rank the descriptor to read its events from; reading never waits.

    Attributes:
        calls: in the order in which they were read.
        told: for each rank its events in order: ("begins", "waits", "over", "future" or "mark",
            number of the call or of the mark).
        count: how many events there were.
        groups: the groups that were made, each as a call of a rank that is in it.
        found: receives from any rank whose sender is known by now, with it as the peer.
        ended: (rank, line) of each that ended the group it was given.
        since: how many of the calls had been made when the ranks were asked for what they do now.
    """

    def __init__(self, handles: Sequence[int]) -> None:
        self._handles = list(handles)
        self._rest = [b""] * len(handles)
        self._waits: list[int | None] = [None] * len(handles)
        self._own: list[dict[int, Call]] = [{} for _ in handles]
        self._open: list[dict[int, Call]] = [{} for _ in handles]
        self._dropped: list[set[int]] = [set() for _ in handles]
        self._told = [0] * len(handles)
        self._making: list[Call | None] = [None] * len(handles)
        self._frames: list[list[tuple[str, int]]] = [[] for _ in handles]
        self.calls: list[Call] = []
        self.groups: list[Call] = []
        self.found: list[Call] = []
        self.told: list[list[tuple[str, int]]] = [[] for _ in handles]
        self.count = 0
        self.ended: list[tuple[int, int]] = []
        self.since = 0

    def begin(self) -> None:
        """Notes that the ranks are asked for something now: of what was before, no more is told."""
        self.since = len(self.calls)
        for frames in self._frames:
            frames.clear()

    def read(self) -> None:
        """Takes in what has been told since; what is no event is left out."""
        for rank, handle in enumerate(self._handles):
            for _ in range(MAX_READS):
                if rank == self.flooded:
                    break
                try:
                    data = os.read(handle, MAX_READ)
                except BlockingIOError:
                    break
                if not data:
                    break
                *lines, self._rest[rank] = (self._rest[rank] + data).split(b"\n")
                for line in lines:
                    self._take(rank, line)

    @property
    def ranks(self) -> int:
        """How many there are."""
        return len(self._handles)

    @property
    def flooded(self) -> int | None:
        """The rank that told more than a run can have to tell, or None."""
        for rank, rest in enumerate(self._rest):
            if len(rest) > MAX_LINE or self._told[rank] > MAX_EVENTS:
                return rank
        return None

    def _take(self, rank: int, line: bytes) -> None:
        self.count += 1
        self._told[rank] += 1
        if frame := _FRAME.fullmatch(line):
            self._frames[rank].append((frame[1].decode("utf-8", "replace"), int(frame[2])))
            return
        try:
            event = json.loads(line)
            if "call" in event:
                call = _call(rank, event["call"], len(self._handles))
                if call.number in self._own[rank]:
                    return
                self.calls.append(call)
                self._own[rank][call.number] = self._open[rank][call.number] = call
                self.told[rank].append(("begins", call.number))
            elif "waits" in event:
                self._waits[rank] = _whole(event["waits"])
                self.told[rank].append(("waits", _whole(event["waits"])))
            elif "mark" in event:
                self.told[rank].append(("mark", _whole(event["mark"])))
            elif "future" in event:
                number = _whole(event["future"])
                self.told[rank].append(("future", number))
                # Whoever has the future waits for that, and no call of ours tells when.
                self._open[rank].pop(number, None)
            elif "makes" in event:
                made = _group(rank, event["makes"], len(self._handles))
                self._making[rank] = made
                self.groups.append(made)
            elif "made" in event:
                self._making[rank] = None
            elif "found" in event:
                self._find(rank, event["found"])
            elif "ends" in event:
                self.ended.append((rank, _whole(event["ends"])))
            elif "dropped" in event:
                self._dropped[rank].add(_whole(event["dropped"]))
            else:
                number = _whole(event["over"])
                self._open[rank].pop(number, None)
                self.told[rank].append(("over", number))
                if number == self._waits[rank]:
                    self._waits[rank] = None
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
            return

    def _find(self, rank: int, found: dict[str, Any]) -> None:
        """Takes in from whom a message came that was received from any rank."""
        call = self._own[rank][_whole(found["number"])]
        if (call.kind, call.peer) == ("recv", None):
            peer = _whole(found["peer"], below=len(self._handles))
            self.found.append(replace(call, peer=peer, place=_whole(found["place"])))

    def waits_for(self, rank: int) -> Call | None:
        """Returns the call a rank waits for at this moment, or the group that it is making."""
        if (making := self._making[rank]) is not None:
            return making
        number = self._waits[rank]
        return None if number is None else self._own[rank].get(number)

    def never_waited_for(self) -> list[Call]:
        """Returns the sends and receives that have begun and whose end no rank has waited for."""
        begun = [call for each in self._open for call in each.values()]
        return [call for call in begun if call.kind in ("send", "recv")]

    def collectives_under_way(self) -> list[Call]:
        """Returns the collectives that have begun and whose end no rank has waited for."""
        begun = [call for each in self._open for call in each.values()]
        return [call for call in begun if call.kind not in ("send", "recv")]

    def dropped(self) -> list[Call]:
        """Returns sends and receives that no rank can wait for any more: it kept none of them."""
        loose = self.never_waited_for()
        return [call for call in loose if call.number in self._dropped[call.rank]]

    def line_of(self, rank: int, file: str) -> int:
        """Returns the line of a file in which a rank said it was; 0 where it did not say."""
        # The cells of a console are numbered; the outermost frame is of the one that runs.
        own = [(n, name) for name, n in self._frames[rank] if name.partition(" ")[0] == file]
        own = own or [(n, name) for name, n in self._frames[rank] if name == file]
        return next((n for n, name in own if name == own[-1][1]), 0)

    def missing_from(self, call: Call) -> tuple[int, ...]:
        """Returns the ranks without which a collective or a new group can't go on."""
        calls = self.groups if call.kind == NEW_GROUP else self.calls
        same = (c for c in calls if (c.group, c.place) == (call.group, call.place))
        there = {c.rank for c in same if c.kind not in ("send", "recv")}
        return tuple(rank for rank in call.group if rank not in there)

    def is_complete(self, call: Call) -> bool:
        """Whether all have begun what this call needs, so that it waits for no rank.

        A message that either side let go of never is: it may be lost.
        """
        if call.kind not in ("send", "recv"):
            return not self.missing_from(call)
        if call.number in self._dropped[call.rank]:
            return False
        if call.peer is None:
            return any(self._comes(call, peer) for peer in call.group)
        other = "recv" if call.kind == "send" else "send"
        return call.place in self._places(other, call.peer, call.rank, call)

    def _comes(self, call: Call, peer: int) -> bool:
        """Whether a peer has sent what no receive but one from any rank can take."""
        sent = self._places("send", peer, call.rank, call)
        taken = self._places("recv", call.rank, peer, call)
        found = (each for each in self.found if (each.rank, each.peer) == (call.rank, peer))
        return bool(sent - taken - {each.place for each in found if _alike(each, call)})

    def _places(self, kind: str, rank: int, peer: int, like: Call) -> set[int]:
        """Returns the places of a rank's calls to a peer that it has not let go of."""
        return {
            each.place
            for number, each in self._own[rank].items()
            if (each.kind, each.peer) == (kind, peer)
            and _alike(each, like)
            and number not in self._dropped[rank]
        }

    def last(self, rank: int) -> Call | None:
        """Returns the last call of a rank since what it was asked last."""
        own = [call for call in self.calls[self.since :] if call.rank == rank]
        return max(own, key=lambda call: call.number, default=None)

    def last_place(self, rank: int, file: str) -> str:
        """Returns its last call and line as messages name it, "" where there is none."""
        last = self.last(rank)
        if last is None:
            return ""
        return f"{last.kind} in {file}:{last.line}" if last.line else last.kind


def _alike(one: Call, other: Call) -> bool:
    return (one.group, one.tag) == (other.group, other.tag)


def _call(rank: int, told: dict[str, Any], ranks: int) -> Call:
    """Returns the call of an event.

    Raises:
        ValueError, TypeError, KeyError: it is none.
    """
    group = tuple(_whole(each, below=ranks) for each in told["group"])
    if told["kind"] not in KINDS or rank not in group or len(set(group)) < len(group):
        raise ValueError("no call")
    sizes, gives, takes = (told.get(name, ()) for name in ("sizes", "gives", "takes"))
    if len(sizes) > MAX_SIZES or any(len(part) not in (0, len(group)) for part in (gives, takes)):
        raise ValueError("more tensors than one call can have")
    return Call(
        rank=rank,
        number=_whole(told["number"]),
        kind=told["kind"],
        group=group,
        place=_whole(told["place"]),
        sizes=tuple(map(_whole, sizes)),
        payload_bytes=_whole(told["payload_bytes"]),
        peer=None if told["peer"] is None else _whole(told["peer"], below=ranks),
        tag=_whole(told["tag"]),
        line=_whole(told["line"]),
        dtype=_word(told.get("dtype", "")),
        op=_word(told.get("op", "")),
        gives=tuple(map(_whole, gives)),
        takes=tuple(map(_whole, takes)),
    )


def _group(rank: int, told: dict[str, Any], ranks: int) -> Call:
    """Returns the group of an event, as the call that makes it.

    Raises:
        ValueError, TypeError, KeyError: it is none.
    """
    group = tuple(_whole(each, below=ranks) for each in told["group"])
    if rank not in group or len(set(group)) < len(group):
        raise ValueError("no group")
    place, tag, line = (_whole(told[name]) for name in ("place", "tag", "line"))
    return Call(rank, place, NEW_GROUP, group, place, (), 0, tag=tag, line=line)


def _word(value: Any) -> str:
    if type(value) is not str or not _WORD.fullmatch(value):
        raise ValueError("no name of anything")
    return value


def _whole(value: Any, below: int = _LARGEST) -> int:
    if type(value) is not int or not 0 <= value < below:
        raise ValueError("no number of anything")
    return value
