"""When everything happens that a host asks of a GPU: an event simulator of streams and engines.

A program is what one host thread calls, in order. Calls return at once, except those that wait.
The device works through each stream in its order, on engines that run side by side: one for copies
to the device, one for copies back, and compute.

    program = [
        Copy("x in", 25e6, H2D, stream=1),
        Kernel("scale", 400e-6, stream=1),
        Copy("y out", 25e6, D2H, stream=1),
        Synchronise(),
    ]
    timeline = run(program)
    timeline.end_s                       # when host and device are done
    timeline.busy_s("compute")           # how long an engine was at work
    timeline.spans                       # every span: of the host's calls and of the device's work
    timeline.chrome_trace()              # the same as Chrome and Perfetto read it

The calls are Kernel, Copy, Record and Wait (events), Synchronise (device, stream or event), Host
(work of the host itself), Clock (reads the host's clock), Instantiate and Launch (of a Graph of
Nodes). The rules:

* An asynchronous call keeps the host busy for `Machine.call_s`, and what it asks for may begin when
  the call returns.
* What is in one stream runs in order. Stream 0 is CUDA's legacy default stream: what is in it waits
  for all that was asked for before, and all that is asked for later waits for it.
* An engine takes what is ready in the order in which it was asked for. Kernels share the compute
  engine as long as their shares of it add up to at most 1.
* Pageable memory: the copy goes by `pageable_bytes_per_s`, and its call returns when it is done.
* A graph is one call. Its nodes wait for each other alone, and between two of them passes
  `graph_gap_s` in place of `gap_s`.

No cache, no contention, no clock that falls: a time here is what was put in, and what waits for it.

Source: NVIDIA, CUDA C++ Programming Guide, "Asynchronous Concurrent Execution" and "CUDA Graphs";
CUDA Runtime API, "API synchronization behavior".
"""

from __future__ import annotations

import heapq
import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from gpu_course.errors import CourseError

HOST, COMPUTE, H2D, D2H = "host", "compute", "H2D", "D2H"
ENGINES = (HOST, H2D, COMPUTE, D2H)
"""The rows of a timeline, from top to bottom."""
DEFAULT_STREAM = 0
_SLACK = 1e-9
"""Shares that add up to 1 in floats."""


@dataclass(frozen=True)
class Machine:
    """What calls, copies and gaps cost. The defaults are round numbers, of no card in particular.

    Attributes:
        call_s: seconds of the host for an asynchronous call.
        gap_s: seconds from when a kernel or a copy may begin until it does.
        pinned_bytes_per_s, pageable_bytes_per_s: of one copy engine, by the host's memory.
        copy_engines: 2, one for each direction, or 1 for both.
        graph_launch_s: seconds of the host to launch a graph, whatever is in it.
        graph_gap_s: what `gap_s` is for the nodes of a graph.
        node_instantiate_s: seconds of the host for each node when a graph is made ready.
    """

    call_s: float = 5e-6
    gap_s: float = 1e-6
    pinned_bytes_per_s: float = 25e9
    pageable_bytes_per_s: float = 10e9
    copy_engines: int = 2
    graph_launch_s: float = 10e-6
    graph_gap_s: float = 0.5e-6
    node_instantiate_s: float = 10e-6


@dataclass(frozen=True)
class Kernel:
    """A kernel launch.

    Attributes:
        name: what a timeline calls it.
        seconds: how long it runs.
        stream: whose order it keeps.
        share: the part of the GPU that it fills, above 0 and at most 1.
    """

    name: str
    seconds: float
    stream: int = DEFAULT_STREAM
    share: float = 1.0


@dataclass(frozen=True)
class Copy:
    """A copy between host and device.

    Attributes:
        name: what a timeline calls it.
        bytes: how many.
        direction: H2D or D2H.
        stream: whose order it keeps.
        pinned: whether the host's memory is page-locked.
    """

    name: str
    bytes: float
    direction: str
    stream: int = DEFAULT_STREAM
    pinned: bool = True


@dataclass(frozen=True)
class Record:
    """Marks the place in a stream that an event stands for: all that was asked of it so far."""

    event: str
    stream: int = DEFAULT_STREAM


@dataclass(frozen=True)
class Wait:
    """Lets what is asked of a stream from here on wait for an event; the host goes on."""

    event: str
    stream: int = DEFAULT_STREAM


