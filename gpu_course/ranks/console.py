"""Ranks that stay between cells: each runs what it is told, and keeps what it holds.

A cell in which ranks wait for each other for ever is ended and told, and the ranks with it: nobody
can take a message back that is half way. The next cell gets new ones.
"""

from __future__ import annotations

import atexit
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gpu_course.errors import CourseError
from gpu_course.isolation.processes import Process
from gpu_course.ranks.calls import Call
from gpu_course.ranks.cells import CELL, beginning
from gpu_course.ranks.runner import RankFailed, World, bytes_since, world
from gpu_course.ranks.stuck import step_of, stuck_report

SESSION = Path(__file__).with_name("session.py")
"""What each rank runs; its `cell` is called for each cell."""
CELL_SECONDS = 120.0
SERVER = "console"
"""Its forkserver is one of its own: checks need the other one while these ranks wait."""


@dataclass(frozen=True)
class Shown:
    """What one rank made of a cell.

    Attributes:
        rank: which.
        printed: what it printed, and the value of a last line that is an expression.
        error: what it raised and in which line, "" where all went well.
    """

    rank: int
    printed: str
    error: str = ""


@dataclass(frozen=True)
class CellRun:
    """What the ranks made of a cell.

    Attributes:
        shown: for each rank that ran it.
        trouble: why the ranks were ended, None while they are there.
        calls: what they called, in the order in which it was told.
        socket_bytes: {(from, to): bytes the kernel counted}, or None where it tells none.
    """

    shown: tuple[Shown, ...]
    trouble: CourseError | None = None
    calls: tuple[Call, ...] = ()
    socket_bytes: Mapping[tuple[int, int], int] | None = None


class Console:
    """Ranks for cells, started with the first of them.

    Attributes:
        last: what came of the latest cell, or None.
        note: what to say of how the ranks were started, "" where they were forked warm.
    """

    def __init__(self) -> None:
        self.last: CellRun | None = None
        self.note = ""
        self._closing = ExitStack()
        self._world: World | None = None
        self._turn = 0

    @property
    def ranks(self) -> int:
        """How many there are now; 0 where none have been started, or all have been ended."""
        return 0 if self._world is None else len(self._world.processes)

    def start(self, ranks: int) -> None:
        """Sees to it that there are so many ranks; others than these are ended first.

        Raises:
            CourseError: this system cannot start ranks, or the number is out of range.
        """
        if ranks and ranks == self.ranks:
            return
        self.close()
        made = world(ranks, CELL, seconds=CELL_SECONDS, server=SERVER)
        self._world = self._closing.enter_context(made)
        self.note = self._world.note
        text = SESSION.read_text(encoding="utf-8")
        load = {"answer": text, "file": "console", "functions": ["cell"], "seconds": CELL_SECONDS}
        replies = self._world.ask([load] * ranks)
        if any(reply != {"loaded": True} for reply in replies):
            self.close()
            raise CourseError(f"the ranks cannot run cells: {replies[0]}")

    def run(self, text: str, only: int | None = None) -> CellRun:
        """Returns what came of a cell.

        Args:
            text: of the cell.
            only: the rank that runs it; None for all of them.

        Raises:
            CourseError: there are no ranks, or none of that number.
        """
        joined = self._world
        if joined is None:
            raise CourseError("there are no ranks yet", "start them with a cell `%%ranks 4`")
        if only is not None and not 0 <= only < self.ranks:
            raise CourseError(f"there is no rank {only}", f"the ranks are 0 to {self.ranks - 1}")
        self._turn += 1
        begun, before = len(joined.log.calls), joined.socket_bytes()
        messages = [self._message(text if only in (None, r) else "") for r in range(self.ranks)]
        for process in joined.processes:
            process.forget_printed()
        try:
            replies = joined.ask(messages, stopped=_has_raised)
        except RankFailed as failed:
            self.close()
            told = [Shown(rank, self._printed(each)) for rank, each in enumerate(joined.processes)]
            places = [_with_lines(each, text) for each in failed.places]
            trouble = CourseError(_with_lines(failed.fact, text), failed.hint, places)
            self.last = CellRun(_of(told, only), trouble, tuple(joined.log.calls[begun:]))
            return self.last
        except BaseException:
            # Whoever sits there stopped them: they are half way through something.
            stood = joined.stand(joined.under_way)
            self.close()
            told = [Shown(rank, self._printed(each)) for rank, each in enumerate(joined.processes)]
            _, *places = _with_lines(stuck_report(stood, CELL, ""), text).splitlines()
            head = "where the ranks stood when the cell was stopped:"
            trouble = CourseError("\n".join([head, *places]), step_of(stood))
            self.last = CellRun(_of(told, only), trouble, tuple(joined.log.calls[begun:]))
            raise
        waiting = [rank for rank, reply in enumerate(replies) if reply == {"waits": True}]
        ended: CourseError | None = None
        if waiting:
            stand = [s for s in joined.stand(waiting) if s.rank in waiting]
            lines = [f"rank {s.rank} {s.text}{f', line {s.line}' if s.line else ''}" for s in stand]
            head = "a rank raised an error, and others wait for it"
            ended = CourseError("\n".join([head, *lines]))
            self.close()
        shown = [_shown(rank, reply, text) for rank, reply in enumerate(replies)]
        for rank in waiting:
            shown[rank] = Shown(rank, self._printed(joined.processes[rank]))
        sent = None if waiting else bytes_since(before, joined.socket_bytes())
        self.last = CellRun(_of(shown, only), ended, tuple(joined.log.calls[begun:]), sent)
        return self.last

    def close(self) -> None:
        """Ends the ranks, and what they held goes with them."""
        self._world = None
        self._closing.close()

    def _printed(self, process: Process) -> str:
        """Returns what a rank that is gone printed in the latest cell."""
        return process.printed().rpartition(beginning(self._turn))[2]

    def _message(self, text: str) -> dict[str, Any]:
        return {
            "turn": self._turn,
            "inputs": {"text": text, "number": self._turn},
            "arguments": ["text", "number"],
            "seed": self._turn,
            "seconds": CELL_SECONDS,
            "held": False,
        }


