"""What a signature given to `cuda.jit` says: the type each argument is converted to.

Numba converts a number to the type that the signature declares, so `"void(float32[:], float32)"`
makes a Python float a float32 in the kernel. The simulator does the same.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gpu_course.errors import CourseError
from gpu_course.simt.constants import Symbol, as_dtype


@dataclass(frozen=True)
class Parameter:
    """One declared parameter: its element type and its dimensions, 0 for a number."""

    dtype: np.dtype[Any]
    ndim: int = 0

    def __str__(self) -> str:
        return f"{self.dtype}[{', '.join(':' * self.ndim)}]" if self.ndim else str(self.dtype)

    def takes(self, value: Any) -> bool:
        """True when an argument can be passed for this parameter."""
        if isinstance(value, np.ndarray):
            return value.dtype == self.dtype and value.ndim == self.ndim
        return self.ndim == 0

    def exact(self, value: Any) -> bool:
        """True when nothing is converted."""
        given = np.asarray(value).dtype
        return self.ndim > 0 or given == self.dtype

    def converted(self, value: Any) -> Any:
        """Returns the argument as the kernel gets it."""
        return value if self.ndim else np.asarray(value).astype(self.dtype)[()]


Signature = tuple[Parameter | None, ...]


def signatures(given: Any) -> tuple[Signature, ...]:
    """Returns what was declared: one tuple of parameters per signature.

    A parameter of a type the simulator cannot read is None, and takes any argument as it is.

    Args:
        given: a string, a Numba signature, a tuple of Numba types, or a list of these.

    Raises:
        CourseError: a string that is no signature.

    >>> [[str(p) for p in s] for s in signatures("void(float32[:, ::1], int32)")]
    [['float32[:, :]', 'int32']]
    """
    if isinstance(given, list):
        return tuple(one for part in given for one in signatures(part))
    if isinstance(given, str):
        return (_from_text(given),)
    return (tuple(_from_type(a) for a in getattr(given, "args", given)),)


def convert(
    name: str, declared: Sequence[Signature], arguments: tuple[Any, ...]
) -> tuple[Any, ...]:
    """Returns a launch's arguments as the best fitting signature has them.

    Raises:
        CourseError: no signature takes them.
    """
    fitting = [s for s in declared if _fits(s, arguments)]
    if not fitting:
        listed = "; ".join("(" + ", ".join(map(str, s)) + ")" for s in declared)
        raise CourseError(
            f"no signature of {name} takes ({', '.join(map(_shown, arguments))})",
            f"it declares {listed}",
        )

    def conversions(signature: Signature) -> int:
        return sum(
            p is not None and not p.exact(a) for p, a in zip(signature, arguments, strict=True)
        )

    best = min(fitting, key=conversions)
    return tuple(a if p is None else p.converted(a) for p, a in zip(best, arguments, strict=True))


def _fits(signature: Signature, arguments: tuple[Any, ...]) -> bool:
    return len(signature) == len(arguments) and all(
        p is None or p.takes(a) for p, a in zip(signature, arguments, strict=True)
    )


def _shown(value: Any) -> str:
    if isinstance(value, np.ndarray):
        return str(Parameter(value.dtype, value.ndim))
    return type(value).__name__


def _from_text(text: str) -> Signature:
    try:
        tree = ast.parse(text.strip(), mode="eval").body
    except SyntaxError:
        tree = None
    if isinstance(tree, ast.Call):
        return tuple(map(_from_node, tree.args))
    if isinstance(tree, ast.Tuple):
        return tuple(map(_from_node, tree.elts))
    if isinstance(tree, ast.Name | ast.Subscript | ast.Attribute):
        return (_from_node(tree),)
    raise CourseError(f'"{text}" is no signature', 'write it like "void(float32[:], int32)"')


def _from_node(node: ast.expr) -> Parameter | None:
    ndim = 0
    if isinstance(node, ast.Subscript):
        axes = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        ndim, node = len(axes), node.value
    name = node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")
    return _parameter(name, ndim)


def _from_type(type_: Any) -> Parameter | None:
    if hasattr(type_, "dtype") and hasattr(type_, "ndim"):
        return _parameter(str(type_.dtype), type_.ndim)
    return _parameter(str(type_), 0)


def _parameter(name: str, ndim: int) -> Parameter | None:
    dtype = as_dtype(Symbol("numba.boolean" if name == "bool" else f"numba.{name}"))
    return None if dtype is None else Parameter(dtype, ndim)
