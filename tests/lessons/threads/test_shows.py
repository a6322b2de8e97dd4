"""A launch as lesson 01 shows it: its threads, who wrote what, and how it goes step by step."""

from __future__ import annotations

import numpy as np
from numba import cuda

from gpu_course import simulate
from gpu_course.lessons.threads.shows import play_touches, show_launch_grid, show_ownership
from tests.gpu_course.draw import launches


def reverse(out, a):
    i = cuda.grid(1)
    out[a.size - 1 - i] = a[i]


def played(threads):
    out, a = np.zeros(threads, np.float32), np.arange(1, threads + 1, dtype=np.float32)
    return play_touches(simulate(reverse)[1, threads](out, a))


def test_a_small_launch_has_a_step_for_each_thread():
    panel = played(8)
    slider = panel.controls["step"]
    assert slider.max == 16
    assert "Before the first access." in repr(panel)
    slider.value = 3
    assert "thread 2 reads 3 from a[2]." in repr(panel)
    assert "a holds 1, 2, 3, 4, 5, 6, 7, 8." in repr(panel) and "out holds" not in repr(panel)
    slider.value = 11
    assert "thread 2 writes 3 to out[5]." in repr(panel)
    slider.value = 16
    assert "thread 7 writes 8 to out[0]." in repr(panel)
    assert "Thread i writes out[7 - i], for 8 threads." in repr(panel)
    assert "out holds 8, 7, 6, 5, 4, 3, 2, 1." in repr(panel)


def test_a_large_launch_has_a_step_for_each_access():
    panel = played(64)
    assert panel.controls["step"].max == 2
    panel.controls["step"].value = 1
    assert "64 threads read a." in repr(panel)


def test_a_miss_is_told():
    def beyond(out):
        out[cuda.threadIdx.x] = 1

    panel = play_touches(simulate(beyond)[1, 3](np.zeros(2, np.float32)))
    panel.controls["step"].value = panel.controls["step"].max
    assert "thread" in repr(panel)


def test_a_launch_is_drawn_as_it_runs():
    panel = play_touches(launches.ADD_TEN)
    assert "Before the first access." in panel.panel.value
    panel.controls["step"].value = 16
    assert "Line 3: thread 7 writes out[7]." in panel.panel.value
    assert "Thread i writes out[i]" in panel.panel.value


def test_owners_and_threads_are_said_in_text(capsys):
    show_ownership(launches.ADD_TEN, "out")
    show_ownership(launches.ADD_TEN, "nothing")
    show_launch_grid(2, 4, 7)
    shown = capsys.readouterr().out
    assert "Who wrote which cell of out" in shown
    assert "touched no array called 'nothing'" in shown
    assert "7 of 8 threads have a cell" in shown
