"""Puzzle `self_time`: what each name took itself, without what it called."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from gpu_course.puzzle.builders import sized
from gpu_course.puzzle.room import puzzle_fields
from gpu_course.puzzle.specification import Case, PythonPuzzle, Values

Row = tuple[int, str, int, int]
"""Thread, name, begin, length."""

_VISIBLE: list[Row] = [
    (7, "aten::linear", 100, 90),
    (7, "step", 0, 300),
    (7, "aten::mm", 120, 50),
    (7, "aten::sum", 200, 60),
    (7, "aten::sum", 215, 30),
    (8, "aten::mm", 110, 40),
    (7, "aten::relu", 190, 10),
    (7, "aten::t", 105, 10),
    (7, "aten::detach", 280, 0),
]
_NAMES = (
    "step",
    "aten::linear",
    "aten::mm",
    "aten::sum",
    "aten::copy_",
    "aten::add_",
    "aten::t",
    "detach",
)


def _case(name: str, events: int, threads: int, visible: bool = False, ties: int = 0) -> Case:
    return sized(name, visible=visible, events=events, threads=threads, ties=ties)


def _tree(rng: np.random.Generator, tid: int, events: int, ties: int) -> list[Row]:
    """Events of one thread: each new one is put into a gap of one that is there, or beside it."""
    found: list[Row] = []
    room = [(0, 200 * events)]
    while len(found) < events and room:
        begin, end = room.pop(int(rng.integers(len(room))))
        if end - begin < 2:
            if end > begin or rng.integers(2):
                found.append((tid, _name(rng), begin, 0))
            continue
        # Every second event begins or ends where the room does, so that many touch.
        first = begin if rng.integers(2) else int(rng.integers(begin, end))
        last = end if rng.integers(2) else int(rng.integers(first + 1, end + 1))
        found.append((tid, _name(rng), first, last - first))
        if ties and rng.integers(2):
            found.append((tid, _name(rng), first, last - first))
        middle = int(rng.integers(first, last + 1))
        # Inside it, in two parts that touch; and beside it.
        room += [(first, middle), (middle, last), (begin, first), (last, end)]
    return found[:events]


def _name(rng: np.random.Generator) -> str:
    return str(rng.choice(_NAMES))


def _inputs(rng: np.random.Generator, case: Case) -> Values:
    if case.visible:
        return {"events": list(_VISIBLE)}
    events: list[Row] = []
    for thread in range(case.sizes["threads"]):
        part = case.sizes["events"] // case.sizes["threads"]
        events += _tree(rng, 11 + 3 * thread, part, case.sizes["ties"])
    if not case.sizes["ties"]:
        # Of two with the same begin and end, the place in the list would count.
        seen: dict[tuple[int, int, int], Row] = {}
        for row in events:
            seen.setdefault((row[0], row[2], row[3]), row)
        events = list(seen.values())
    return {"events": [events[k] for k in rng.permutation(len(events))]}


def _random_case(rng: np.random.Generator) -> Case:
    return _case(
        "events drawn at random", int(rng.integers(20, 80)), int(rng.integers(1, 4)), ties=1
    )


def _reference(inputs: Values, case: Case) -> Values:
    """From moment to moment: what runs then is the innermost event."""
    events: Sequence[Row] = inputs["events"]
    found = {name: 0 for _, name, _, _ in events}
    for tid in {row[0] for row in events}:
        own = [
            (ts, ts + dur, place, name)
            for place, (t, name, ts, dur) in enumerate(events)
            if t == tid
        ]
        moments = sorted({at for row in own for at in row[:2]})
        for begin, end in pairwise(moments):
            inside = [row for row in own if row[0] <= begin and end <= row[1]]
            if inside:
                inner = max(inside, key=lambda row: (row[0], -row[1], row[2]))
                found[inner[3]] += end - begin
    return {"result": found}


def _diagnose(inputs: Values, case: Case, expected: Values, got: Values) -> str | None:
    found = got["result"]
    if isinstance(found, dict) and set(found) < set(expected["result"]):
        return "names-missing"
    return None


SELF_TIME = PythonPuzzle(
    **puzzle_fields(__file__),
    cases=(
        _case("visible example", 9, 2, visible=True),
        _case("one event", 1, 1),
        _case("twelve of one thread", 12, 1),
        _case("three threads", 45, 3),
        _case("some with the same begin and end", 30, 2, ties=1),
        _case("two hundred", 200, 2),
        _case("no event", 0, 1),
    ),
    random_case=_random_case,
    inputs=_inputs,
    reference=_reference,
    diagnose=_diagnose,
)
