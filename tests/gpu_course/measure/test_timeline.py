"""The event simulator against one that goes on tick by tick, and against what CUDA promises."""

from __future__ import annotations

import itertools
import json
import math
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpu_course.errors import CourseError
from gpu_course.measure.timeline import (
    COMPUTE,
    D2H,
    H2D,
    HOST,
    Call,
    Clock,
    Copy,
    Graph,
    Host,
    Instantiate,
    Kernel,
    Launch,
    Machine,
    Node,
    Record,
    Span,
    Synchronise,
    Timeline,
    Wait,
    graph_order,
    run,
)
from tests.sampling import examples

PLAIN = Machine(
    call_s=1.0, gap_s=0.0, pinned_bytes_per_s=1.0, pageable_bytes_per_s=0.5, graph_launch_s=2.0,
    graph_gap_s=0.0, node_instantiate_s=1.0,
)  # fmt: skip
"""A machine on which everything takes whole seconds."""


def when(timeline: Timeline, name: str) -> tuple[float, float]:
    (span,) = (s for s in timeline.spans if s.name == name)
    return span.start_s, span.end_s


# What CUDA promises


def test_a_launch_returns_before_its_kernel_begins() -> None:
    program = [Clock("before"), Kernel("k", 100.0), Clock("after"), Synchronise(), Clock("done")]
    timeline = run(program, PLAIN)
    assert dict(timeline.clocks) == {"before": 0.0, "after": 1.0, "done": 101.0}
    assert when(timeline, "k") == (1.0, 101.0)
    assert timeline.busy_s(HOST) == 1.0 and timeline.busy_s(COMPUTE) == 100.0


def test_a_stream_keeps_its_order_and_two_streams_overlap() -> None:
    timeline = run(
        [
            Copy("in", 10, H2D, 1),
            Kernel("a", 10.0, 1),
            Kernel("b", 3.0, 2),
            Copy("out", 10, D2H, 1),
        ],
        PLAIN,
    )
    assert when(timeline, "in") == (1.0, 11.0)
    assert when(timeline, "b") == (3.0, 6.0)
    assert when(timeline, "a") == (11.0, 21.0)
    assert when(timeline, "out") == (21.0, 31.0)
    assert timeline.overlap_s(H2D, COMPUTE) == 3.0


def test_the_default_stream_waits_for_all_and_all_wait_for_it() -> None:
    timeline = run([Kernel("a", 10.0, 1), Copy("b", 5, H2D), Copy("c", 5, D2H, 2)], PLAIN)
    assert [when(timeline, name) for name in "abc"] == [(1.0, 11.0), (11.0, 16.0), (16.0, 21.0)]


def test_kernels_share_the_device_as_far_as_they_leave_room() -> None:
    tenths = [Kernel(f"k{n}", 100.0, n, share=0.1) for n in range(1, 13)]
    timeline = run(tenths, Machine(call_s=0.0, gap_s=0.0))
    starts = [when(timeline, each.name)[0] for each in tenths]
    assert starts == [0.0] * 10 + [100.0] * 2


def test_one_copy_engine_takes_both_directions_in_turn() -> None:
    program = [Copy("in", 10, H2D, 1), Copy("out", 10, D2H, 2)]
    one = Machine(call_s=0.0, gap_s=0.0, pinned_bytes_per_s=1.0, copy_engines=1)
    assert run(program, one).end_s == 20.0
    two = Machine(call_s=0.0, gap_s=0.0, pinned_bytes_per_s=1.0)
    assert run(program, two).end_s == 10.0


def test_a_pageable_copy_keeps_the_host_and_goes_slower() -> None:
    program = [Copy("in", 10, H2D, 1, pinned=False), Clock("then"), Kernel("k", 1.0, 2)]
    timeline = run(program, PLAIN)
    assert when(timeline, "in") == (1.0, 21.0)
    assert timeline.clocks["then"] == 21.0 and when(timeline, "k")[0] == 22.0


def test_an_event_orders_two_streams_and_leaves_the_host_alone() -> None:
    program: list[Call] = [
        Copy("in", 10, H2D, 1), Record("there", 1), Copy("more", 50, H2D, 1),
        Wait("there", 2), Kernel("k", 5.0, 2), Clock("host"), Synchronise(event="there"),
        Clock("there"), Synchronise(stream=2), Clock("k"), Synchronise(),
    ]  # fmt: skip
    timeline = run(program, PLAIN)
    assert when(timeline, "k") == (11.0, 16.0)
    assert dict(timeline.clocks) == {"host": 5.0, "there": 11.0, "k": 16.0}
    assert timeline.end_s == 61.0


