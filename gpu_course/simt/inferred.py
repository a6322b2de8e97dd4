"""What inference finds out about a kernel, once the types of its arguments are known."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from gpu_course.simt import types
from gpu_course.simt.program import Program
from gpu_course.simt.types import (
    BOOL,
    FLOAT64,
    INT64,
    ArrayType,
    NotSimulated,
    TupleType,
    Type,
)
from gpu_course.simt.vocabulary.allocate import Request


@dataclass(frozen=True)
class Inferred:
    """What is known of a kernel once the types of its arguments are.

    Attributes:
        types: variable -> type.
        requests: each call that makes a shared or local array, with what it asks for.
        static_shared_bytes: shared memory a block needs before any dynamic memory.
        calls: each call of a device function -> what is known of it there.
        result: the type a device function returns; None for a kernel.
        views: the subscripts that give an array and not a number.
        reads: a name where it is read -> its type there, which its variable's type can hold.
        program: the program these types are of, less the branches they decide.
        parameters: the type of each parameter, to which its argument is cast.
        given: each call of a device function -> its arguments, default values included.
        members: a field of a named tuple -> its place.
        fields: a field of a structure in a cell that is read: a[i].x.
        expressions: an expression -> its type.
    """

    types: Mapping[str, Type]
    requests: Mapping[ast.Call, Request]
    static_shared_bytes: int = 0
    calls: Mapping[ast.Call, Inferred] = field(default_factory=dict)
    result: Type = None
    views: frozenset[ast.Subscript] = frozenset()
    reads: Mapping[ast.AST, Type] = field(default_factory=dict)
    program: Program | None = None
    parameters: tuple[Type, ...] = ()
    given: Mapping[ast.Call, Sequence[ast.expr]] = field(default_factory=dict)
    members: Mapping[ast.Attribute, int] = field(default_factory=dict)
    fields: frozenset[ast.Attribute] = frozenset()
    expressions: Mapping[ast.AST, Type] = field(default_factory=dict, repr=False)


def of_value(value: Any) -> Type:
    """Returns the type of a number as Numba takes it from Python: int64, float64 or its own dtype.

    >>> of_value(3), of_value(np.float32(1))
    (dtype('int64'), dtype('float32'))
    """
    if isinstance(value, np.generic):
        return value.dtype
    if isinstance(value, bool):
        return BOOL
    if isinstance(value, int):
        return INT64 if -(2**63) <= value < 2**63 else types.UINT64
    if isinstance(value, float):
        return FLOAT64
    if isinstance(value, complex):
        return np.dtype(np.complex128)
    if isinstance(value, tuple):
        return TupleType(tuple(map(of_value, value)), getattr(value, "_fields", ()))
    if isinstance(value, np.ndarray):
        return ArrayType(value.dtype, value.ndim, "const")
    if value is None:
        return None
    raise NotSimulated(f"a {type(value).__name__} beside the kernel, used like this")


class NotYet(Exception):
    """A name that is read before anything known assigns it."""

    def __init__(self, node: ast.Name) -> None:
        self.node = node
