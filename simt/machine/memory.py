"""Arrays as a kernel sees them: shapes, strides and addresses, and which of them share memory."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from simt.errors import UserError
from simt.machine.unwritten import written_in

ALIGNMENT = 256  # cudaMalloc's: CUDA C++ Programming Guide, "Device Memory Accesses"
FIRST_ADDRESS = 1 << 20


@dataclass(eq=False)
class Allocation:
    """One piece of memory; arrays that overlap share it.

    Attributes:
        number: counts the allocations of a launch.
        address: its first byte, as the GPU would see it.
        size: its bytes.
    """

    number: int
    address: int
    size: int


@dataclass(eq=False)
class Array:
    """An array as a kernel sees it.

    Attributes:
        name: the name the kernel has for it.
        space: "global", "shared", "local" or "const".
        shape, dtype: as in NumPy; a side of a view may differ from lane to lane.
        flat: all its memory as one dimension of elements; for shared and local arrays the copies of
            all blocks or lanes of the batch, one after the other.
        strides: elements from one index to the next, per dimension; a view's may differ from lane
            to lane.
        origin: element of `flat` that [0, 0, ...] names; one per lane where there are copies.
        allocation: the memory it lies in.
        address: byte address of `flat[0]`, within the block for a shared array.
        contiguous: True when cells in C order are elements of `flat` in order.
        writable: False for arrays that may only be read.
        initialised: bool, as long as `flat`: what has been written; None when all of it has. Where
            the bytes of a cell are told apart, (cells, bytes of a cell).
        per_copy: elements of `flat` in one copy; 0 when there is only one.
        root: the array this one is a view of, or None.
        fields: for an array of structures, each field as an array of its own.
        static: False for dynamic shared memory, which several arrays may share.
        nowhere: of a view, bool per lane: those whose index lay outside, which reach no cell.
        packed: a field of structures without padding, which Numba reads byte by byte.
        misaligned: True where it begins at an address that its type must not have.
        seen_of: of all memory seen as cells of another dtype, the array that was declared.
        seen_as: (dtype, first byte) -> its own memory, seen as such cells.
    """

    name: str
    space: str
    shape: tuple[Any, ...]
    dtype: np.dtype[Any]
    flat: np.ndarray
    strides: tuple[Any, ...]
    origin: Any
    allocation: Allocation
    address: int
    contiguous: bool
    writable: bool = True
    initialised: np.ndarray | None = None
    per_copy: int = 0
    static: bool = True
    packed: bool = False
    nowhere: np.ndarray | None = None
    root: Array | None = None
    fields: dict[str, Array] = field(default_factory=dict)
    seen_of: Array | None = None
    misaligned: bool = field(init=False)
    seen_as: dict[tuple[np.dtype[Any], int], Array] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        self.misaligned = self.address % self.alignment != 0

    @property
    def component_bytes(self) -> int:
        """Bytes of what one instruction moves: a complex number takes two."""
        return self.dtype.itemsize // (2 if self.dtype.kind == "c" else 1)

    @property
    def alignment(self) -> int:
        """What its first byte's address must be a multiple of."""
        if self.packed:
            return 1
        return self.dtype.alignment if self.dtype.fields else self.component_bytes

    @property
    def size(self) -> Any:
        """How many cells it has; one number per lane for views that differ."""
        return math.prod(self.shape)


def viewed(array: Array, first: Sequence[Any], shape: Sequence[Any], steps: Sequence[Any]) -> Array:
    """Returns the same memory seen from another cell on, and in another shape.

    Args:
        array: what is viewed; its fields are viewed with it.
        first: the index of the view's first cell, per dimension of `array`.
        shape: the view's sides.
        steps: per dimension of `array`, cells from one of the view's to the next; None for a
            dimension that the view does not have.
    """
    starts = zip(first, array.strides, strict=True)
    kept = zip(array.strides, steps, strict=True)
    return replace(
        array,
        shape=tuple(shape),
        strides=tuple(stride * step for stride, step in kept if step is not None),
        origin=sum((start * stride for start, stride in starts), start=array.origin),
        contiguous=False,
        root=array.root or array,
        fields={
            name: _field_viewed(part, len(array.shape), first, shape, steps)
            for name, part in array.fields.items()
        },
    )


