"""The simulator's arithmetic where it goes wrong first; and faults planted in it, each found."""

from __future__ import annotations

import functools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from simt.kernel import intrinsics, ir
from simt.kernel.types import INT64
from simt.machine import interpreter, values
from simt.vocabulary import atomics, bits, scalar_functions, warps
from tests.ptx.course import Values, copied
from tests.ptx.probes import PROBES, Probe, by_oracle, by_simulator, disagreements
from tests.sampling import EVERYTHING, draw_seed

pytestmark = pytest.mark.long(15)

BY_NAME = {probe.name: probe for probe in PROBES}
SEEDS = range(5) if EVERYTHING else (draw_seed() % 1000,)
SEED_OF_FAULTS = 1
"""Its numbers show every fault; those of another seed may not hold the one zero that would."""


@functools.cache
def right(name: str, seed: int, keep: Path) -> Values:
    """What the PTX of a probe leaves."""
    return by_oracle(BY_NAME[name], seed, "unfused", keep)


@pytest.mark.parametrize("probe", PROBES, ids=lambda probe: probe.name)
def test_arithmetic_is_that_of_its_ptx(probe: Probe, keep: Path) -> None:
    for seed in SEEDS:
        theirs = copied(right(probe.name, seed, keep))
        assert disagreements(probe, by_simulator(probe, seed), theirs) == []


Plant = Callable[[pytest.MonkeyPatch], None]
FAULTS: list[tuple[str, str, Plant]] = []
"""(what is wrong, the probe that shows it, how it is planted)."""


def fault(said: str, probe: str) -> Callable[[Plant], Plant]:
    def register(plant: Plant) -> Plant:
        FAULTS.append((said, probe, plant))
        return plant

    return register


def operator(said: str, probe: str, name: str, wrong: Callable[[Any, Any], Any]) -> None:
    """Plants another function for an operator, or for a comparison."""
    table = values.BINARY if name in values.BINARY else values.COMPARE

    def plant(patch: pytest.MonkeyPatch) -> None:
        was = table[name]

        def planted(a: Any, b: Any) -> Any:
            found = wrong(a, b)
            return was(a, b) if found is None else found

        patch.setitem(table, name, planted)

    fault(said, probe)(plant)


def body(said: str, probe: str, function: Any, wrong: Any) -> None:
    """Plants another body for a function, wherever that function has been put already."""
    fault(said, probe)(lambda patch: patch.setattr(function, "__code__", wrong.__code__))


def intrinsic(said: str, probe: str, name: str, make: Callable[[], Any]) -> None:
    """Plants another function under a name that kernels call."""
    fault(said, probe)(lambda patch: patch.setitem(intrinsics.FUNCTIONS, name, make()))


def kind(value: Any) -> str:
    return np.asarray(value).dtype.kind


# Floats

FLOATS = "of_floats float32 float32"
operator(
    "a quotient is cut off instead of rounded", FLOATS, "Div",
    lambda a, b: np.nextafter(a / b, a.dtype.type(0)),
)  # fmt: skip
operator(
    "a quotient is a product with the reciprocal", FLOATS, "Div",
    lambda a, b: a * (a.dtype.type(1) / b),
)  # fmt: skip
operator(
    "small numbers are flushed to zero", FLOATS, "Mult",
    lambda a, b: np.where(np.abs(a * b) < 1.2e-38, a.dtype.type(0), a * b)
    if a.dtype == np.float32 else None,
)  # fmt: skip
operator(
    "what is no number is equal to itself", FLOATS, "NotEq",
    lambda a, b: (a < b) | (a > b) if kind(a) == "f" else None,
)  # fmt: skip
operator(
    "a difference is taken the other way round", FLOATS, "Sub",
    lambda a, b: -(b - a) if kind(a) == "f" else None,
)  # fmt: skip


