"""Numbers that have been worked out: one that all lanes share, or what each lane has."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from simt.compiled.writing.arithmetic import Arithmetic, Number, memory_type
from simt.compiled.writing.context import Context
from simt.compiled.writing.masks import Here, Masks
from simt.compiled.writing.text import Register


@dataclass(frozen=True)
class Value:
    """A number that has been worked out: a register, or what each lane has of it in memory.

    Attributes:
        type: its type.
        text: the register or constant of a number that all lanes share; "" otherwise.
        lanes: where each lane's number lies; "" for a shared one.
    """

    type: Number
    text: str = ""
    lanes: str = ""


@dataclass(frozen=True)
class Worth:
    """What an expression is worth, not worked out yet.

    Attributes:
        type: its type.
        work_out: lane -> the register with its number.
    """

    type: Number
    work_out: Callable[[Register], str]


class Values:
    """What is done with numbers of all lanes."""

    def __init__(self, context: Context, masks: Masks, arithmetic: Arithmetic) -> None:
        self.context, self.w = context, context.w
        self.masks, self.arithmetic = masks, arithmetic

    def of_lane(self, value: Value | Worth, lane: Register) -> str:
        """Returns a lane's number."""
        if isinstance(value, Worth):
            return value.work_out(lane)
        if not value.lanes:
            return value.text
        kept = self.w.load(value.lanes, memory_type(value.type), lane)
        return self.arithmetic.from_memory(kept, value.type)

    def converted(self, value: Value | Worth, lane: Register, dtype: Number) -> str:
        """Returns a lane's number in a type."""
        return self.arithmetic.converted(self.of_lane(value, lane), value.type, dtype)

    def truth(self, value: Value) -> str:
        """Returns an i1, whether a number that all lanes share is not 0."""
        return self.arithmetic.truth(value.text, value.type)

    def truth_of(self, value: Value, lane: Register) -> str:
        """Returns an i1, whether a lane's number is not 0."""
        return self.arithmetic.truth(self.of_lane(value, lane), value.type)

    def in_type(self, value: Value, dtype: Number) -> Value:
        """Returns a value in a type."""
        if value.type == dtype:
            return value
        if not value.lanes:
            text = self.arithmetic.converted(value.text, value.type, dtype)
            return Value(dtype, text)
        cells = self.w.memory(memory_type(dtype), self.context.lanes)
        self.put(value, dtype, cells)
        return Value(dtype, lanes=cells)

    def put(self, value: Value | Worth, dtype: Number, into: Register) -> None:
        """Writes what lanes have, in a type, to memory of all of them."""
        w, type_ = self.w, memory_type(dtype)
        with w.loop(str(self.context.lanes)) as lane:
            text = self.arithmetic.in_memory(self.converted(value, lane, dtype), dtype)
            w.store(text, into, type_, lane)

    def put_where(self, here: Here, value: Value | Worth, dtype: Number, into: Register) -> None:
        """Writes what the lanes of a mask have, in a type, to memory of all lanes."""
        w, type_ = self.w, memory_type(dtype)
        with w.loop(self.masks.lanes_up_to(here)) as lane:
            text = self.arithmetic.in_memory(self.converted(value, lane, dtype), dtype)
            part = self.masks.takes_part(here, lane)
            old = w.load(into, type_, lane)
            w.store(w.make(f"select i1 {part}, {type_} {text}, {type_} {old}"), into, type_, lane)

    def room(self, dtype: Number) -> Register:
        """Returns memory for a number of each lane, 0 when the function begins."""
        lanes = self.context.lanes
        return self.context.zeroed(memory_type(dtype), lanes, lanes * dtype.itemsize)


def parts_of(value: Any) -> tuple[Value, ...]:
    """Returns the parts of a tuple; a number is its only one."""
    return value if isinstance(value, tuple) else (value,)