def test_events_time_the_device_and_the_clock_of_the_host_does_not() -> None:
    program: list[Call] = [
        Clock("t0"), Record("start", 1), Kernel("k", 100.0, 1), Record("stop", 1), Clock("t1"),
    ]  # fmt: skip
    timeline = run(program, PLAIN)
    assert timeline.clocks["t1"] - timeline.clocks["t0"] == 3.0
    assert timeline.elapsed_s("start", "stop") == 101.0
    with pytest.raises(CourseError, match="no call records an event 'stopp'"):
        timeline.elapsed_s("start", "stopp")


def test_a_graph_is_one_call_and_its_nodes_wait_for_each_other_alone() -> None:
    graph = Graph(
        "step",
        (
            Node(Kernel("last", 1.0), ("left", "right")),
            Node(Copy("left", 4, H2D), ("first",)),
            Node(Kernel("right", 3.0), ("first",)),
            Node(Kernel("first", 2.0)),
        ),
    )
    timeline = run(
        [Instantiate(graph), Launch(graph, 1), Kernel("next", 1.0, 1), Synchronise()], PLAIN
    )
    assert when(timeline, "cudaGraphInstantiate") == (0.0, 4.0)
    assert when(timeline, "cudaGraphLaunch") == (4.0, 6.0)
    assert when(timeline, "first") == (6.0, 8.0)
    assert when(timeline, "left") == (8.0, 12.0) and when(timeline, "right") == (8.0, 11.0)
    assert when(timeline, "last") == (12.0, 13.0) and when(timeline, "next") == (13.0, 14.0)


def test_small_kernels_wait_for_their_launches_and_a_graph_takes_that_away() -> None:
    kernels = [Kernel(f"k{n}", 2e-6, 1) for n in range(100)]
    graph = Graph.chain("all", kernels)
    single = run([*kernels, Synchronise()])
    whole = run([Instantiate(graph), Launch(graph, 1), Synchronise()])
    machine = Machine()
    assert single.end_s == pytest.approx(100 * machine.call_s + machine.gap_s + 2e-6)
    launched = when(whole, "cudaGraphLaunch")[0]
    expected = machine.graph_launch_s + machine.gap_s + 99 * machine.graph_gap_s + 100 * 2e-6
    assert whole.end_s - launched == pytest.approx(expected)


def test_a_wait_names_the_work_it_was_for() -> None:
    timeline = run(
        [
            Kernel("a", 9.0, 1),
            Kernel("b", 1.0, 2, share=0.5),
            Record("e", 1),
            Synchronise(event="e"),
        ],
        PLAIN,
    )
    (wait,) = (s for s in timeline.of(HOST) if s.waits)
    (work,) = (s for s in timeline.of(COMPUTE) if s.number == wait.waits_for)
    assert work.name == "a" and (wait.start_s, wait.end_s) == (3.0, 10.0)
    idle = run([Synchronise()], PLAIN)
    assert [(s.seconds, s.waits_for) for s in idle.spans] == [(0.0, None)]


# The Chrome trace


def test_a_trace_has_the_names_of_the_profiler_and_joins_call_and_work(tmp_path: Path) -> None:
    timeline = run([Host("read", 3.0), Copy("in", 10, H2D, 1), Kernel("k", 2.0, 1), Synchronise()])
    trace = json.loads(timeline.write_trace(tmp_path / "trace.json").read_text())
    spans = [each for each in trace["traceEvents"] if each["ph"] == "X"]
    assert {each["cat"] for each in spans} == {"cpu_op", "cuda_runtime", "kernel", "gpu_memcpy"}
    by_call: dict[int, list[str]] = {}
    for each in spans:
        by_call.setdefault(each["args"]["correlation"], []).append(each["name"])
    assert sorted(by_call.values()) == [
        ["cudaDeviceSynchronize"], ["cudaLaunchKernel", "k"], ["cudaMemcpyAsync", "in"], ["read"],
    ]  # fmt: skip
    (kernel,) = (each for each in spans if each["cat"] == "kernel")
    (span,) = timeline.of(COMPUTE)
    assert kernel["ts"] == pytest.approx(span.start_s * 1e6) and kernel["dur"] == 2e6
    assert kernel["tid"] == 1 and kernel["pid"] != spans[0]["pid"]


# Bad input

