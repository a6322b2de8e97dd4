"""NumPy's functions of single numbers: those that Numba compiles into a kernel, and no others.

Each is computed in the types of one of its loops, which NumPy lists in `ufunc.types`; Numba takes
the first loop that the arguments fit.

Source: numba-cuda 0.30, "numba/cuda/ufuncs.py" (which functions there are) and
"numba/cuda/np/numpy_support.py" (ufunc_find_matching_loop).
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

import numpy as np

from simt.kernel.ir import Call
from simt.kernel.types import FLOAT16, ArrayType, NoSuchType, NotSimulated, Type
from simt.machine.machine import Machine
from simt.machine.values import Value, rounded_once
from simt.vocabulary.functions import Function, cast, numbers

NAMES = (
    "sin cos tan sinh cosh tanh arcsin arccos arctan arcsinh arccosh arctanh arctan2 hypot "
    "deg2rad radians rad2deg degrees log log2 log10 divide true_divide conjugate conj isnan "
    "maximum minimum fmax fmin greater greater_equal less less_equal equal not_equal "
    "logical_and logical_or logical_xor logical_not bitwise_and bitwise_or bitwise_xor "
    "bitwise_not invert left_shift right_shift"
).split()

_LETTERS = frozenset("?bBhHiIlLqQfdFD")  # no half precision, and nothing wider than 64 bits
# NumPy's own float32 loops of these differ with the processor in the last bit.
_ROUNDED = frozenset(NAMES[: NAMES.index("hypot") + 1]) | {"log", "log2", "log10"}
_NO_COMPLEX = frozenset(("arctan2", "hypot", "deg2rad", "radians", "rad2deg", "degrees"))

Loop = tuple[list[np.dtype[np.generic]], np.dtype[np.generic]]


def _loop(ufunc: np.ufunc, given: Sequence[np.dtype[np.generic]]) -> Loop | None:
    """The types of the arguments and of the result in the loop that Numba takes."""
    mixed = any(a.kind in "iu" for a in given) and any(a.kind in "fc" for a in given)
    for text in ufunc.types:
        before, _, after = text.partition("->")
        if not set(before + after) <= _LETTERS:
            continue
        wanted = [np.dtype(letter) for letter in before]
        if all(_fits(a, b, mixed=mixed) for a, b in zip(given, wanted, strict=True)):
            return wanted, np.dtype(after)
    return None


def _fits(a: np.dtype[np.generic], b: np.dtype[np.generic], *, mixed: bool) -> bool:
    # Beside a float, an integer may go into any float: np.hypot(int64, float32) is a float32.
    loose = mixed and a.kind in "iu" and b.kind in "fc"
    return np.can_cast(a, b, "same_kind" if loose else "safe")


def _function(name: str) -> Function:
    ufunc: np.ufunc = getattr(np, name)
    compute = rounded_once(ufunc) if name in _ROUNDED else ufunc

    def chosen(given: Sequence[np.dtype[np.generic]]) -> Loop:
        found = _loop(ufunc, given)
        complex_ = any(a.kind == "c" for a in given) and name in _NO_COMPLEX
        if found is None or complex_ or FLOAT16 in given:
            raise NoSuchType(f"takes no ({', '.join(map(str, given))})")
        return found

    def type_(arguments: Sequence[Type], nodes: Sequence[ast.expr]) -> Type:
        if len(arguments) == ufunc.nin + 1 and isinstance(arguments[-1], ArrayType):
            *given, out = (ast.unparse(node) for node in nodes)
            call = f"np.{name}({', '.join(given)})"
            hint = f"store its result, cell by cell: {out}[i] = {call}"
            raise NotSimulated(f"np.{name} with an array for its results", hint)
        return chosen(numbers(arguments, ufunc.nin, ufunc.nin))[1]

    def run(machine: Machine, call: Call, arguments: Sequence[Value], result: Type) -> Value:
        wanted, _ = chosen([a.dtype for a in arguments])
        parts = [cast(a, type_) for a, type_ in zip(arguments, wanted, strict=True)]
        return cast(compute(*parts), result)

    return Function(type_, run)


FUNCTIONS: dict[str, Function] = {f"numpy.{name}": _function(name) for name in NAMES}
