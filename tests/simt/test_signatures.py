"""Signatures given to `cuda.jit`: what they convert at launches and at calls."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import numba
import numpy as np
import pytest
from numba.core import types as numba_types
from numba.cuda.descriptor import cuda_target

from gpu_course.errors import CourseError
from simt.errors import KernelRefused
from simt.foreign import cuda
from simt.kernel import types as rules
from simt.kernel.types import ANYTHING, ArrayType, best, show, signatures
from simt.simulator import simulate

NUMBERS = (
    "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 float32 float64 complex64 "
    "complex128"
).split()
F32, F64, I32, I64 = map(np.dtype, ("float32", "float64", "int32", "int64"))


def _numba_type(name: str) -> Any:
    return numba_types.boolean if name == "bool" else getattr(numba_types, name)


def test_numbers_convert_as_numbas_do() -> None:
    context = cuda_target.typing_context
    context.refresh()
    names = {"exact": 0, "promote": 1, "safe": 2, "unsafe": 3}
    for given, wanted in itertools.product(NUMBERS, NUMBERS):
        theirs = context.can_convert(_numba_type(given), _numba_type(wanted))
        ours = rules.conversion(np.dtype(given), np.dtype(wanted))
        expected = None if theirs is None else names[theirs.name]
        assert ours == expected, f"{given} -> {wanted}: {ours}, and Numba says {theirs}"


@pytest.mark.parametrize(
    "declared",
    [
        ["int32(int32)", "float32(float32)"],
        ["float32(float32)", "int32(int32)"],
        ["int64(int64)", "float64(float64)", "float32(float32)"],
        ["int8(int8)", "uint64(uint64)", "complex128(complex128)"],
    ],
)
def test_of_several_signatures_the_one_numba_picks_is_taken(declared: list[str]) -> None:
    context = cuda_target.typing_context
    context.refresh()
    cases = [numba.core.sigutils.normalize_signature(text) for text in declared]
    cases = [returned(*arguments) for arguments, returned in cases]
    for name in NUMBERS:
        theirs = context.resolve_overload("f", cases, (_numba_type(name),), {})
        ours = best(signatures(declared), [np.dtype(name)])
        assert (theirs is None) == (ours is None)
        if ours is not None:
            assert show(ours.result) == str(theirs.return_type)


def test_every_spelling_of_a_signature() -> None:
    wanted = (ArrayType(F32, 2), I32, np.dtype("bool"), np.dtype("uint16"))
    for text in (
        "void(float32[:, ::1], int32, boolean, types.uint16)",
        "(float32[:, :], i4, b1, uint16)",
    ):
        (found,) = signatures(text)
        assert found.parameters == wanted
    (found,) = signatures(numba.void(numba.float32[:, :], numba.int32))
    assert (found.parameters, found.result) == (wanted[:2], None)
    (found,) = signatures((numba.float64,))
    assert (found.parameters, found.result is ANYTHING) == ((F64,), True)
    assert [str(s) for s in signatures(["int32(int32)", "f8(f8)"])] == ["(int32)", "(float64)"]


def test_a_type_the_simulator_cannot_read_takes_anything() -> None:
    (declared,) = signatures("void(SomeRecord[:], int32)")
    assert declared.parameters[0] is ANYTHING
    assert declared.converted([ArrayType(F64, 3), F64]) == (ArrayType(F64, 3), I32)


# In an answer file

HEAD = "import numpy as np\nfrom numba import cuda, float32, float64, int32, int64, void\n\n"


def _launch(folder: Path, text: str, *arguments: Any, threads: int = 40) -> Any:
    path = folder / "kernel.py"
    path.write_text(HEAD + text)
    return simulate(f"{path}:kernel")[1, threads](*arguments)


DEVICE = """
@cuda.jit({signature}, device=True)
def f(x):
    return x * 2.5


@cuda.jit
def kernel(out, a):
    i = cuda.grid(1)
    if i % 3:
        out[i] = f(a[i])
