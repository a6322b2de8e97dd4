"""Values between the grader and the process an answer runs in: JSON for structure, .npy for arrays.

Only raw values cross. Nothing that arrives is executed or unpickled, and what is said to be large
is refused before any of it is read.
"""

from __future__ import annotations

import io
import json
import math
import struct
from collections.abc import Callable
from typing import Any

import numpy as np

MOST_HEADER_BYTES = 16 << 20
MOST_BYTES = 256 << 20
MOST_DEPTH = 40
KINDS = "biufc"
"""Dtype kinds of the arrays that cross: bool, signed, unsigned, float, complex."""

_PLAIN = {type(None), bool, int, float, str}
_LENGTHS = struct.Struct("<QQ")


class Unsendable(ValueError):
    """A value that is none of those that may cross; the text says what it is and where."""


class Garbled(ValueError):
    """Bytes that are no message."""


class TooLarge(Garbled):
    """A message of more bytes than may cross."""


def pack(value: Any) -> bytes:
    """Returns a value as bytes that `unpack` turns into the same value.

    None, bools, numbers, strings, arrays of numbers, and tuples, lists and dicts with string keys
    of them. A scalar of NumPy goes as a Python number, a tensor of PyTorch as an array.

    Raises:
        Unsendable: the value, or something in it, is none of these.
        TooLarge: it takes more than MOST_BYTES.

    >>> unpack(pack({"loss": 0.5, "shape": (2, 3), "a": np.arange(3)}))
    {'loss': 0.5, 'shape': (2, 3), 'a': array([0, 1, 2])}
    """
    blobs: list[bytes] = []
    tree = _tree(value, blobs, "the value", 0)
    try:
        text = json.dumps({"value": tree, "blobs": [len(blob) for blob in blobs]})
    except ValueError as error:
        raise Unsendable(f"a number cannot be written down: {error}") from None
    header = text.encode("utf-8", "surrogatepass")
    body = sum(map(len, blobs))
    if len(header) > MOST_HEADER_BYTES or body > MOST_BYTES:
        raise TooLarge(f"{len(header) + body:,} bytes; {MOST_BYTES:,} may cross")
    return b"".join([_LENGTHS.pack(len(header), body), header, *blobs])


def unpack(data: bytes) -> Any:
    """Returns the value that `pack` made these bytes of.

    Raises:
        Garbled: they are no such bytes.
    """
    return read(io.BytesIO(data).read)


def read(take: Callable[[int], bytes]) -> Any:
    """Returns the next value of a stream; EOFError where it has ended.

    Args:
        take: returns the next n bytes, or fewer at the end of the stream.

    Raises:
        Garbled: what comes is no message.
        EOFError: the stream ended.
    """
    start = take(_LENGTHS.size)
    if len(start) < _LENGTHS.size:
        raise EOFError
    header_bytes, body_bytes = _LENGTHS.unpack(start)
    if header_bytes > MOST_HEADER_BYTES or body_bytes > MOST_BYTES:
        raise TooLarge(f"{header_bytes + body_bytes:,} bytes; {MOST_BYTES:,} may cross")
    header, body = take(header_bytes), take(body_bytes)
    if len(header) < header_bytes or len(body) < body_bytes:
        raise EOFError
    try:
        found = json.loads(header.decode("utf-8", "surrogatepass"))
        blobs, at = [], 0
        for length in found["blobs"]:
            if type(length) is not int or not 0 <= length <= len(body) - at:
                raise Garbled("lengths that do not fit")
            blobs.append(body[at : at + length])
            at += length
        return _value(found["value"], blobs, 0)
    except Garbled:
        raise
    except Exception as error:
        # Whatever these bytes were made to do, they are no message.
        raise Garbled(str(error)) from None


def _tree(value: Any, blobs: list[bytes], place: str, depth: int) -> Any:
    """Returns a value as JSON: scalars as they are, all else as [letter, content]."""
    if depth > MOST_DEPTH:
        raise Unsendable(f"{place} is nested more than {MOST_DEPTH} deep")
    if isinstance(value, np.generic):
        if value.dtype.kind not in KINDS:
            raise Unsendable(f"{place} is a NumPy {value.dtype} scalar")
        value = value.item()
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
        each = [_tree(v, blobs, f"{place}[{k}]", depth + 1) for k, v in enumerate(value)]
        return [letter, each]
    if isinstance(value, dict):
        for key in value:
            if not isinstance(key, str):
                raise Unsendable(f"{place} has the key {key!r:.60}; keys must be strings")
        return [
            "d",
            {k: _tree(v, blobs, f"{place}[{k!r:.60}]", depth + 1) for k, v in value.items()},
        ]
    array = _array(value, place)
    blobs.append(_npy(array))
    return ["a", len(blobs) - 1]


def _array(value: Any, place: str) -> np.ndarray:
    if hasattr(value, "detach") and hasattr(value, "numpy"):
        try:
            value = value.detach().cpu().resolve_conj().resolve_neg().numpy()
        except TypeError:
            raise Unsendable(
                f"{place} is a tensor of {value.dtype}, which NumPy does not have"
            ) from None
    if not isinstance(value, np.ndarray):
        raise Unsendable(f"{place} is of the type {type(value).__name__}")
    if value.dtype.kind not in KINDS:
        raise Unsendable(f"{place} is an array of dtype {value.dtype}")
    return np.asarray(value)


def _npy(array: np.ndarray) -> bytes:
    out = io.BytesIO()
    np.lib.format.write_array(out, array, version=(1, 0), allow_pickle=False)
    return out.getvalue()


def _value(tree: Any, blobs: list[bytes], depth: int) -> Any:
    if depth > MOST_DEPTH + 1:
        raise Garbled("nested too deep")
    if not isinstance(tree, list):
        if isinstance(tree, dict):
            raise Garbled("a dict without its letter")
        return tree
    letter, *content = tree
    if letter == "c":
        return complex(float(content[0]), float(content[1]))
    if letter in ("l", "t") and not set(map(type, content[0])) & {list, dict}:
        return list(content[0]) if letter == "l" else tuple(content[0])
    if letter == "l":
        return [_value(each, blobs, depth + 1) for each in content[0]]
    if letter == "t":
        return tuple(_value(each, blobs, depth + 1) for each in content[0])
    if letter == "d":
        return {str(k): _value(v, blobs, depth + 1) for k, v in content[0].items()}
    if letter == "a":
        return _from_npy(blobs[content[0]])
    raise Garbled("an unknown letter")


def _from_npy(blob: bytes) -> np.ndarray:
    """Returns the array of a .npy file; its header is believed only where the bytes bear it out."""
    file = io.BytesIO(blob)
    if np.lib.format.read_magic(file) != (1, 0):
        raise Garbled("another version of .npy")
    shape, in_columns, dtype = np.lib.format.read_array_header_1_0(file)
    count = math.prod(shape)
    if dtype.kind not in KINDS or dtype.subdtype is not None:
        raise Garbled(f"an array of dtype {dtype}")
    if len(shape) > 32 or min(shape, default=0) < 0:
        raise Garbled("an impossible shape")
    if count * dtype.itemsize != len(blob) - file.tell():
        raise Garbled("an array of another size than its header says")
    flat = np.frombuffer(blob, dtype, count, file.tell()).copy()
    return flat.reshape(shape, order="F" if in_columns else "C")