@dataclass(frozen=True)
class Synchronise:
    """Lets the host wait: for a stream, for an event, or (neither is given) for everything."""

    stream: int | None = None
    event: str | None = None


@dataclass(frozen=True)
class Host:
    """Work of the host itself."""

    name: str
    seconds: float


@dataclass(frozen=True)
class Clock:
    """Reads the host's clock: `Timeline.clocks[name]`."""

    name: str


@dataclass(frozen=True)
class Node:
    """A node of a graph: a Kernel or a Copy, whose stream counts for nothing, and what it follows.

    Attributes:
        work: with a name of its own in the graph.
        after: names of nodes.
    """

    work: Kernel | Copy
    after: tuple[str, ...] = ()


@dataclass(frozen=True)
class Graph:
    """Work that is launched as a whole."""

    name: str
    nodes: tuple[Node, ...]

    @classmethod
    def chain(cls, name: str, works: Iterable[Kernel | Copy]) -> Graph:
        """Returns a graph in which each node follows the one before, as in one stream."""
        nodes: list[Node] = []
        for work in works:
            nodes.append(Node(work, (nodes[-1].work.name,) if nodes else ()))
        return cls(name, tuple(nodes))


@dataclass(frozen=True)
class Instantiate:
    """Makes a graph ready to be launched: work of the host, once."""

    graph: Graph


@dataclass(frozen=True)
class Launch:
    """Launches a graph into a stream."""

    graph: Graph
    stream: int = DEFAULT_STREAM


Call = Kernel | Copy | Record | Wait | Synchronise | Host | Clock | Instantiate | Launch


@dataclass(frozen=True)
class Span:
    """Something that took time.

    Attributes:
        name: of the kernel or copy; of a host's call, what CUDA calls it, such as
            "cudaLaunchKernel".
        engine: one of ENGINES.
        start_s, end_s: when.
        stream: of the device's work, and of calls that name one; None for others.
        call: the number of the call in the program that asked for it, from 0.
        number: of the work on the device, from 0; None for the host's own work.
        bytes: of a copy.
        waits: whether the host does nothing in it but wait.
        waits_for: of the host, the `number` of the work whose end it returned after.
        asked_s: of the device's work, when its call returned; of the host, `start_s`.
    """

    name: str
    engine: str
    start_s: float
    end_s: float
    stream: int | None
    call: int
    number: int | None = None
    bytes: float = 0.0
    waits: bool = False
    waits_for: int | None = None
    asked_s: float = 0.0

    @property
    def seconds(self) -> float:
        """How long it took."""
        return self.end_s - self.start_s


@dataclass(frozen=True)
class Timeline:
    """What `run` found.

    Attributes:
        spans: by when they start; of the host and of the device.
        clocks: {name of a Clock: what it read}.
        events: {event: when all that it stands for was done}, as it was recorded last.
        end_s: when host and device are done.
    """

    spans: tuple[Span, ...]
    clocks: Mapping[str, float]
    events: Mapping[str, float]
    end_s: float

    def of(self, engine: str) -> tuple[Span, ...]:
        """Returns the spans of one engine."""
        return tuple(span for span in self.spans if span.engine == engine)

    def busy_s(self, engine: str) -> float:
        """Returns how long an engine had something to do; for the host, waiting is no work."""
        return _covered([s for s in self.of(engine) if not s.waits])

    def overlap_s(self, one: str, other: str) -> float:
        """Returns how long two engines were at work at the same time."""
        spans = [[s for s in self.of(each) if not s.waits] for each in (one, other)]
        return _covered(spans[0]) + _covered(spans[1]) - _covered(spans[0] + spans[1])

    def elapsed_s(self, first: str, second: str) -> float:
        """Returns the seconds between two events, as cudaEventElapsedTime does."""
        for name in (first, second):
            if name not in self.events:
                raise CourseError(f"no call records an event {name!r}", "add Record to the program")
        return self.events[second] - self.events[first]

    def chrome_trace(self) -> dict[str, Any]:
        """Returns the timeline as Chrome's trace format, with the names torch.profiler uses.

        Times are in microseconds. The host's calls have the category "cuda_runtime" (its own work
        "cpu_op"), kernels "kernel" and copies "gpu_memcpy"; `args["correlation"]` is the number of
        the call that both sides share, plus 1.
        """
        found: list[dict[str, Any]] = [
            _named("process_name", _PROCESS[side], side) for side in (_CPU, _GPU)
        ]
        streams = sorted(
            {s.stream for s in self.spans if s.engine != HOST and s.stream is not None}
        )
        found += [_named("thread_name", f"stream {n}", _GPU, n) for n in streams]
        return {"traceEvents": found + [_traced(span) for span in self.spans]}

    def write_trace(self, path: Path | str) -> Path:
        """Writes the Chrome trace to a file for ui.perfetto.dev, and returns its path."""
        path = Path(path)
        path.write_text(json.dumps(self.chrome_trace(), indent=1) + "\n", encoding="utf-8")
        return path


