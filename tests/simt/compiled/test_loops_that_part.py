"""Loops that lanes leave at different turns, compiled: afterwards all are there again."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from numba import cuda, int64

from simt.compiled.run import run
from simt.kernel.lower import lower
from simt.machine import launch, memory
from simt.simulator import STEP_BUDGET, simulate

BLOCKS = 3


def in_strides(out, a, n):
    s = cuda.shared.array(64, int64)
    t = cuda.threadIdx.x
    for k in range(n):
        for j in range(t, 64, cuda.blockDim.x):
            s[j] = a[j] + k
        cuda.syncthreads()
        out[cuda.grid(1)] += s[63 - t]
        cuda.syncthreads()


def with_break(out, a, n):
    t = cuda.threadIdx.x
    for _ in range(n):
        for j in range(10):
            if j == t % 7:
                break
            out[cuda.grid(1)] += a[j]
        out[cuda.grid(1)] += 1


def with_continue(out, a, n):
    t = cuda.threadIdx.x
    for _ in range(n):
        for j in range(t % 5 + 1):
            if j == t % 3:
                continue
            out[cuda.grid(1)] += a[j]
        out[cuda.grid(1)] += 1


def with_else(out, a, n):
    t = cuda.threadIdx.x
    for k in range(n):
        for j in range(t % 5 + 1):
            if j == t % 4:
                break
        else:
            out[cuda.grid(1)] += a[k]
        out[cuda.grid(1)] += 1


def with_return(out, a, n):
    t = cuda.threadIdx.x
    for _ in range(n):
        for j in range(t % 5 + 1):
            if j == 3:
                return
            out[cuda.grid(1)] += a[j]
    out[cuda.grid(1)] += 1


def in_a_branch(out, a, n):
    t = cuda.threadIdx.x
    if t % 3:
        for j in range(t % n):
            out[cuda.grid(1)] += a[j]
        out[cuda.grid(1)] += 7
    out[cuda.grid(1)] += 1


@pytest.mark.parametrize("threads", [64, 33, 5])
@pytest.mark.parametrize(
    "kernel", [in_strides, with_break, with_continue, with_else, with_return, in_a_branch]
)
def test_they_do_what_the_interpreter_does(kernel: Callable[..., None], threads: int) -> None:
    a, out = np.arange(64), np.zeros(BLOCKS * threads, np.int64)
    compiled = out.copy()
    report = simulate(kernel)[BLOCKS, threads](out, a, 3)
    assert report.ok
    program = simulate(kernel).program
    values = launch.bind_arguments(program, (compiled, a, 3))
    arrays = memory.bind({name: v for name, v in values.items() if isinstance(v, np.ndarray)})
    given = {name: launch.bound(name, value, arrays) for name, value in values.items()}
    code = lower(program.written, tuple(map(launch.type_of, values.values())))
    shape = (BLOCKS, 1, 1), (threads, 1, 1)
    assert run(code, *shape, given, np.arange(BLOCKS), STEP_BUDGET) == report.by_line
    assert compiled.tobytes() == out.tobytes()
