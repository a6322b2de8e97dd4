"""What the stubs of lesson 09 promise of their input, and what holds it."""

from __future__ import annotations

from itertools import combinations
from typing import Any

from gpu_course.lessons.profiling.harness.traces import events_of
from gpu_course.puzzle.specification import Values
from tests.course.puzzles.promises import Promise, everywhere


def _in_order(rows: list[Any]) -> bool:
    return rows == sorted(rows)


def _pairs_of_a_thread(given: Values) -> list[tuple[Any, Any]]:
    return [(a, b) for a, b in combinations(given["events"], 2) if a[0] == b[0]]


def _nested_or_apart(a: Any, b: Any) -> bool:
    (s, t), (u, v) = ((ts, ts + dur) for _, _, ts, dur in (a, b))
    inside = (s <= u and v <= t) or (u <= s and t <= v)
    return inside or t <= u or v <= s


PROMISES: dict[str, tuple[Promise, ...]] = {
    "self_time": (
        everywhere(
            "Two events of one thread either lie one inside the other or have no time in common",
            lambda given: all(_nested_or_apart(a, b) for a, b in _pairs_of_a_thread(given)),
        ),
        Promise("Of two with the same begin and end",
                lambda given: any(a[2:] == b[2:] for a, b in _pairs_of_a_thread(given))),
        Promise("The list is in no order", lambda given: not _in_order(given["events"])),
        Promise("and may be empty", lambda given: not given["events"]),
        Promise("A length may be 0", lambda given: any(not row[3] for row in given["events"])),
    ),
    "overlap_fraction": (
        everywhere("start <= end", lambda given: all(s <= e for _, s, e in given["events"])),
        Promise("None if there is no such time",
                lambda given: bool(given["events"])
                and all(kind == "compute" for kind, *_ in given["events"])),
        Promise("may be empty", lambda given: not given["events"]),
        Promise("An event may have length 0",
                lambda given: any(s == e for _, s, e in given["events"])),
        Promise("events may touch",
                lambda given: any(a[2] == b[1] for a, b in combinations(given["events"], 2))),
    ),
    "launch_gap": (
        everywhere("launched <= start <= end",
                   lambda given: all(a <= s <= e for a, s, e in given["kernels"])),
        Promise("The list is in no order", lambda given: not _in_order(given["kernels"])),
        Promise("without kernels", lambda given: not given["kernels"]),
        Promise("A kernel may have length 0",
                lambda given: any(s == e for _, s, e in given["kernels"])),
        Promise("kernels may touch",
                lambda given: any(a[2] == b[1] for a, b in combinations(given["kernels"], 2))),
    ),
    "who_waits": (
        everywhere("one thing at a time", lambda given: all(
            a[5] <= b[4] or b[5] <= a[4]
            for a, b in combinations([e for e in given["events"] if e[1] == "device"], 2)
            if a[2] == b[2]
        )),
        Promise("with stream None",
                lambda given: any(e[1] == "sync" and e[2] is None for e in given["events"])),
        Promise("if two end at one moment", lambda given: any(
            a[5] == b[5] and a[2] != b[2]
            for a, b in combinations([e for e in given["events"] if e[1] == "device"], 2)
        )),
        Promise("may be empty", lambda given: not given["events"]),
    ),
    "find_the_bottleneck": (
        Promise("what other threads do",
                lambda given: len({e["tid"] for e in events_of(**given)}) > 1),
        everywhere("for a batch of 3 rows or more", lambda given: any(
            e["name"].startswith("enumerate(DataLoader)") for e in events_of(**given)
        )),
    ),
}  # fmt: skip