"""


@pytest.mark.parametrize(
    ("signature", "parameter", "result"),
    [
        ('"float32(float32)"', F32, F32), ("float32(float32)", F32, F32),
        ('"float64(float32)"', F32, F64), ('"int32(float64)"', F64, I32),
        ("float32(int32)", I32, F32), ('["float32(float32)"]', F32, F32),
        ('"(float32,)"', F32, F64), ("(int64,)", I64, F64),
    ],
)  # fmt: skip
@pytest.mark.parametrize("given", ["float64", "float32", "int64", "int8"])
def test_a_device_function_converts(
    signature: str, parameter: Any, result: Any, given: str, tmp_path: Path
) -> None:
    a = (np.random.default_rng(3).normal(size=40) * 9).astype(given)
    out = np.zeros(40)
    report = _launch(tmp_path, DEVICE.format(signature=signature), out, a)
    assert report.ok, report
    lanes = np.arange(40) % 3 > 0
    expected = (a.astype(parameter) * np.float64(2.5)).astype(result).astype(np.float64)
    np.testing.assert_array_equal(out[lanes], expected[lanes])
    assert not out[~lanes].any()
    assert report.counters.float64_operations == lanes.sum()


def test_float32_arguments_keep_float64_away(tmp_path: Path) -> None:
    text = """
@cuda.jit("float32(float32, float32)", device=True)
def f(x, y):
    return x + y


@cuda.jit
def kernel(out, a):
    i = cuda.grid(1)
    out[i] = f(a[i], 0.1) * f(1, 2)
"""
    a, out = np.linspace(0, 1, 40).astype(np.float32), np.zeros(40, np.float32)
    counters = _launch(tmp_path, text, out, a).counters
    assert (counters.float32_operations, counters.float64_operations) == (120, 0)
    np.testing.assert_array_equal(out, (a + np.float32(0.1)) * np.float32(3))
    counters = _launch(tmp_path, text.replace('"float32(float32, float32)", ', ""), out, a).counters
    assert counters.float64_operations == 80  # a[i] + 0.1, and so the product


def test_a_parameter_that_is_assigned_again_starts_as_declared(tmp_path: Path) -> None:
    text = """
@cuda.jit("float64(float32)", device=True)
def f(x):
    for k in range(2):
        x = x * 1.1
    return x


@cuda.jit
def kernel(out, a):
    i = cuda.grid(1)
    out[i] = f(a[i])
"""
    a, out = np.linspace(0, 1, 40), np.zeros(40)
    assert _launch(tmp_path, text, out, a).ok
    expected = a.astype(np.float32).astype(np.float64) * 1.1 * 1.1
    np.testing.assert_array_equal(out, expected)


@pytest.mark.parametrize(
    ("signature", "call", "fact"),
    [
        ('"float32(float32)"', "f(a)", "no signature of f takes (float64[:])"),
        ('"float32(float32)"', "f(2j)", "no signature of f takes (complex128)"),
        ('["float32(float32)", "int32(int32)"]', "f((1, 2))", "no signature of f takes"),
        ('"void(float32)"', "f(1)", "f returns float64, and its signature void"),
        ('"float32[:](float32)"', "f(1)", "f returns float64, and its signature float32[:]"),
        ('"float32(float32, float32)"', "f(1)", "no signature of f takes (int64)"),
    ],
)
def test_what_cannot_be_converted_is_refused(
    signature: str, call: str, fact: str, tmp_path: Path
) -> None:
    text = DEVICE.format(signature=signature).replace("f(a[i])", call)
    with pytest.raises(KernelRefused) as caught:
        _launch(tmp_path, text, np.zeros(40), np.zeros(40))
    assert fact in caught.value.fact


def test_a_kernel_converts_numbers_and_refuses_other_arrays(tmp_path: Path) -> None:
    text = """
@cuda.jit(["void(float64[:], float32)", "void(int64[:], int8)"])
def kernel(out, x):
    out[cuda.grid(1)] = x
"""
    out = np.zeros(4)
    assert _launch(tmp_path, text, out, 0.1, threads=4).ok
    assert out[0] == np.float32(0.1)
    whole = np.zeros(4, np.int64)
    assert _launch(tmp_path, text, whole, 300, threads=4).ok
    assert whole[0] == 44
    with pytest.raises(
        CourseError, match=r"no signature of kernel takes \(float32\[:\], float64\)"
    ):
        _launch(tmp_path, text, out.astype(np.float32), 0.1)
    with pytest.raises(CourseError, match=r"takes \(float64\[:, :\], float64\)"):
        _launch(tmp_path, text, out.reshape(2, 2), 0.1)


def test_the_signatures_of_a_live_dispatcher_count() -> None:
    @cuda.jit("float32(float32)", device=True)
    def third(x):  # type: ignore[no-untyped-def]
        return x / 3

    @cuda.jit("void(float64[:], float32)")
    def kernel(out, x):  # type: ignore[no-untyped-def]
        out[cuda.grid(1)] = third(x)

    out = np.zeros(1)
    assert simulate(kernel)[1, 1](out, 0.1).ok
    assert out[0] == np.float32(np.float32(0.1) / np.float64(3))
