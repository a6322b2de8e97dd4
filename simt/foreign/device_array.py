"""Arrays in the simulated GPU's memory, as a script on the host holds them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from simt.errors import UserError
from simt.foreign.kernel_names import unsupported
from simt.machine import unwritten


class DeviceArray:
    """An array on the simulated GPU.

    The host reaches its contents by `copy_to_host` alone, as on a real one: what a kernel did to
    it is unseen until then. Slices are views of the same memory.

    Args:
        data: the memory itself; it is held and not copied.
    """

    stream = 0

    def __init__(self, data: np.ndarray) -> None:
        self._data = data

    # What it is

    @property
    def on_device(self) -> np.ndarray:
        """The memory itself, for a kernel that finds the array beside itself."""
        return self._data

    @property
    def shape(self) -> tuple[int, ...]:
        """Its length along each dimension."""
        return self._data.shape

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of its elements."""
        return self._data.dtype

    @property
    def ndim(self) -> int:
        """How many dimensions it has."""
        return self._data.ndim

    @property
    def size(self) -> int:
        """How many elements it has."""
        return self._data.size

    @property
    def nbytes(self) -> int:
        """The bytes of its elements."""
        return self._data.nbytes

    alloc_size = nbytes

    @property
    def strides(self) -> tuple[int, ...]:
        """Bytes from one element to the next along each dimension."""
        return self._data.strides

    @property
    def flags(self) -> Any:
        """NumPy's flags: C_CONTIGUOUS and its kin."""
        return self._data.flags

    @property
    def T(self) -> DeviceArray:  # noqa: N802 - NumPy's name
        """The same memory with its dimensions reversed."""
        return self.transpose()

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        data = self._data
        contiguous = data.flags.c_contiguous
        return {
            "shape": data.shape,
            "strides": None if contiguous else data.strides,
            "typestr": data.dtype.str,
            "data": (data.ctypes.data, False),
            "version": 3,
        }

    def is_c_contiguous(self) -> bool:
        """True when its elements lie in C order without gaps."""
        return self._data.flags.c_contiguous

    def is_f_contiguous(self) -> bool:
        """True when its elements lie in Fortran order without gaps."""
        return self._data.flags.f_contiguous

    def __len__(self) -> int:
        return len(self._data)

    def __repr__(self) -> str:
        return f"DeviceArray(shape={self.shape}, dtype={self.dtype})"

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        raise unsupported(f"the device array attribute .{name}", hint="copy it to the host first")

    # Copies

    def copy_to_host(self, ary: np.ndarray | None = None, stream: object = 0) -> np.ndarray:
        """Returns its contents in a new host array, or in `ary`."""
        if ary is None:
            return self._data.copy(order="K")
        _require_same("copied to the host", self._data, ary)
        np.copyto(ary, self._data)
        return ary

    def copy_to_device(self, ary: Any, stream: object = 0) -> None:
        """Fills it from an array of the same shape and dtype, on the host or on the device."""
        source = host(ary)
        if not (self.is_c_contiguous() or self.is_f_contiguous()):
            raise ValueError(
                f"a device array of strides {self.strides} has gaps and takes no copy: "
                "assign to a slice of the whole array"
            )
        _require_same("copied to the device", source, self._data)
        np.copyto(self._data, source)
        unwritten.wrote(self._data, source)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        found = self.copy_to_host()
        return found if dtype is None else found.astype(dtype)

    # Parts of it

    def __getitem__(self, index: Any) -> Any:
        found = self._data[_plain_index(index)]
        return DeviceArray(found) if isinstance(found, np.ndarray) else found

    def __setitem__(self, index: Any, value: Any) -> None:
        part, source = _plain_index(index), host(value)
        self._data[part] = source
        parts = part if isinstance(part, tuple) else (part,)
        cells = self._data[parts if Ellipsis in parts else (*parts, ...)]
        like = isinstance(source, np.ndarray) and source.shape == cells.shape
        unwritten.wrote(cells, source if like and source.dtype == cells.dtype else None)

    def getitem(self, index: Any, stream: object = 0) -> Any:
        """Returns a part of it: a view, or one element."""
        return self[index]

    def setitem(self, index: Any, value: Any, stream: object = 0) -> None:
        """Fills a part of it."""
        self[index] = value

    def reshape(self, *shape: Any, order: Any = "C") -> DeviceArray:
        """Returns the same memory with another shape.

        Raises:
            UserError: its memory has gaps or another order, so that a copy would be needed.
        """
        lengths = shape[0] if len(shape) == 1 and isinstance(shape[0], tuple | list) else shape
        return self._same_memory(self._data.reshape(lengths, order=order), "reshape")

    def ravel(self, order: Any = "C", stream: object = 0) -> DeviceArray:
        """Returns the same memory as one dimension."""
        return self._same_memory(self._data.ravel(order=order), "ravel")

    def transpose(self, axes: Any = None) -> DeviceArray:
        """Returns the same memory with its dimensions in another order."""
        return DeviceArray(self._data.transpose(axes))

    def view(self, dtype: Any) -> DeviceArray:
        """Returns the same memory as elements of another type."""
        return DeviceArray(self._data.view(dtype))

    def squeeze(self, axis: Any = None, stream: object = 0) -> DeviceArray:
        """Returns the same memory without its dimensions of length 1."""
        return DeviceArray(self._data.squeeze(axis))

    def split(self, section: int, stream: object = 0) -> Iterator[DeviceArray]:
        """Yields views of `section` elements each; the last one may be shorter."""
        for start in range(0, self.size, section):
            yield self[start : start + section]

    def bind(self, stream: object = 0) -> DeviceArray:
        """Returns the same array; the simulator has one order of work, whatever the stream."""
        return DeviceArray(self._data)

    def _same_memory(self, found: np.ndarray, what: str) -> DeviceArray:
        if found.size and not np.shares_memory(found, self._data):
            raise UserError(
                f"{what} would have to copy this device array of strides {self.strides}",
                "copy it to the host, change it there and copy it back",
            )
        return DeviceArray(found)


