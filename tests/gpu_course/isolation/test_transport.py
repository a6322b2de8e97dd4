"""What crosses to an answer and back: a value comes out as it went in, nothing else gets in."""

from __future__ import annotations

import contextlib
import json
import struct
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpu_course.isolation import transport
from gpu_course.isolation.transport import Garbled, TooLarge, Unsendable, pack, unpack

numbers = st.integers() | st.floats(allow_nan=False) | st.complex_numbers(allow_nan=False)
leaves = st.none() | st.booleans() | numbers | st.text(max_size=20)
values = st.recursive(
    leaves,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.lists(inner, max_size=4).map(tuple)
        | st.dictionaries(st.text(max_size=5), inner, max_size=4)
    ),
    max_leaves=12,
)


def identical(left: Any, right: Any) -> bool:
    """Equal, of the same types all the way down."""
    if type(left) is not type(right):
        return False
    if isinstance(left, list | tuple):
        return len(left) == len(right) and all(map(identical, left, right))
    if isinstance(left, dict):
        return list(left) == list(right) and all(identical(left[k], right[k]) for k in left)
    return left == right and str(left) == str(right)


@given(values)
def test_a_value_comes_out_as_it_went_in(value: Any) -> None:
    assert identical(unpack(pack(value)), value)


@st.composite
def arrays(draw: st.DrawFn) -> np.ndarray:
    dtype = np.dtype(draw(st.sampled_from("? i1 u2 i4 >i4 i8 f2 f4 f8 c8 c16".split())))
    shape = tuple(draw(st.lists(st.integers(0, 4), max_size=4)))
    count = int(np.prod(shape))
    raw = draw(st.binary(min_size=count * dtype.itemsize, max_size=count * dtype.itemsize))
    if dtype.kind == "b":
        raw = bytes(byte & 1 for byte in raw)
    array = np.frombuffer(raw, dtype).reshape(shape)
    return draw(st.sampled_from([array, array.T, array[..., ::-1] if shape else array]))


@given(arrays())
def test_an_array_keeps_shape_dtype_and_bits(array: np.ndarray) -> None:
    found = unpack(pack({"a": [array, 1]}))["a"][0]
    assert (found.shape, found.dtype) == (array.shape, array.dtype)
    assert found.tobytes() == array.tobytes()
    # It is the grader's own: nothing the sender still holds can change it.
    assert (found.flags.writeable and found.base is None) or found.base.flags.owndata


def test_numbers_of_numpy_and_tensors_become_plain() -> None:
    import torch

    got = unpack(pack((np.float32(0.5), np.int64(3), np.True_, torch.arange(3.0))))
    assert got[:3] == (0.5, 3, True)
    assert [type(v) for v in got[:3]] == [float, int, bool]
    assert got[3].dtype == np.float32 and got[3].tolist() == [0.0, 1.0, 2.0]
    grad = torch.ones(2, requires_grad=True) * 2
    assert unpack(pack(grad)).tolist() == [2.0, 2.0]


class Equal:
    def __eq__(self, other: object) -> bool:
        return True

    __hash__ = None  # type: ignore[assignment]


class LoudInt(int):
    def __repr__(self) -> str:
        return "3"

    def __eq__(self, other: object) -> bool:
        return True

    __hash__ = int.__hash__


def test_a_subclass_crosses_as_its_raw_value() -> None:
    assert identical(unpack(pack([LoudInt(47), 1.5])), [47, 1.5])


def bfloat16() -> Any:
    import torch

    return torch.ones(2, dtype=torch.bfloat16)


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: {1, 2}, "of the type set"),
        (lambda: [1, {"a": Equal()}], "the value[1]['a'] is of the type Equal"),
        (lambda: {1: 2}, "the key 1; keys must be strings"),
        (lambda: np.array([None]), "dtype object"),
        (lambda: np.array(["a"]), "dtype <U1"),
        (lambda: np.zeros(2, [("x", int)]), "dtype"),
        (lambda: b"raw", "of the type bytes"),
        (lambda: 10**5000, "a number cannot be written down"),
        (lambda: len, "of the type builtin_function_or_method"),
        (bfloat16, "a tensor of torch.bfloat16"),
    ],
)
def test_what_may_not_cross_is_named(make: Any, says: str) -> None:
    with pytest.raises(Unsendable) as caught:
        pack(make())
    assert says in str(caught.value)


def test_nesting_has_an_end() -> None:
    deep: list[Any] = []
    for _ in range(transport.MAX_DEPTH):
        deep = [deep]
    assert identical(unpack(pack(deep)), deep)
    with pytest.raises(Unsendable, match="nested"):
        pack([deep])
    deep.append(deep)
    with pytest.raises(Unsendable, match="nested"):
        pack(deep)


