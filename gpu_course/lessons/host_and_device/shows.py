"""What lesson 08 shows: timelines that one drags, tiles in a cache, and Triton's record."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from gpu_course.errors import CourseError
from gpu_course.lessons.host_and_device.fragments import SHAPES, table
from gpu_course.lessons.host_and_device.pictures import draw_film, draw_fragment, draw_timeline
from gpu_course.lessons.host_and_device.tile_orders import ORDERS, film, misses
from gpu_course.measure.timeline import (
    D2H,
    H2D,
    Call,
    Copy,
    Graph,
    Instantiate,
    Kernel,
    Launch,
    Machine,
    Record,
    Synchronise,
    Timeline,
    Wait,
    run,
)
from gpu_course.notebook.note import Note, telling
from gpu_course.notebook.pictures import Picture
from gpu_course.units import of_so_many

RECORD = Path(__file__).with_name("triton.json")
MEBI = 2**20


@telling
def timeline_of(
    program: Sequence[Call], name: str = "timeline", machine: Machine | None = None
) -> Picture:
    """Returns the timeline of a program as a picture.

    Args:
        program: the host's calls, as `measure.timeline` has them.
        name: the title.
        machine: what calls and copies cost.
    """
    return Picture(draw_timeline(run(program, machine), name))


def in_chunks(
    chunks: int, streams: int, total_bytes: float, kernel_s: float, pinned: bool = True
) -> list[Call]:
    """Returns a program that copies something in, works on it and copies it back, in chunks.

    Args:
        chunks: into how many parts the bytes and the kernel are cut.
        streams: to which they are dealt out, 1 or more.
        total_bytes: copied in, and as many back.
        kernel_s: seconds of the kernel for all of them.
        pinned: whether the host's memory is page-locked.
    """
    size, seconds = total_bytes / chunks, kernel_s / chunks
    program: list[Call] = []
    for chunk in range(chunks):
        stream = chunk % streams + 1
        program += [
            Copy(f"in {chunk}", size, H2D, stream, pinned),
            Kernel(f"k {chunk}", seconds, stream),
            Copy(f"out {chunk}", size, D2H, stream, pinned),
        ]
    return [*program, Synchronise()]


def small_kernels(count: int, kernel_us: float, graph: bool = False) -> list[Call]:
    """Returns a program of small kernels in one stream: launched one by one, or as a graph.

    Args:
        count: how many kernels.
        kernel_us: microseconds of each.
        graph: whether they are one graph, which is there already.
    """
    kernels = [Kernel(f"k{n}", kernel_us * 1e-6, 1) for n in range(count)]
    if not graph:
        return [*kernels, Synchronise()]
    return [Launch(Graph.chain("step", kernels), 1), Synchronise()]


def with_event(early: bool) -> list[Call]:
    """Returns two streams, of which one waits for an event: before its copy, or after it."""
    wait, copy = Wait("first", 2), Copy("in 2", 20 * MEBI, H2D, 2)
    return [
        Copy("in 1", 20 * MEBI, H2D, 1),
        Kernel("k 1", 1e-3, 1),
        Record("first", 1),
        *((wait, copy) if early else (copy, wait)),
        Kernel("k 2", 1e-3, 2),
        Synchronise(),
    ]


def run_graph(program: Sequence[Call], machine: Machine | None = None) -> Timeline:
    """Returns the timeline of a program whose graphs are made ready before it begins."""
    graphs = {call.graph.name: call.graph for call in program if isinstance(call, Launch)}
    ready = Machine(**{**vars(machine or Machine()), "node_instantiate_s": 0.0})
    return run([*(Instantiate(graph) for graph in graphs.values()), *program], ready)


@telling
def launches_picture(count: int, kernel_us: float, graph: bool) -> Picture:
    """Returns small kernels as a timeline, launched one by one or as a graph."""
    kernels = of_so_many(count, f"kernels of {kernel_us:g} µs")
    name = f"{kernels}, " + ("one graph" if graph else "one by one")
    return Picture(draw_timeline(run_graph(small_kernels(count, kernel_us, graph)), name))


@telling
def film_picture(order: str, sides: tuple[int, int], room: int, height: int, at: int) -> Picture:
    """Returns one frame of tiles in a cache.

    Args:
        order: a key of `tile_orders.ORDERS`.
        sides: rows and columns of tiles.
        room: strips that the cache holds.
        height: rows of a group.
        at: the tile, from 0; the last one where there are fewer.
    """
    if order not in ORDERS:
        raise CourseError(f"no order is called {order!r}", f"choose of {', '.join(ORDERS)}")
    frames = film(ORDERS[order](*sides, height), room)
    name = order if order == "row by row" else f"{order} of {of_so_many(height, 'rows')}"
    shown = f"{name}, room for {room} strips"
    return Picture(draw_film(frames, min(at, len(frames) - 1), sides, shown))


def order_misses(order: str, sides: tuple[int, int], room: int, height: int = 1) -> int:
    """Returns how many strips come from memory.

    Args:
        order: a key of `tile_orders.ORDERS`.
        sides: rows and columns of tiles.
        room: strips that the cache holds.
        height: rows of a group.
    """
    return misses(ORDERS[order](*sides, height), room)


@telling
def fragment_picture(matrix: str = "A", lane: int = 5) -> Picture:
    """Returns a matrix with the lane that holds each element, by the PTX ISA."""
    return Picture(draw_fragment(table(matrix), matrix, SHAPES[matrix], lane))


@lru_cache(maxsize=1)
def triton_record() -> dict[str, Any]:
    """Returns what Triton made of one product: `python -m benchmarks.record_triton` makes it."""
    found: dict[str, Any] = json.loads(RECORD.read_text(encoding="utf-8"))
    return found


def triton_source() -> Note:
    """Returns the Triton program of the record."""
    return Note(triton_record()["source"].rstrip())


def triton_table() -> Note:
    """Returns what one step of the product is, for each compute capability of the record."""
    record = triton_record()
    tile = " x ".join(str(n) for n in record["tile"].values())
    lines = [f"a step of {tile}, by a record of Triton {record['versions']['triton']}", ""]
    head = ("", "instruction", "in a step", "multiply-adds")
    rows = [
        (cc, _begins(made["matrix"]), f"{made['in_step']:,}", f"{made['multiply_adds']:,}")
        for cc, made in record["capabilities"].items()
    ]
    for cc, name, count, each in (head, *rows):
        lines.append(f"{cc:<6}{name:<28}{count:>10}{each:>22}")
    return Note("\n".join(lines))


def _begins(mnemonic: str) -> str:
    """The part of a mnemonic that says what it is: its name, and its shape where it has one."""
    shape = re.search(r"\bm\d+n\d+k\d+\b", mnemonic)
    names = ("mma.sync", "wgmma.mma_async", "tcgen05.mma", "fma.rn.f32")
    name = next((each for each in names if mnemonic.startswith(each)), mnemonic)
    return f"{name} {shape[0]}" if shape else name