class MappedArray(np.ndarray):
    """Host memory that the GPU sees too: a NumPy array with a device array's copy methods."""

    def copy_to_host(self, ary: np.ndarray | None = None, stream: object = 0) -> np.ndarray:
        """Returns its contents in a new host array, or in `ary`."""
        return DeviceArray(self.view(np.ndarray)).copy_to_host(ary)

    def copy_to_device(self, ary: Any, stream: object = 0) -> None:
        """Fills it from an array of the same shape and dtype."""
        DeviceArray(self.view(np.ndarray)).copy_to_device(ary)


DeviceNDArray = DeviceArray
MappedNDArray = ManagedNDArray = MappedArray


def host(value: Any) -> Any:
    """Returns the memory behind a device array, and any other value as it is.

    Raises:
        UserError: a device array of another library, whose memory is on a real GPU.
    """
    if isinstance(value, DeviceArray):
        return value._data
    if isinstance(value, MappedArray):
        return value.view(np.ndarray)
    if hasattr(value, "__cuda_array_interface__"):
        raise UserError(
            f"a {type(value).__name__} lies in the memory of a real GPU",
            "hand the simulator NumPy arrays or its own device arrays",
        )
    return value


def _plain_index(index: Any) -> Any:
    parts = index if isinstance(index, tuple) else (index,)
    for part in parts:
        number = isinstance(part, int | np.integer) and not isinstance(part, bool)
        if not (number or isinstance(part, slice) or part is Ellipsis):
            raise UserError(
                f"a device array takes whole numbers and slices as indices, not {part!r}",
                "copy it to the host first",
            )
    return index


def _require_same(what: str, source: Any, target: np.ndarray) -> None:
    if not isinstance(source, np.ndarray):
        raise TypeError(f"a {type(source).__name__} cannot be {what}")
    if source.shape != target.shape:
        raise ValueError(f"an array of shape {source.shape} is {what} into shape {target.shape}")
    if source.dtype != target.dtype:
        raise TypeError(f"an array of {source.dtype} is {what} into one of {target.dtype}")
