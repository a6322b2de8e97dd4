"""A live function, or a Numba dispatcher, as a Kernel: its source is read, and it is not called."""

from __future__ import annotations

import ast
import inspect
import linecache
import textwrap
from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np

from gpu_course.errors import CourseError
from gpu_course.simt.constants import NamedTuple, Symbol
from gpu_course.simt.kernels import MODULES, Kernel, Unknown, parse, show_path
from gpu_course.simt.signatures import Signature, signatures


def from_function(function: Any) -> Kernel:
    """Returns a live function or a Numba dispatcher as a Kernel; it is not called.

    Raises:
        CourseError: its source cannot be found, or it is no plain function.
    """
    plain = getattr(function, "py_func", function)
    if not inspect.isfunction(plain):
        raise CourseError(
            f"{function!r} is not a kernel",
            "pass a function, or the result of cuda.jit",
        )
    try:
        text_lines, first = inspect.getsourcelines(plain)
    except (OSError, TypeError):
        raise CourseError(
            f"the source of {plain.__name__} cannot be found",
            "define the kernel in a file or in a notebook cell",
        ) from None
    filename = plain.__code__.co_filename
    shown = show_path(filename)
    tree = parse(textwrap.dedent("".join(text_lines)), shown)
    ast.increment_lineno(tree, max(first, 1) - 1)
    node = tree.body[0]
    if not isinstance(node, ast.FunctionDef):
        raise CourseError(f"{plain.__name__} is not defined by def", "write the kernel with def")
    whole = linecache.getlines(filename)
    lines = {first + k: line.rstrip("\n") for k, line in enumerate(text_lines)}
    lines |= {k: line.rstrip("\n") for k, line in enumerate(whole, start=1)}
    scope, decorated = _live_scope(plain), plain is not function
    declared = _declared(function)
    device = _is_device(function)
    return Kernel(node.name, node, shown, lines, scope, decorated, declared=declared, device=device)


def _is_device(function: Any) -> bool:
    """True for a dispatcher made with device=True: the simulator's says so, Numba's in a table."""
    options = getattr(function, "targetoptions", {})
    return bool(getattr(function, "device", False) or options.get("device"))


def _declared(function: Any) -> tuple[Signature, ...]:
    """The signatures of a dispatcher: the simulator's keeps them, Numba's has compiled them."""
    declared = getattr(function, "declared", ())
    if not declared and getattr(function, "_can_compile", True) is False:
        declared = signatures([kept.signature for kept in function.overloads.values()])
    return tuple(declared)


def _live_scope(function: Any) -> Callable[[str], Any]:
    code = function.__code__
    cells = dict(zip(code.co_freevars, function.__closure__ or (), strict=True))
    seen: dict[str, Any] = {}

    def look_up(name: str) -> Any:
        if name in seen:
            return seen[name]
        value = cells[name].cell_contents if name in cells else function.__globals__[name]
        seen[name] = _from_live(name, value)
        return seen[name]

    return look_up


def _from_live(name: str, value: Any) -> Any:
    if isinstance(value, bool | int | float | complex | np.generic | np.ndarray | Symbol):
        return value
    if value is None:
        return None
    if isinstance(value, str):
        return Unknown(f"{name}, a string of the host", value)
    if isinstance(value, np.dtype):
        return value if value.fields else Symbol(f"numpy.{value.name}")
    if isinstance(value, tuple):
        parts = [_from_live(name, v) for v in value]
        return type(value)(*parts) if hasattr(value, "_fields") else tuple(parts)
    if isinstance(value, ModuleType):
        return (
            Symbol(MODULES[value.__name__])
            if value.__name__ in MODULES
            else Unknown(f"the module {value.__name__}")
        )
    if hasattr(value, "py_func") or inspect.isfunction(value):
        if getattr(value, "__module__", "") == "gpu_course.simt.module":
            return Symbol(f"cuda.{value.__name__}")
        return from_function(value)
    origin = getattr(value, "__module__", None) or type(value).__module__
    attribute = getattr(value, "__name__", None) or str(value)
    if isinstance(value, type) and issubclass(value, np.generic):
        return Symbol(f"numpy.{attribute}")
    if isinstance(value, type) and issubclass(value, tuple) and hasattr(value, "_fields"):
        return NamedTuple(attribute, value._fields)
    if origin.startswith("numba") and hasattr(value, "fields") and hasattr(value, "dtype"):
        return value.dtype  # a record type, made by from_dtype
    if origin == "math":
        return Symbol(f"math.{attribute}")
    if origin in ("operator", "_operator"):
        return Symbol(f"operator.{attribute}")
    if origin.startswith("numba"):
        home = "cuda" if ".cuda" in origin else "numba"
        return Symbol(f"{home}.{attribute}")
    return Unknown(f"{name}, a {type(value).__name__} of the host")