def _field_viewed(
    part: Array, ndim: int, first: Sequence[Any], shape: Sequence[Any], steps: Sequence[Any]
) -> Array:
    """A view of a field, which may hold an array in each cell: that stays whole."""
    own = part.shape[ndim:]
    inner = [1] * len(own)
    return viewed(part, [*first, *[0] * len(own)], [*shape, *own], [*steps, *inner])


def row_of(array: Array, index: int) -> Array:
    """Returns array[index] of an array with several dimensions, as a view."""
    rest = len(array.shape) - 1
    return viewed(array, [index, *[0] * rest], array.shape[1:], [None, *[1] * rest])


def seen_as(array: Array, dtype: np.dtype[Any], shift: int = 0) -> Array:
    """Returns all the memory of an array as cells of another dtype, the same one each time.

    Args:
        array: one that is no view.
        dtype: what its bytes are taken for.
        shift: the byte at which the first cell begins.
    """
    key = dtype, shift
    if key == (array.dtype, 0):
        return array
    if key not in array.seen_as:
        old, new = array.dtype.itemsize, dtype.itemsize
        count = (array.flat.size * old - shift) // new
        part = slice(shift, shift + count * new)
        *rows, last = array.shape if array.contiguous and array.shape else (array.flat.size,)
        whole = not shift and last * old % new == 0
        shape = (*rows, last * old // new) if whole else (count,)
        array.seen_as[key] = replace(
            array,
            name=f"{array.name}.view({dtype})",
            shape=shape,
            dtype=dtype,
            flat=_bytes_of(array.flat)[part].view(dtype),
            strides=row_major(shape),
            origin=array.origin * old // new,
            address=array.address + shift,
            contiguous=not array.per_copy,
            initialised=_by_bytes(array, part, new),
            per_copy=array.per_copy * old // new,
            fields={},
            seen_of=array,
        )
    return array.seen_as[key]


def _bytes_of(flat: np.ndarray) -> np.ndarray:
    if flat.strides != (flat.itemsize,):  # one cell may have any stride
        flat = np.lib.stride_tricks.as_strided(flat, strides=(flat.itemsize,))
    return flat.view(np.uint8)


def _by_bytes(array: Array, part: slice, size: int) -> np.ndarray | None:
    """What has been written of some bytes, as cells of a size; both arrays share it from now on."""
    written, width = array.initialised, array.dtype.itemsize
    if written is None:
        return None
    if written.ndim == 1:
        written = array.initialised = np.repeat(written, width).reshape(-1, width)
    return written.reshape(-1)[part].reshape(-1, size)


def row_major(shape: tuple[int, ...]) -> tuple[int, ...]:
    """Returns the strides in cells of a C-order array.

    >>> row_major((2, 3, 4))
    (12, 4, 1)
    """
    if not shape:
        return ()
    strides = [1]
    for size in reversed(shape[1:]):
        strides.append(strides[-1] * size)
    return tuple(reversed(strides))


def bind(arguments: Mapping[str, np.ndarray]) -> dict[str, Array]:
    """Returns the array arguments of a launch, laid out in GPU memory.

    Args:
        arguments: parameter name -> NumPy array; two that share memory share an allocation.

    Raises:
        UserError: an array whose elements do not lie at whole multiples of their size.
    """
    spans = {name: np.lib.array_utils.byte_bounds(a) for name, a in arguments.items()}
    found: dict[str, Array] = {}
    address = FIRST_ADDRESS
    for number, group in enumerate(_overlapping(spans)):
        low = min(spans[n][0] for n in group)
        size = max(spans[n][1] for n in group) - low
        allocation = Allocation(number, address, size)
        for name in group:
            # The caller's own offset within its first 256 bytes is kept, so that views of one array
            # are as misaligned here as on the GPU, and a fresh array starts aligned.
            found[name] = _bind_one(name, arguments[name], allocation, spans[name][0] - low)
        address += -(-max(size, 1) // ALIGNMENT) * ALIGNMENT
    return {name: found[name] for name in arguments}


def bind_constant(name: str, data: np.ndarray) -> Array:
    """Returns an array beside the kernel: read-only, the same for all lanes."""
    (array,) = bind({name: data}).values()
    fields = {
        part: replace(own, space="const", writable=False) for part, own in array.fields.items()
    }
    return replace(array, space="const", writable=False, fields=fields)


def bind_captured(name: str, data: np.ndarray, number: int) -> Array:
    """Returns an array on the device that a kernel finds beside itself.

    Args:
        name: what messages call it.
        data: its memory.
        number: of its allocation; no other of the launch has it.
    """
    (array,) = bind({name: data}).values()
    allocation = replace(array.allocation, number=number, address=number * CAPTURED_APART)
    moved = allocation.address - array.allocation.address
    fields = {
        part: replace(own, allocation=allocation, address=own.address + moved)
        for part, own in array.fields.items()
    }
    return replace(array, allocation=allocation, address=array.address + moved, fields=fields)


FIRST_CAPTURED = 1 << 20
"""The number of the first allocation that is captured; those of arguments begin at 0."""
CAPTURED_APART = 1 << 40
"""Bytes from one captured allocation to the next, more than any has."""


def _overlapping(spans: Mapping[str, tuple[int, int]]) -> list[list[str]]:
    groups: list[list[str]] = []
    end = -1
    for name in sorted(spans, key=lambda n: spans[n]):
        low, high = spans[name]
        if groups and low < end:
            groups[-1].append(name)
        else:
            groups.append([name])
        end = max(end, high)
    return groups


def _bind_one(name: str, data: np.ndarray, allocation: Allocation, offset: int) -> Array:
    if data.dtype.names:
        whole = bind_plain(name, data, allocation, offset)
        for part, (_, at, *_) in (data.dtype.fields or {}).items():
            own = _bind_one(f"{name}.{part}", data[part], allocation, offset + at)
            packed = not data.dtype.isalignedstruct
            whole.fields[part] = replace(own, packed=packed or own.packed)
        return whole
    return bind_plain(name, data, allocation, offset)


def bind_plain(name: str, data: np.ndarray, allocation: Allocation, offset: int) -> Array:
    """Returns an array of numbers as it lies in an allocation, from a byte offset on.

    Raises:
        UserError: its cells do not lie a whole number of elements apart.
    """
    size = data.dtype.itemsize
    if any(stride % size for stride in data.strides):
        raise UserError(
            f"the array {name} has strides {data.strides} that are not multiples of {size} bytes",
            "pass numpy.ascontiguousarray(...) of it",
        )
    strides = tuple(s // size for s in data.strides)
    lowest = sum(min(0, (n - 1) * s) for n, s in zip(data.shape, strides, strict=True) if n)
    span = 1 + sum(abs((n - 1) * s) for n, s in zip(data.shape, strides, strict=True) if n)
    if data.size == 0:
        flat, lowest = np.empty(0, data.dtype), 0
    elif data.flags.c_contiguous:
        flat = data.reshape(-1)
    else:
        corner = data[tuple(slice(-1, None) if s < 0 else slice(0, 1) for s in strides)]
        flat = np.lib.stride_tricks.as_strided(
            corner, shape=(span,), strides=(size,), writeable=data.flags.writeable
        )
    address = allocation.address + offset
    written = written_in(data)
    return Array(
        name=name,
        space="global",
        shape=data.shape,
        dtype=data.dtype,
        flat=flat,
        strides=strides,
        origin=-lowest,
        allocation=allocation,
        address=address,
        contiguous=data.flags.c_contiguous,
        writable=data.flags.writeable,
        initialised=None if written is None else written.reshape(-1, size),
    )
