"""Scalar arithmetic, value by value and type by type, against Numba's own compiler.

Numba decides a type by finding the signature it will compile, converts the operands to that
signature, and compiles the operator for it. So for each operator and each pair of types this asks
Numba's CUDA target for the signature, which needs no GPU. Then `numba.njit` compiles the operator
once per signature, with the CUDA target's error model (`error_model="numpy"`: dividing by zero
raises nothing), and computes the edge values.

`not_compared` lists what is left out, each with its reason.
"""

from __future__ import annotations

import functools
import itertools
import math
import operator
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numba
import numpy as np
import pytest
from numba.core import types as numba_types
from numba.cuda.descriptor import cuda_target

from simt.kernel import inference, legality, source
from simt.kernel.types import ArrayType
from simt.simulator import simulate

pytestmark = pytest.mark.long(14)

DTYPES = "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float32 float64".split()
ARITHMETIC = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv,
    "//": operator.floordiv, "%": operator.mod, "**": operator.pow, "&": operator.and_,
    "|": operator.or_, "^": operator.xor, "<<": operator.lshift, ">>": operator.rshift,
}  # fmt: skip
COMPARISONS = {
    "<": operator.lt, "<=": operator.le, "==": operator.eq, "!=": operator.ne,
    ">": operator.gt, ">=": operator.ge,
}  # fmt: skip
OF_TWO = {
    **{f"a {sign} b": function for sign, function in {**ARITHMETIC, **COMPARISONS}.items()},
    **{f"{f.__name__}(a, b)": f for f in (min, max)},
    **{f"math.{f.__name__}(a, b)": f for f in (math.pow, math.atan2, math.hypot, math.fmod)},
    "math.copysign(a, b)": math.copysign,
}
OF_ONE = {
    "-a": operator.neg, "+a": operator.pos, "~a": operator.invert, "not a": operator.not_,
    **{f"{f.__name__}(a)": f for f in (abs, int, float, bool, round)},
    **{
        f"math.{name}(a)": getattr(math, name)
        for name in (
            "sqrt exp expm1 log log2 log10 log1p sin cos tan asin acos atan sinh cosh tanh asinh "
            "acosh atanh fabs degrees radians floor ceil trunc isnan isinf isfinite"
        ).split()
    },
}  # fmt: skip
FUNCTIONS = {**OF_ONE, **OF_TWO}
# What njit computes in their place: its floor gives whole numbers where the CUDA target's gives
# floats, it has no fmod, and its hypot of uint64 overflows.
IN_NUMPY = {f"math.{name}(a)": f"np.{name}(a)" for name in ("floor", "ceil", "trunc")}
IN_NUMPY |= {f"math.{name}(a, b)": f"np.{name}(a, b)" for name in ("fmod", "hypot")}
WHOLE = ("int(a)", "round(a)")


def edges(dtype: str) -> np.ndarray:
    """The values at which arithmetic goes wrong first."""
    kind = np.dtype(dtype).kind
    if kind == "b":
        return np.array([False, True])
    if kind == "f":
        most = np.finfo(dtype).max
        return np.array(
            [0.0, -0.0, 1.0, -1.0, 7.0, 0.5, -2.5, 3.5, 1e-6, most, -most, np.inf, -np.inf, np.nan],
            dtype,
        )
    info = np.iinfo(dtype)
    signed = [-1, -7, info.min, info.min + 1] if kind == "i" else []
    return np.array([0, 1, 2, 3, 7, 63, info.max, info.max - 1, *signed], dtype)


# What Numba does


def _numba_type(dtype: str) -> Any:
    return numba_types.boolean if dtype == "bool" else getattr(numba_types, dtype)


def _dtype(numba_type: Any) -> np.dtype[Any]:
    return np.dtype("bool" if numba_type == numba_types.boolean else str(numba_type))


@functools.cache
def signature(text: str, dtypes: tuple[str, ...]) -> tuple[tuple[str, ...], str] | None:
    """The types Numba computes `text` in and the type it gives; None where it refuses."""
    try:
        found = _typing().resolve_function_type(
            FUNCTIONS[text], tuple(map(_numba_type, dtypes)), {}
        )
    except numba.core.errors.TypingError:
        return None
    if found is None:
        return None
    given = found.args
    if text.startswith(("min", "max")):
        # Numba takes the arguments of min and max as one tuple, and widens each to the result.
        given = (found.return_type,) * 2
    return tuple(_dtype(t).name for t in given), _dtype(found.return_type).name


