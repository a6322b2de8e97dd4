"""What an intrinsic is: the type of its result, and how to compute it for all lanes at once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from simt.kernel.ir import Function
from simt.kernel.types import ArrayType, NoSuchType, Type
from simt.machine.values import Value, cast, truth
from simt.text import count

__all__ = ["Function", "Range", "cast", "numbers", "truth"]


class Range(tuple[Value, Value, Value]):
    """What `range` gives: start, stop and step."""


def numbers(arguments: Sequence[Type], least: int, most: int) -> list[np.dtype[Any]]:
    """Returns the argument types, all of them numbers and as many as a function takes.

    Raises:
        NoSuchType: too few, too many, or something that is no number.
    """
    if not least <= len(arguments) <= most:
        wanted = count(least, "argument") if least == most else f"{least} to {most} arguments"
        raise NoSuchType(f"takes {wanted}, not {len(arguments)}")
    for argument in arguments:
        if isinstance(argument, ArrayType):
            raise NoSuchType(f"takes numbers, not {argument}", "give it cells, such as a[i]")
        if not isinstance(argument, np.dtype):
            raise NoSuchType(f"takes numbers, not {argument}")
    return list(arguments)  # type: ignore[arg-type]
