"""NumPy's own loops, called from compiled code so that every last bit is the same; and C's."""

from __future__ import annotations

import ctypes
import functools
import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from simt.kernel.types import FLOAT32, FLOAT64

Dtype = np.dtype[Any]


class _Ufunc(ctypes.Structure):
    """The first fields of PyUFuncObject (NumPy, "C API: Python types and C-structures")."""

    _fields_ = (
        ("refcount", ctypes.c_ssize_t),
        ("type", ctypes.c_void_p),
        ("nin", ctypes.c_int),
        ("nout", ctypes.c_int),
        ("nargs", ctypes.c_int),
        ("identity", ctypes.c_int),
        ("functions", ctypes.POINTER(ctypes.c_void_p)),
        ("data", ctypes.POINTER(ctypes.c_void_p)),
        ("ntypes", ctypes.c_int),
    )


@dataclass(frozen=True)
class Function:
    """A function of numbers that a library works out.

    Attributes:
        name: what NumPy calls it; or `math`, where NumPy has none.
        narrow: whether NumPy works it out in float32 for float32: where each processor rounds
            alike.
        count: of its arguments.
        of_c: whether it is C's.
    """

    name: str
    narrow: bool = False
    count: int = 1
    of_c: bool = False

    def key(self, dtype: Dtype) -> str:
        """Returns what tells it apart from others, and itself in another type."""
        return f"{self.name} {dtype.char * self.count}->{dtype.char}"


FUNCTIONS: dict[str, Function] = {
    **{
        f"math.{name}": Function(name)
        for name in "exp exp2 expm1 log log2 log10 log1p sin cos tan sinh cosh tanh".split()
    },
    **{f"math.a{name}": Function(f"arc{name}") for name in "sin cos tan sinh cosh tanh".split()},
    **{f"math.{name}": Function(name, of_c=True) for name in ("erf", "erfc")},
    "math.pow": Function("power", count=2),
    "math.atan2": Function("arctan2", count=2),
    "math.hypot": Function("hypot", count=2),
    "math.fmod": Function("fmod", narrow=True, count=2),
    "Pow": Function("power", count=2),
    "FloorDiv": Function("floor_divide", narrow=True, count=2),
    "Mod": Function("remainder", narrow=True, count=2),
}
"""By the words of the vocabulary, and the names of operators in `ast`."""
SHORT_CUTS = (-1.0, 0.0, 0.5, 1.0, 2.0)
"""Exponents for which NumPy has a loop of its own where there is one exponent for all numbers."""


@functools.cache
def loop(key: str) -> tuple[int, int]:
    """Returns the addresses of a function's loop, and of what that is handed.

    Args:
        key: `Function.key` of it.

    Raises:
        LookupError: there is no such loop, or it does not give what the interpreter gets.
    """
    name, kind = key.split()
    if not hasattr(np, name):
        return _of_c(name)
    ufunc = getattr(np, name)
    inside = _Ufunc.from_address(id(ufunc))
    count = kind.index("-")
    if (inside.nin, inside.nout, inside.ntypes) != (count, 1, ufunc.ntypes):
        raise LookupError(name)
    if kind not in ufunc.types:
        raise LookupError(name)
    at = ufunc.types.index(kind)
    found = inside.functions[at] or 0, inside.data[at] or 0
    if not found[0] or not _gives_the_same(ufunc, np.dtype(kind[0]), found):
        raise LookupError(name)
    return found


def _gives_the_same(ufunc: np.ufunc, dtype: Dtype, found: tuple[int, int]) -> bool:
    given = [np.linspace(-3.0, 40.0, 67).astype(dtype) for _ in range(ufunc.nin)]
    if len(given) > 1:
        given[1] = np.abs(given[1][::-1]).copy() + dtype.type(1)
    out = np.zeros_like(given[0])
    call = ctypes.CFUNCTYPE(
        None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p
    )(found[0])
    where = (ctypes.c_void_p * 3)(*[each.ctypes.data for each in (*given, out)])
    many, steps = (ctypes.c_ssize_t * 1)(out.size), (ctypes.c_ssize_t * 3)(*[dtype.itemsize] * 3)
    with np.errstate(all="ignore"):
        call(where, many, steps, found[1])
        return out.tobytes() == ufunc(*given).tobytes()


@functools.cache
def _of_c(name: str) -> tuple[int, int]:
    """The address of a function of C's library, which `math` calls too."""
    try:
        function = getattr(ctypes.CDLL(None), name)
    except (AttributeError, OSError, TypeError):  # Windows has no such library
        raise LookupError(name) from None
    function.restype, function.argtypes = ctypes.c_double, [ctypes.c_double]
    own = getattr(math, name)
    given = [k / 97 for k in range(-900, 901)] + [math.inf, -math.inf, 5e-324, 1e-10, 1e300]
    if any(function(x) != own(x) for x in given):
        raise LookupError(name)
    return ctypes.cast(function, ctypes.c_void_p).value or 0, 0


def worked_in(function: Function, dtype: Dtype) -> Dtype:
    """Returns the type in which a function is worked out whose result has a type."""
    return FLOAT64 if dtype == FLOAT32 and not function.narrow else dtype
