"""What lesson 09 shows of a trace: a table, a timeline, a curve of memory, and two compared."""

from __future__ import annotations

import functools
import gzip
import shutil
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from itertools import accumulate
from pathlib import Path
from typing import Any, TypeVar

from gpu_course.errors import CourseError
from gpu_course.lessons.profiling import recording
from gpu_course.lessons.profiling.pictures import (
    Bar,
    draw_memory,
    draw_segments,
    draw_sweep,
    draw_timeline,
    time_text,
)
from gpu_course.lessons.profiling.planted import LOOPS, recorded
from gpu_course.lessons.profiling.plants import PLANTS, STEP
from gpu_course.lessons.profiling.snapshot import live_bytes_of, pieces_of
from gpu_course.lessons.profiling.sweep import sweep
from gpu_course.lessons.profiling.trace_file import Event, MemoryEvent, Trace, read_trace
from gpu_course.measure import timeline as simulated
from gpu_course.notebook.note import Note, telling
from gpu_course.notebook.pictures import Picture

_Result = TypeVar("_Result")

MARK = "user_annotation"
"""Category of what `record_function` names; a GPU's stream has "gpu_" before it."""
_WAIT = "Synchronize"


def _of_a_trace(function: Callable[..., _Result]) -> Callable[..., _Result]:
    """Returns the function, which says in a sentence that what it was given is no trace.

    A recording that failed has told why in its own cell, and what it left is that Note.
    """

    @functools.wraps(function)
    def checked(trace: Any, *args: Any, **kwargs: Any) -> _Result:
        if isinstance(trace, Trace):
            return function(trace, *args, **kwargs)
        what = (
            "the recording failed" if isinstance(trace, Note) else f"this is {type(trace).__name__}"
        )
        raise CourseError(
            f"{function.__name__} needs a trace, and {what}",
            "run the cell that records it again, and read what it says",
        )

    return checked


@telling
def profiled(function: Callable[[], Any]) -> Trace:
    """Returns the trace of one call of a function, profiled in a process of its own.

    The function goes there as text: what it needs it imports.

    Args:
        function: without parameters.
    """
    return recording.profiled(function)


@telling
def open_trace(path: Path | str) -> Trace:
    """Returns the trace in a file, such as torch.profiler wrote at work.

    Args:
        path: of a Chrome trace, gzipped or not.
    """
    return read_trace(path)


@_of_a_trace
def calls(trace: Trace, name: str) -> int:
    """Returns how many events of a trace have a name."""
    return sum(event.name == name for event in trace.events)


@_of_a_trace
def inside(trace: Trace, name: str) -> int:
    """Returns how many events lie inside the first one of a name.

    Raises:
        CourseError: none is called that.
    """
    for place, event in enumerate(trace.events):
        if event.name == name:
            rest = trace.events[place + 1 :]
            return sum(
                other.thread == event.thread and other.end_ns <= event.end_ns for other in rest
            )
    raise CourseError(f"no event is called {name!r}", "call_table(trace) lists the names")


@telling
@_of_a_trace
def call_table(trace: Trace, rows: int = 8) -> str:
    """Returns names with their calls, the time in all and the time of their own, longest first.

    Args:
        trace: a recording.
        rows: how many names.
    """
    total: Counter[str] = Counter()
    own: Counter[str] = Counter()
    many: Counter[str] = Counter()
    for event, parent in zip(trace.events, trace.parents(), strict=True):
        if event.category == "Trace":
            continue
        many[event.name] += 1
        total[event.name] += event.length_ns
        own[event.name] += event.length_ns
        if parent is not None:
            own[trace.events[parent].name] -= event.length_ns
    lines = [f"{'name':<36}{'calls':>6}{'in all':>13}{'itself':>13}"]
    for name, took in own.most_common(rows):
        short = name if len(name) <= 35 else name[:34] + "…"
        lines.append(f"{short:<36}{many[name]:>6}{time_text(total[name]):>13}{time_text(took):>13}")
    return "\n".join(lines)


@telling
@_of_a_trace
def show_timeline(trace: Trace, within: str = "") -> Picture:
    """Returns the events of a trace as bars over time, children below their parents.

    Args:
        trace: a recording.
        within: shows the first event whose name begins so, and what is in it; default all.
    """
    begin = end = None
    if within:
        event = next((each for each in trace.events if each.name.startswith(within)), None)
        if event is None:
            raise CourseError(f"no event's name begins with {within!r}", "leave `within` out")
        begin, end = event.start_ns, event.end_ns
    words = f"What runs when{f', within {within}' if within else ''}"
    return Picture(draw_timeline(bars_of(trace), words, begin, end))