@functools.cache
def _typing() -> Any:
    context = cuda_target.typing_context
    context.refresh()
    return context


@functools.cache
def _compiled(dtypes: tuple[str, ...]) -> tuple[list[str], Callable[..., None]]:
    """The expressions that Numba computes in just these types, and all of them compiled as one."""
    table = OF_ONE if len(dtypes) == 1 else OF_TWO
    texts = [t for t in table if (signature(t, dtypes) or [None])[0] == dtypes]
    names = ["a", "b"][: len(dtypes)]
    reads = "; ".join(f"{n} = {n}_[i]" for n in names)
    lines = "".join(
        f"        if not left_out[{k}, i]:\n            o{k}[i] = {IN_NUMPY.get(text, text)}\n"
        for k, text in enumerate(texts)
    )
    outs = ", ".join(f"o{k}" for k in range(len(texts)))
    code = (
        f"def loop({', '.join(f'{n}_' for n in names)}, left_out, {outs}):\n"
        f"    for i in range(a_.size):\n        {reads}\n{lines}"
    )
    scope: dict[str, Any] = {"math": math, "np": np}
    exec(code, scope)
    return texts, numba.njit(error_model="numpy")(scope["loop"])


def by_numba(texts: list[str], *arguments: np.ndarray) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """What Numba computes, with the dtype it infers, and where that is not compared."""
    names = tuple(a.dtype.name for a in arguments)
    computed_in = {text: found[0] for text in texts if (found := signature(text, names))}
    results = {}
    for types in set(computed_in.values()):
        with np.errstate(all="ignore"):
            given = [a.astype(t) for a, t in zip(arguments, types, strict=True)]
        native, loop = _compiled(types)
        # Not computed either, since it may trap or raise on the host.
        left_out = np.array([not_compared(text, given) for text in native])
        outs = [np.zeros(len(given[0]), gives) for gives in _results(native, types)]
        loop(*given, left_out, *outs)
        for text, out, skipped in zip(native, outs, left_out, strict=True):
            if computed_in.get(text) == types:
                results[text] = out, skipped
    assert set(results) == set(texts)
    return results


def _results(texts: list[str], dtypes: tuple[str, ...]) -> list[str]:
    return [found[1] for text in texts if (found := signature(text, dtypes))]


# What has no value to agree on


def _whole(*arguments: np.ndarray) -> bool:
    return all(a.dtype.kind in "iub" for a in arguments)


def not_compared(text: str, given: list[np.ndarray]) -> np.ndarray:
    """Where results are not compared, each with its reason; a and b have the signature's types."""
    a, b = given[0], given[-1]
    if text in ("a << b", "a >> b"):
        # LLVM leaves shifts by a negative number, or by 64 and more, without a value.
        return (b.astype(np.float64) < 0) | (b > 63)
    if text in ("a // b", "a % b") and _whole(a, b):
        # The smallest int64 by -1 does not fit: a trap on x86, any value on a GPU.
        return (a == np.iinfo(np.int64).min) & (b.astype(np.int64) == -1)
    if text in ("a ** b", "math.pow(a, b)") and _whole(b):
        # One over zero: njit raises, and a kernel has nobody to raise to. Powers beyond 65,536
        # Numba takes in floats, which may not fit back.
        power = b.astype(np.float64)
        with np.errstate(all="ignore"):
            vanishes = np.power(np.abs(a.astype(np.float64)), -power).astype(a.dtype) == 0
        return (b < 0) & vanishes | (np.abs(power) > 65_536)
    if text in ("a ** b", "math.pow(a, b)"):
        # NumPy takes the power 0.5 as a square root, which is nan at minus infinity.
        return (a == -np.inf) & (b == 0.5)
    if text in ("min(a, b)", "max(a, b)") and a.dtype.kind == b.dtype.kind == "f":
        # Numba's target for CPUs compares; its target for GPUs has an instruction of its own, which
        # tests/simt/test_min_and_max.py holds against the compiled code.
        return np.isnan(a) | np.isnan(b) | ((a == 0) & (b == 0))
    if text in WHOLE and a.dtype.kind == "f":
        # C gives no value to a float that no int64 can hold.
        return ~(np.abs(a) < 2.0**63)
    return np.zeros(a.shape, bool)


# What the simulator does


def _accepted(texts: dict[str, Any], dtypes: tuple[str, ...]) -> list[str]:
    return [text for text in texts if signature(text, dtypes) is not None]


