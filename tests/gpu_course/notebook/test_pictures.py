"""Pictures of one request or one block: the right one is shown, or a word on what is amiss."""

from __future__ import annotations

import numpy as np
import pytest
from numba import cuda, float32

from gpu_course import simulate
from gpu_course.notebook import show_banks, show_intervals
from simt.stepping import record


def column_after_row(out):
    tile = cuda.shared.array((32, 32), float32)
    t = cuda.threadIdx.x
    if t < 32:
        for row in range(32):
            tile[row, t] = row
    cuda.syncthreads()
    if t >= 32:
        out[t] = tile[t - 32, 5]


@pytest.fixture
def out() -> np.ndarray:
    return np.zeros(64, np.float32)


def test_the_first_request_of_a_kind_by_a_warp_is_shown(
    out: np.ndarray, capsys: pytest.CaptureFixture[str]
) -> None:
    report = simulate(column_after_row)[1, 64](out)
    show_banks(report, "tile", "write")
    assert "32 lanes ask banks 0 to 31: 1 pass, no conflict." in capsys.readouterr().out
    show_banks(report, "tile", "read", warp=1)
    assert "32 lanes ask bank 5: 32 passes, 31 conflicts." in capsys.readouterr().out


@pytest.mark.parametrize(("array", "kind", "warp"), [("tile", "read", 0), ("tiel", "read", 1)])
def test_a_request_that_never_was_is_told(
    array: str, kind: str, warp: int, out: np.ndarray, capsys: pytest.CaptureFixture[str]
) -> None:
    show_banks(simulate(column_after_row)[1, 64](out), array, kind, warp)
    said = capsys.readouterr().out
    assert f"warp {warp} never did a {kind} of an array {array}" in said
    assert "the launch touched tile, out" in said


def test_intervals_of_a_block_are_shown_or_what_is_amiss(
    out: np.ndarray, capsys: pytest.CaptureFixture[str]
) -> None:
    def signed(out):
        tile = cuda.shared.array(4, float32)
        t = cuda.threadIdx.x
        tile[t] = cuda.blockIdx.x
        cuda.syncthreads()
        out[cuda.grid(1)] = tile[3 - t]

    recording = record(signed)[2, 4](out)
    show_intervals(recording, "tile", block=1)
    assert "tile in block 1, 2 barrier intervals, no race" in capsys.readouterr().out
    show_intervals(recording, "floor")
    assert "touches no array floor" in capsys.readouterr().out
