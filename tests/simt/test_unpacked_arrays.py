"""x, y, z = a of a whole array, names that a kernel shares with what is around it, and lambdas."""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numba import cuda

from gpu_course import simulate
from simt.errors import KernelRefused
from simt.foreign.dispatcher import jit

OFFSET = 3


def test_the_cells_of_an_array_get_names() -> None:
    def kernel(out, a):
        i = cuda.threadIdx.x
        x, y, z = a[i]
        out[i] = x + 10 * y + 100 * z

    a, out = np.arange(12.0).reshape(4, 3), np.zeros(4)
    report = simulate(kernel)[1, 4](out, a)
    assert report.ok
    assert out.tolist() == (a @ [1, 10, 100]).tolist()
    assert report.counters.global_load.requests == 3


def test_the_rows_of_an_array_get_names_too() -> None:
    def kernel(out, a):
        x, y = a
        out[0] = x[0] - y[1]
        for p, q in a:
            out[0] += p * q

    out = np.zeros(1)
    assert simulate(kernel)[1, 1](out, np.array([[1.0, 2], [3, 5]])).ok
    assert out[0] == 1 - 5 + 2 + 15


def test_too_many_cells_are_told() -> None:
    def kernel(out, a):
        x, y = a
        out[0] = x + y

    with pytest.raises(KernelRefused) as caught:
        simulate(kernel)[1, 1](np.zeros(1), np.zeros(3))
    assert caught.value.fact == ("a holds 3 values along its first axis, and 2 names take them")


def test_global_and_nonlocal_say_nothing_of_what_is_only_read() -> None:
    inner = 5

    def kernel(out):
        global OFFSET
        nonlocal inner
        out[0] = OFFSET + inner

    out = np.zeros(1)
    assert simulate(kernel)[1, 1](out).ok
    assert out[0] == 8


def test_a_global_that_is_assigned_is_refused() -> None:
    def kernel(out):
        global OFFSET
        OFFSET = 4
        out[0] = OFFSET

    with pytest.raises(KernelRefused, match="global OFFSET, which is assigned here"):
        simulate(kernel)[1, 1](np.zeros(1))


square, cube = jit(lambda x: x * x, device=True), jit(lambda x: x * x * x, device=True)


def test_a_lambda_is_a_device_function() -> None:
    def kernel(out):
        out[0] = square(3) + cube(2)

    out: Any = np.zeros(1)
    assert simulate(kernel, policy="foreign")[1, 1](out).ok
    assert out[0] == 17


LEFT = """def made():
    def kernel(out):
        out[0] = 1
# further left than the function itself
        out[9] = 2
    return kernel
"""


def test_a_comment_may_stand_left_of_the_function(tmp_path: Path) -> None:
    path = tmp_path / "left.py"
    path.write_text(LEFT)
    kernel = runpy.run_path(str(path))["made"]()
    (hazard,) = simulate(kernel)[1, 1](np.zeros(2)).hazards
    assert hazard.details["code"].strip() == "out[9] = 2"
