"""NumPy's own loops over float64, called from compiled code so that every last bit is the same."""

from __future__ import annotations

import ctypes
import functools

import numpy as np

from simt.kernel.types import FLOAT64


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


@functools.cache
def loop(name: str) -> tuple[int, int]:
    """Returns the addresses of the loop of a function of one float64, and of what it is handed.

    Raises:
        LookupError: NumPy has no such loop, or it does not give what NumPy gives.
    """
    ufunc = getattr(np, name)
    inside = _Ufunc.from_address(id(ufunc))
    kind = f"{FLOAT64.char}->{FLOAT64.char}"
    if (inside.nin, inside.nout, inside.ntypes) != (1, 1, ufunc.ntypes) or kind not in ufunc.types:
        raise LookupError(name)
    at = ufunc.types.index(kind)
    found = inside.functions[at] or 0, inside.data[at] or 0
    if not found[0] or not _gives_the_same(ufunc, found):
        raise LookupError(name)
    return found


def _gives_the_same(ufunc: np.ufunc, found: tuple[int, int]) -> bool:
    given = np.linspace(-3.0, 40.0, 67)
    out = np.zeros_like(given)
    call = ctypes.CFUNCTYPE(
        None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p
    )(found[0])
    where = (ctypes.c_void_p * 2)(given.ctypes.data, out.ctypes.data)
    many, steps = (ctypes.c_ssize_t * 1)(given.size), (ctypes.c_ssize_t * 2)(8, 8)
    with np.errstate(all="ignore"):
        call(where, many, steps, found[1])
        return out.tobytes() == ufunc(given).tobytes()
