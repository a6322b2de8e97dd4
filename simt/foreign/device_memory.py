"""What a script calls to get memory: on the device, pinned, mapped, managed."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from simt.foreign.device_array import DeviceArray, MappedArray, host
from simt.foreign.kernel_names import unsupported
from simt.machine import unwritten
from simt.vocabulary.allocate import poison_value

POISON_BYTE = 0xAB


def poisoned(shape: Any, dtype: Any, order: Any = "C") -> np.ndarray:
    """Returns an array as fresh memory is: NaN for floats, a conspicuous pattern for the rest.

    >>> poisoned(2, np.float32)
    array([nan, nan], dtype=float32)
    """
    return _poison(np.empty(shape, dtype, order))


def _poison(array: np.ndarray) -> np.ndarray:
    if array.dtype.kind == "c":
        array.fill(complex(math.nan, math.nan))
    elif array.dtype.kind in "fiub":
        array.fill(poison_value(array.dtype))
    else:
        array.view(np.uint8).fill(POISON_BYTE)
    return array


def to_device(obj: Any, stream: object = 0, copy: bool = True, to: Any = None) -> DeviceArray:
    """Returns a device array with the contents of `obj`, or `to` filled with them."""
    if to is not None:
        to.copy_to_device(obj)
        return to  # type: ignore[no-any-return]
    if isinstance(obj, DeviceArray):
        return obj
    source = np.asarray(host(obj))
    core = source[tuple(slice(0, 1) if step == 0 else slice(None) for step in source.strides)]
    if not (core.flags.c_contiguous or core.flags.f_contiguous):
        raise ValueError(
            f"a host array of strides {source.strides} has gaps and cannot be copied to the "
            "device: take numpy.ascontiguousarray of it first"
        )
    return DeviceArray(source.copy(order="K")) if copy else _unset(poisoned_like(source))


def poisoned_like(array: Any) -> np.ndarray:
    """Returns fresh memory of an array's shape, dtype and order."""
    return _poison(np.empty_like(host(array), subok=False))


def device_array(
    shape: Any, dtype: Any = np.float64, strides: Any = None, order: Any = "C", stream: object = 0
) -> DeviceArray:
    """Returns an uninitialised array on the device."""
    _require_no_strides("device_array", strides)
    return _unset(poisoned(shape, dtype, order))


def device_array_like(ary: Any, stream: object = 0) -> DeviceArray:
    """Returns an uninitialised array on the device, of another array's shape and dtype."""
    return _unset(poisoned_like(ary))


def _unset(memory: np.ndarray) -> DeviceArray:
    unwritten.begin(memory)
    return DeviceArray(memory)


def pinned_array(
    shape: Any, dtype: Any = np.float64, strides: Any = None, order: Any = "C"
) -> np.ndarray:
    """Returns an uninitialised host array; page-locking it means nothing to the simulator."""
    _require_no_strides("pinned_array", strides)
    return poisoned(shape, dtype, order)


def pinned_array_like(ary: Any) -> np.ndarray:
    """Returns an uninitialised host array of another array's shape and dtype."""
    return poisoned_like(ary)


def mapped_array(
    shape: Any, dtype: Any = np.float64, strides: Any = None, order: Any = "C",
    stream: object = 0, portable: bool = False, wc: bool = False,
) -> MappedArray:  # fmt: skip
    """Returns an uninitialised array that host and device both reach."""
    _require_no_strides("mapped_array", strides)
    return poisoned(shape, dtype, order).view(MappedArray)


def mapped_array_like(
    ary: Any, stream: object = 0, portable: bool = False, wc: bool = False
) -> MappedArray:
    """Returns an uninitialised array that host and device both reach, like another."""
    return poisoned_like(ary).view(MappedArray)


def managed_array(
    shape: Any, dtype: Any = np.float64, strides: Any = None, order: Any = "C",
    stream: object = 0, attach_global: bool = True,
) -> MappedArray:  # fmt: skip
    """Returns an uninitialised array in unified memory."""
    _require_no_strides("managed_array", strides)
    return poisoned(shape, dtype, order).view(MappedArray)


def is_cuda_array(obj: Any) -> bool:
    """True for a device array, this simulator's or another library's."""
    return hasattr(obj, "__cuda_array_interface__")


def as_cuda_array(obj: Any, sync: bool = True) -> DeviceArray:
    """Returns a device array over the same memory."""
    if not is_cuda_array(obj):
        raise TypeError(f"a {type(obj).__name__} is not a device array")
    return DeviceArray(host(obj))


@contextmanager
def pinned(*arrays: np.ndarray) -> Iterator[None]:
    """Page-locks host arrays for a while, which means nothing to the simulator."""
    yield


@contextmanager
def mapped(*arrays: np.ndarray, **_: object) -> Iterator[Any]:
    """Gives device arrays over the memory of host arrays for a while."""
    found = [DeviceArray(a) for a in arrays]
    yield found[0] if len(found) == 1 else found


def _require_no_strides(name: str, strides: Any) -> None:
    if strides is not None:
        raise unsupported(f"cuda.{name} with strides", hint="give it an order, or make a view")
