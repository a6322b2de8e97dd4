"""Operator types against the typing rules of Numba's own CUDA target, which needs no GPU."""

from __future__ import annotations

import operator
from typing import Any

import numba
import numpy as np
import pytest
from numba.core import types as numba_types
from numba.cuda.descriptor import cuda_target

from simt.kernel import types
from simt.kernel.types import NoSuchType, binary, unary, unify

DTYPES = (
    "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 float32 float64 "
    "complex64 complex128"
).split()
OPERATORS = {
    "Add": operator.add, "Sub": operator.sub, "Mult": operator.mul, "Div": operator.truediv,
    "FloorDiv": operator.floordiv, "Mod": operator.mod, "Pow": operator.pow,
    "BitAnd": operator.and_, "BitOr": operator.or_, "BitXor": operator.xor,
    "LShift": operator.lshift, "RShift": operator.rshift,
}  # fmt: skip


def _numba(dtype: str) -> Any:
    return numba_types.boolean if dtype == "bool" else getattr(numba_types, dtype)


def _dtype(numba_type: Any) -> np.dtype[Any]:
    return np.dtype("bool" if numba_type == numba_types.boolean else str(numba_type))


def _numba_result(function: Any, *dtypes: str) -> np.dtype[Any] | None:
    context = cuda_target.typing_context
    context.refresh()
    try:
        found = context.resolve_function_type(function, tuple(map(_numba, dtypes)), {})
    except numba.core.errors.TypingError:
        return None
    return None if found is None else _dtype(found.return_type)


@pytest.mark.parametrize("name", OPERATORS)
def test_binary_operators_have_numbas_types(name: str) -> None:
    ours: dict[tuple[str, str], Any] = {}
    theirs: dict[tuple[str, str], Any] = {}
    for a in DTYPES:
        for b in DTYPES:
            theirs[a, b] = _numba_result(OPERATORS[name], a, b)
            try:
                ours[a, b] = binary(name, np.dtype(a), np.dtype(b))
            except NoSuchType:
                ours[a, b] = None
    different = {k: (ours[k], theirs[k]) for k in ours if ours[k] != theirs[k]}
    assert not different


@pytest.mark.parametrize("name", ["USub", "UAdd", "Invert"])
def test_unary_operators_have_numbas_types(name: str) -> None:
    function = {"USub": operator.neg, "UAdd": operator.pos, "Invert": operator.invert}[name]
    for a in DTYPES:
        try:
            ours: Any = unary(name, np.dtype(a))
        except NoSuchType:
            ours = None
        assert ours == _numba_result(function, a), a


def test_a_variable_assigned_two_types_has_numbas_joined_type() -> None:
    for a in DTYPES:
        for b in DTYPES:
            theirs = cuda_target.typing_context.unify_types(_numba(a), _numba(b))
            if theirs is not None:
                assert unify(np.dtype(a), np.dtype(b)) == _dtype(theirs), (a, b)


def test_an_array_and_a_number_have_no_common_type() -> None:
    with pytest.raises(NoSuchType, match=r"array\(float32, 1d\) and int64"):
        unify(types.ArrayType(types.FLOAT32, 1), types.INT64)
