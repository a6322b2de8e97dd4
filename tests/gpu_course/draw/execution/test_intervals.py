"""Barrier intervals: found, told and drawn; a race is seen, its clean twin is not."""

from __future__ import annotations

from typing import Any

import matplotlib
import numpy as np
import pytest
from numba import cuda, float32

from gpu_course.draw.execution.intervals import barrier_intervals, draw_intervals
from gpu_course.draw.paper.picture import alt_text, figure_png
from gpu_course.errors import CourseError
from simt.simulator import simulate
from simt.stepping import record
from tests.gpu_course.draw.readable import assert_readable


def turned(out, a):
    tile = cuda.shared.array(8, float32)
    t = cuda.threadIdx.x
    tile[t] = a[t]
    out[t] = tile[7 - t]


def turned_in_order(out, a):
    tile = cuda.shared.array(8, float32)
    t = cuda.threadIdx.x
    tile[t] = a[t]
    cuda.syncthreads()
    out[t] = tile[7 - t]


def used_again(out, a):
    tile = cuda.shared.array(8, float32)
    t = cuda.threadIdx.x
    for turn in range(2):
        tile[t] = a[t]
        cuda.syncthreads()
        out[t] = tile[7 - t] + turn


def used_again_in_order(out, a):
    tile = cuda.shared.array(8, float32)
    t = cuda.threadIdx.x
    for turn in range(2):
        tile[t] = a[t]
        cuda.syncthreads()
        out[t] = tile[7 - t] + turn
        cuda.syncthreads()


def six_of_eight(out, a):
    tile = cuda.shared.array(8, float32)
    t = cuda.threadIdx.x
    if t < 6:
        tile[t] = a[t]
        cuda.syncthreads()
        out[t] = tile[5 - t] + tile[0]


def in_place(out, a):
    tile = cuda.shared.array(8, float32)
    t = cuda.threadIdx.x
    tile[t] = a[t]
    cuda.syncthreads()
    if t > 0:
        tile[t] += tile[t - 1]
    cuda.syncthreads()
    out[t] = tile[t]


def own_cells(out, a):
    tile = cuda.shared.array((2, 4), float32)
    t = cuda.threadIdx.x
    tile[t // 4, t % 4] = a[t]
    out[t] = tile[t // 4, t % 4]


KERNELS: dict[str, tuple[Any, int, list[int], str]] = {
    # kernel: (function, intervals, cells raced in each, words)
    "no barrier": (turned, 1, [8], "1 barrier interval, 8 races"),
    "a barrier": (turned_in_order, 2, [0, 0], "Interval 2: threads 0 to 7 read cells 0 to 7"),
    "a loop": (used_again, 3, [0, 8, 0], "raced: cells 0 to 7"),
    "a loop with two": (used_again_in_order, 4, [0, 0, 0, 0], "4 barrier intervals, no race"),
    "in place": (in_place, 3, [0, 6, 0], "read cells 0 to 7; raced: cells 1 to 6, until"),
    "threads missing": (six_of_eight, 2, [0, 0], "at which threads 6, 7 are missing"),
    "only own cells": (own_cells, 1, [0], "no race"),
}


def launch(kernel: Any, blocks: int = 1) -> Any:
    a = np.arange(8, dtype=np.float32)
    return record(kernel)[blocks, 8](np.zeros(8, np.float32), a)


@pytest.mark.parametrize("name", KERNELS)
def test_intervals_are_cut_at_barriers_and_races_are_found_in_them(name: str) -> None:
    kernel, count, raced, words = KERNELS[name]
    figure = draw_intervals(launch(kernel), "tile")
    found = barrier_intervals(launch(kernel), "tile")[:count]
    assert [len(interval.raced) for interval in found] == raced
    assert words in alt_text(figure)
    hazards = simulate(kernel)[1, 8](np.zeros(8, np.float32), np.ones(8, np.float32)).hazards
    assert any(hazard.kind == "race" for hazard in hazards) == any(raced)
    assert figure_png(figure) == figure_png(draw_intervals(launch(kernel), "tile"))


def test_a_barrier_names_its_line_and_who_is_missing() -> None:
    first, _ = barrier_intervals(launch(six_of_eight), "tile")
    line = six_of_eight.__code__.co_firstlineno + 5
    assert (first.barrier, first.missing) == (line, (6, 7))
    shown = [
        t.get_text()
        for t in draw_intervals(launch(six_of_eight), "tile").findobj(matplotlib.text.Text)
    ]
    assert f"barrier, line {line}: threads 6, 7 missing" in shown


def test_several_threads_at_one_cell_are_marked() -> None:
    second = barrier_intervals(launch(six_of_eight), "tile")[1]
    assert second.reads[0] == [5, 0, 1, 2, 3, 4]
    texts = draw_intervals(launch(six_of_eight), "tile").findobj(matplotlib.text.Text)
    assert "5*" in [text.get_text() for text in texts]


def test_threads_are_counted_within_the_block_that_is_shown() -> None:
    one, other = (barrier_intervals(launch(own_cells, 2), "tile", block) for block in (0, 1))
    assert one == other and one[0].writes == {cell: [cell] for cell in range(8)}


@pytest.mark.parametrize("name", KERNELS)
def test_text_is_large_enough_and_inside(name: str) -> None:
    assert_readable(draw_intervals(launch(KERNELS[name][0]), "tile"))


def test_an_array_that_is_not_there_or_too_large_is_refused() -> None:
    with pytest.raises(CourseError, match="touches no array rows"):
        draw_intervals(launch(turned), "rows")

    def large(out, a):
        tile = cuda.shared.array(33, float32)
        t = cuda.threadIdx.x
        tile[t] = a[t]
        out[t] = tile[t]

    with pytest.raises(CourseError, match="tile has 33 cells"):
        draw_intervals(launch(large), "tile")
