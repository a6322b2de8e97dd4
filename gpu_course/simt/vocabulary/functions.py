"""What an intrinsic is: the type of its result, and how to compute it for all lanes at once."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from gpu_course.simt.types import ArrayType, NoSuchType, Type
from gpu_course.simt.values import cast, truth
from gpu_course.simt.variables import Value
from gpu_course.simt.vocabulary.machine import Machine

if TYPE_CHECKING:
    from gpu_course.simt.ir import Call

__all__ = ["Function", "Range", "cast", "numbers", "truth"]


class Range(tuple[Value, Value, Value]):
    """What `range` gives: start, stop and step."""


@dataclass(frozen=True)
class Function:
    """A function a kernel can call, or a value that every thread can read.

    Attributes:
        type: (argument types, argument nodes) -> result type; raises NoSuchType.
        run: (machine, call, arguments, result type) -> value.
    """

    type: Callable[[Sequence[Type], Sequence[ast.expr]], Type]
    run: Callable[[Machine, Call, Sequence[Value], Type], Value]


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
