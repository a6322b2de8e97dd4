"""What the ranks of a run told of their calls, as it comes in."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence

from gpu_course.parallel.calls import Call

MOST_READ = 1 << 16


class Log:
    """The events of all ranks.

    Args:
        handles: for each rank the descriptor to read its events from; reading never waits.

    Attributes:
        calls: in the order in which they were read.
        count: how many events there were.
    """

    def __init__(self, handles: Sequence[int]) -> None:
        self._handles = list(handles)
        self._rest = [b""] * len(handles)
        self._waits: list[int | None] = [None] * len(handles)
        self._own: list[dict[int, Call]] = [{} for _ in handles]
        self.calls: list[Call] = []
        self.count = 0

    def read(self) -> None:
        """Takes in what has been told since; what is no event is left out."""
        for rank, handle in enumerate(self._handles):
            while True:
                try:
                    data = os.read(handle, MOST_READ)
                except BlockingIOError:
                    break
                if not data:
                    break
                *lines, self._rest[rank] = (self._rest[rank] + data).split(b"\n")
                for line in lines:
                    self._take(rank, line)

    def _take(self, rank: int, line: bytes) -> None:
        self.count += 1
        try:
            event = json.loads(line)
            if "call" in event:
                told = event["call"]
                told |= {"group": tuple(told["group"]), "sizes": tuple(told["sizes"])}
                call = Call(**(told | {"rank": rank}))
                self.calls.append(call)
                self._own[rank][call.number] = call
            elif "waits" in event:
                self._waits[rank] = event["waits"]
            elif event.get("over") == self._waits[rank]:
                self._waits[rank] = None
        except (ValueError, TypeError, KeyError, AttributeError):
            return

    def waits_for(self, rank: int) -> Call | None:
        """Returns the call a rank waits for at this moment."""
        number = self._waits[rank]
        return None if number is None else self._own[rank].get(number)

    def last(self, rank: int) -> Call | None:
        """Returns the last call of a rank."""
        own = self._own[rank]
        return own[max(own)] if own else None

    def last_place(self, rank: int, file: str) -> str:
        """Returns its last call and line as messages name it, "" where there is none."""
        last = self.last(rank)
        if last is None:
            return ""
        return f"{last.kind} in {file}:{last.line}" if last.line else last.kind
