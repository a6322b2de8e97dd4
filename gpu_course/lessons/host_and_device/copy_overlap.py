"""Puzzle `copy_overlap`: in which order, and in which streams, to ask for copies and kernels."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gpu_course.lessons.host_and_device.chunks import (
    D2H,
    H2D,
    KERNEL,
    MACHINE,
    RECORD,
    SYNCHRONISE,
    WAIT,
    WORK,
    Calls,
    followed,
    least_s,
)
from gpu_course.puzzle.builders import sized
from gpu_course.puzzle.room import puzzle_fields
from gpu_course.puzzle.specification import Case, Judgement, PythonPuzzle, Values
from gpu_course.units import format_time_s

MARGIN = 1.02
"""Calls and gaps cost some microseconds, and chunks take some hundred of them."""
_BALANCED, _COPIES_IN, _KERNELS, _COPIES_OUT = range(4)
_FREE, _CHAIN, _PAIRS, _TWO_BACK = range(4)


def _case(
    name: str, chunks: int, streams: int, kind: int = _BALANCED, needs: int = _FREE,
    visible: bool = False,
) -> Case:  # fmt: skip
    return sized(name, visible=visible, chunks=chunks, streams=streams, kind=kind, needs=needs)


def _random_case(rng: np.random.Generator) -> Case:
    chunks, streams = int(rng.integers(5, 12)), int(rng.integers(3, 5))
    kind, needs = (int(n) for n in rng.integers(0, 4, 2))
    return _case("chunks drawn at random", chunks, streams, kind, needs)


def _needs(chunks: int, needs: int) -> list[int | None]:
    found: list[int | None] = []
    for chunk in range(chunks):
        earlier = {
            _FREE: None,
            _CHAIN: chunk - 1,
            _PAIRS: chunk - 1 if chunk % 2 else None,
            _TWO_BACK: chunk - 2,
        }[needs]
        found.append(earlier if earlier is not None and earlier >= 0 else None)
    return found


def _inputs(rng: np.random.Generator, case: Case) -> Values:
    s = case.sizes
    long = {_BALANCED: (1, 1, 1), _COPIES_IN: (2, 1, 0.5), _KERNELS: (0.6, 2, 0.8),
            _COPIES_OUT: (0.5, 0.7, 2)}[s["kind"]]  # fmt: skip
    chunks = []
    for _ in range(s["chunks"]):
        in_s, kernel_s, out_s = (each * 1e-3 * (1 + rng.integers(-5, 6) / 100) for each in long)
        rate = MACHINE.pinned_bytes_per_s
        chunks.append((int(in_s * rate), round(kernel_s, 6), int(out_s * rate)))
    return {"chunks": chunks, "needs": _needs(s["chunks"], s["needs"]), "streams": s["streams"]}


def _reference(inputs: Values, case: Case) -> Values:
    """What each engine has to do, whatever the order: all of it, and once."""
    rate, chunks = MACHINE.pinned_bytes_per_s, inputs["chunks"]
    return {
        "busy": {
            "H2D": sum(each[0] for each in chunks) / rate,
            "compute": float(sum(each[1] for each in chunks)),
            "D2H": sum(each[2] for each in chunks) / rate,
        }
    }


def _follow(inputs: Values, case: Case, got: Values) -> Values:
    timeline = followed(got["result"], inputs["chunks"], inputs["needs"], inputs["streams"])
    busy = {name: timeline.busy_s(name) for name in ("H2D", "compute", "D2H")}
    return {"calls": list(got["result"]), "seconds": timeline.end_s, "busy": busy}


def _judge(inputs: Values, case: Case, got: Values) -> Judgement | None:
    chunks, needs, streams = inputs["chunks"], inputs["needs"], inputs["streams"]
    least = least_s(chunks, needs, streams)
    if got["seconds"] <= MARGIN * least + 50e-6:
        return None
    fact = f"{format_time_s(got['seconds'])}; {format_time_s(least)} would do"
    return Judgement(_why(got["calls"], needs, min(streams, len(chunks))), fact, "over-budget")


def _why(calls: Calls, needs: Sequence[int | None], streams: int) -> str:
    """The diagnosis of a schedule that is right and slow."""
    if len({call[-1] for call in calls if call[0] in WORK}) < min(2, streams):
        return "one-stream"
    if any(call[0] == SYNCHRONISE for call in calls):
        return "host-waits"
    began: dict[int, list[str]] = {}
    for word, *rest in calls:
        before = began.setdefault(rest[-1], [])
        if word == WAIT and (not before or before[-1] in (D2H, RECORD)):
            return "waits-early"
        if word == RECORD and [each for each in before if each in WORK][-1:] in ([D2H], [H2D]):
            return "records-late"
        before.append(word)
    if len({call[-1] for call in calls if call[0] == KERNEL}) < streams:
        return "few-streams"
    return "slow"


COPY_OVERLAP = PythonPuzzle(
    **puzzle_fields(__file__),
    cases=(
        _case("visible example", 8, 3, _BALANCED, _CHAIN, visible=True),
        _case("no kernel needs another", 7, 3),
        _case("pairs", 10, 4, _BALANCED, _PAIRS),
        _case("the copies in are longest", 6, 3, _COPIES_IN, _TWO_BACK),
        _case("the kernels are longest", 6, 3, _KERNELS, _CHAIN),
        _case("the copies back are longest", 6, 4, _COPIES_OUT, _CHAIN),
        _case("more streams than chunks", 3, 8, _BALANCED, _CHAIN),
        _case("two streams", 6, 2, _BALANCED, _CHAIN),
        _case("one stream", 4, 1, _BALANCED, _CHAIN),
        _case("one chunk", 1, 3),
        _case("no chunk", 0, 3),
    ),
    random_case=_random_case,
    inputs=_inputs,
    reference=_reference,
    follow=_follow,
    judge=_judge,
    tolerance=(1e-9, 1e-12),
)