_CPU, _GPU = 1, 2
_PROCESS = {_CPU: "host", _GPU: "device"}


def _named(what: str, name: str, process: int, thread: int = 0) -> dict[str, Any]:
    return {"ph": "M", "name": what, "pid": process, "tid": thread, "args": {"name": name}}


def _traced(span: Span) -> dict[str, Any]:
    args: dict[str, Any] = {"correlation": span.call + 1}
    if span.stream is not None:
        args["stream"] = span.stream
    if span.engine == HOST:
        category = "cuda_runtime" if span.name.startswith("cuda") else "cpu_op"
    else:
        category = "kernel" if span.engine == COMPUTE else "gpu_memcpy"
        if span.bytes:
            args["bytes"] = span.bytes
    return {
        "ph": "X", "cat": category, "name": span.name,
        "ts": round(span.start_s * 1e6, 6), "dur": round(span.seconds * 1e6, 6),
        "pid": _CPU if span.engine == HOST else _GPU,
        "tid": 0 if span.engine == HOST else span.stream, "args": args,
    }  # fmt: skip


def _covered(spans: Iterable[Span]) -> float:
    """The seconds in which at least one of the spans is."""
    total, until = 0.0, -math.inf
    for start, end in sorted((s.start_s, s.end_s) for s in spans):
        total += max(0.0, end - max(start, until))
        until = max(until, end)
    return total


def run(
    program: Sequence[Call], machine: Machine | None = None, streams: Iterable[int] | None = None
) -> Timeline:
    """Returns when everything in a program happens.

    Args:
        program: the host's calls, in order.
        machine: what they cost; default the round numbers of Machine.
        streams: those that there are; default all that a kernel, a copy or a graph is put into.

    Raises:
        CourseError: a time or a size is negative or no number, a stream is unknown, an event is
            waited for that no earlier call records, or the nodes of a graph wait in a circle. The
            message has the number of the call, counted from 0.

    >>> machine = Machine(call_s=1.0, gap_s=0.0)
    >>> timeline = run([Clock("a"), Kernel("k", 10.0), Clock("b"), Synchronise(), Clock("c")],
    ...                machine)
    >>> timeline.clocks
    {'a': 0.0, 'b': 1.0, 'c': 11.0}
    """
    chosen = machine or Machine()
    _check_machine(chosen)
    _check_program(program, streams)
    return _Run(chosen).follow(program)


# What is wrong with a program


def _check_machine(machine: Machine) -> None:
    for name, value in vars(machine).items():
        if not _number(value) or value < 0 or (name.endswith("bytes_per_s") and not value):
            raise CourseError(f"the machine's {name} is {value!r}", "give a number that can be")
    if machine.copy_engines not in (1, 2):
        raise CourseError(f"the machine has {machine.copy_engines} copy engines", "give 1 or 2")


def _number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)


