"""`cuda.libdevice`'s conversions in a kernel, against `struct` and exact arithmetic."""

from __future__ import annotations

import math
import re
import struct
from fractions import Fraction

import numba.cuda.libdevice as numba_s
import numpy as np
import pytest
from numba.cuda import libdevicefuncs

from simt.foreign import cuda
from simt.foreign.launches import Launches
from simt.vocabulary.conversions import CONVERSIONS

FLOATS = {"float": np.float32, "double": np.float64}
WHOLES = {"int": np.int32, "uint": np.uint32, "ll": np.int64, "ull": np.uint64}
ROUNDED = re.compile(r"(float|double|u?int|u?ll)2(float|double|u?int|u?ll)_r([nzud])")
EDGES = sorted({s * (2**e + d) for e in (23, 24, 31, 32, 53, 62, 63) for d in (-1, 0, 1, 129)
                for s in (-1, 1)})  # fmt: skip


@pytest.fixture(autouse=True)
def launches(monkeypatch: pytest.MonkeyPatch) -> Launches:
    found = Launches()
    monkeypatch.setattr(cuda.GPU, "launcher", found.launch)
    return found


def computed(name: str, *columns: np.ndarray) -> np.ndarray:
    """What a kernel finds for each row, one thread each; its first row is also asked alone."""
    function, result = getattr(cuda.libdevice, name), CONVERSIONS[name][1]

    @cuda.jit
    def one(out, x):
        i = cuda.grid(1)
        out[i] = function(x[i])

    @cuda.jit
    def two(out, x, y):
        i = cuda.grid(1)
        out[i] = function(x[i], y[i])

    kernel = one if len(columns) == 1 else two
    out, alone = np.zeros(columns[0].size, result), np.zeros(1, result)
    kernel[1, out.size](out, *columns)
    kernel[1, 1](alone, *columns)
    assert alone.tobytes() == out[:1].tobytes()
    return out


def test_all_conversions_are_numba_s_with_its_types() -> None:
    for name, (given, result, _) in CONVERSIONS.items():
        assert hasattr(numba_s, name)
        returned, arguments = libdevicefuncs.functions[f"__nv_{name}"]
        assert [str(a.ty) for a in arguments] == [str(g) for g in given], name
        assert str(returned) == str(result), name
    theirs = {n.removeprefix("__nv_") for n in libdevicefuncs.functions}
    assert {n for n in theirs if ROUNDED.fullmatch(n) or "_as_" in n} <= set(CONVERSIONS)


def to_whole(x: float, way: str, given: type, to: type) -> int:
    bounds = np.iinfo(to)
    if math.isnan(x):
        small = given is np.float32 and np.dtype(to).itemsize == 4
        return 0 if small else int(bounds.min) or (int(bounds.max) + 1) // 2
    if math.isinf(x):
        return int(bounds.max if x > 0 else bounds.min)
    rounding = {"n": round, "z": math.trunc, "u": math.ceil, "d": math.floor}[way]
    return min(max(rounding(x), int(bounds.min)), int(bounds.max))


def to_float(x: int | float, way: str, to: type) -> float:
    """The number of its type that is nearest in this direction, found among its neighbours."""
    with np.errstate(over="ignore"):
        near = to(x)
    if not math.isfinite(x):
        return float(near)
    around = [np.nextafter(near, to(-np.inf)), near, np.nextafter(near, to(np.inf))]
    exact = Fraction(x)

    def value(each: float) -> Fraction:
        return Fraction(float(each)) if math.isfinite(each) else Fraction(10) ** 400 * int(
            math.copysign(1, each))  # fmt: skip

    if way == "n":
        return float(near)
    if way == "z":
        way = "d" if exact >= 0 else "u"
    if way == "d":
        return float(max((a for a in around if value(a) <= exact), key=value))
    return float(min((a for a in around if value(a) >= exact), key=value))


@pytest.mark.parametrize("name", sorted(n for n in CONVERSIONS if ROUNDED.fullmatch(n)))
def test_conversions_round_in_their_direction(name: str) -> None:
    match = ROUNDED.fullmatch(name)
    assert match is not None
    before, after, way = match.groups()
    draw = np.random.default_rng(7)
    if before in FLOATS:
        given = FLOATS[before]
        halves = [0.0, -0.0, 0.5, -0.5, 1.5, 2.5, -2.5, 1e-50, -1e-50, 0.7, -0.7, 1e300, -1e300]
        ends = [math.nan, math.inf, -math.inf, 3.4028235677973366e38, *map(float, EDGES)]
        drawn = draw.normal(0, 1, 100) * 2.0 ** draw.integers(-20, 70, 100)
        with np.errstate(over="ignore"):
            x = np.array([*halves, *ends, *drawn]).astype(given)
    else:
        type_ = WHOLES[before]
        bounds = np.iinfo(type_)
        fits = [e for e in (0, 1, *EDGES, bounds.max, bounds.min) if bounds.min <= e <= bounds.max]
        drawn = draw.integers(bounds.min, bounds.max, 100, type_).tolist()
        x = np.array(fits + drawn, type_)
    signed = x.view(f"i{x.itemsize}") if x.dtype.kind == "u" else x
    got = computed(name, signed)
    if after in WHOLES:
        to = WHOLES[after]
        wanted = [to_whole(each, way, given, to) for each in x.tolist()]
        assert got.view(to).tolist() == wanted
    else:
        answers = np.array([to_float(e, way, FLOATS[after]) for e in x.tolist()], FLOATS[after])
        assert np.array_equal(got, answers, equal_nan=True)


def test_bits_are_those_of_struct() -> None:
    floats = np.array([0.0, -0.0, 1.0, -2.5, math.inf, math.nan, 1e-45], np.float32)
    doubles = np.array([0.0, -0.0, 1.0, -2.5, -math.inf, math.nan, 5e-324, math.pi])
    ints = [struct.unpack("<i", struct.pack("<f", f))[0] for f in floats.tolist()]
    longs = [struct.unpack("<q", struct.pack("<d", d))[0] for d in doubles.tolist()]
    assert computed("float_as_int", floats).tolist() == ints
    assert computed("double_as_longlong", doubles).tolist() == longs
    assert computed("int_as_float", np.array(ints, np.int32)).tobytes() == floats.tobytes()
    assert computed("longlong_as_double", np.array(longs)).tobytes() == doubles.tobytes()
    low, high = np.array(
        [struct.unpack("<ii", struct.pack("<d", d)) for d in doubles.tolist()], np.int32
    ).T.copy()
    assert computed("double2hiint", doubles).tolist() == high.tolist()
    assert computed("double2loint", doubles).tolist() == low.tolist()
    assert computed("hiloint2double", high, low).tobytes() == doubles.tobytes()


def test_halves_go_there_and_back() -> None:
    x = np.array([1.0, -2.5, 65504, 1e6, 6e-8, 1 + 2.0**-11, math.nan], np.float32)
    with np.errstate(over="ignore"):
        raw = x.astype(np.float16).view(np.int16)
    assert computed("float2half_rn", x).tolist() == raw.tolist()
    back = raw.view(np.float16).astype(np.float32)
    assert np.array_equal(computed("half2float", raw), back, equal_nan=True)
