"""Device functions that call themselves, beside the same functions in Python."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numba import cuda

from gpu_course import simulate
from simt.errors import KernelRefused
from simt.foreign.dispatcher import jit


@cuda.jit(device=True)
def fib(n):
    if n < 2:
        return n
    return fib(n - 1) + fib(n - 2)


@jit("int64(int64)", device=True)
def factorial(n):
    if n <= 1:
        return 1
    return n * factorial(n - 1)


@cuda.jit(device=True)
def power(x, n):
    if n == 0:
        return x * 0 + 1
    half = power(x, n // 2)
    if n % 2:
        return half * half * x
    return half * half


@cuda.jit(device=True)
def merge(a, low, count, up):
    if count > 1:
        k = count // 2
        for i in range(low, low + k):
            if (a[i] > a[i + k]) == up:
                a[i], a[i + k] = a[i + k], a[i]
        merge(a, low, k, up)
        merge(a, low + k, k, up)


@cuda.jit(device=True)
def bitonic_sort(a, low, count, up):
    if count > 1:
        k = count // 2
        bitonic_sort(a, low, k, 1)
        bitonic_sort(a, low + k, k, 0)
        merge(a, low, count, up)


def values(kernel: Any, count: int, dtype: Any) -> list[Any]:
    out = np.zeros(count, dtype)
    report = simulate(kernel)[1, 32](out)
    assert report.ok
    return out.tolist()


def test_each_thread_goes_as_deep_as_it_must() -> None:
    def numbers(out):
        i = cuda.threadIdx.x
        if i < out.size:
            out[i] = fib(i)

    assert values(numbers, 9, np.int64) == [0, 1, 1, 2, 3, 5, 8, 13, 21]


def test_a_signature_says_what_it_returns() -> None:
    def products(out):
        i = cuda.threadIdx.x
        if i < out.size:
            out[i] = factorial(i)

    assert values(products, 6, np.int64) == [1, 1, 2, 6, 24, 120]


def test_it_is_typed_for_each_kind_of_argument() -> None:
    def powers(out):
        i = cuda.threadIdx.x
        if i < out.size:
            out[i] = power(2.0, i) + power(np.float32(0.5), i) + power(3, i)

    assert values(powers, 10, np.float64) == [2.0**i + 0.5**i + 3**i for i in range(10)]


def test_it_returns_nothing_and_changes_memory() -> None:
    def sort(a):
        if cuda.threadIdx.x == 0:
            bitonic_sort(a, 0, a.size, 1)

    a = np.random.default_rng(1).integers(0, 100, 16)
    expected = np.sort(a)
    assert simulate(sort)[1, 32](a).ok
    np.testing.assert_array_equal(a, expected)


@cuda.jit(device=True)
def endless(n):
    if n < 0:
        return 0
    return endless(n + 1)


@cuda.jit(device=True)
def never(n):
    return never(n + 1)


@cuda.jit(device=True)
def with_array(n):
    own = cuda.local.array(2, np.int64)
    own[0] = n
    if n > 0:
        with_array(n - 1)
    return own[0]


@cuda.jit(device=True)
def ping(n):
    return pong(n - 1) if n > 0 else 0


@cuda.jit(device=True)
def pong(n):
    return ping(n - 1) if n > 0 else 1


REFUSED = {
    endless: "calls are 64 deep here, the simulator's limit",
    never: "never calls itself before anything says what it returns",
    with_array: "the simulator does not know with_array, which calls itself and makes arrays of "
    "its own, Numba does",
    ping: "the simulator does not know functions that call each other in a circle, as ping is "
    "here, Numba does",
}


@pytest.mark.parametrize("function", REFUSED, ids=lambda function: function.__name__)
def test_what_has_no_end_or_no_type_is_refused(function: Any) -> None:
    def kernel(out):
        out[0] = function(3)

    with pytest.raises(KernelRefused) as caught:
        simulate(kernel)[1, 1](np.zeros(1))
    assert caught.value.fact == REFUSED[function]
