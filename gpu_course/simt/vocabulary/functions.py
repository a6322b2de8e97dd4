"""What an intrinsic is: the type of its result, and how to compute it for all lanes at once."""

from __future__ import annotations

import ast
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from gpu_course.simt.types import BOOL, ArrayType, NoSuchType, TupleType, Type
from gpu_course.simt.variables import Value
from gpu_course.simt.vocabulary.machine import Machine

if TYPE_CHECKING:
    from gpu_course.simt.lanes import Lanes


class Range(tuple[Value, Value, Value]):
    """What `range` gives: start, stop and step."""


@dataclass(frozen=True)
class Builtin:
    """A value every thread can read, such as `cuda.threadIdx.x`."""

    type: Type
    run: Callable[[Lanes], Value]


@dataclass(frozen=True)
class Function:
    """A function a kernel can call.

    Attributes:
        type: (argument types, argument nodes) -> result type; raises NoSuchType.
        run: (machine, call, arguments, result type) -> value.
    """

    type: Callable[[Sequence[Type], Sequence[ast.expr]], Type]
    run: Callable[[Machine, ast.Call, Sequence[Value], Type], Value]


def numbers(arguments: Sequence[Type], least: int, most: int) -> list[np.dtype[Any]]:
    """Returns the argument types, all of them numbers and as many as a function takes.

    Raises:
        NoSuchType: too few, too many, or something that is no number.
    """
    if not least <= len(arguments) <= most:
        wanted = str(least) if least == most else f"{least} to {most}"
        raise NoSuchType(f"takes {wanted} arguments, not {len(arguments)}")
    for argument in arguments:
        if isinstance(argument, ArrayType):
            raise NoSuchType(f"takes numbers, not {argument}", "give it cells, such as a[i]")
        if not isinstance(argument, np.dtype):
            raise NoSuchType(f"takes numbers, not {argument}")
    return list(arguments)  # type: ignore[arg-type]


def cast(value: Value, dtype: Type) -> Value:
    """Returns a value converted to a dtype as C would convert it; tuples part by part.

    >>> cast(np.float64(2.5), np.dtype("int64"))
    np.int64(2)
    """
    if isinstance(dtype, TupleType):
        return tuple(cast(v, t) for v, t in zip(value, dtype.elements, strict=True))
    if not isinstance(dtype, np.dtype) or value.dtype == dtype:
        return value  # an array, a function or None is what it is
    if dtype == BOOL:
        return value != 0
    if isinstance(value, np.ndarray):
        return value.astype(dtype)
    if value.dtype.kind == "f" and dtype.kind in "iu" and not math.isfinite(value):
        return np.asarray(value).astype(dtype)[()]
    return value.astype(dtype)


def truth(value: Value) -> Value:
    """Returns a value as a condition: bool, true where it is not zero."""
    return value if value.dtype == BOOL else value != 0