GRAPH = Graph.chain("g", [Kernel("a", 1.0), Kernel("b", 1.0)])
CIRCLE = Graph("g", (Node(Kernel("a", 1.0), ("b",)), Node(Kernel("b", 1.0), ("a",))))


@pytest.mark.parametrize(
    ("program", "said"),
    [
        ([Kernel("k", -1.0)], "call 0, 'k', has -1.0 seconds"),
        ([Host("h", 1.0), Kernel("k", math.nan)], "call 1, 'k', has nan seconds"),
        ([Host("h", math.inf)], "call 0, 'h', has inf seconds"),
        ([Copy("c", -5, H2D)], "call 0, 'c', has -5 bytes"),
        ([Copy("c", 5, "up")], "call 0, 'c', copies 'up'"),
        ([Kernel("k", 1.0, share=0.0)], "call 0, 'k', fills 0.0 of the GPU"),
        ([Kernel("k", 1.0, share=1.5)], "call 0, 'k', fills 1.5 of the GPU"),
        ([Kernel("k", 1.0, 1), Synchronise(stream=7)], "Synchronise, names stream 7, which is unk"),
        ([Record("e", 3)], "Record, names stream 3, which is unknown"),
        ([Kernel("k", 1.0, "1")], "names stream '1', which is unknown"),
        ([Wait("e"), Record("e")], "call 0 waits for event 'e', which no earlier call records"),
        ([Synchronise(event="e")], "waits for event 'e'"),
        ([Launch(GRAPH)], "launches graph 'g', which no earlier call instantiates"),
        ([Instantiate(CIRCLE)], "graph 'g' waits in a circle: 'a' after 'b' after 'a'"),
        ([Instantiate(Graph("g", (Node(Kernel("a", 1.0), ("z",)),)))], "'a' follows 'z', which is"),
        ([Instantiate(Graph("g", (Node(Kernel("a", 1.0)),) * 2))], "has two nodes 'a'"),
        (["k"], "call 0 is 'k', and no call"),
    ],
)  # fmt: skip
def test_a_program_that_cannot_be_is_refused_in_a_line(program: Any, said: str) -> None:
    streams = {0, 1} if said.startswith("names") else None
    with pytest.raises(CourseError, match=re.escape(said)) as caught:
        run(program, streams=streams)
    first = str(caught.value).splitlines()[0]
    assert said in first


@pytest.mark.parametrize(
    "machine", [Machine(call_s=-1.0), Machine(pinned_bytes_per_s=0.0), Machine(copy_engines=3),
                Machine(gap_s=math.nan)],
)  # fmt: skip
def test_a_machine_that_cannot_be_is_refused(machine: Machine) -> None:
    with pytest.raises(CourseError, match="the machine"):
        run([], machine)


def test_an_empty_program_takes_no_time() -> None:
    assert run([]).end_s == 0.0 and run([]).spans == ()


# Tick by tick


