"""Recorded traces of loops with a planted fault, and how a check draws a fresh one from them.

The record holds what torch.profiler wrote: names, shapes and nanoseconds, of every loop in LOOPS.
`python -m benchmarks.record_planted` makes it anew, and a test holds its counts against a fresh
recording. A drawn trace has the operators of a recorded one, in the same nesting and order, with
other sizes in its shapes, other threads, and other times: clocks are bent, so that no length of
time tells what is planted. Beside it a thread is drawn that calls what a sound step does not.
"""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Callable, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from gpu_course.lessons.profiling.plants import PLANTS, Loop
from gpu_course.lessons.profiling.trace_file import Trace

BESIDE = ("aten::contiguous", "aten::triu")
"""What a thread calls that is no part of the loop: it writes a log, say."""
RECORD = Path(__file__).with_name("planted.json.gz")
_OPTIMIZERS = (("SGD", False), ("AdamW", True), ("Adam", False))
_ACTIVATIONS = ("relu", "tanh", "sigmoid")
_SIZES = ((4, 8, 16, 2), (3, 10, 12, 3), (5, 6, 20, 4))


def _loops() -> tuple[Loop, ...]:
    found = []
    for plant in PLANTS:
        for kind in range(3):
            rows, sequence, width, heads = _SIZES[kind]
            optimizer, fused = _OPTIMIZERS[kind]
            found.append(
                Loop(
                    plant, kind, rows, sequence, width, heads, optimizer=optimizer, fused=fused,
                    activation=_ACTIVATIONS[kind],
                )
            )  # fmt: skip
    found.append(Loop("none", 1, 6, 8, 16, 2, layers=2, steps=3, optimizer="SGD", fused=True))
    found.append(Loop("none", 2, 3, 5, 8, 2, layers=2, optimizer="Adam"))
    found.append(Loop("item", 0, 3, 5, 8, 2, steps=3, optimizer="Adam"))
    return tuple(found)


LOOPS = _loops()
"""The loops that are recorded."""


def compact(loop: Loop, trace: Trace) -> dict[str, Any]:
    """Returns a trace as the record holds it: names and shapes by number, a row for each event."""
    names: dict[str, int] = {}
    shapes: dict[str, int] = {}
    threads: dict[tuple[str, str], int] = {}
    rows = []
    for event in trace.events:
        if event.category == "Trace":
            continue
        rows.append(
            [
                names.setdefault(event.name, len(names)),
                threads.setdefault(event.thread, len(threads)),
                event.start_ns,
                event.length_ns,
                shapes.setdefault(json.dumps(event.args.get("Input Dims", [])), len(shapes)),
            ]
        )
    return {
        "plant": loop.plant, "names": list(names), "shapes": list(shapes), "rows": rows
    }  # fmt: skip


def recorded_by() -> str:
    """Returns the version of PyTorch that made the record."""
    with gzip.open(RECORD, "rt", encoding="utf-8") as stream:
        return str(json.load(stream)["torch"])


@lru_cache(maxsize=1)
def recorded() -> tuple[dict[str, Any], ...]:
    """Returns the record: for each of LOOPS its plant, names, shapes and rows."""
    with gzip.open(RECORD, "rt", encoding="utf-8") as stream:
        return tuple(json.load(stream)["traces"])


def drawn(number: int, rng: np.random.Generator) -> dict[str, Any]:
    """Returns a recorded trace with other sizes, threads and times, its events in no order.

    Args:
        number: of the loop in LOOPS.
        rng: what is drawn comes from it.

    Returns:
        names, shapes and rows, as `harness.traces.run` takes them.
    """
    return varied(recorded()[number], rng)


def varied(trace: dict[str, Any], rng: np.random.Generator) -> dict[str, Any]:
    """Returns a trace of the record with other sizes, threads and times, its events in no order."""
    name, thread, start, length, shape = np.array(trace["rows"], dtype=np.int64).T
    clock = _bent_clock(int((start + length).max()), rng)
    begin, end = clock(start), clock(start + length)
    base = int(rng.integers(10**6, 10**9))
    tid = int(rng.integers(1000, 30000)) + 7 * thread
    rows = np.stack([name, base + begin, end - begin, tid, shape], axis=1)
    rows = np.concatenate([rows, _beside(rng, len(trace["names"]), rows)])
    return {
        "names": [*trace["names"], *BESIDE],
        "shapes": _renamed(trace["shapes"], rng),
        "rows": rows[rng.permutation(len(rows))],
    }


def _beside(rng: np.random.Generator, names: int, rows: np.ndarray) -> np.ndarray:
    """Returns the events of one more thread, at work all the time: rows of what is in BESIDE."""
    first, last = int(rows[:, 1].min()), int((rows[:, 1] + rows[:, 2]).max())
    # How many is drawn as well: so no number of events stands for what is planted.
    moments = np.sort(rng.integers(first, last, 2 * int(rng.integers(20, 60))))
    begin, end = moments[::2], moments[1::2]
    name = names + np.arange(len(begin)) % len(BESIDE)
    tid = np.full(len(begin), rows[:, 3].max() + int(rng.integers(1, 9)))
    shape = np.zeros(len(begin), dtype=np.int64)
    return np.stack([name, begin, end - begin, tid, shape], axis=1)


def _bent_clock(end: int, rng: np.random.Generator) -> Callable[[np.ndarray], np.ndarray]:
    """Returns a function of nanoseconds that keeps their order: here it runs fast, there slow.

    What it gives are whole numbers, one or more apart for each nanosecond, so nothing that was
    inside something else comes to lie outside of it.
    """
    knots = np.unique(np.concatenate([[0, end + 1], rng.integers(0, end + 1, 60)]))
    rates = rng.integers(1, 60, len(knots) - 1)
    reached = np.concatenate([[0], np.cumsum(np.diff(knots) * rates)])

    def clock(at: np.ndarray) -> np.ndarray:
        place = np.searchsorted(knots, at, side="right") - 1
        found: np.ndarray = reached[place] + (at - knots[place]) * rates[place]
        return found

    return clock


def _renamed(shapes: Sequence[str], rng: np.random.Generator) -> list[str]:
    """Returns shapes with each size above 3 replaced by another, the same one everywhere."""
    numbers = sorted({int(text) for shape in shapes for text in re.findall(r"\d+", shape)})
    large = [number for number in numbers if number > 3]
    chosen = rng.choice(np.arange(4, 4 + 6 * len(large) + 1), size=len(large), replace=False)
    renamed = dict(zip(map(str, large), map(str, chosen), strict=True))
    return [re.sub(r"\d+", lambda found: renamed.get(found[0], found[0]), each) for each in shapes]
