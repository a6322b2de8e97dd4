"""One name for several arrays: which of them it means is known at run time alone."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from numba import cuda

from simt.compiled import jit
from simt.simulator import simulate
from tests.simt.compiled.both_ways import NOT_COMPILED, SAME, Seen, both_ways

pytestmark = pytest.mark.skipif(not jit.available(), reason="no LLVM to compile with")


def by_number(out, a, b, n):
    i = cuda.grid(1)
    if n > 2:  # noqa: SIM108 - two statements
        x = a
    else:
        x = b
    out[i] = x[i]


def turn_by_turn(out, a, b, n):
    i = cuda.grid(1)
    x, y = a, b
    for _ in range(n):
        y[i] = x[i] + 1
        x, y = y, x
    out[i] = x[i]


def after_its_name(out, a, b, n):
    i = cuda.grid(1)
    for k in range(n):
        if k > 0:
            out[i] = x[i]  # noqa: F821
        x = a  # noqa: F841


def in_some_lanes(out, a, b, n):
    i = cuda.grid(1)
    if i < n:
        x = a
    out[i] = x[i]


def one_for_good(out, a, b, n):
    i = cuda.grid(1)
    x = a
    for k in range(n):
        y = x
        out[i] = y[i] + k


def _seen(kernel: Callable[..., None]) -> Seen:
    with both_ways(Seen()) as seen:
        a = np.arange(64.0)
        simulate(kernel)[1, 64](np.zeros(64), a, -a, 3)
    return seen


@pytest.mark.parametrize(
    "kernel", [by_number, turn_by_turn, after_its_name, in_some_lanes], ids=lambda k: k.__name__
)
def test_a_name_that_may_mean_another_array_stays_interpreted(
    kernel: Callable[..., None],
) -> None:
    seen = _seen(kernel)
    assert not seen.wrong
    assert seen.counts[NOT_COMPILED] == 1


def test_another_name_for_an_array_is_that_array() -> None:
    assert _seen(one_for_good).counts[SAME] == 1
