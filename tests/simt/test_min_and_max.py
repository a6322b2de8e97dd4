"""min and max of floats, as PTX has them: its rules written out, and the compiled code looked at.

Two floats take one instruction, which passes over a NaN and puts -0.0 below 0.0. Any other call is
comparisons and selects, as in Python. Source: PTX ISA 8.5, min and max; numba-cuda 0.30.4,
cudaimpl.py.
"""

from __future__ import annotations

import math
import re
import warnings
from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
import pytest
from numba import cuda

from gpu_course.hardware.compiled.toolchain import has_compiler
from simt.simulator import simulate

NUMBERS = (math.nan, -math.inf, -1.5, -0.0, 0.0, 2.0, math.inf)
PAIRS = list(product(NUMBERS, NUMBERS))


def two(low: Any, high: Any, a: Any, b: Any) -> None:
    i = cuda.grid(1)
    low[i] = min(a[i], b[i])
    high[i] = max(a[i], b[i])


def three(low: Any, high: Any, a: Any, b: Any) -> None:
    i = cuda.grid(1)
    low[i] = min(a[i], b[i], b[i])
    high[i] = max(a[i], b[i], b[i])


def by_instruction(a: float, b: float, larger: bool) -> float:
    if math.isnan(a):
        return b
    if math.isnan(b):
        return a
    ranked = sorted((a, b), key=lambda x: (x, math.copysign(1, x)))
    return ranked[-1 if larger else 0]


def by_comparison(a: float, b: float, larger: bool) -> float:
    return (max if larger else min)(a, b)


def simulated(kernel: Any, a: np.ndarray, b: np.ndarray, result: Any) -> list[np.ndarray]:
    low, high = np.zeros(len(a), result), np.zeros(len(a), result)
    simulate(kernel)[1, len(a)](low, high, a, b)
    return [low, high]


def expected(rule: Callable[[float, float, bool], float], result: Any) -> list[np.ndarray]:
    return [np.array([rule(a, b, larger) for a, b in PAIRS], result) for larger in (False, True)]


def same_bits(found: list[np.ndarray], right: list[np.ndarray]) -> bool:
    pairs = zip(found, right, strict=True)
    return all(
        np.array_equal(f, r, equal_nan=True) and np.array_equal(np.signbit(f), np.signbit(r))
        for f, r in pairs
    )


@pytest.mark.parametrize(
    ("first", "second"),
    list(product((np.float32, np.float64), repeat=2)),
)
def test_two_floats_take_one_instruction(first: Any, second: Any) -> None:
    a = np.array([x for x, _ in PAIRS], first)
    b = np.array([x for _, x in PAIRS], second)
    result = np.result_type(first, second)
    assert same_bits(simulated(two, a, b, result), expected(by_instruction, result))


def test_three_floats_are_compared() -> None:
    a, b = (np.array(each, np.float32) for each in zip(*PAIRS, strict=True))
    assert same_bits(simulated(three, a, b, np.float32), expected(by_comparison, np.float32))


def test_a_float_and_a_whole_number_are_compared() -> None:
    a = np.array(NUMBERS, np.float32)
    zeros = np.zeros(len(a), np.int32)
    low, high = simulated(two, a, zeros, np.float64)
    assert np.isnan(low[0]) and np.isnan(high[0])
    low, high = simulated(two, zeros, a, np.float64)
    assert (low[0], high[0]) == (0, 0)


@pytest.mark.skipif(not has_compiler(), reason="needs the extra compile")
@pytest.mark.parametrize(
    ("kernel", "types", "instructions"),
    [
        (two, "ff", ["max.f32", "min.f32"]),
        (two, "fd", ["max.f64", "min.f64"]),
        (two, "df", ["max.f64", "min.f64"]),
        (two, "dd", ["max.f64", "min.f64"]),
        (two, "fi", []),
        (two, "if", []),
        (three, "ff", []),
    ],
)
def test_the_compiler_takes_what_is_simulated(
    kernel: Any, types: str, instructions: list[str]
) -> None:
    from numba import types as known

    of = {"f": known.float32[::1], "d": known.float64[::1], "i": known.int32[::1]}
    out = known.float64[::1] if types != "ff" else known.float32[::1]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ptx, _ = cuda.compile_ptx(kernel, (out, out, of[types[0]], of[types[1]]), cc=(8, 0))
    assert sorted(set(re.findall(r"\b(?:min|max)\.f(?:32|64)", ptx))) == instructions
