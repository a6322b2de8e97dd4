"""Puzzle `who_waits`: what a synchronising call really waited for, on simulated timelines."""

from __future__ import annotations

import numpy as np

from gpu_course.measure import timeline as t
from gpu_course.puzzle.builders import sized
from gpu_course.puzzle.room import puzzle_fields
from gpu_course.puzzle.specification import Case, PythonPuzzle, Values

Row = tuple[str, str, int | None, int, int, int]
"""Name, kind, stream, call, start, end."""

KERNELS = ("matmul", "softmax", "layer_norm", "gelu", "adamw")
_SYNCS = ("cudaDeviceSynchronize", "cudaStreamSynchronize")
_NS = 1e-9

_VISIBLE: list[t.Call] = [
    t.Kernel("matmul", 60e-6, 1),
    t.Kernel("softmax", 20e-6, 1),
    t.Kernel("adamw", 50e-6, 2, 0.5),
    t.Synchronise(stream=1),
    t.Kernel("gelu", 1e-6, 1),
    t.Host("Python", 90e-6),
    t.Synchronise(stream=1),
    t.Kernel("matmul", 30e-6, 2),
    t.Synchronise(),
]


_TIED: list[t.Call] = [
    # Two streams end at one moment.
    t.Kernel("matmul", 10e-6, 2, 0.5),
    t.Kernel("softmax", 32e-6, 2, 0.5),
    t.Kernel("adamw", 39e-6, 1, 0.5),
    t.Synchronise(),
    # One that ends when the sync begins, and one of a nanosecond.
    t.Kernel("gelu", 1e-6, 1),
    t.Host("Python", 2e-6),
    t.Synchronise(stream=1),
    t.Kernel("layer_norm", 1e-9, 2),
    t.Synchronise(stream=2),
]


def _case(name: str, calls: int, streams: int, visible: bool = False, kind: int = 0) -> Case:
    return sized(name, visible=visible, calls=calls, streams=streams, kind=kind)


def rows_of(program: list[t.Call], machine: t.Machine | None = None) -> list[Row]:
    """Returns what a simulated program's trace holds, in nanoseconds, as an answer gets it."""
    rows: list[Row] = []
    for span in t.run(program, machine).spans:
        start, end = round(span.start_s / _NS), round(span.end_s / _NS)
        if span.engine != t.HOST:
            kind = "device"
        elif span.name in _SYNCS:
            kind = "sync"
        elif span.name.startswith("cuda"):
            kind = "launch"
        else:
            continue
        rows.append((span.name, kind, span.stream, span.call, start, end))
    return rows


def _program(rng: np.random.Generator, calls: int, streams: int, kind: int) -> list[t.Call]:
    program: list[t.Call] = []
    for _ in range(calls):
        draw = int(rng.integers(10))
        stream = 1 + int(rng.integers(streams))
        if draw < 6:
            seconds = int(rng.integers(1, 90)) * 1e-6
            name = str(rng.choice(KERNELS))
            program.append(t.Kernel(name, seconds, stream, 1 / streams))
        elif draw < 7:
            program.append(t.Copy("copy back", int(rng.integers(1, 40)) * 25e3, t.D2H, stream))
        elif draw < 8 and kind:
            program.append(t.Host("Python", int(rng.integers(1, 120)) * 1e-6))
        else:
            either = None if rng.integers(2) else stream
            program.append(t.Synchronise(stream=either))
    return [*program, t.Synchronise()]


def _inputs(rng: np.random.Generator, case: Case) -> Values:
    if case.visible:
        return {"events": rows_of(_VISIBLE)}
    if case.sizes["kind"] == 2:
        rows = rows_of(_TIED, t.Machine(call_s=2e-6, gap_s=1e-6))
        return {"events": sorted(rows, key=lambda row: row[1] == "sync")}
    if case.sizes["kind"] == 3:
        program: list[t.Call] = [
            t.Kernel("matmul", 50e-6, 1),
            t.Host("Python", 3e-6),
            t.Synchronise(),
        ]
        return {"events": rows_of(program)}
    if not case.sizes["calls"]:
        return {"events": []}
    calls, streams, kind = (case.sizes[key] for key in ("calls", "streams", "kind"))
    rows = rows_of(_program(rng, calls, streams, kind))
    return {"events": [rows[k] for k in rng.permutation(len(rows))]}


def _random_case(rng: np.random.Generator) -> Case:
    calls, streams = int(rng.integers(15, 40)), int(rng.integers(2, 4))
    return _case("a program drawn at random", calls, streams, kind=1)


def _reference(inputs: Values, case: Case) -> Values:
    """Each sync is followed back along the stream of what ended last."""
    events: list[Row] = inputs["events"]
    works = [row for row in events if row[1] == "device"]
    found: dict[str, int] = {}
    for _, kind, stream, call, start, _ in events:
        if kind != "sync":
            continue
        before = [row for row in works if row[3] < call]
        covered = [row for row in before if stream is None or row[2] == stream]
        if not covered:
            continue
        last = sorted(covered, key=lambda row: (row[5], row[3]))[-1]
        lane = sorted((row for row in before if row[2] == last[2]), key=lambda row: row[4])
        at = start
        for name, _, _, _, began, over in lane:
            if over <= at:
                continue
            for what, until in (("idle", max(at, began)), (name, over)):
                if until > at:
                    found[what] = found.get(what, 0) + until - at
                    at = until
    return {"result": found}


def _diagnose(inputs: Values, case: Case, expected: Values, got: Values) -> str | None:
    found = got["result"]
    if isinstance(found, dict) and any(value == 0 for value in found.values()):
        return "with-zeros"
    return None


WHO_WAITS = PythonPuzzle(
    **puzzle_fields(__file__),
    cases=(
        _case("visible example", 9, 2, visible=True),
        _case("one stream", 20, 1),
        _case("a host that works as well", 30, 1, kind=1),
        _case("two streams", 40, 2),
        _case("three streams", 60, 3, kind=1),
        _case("some end at one moment", 9, 2, kind=2),
        _case("one that runs already", 3, 1, kind=3),
        _case("no event", 0, 1),
    ),
    random_case=_random_case,
    inputs=_inputs,
    reference=_reference,
    diagnose=_diagnose,
)