def bars_of(trace: Trace) -> list[Bar]:
    """Returns the events of a trace as a picture shows them."""
    lanes: dict[tuple[str, str], str] = {}
    depths: list[int] = []
    bars = []
    for event, parent in zip(trace.events, trace.parents(), strict=True):
        depths.append(0 if parent is None else depths[parent] + 1)
        if event.category == "Trace":
            continue
        if event.thread not in lanes:
            device = event.category in ("kernel", "gpu_memcpy", "gpu_memset")
            known = sum(
                name.startswith("stream" if device else "thread") for name in lanes.values()
            )
            lanes[event.thread] = f"stream {event.thread[1]}" if device else f"thread {known + 1}"
        bars.append(
            Bar(
                lanes[event.thread], depths[-1], event.name, _kind(event), event.start_ns,
                event.end_ns,
            )
        )  # fmt: skip
    return bars


def _kind(event: Event) -> str:
    if event.category in (MARK, f"gpu_{MARK}"):
        return "mark"
    if event.category == "kernel":
        return "kernel"
    if event.category.startswith("gpu_mem"):
        return "copy"
    if event.category.startswith("cuda"):
        return "wait" if _WAIT in event.name else "call"
    return "operator"


@telling
def show_simulated(
    program: Sequence[simulated.Call], machine: simulated.Machine | None = None
) -> Picture:
    """Returns what a simulated host and device do, as bars over time.

    Args:
        program: the host's calls, in order.
        machine: what they cost; default round numbers.
    """
    bars = []
    for span in simulated.run(program, machine).spans:
        lane = "host" if span.engine == simulated.HOST else f"stream {span.stream}"
        if span.engine == simulated.COMPUTE:
            kind = "kernel"
        elif span.engine != simulated.HOST:
            kind = "copy"
        elif span.waits:
            kind = "wait"
        else:
            kind = "call" if span.name.startswith("cuda") else "operator"
        start, end = round(span.start_s * 1e9), round(span.end_s * 1e9)
        bars.append(Bar(lane, 0, span.name, kind, start, end))
    return Picture(draw_timeline(bars, "Who works and who waits"))


@telling
@_of_a_trace
def save_trace(trace: Trace, path: Path | str) -> str:
    """Writes a trace to a file for ui.perfetto.dev, and returns what was written.

    Args:
        trace: a recording.
        path: where to; gzipped if it ends in .gz.
    """
    path = Path(path)
    if path.suffix == ".gz":
        with trace.path.open("rb") as source, gzip.open(path, "wb") as target:
            shutil.copyfileobj(source, target)
    else:
        shutil.copyfile(trace.path, path)
    return f"{path}: {path.stat().st_size:,} bytes; open it at https://ui.perfetto.dev"


# Faults that are planted


def step_counts(number: int) -> Counter[tuple[str, str]]:
    """Returns how often each (place, name) is called in the first step of a recorded loop.

    A place is "loader", "optimizer" or "rest".

    Args:
        number: of the loop in LOOPS.
    """
    trace = recorded()[number]
    names = trace["names"]
    spans: dict[str, list[tuple[int, int]]] = {"step": [], "loader": [], "optimizer": []}
    starts = {"step": STEP + "0", "loader": "enumerate(DataLoader)", "optimizer": "Optimizer.step"}
    for name, _, start, length, _ in trace["rows"]:
        for place, prefix in starts.items():
            if names[name].startswith(prefix):
                spans[place].append((start, start + length))
    found: Counter[tuple[str, str]] = Counter()
    for name, _, start, length, _ in trace["rows"]:

        def within(place: str, start: int = start, end: int = start + length) -> bool:
            return any(first <= start and end <= last for first, last in spans[place])

        if within("step"):
            place = next((each for each in ("loader", "optimizer") if within(each)), "rest")
            found[place, names[name]] += 1
    return found