def by_simulator(
    folder: Path, texts: list[str], *arguments: np.ndarray, per_thread: bool
) -> dict[str, np.ndarray]:
    """What the simulator computes in one launch, with the dtypes it infers.

    Args:
        folder: where the kernel's file goes.
        texts: the expressions.
        arguments: the values of a, and of b.
        per_thread: one value per thread, so that lanes differ; else one thread for all.
    """
    names = ["a", "b"][: len(arguments)]
    reads = "".join(f"        {n} = {n}_[i]\n" for n in names)
    lines = "".join(
        f"        x{k} = {text}\n        o{k}[i] = x{k}\n" for k, text in enumerate(texts)
    )
    outs = ", ".join(f"o{k}" for k in range(len(texts)))
    loop = "for i in range(cuda.grid(1), a_.size, cuda.gridsize(1))"
    path = folder / "kernel.py"
    path.write_text(
        "import math\nfrom numba import cuda\n\n@cuda.jit\n"
        f"def kernel({', '.join(f'{n}_' for n in names)}, {outs}):\n    {loop}:\n{reads}{lines}"
    )
    kernel = source.load(path).kernel("kernel")
    given = [ArrayType(a.dtype, 1) for a in arguments]
    spare = [ArrayType(np.dtype("float64"), 1)] * len(texts)
    found = inference.infer(legality.draft(kernel), [*given, *spare]).types
    results = {text: np.zeros(arguments[0].size, found[f"x{k}"]) for k, text in enumerate(texts)}
    threads = 32 if per_thread else 1
    report = simulate(kernel)[1, threads](*arguments, *results.values())
    assert report.ok, report
    return results


def _same(got: np.ndarray, wanted: np.ndarray, exact: bool) -> np.ndarray:
    if got.dtype.kind != "f":
        return np.asarray(got == wanted)
    signs = np.signbit(got) == np.signbit(wanted)
    alike = (got == wanted) & signs | np.isnan(got) & np.isnan(wanted)
    if exact:
        return np.asarray(alike)
    # libm, NumPy and a GPU's libdevice round transcendental functions each in its own way.
    ulps = 8 * np.finfo(got.dtype).eps
    with np.errstate(all="ignore"):
        return np.asarray(alike | (np.abs(got - wanted) <= ulps * np.abs(wanted)))


def differences(
    folder: Path, texts: list[str], *arguments: np.ndarray, per_thread: bool
) -> Iterator[str]:
    """One line per expression whose type or values are not Numba's."""
    ours = by_simulator(folder, texts, *arguments, per_thread=per_thread)
    names = ", ".join(a.dtype.name for a in arguments)
    theirs = by_numba(texts, *arguments)
    for text, got in ours.items():
        wanted, left_out = theirs[text]
        assert not left_out.all()
        if got.dtype != wanted.dtype:
            yield f"{text} of ({names}) is {got.dtype}, and Numba says {wanted.dtype}"
            continue
        exact = "math" not in text and "**" not in text
        bad = ~_same(got, wanted, exact) & ~left_out
        if bad.any():
            at = int(np.flatnonzero(bad)[0])
            values = ", ".join(repr(a[at]) for a in arguments)
            yield (
                f"{text} of ({values}) is {got[at]!r}, and Numba computes {wanted[at]!r} "
                f"({np.count_nonzero(bad)} values differ)"
            )


@pytest.mark.series(1 / 8)
@pytest.mark.parametrize("per_thread", [True, False], ids=["lanes differ", "lanes agree"])
@pytest.mark.parametrize("one", DTYPES)
def test_two_operands(one: str, per_thread: bool, tmp_path: Path) -> None:
    found: list[str] = []
    for other in DTYPES:
        pairs = np.array(list(itertools.product(range(len(edges(one))), range(len(edges(other))))))
        if not per_thread:
            pairs = pairs[::5]  # one after the other takes longer; these still meet every value
        a, b = edges(one)[pairs[:, 0]], edges(other)[pairs[:, 1]]
        texts = _accepted(OF_TWO, (one, other))
        assert len(texts) > 12
        found += differences(tmp_path, texts, a, b, per_thread=per_thread)
    assert not found, "\n".join(found)


@pytest.mark.parametrize("per_thread", [True, False], ids=["lanes differ", "lanes agree"])
def test_one_operand(per_thread: bool, tmp_path: Path) -> None:
    found: list[str] = []
    for dtype in DTYPES:
        texts = _accepted(OF_ONE, (dtype,))
        assert len(texts) > 30
        found += differences(tmp_path, texts, edges(dtype), per_thread=per_thread)
    assert not found, "\n".join(found)
