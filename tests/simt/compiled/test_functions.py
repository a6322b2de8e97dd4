"""Functions and operations that a library works out: to the last bit what the interpreter gets."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numba import cuda, float32, int32

from simt.compiled import jit, library
from simt.simulator import simulate
from tests.simt.compiled.both_ways import NOT_COMPILED, SAME, SUSPECT, Seen, both_ways

pytestmark = pytest.mark.skipif(not jit.available(), reason="no LLVM to compile with")

ODD = [0.0, -0.0, 1.0, -1.0, 2.0, 0.5, 3.0, -2.5, np.inf, -np.inf, np.nan, 1e-310, 1e300, 7.25]


def _numbers(dtype: type) -> tuple[np.ndarray, np.ndarray]:
    """Pairs of numbers, odd ones with odd ones among them."""
    rng = np.random.default_rng(3)
    drawn = rng.standard_normal(400) * 10.0 ** rng.integers(-3, 4, 400)
    drawn[200:] *= 10.0 ** rng.integers(-140, 140, 200)
    left = np.concatenate([np.repeat(ODD, len(ODD)), drawn])
    right = np.concatenate([np.tile(ODD, len(ODD)), drawn[::-1]])
    with np.errstate(over="ignore", under="ignore"):
        return left.astype(dtype), right.astype(dtype)


def _seen(kernel: Callable[..., None], *arguments: Any, threads: int = 64, **how: Any) -> Seen:
    blocks = -(-arguments[1].size // threads)
    with both_ways(Seen()) as seen:
        simulate(kernel, **how)[blocks, threads](*arguments)
    assert not seen.wrong
    return seen


def of_one(out, a, b):
    i = cuda.grid(1)
    if i < a.size:
        x = a[i]
        out[i, 0] = math.erf(x) + math.erfc(x)
        out[i, 1] = math.asin(x) + math.acos(x) + math.atan(x)
        out[i, 2] = math.sinh(x) + math.cosh(x)
        out[i, 3] = math.asinh(x) + math.acosh(x) + math.atanh(x)


def of_two(out, a, b):
    i = cuda.grid(1)
    if i < a.size:
        out[i, 0] = math.atan2(a[i], b[i])
        out[i, 1] = math.hypot(a[i], b[i])
        out[i, 2] = math.fmod(a[i], b[i])


def raised(out, a, b):
    i = cuda.grid(1)
    if i < a.size:
        x = a[i]
        out[i, 0] = x**2
        out[i, 1] = float32(x**0.5) + float32(x**-1)
        out[i, 2] = x**3
        out[i, 3] = math.pow(x, 2.0)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("kernel", [of_one, of_two, raised], ids=lambda k: k.__name__)
def test_results_and_counts_are_the_interpreters(
    kernel: Callable[..., None], dtype: type[np.floating[Any]]
) -> None:
    a, b = _numbers(dtype)
    assert _seen(kernel, np.zeros((a.size, 4), dtype), a, b).counts[SAME] == 1


def divided(out, a, b):
    i = cuda.grid(1)
    if i < a.size:
        out[i, 0] = a[i] // b[i]
        out[i, 1] = a[i] % b[i]
        out[i, 2] = a[i] % float32(3) if i % 2 else a[i] // float32(-3)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_floats_are_divided_as_python_divides(dtype: type[np.floating[Any]]) -> None:
    a, b = _numbers(dtype)
    assert _seen(divided, np.zeros((a.size, 4), dtype), a, b).counts[SAME] == 1


def raised_to_each(out, a, b):
    i = cuda.grid(1)
    if i < a.size:
        out[i, 0] = a[i] ** b[i]


def test_powers_hang_on_whether_the_exponent_is_one_for_all() -> None:
    a, b = _numbers(np.float64)
    out = np.zeros((a.size, 1))
    taken = ~np.isin(b, library.SHORT_CUTS)
    kept = a[taken].copy(), b[taken].copy()
    assert _seen(raised_to_each, out[taken].copy(), *kept).counts[SAME] == 1
    # NumPy squares with a loop of its own where there is one exponent: which, only the lanes say.
    assert _seen(raised_to_each, out, a, b).counts[SUSPECT] == 1


def as_lanes_agree(out, a, b):
    i = cuda.grid(1)
    if i < a.size:
        out[i, 0] = 4.0 * (a[i] > 0) / b.size
        out[i, 1] = b[0] * 0.5 + a[i]


def test_widths_that_lanes_decide_are_counted_by_the_interpreter_alone() -> None:
    a, b = _numbers(np.float64)
    given = np.zeros((a.size, 2), np.float32), a, b
    assert _seen(as_lanes_agree, *given).counts[NOT_COMPILED] == 1
    assert _seen(as_lanes_agree, *given, counters=False).counts[SAME] == 1


def whole_powers(out, a, b):
    i = cuda.grid(1)
    if i < a.size:
        out[i, 0] = a[i] ** 3 + a[i] ** b[i]
        out[i, 1] = a[i] ** 2 if a[i] > 0 else a[i]


def test_whole_numbers_are_raised_to_what_is_not_negative() -> None:
    a = np.arange(-40, 40)
    b = np.arange(80) % 7
    assert _seen(whole_powers, np.zeros((80, 2), np.int64), a, b).counts[SAME] == 1
    assert _seen(whole_powers, np.zeros((80, 2), np.int64), a, -b).counts[SUSPECT] == 1


def cast_by_numpy(out, a, b):
    i = cuda.grid(1)
    if i < a.size:
        out[i, 0] = np.int32(a[i]) + np.uint8(b[i]) + int32(np.float32(a[i]))


def part_by_number(out, a, b):
    i = cuda.grid(1)
    if i < a.size:
        parts = (a[i], b[i], 3.5)
        out[i, 0] = parts[int(a[i])]


def test_numbers_of_numpys_types_and_parts_of_tuples() -> None:
    a, b = np.arange(64.0) % 300, np.arange(64.0)[::-1] * 9
    out = np.zeros((64, 1))
    assert _seen(cast_by_numpy, out, a, b).counts[SAME] == 1
    with both_ways(Seen()) as seen:
        simulate(over_steps)[2, 32](out, a, b)
        simulate(part_by_number)[2, 32](out, a % 3 - (a % 2) * 3 * (a % 3 > 0), b)
        report = simulate(part_by_number)[2, 32](out, a % 7 - 3, b)
    assert seen.counts[SAME] == 2, seen
    assert not seen.wrong
    assert [h.kind for h in report.hazards] == ["out-of-bounds"]


def over_steps(out, a, b):
    i = cuda.grid(1)
    total = a[i]
    for step in (16, 8, 4, 1):
        total += cuda.shfl_xor_sync(0xFFFFFFFF, total, step)
    for weight in (0.25, b[0], a[i]):
        total *= weight
    out[i, 0] = total


def test_what_no_library_has_stays_interpreted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(library.ctypes, "CDLL", _without_any)
    library.loop.cache_clear()
    library._of_c.cache_clear()
    a, b = _numbers(np.float64)
    try:
        assert _seen(_of_c_alone, np.zeros((a.size, 1)), a, b).counts[NOT_COMPILED] == 1
    finally:
        library.loop.cache_clear()
        library._of_c.cache_clear()


def _without_any(name: object) -> object:
    raise OSError(name)


def _of_c_alone(out, a, b):
    i = cuda.grid(1)
    if i < a.size:
        out[i, 0] = math.erfc(a[i])


@cuda.jit(device=True)
def polar(x, y):
    if x < 0:
        return -math.sqrt(x * x + y * y), 1
    return math.sqrt(x * x + y * y), 0


def of_pairs(out, a, b):
    i = cuda.grid(1)
    if i < a.size:
        radius, side = polar(a[i], b[i])
        far, _ = polar(2.0, radius)
        out[i, 0] = far + side + polar(radius, b[0])[0]


def from_pairs(out, a, b):
    i = cuda.grid(1)
    if i < a.size:
        out[i, 0] = total((a[i], b[0]), 3.0)


@cuda.jit(device=True)
def total(pair, scale):
    first, second = pair
    return first * scale + second


def test_functions_take_and_give_tuples() -> None:
    a, b = np.linspace(-3, 3, 80), np.linspace(5, -2, 80)
    assert _seen(from_pairs, np.zeros((80, 1)), a, b).counts[SAME] == 1
    assert _seen(of_pairs, np.zeros((80, 1)), a, b).counts[SAME] == 1
