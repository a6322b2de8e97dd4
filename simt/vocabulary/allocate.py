"""Arrays a kernel makes for itself: shared by a block, or a thread's own.

What a call such as `cuda.shared.array((16, 17), float32)` asks for is known before the launch,
since its shape must be constant. The memory itself is made batch by batch: one copy for each block,
or for each lane, side by side in one flat array.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from simt.kernel.constants import NotConstant, Symbol, as_dtype, constant, dtype_of_text
from simt.kernel.ir import Call, Request
from simt.kernel.types import ArrayType, NoSuchType, NotSimulated, Type
from simt.machine.lanes import Lanes
from simt.machine.machine import Machine
from simt.machine.memory import Allocation, Array, bind_plain, row_major
from simt.machine.unwritten import gaps_in
from simt.machine.values import Value
from simt.vocabulary.functions import Function

SPACES = {"cuda.shared.array": "shared", "cuda.local.array": "local"}

# CUDA C++ Programming Guide, "Technical Specifications per Compute Capability": a kernel may
# declare 48 KiB of shared memory; more must be dynamic, up to 227 KiB from 9.0 on.
MAX_STATIC_BYTES = 48 * 1024
MAX_SHARED_BYTES = 227 * 1024
MAX_LOCAL_BYTES = 512 * 1024
WIDEST = 16  # bytes of the largest number, complex128


def request(
    call: ast.Call,
    space: str,
    look_up: Callable[[ast.expr], Any],
    dtype_at: Callable[[ast.expr], np.dtype[Any] | None],
) -> Request:
    """Returns what a call asks for.

    Args:
        call: `cuda.shared.array(shape, dtype)` or its local twin.
        space: "shared" or "local".
        look_up: the meaning of a name, or None.
        dtype_at: the dtype of an array, for an expression like `a.dtype`; None for others.

    Raises:
        NoSuchType: a shape that is not constant, or a dtype that is none.
    """
    given = dict(zip(("shape", "dtype"), call.args, strict=False))
    given |= {k.arg: k.value for k in call.keywords if k.arg}
    if set(given) != {"shape", "dtype"} or len(call.args) > 2:
        raise NoSuchType("takes a shape and a dtype")
    shape, dtype = _shape(given["shape"], look_up), _dtype(given["dtype"], look_up, dtype_at)
    if dtype.fields and (0 in shape or any(t.kind not in "biufc" for t in _fields(dtype).values())):
        raise NoSuchType("a structure's fields must be numbers, and its shape a constant one")
    if not dtype.itemsize:
        raise NotSimulated("an array of structures without a field", "give it one, or leave it out")
    for field in _fields(dtype).values():
        if dtype.itemsize % field.itemsize:
            raise NotSimulated(
                f"an array of structures of {dtype.itemsize} bytes with a field of "
                f"{field.itemsize}",
                "give the structure a size that each field's divides: align=True, or one more "
                "field",
            )
    return Request(space, shape, dtype)


def _shape(node: ast.expr, look_up: Callable[[ast.expr], Any]) -> tuple[int, ...]:
    sides = node.elts if isinstance(node, ast.Tuple) else [node]
    for side in sides:
        if _computes_with_names(side):
            raise NoSuchType(
                f"its shape computes {ast.unparse(side)}: Numba takes numbers and names there",
                "give the result a name beside the kernel, such as PADDED = TILE + 1",
            )
    try:
        shape = constant(node, _Names(node, look_up))
    except NotConstant as error:
        raise NoSuchType(
            f"its shape must be constant, and {error}",
            "write numbers, or names of numbers that never change",
        ) from None
    shape = shape if isinstance(shape, tuple) else (shape,)
    if shape == ():
        raise NotSimulated("an array of no dimension", "write a shape of 1")
    for side in shape:
        if not isinstance(side, int) or isinstance(side, bool):
            raise NoSuchType(f"{side!r} is not a side of a shape", "write whole numbers")
        if side < 0:
            raise NoSuchType(
                f"a side of {side}, and no array is so small", "write a number from 0 on"
            )
    return tuple(map(int, shape))


def _dtype(
    node: ast.expr,
    look_up: Callable[[ast.expr], Any],
    dtype_at: Callable[[ast.expr], np.dtype[Any] | None],
) -> np.dtype[Any]:
    hint = "write a type, such as float32 or dtype=np.float32"
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        found = dtype_of_text(node.value)
        if found is None:
            raise NoSuchType(f"{node.value!r} names no dtype", hint)
        return found
    of_array = dtype_at(node)
    if of_array is not None:
        return of_array
    if isinstance(node, ast.Name) and look_up(node) is None:
        raise NoSuchType(f"{node.id} is a variable, and no dtype", hint)
    try:
        found = as_dtype(constant(node, _Names(node, look_up)))
    except NotConstant:
        found = None
    if found is None:
        raise NoSuchType(f"{ast.unparse(node)} is not a dtype", hint)
    return found


def _computes_with_names(node: ast.expr) -> bool:
    """True for TILE + 1, which Python does not fold and Numba does not either."""
    single = isinstance(node, ast.Name | ast.Attribute | ast.Constant)
    return not single and any(isinstance(n, ast.Name) for n in ast.walk(node))


class _Names:
    """The names in an expression, looked up through their nodes."""

    def __init__(self, node: ast.expr, look_up: Callable[[ast.expr], Any]) -> None:
        self._nodes = {n.id: n for n in ast.walk(node) if isinstance(n, ast.Name)}
        self._look_up = look_up

    def __getitem__(self, name: str) -> Any:
        found = self._look_up(self._nodes[name])
        if found is None:
            raise NotConstant(f"{name} is not a constant")
        return found

    def __contains__(self, name: object) -> bool:
        return name in self._nodes


def _fields(dtype: np.dtype[Any]) -> dict[str, np.dtype[Any]]:
    """The fields of a structure; none for a number."""
    return {name: type_ for name, (type_, *_) in (dtype.fields or {}).items()}


def lay_out(requests: Mapping[ast.Call, Request]) -> tuple[dict[ast.Call, Request], int]:
    """Returns the requests with their offsets, and the static shared bytes of a block.

    Arrays follow each other in the order of the source, each aligned to its element's size; the
    dynamic ones all start where the static ones end.
    """
    ends = {"shared": 0, "local": 0}
    placed: dict[ast.Call, Request] = {}
    for call in sorted(requests, key=lambda c: (c.lineno, c.col_offset)):
        asked = requests[call]
        if not asked.dynamic:
            size = max((t.itemsize for t in _fields(asked.dtype).values()), default=0)
            size = size or asked.dtype.itemsize
            offset = -(-ends[asked.space] // size) * size
            placed[call] = replace(asked, offset=offset)
            ends[asked.space] = offset + asked.size
    static = ends["shared"]
    for call, asked in requests.items():
        if asked.dynamic:
            placed[call] = replace(asked, offset=-(-static // 16) * 16)
    return placed, static


def too_much(requests: Iterable[Request], static: int, dynamic: int) -> str | None:
    """Returns why no GPU has room for a kernel's own arrays, or None when one has.

    >>> too_much([], 49_152, 0) is None
    True
    >>> too_much([], 65_536, 0)
    'the kernel declares 65,536 bytes of shared memory: 49,152 is the most'
    """
    if static > MAX_STATIC_BYTES:
        return (
            f"the kernel declares {static:,} bytes of shared memory: "
            f"{MAX_STATIC_BYTES:,} is the most"
        )
    if static + dynamic > MAX_SHARED_BYTES:
        return (
            f"the launch asks for {static + dynamic:,} bytes of shared memory a block: "
            f"{MAX_SHARED_BYTES:,} is the most any GPU has"
        )
    local = local_bytes(requests)
    if local > MAX_LOCAL_BYTES:
        return (
            f"the kernel declares {local:,} bytes of local memory a thread: "
            f"{MAX_LOCAL_BYTES:,} is the most"
        )
    return None


def local_bytes(requests: Iterable[Request]) -> int:
    """Returns the bytes of local memory that a thread asks for."""
    return sum(r.size for r in requests if r.space == "local")


class Arena:
    """The shared and local memory of one batch of blocks.

    Args:
        lanes: the batch.
        dynamic_bytes: the launch's dynamic shared memory per block.
    """

    def __init__(self, lanes: Lanes, dynamic_bytes: int) -> None:
        self.lanes = lanes
        self.dynamic_bytes = dynamic_bytes
        self.arrays: dict[int, Array] = {}
        self._next = -1
        self._dynamic: tuple[np.ndarray, np.ndarray, Allocation] | None = None

    def array(self, number: int, asked: Request, name: str) -> Array:
        """Returns the array of a number; the same one each time it is reached."""
        if number not in self.arrays:
            self.arrays[number] = self._make(asked, name)
        return self.arrays[number]

    def _make(self, asked: Request, name: str) -> Array:
        lanes = self.lanes
        shared = asked.space == "shared"
        copies = len(lanes.blocks) if shared else lanes.count
        slot = lanes.slot if shared else np.arange(lanes.count)
        shape = asked.shape
        written: np.ndarray | None = None
        if asked.dynamic:
            shape = (self.dynamic_bytes // asked.dtype.itemsize,)
            flat, written, allocation = self._dynamic_memory(asked)
            per_copy = allocation.size // asked.dtype.itemsize
        else:
            per_copy = math.prod(shape)
            flat = fresh(copies * per_copy, asked.dtype)
            allocation = self._allocation(asked.offset, asked.size)
            if asked.dtype.fields:
                written = np.zeros(flat.nbytes, bool)
        array = Array(
            name=name,
            space=asked.space,
            shape=shape,
            dtype=asked.dtype,
            flat=flat,
            strides=row_major(shape),
            origin=slot * per_copy,
            allocation=allocation,
            address=asked.offset,
            contiguous=False,
            initialised=np.zeros(flat.size, bool) if written is None else _cells_of(written, flat),
            per_copy=per_copy,
            static=not asked.dynamic,
        )
        if written is not None:
            for part in _fields(asked.dtype):
                array.fields[part] = self._field(array, part, written)
        return array

    def _field(self, array: Array, part: str, written: np.ndarray) -> Array:
        """One field of an array of structures: its cells lie between those of the others."""
        assert array.dtype.fields is not None
        at = array.dtype.fields[part][1]
        own = bind_plain(f"{array.name}.{part}", array.flat[part], array.allocation, at)
        apart = own.strides[0]
        return replace(
            own,
            space=array.space,
            shape=array.shape,
            strides=tuple(s * apart for s in array.strides),
            origin=array.origin * apart,
            address=array.address + at,
            contiguous=False,
            initialised=_cells_of(written[at:], own.flat),
            per_copy=array.per_copy * apart,
        )

    def _allocation(self, offset: int, size: int) -> Allocation:
        allocation = Allocation(self._next, offset, size)
        self._next -= 1
        return allocation

    def _dynamic_memory(self, asked: Request) -> tuple[np.ndarray, np.ndarray, Allocation]:
        """All dynamic arrays are the same bytes, whatever their dtype."""
        if self._dynamic is None:
            size = -(-self.dynamic_bytes // WIDEST) * WIDEST
            raw = np.full(len(self.lanes.blocks) * size, 0xFF, np.uint8)
            self._dynamic = raw, np.zeros(raw.size, bool), self._allocation(asked.offset, size)
        raw, written, allocation = self._dynamic
        whole = raw.size // asked.dtype.itemsize * asked.dtype.itemsize
        return raw[:whole].view(asked.dtype), written, allocation


def _cells_of(written: np.ndarray, flat: np.ndarray) -> np.ndarray:
    """What has been written, byte by byte, as so many cells; gaps in structures count as written.

    Args:
        written: bool, one for each byte, from the first cell's on.
        flat: the cells.
    """
    cells = written[: flat.nbytes].reshape(-1, flat.itemsize)
    cells[:, gaps_in(flat.dtype)] = True
    return cells


def fresh(count: int, dtype: np.dtype[Any]) -> np.ndarray:
    """Returns so many cells of fresh memory."""
    if not dtype.fields:
        return np.full(count, poison_value(dtype), dtype)
    found = np.empty(count, dtype)
    for name, type_ in _fields(dtype).items():
        found[name] = poison_value(type_)
    return found


def poison_value(dtype: np.dtype[Any]) -> Any:
    """Returns what fresh memory holds: NaN for floats, a conspicuous pattern for integers."""
    if dtype.kind in "fc":
        return np.nan
    return True if dtype.kind == "b" else np.iinfo(dtype).max - 86


def is_allocation(meaning: Any) -> bool:
    """True for the symbols that make shared or local arrays."""
    return isinstance(meaning, Symbol) and meaning.path in SPACES


def _constant_type(arguments: Sequence[Type], nodes: Sequence[ast.expr]) -> Type:
    # Numba gives the array back: one beside the kernel lies in constant memory, an argument stays.
    if len(arguments) == 1 and isinstance(arguments[0], ArrayType):
        return arguments[0]
    raise NoSuchType("takes one array", "define it beside the kernel")


def _constant(machine: Machine, call: Call, arguments: Sequence[Value], result: Type) -> Value:
    return arguments[0]


FUNCTIONS: dict[str, Function] = {"cuda.const.array_like": Function(_constant_type, _constant)}