def _check_program(program: Sequence[Call], streams: Iterable[int] | None) -> None:
    if streams is None:
        uses = (call for call in program if isinstance(call, (Kernel, Copy, Launch)))
        known = {call.stream for call in uses} | {DEFAULT_STREAM}
    else:
        known = set(streams)
    recorded: set[str] = set()
    ready: set[str] = set()
    for number, call in enumerate(program):
        where = f"call {number}"
        if not isinstance(call, Call):
            raise CourseError(f"{where} is {call!r}, and no call", "Kernel, Copy, Synchronise ...")
        stream = getattr(call, "stream", None)
        if stream is not None and (isinstance(stream, bool) or stream not in known):
            raise CourseError(
                f"{where}, {type(call).__name__}, names stream {stream!r}, which is unknown",
                f"there are the streams {', '.join(map(str, sorted(known)))}",
            )
        if isinstance(call, (Kernel, Copy, Host)):
            _check_work(where, call)
        elif isinstance(call, Record):
            recorded.add(call.event)
        elif isinstance(call, Wait) or (isinstance(call, Synchronise) and call.event is not None):
            if call.event not in recorded:
                raise CourseError(
                    f"{where} waits for event {call.event!r}, which no earlier call records",
                    "CUDA would not wait at all: put Record before it",
                )
        elif isinstance(call, Instantiate):
            graph_order(call.graph, f"{where}, graph {call.graph.name!r}")
            ready.add(call.graph.name)
        elif isinstance(call, Launch) and call.graph.name not in ready:
            raise CourseError(
                f"{where} launches graph {call.graph.name!r}, which no earlier call instantiates",
                "put Instantiate before it",
            )


def _check_work(where: str, work: Kernel | Copy | Host) -> None:
    size, unit = (work.bytes, "bytes") if isinstance(work, Copy) else (work.seconds, "seconds")
    if not _number(size) or size < 0:
        raise CourseError(f"{where}, {work.name!r}, has {size!r} {unit}", "give 0 or more")
    if isinstance(work, Copy) and work.direction not in (H2D, D2H):
        raise CourseError(
            f"{where}, {work.name!r}, copies {work.direction!r}", f"a direction is {H2D} or {D2H}"
        )
    if isinstance(work, Kernel) and (not _number(work.share) or not 0 < work.share <= 1):
        raise CourseError(
            f"{where}, {work.name!r}, fills {work.share!r} of the GPU", "above 0, at most 1"
        )


def graph_order(graph: Graph, where: str = "the graph") -> tuple[Node, ...]:
    """Returns the nodes of a graph so that each comes after those it follows.

    Raises:
        CourseError: two nodes of one name, one follows a node that is not there, or some wait in a
            circle.
    """
    nodes = {node.work.name: node for node in graph.nodes}
    if len(nodes) < len(graph.nodes):
        names = [node.work.name for node in graph.nodes]
        twice = next(name for name in names if names.count(name) > 1)
        raise CourseError(f"{where} has two nodes {twice!r}", "give each a name of its own")
    for name, node in nodes.items():
        _check_work(where, node.work)
        for other in node.after:
            if other not in nodes:
                raise CourseError(f"{where}: {name!r} follows {other!r}, which is not in it", "")
    done: dict[str, Node] = {}
    left = dict(nodes)
    while left:
        free = [name for name, node in left.items() if all(other in done for other in node.after)]
        if not free:
            name = next(iter(left))
            circle = [name]
            while circle.count(name) < 2:
                name = next(other for other in left[name].after if other in left)
                circle.append(name)
            circle = circle[circle.index(name) :]
            raise CourseError(
                f"{where} waits in a circle: {' after '.join(map(repr, circle))}",
                "take one of these out of `after`",
            )
        for name in free:
            done[name] = left.pop(name)
    return tuple(done.values())


# The simulation


@dataclass
class _Work:
    """Something on its way through the device: a kernel or a copy, or a mark (no engine)."""

    number: int
    name: str
    engine: str
    seconds: float
    share: float
    gap_s: float
    stream: int
    call: int
    asked_s: float
    size: float = 0.0
    left: int = 0
    """How many of those it waits for are not done."""
    followers: list[_Work] = field(default_factory=list)
    marks: tuple[_Work, ...] = ()
    """Of a mark: all that it stands for."""
    start_s: float = math.nan
    end_s: float = math.nan

    @property
    def done(self) -> bool:
        return not math.isnan(self.end_s)


