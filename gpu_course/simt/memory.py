"""Arrays as a kernel sees them: bounds, addresses, and one event per access for the observers."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, TypeVar

import numpy as np

from gpu_course.errors import CourseError
from gpu_course.simt.lanes import Mask

ALIGNMENT = 256  # cudaMalloc's: CUDA C++ Programming Guide, "Device Memory Accesses"
FIRST_ADDRESS = 1 << 20

T = TypeVar("T")


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
        initialised: bool, as long as `flat`: what has been written; None when all of it has.
        per_copy: elements of `flat` in one copy; 0 when there is only one.
        root: the array this one is a view of, or None.
        fields: for an array of structures, each field as an array of its own.
        static: False for dynamic shared memory, which several arrays may share.
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
    root: Array | None = None
    fields: dict[str, Array] = field(default_factory=dict)

    @property
    def component_bytes(self) -> int:
        """Bytes of what one instruction moves: a complex number takes two."""
        return self.dtype.itemsize // (2 if self.dtype.kind == "c" else 1)

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
        fields={name: viewed(part, first, shape, steps) for name, part in array.fields.items()},
    )


def row_of(array: Array, index: int) -> Array:
    """Returns array[index] of an array with several dimensions, as a view."""
    rest = len(array.shape) - 1
    return viewed(array, [index, *[0] * rest], array.shape[1:], [None, *[1] * rest])


def row_major(shape: tuple[int, ...]) -> tuple[int, ...]:
    """Returns the strides in cells of a C-order array.

    >>> row_major((2, 3, 4))
    (12, 4, 1)
    """
    strides = [1]
    for size in reversed(shape[1:]):
        strides.append(strides[-1] * size)
    return tuple(reversed(strides))


@dataclass(eq=False)
class Pattern:
    """Where lanes stand when a line touches an array; a loop repeats it, all lanes moved together.

    Attributes:
        array, indices, mask: of the first access; lanes that take part were all in bounds.
        elements: int64 (mask.count,), elements of `array.flat` in the first access.
        memo: what has been counted of it; see `Access.counted`.
    """

    array: Array
    indices: tuple[Any, ...]
    mask: Mask
    elements: np.ndarray
    memo: dict[tuple[str, int], Any] = field(default_factory=dict)

    @cached_property
    def in_copy(self) -> np.ndarray:
        """`elements`, counted within the block's or the lane's own copy of the memory."""
        whole = self.array.root or self.array
        if not whole.per_copy:
            return self.elements
        origin = whole.origin
        if isinstance(origin, np.ndarray) and not self.mask.full:
            origin = origin[self.mask.lanes]
        return np.asarray(self.elements - origin)

    def distance(self, array: Array, indices: tuple[Any, ...], mask: Mask) -> int | None:
        """Returns by how many elements all lanes have moved since; None for another pattern.

        Vectors are compared by identity: an index that is a new vector makes a new pattern.
        """
        if array is not self.array or mask is not self.mask:
            return None
        moved = 0
        for at, before, size, stride in zip(
            indices, self.indices, array.shape, array.strides, strict=True
        ):
            if at is before:
                continue
            vectors = any(isinstance(v, np.ndarray) for v in (at, before, size, stride))
            if vectors or not 0 <= at < size:
                return None
            moved += (int(at) - int(before)) * stride
        return moved


@dataclass(eq=False)
class Access:
    """One line's access by all lanes that take part, in bounds.

    Attributes:
        kind: "load", "store" or "atomic".
        array: the Array.
        mask: the lanes that take part.
        threads: int64 (mask.count,), global linear thread numbers.
        warps: int64 (mask.count,), warp of each lane within the batch.
        line: the line of the access.
        pattern: the Pattern it repeats.
        moved: by how many elements the lanes have moved since the pattern was first seen.
        find_cells: computes `cells`.
        values: (mask.count,) or a scalar, what a store writes; None for a load.
        returns: False for an atomic whose old value nobody asks for.
        turns: int64 (mask.count,), the order in which lanes take their turn at an atomic.
    """

    kind: str
    array: Array
    mask: Mask
    threads: np.ndarray
    line: int
    pattern: Pattern
    moved: int
    find_cells: Callable[[], np.ndarray]
    values: Any = None
    returns: bool = True
    turns: Any = None
    _elements: np.ndarray | None = field(default=None, init=False)

    @property
    def elements(self) -> np.ndarray:
        """int64 (mask.count,), elements of `array.flat`."""
        # Worked out once, by hand: Python 3.11's cached_property takes a lock.
        if self._elements is None:
            first = self.pattern.elements
            self._elements = first + self.moved if self.moved else first
        return self._elements

    def found(self) -> np.ndarray:
        """Returns what the lanes find in memory, (mask.count,)."""
        if self.moved < 0:
            return self.array.flat.take(self.elements)
        # Moving the start of the memory is as good as moving each lane, and free.
        return self.array.flat[self.moved :].take(self.pattern.elements)

    @property
    def addresses(self) -> np.ndarray:
        """int64 (mask.count,), the first byte each lane touches."""
        array = self.array
        return np.asarray(array.address + self.in_copy * array.dtype.itemsize)

    @property
    def in_copy(self) -> np.ndarray:
        """int64 (mask.count,), elements counted within the block's or the lane's own copy."""
        first = self.pattern.in_copy
        return first + self.moved if self.moved else first

    @property
    def cells(self) -> np.ndarray:
        """int64 (mask.count,), C-order indices within the array, as a person counts."""
        array = self.array
        if array.per_copy:
            apart = array.strides[-1]  # more than 1 for a field of structures
            return self.in_copy if apart == 1 else self.in_copy // apart
        # Of a view, the cells of the array it shows.
        return self.in_copy if array.contiguous else self.find_cells()

    def counted(self, what: str, period: int, count: Callable[[], T]) -> T:
        """Returns `count()`, or what it returned for an earlier access in the same pattern.

        Args:
            what: a name for what is counted.
            period: bytes; all lanes moving on by a multiple of it leave the count as it is.
            count: counts.
        """
        key = what, self.moved * self.array.dtype.itemsize % period
        if key not in self.pattern.memo:
            self.pattern.memo[key] = count()
        return self.pattern.memo[key]  # type: ignore[no-any-return]

    @property
    def warps(self) -> np.ndarray:
        """int64 (mask.count,), the warp of each lane within the batch."""
        return self.mask.warps


def bind(arguments: Mapping[str, np.ndarray]) -> dict[str, Array]:
    """Returns the array arguments of a launch, laid out in GPU memory.

    Args:
        arguments: parameter name -> NumPy array; two that share memory share an allocation.

    Raises:
        CourseError: an array whose elements do not lie at whole multiples of their size.
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
            own = bind_plain(f"{name}.{part}", data[part], allocation, offset + at)
            whole.fields[part] = own
        return whole
    return bind_plain(name, data, allocation, offset)


def bind_plain(name: str, data: np.ndarray, allocation: Allocation, offset: int) -> Array:
    """Returns an array of numbers as it lies in an allocation, from a byte offset on.

    Raises:
        CourseError: its cells do not lie a whole number of elements apart.
    """
    size = data.dtype.itemsize
    if any(stride % size for stride in data.strides):
        raise CourseError(
            f"the array {name} has strides {data.strides} that are no multiples of {size} bytes",
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
    )
