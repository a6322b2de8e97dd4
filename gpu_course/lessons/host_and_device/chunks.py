"""Chunks that go to the device, through a kernel and back: schedules of them, read and followed.

A schedule is what the puzzle `copy_overlap` asks for: the calls of a host as tuples of a word and
numbers. Here it is read, each chunk's order is proven, and it becomes a program for the event
simulator.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from gpu_course.errors import Unusable
from gpu_course.measure.timeline import (
    D2H,
    H2D,
    Call,
    Copy,
    Kernel,
    Machine,
    Record,
    Synchronise,
    Timeline,
    Wait,
    run,
)

Chunk = tuple[int, float, int]
"""Bytes to the device, seconds of the kernel, bytes back."""
Calls = Sequence[tuple[Any, ...]]
KERNEL, RECORD, WAIT, SYNCHRONISE = "kernel", "record", "wait", "synchronise"
WORK = (H2D, KERNEL, D2H)
"""What is done for a chunk, in its order."""
WORDS = (*WORK, RECORD, WAIT, SYNCHRONISE)
MACHINE = Machine()
MOST_CALLS = 12
"""Calls for each chunk beyond which a schedule is not followed."""


@dataclass
class _Seen:
    """What is known while a schedule is read: which kernels are over, and where."""

    streams: int
    stage: list[int]
    """How many of its three calls each chunk has had."""
    at: dict[int, int] = field(default_factory=dict)
    """Chunk -> its stream."""
    busy: dict[int, int] = field(default_factory=dict)
    """Stream -> the chunk whose calls it has begun."""
    over: dict[int, set[int]] = field(default_factory=dict)
    """Stream -> the kernels that are over before what follows in it."""
    host: set[int] = field(default_factory=set)
    """The kernels that are over before all that the host still asks for."""
    events: dict[Any, set[int]] = field(default_factory=dict)

    def known(self, stream: int) -> set[int]:
        return self.over.setdefault(stream, set()) | self.host


def program_of(calls: Any, chunks: Sequence[Chunk], needs: Sequence[int | None],
               streams: int) -> list[Call]:  # fmt: skip
    """Returns a schedule as a program, once it is sure that it keeps what a chunk promises.

    Args:
        calls: the schedule.
        chunks, needs, streams: as the puzzle gives them.

    Raises:
        Unusable: the first call that cannot be, or a chunk that is not done; in one line, with the
            number of the call.
    """
    if not isinstance(calls, (list, tuple)):
        raise Unusable(f"a schedule is a list of calls, and this is {_short(calls)}", "wrong-form")
    most = MOST_CALLS * max(1, len(chunks))
    if len(calls) > most:
        raise Unusable(f"{len(calls):,} calls for {len(chunks)} chunks", "too-many")
    seen = _Seen(streams, [0] * len(chunks))
    program = [_call(number, call, seen, chunks, needs) for number, call in enumerate(calls)]
    for chunk, done in enumerate(seen.stage):
        if done < len(WORK):
            raise Unusable(f"chunk {chunk} has no {WORK[done]}", "not-done")
    return program


def followed(calls: Any, chunks: Sequence[Chunk], needs: Sequence[int | None],
             streams: int, machine: Machine = MACHINE) -> Timeline:  # fmt: skip
    """Returns the timeline of a schedule that `program_of` accepts; the host waits at the end."""
    program = [*program_of(calls, chunks, needs, streams), Synchronise()]
    # More streams may be there than chunks, and one without work can be waited for as well.
    return run(program, machine, range(streams + 1))


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 40 else f"{text[:37]}..."


def _amiss(word: Any, numbers: int, size: int) -> str:
    """What is wrong with the form of a call that begins with a word; "" where none begins it."""
    if not isinstance(word, str):
        return ""
    if word in WORDS:
        return f": {size} {'number' if size == 1 else 'numbers'} after the word, and here {numbers}"
    return f": the words are {', '.join(WORDS)}"


def _call(number: int, call: Any, seen: _Seen, chunks: Sequence[Chunk],
          needs: Sequence[int | None]) -> Call:  # fmt: skip
    word, *rest = call if isinstance(call, (list, tuple)) and call else (None,)
    size = 1 if word == SYNCHRONISE else 2
    if word not in WORDS or len(rest) != size:
        raise Unusable(
            f"call {number} is {_short(call)}{_amiss(word, len(rest), size)}", "wrong-form"
        )
    if any(isinstance(each, bool) or not isinstance(each, int) for each in rest):
        raise Unusable(f"call {number} is {_short(call)}: whole numbers belong there", "wrong-form")
    stream = rest[-1]
    if not 1 <= stream <= seen.streams:
        there = f"there are 1 to {seen.streams}" if seen.streams > 1 else "there is stream 1"
        raise Unusable(f"call {number} names stream {stream}; {there}", "unknown-stream")
    if word == SYNCHRONISE:
        seen.host |= seen.known(stream)
        return Synchronise(stream=stream)
    if word == RECORD:
        seen.events[rest[0]] = seen.known(stream)
        return Record(str(rest[0]), stream)
    if word == WAIT:
        if rest[0] not in seen.events:
            raise Unusable(
                f"call {number} waits for event {rest[0]}, which no earlier call records",
                "wait-first",
            )
        seen.over[stream] = seen.known(stream) | seen.events[rest[0]]
        return Wait(str(rest[0]), stream)
    return _work(number, word, rest[0], stream, seen, chunks, needs)


def _work(number: int, word: str, chunk: int, stream: int, seen: _Seen, chunks: Sequence[Chunk],
          needs: Sequence[int | None]) -> Call:  # fmt: skip
    if not 0 <= chunk < len(chunks):
        raise Unusable(f"call {number} names chunk {chunk}, which is not there", "not-there")
    done = seen.stage[chunk]
    if WORK.index(word) != done:
        wanted = WORK[done] if done < len(WORK) else "nothing more"
        raise Unusable(
            f"call {number} is the {word} of chunk {chunk}, which needs {wanted} next",
            "out-of-order",
        )
    if seen.at.setdefault(chunk, stream) != stream:
        raise Unusable(
            f"call {number} puts chunk {chunk} into stream {stream}; it is in {seen.at[chunk]}",
            "two-streams",
        )
    other = seen.busy.setdefault(stream, chunk)
    if other != chunk:
        if seen.stage[other] < len(WORK):
            raise Unusable(
                f"call {number} puts chunk {chunk} into stream {stream}, which has chunk {other}",
                "out-of-order",
            )
        seen.busy[stream] = chunk
    seen.stage[chunk] += 1
    in_bytes, seconds, out_bytes = chunks[chunk]
    if word == KERNEL:
        need = needs[chunk]
        if need is not None and need not in seen.known(stream):
            raise Unusable(
                f"nothing lets the kernel of chunk {chunk} wait for that of {need}", "no-event"
            )
        seen.over[stream] = seen.known(stream) | {chunk}
        return Kernel(f"kernel {chunk}", seconds, stream)
    size = in_bytes if word == H2D else out_bytes
    return Copy(f"{word} {chunk}", size, word, stream)


def least_s(chunks: Sequence[Chunk], needs: Sequence[int | None], streams: int,
            machine: Machine = MACHINE) -> float:  # fmt: skip
    """Returns when the chunks are through, in their order, if calls and gaps cost nothing.

    Each engine takes the chunks in order. A chunk begins once its copy engine is free, and its
    stream: that of the chunk `streams` before it.

    >>> round(least_s([(25_000_000, 1e-3, 25_000_000)] * 4, [None] * 4, 3) * 1e3, 6)
    6.0
    """
    ends: list[tuple[float, float, float]] = []
    rate = machine.pinned_bytes_per_s
    for chunk, (in_bytes, seconds, out_bytes) in enumerate(chunks):
        copied, ran, back = ends[-1] if ends else (0.0, 0.0, 0.0)
        free = ends[chunk - streams][2] if chunk >= streams else 0.0
        need = needs[chunk]
        there = max(copied, free) + in_bytes / rate
        over = max(there, ran, 0.0 if need is None else ends[need][1]) + seconds
        ends.append((there, over, max(over, back) + out_bytes / rate))
    return ends[-1][2] if ends else 0.0
