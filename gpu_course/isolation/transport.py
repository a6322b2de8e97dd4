"""What crosses between processes of the course: JSON, and the bytes of arrays.

Only raw values cross, and objects of the data classes that both ends name. Nothing that arrives is
executed or unpickled, and what is said to be large is refused before any of it is read. A message
has a header, the structure as JSON, and a body, the arrays' bytes one behind the other. The header
names no place in the body: each array takes the next bytes of it, and at the end none may be left.
So a message cannot grow while it is read.

An answer's process sends values alone. Where objects may cross, so may what they hold besides: an
array twice, numbers of NumPy as such, arrays with named fields, and dicts with other keys.
"""

from __future__ import annotations

import json
import math
import struct
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np

MAX_HEADER_BYTES = 4 << 20
MAX_BYTES = 64 << 20
MAX_VALUES = 1 << 20
"""In one message; a list takes far more memory than the two letters that stand for it."""
MAX_ARRAYS = 10_000
MAX_DEPTH = 40
MAX_AXES = 32
TIMES_WITH_OBJECTS = 16
"""So many times as much may cross where objects do: no answer sends those."""
KINDS = "biufc"
"""Dtype kinds of the arrays that cross: bool, signed, unsigned, float, complex."""

_PLAIN = {type(None), bool, int, float, str}
_LENGTHS = struct.Struct("<QQ")
_NATIVE = [np.dtype(letter) for letter in "?bhilqBHILQefdgFDG"]
_SPELLINGS = [each.str for native in _NATIVE for each in (native, native.newbyteorder("S"))]
_DTYPES = {spelling: np.dtype(spelling) for spelling in _SPELLINGS}
"""One dtype per spelling, NumPy's own of it: C's `long` and `long long` are both `<i8`."""


Objects = Mapping[str, type]
"""The data classes whose objects may cross, by their names."""

_NONE: Objects = {}


class Unsendable(ValueError):
    """A value that is none of those that may cross; the text says what it is and where."""


class Garbled(ValueError):
    """Bytes that are no message."""


class TooLarge(Garbled):
    """A message of more than may cross."""


def pack(value: Any, objects: Objects = _NONE) -> bytes:
    """Returns a value as bytes that `unpack` turns into the same value.

    None, bools, numbers, strings, arrays of numbers, and tuples, lists and dicts with string keys
    of them. A scalar of NumPy goes as a Python number, a tensor of PyTorch as an array.

    Args:
        value: what is to cross.
        objects: the classes whose objects may.

    Raises:
        Unsendable: the value, or something in it, is none of these.
        TooLarge: it takes more bytes, or has more parts, than may cross.

    >>> unpack(pack({"loss": 0.5, "shape": (2, 3), "a": np.arange(3)}))
    {'loss': 0.5, 'shape': (2, 3), 'a': array([0, 1, 2])}
    """
    packing = _Packing(objects)
    tree = _tree(value, packing, "the value", 0)
    arrays = packing.arrays
    try:
        # Python's own JSON: msgspec's makes null of NaN and infinity, and refuses half of a
        # surrogate pair. Answers return them all.
        header = json.dumps(tree).encode("utf-8", "surrogatepass")
    except ValueError as error:
        raise Unsendable(f"a number cannot be written down: {error}") from None
    body = sum(array.nbytes for array in arrays)
    times = _times(objects)
    _check_size(len(header), body, times)
    if _values_at_most(header) > times * MAX_VALUES or len(arrays) > times * MAX_ARRAYS:
        raise TooLarge(
            f"{_values_at_most(header):,} parts, {len(arrays):,} of them arrays; "
            f"{times * MAX_VALUES:,} and {times * MAX_ARRAYS:,} may cross"
        )
    raw = [array.tobytes("F" if _in_columns(array) else "C") for array in arrays]
    return b"".join([_LENGTHS.pack(len(header), body), header, *raw])


def unpack(data: bytes, objects: Objects = _NONE) -> Any:
    """Returns the value that `pack` made these bytes of, with the same objects.

    Raises:
        Garbled: they are no such bytes.
        EOFError: they end too early.
    """
    at = 0

    def take(count: int) -> bytes:
        nonlocal at
        at += count
        return data[at - count : at]

    return read(take, objects)