class _Device:
    """The device's clock, and what runs and waits on it."""

    def __init__(self, copy_engines: int) -> None:
        self.now = 0.0
        self.one_copy_engine = copy_engines == 1
        self.room = {COMPUTE: 1.0, H2D: 1.0, D2H: 1.0}
        self.ready: dict[str, list[tuple[int, _Work]]] = {name: [] for name in self.room}
        self.happens: list[tuple[float, int, int, _Work]] = []
        """(when, 0 for an end and 1 for a beginning, number, work)."""

    def add(self, work: _Work, after: Iterable[_Work]) -> None:
        """Takes on work that waits for other work."""
        waits = {other.number: other for other in after if not other.done}
        work.left = len(waits)
        for other in waits.values():
            other.followers.append(work)
        if not waits:
            self._free(work)

    def advance(self, until: float) -> None:
        """Lets everything happen that does up to some moment."""
        while self.happens and self.happens[0][0] <= until:
            self._next()
        self.now = max(self.now, until)

    def finish(self, work: _Work) -> None:
        """Lets things happen until some work is done."""
        while not work.done:
            self._next()

    def drain(self) -> None:
        """Lets everything happen."""
        while self.happens:
            self._next()

    def _next(self) -> None:
        self.now, kind, _, work = heapq.heappop(self.happens)
        if kind == 0:
            self._end(work)
        else:
            heapq.heappush(self.ready[self._engine(work)], (work.number, work))
        # Whatever else happens at this moment comes before an engine chooses.
        if not self.happens or self.happens[0][0] > self.now:
            for name in self.room:
                self._start(name)

    def _engine(self, work: _Work) -> str:
        return H2D if self.one_copy_engine and work.engine == D2H else work.engine

    def _free(self, work: _Work) -> None:
        if work.engine:
            heapq.heappush(self.happens, (self.now + work.gap_s, 1, work.number, work))
        else:
            self._end(work)

    def _start(self, name: str) -> None:
        ready = self.ready[name]
        while ready and ready[0][1].share <= self.room[name] + _SLACK:
            _, work = heapq.heappop(ready)
            self.room[name] -= work.share
            work.start_s = self.now
            heapq.heappush(self.happens, (self.now + work.seconds, 0, work.number, work))

    def _end(self, work: _Work) -> None:
        work.end_s = self.now
        if work.engine:
            name = self._engine(work)
            self.room[name] = min(1.0, self.room[name] + work.share)
        for other in work.followers:
            other.left -= 1
            if not other.left:
                self._free(other)