def test_what_is_too_large_is_refused_before_it_is_sent_and_before_it_is_read(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    data = pack(np.zeros(1000))
    monkeypatch.setattr(transport, "MAX_BYTES", 4000)
    with pytest.raises(TooLarge, match="may cross"):
        pack(np.zeros(1000))
    with pytest.raises(TooLarge):
        unpack(data)
    asked: list[int] = []

    def take(count: int) -> bytes:
        asked.append(count)
        return struct.pack("<QQ", 2**60, 2**60)[:count]

    with pytest.raises(TooLarge):
        transport.read(take)
    assert asked == [16]


def message(value: Any, body: bytes = b"") -> bytes:
    header = json.dumps(value).encode()
    return struct.pack("<QQ", len(header), len(body)) + header + body


@pytest.mark.parametrize(
    "data",
    [
        message(["z", 1]),
        message({"a": 1}),
        message(["a", 0]),
        message(["a", "<f8", [1], False]),
        message(["a", "<f8", [9], False], b"x" * 8),
        message(["a", "<f8", [-1], False], b"x" * 8),
        message(["a", "<f8", [True], False], b"x" * 8),
        message(["a", "<f8", ["1"], False], b"x" * 8),
        message(["a", "<f8", {}, False], b"x" * 8),
        message(["a", "<f8", [1.0], False], b"x" * 8),
        message(["a", "<f8", [1], 1], b"x" * 8),
        message(["a", ["<f8"], [1], False], b"x" * 8),
        message(["a", "|O", [1], False], b"x" * 8),
        message(["a", "|S0", [9_999_999], False]),
        message(["a", "<f8,<f8", [1], False], b"x" * 16),
        message(["a", "<f8", [0, 1 << 70], False]),
        message(["a", "<f8", [1] * 33, False], b"x" * 8),
        message(["a", "<f8", [1 << 40, 1 << 40], False], b"x" * 8),
        message(["l", [["a", "|u1", [4], False]] * 2], b"x" * 4),
        message(["a", "|u1", [4], False], b"x" * 5),
        message(1, b"x"),
        message(["d", {"a": ["a", 7, [1], False]}]),
        message(["l", 5]),
        message(["l", "text"]),
        message(["l", {"a": 1}]),
        message(["l"]),
        message(["l", [], []]),
        message([]),
        message([["l"], []]),
        message(["c", "x", 1]),
        message(["c", 1]),
        message(["c", 10**400, 1]),
        message(["d", [1]]),
        message([[[1]]]),
        struct.pack("<QQ", 4, 0) + b"nope",
        struct.pack("<QQ", 2, 0) + b"\xff\xfe",
        struct.pack("<QQ", 5000, 0) + b"9" * 5000,
        struct.pack("<QQ", 200_000, 0) + b"[" * 200_000,
        struct.pack("<QQ", 49, 4) + b'["d", {"a": ["a", "|u1", [4], false], "a": null}]four',
    ],
)  # fmt: skip
def test_bytes_that_are_no_message_are_garbled(data: bytes) -> None:
    with pytest.raises(Garbled):
        unpack(data)


@pytest.mark.parametrize(
    "header",
    [
        b"[" + b"[]," * transport.MAX_VALUES + b"[]]",
        b'["l", [' + b"1," * transport.MAX_VALUES + b"1]]",
        b'["d", {"a": ' + b"{}," * transport.MAX_VALUES + b"{}}]",
        json.dumps(["l", [["a", "|u1", [0], False]] * (transport.MAX_ARRAYS + 1)]).encode(),
    ],
)
def test_a_header_of_too_many_parts_is_refused(
    header: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    if b'"a", "|u1"' not in header:
        # It is not even read as JSON: what that would take is more than what came.
        monkeypatch.setattr(json, "loads", lambda text: pytest.fail("the header was read"))
    with pytest.raises(TooLarge):
        unpack(struct.pack("<QQ", len(header), 0) + header)


@pytest.mark.parametrize(
    "value",
    [
        [0] * transport.MAX_VALUES,
        [[0] * 1024] * (transport.MAX_VALUES >> 10),
        [np.zeros(0)] * (transport.MAX_ARRAYS + 1),
        np.broadcast_to(np.int8(1), (transport.MAX_BYTES + 1,)),
        [np.zeros(transport.MAX_BYTES // 80)] * 11,
        "x" * transport.MAX_HEADER_BYTES,
    ],
    ids=["parts", "lists of parts", "arrays", "a broadcast array", "one array many times", "text"],
)
def test_a_value_that_could_not_be_read_is_not_sent(value: Any) -> None:
    with pytest.raises(TooLarge):
        pack(value)


shapes = st.lists(
    st.integers(-2, 1 << 70) | st.integers(0, 3) | st.floats() | st.none(), max_size=4
)
forged_arrays = st.tuples(
    st.just("a"), st.sampled_from([*transport._DTYPES, "|O", "x", 3]), shapes, st.booleans()
)
anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=4) | forged_arrays,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.tuples(st.sampled_from("acdltz"), inner)
        | st.tuples(st.sampled_from("lt"), st.lists(inner, max_size=4))
        | st.dictionaries(st.text(max_size=3), inner, max_size=3)
    ),
    max_leaves=20,
)


@given(anything, st.binary(max_size=64))
def test_any_header_ends_in_a_value_or_an_error_of_ours(tree: Any, body: bytes) -> None:
    with contextlib.suppress(Garbled):
        unpack(message(tree, body))


@given(st.binary(max_size=200))
def test_any_bytes_end_in_a_value_or_an_error_of_ours(data: bytes) -> None:
    framed = struct.pack("<QQ", len(data), 0) + data
    for each in (data, framed):
        with contextlib.suppress(Garbled, EOFError):
            unpack(each)


@given(values, st.integers(0, 60))
def test_a_stream_that_stops_early_has_ended(value: Any, cut: int) -> None:
    data = pack(value)
    with pytest.raises(EOFError):
        unpack(data[: max(0, len(data) - 1 - cut)])