def read(take: Callable[[int], bytes], objects: Objects = _NONE) -> Any:
    """Returns the next value of a stream.

    Args:
        take: returns the next n bytes, or fewer at the end of the stream.
        objects: the classes whose objects may cross.

    Raises:
        Garbled: what comes is no message.
        EOFError: the stream ended.
    """
    start = take(_LENGTHS.size)
    if len(start) < _LENGTHS.size:
        raise EOFError
    header_bytes, body_bytes = _LENGTHS.unpack(start)
    times = _times(objects)
    _check_size(header_bytes, body_bytes, times)
    header, body = take(header_bytes), take(body_bytes)
    if len(header) < header_bytes or len(body) < body_bytes:
        raise EOFError
    if _values_at_most(header) > times * MAX_VALUES:
        raise TooLarge(f"more than {times * MAX_VALUES:,} parts")
    try:
        content = _Body(body, objects)
        value = _value(json.loads(header.decode("utf-8", "surrogatepass")), content, 0)
        if content.at != len(body):
            raise Garbled("bytes that belong to no array")
        return value
    except Garbled:
        raise
    except Exception as error:
        # Whatever these bytes were made to do, they are no message.
        raise Garbled(str(error)) from None


def _times(objects: Objects) -> int:
    return TIMES_WITH_OBJECTS if objects else 1


def _check_size(header_bytes: int, body_bytes: int, times: int) -> None:
    if header_bytes > times * MAX_HEADER_BYTES or body_bytes > times * MAX_BYTES:
        raise TooLarge(
            f"{header_bytes:,} bytes of structure, {body_bytes:,} of arrays; "
            f"{times * MAX_HEADER_BYTES:,} and {times * MAX_BYTES:,} may cross"
        )


def _values_at_most(header: bytes) -> int:
    """Returns a number of values that the JSON cannot exceed, without reading it."""
    return 1 + sum(header.count(sign) for sign in (b",", b"[", b"{"))


@dataclass
class _Packing:
    """What a message is made of, while it is made.

    Attributes:
        objects: the classes whose objects may cross.
        arrays: those of the message, in order.
    """

    objects: Objects
    arrays: list[np.ndarray] = field(default_factory=list)
    _numbers: dict[int, int] = field(default_factory=dict)

    def array(self, array: np.ndarray, place: str) -> Any:
        """Returns an array as JSON; where objects cross, one that came before as its number."""
        # An array that is kept cannot lend its id to another.
        number = self._numbers.setdefault(id(array), len(self.arrays))
        if self.objects and number < len(self.arrays):
            return ["s", number]
        self.arrays.append(array)
        return ["a", _spelling(array.dtype, place), list(array.shape), _in_columns(array)]


def _tree(value: Any, packing: _Packing, place: str, depth: int) -> Any:
    """Returns a value as JSON: scalars as they are, all else as [letter, content ...]."""
    if depth > MAX_DEPTH:
        raise Unsendable(f"{place} is nested more than {MAX_DEPTH} deep")
    if isinstance(value, np.generic):
        if packing.objects:
            return ["n", packing.array(_array(np.asarray(value), place, packing), place)]
        if value.dtype.kind not in KINDS:
            raise Unsendable(f"{place} is a NumPy {value.dtype} scalar")
        value = value.item()
        if isinstance(value, np.generic):
            # Python has no number as wide as a long double.
            value = complex(value) if isinstance(value, np.complexfloating) else float(value)
    if value is None or isinstance(value, bool | str):
        return value if not isinstance(value, str) else str(value)
    if isinstance(value, int):
        return int(value)
    if isinstance(value, float):
        return float(value)
    if isinstance(value, complex):
        return ["c", value.real, value.imag]
    if isinstance(value, list | tuple):
        letter = "l" if isinstance(value, list) else "t"
        if set(map(type, value)) <= _PLAIN:
            return [letter, list(value)]
        each = [_tree(v, packing, f"{place}[{k}]", depth + 1) for k, v in enumerate(value)]
        return [letter, each]
    if isinstance(value, dict) or (packing.objects and isinstance(value, Mapping)):
        return _mapping(value, packing, place, depth)
    if packing.objects.get(type(value).__name__) is type(value):
        held = {each.name: getattr(value, each.name) for each in fields(value)}  # type: ignore[arg-type]
        return ["o", type(value).__name__, _mapping(held, packing, place, depth)[1]]
    array = _array(value, place, packing)
    return packing.array(array, place)


def _mapping(value: Mapping[Any, Any], packing: _Packing, place: str, depth: int) -> list[Any]:
    each = {k: _tree(v, packing, f"{place}[{k!r:.60}]", depth + 1) for k, v in value.items()}
    odd = next((key for key in value if not isinstance(key, str)), None)
    if odd is None:
        return ["d", each]
    if not packing.objects:
        raise Unsendable(f"{place} has the key {odd!r:.60}; keys must be strings")
    return ["m", [[_tree(k, packing, f"a key of {place}", depth + 1), v] for k, v in each.items()]]


