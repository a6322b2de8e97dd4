"""Writes functions in LLVM's language: registers, blocks of it, loops and branches.

A value is a register or a constant as it is written there. What changes lies in memory of the
function's own, which LLVM turns into registers where it can.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

Register = str

_TYPES = {
    "b1": "i8", "i1": "i8", "i2": "i16", "i4": "i32", "i8": "i64",
    "u1": "i8", "u2": "i16", "u4": "i32", "u8": "i64", "f4": "float", "f8": "double",
}  # fmt: skip


def name_of(dtype: np.dtype[Any]) -> str:
    """Returns what LLVM calls a number in memory.

    >>> name_of(np.dtype(np.float32)), name_of(np.dtype(np.uint16))
    ('float', 'i16')

    Raises:
        KeyError: half precision and complex numbers, and what is no number.
    """
    return _TYPES[dtype.str[1:]]


def constant(value: Any, dtype: np.dtype[Any]) -> str:
    """Returns a number as LLVM reads it, exact to the last bit.

    >>> constant(0.1, np.dtype(np.float64)), constant(-1, np.dtype(np.uint32))
    ('0x3FB999999999999A', '-1')
    """
    if dtype.kind == "f":
        # A float is written as the double it equals.
        bits = struct.unpack("<Q", struct.pack("<d", float(value)))[0]
        return f"0x{bits:016X}"
    return str(int(value))


class Writer:
    """Writes one function.

    Args:
        head: what stands before its body, such as "define i32 @block(ptr %state)".

    Attributes:
        own: what the function does first.
        lines: the rest of its body.
        compact: whether loops are to stay as short as they are written. Of a module, one function
            may have such loops.
    """

    def __init__(self, head: str) -> None:
        self.head = head
        self.own: list[str] = []
        self.lines: list[str] = []
        self.compact = False
        self._count = 0
        self._loops: list[int] = []

    def text(self) -> str:
        """Returns the function."""
        body = "\n".join(["begin:", *self.own, *self.lines])
        told = [f"!{n} = distinct !{{!{n}, !0}}" for n in self._loops]
        if told:
            told.insert(0, '!0 = !{!"llvm.loop.unroll.disable"}')
        return f"{self.head} {{\n{body}\n}}\n" + "".join(f"{line}\n" for line in told)

    def number(self) -> int:
        """Returns a number that nothing else has."""
        self._count += 1
        return self._count

    def make(self, operation: str) -> Register:
        """Writes an operation; returns the register with its result."""
        register = f"%v{self.number()}"
        self.lines.append(f"  {register} = {operation}")
        return register

    def do(self, operation: str) -> None:
        """Writes an operation without a result."""
        self.lines.append(f"  {operation}")

    def label(self, name: str) -> None:
        """Begins a block of code, which the one before it goes on to."""
        self.do(f"br label %{name}")
        self.lines.append(f"{name}:")

    def memory(self, type_: str, count: int = 1, align: int = 64) -> Register:
        """Returns a pointer to memory of the function's own."""
        register = f"%m{self.number()}"
        what = f"[{count} x {type_}]" if count > 1 else type_
        at = align if count > 1 else 8
        self.own.append(f"  {register} = alloca {what}, align {at}")
        return register

    def at(self, pointer: Register, index: str, type_: str) -> Register:
        """Returns a pointer to a cell."""
        return self.make(f"getelementptr inbounds {type_}, ptr {pointer}, i64 {index}")

    def load(self, pointer: Register, type_: str, index: str | None = None) -> Register:
        """Returns what is in memory."""
        if index is not None:
            pointer = self.at(pointer, index, type_)
        return self.make(f"load {type_}, ptr {pointer}")

    def store(self, value: str, pointer: Register, type_: str, index: str | None = None) -> None:
        """Writes to memory."""
        if index is not None:
            pointer = self.at(pointer, index, type_)
        self.do(f"store {type_} {value}, ptr {pointer}")

    def add(self, value: str, pointer: Register, index: str | None = None) -> None:
        """Adds to an i64 in memory."""
        if index is not None:
            pointer = self.at(pointer, index, "i64")
        old = self.load(pointer, "i64")
        self.store(self.make(f"add i64 {old}, {value}"), pointer, "i64")

    def splat(self, text: str, type_: str, count: int) -> Register:
        """Returns a vector with the same number in all places."""
        vector = f"<{count} x {type_}>"
        one = self.make(f"insertelement {vector} poison, {type_} {text}, i32 0")
        order = f"<{count} x i32> zeroinitializer"
        return self.make(f"shufflevector {vector} {one}, {vector} poison, {order}")

    @contextmanager
    def loop(self, count: str) -> Iterator[Register]:
        """Repeats what is written within; gives the number of the turn, i64 from 0."""
        n = self.number()
        counter = self.memory("i64")
        self.store("0", counter, "i64")
        self.label(f"test{n}")
        turn = self.load(counter, "i64")
        goes_on = self.make(f"icmp slt i64 {turn}, {count}")
        self.do(f"br i1 {goes_on}, label %turn{n}, label %after{n}")
        self.lines.append(f"turn{n}:")
        yield turn
        self.store(self.make(f"add nuw nsw i64 {turn}, 1"), counter, "i64")
        how = ""
        if self.compact:
            how = f", !llvm.loop !{n}"
            self._loops.append(n)
        self.do(f"br label %test{n}{how}")
        self.lines.append(f"after{n}:")

    @contextmanager
    def when(self, condition: str) -> Iterator[None]:
        """Does what is written within if a condition, an i1, is true."""
        n = self.number()
        self.do(f"br i1 {condition}, label %then{n}, label %after{n}")
        self.lines.append(f"then{n}:")
        yield
        self.label(f"after{n}")

    @contextmanager
    def either(self, condition: str) -> Iterator[Callable[[], None]]:
        """Does what is written within if a condition is true, and what follows the call if not."""
        n = self.number()
        self.do(f"br i1 {condition}, label %either{n}, label %or{n}")
        self.lines.append(f"either{n}:")

        def otherwise() -> None:
            self.do(f"br label %both{n}")
            self.lines.append(f"or{n}:")

        yield otherwise
        self.label(f"both{n}")

    @contextmanager
    def repeat(self) -> Iterator[str]:
        """Repeats what is written within until it goes to the label that this gives."""
        n = self.number()
        self.label(f"again{n}")
        yield f"done{n}"
        self.do(f"br label %again{n}")
        self.lines.append(f"done{n}:")

    def leave_unless(self, condition: str, label: str) -> None:
        """Goes to a label if a condition is false."""
        n = self.number()
        self.do(f"br i1 {condition}, label %stay{n}, label %{label}")
        self.lines.append(f"stay{n}:")
