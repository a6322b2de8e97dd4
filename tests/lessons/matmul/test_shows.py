"""What lesson 06 shows: a line for each access to a tile, the ladder, and the teeth of waves."""

from __future__ import annotations

import numpy as np
import pytest
from numba import cuda, float32

from gpu_course import simulate
from gpu_course.draw.paper.picture import alt_text
from gpu_course.lessons.matmul.ladder import Rung
from gpu_course.lessons.matmul.shows import passes_by_line, reuse_picture, saw_tooth, show_ladder


@cuda.jit
def every_other(out):
    tile = cuda.shared.array(64, float32)
    t = cuda.threadIdx.x
    tile[2 * t] = t
    cuda.syncthreads()
    out[t] = tile[2 * t]


def test_each_line_is_told_with_its_passes_and_the_fewest() -> None:
    report = simulate(every_other)[1, 32](np.zeros(32, np.float32))
    head, store, load = passes_by_line(report, every_other).splitlines()
    assert head.split() == ["requests", "passes", "least", "line"]
    assert store.split(maxsplit=3) == ["1", "2", "1", "tile[2 * t] = t"]
    assert load.split(maxsplit=3) == ["1", "2", "1", "out[t] = tile[2 * t]"]


def test_a_plain_function_will_do() -> None:
    kernel = every_other.py_func
    report = simulate(kernel)[1, 32](np.zeros(32, np.float32))
    assert passes_by_line(report, kernel) == passes_by_line(report, every_other)


def test_a_rung_that_nobody_measured_is_left_out(capsys: pytest.CaptureFixture[str]) -> None:
    rungs = [Rung("one", 2.0, 0.0), Rung("other", 0.5, 1.0)]
    show_ladder(rungs, {"one": 100.0}, "us")
    shown = capsys.readouterr().out
    assert "one: 2 from global memory, 0 from shared, 100 GFLOP/s" in shown
    assert "other" not in shown


def test_the_picture_of_reuse_says_how_many_loads() -> None:
    assert "2,048 loads for 4,096 products" in alt_text(reuse_picture(4))
    assert "without tiles" in alt_text(reuse_picture(1))


def test_the_first_tooth_falls_where_a_wave_is_full() -> None:
    said = alt_text(saw_tooth(1536, 2304, "256 x 128", 108))
    assert "At 1,536 columns it is 100%, in 1 wave." in said
    assert "between 1,536 and 1,568 columns" in said
    assert "in 2 waves" in alt_text(saw_tooth(1568, 2304, "256 x 128", 108))


def test_a_width_between_two_steps_is_drawn_at_the_lower_one() -> None:
    assert "At 64 columns" in alt_text(saw_tooth(95, 2304, "64 x 64", 40))
    assert "At 32 columns" in alt_text(saw_tooth(1, 2304, "64 x 64", 40))