def _array(value: Any, place: str, packing: _Packing) -> np.ndarray:
    if hasattr(value, "detach") and hasattr(value, "numpy"):
        try:
            value = value.detach().cpu().resolve_conj().resolve_neg().numpy()
        except TypeError:
            raise Unsendable(
                f"{place} is a tensor of {value.dtype}, which NumPy does not have"
            ) from None
    if not isinstance(value, np.ndarray):
        raise Unsendable(f"{place} is of the type {type(value).__name__}")
    if value.dtype.names and not packing.objects:
        raise Unsendable(f"{place} is an array of dtype {value.dtype}")
    return np.asarray(value)


def _spelling(dtype: np.dtype, place: str) -> Any:
    """Returns a dtype as JSON: one of _DTYPES, or what `descr` says of named fields of them."""
    parts = [dtype[name] for name in dtype.names] if dtype.names else [dtype]
    if any(each.str not in _DTYPES for each in parts):
        raise Unsendable(f"{place} is an array of dtype {dtype}")
    return [list(each) for each in dtype.descr] if dtype.names else dtype.str


def _in_columns(array: np.ndarray) -> bool:
    return array.flags.f_contiguous and not array.flags.c_contiguous


class _Body:
    """The bytes of a message's arrays, given out once and in order."""

    def __init__(self, data: bytes, objects: Objects) -> None:
        self.data = data
        self.at = 0
        self.objects = objects
        self.arrays: list[np.ndarray] = []

    def array(self, spelling: Any, shape: Any, in_columns: Any) -> np.ndarray:
        most = _times(self.objects) * MAX_ARRAYS
        if len(self.arrays) >= most:
            raise TooLarge(f"more than {most:,} arrays")
        dtype = self._dtype(spelling)
        if type(shape) is not list or len(shape) > MAX_AXES or type(in_columns) is not bool:
            raise Garbled("an array without its shape")
        if any(type(side) is not int or not 0 <= side < 1 << 48 for side in shape):
            raise Garbled("an impossible shape")
        count = math.prod(shape)
        if count * dtype.itemsize > len(self.data) - self.at:
            raise Garbled("an array of more bytes than there are")
        flat = np.frombuffer(self.data, dtype, count, self.at).copy()
        self.at += flat.nbytes
        self.arrays.append(flat.reshape(shape, order="F" if in_columns else "C"))
        return self.arrays[-1]

    def _dtype(self, spelling: Any) -> np.dtype:
        if isinstance(spelling, str) or not self.objects:
            return _DTYPES[spelling]
        # A field without a name is room that the compiler of a struct left.
        return np.lib.format.descr_to_dtype(
            [(name, each if not name else _DTYPES[each].str) for name, each in spelling]
        )

    def mapping(self, inside: Any, depth: int) -> dict[str, Any]:
        if type(inside) is not dict:
            raise Garbled("a dict without its names")
        return {name: _value(each, self, depth + 1) for name, each in inside.items()}

    def object(self, letter: Any, content: list[Any], depth: int) -> Any:
        """Returns what crosses only where objects do."""
        if letter == "s":
            return self.arrays[content[0]]
        if letter == "n":
            return _value(content[0], self, depth + 1)[()]
        if letter == "m":
            pairs = content[0]
            return {_value(k, self, depth + 1): _value(v, self, depth + 1) for k, v in pairs}
        name, held = content
        return self.objects[name](**self.mapping(held, depth))


def _value(tree: Any, body: _Body, depth: int) -> Any:
    if depth > MAX_DEPTH + 1:
        raise Garbled("nested too deep")
    if not isinstance(tree, list):
        if isinstance(tree, dict):
            raise Garbled("a dict without its letter")
        return tree
    letter, *content = tree
    if letter == "a":
        return body.array(*content)
    if letter == "c":
        real, imaginary = content
        return complex(float(real), float(imaginary))
    if body.objects and letter in ("s", "n", "m", "o"):
        return body.object(letter, content, depth)
    (inside,) = content
    if letter == "d":
        return body.mapping(inside, depth)
    if letter not in ("l", "t") or type(inside) is not list:
        raise Garbled("an unknown letter")
    if set(map(type, inside)) & {list, dict}:
        inside = [_value(each, body, depth + 1) for each in inside]
    return inside if letter == "l" else tuple(inside)