def by_ticks(
    program: Sequence[Call], machine: Machine
) -> tuple[float, dict[str, Any], list[float]]:
    """Returns when all is done, {work: (start, end)}, and what each Clock read.

    Every tick looks at everything: who is done, what may begin, what the host does next. It shares
    no line with the simulator. Graphs are left to the tests above.
    """
    works: list[dict[str, Any]] = []
    events: dict[str, list[int]] = {}
    clocks: list[float] = []
    at, host_free, waiting, asked = 0, 0, None, None
    t = 0

    def before(stream: int, upto: int | None = None) -> list[int]:
        found = []
        for k, w in enumerate(works[:upto]):
            if stream == 0 or w["stream"] in (0, stream):
                found.append(k)
        return found

    def over(k: int) -> bool:
        w = works[k]
        if w["seconds"] is None:
            return all(over(j) for j in w["after"])
        return w["end"] is not None and w["end"] <= t

    while True:
        changed = True
        while changed:
            changed = False
            for w in works:
                if w["seconds"] is not None and w["ready"] is None and all(map(over, w["after"])):
                    w["ready"] = t + int(machine.gap_s)
                    changed = True
            for w in works:
                if w["seconds"] is None or w["start"] is not None or w["ready"] is None:
                    continue
                if w["ready"] > t:
                    continue
                if not any(
                    v["start"] is not None and v["end"] > t and v["engine"] == w["engine"]
                    for v in works
                ):
                    w["start"], w["end"] = t, t + w["seconds"]
                    changed = True
            if changed:
                continue
            if waiting is not None:
                if all(over(k) for k in waiting):
                    waiting, changed = None, True
                continue
            if host_free > t:
                continue
            if asked is not None:
                call, asked, changed = asked, None, True
                w = dict.fromkeys(("seconds", "ready", "start", "end"))
                w |= {"stream": call.stream, "after": before(call.stream), "engine": ""}
                if isinstance(call, Kernel):
                    w |= {"seconds": int(call.seconds), "engine": COMPUTE}
                elif isinstance(call, Copy):
                    rate = (
                        machine.pinned_bytes_per_s if call.pinned else machine.pageable_bytes_per_s
                    )
                    engine = H2D if machine.copy_engines == 1 else call.direction
                    w |= {"seconds": int(call.bytes / rate), "engine": engine}
                elif isinstance(call, Record):
                    events[call.event] = before(call.stream)
                else:
                    w["after"] = [*w["after"], *events[call.event]]
                works.append({**w, "name": getattr(call, "name", "")})
                if isinstance(call, Copy) and not call.pinned:
                    waiting = [len(works) - 1]
                continue
            if at == len(program):
                if all(over(k) for k in range(len(works))):
                    spans = {
                        w["name"]: (w["start"], w["end"]) for w in works if w["seconds"] is not None
                    }
                    return t, spans, clocks
                continue
            call, at, changed = program[at], at + 1, True
            if isinstance(call, Clock):
                clocks.append(t)
            elif isinstance(call, Host):
                host_free = t + int(call.seconds)
            elif isinstance(call, Synchronise):
                waiting = events[call.event] if call.event else before(call.stream or 0)
            else:
                host_free, asked = t + int(machine.call_s), call
        t += 1


STREAMS = st.integers(0, 3)
CALLS = st.one_of(
    st.builds(Kernel, st.just(""), st.integers(1, 9).map(float), STREAMS),
    st.builds(Copy, st.just(""), st.integers(1, 9), st.sampled_from([H2D, D2H]), STREAMS,
              st.booleans()),
    st.builds(Record, st.sampled_from("ef"), STREAMS),
    st.builds(Wait, st.sampled_from("ef"), STREAMS),
    st.builds(Synchronise, STREAMS),
    st.builds(Synchronise, st.none(), st.sampled_from([None, "e", "f"])),
    st.builds(Host, st.just("h"), st.integers(0, 5).map(float)),
)  # fmt: skip


def can_be(calls: list[Call]) -> list[Call]:
    """Returns the calls with names of their own, without waits for what no call records."""
    known: set[str] = set()
    kept: list[Call] = []
    for call in calls:
        if isinstance(call, Record):
            known.add(call.event)
        event = getattr(call, "event", None)
        if event is not None and event not in known:
            continue
        if isinstance(call, (Kernel, Copy)):
            call = type(call)(**{**vars(call), "name": f"w{len(kept)}"})
        kept += [call, Clock(f"c{len(kept)}")]
    return kept


@settings(max_examples=examples(400, few=80), deadline=None)
@given(
    st.lists(CALLS, max_size=14),
    st.integers(0, 2),
    st.integers(0, 2),
    st.sampled_from([1, 2]),
)
def test_it_agrees_with_one_that_goes_on_tick_by_tick(
    calls: list[Call], call_s: int, gap_s: int, engines: int
) -> None:
    machine = Machine(
        call_s=float(call_s), gap_s=float(gap_s), pinned_bytes_per_s=1.0, pageable_bytes_per_s=0.5,
        copy_engines=engines,
    )  # fmt: skip
    program = can_be(calls)
    end, spans, clocks = by_ticks(program, machine)
    timeline = run(program, machine, streams=range(4))
    assert timeline.end_s == end
    assert list(timeline.clocks.values()) == clocks
    found = {s.name: (s.start_s, s.end_s) for s in timeline.spans if s.engine != HOST}
    assert found == spans


def test_no_engine_has_two_at_a_time_and_none_begins_before_it_is_asked_for() -> None:
    program = [
        call
        for n in range(30)
        for call in (Copy(f"i{n}", n % 7, H2D, n % 3), Kernel(f"k{n}", n % 5 + 1.0, n % 3))
    ]
    timeline = run(program, PLAIN)
    for engine in (H2D, COMPUTE):
        spans: tuple[Span, ...] = timeline.of(engine)
        assert all(a.end_s <= b.start_s for a, b in itertools.pairwise(spans))
        assert all(span.start_s >= span.asked_s for span in spans)
    assert len(graph_order(GRAPH)) == 2