def _has_raised(reply: Mapping[str, Any]) -> bool:
    return "raised" in reply or bool(_result(reply).get("error"))


def _result(reply: Mapping[str, Any]) -> Mapping[str, Any]:
    got = reply.get("got")
    found: Mapping[str, Any] = got["result"] if isinstance(got, dict) else {}
    return found


def _of(shown: Sequence[Shown], only: int | None) -> tuple[Shown, ...]:
    return tuple(each for each in shown if only in (None, each.rank))


def _shown(rank: int, reply: Mapping[str, Any], text: str) -> Shown:
    found = _result(reply)
    error = found.get("error") or reply.get("raised")
    if not error:
        return Shown(rank, found.get("printed", ""))
    said = f"{error['type']}: {error['text']}" if error["text"] else error["type"]
    for line in error.get("lines", ())[-1:]:
        said += f"\n  line {line}: {_line(text, line)}"
    return Shown(rank, found.get("printed", ""), said)


def _line(text: str, number: int) -> str:
    lines = text.splitlines()
    return lines[number - 1].strip() if 0 < number <= len(lines) else ""


def _with_lines(report: str, text: str) -> str:
    """Returns a report with the lines of the cell that it names written out."""
    out = []
    for row in report.splitlines():
        place, colon, number = row.rpartition(f"{CELL}:")
        if colon and number.isdecimal():
            row = f"{place}line {number}: {_line(text, int(number))}"
        out.append(row)
    return "\n".join(out)


_consoles: list[Console] = []


def console() -> Console:
    """Returns the console of this process."""
    if not _consoles:
        _consoles.append(Console())
        atexit.register(_consoles[0].close)
    return _consoles[0]
