"""From NumPy's types to those that scripts know from Numba, and back."""

from __future__ import annotations

from typing import Any

import numpy as np

from simt.foreign.kernel_names import needs_numba
from simt.foreign.without_numba import types
from simt.kernel import constants


def from_dtype(dtype: Any) -> types.Type:
    """Returns the type of a NumPy dtype.

    Raises:
        Unsupported: no kernel takes it.
    """
    dtype = np.dtype(dtype)
    found = types.Record(dtype) if dtype.fields else types.named(dtype.name)
    if found is None:
        raise needs_numba(f"a type for {dtype}")
    return found


def as_dtype(nbtype: Any) -> np.dtype[Any]:
    """Returns the NumPy dtype of a type.

    Raises:
        Unsupported: it is none of numbers or structures.
    """
    found = nbtype.dtype if isinstance(nbtype, types.Record) else constants.as_dtype(nbtype)
    if found is None:
        raise needs_numba(f"a dtype for {nbtype}")
    return found  # type: ignore[no-any-return]


def typeof(val: Any) -> types.Type:
    """Returns the type of a number or an array.

    Raises:
        Unsupported: it is something else.
    """
    if isinstance(val, np.ndarray):
        contiguous = {"C": val.flags.c_contiguous, "F": val.flags.f_contiguous, "A": True}
        layout = next(letter for letter, is_so in contiguous.items() if is_so)
        return types.Array(from_dtype(val.dtype), val.ndim, layout)
    if isinstance(val, bool | int | float | complex | np.generic):
        return from_dtype(np.asarray(val).dtype)
    raise needs_numba(f"the type of a {type(val).__name__}")
