"""Chrome traces, as torch.profiler writes them: read event by event, and refused in one line.

The file is JSON: a list of events, or an object that has one under "traceEvents". It is read piece
by piece, so that a file of gigabytes costs no more memory than the events that are kept.

Source: Google, "Trace Event Format", 2016.
"""

from __future__ import annotations

import gzip
import io
import json
import math
import re
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import IO, Any

from gpu_course.errors import CourseError

MAX_EVENTS = 200_000
"""A trace with more is refused: nobody looks at so many, and a browser can hardly."""
MAX_EVENT_CHARACTERS = 1 << 20
MAX_PREAMBLE_CHARACTERS = 1 << 24
_PIECE = 1 << 16
_GZIP = b"\x1f\x8b"
_SPACE = " \t\n\r,"
_SLACK_NS = 5
"""Begin and length are rounded one by one: a child may end so much after its parent."""
_SECTIONS = ("B", "E")
"""Phases of Google's format that torch.profiler never writes: begin and end, apart."""

Thread = tuple[str, str]
"""Process and thread of an event, as text."""


@dataclass(frozen=True)
class Event:
    """One event that has a length.

    Attributes:
        number: its place in the file, from 0; metadata and instants count as well.
        name: such as "aten::mm".
        category: such as "cpu_op", "user_annotation" or "kernel".
        thread: process and thread it ran on; a stream of a GPU is a thread.
        start_ns, end_ns: nanoseconds after the first event of the file.
        args: what else the file says of it.
    """

    number: int
    name: str
    category: str
    thread: Thread
    start_ns: int
    end_ns: int
    args: dict[str, Any] = field(default_factory=dict, compare=False)

    @property
    def length_ns(self) -> int:
        """How long it took."""
        return self.end_ns - self.start_ns


@dataclass(frozen=True)
class MemoryEvent:
    """A block of memory that was taken or given back.

    Attributes:
        at_ns: nanoseconds after the first event of the file.
        change_bytes: its size, less than 0 where it was given back.
        address: of the block.
        on_cpu: False for memory of a GPU.
    """

    at_ns: int
    change_bytes: int
    address: int
    on_cpu: bool


@dataclass(frozen=True)
class Trace:
    """What a file held.

    Attributes:
        events: those with a length, in the order of their starts, a parent before its children.
        memory: blocks taken and given back, in order of time.
        path: of the file.
    """

    events: tuple[Event, ...]
    memory: tuple[MemoryEvent, ...]
    path: Path

    def __repr__(self) -> str:
        return f"a trace of {len(self.events):,} events, {len(self.memory):,} of memory beside them"

    def parents(self) -> tuple[int | None, ...]:
        """Returns for each event the place in `events` of the one around it on its thread."""
        found: list[int | None] = []
        open_now: dict[Thread, list[int]] = {}
        for place, event in enumerate(self.events):
            stack = open_now.setdefault(event.thread, [])
            while stack and not _within(event, self.events[stack[-1]]):
                stack.pop()
            found.append(stack[-1] if stack else None)
            stack.append(place)
        return tuple(found)


def read_trace(path: Path | str, max_events: int = MAX_EVENTS) -> Trace:
    """Returns what a Chrome trace holds.

    Args:
        path: of a JSON file, gzipped or not.
        max_events: a file that has more is refused.

    Raises:
        CourseError: it cannot be read, with the number of the event where it stops.
    """
    path = Path(path)
    rows: list[tuple[int, str, str, Thread, float, float, dict[str, Any]]] = []
    blocks: list[tuple[float, int, int, bool]] = []
    for number, event in _events(path, max_events):
        if event.get("ph") == "X":
            rows.append(_complete(path, number, event))
        elif event.get("name") == "[memory]":
            blocks.append(_block(path, number, event))
        elif event.get("ph") in _SECTIONS:
            raise _refused(
                path, number, event, "begins or ends without a length (ph B or E)",
                "torch.profiler writes complete events (ph X); export the trace with it",
            )  # fmt: skip
    if not rows:
        raise CourseError(
            f"{path.name} has no event with a length", "record at least one operator, then export"
        )
    zero = min(row[4] for row in rows)
    events = [
        Event(number, name, category, thread, _ns(ts - zero), _ns(ts - zero) + _ns(dur), args)
        for number, name, category, thread, ts, dur, args in rows
    ]
    events.sort(key=lambda event: (event.start_ns, -event.end_ns, event.number))
    memory = sorted(
        (
            MemoryEvent(_ns(ts - zero), size, address, on_cpu)
            for ts, size, address, on_cpu in blocks
        ),
        key=lambda block: block.at_ns,
    )
    return Trace(_nested(path, events), tuple(memory), path)