@telling
def beside_the_sound_loop(plant: str = "item", way: int = 0, rows: int = 10) -> str:
    """Returns the names whose calls in a step differ from those of the sound loop, as a table.

    Args:
        plant: what is planted, a key of PLANTS.
        way: 0, 1 or 2: how it is written down.
        rows: how many names, the largest differences first.
    """
    if plant not in PLANTS:
        raise CourseError(f"nothing is called {plant!r}", f"choose {', '.join(PLANTS)}")
    sound, other = (
        step_counts(
            next(k for k, loop in enumerate(LOOPS) if (loop.plant, loop.kind) == (name, way))
        )
        for name in ("none", plant)
    )
    differ = sorted(
        (key for key in sound | other if sound[key] != other[key]),
        key=lambda key: (-abs(other[key] - sound[key]), key),
    )
    lines = [f"{'':<10}{'calls in a step':<38}{'sound':>9}{plant[:12]:>13}"]
    for place, name in differ[:rows]:
        short = name if len(name) <= 37 else name[:36] + "…"
        lines.append(f"{place:<10}{short:<38}{sound[place, name]:>9}{other[place, name]:>13}")
    if len(differ) > rows:
        lines.append(f"{'':<10}and {len(differ) - rows} more")
    return "\n".join(lines if differ else ["no count differs"])


@telling
def recorded_anew(plants: Sequence[str]) -> str:
    """Returns, for loops that this machine records now, how many counts of a step are the record's.

    Args:
        plants: keys of PLANTS.
    """
    from gpu_course.lessons.profiling.planted import compact

    loops = [next(loop for loop in LOOPS if loop.plant == plant) for plant in plants]
    lines = []
    for loop, trace in zip(loops, recording.profiled_loops(loops), strict=True):
        now = _names(compact(loop, trace))
        then = _names(recorded()[LOOPS.index(loop)])
        same = sum(now[name] == then[name] for name in now | then)
        lines.append(
            f"{loop.plant:<18}{sum(now.values()):>6,} events; {same} of {len(now | then)} names "
            "as in the record"
        )
    return "\n".join(lines)


def _names(trace: Mapping[str, Any]) -> Counter[str]:
    return Counter(trace["names"][row[0]] for row in trace["rows"])


# Memory


@_of_a_trace
def live_bytes(trace: Trace) -> list[int]:
    """Returns the bytes alive after each block that was taken or given back, by the trace's events.

    It is the memory of the GPU where the run took any, else that of the CPU. What was there before
    the recording is not counted.
    """
    return list(accumulate(block.change_bytes for block in _blocks(trace)))


@_of_a_trace
def marks_of(trace: Trace) -> list[tuple[int, str]]:
    """Returns (number of the memory event it begins before, name) of each outermost annotation."""
    moments = [block.at_ns for block in _blocks(trace)]
    return [
        (bisect_left(moments, event.start_ns), event.name)
        for event, parent in zip(trace.events, trace.parents(), strict=True)
        if event.category == MARK and parent is None
    ]


def _blocks(trace: Trace) -> list[MemoryEvent]:
    on_gpu = [block for block in trace.memory if not block.on_cpu]
    return on_gpu or list(trace.memory)


@telling
@_of_a_trace
def show_memory(trace: Trace) -> Picture:
    """Returns the bytes that are alive in a recorded run, from event to event.

    Args:
        trace: a recording with `profile_memory=True`.
    """
    return Picture(draw_memory(live_bytes(trace), marks_of(trace), "Memory taken since the start"))


@telling
def show_snapshot(snapshot: Mapping[str, Any]) -> Picture:
    """Returns an allocator's segments and what is free in them.

    Args:
        snapshot: of `torch.cuda.memory._snapshot()`, or of `Allocator.snapshot`.
    """
    return Picture(draw_segments(pieces_of(snapshot), "Segments, and the blocks in them"))


@telling
def history_text(snapshot: Mapping[str, Any]) -> str:
    """Returns the history of a snapshot as lines: what was done, its bytes, and what lives then."""
    history = snapshot["device_traces"][0]
    live = iter(live_bytes_of(history))
    lines = []
    for entry in history:
        counts = entry["action"] in ("alloc", "free_completed")
        after = f"{next(live):>14,} live" if counts else ""
        lines.append(f"{entry['action']:<16}{entry['size']:>12,}{after}")
    return "\n".join(lines)


@telling
def show_sweep(sides: Sequence[int], device: str = "cpu") -> Picture:
    """Returns how fast this machine multiplies square float32 matrices, measured now.

    Args:
        sides: of the matrices.
        device: as PyTorch names it.
    """
    return Picture(draw_sweep(sweep(sides, device), "Products of square matrices, measured now"))
