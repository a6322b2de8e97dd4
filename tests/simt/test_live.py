"""A live function is read once, and anew whenever what it reads of the host has changed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numba import cuda

from gpu_course import simulate
from simt.kernel import legality
from simt.kernel.source import from_function

SCALE: Any = 2
TABLE: Any = np.array([1.0, 2.0])
PAIR: Any = (1, 2)


@cuda.jit(device=True)
def scaled(x):
    return x * SCALE


@cuda.jit
def reads_a_global(out):
    out[cuda.threadIdx.x] = SCALE


@cuda.jit
def calls_a_device_function(out):
    out[cuda.threadIdx.x] = scaled(10.0)


@cuda.jit
def reads_an_array(out):
    out[cuda.threadIdx.x] = TABLE[cuda.threadIdx.x]


@cuda.jit
def reads_a_tuple(out):
    out[cuda.threadIdx.x] = PAIR[1]


def first(ready: Any) -> float:
    out = np.zeros(2)
    assert ready[1, 2](out).ok
    return float(out[0])


def test_a_function_whose_values_stay_is_one_kernel_and_one_program() -> None:
    kernel = from_function(calls_a_device_function)
    program = legality.check(kernel)
    assert from_function(calls_a_device_function) is kernel
    assert legality.check(from_function(calls_a_device_function)) is program


@pytest.mark.parametrize("kernel", [reads_a_global, calls_a_device_function])
def test_a_launch_takes_globals_as_they_are(kernel: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    kept = simulate(kernel)
    before = first(kept)
    monkeypatch.setitem(globals(), "SCALE", 3)
    assert first(kept) == first(simulate(kernel)) == before / 2 * 3
    monkeypatch.setitem(globals(), "SCALE", 2)
    assert first(kept) == before


def test_a_type_that_changes_counts_as_a_change(monkeypatch: pytest.MonkeyPatch) -> None:
    integer = from_function(reads_a_global)
    legality.check(integer)
    for other in (2.0, np.int32(2), np.float32(2), True):
        monkeypatch.setitem(globals(), "SCALE", other)
        assert from_function(reads_a_global) is not integer


@pytest.mark.parametrize(("one", "other"), [(0.0, -0.0), (complex(0, 0.0), complex(0, -0.0))])
def test_signs_of_zero_are_two_constants(
    one: complex, other: complex, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(globals(), "SCALE", one)
    kernel = from_function(reads_a_global)
    legality.check(kernel)
    monkeypatch.setitem(globals(), "SCALE", other)
    assert from_function(reads_a_global) is not kernel


def test_nan_and_numbers_beyond_any_text_stay_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    for value, again in ((float("nan"), float("nan")), (10**5000, 10**5000)):
        monkeypatch.setitem(globals(), "SCALE", value)
        kernel = from_function(reads_a_global)
        kernel.scope("SCALE")
        monkeypatch.setitem(globals(), "SCALE", again)
        assert from_function(reads_a_global) is kernel


def test_an_array_written_in_place_is_another_constant(monkeypatch: pytest.MonkeyPatch) -> None:
    table = np.array([5.0, 6.0])
    monkeypatch.setitem(globals(), "TABLE", table)
    kept = simulate(reads_an_array)
    assert first(kept) == 5
    table[0] = 7
    assert first(kept) == 7


def test_a_tuple_is_compared_part_by_part(monkeypatch: pytest.MonkeyPatch) -> None:
    kept = simulate(reads_a_tuple)
    assert first(kept) == 2
    monkeypatch.setitem(globals(), "PAIR", (1, 4))
    assert first(kept) == 4


def test_a_device_function_put_in_the_place_of_another(monkeypatch: pytest.MonkeyPatch) -> None:
    kept = simulate(calls_a_device_function)
    assert first(kept) == 20

    @cuda.jit(device=True)
    def halved(x):
        return x / 2

    monkeypatch.setitem(globals(), "scaled", halved)
    assert first(kept) == 5


def maker(number: Any) -> Callable[..., None]:
    def kernel(out):
        out[cuda.threadIdx.x] = number

    return kernel


def test_functions_of_one_code_have_closures_of_their_own() -> None:
    kernels = [maker(number) for number in range(20)]
    assert [first(simulate(kernel)) for kernel in kernels] == list(range(20))
    assert [first(simulate(kernel)) for kernel in reversed(kernels)] == list(range(19, -1, -1))


def test_a_closure_that_is_assigned_again() -> None:
    number = 1

    def kernel(out):
        out[cuda.threadIdx.x] = number

    kept = simulate(kernel)
    assert first(kept) == 1
    number = 8
    assert first(kept) == 8


def test_a_name_defined_only_later(monkeypatch: pytest.MonkeyPatch) -> None:
    def kernel(out):
        out[cuda.threadIdx.x] = abs(-3)

    kept = simulate(kernel)
    assert first(kept) == 3

    @cuda.jit(device=True)
    def mine(x):
        return x * 100

    monkeypatch.setitem(globals(), "abs", mine)
    assert first(kept) == -300


def test_functions_that_call_each_other_are_told_as_before() -> None:
    @cuda.jit(device=True)
    def again(x):
        return again(x - 1)

    @cuda.jit
    def kernel(out):
        out[0] = again(3.0)

    for _ in range(2):
        with pytest.raises(Exception, match=r"again"):
            simulate(kernel)[1, 1](np.zeros(1))