def _ns(us: float) -> int:
    return round(us * 1000)


def _complete(
    path: Path, number: int, event: dict[str, Any]
) -> tuple[int, str, str, Thread, float, float, dict[str, Any]]:
    ts = _number(path, number, event, "ts")
    dur = _number(path, number, event, "dur")
    args = event.get("args")
    return (
        number,
        str(event.get("name", "")),
        str(event.get("cat", "")),
        (str(event.get("pid", "")), str(event.get("tid", ""))),
        ts,
        dur,
        args if isinstance(args, dict) else {},
    )


def _block(path: Path, number: int, event: dict[str, Any]) -> tuple[float, int, int, bool]:
    ts = _number(path, number, event, "ts")
    args = event.get("args")
    found = [args.get(key) if isinstance(args, dict) else None for key in ("Bytes", "Addr")]
    if not all(isinstance(each, int) for each in found):
        raise _refused(path, number, event, "does not say its bytes and address", _ANEW)
    assert isinstance(args, dict)
    return ts, int(found[0] or 0), int(found[1] or 0), args.get("Device Type", 0) == 0


_ANEW = "export it anew, with prof.export_chrome_trace(path)"


def _number(path: Path, number: int, event: dict[str, Any], key: str) -> float:
    value = event.get(key)
    if value is None:
        raise _refused(path, number, event, f"has no {key}", _ANEW)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise _refused(path, number, event, f"has a {key} that is no number", _ANEW)
    try:
        found = float(value)
    except OverflowError:
        found = math.inf
    if not math.isfinite(found):
        raise _refused(path, number, event, f"has a {key} that is not finite", _ANEW)
    if found < 0:
        fact = f"has a negative {key}: {found:g}"
        raise _refused(path, number, event, fact, "times are microseconds, 0 or more")
    return found


def _refused(path: Path, number: int, event: dict[str, Any], fact: str, what: str) -> CourseError:
    return CourseError(f"{path.name}: event {number}{_named(event.get('name'))} {fact}", what)


def _named(name: object) -> str:
    text = "".join(c for c in str(name or "") if c.isprintable())
    return f" ({text[:40]})" if text else ""


def _within(inner: Event, outer: Event) -> bool:
    """Whether an event that does not begin earlier lies inside another of its thread."""
    return inner.start_ns <= outer.end_ns and inner.end_ns <= outer.end_ns


def _nested(path: Path, events: Sequence[Event]) -> tuple[Event, ...]:
    """Returns the events, moved by nanoseconds where rounding let them cross one another.

    Raises:
        CourseError: one begins within another of its thread and ends well after it.
    """
    found: list[Event] = []
    open_now: dict[Thread, list[Event]] = {}
    for event in events:
        stack = open_now.setdefault(event.thread, [])
        start, end = event.start_ns, event.end_ns
        while stack and not end <= stack[-1].end_ns and start >= stack[-1].end_ns - _SLACK_NS:
            start = max(start, stack.pop().end_ns)
        if stack:
            outer = stack[-1]
            if end > outer.end_ns + _SLACK_NS and start <= outer.end_ns:
                raise CourseError(
                    f"{path.name}: event {event.number}{_named(event.name)} overlaps event "
                    f"{outer.number}{_named(outer.name)} on one thread",
                    "of two on a thread, one holds the other or ends before it; see their tid",
                )
            start, end = max(start, outer.start_ns), min(end, outer.end_ns)
        kept = replace(event, start_ns=start, end_ns=max(start, end))
        stack.append(kept)
        found.append(kept)
    return tuple(found)


