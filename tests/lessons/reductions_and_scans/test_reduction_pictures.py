"""A reduction drawn as it ran: who adds what, who rests, and which warps diverge."""

from __future__ import annotations

import numpy as np
import pytest
from numba import cuda, float32

from gpu_course.draw.paper.picture import alt_text
from gpu_course.errors import CourseError
from gpu_course.lessons.reductions_and_scans.reduction_pictures import (
    draw_activity,
    draw_tree,
    reduction_steps,
    warps_at_work,
)
from simt.stepping import record
from tests.gpu_course.draw.readable import assert_readable


def neighbours(out, a, size):
    tile = cuda.shared.array(256, float32)
    t = cuda.threadIdx.x
    tile[t] = a[t]
    cuda.syncthreads()
    stride = 1
    while stride < size:
        if t % (2 * stride) == 0:
            tile[t] += tile[t + stride]
        cuda.syncthreads()
        stride *= 2
    out[0] = tile[0]


def halves(out, a):
    tile = cuda.shared.array(16, float32)
    t = cuda.threadIdx.x
    tile[t] = a[t]
    cuda.syncthreads()
    stride = 8
    while stride > 0:
        if t < stride:
            tile[t] += tile[t + stride]
        cuda.syncthreads()
        stride //= 2
    if t == 0:
        out[0] = tile[0]


def numbers(size: int) -> np.ndarray:
    return np.arange(size, dtype=np.float32)


@pytest.fixture
def tree():
    return record(halves)[1, 16](np.zeros(1, np.float32), numbers(16))


def test_a_step_names_each_thread_with_the_cells_that_it_adds(tree) -> None:
    filled, *steps = reduction_steps(tree, "tile")
    assert [(each.thread, each.cell, each.read) for each in filled] == [
        (t, t, ()) for t in range(16)
    ]
    assert [len(step) for step in steps] == [8, 4, 2, 1]
    for stride, step in zip((8, 4, 2, 1), steps, strict=True):
        assert [(each.thread, each.read) for each in step] == [
            (t, (t, t + stride)) for t in range(stride)
        ]


def test_a_warp_diverges_where_some_of_its_lanes_add() -> None:
    recording = record(neighbours)[1, 128](np.zeros(1, np.float32), numbers(128), 128)
    steps = warps_at_work(recording, "tile")
    assert [step.divergent for step in steps] == [(0, 1, 2, 3)] * 5 + [(0, 2), (0,)]
    assert [step.resting for step in steps] == [()] * 5 + [(1, 3), (1, 2, 3)]
    assert [len(step.working) for step in steps] == [64, 32, 16, 8, 4, 2, 1]


def test_the_tree_is_readable_and_says_what_it_shows(tree) -> None:
    figure = draw_tree(tree, "tile")
    assert_readable(figure)
    said = alt_text(figure)
    assert "Step 1: threads 0 to 7 add; thread 0 adds cells 0, 8 into cell 0." in said
    assert "Step 4: thread 0 adds;" in said
    assert "Step 2" not in alt_text(draw_tree(tree, "tile", 1))


def test_the_strips_are_readable_and_say_which_warps_diverge() -> None:
    recording = record(neighbours)[1, 128](np.zeros(1, np.float32), numbers(128), 128)
    figure = draw_activity(recording, "tile")
    assert_readable(figure)
    assert "Step 6: 2 threads at work, warps 0, 2 divergent." in alt_text(figure)


def test_what_is_too_large_to_draw_is_refused() -> None:
    recording = record(neighbours)[1, 128](np.zeros(1, np.float32), numbers(128), 128)
    with pytest.raises(CourseError, match="256 cells"):
        draw_tree(recording, "tile")
