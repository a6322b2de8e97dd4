"""Where threads stand, in words: worked out by hand for small launches."""

from __future__ import annotations

import numpy as np
import pytest

from simt.machine.faults import Fault
from simt.observe.places import Places, runs
from simt.report import Dim3

ONE, LONG, TABLE = ((1, 1, 1), (12, 1, 1)), ((3, 1, 1), (40, 1, 1)), ((2, 2, 1), (4, 2, 1))


@pytest.mark.parametrize(
    ("shape", "number", "words"),
    [
        (ONE, 5, "block (0,0,0) thread 5"),
        (LONG, 85, "block (2,0,0) thread 5"),
        # Block 3 of the grid is (1,1,0); thread 6 of its 4 by 2 is (2,1,0).
        (TABLE, 30, "block (1,1,0) thread (2,1,0)"),
    ],
)
def test_one_thread(shape: tuple[Dim3, Dim3], number: int, words: str) -> None:
    assert Places(*shape).thread(number) == words


@pytest.mark.parametrize(
    ("shape", "threads", "words"),
    [
        (ONE, [], ""),
        (ONE, [7], "block (0,0,0), thread 7 of 12 (warp 0)"),
        (ONE, [8, 9, 10, 11], "block (0,0,0), threads 8..11 of 12 (warp 0)"),
        (LONG, [30, 31, 32], "block (0,0,0), threads 30..32 of 40 (warps 0, 1)"),
        # Each thread is told once, whatever it did wrong how often.
        (LONG, [41, 41, 43], "block (1,0,0), threads 1, 3 of 40 (warp 0)"),
        (LONG, [39, 40], "block (0,0,0), thread 39 of 40 (warp 1), and threads of 1 more block"),
        (LONG, [0, 40, 80], "block (0,0,0), thread 0 of 40 (warp 0), and threads of 2 more blocks"),
        (TABLE, [1, 6], "block (0,0,0), threads (1,0,0), (2,1,0) of 8 (warp 0)"),
        (
            TABLE,
            [8, 9, 10, 11, 12, 13],
            "block (1,0,0), threads (0,0,0), (1,0,0), (2,0,0), (3,0,0) and 2 more of 8 (warp 0)",
        ),
    ],
)
def test_the_threads_of_a_fault(shape: tuple[Dim3, Dim3], threads: list[int], words: str) -> None:
    fault = Fault("race", 3, np.array(threads, np.int64))
    assert Places(*shape).who(fault) == words


@pytest.mark.parametrize(
    ("numbers", "words"),
    [
        ([4], "4"),
        ([4, 5], "4, 5"),
        ([4, 5, 6], "4..6"),
        ([0, 2, 4, 6], "0, 2, 4, 6"),
        (range(0, 20, 2), "0, 2, 4 and others up to 18"),
        ([*range(9), 20, 30, 40, 50], "0..8, 20, 30 and others up to 50"),
    ],
)
def test_numbers_in_short(numbers: list[int], words: str) -> None:
    assert runs(numbers) == words