def _events(path: Path, max_events: int) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yields the events of a file with their numbers, as they stand there."""
    number = -1
    try:
        with _opened(path) as stream:
            text = _Text(path, stream)
            text.begin()
            while (event := text.next_event(number + 1)) is not None:
                number += 1
                if number == max_events:
                    raise CourseError(
                        f"{path.name}: event {number} is one too many, {max_events:,} are read",
                        "record fewer steps: schedule=schedule(wait=1, warmup=1, active=2)",
                    )
                yield number, event
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise _cut_off(path, number + 1) from error
    except UnicodeDecodeError as error:
        fact = f"{path.name}: event {number + 1} is no UTF-8 text"
        raise CourseError(fact, "a trace is JSON; is this the right file?") from error


def _opened(path: Path) -> IO[str]:
    with path.open("rb") as raw:
        zipped = raw.read(2) == _GZIP
    if zipped:
        return io.TextIOWrapper(gzip.open(path, "rb"), encoding="utf-8")  # type: ignore[arg-type]
    return path.open(encoding="utf-8")


def _cut_off(path: Path, number: int) -> CourseError:
    return CourseError(
        f"{path.name}: event {number} is cut off, and the file ends there",
        "was the program stopped while it wrote? Export the trace anew",
    )


class _Text:
    """The text of a file, of which only the part that is being looked at is held."""

    def __init__(self, path: Path, stream: IO[str]) -> None:
        self.path, self.stream = path, stream
        self.held, self.place, self.over = "", 0, False
        self.decoder = json.JSONDecoder()

    def begin(self) -> None:
        """Goes behind the bracket that opens the list of events."""
        opens = re.compile(r'"traceEvents"\s*:\s*\[')
        self._more()
        if self.held.lstrip()[:1] == "[":
            self.place = self.held.index("[") + 1
            return
        if self.held.lstrip()[:1] != "{":
            fact = f"{self.path.name} is no Chrome trace: event 0 is not to be found"
            raise CourseError(fact, "a trace is JSON that holds a list called traceEvents")
        while (found := opens.search(self.held)) is None:
            if self.over or len(self.held) > MAX_PREAMBLE_CHARACTERS:
                raise CourseError(
                    f"{self.path.name} has no list called traceEvents, so event 0 is missing",
                    "export it with prof.export_chrome_trace(path)",
                )
            self._more()
        self.place = found.end()

    def next_event(self, number: int) -> dict[str, Any] | None:
        """Returns the next event; None at the bracket that closes the list."""
        while True:
            while self.place < len(self.held) and self.held[self.place] in _SPACE:
                self.place += 1
            if self.place < len(self.held):
                break
            if self.over:
                raise _cut_off(self.path, number)
            self._more()
        if self.held[self.place] == "]":
            return None
        while True:
            try:
                event, end = self.decoder.raw_decode(self.held, self.place)
                break
            except (ValueError, RecursionError) as error:
                if self.over:
                    raise _cut_off(self.path, number) from error
                if len(self.held) - self.place > MAX_EVENT_CHARACTERS:
                    fact = f"{self.path.name}: event {number} is not written as JSON"
                    raise CourseError(fact, _ANEW) from error
                self._more()
        if not isinstance(event, dict):
            fact = f"{self.path.name}: event {number} is no object with a name and times"
            raise CourseError(fact, _ANEW)
        self.place = end
        return event

    def _more(self) -> None:
        piece = self.stream.read(_PIECE)
        self.over = not piece
        self.held, self.place = self.held[self.place :] + piece, 0