@fault("a product is fused with a sum", FLOATS)
def _(patch: pytest.MonkeyPatch) -> None:
    was = interpreter.Interpreter.binary

    def fused(self: Any, node: ir.Binary) -> Any:
        product = node.left
        if node.operator == "Add" and isinstance(product, ir.Binary) and product.operator == "Mult":
            a, b, c = (self.value(each) for each in (product.left, product.right, node.right))
            if a.dtype == b.dtype == c.dtype == np.float32:
                return bits.fused(a, b, c)
        return was(self, node)

    patch.setattr(interpreter.Interpreter, "binary", fused)
    patch.setitem(interpreter._EXPRESSIONS, ir.Binary, fused)


def _not_fused(a, b, c):  # type: ignore[no-untyped-def]
    return a * b + c


def _of_nan(a, b):  # type: ignore[no-untyped-def]
    return np.minimum(a, b)


def _any_zero(a, b):  # type: ignore[no-untyped-def]
    return _select(b > a, b, a)  # type: ignore[name-defined] # noqa: F821


def _no_sign(a, b):  # type: ignore[no-untyped-def]
    return np.where(b < 0, -np.abs(a), np.abs(a))


body("cuda.fma rounds twice", FLOATS, bits.fused, _not_fused)
body("min of NaN and a number is NaN", FLOATS, scalar_functions._least, _of_nan)
body("max keeps the zero it finds first, and NaN", FLOATS, scalar_functions._greatest, _any_zero)
body("copysign does not see the sign of zero", FLOATS, scalar_functions._sign_copy, _no_sign)
intrinsic(
    "floor cuts off", FLOATS, "math.floor",
    lambda: intrinsics.FUNCTIONS["math.trunc"],
)  # fmt: skip


# Whole numbers