class _Run:
    """The host's clock, its streams and its events."""

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        self.device = _Device(machine.copy_engines)
        self.now = 0.0
        self.works: list[_Work] = []
        self.tails: dict[int, list[_Work]] = {}
        """What the next work of a stream waits for."""
        self.events: dict[str, list[_Work]] = {}
        self.clocks: dict[str, float] = {}
        self.host: list[Span] = []

    def follow(self, program: Sequence[Call]) -> Timeline:
        for number, call in enumerate(program):
            self._do(number, call)
        self.device.drain()
        spans = [*self.host, *(_span(work) for work in self.works if work.engine)]
        spans.sort(key=lambda s: (s.start_s, ENGINES.index(s.engine), s.call, s.number or 0))
        ends = [self.now, *(work.end_s for work in self.works)]
        events = {
            name: max((work.end_s for work in works), default=0.0)
            for name, works in self.events.items()
        }
        return Timeline(tuple(spans), self.clocks, events, max(ends))

    def _do(self, number: int, call: Call) -> None:
        machine = self.machine
        if isinstance(call, Clock):
            self.clocks[call.name] = self.now
        elif isinstance(call, Host):
            self._busy(call.name, call.seconds, number)
        elif isinstance(call, Instantiate):
            seconds = machine.node_instantiate_s * len(call.graph.nodes)
            self._busy("cudaGraphInstantiate", seconds, number)
        elif isinstance(call, Kernel):
            self._busy("cudaLaunchKernel", machine.call_s, number, call.stream)
            self._ask(call, call.stream, number, self._before(call.stream), machine.gap_s)
        elif isinstance(call, Copy):
            self._copy(call, number)
        elif isinstance(call, Launch):
            self._busy("cudaGraphLaunch", machine.graph_launch_s, number, call.stream)
            self._launch(call, number)
        elif isinstance(call, Record):
            self._busy("cudaEventRecord", machine.call_s, number, call.stream)
            self.events[call.event] = [self._mark(call.stream, number, self._before(call.stream))]
        elif isinstance(call, Wait):
            self._busy("cudaStreamWaitEvent", machine.call_s, number, call.stream)
            before = self._before(call.stream) + self.events[call.event]
            self._mark(call.stream, number, before)
        else:
            self._synchronise(call, number)

    def _busy(self, name: str, seconds: float, call: int, stream: int | None = None) -> None:
        start, self.now = self.now, self.now + seconds
        self.host.append(Span(name, HOST, start, self.now, stream, call, asked_s=start))
        self.device.advance(self.now)

    def _before(self, stream: int) -> list[_Work]:
        """What work that is now put into a stream waits for."""
        if stream == DEFAULT_STREAM:
            return [work for tail in self.tails.values() for work in tail]
        return [*self.tails.get(stream, ()), *self.tails.get(DEFAULT_STREAM, ())]

    def _new(
        self, name: str, engine: str, seconds: float, share: float, gap_s: float, stream: int,
        call: int, size: float, after: Iterable[_Work],
    ) -> _Work:  # fmt: skip
        work = _Work(
            len(self.works), name, engine, seconds, share, gap_s, stream, call, self.now, size
        )
        self.works.append(work)
        self.device.add(work, after)
        return work

    def _put(self, work: Kernel | Copy, stream: int, call: int, gap_s: float,
             after: Iterable[_Work]) -> _Work:  # fmt: skip
        if isinstance(work, Kernel):
            return self._new(
                work.name, COMPUTE, work.seconds, work.share, gap_s, stream, call, 0.0, after
            )
        machine = self.machine
        rate = machine.pinned_bytes_per_s if work.pinned else machine.pageable_bytes_per_s
        seconds = work.bytes / rate
        return self._new(
            work.name, work.direction, seconds, 1.0, gap_s, stream, call, work.bytes, after
        )

    def _ask(self, work: Kernel | Copy, stream: int, call: int, before: list[_Work],
             gap_s: float) -> _Work:  # fmt: skip
        made = self._put(work, stream, call, gap_s, before)
        self.tails[stream] = [made]
        return made

    def _mark(self, stream: int, call: int, before: list[_Work]) -> _Work:
        made = self._new("", "", 0.0, 0.0, 0.0, stream, call, 0.0, before)
        made.marks = tuple(before)
        self.tails[stream] = [made]
        return made

    def _copy(self, call: Copy, number: int) -> None:
        self._busy("cudaMemcpyAsync", self.machine.call_s, number, call.stream)
        made = self._ask(call, call.stream, number, self._before(call.stream), self.machine.gap_s)
        if not call.pinned:
            self._wait("cudaMemcpyAsync", [made], number, call.stream)

    def _launch(self, call: Launch, number: int) -> None:
        before = self._before(call.stream)
        made: dict[str, _Work] = {}
        for node in graph_order(call.graph):
            after = [made[name] for name in node.after] or before
            gap_s = self.machine.graph_gap_s if node.after else self.machine.gap_s
            made[node.work.name] = self._put(node.work, call.stream, number, gap_s, after)
        followed = {name for node in call.graph.nodes for name in node.after}
        ends = [work for name, work in made.items() if name not in followed]
        self.tails[call.stream] = [self._mark(call.stream, number, ends or before)]

    def _synchronise(self, call: Synchronise, number: int) -> None:
        if call.event is not None:
            name, works = "cudaEventSynchronize", self.events[call.event]
        elif call.stream is not None:
            name, works = "cudaStreamSynchronize", self._before(call.stream)
        else:
            name, works = "cudaDeviceSynchronize", [w for t in self.tails.values() for w in t]
        self._wait(name, works, number, call.stream)

    def _wait(self, name: str, works: Iterable[_Work], call: int, stream: int | None) -> None:
        start, last = self.now, None
        for work in works:
            self.device.finish(work)
            if work.end_s > self.now:
                self.now, last = work.end_s, work
        self.device.advance(self.now)
        blamed = None if last is None else _behind(last)
        self.host.append(
            Span(
                name, HOST, start, self.now, stream, call,
                waits=True, waits_for=blamed, asked_s=start,
            )
        )  # fmt: skip


def _behind(work: _Work) -> int | None:
    """The number of the kernel or copy that a wait for some work was a wait for."""
    while not work.engine:
        if not work.marks:
            return None
        work = max(work.marks, key=lambda each: (each.end_s, each.number))
    return work.number


def _span(work: _Work) -> Span:
    return Span(
        work.name, work.engine, work.start_s, work.end_s, work.stream, work.call, work.number,
        work.size, asked_s=work.asked_s,
    )  # fmt: skip
