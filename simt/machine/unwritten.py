"""Device memory that nobody has written yet: which bytes, of which arrays.

Whoever hands out memory says that it begins unset, and what the host writes to it. Kernels see it
through `memory.bind`, and mark what they write themselves.
"""

from __future__ import annotations

import weakref
from functools import partial

import numpy as np

_KEPT: dict[int, tuple[weakref.ref[np.ndarray], np.ndarray]] = {}
"""Number of an array that owns its memory -> the array, and bool for each byte."""


def begin(array: np.ndarray) -> None:
    """Nothing is in the memory of an array, which owns it.

    >>> fresh = np.empty(3, np.int16)
    >>> begin(fresh)
    >>> wrote(fresh[1:2])
    >>> written_in(fresh)
    array([False, False,  True,  True, False, False])
    """
    number = id(array)
    written = np.zeros((array.size, array.itemsize), bool)
    written[:, gaps_in(array.dtype)] = True
    gone = partial(_forget, number)
    _KEPT[number] = weakref.ref(array, gone), written.reshape(-1)


def _forget(number: int, _: object = None) -> None:
    _KEPT.pop(number, None)


def gaps_in(dtype: np.dtype[np.generic]) -> np.ndarray:
    """Returns bool for each byte of a cell: True between the fields of a structure."""
    found = np.full(dtype.itemsize, bool(dtype.fields))
    for type_, at, *_ in (dtype.fields or {}).values():
        found[at : at + type_.itemsize] = gaps_in(type_)
    return found


def written_in(array: np.ndarray) -> np.ndarray | None:
    """Returns what has been written from an array's lowest byte to its highest; None for all.

    It is no copy: who writes marks it there.
    """
    if not _KEPT or not array.size:
        return None
    owner = array
    while isinstance(owner.base, np.ndarray):
        owner = owner.base
    kept, written = _KEPT.get(id(owner), (None, None))
    if kept is None or written is None or kept() is not owner:
        return None
    if written.all():
        _forget(id(owner))
        return None
    (low, high), (start, _) = map(np.lib.array_utils.byte_bounds, (array, owner))
    return written[low - start : high - start]


def wrote(array: np.ndarray, source: np.ndarray | None = None) -> None:
    """The host has written an array, or copied another one to it, which may be unset itself."""
    written = _by_cell(array)
    if written is not None:
        given = None if source is None else _by_cell(source)
        written[...] = True if given is None else given


def _by_cell(array: np.ndarray) -> np.ndarray | None:
    """What has been written of an array: its shape, and the bytes of a cell."""
    written = written_in(array)
    if written is None:
        return None
    first = array
    for axis, step in enumerate(array.strides):
        if step < 0:
            first = np.flip(first, axis)
    cells = np.lib.stride_tricks.as_strided(
        written, (*array.shape, array.itemsize), (*first.strides, 1)
    )
    return cells[tuple(slice(None, None, -1 if step < 0 else 1) for step in array.strides)]