WHOLE = "of_whole int64 int64"
operator(
    "a sum stays at the largest number", WHOLE, "Add",
    lambda a, b: np.where((b > 0) & (a + b < a), np.iinfo(np.int64).max, a + b)
    if a.dtype == INT64 else None,
)  # fmt: skip
operator(
    "a product goes through float64", WHOLE, "Mult",
    lambda a, b: values.cut((a.astype(float) * b.astype(float)), INT64)
    if kind(a) == "i" else None,
)  # fmt: skip
operator(
    "a quotient is cut off towards zero", WHOLE, "FloorDiv",
    lambda a, b: np.sign(a) * np.sign(b) * (np.abs(a) // np.abs(b)) if kind(a) == "i" else None,
)  # fmt: skip
operator(
    "a remainder has the sign of the dividend", WHOLE, "Mod",
    lambda a, b: np.fmod(a, b) if kind(a) == "i" else None,
)  # fmt: skip
operator(
    "unsigned numbers are compared as signed ones", "of_whole uint64 uint64", "Lt",
    lambda a, b: np.asarray(a).view("i8") < np.asarray(b).view("i8")
    if a.dtype == np.uint64 and b.dtype == np.uint64 else None,
)  # fmt: skip
operator(
    "a shift is taken modulo 32", "shifted int64", "LShift",
    lambda a, b: np.left_shift(a, b & 31),
)  # fmt: skip
operator(
    "a shift to the right brings in zeros", "shifted int64", "RShift",
    lambda a, b: np.right_shift(np.asarray(a).view("u8"), np.asarray(b).view("u8")).view("i8")
    if kind(a) == "i" else None,
)  # fmt: skip


def _narrow(name, left, right, result):  # type: ignore[no-untyped-def]
    return cast(BINARY[name](left, right), result)  # type: ignore[name-defined] # noqa: F821


def _zeros_below(value):  # type: ignore[no-untyped-def]
    raw = _unsigned(value)  # type: ignore[name-defined] # noqa: F821
    return np.bitwise_count(raw).astype(np.int64)


def _held_at_the_end(value, dtype):  # type: ignore[no-untyped-def]
    return value.astype(dtype)


def _rounded(value, dtype):  # type: ignore[no-untyped-def]
    return held(np.rint(value), value.dtype, np.dtype("i8")).astype(dtype)  # type: ignore[name-defined] # noqa: F821


body("bytes are added as bytes", "of_whole uint8 uint8", values.binary, _narrow)
body("clz counts the bits that are set", "shifted int32", bits._leading_zeros, _zeros_below)
intrinsic(
    "the size of the smallest number is the largest", WHOLE, "builtin.abs",
    lambda: scalar_functions._one(
        scalar_functions._abs_type,
        lambda a: np.where(a == np.iinfo(np.int64).min, np.iinfo(np.int64).max, np.abs(a))
        if kind(a) == "i" else np.abs(a),
    ),
)  # fmt: skip
body("what does not fit is whatever C gives", "converted float32", values.cut, _held_at_the_end)
body("a float is rounded to the nearest", "converted float64", values.cut, _rounded)


def _towards_zero(value, dtype):  # type: ignore[no-untyped-def]
    if not isinstance(dtype, np.dtype) or value.dtype == dtype:
        return value
    found = value.astype(dtype)
    if dtype != np.float32 or value.dtype.kind != "i":
        return value != 0 if dtype.kind == "b" else found
    far = np.abs(found.astype(float)) > np.abs(value.astype(float))
    return np.where(far, np.nextafter(found, np.float32(0)), found)


body("a whole number is cut off to float32", "converted int64", values.cast, _towards_zero)


# Warps and atomics

WARPS = "passed_on float32 int32"
intrinsic(
    "shfl_down comes round to the first lane", WARPS, "cuda.shfl_down_sync",
    lambda: warps._shuffle(lambda own, delta: (own + delta) % 32),
)  # fmt: skip
intrinsic(
    "shfl reads its own lane beyond the last", WARPS, "cuda.shfl_sync",
    lambda: warps._shuffle(lambda own, lane: lane),
)  # fmt: skip
intrinsic(
    "eq_sync forgets that all may be false", WARPS, "cuda.eq_sync",
    lambda: warps._vote(np.dtype(bool), lambda true, part: (true | ~part).all(axis=1)),
)  # fmt: skip


def _turned(true, part):  # type: ignore[no-untyped-def]
    found = (true[:, ::-1] * _BITS).sum(axis=1, dtype=np.uint64)  # type: ignore[name-defined] # noqa: F821
    return found.astype(np.uint32).view(np.int32)


def _one_late(old, limit):  # type: ignore[no-untyped-def]
    return np.where(old > limit, 0, old + 1)


def _always(old, expected, new):  # type: ignore[no-untyped-def]
    return np.where(old == old, new, old)


def _the_new(flat, cells, values, starts):  # type: ignore[no-untyped-def]
    before = np.cumsum(values)
    first = np.maximum.accumulate(np.where(starts, np.arange(cells.size), 0))
    return np.asarray(flat[cells] + (before - (before - values)[first]))


COUNTED = "counted int32"
body("a ballot is turned round", WARPS, warps._ballot, _turned)
body("atomic.inc begins again one too late", COUNTED, atomics._increment, _one_late)
body("atomic.cas always swaps", COUNTED, atomics._compare_and_swap, _always)
body("atomic.add gives the new value", COUNTED, atomics._running_sum, _the_new)


@pytest.mark.parametrize(("said", "name", "plant"), FAULTS, ids=[said for said, *_ in FAULTS])
def test_a_planted_fault_is_found(
    said: str, name: str, plant: Plant, keep: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    theirs = copied(right(name, SEED_OF_FAULTS, keep))
    with monkeypatch.context() as patch:
        plant(patch)
        ours = by_simulator(BY_NAME[name], SEED_OF_FAULTS, note=said)
    assert disagreements(BY_NAME[name], ours, theirs), f"nobody noticed that {said}"


def test_twenty_faults_are_planted() -> None:
    assert len(FAULTS) >= 20
    assert len({said for said, *_ in FAULTS}) == len(FAULTS)
