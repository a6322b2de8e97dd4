"""What a script gets for `numba` where Numba is not installed: types, and decorators that compile
nothing.

A function under `jit` or `njit` runs as Python runs it. What cannot be had without Numba's compiler
is refused by name.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from simt.foreign import ufuncs
from simt.foreign.kernel_names import needs_numba
from simt.foreign.without_numba import config, errors, types
from simt.foreign.without_numba.numpy_support import from_dtype, typeof
from simt.kernel.types import signatures

__all__ = [
    "config", "errors", "from_dtype", "get_num_threads", "guvectorize", "jit", "njit", "prange",
    "set_num_threads", "typeof", "types", "vectorize", *types.NAMES,
]  # fmt: skip
__version__ = "0.61.0"
"""The oldest Numba whose rules the simulator follows: scripts ask whether it is new enough."""

prange = range


def jit(signature_or_function: Any = None, *_: object, **__: object) -> Any:
    """Returns a function that runs as Python runs it, or a decorator that makes such functions."""
    if callable(signature_or_function):
        return _uncompiled(signature_or_function)
    return _uncompiled


njit = jit


def _uncompiled(function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def called(*given: Any, **named: Any) -> Any:
        return function(*given, **named)

    # Where Numba keeps what was decorated; a kernel knows by it what it may call.
    vars(called)["py_func"] = function
    return called


def vectorize(ftylist_or_function: Any = (), *, target: str = "cpu", **_: object) -> Any:
    """Returns a function of numbers as one of arrays, or a decorator that does so."""
    if target == "cuda":
        return ufuncs.vectorize(ftylist_or_function)
    if callable(ftylist_or_function):
        return np.vectorize(ftylist_or_function)
    declared = signatures(list(ftylist_or_function))
    # Where there are several, each call's own results say what they are.
    results = [str(declared[0].result)] if len(declared) == 1 else None
    return lambda function: np.vectorize(function, otypes=results)


def guvectorize(ftylist: Any, signature: str, *, target: str = "cpu", **_: object) -> Any:
    """Returns a decorator that makes a function of small arrays one of arrays of them.

    Raises:
        Unsupported: it is for the processor, for which nothing is compiled here.
    """
    if target != "cuda":
        raise needs_numba(f'numba.guvectorize(target="{target}")')
    return ufuncs.guvectorize(ftylist, signature)


def get_num_threads() -> int:
    """Returns how many threads of the processor a parallel loop has: one."""
    return 1


def set_num_threads(n: int) -> None:
    """Changes nothing."""


def __getattr__(name: str) -> Any:
    if name.startswith("__") or name == "cuda":  # which is there once it is imported, as in Numba
        raise AttributeError(f"module 'numba' has no attribute '{name}'")
    found = types.named(name)
    if found is None:
        raise needs_numba(f"numba.{name}")
    return found
