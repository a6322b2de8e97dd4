"""The sectors of a request: the right one is shown, or a word on what is amiss."""

from __future__ import annotations

import numpy as np
import pytest
from numba import cuda

from gpu_course import simulate
from gpu_course.lessons.coalescing.shows import show_sectors, show_sides


def turned(out, a):
    x, y = cuda.grid(2)
    out[x, y] = a[y, x]


def test_the_sectors_of_a_request_are_shown_or_what_is_amiss(
    capsys: pytest.CaptureFixture[str],
) -> None:
    a = np.zeros((32, 32), np.float32)
    report = simulate(turned)[1, (32, 32)](np.zeros_like(a), a)
    show_sectors(report, "a")
    assert "read of a: 32 lanes of a warp touch 4 sectors" in capsys.readouterr().out
    show_sectors(report, "out", "write", warp=3)
    assert "write of out: 32 lanes of a warp touch 32 sectors" in capsys.readouterr().out
    show_sectors(report, "out")
    assert "warp 0 never did a read of an array out" in capsys.readouterr().out


def test_both_sides_of_a_transposition_are_shown_or_what_is_amiss(
    capsys: pytest.CaptureFixture[str],
) -> None:
    a = np.zeros((16, 32), np.float32)
    report = simulate(turned)[1, (32, 16)](np.zeros((32, 16), np.float32), a)
    show_sides(report, (16, 32), warp=1)
    assert "4 sectors of the matrix, the store 32 sectors" in capsys.readouterr().out
    show_sides(report, (16, 30))
    assert "a matrix of shape (16, 30) cannot be drawn" in capsys.readouterr().out
