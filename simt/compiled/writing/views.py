"""Views: a row of an array, or a part of it. Where one begins, each lane may know for itself."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace

from simt.compiled.facts.analysis import NotCompiled
from simt.compiled.writing.arrays import Memory
from simt.compiled.writing.context import Context
from simt.compiled.writing.masks import Here, Masks
from simt.compiled.writing.text import Register
from simt.compiled.writing.values import Value, Values, Worth
from simt.kernel.types import INT64

Text = Callable[[Register], str]
"""lane -> the register with its number, i64."""
MOST = str((1 << 63) - 1)


@dataclass(frozen=True)
class View:
    """A part of an array.

    Attributes:
        memory: the array, as one row of all its elements.
        first: the element that [0, 0, ...] names.
        sides, steps: along each axis, how many there are, and elements from one to the next.
    """

    memory: Memory
    first: Value
    sides: tuple[Value, ...]
    steps: tuple[Value, ...]


class Views:
    """The views of a function.

    Args:
        context, masks, values: of the function.
    """

    def __init__(self, context: Context, masks: Masks, values: Values) -> None:
        self.context, self.w, self.masks, self.values = context, context.w, masks, values
        self.arithmetic = values.arithmetic

    def of_all(self, memory: Memory) -> View:
        """Returns an array as a view of all of it."""
        flat = replace(memory, shape=(MOST,), strides=("1",))
        sides, steps = ([Value(INT64, t) for t in each] for each in (memory.shape, memory.strides))
        return View(flat, Value(INT64, "0"), tuple(sides), tuple(steps))

    def part(
        self, base: View, parts: tuple[Value | tuple[Value | None, Value | None, int], ...]
    ) -> View:
        """Returns a part of a view; gives up where one of its numbers is outside.

        Args:
            base: the view.
            parts: along each axis a number; or of a slice where it begins and ends, and its step.
        """
        first, sides, steps = self._text(base.first), [], []
        for part, side, step in zip(parts, base.sides, base.steps, strict=True):
            if isinstance(part, Value):
                self._check(part, side)
                first = self._sum(first, self._product(self._text(part), self._text(step)))
                continue
            if part == (None, None, 1):
                sides.append(side)
                steps.append(step)
                continue
            start, length = self._span(part, self._text(side))
            first = self._sum(first, self._product(start, self._text(step)))
            sides.append(self._made(length))
            steps.append(self._times(step, part[2]))
        return View(base.memory, self._made(first), tuple(sides), tuple(steps))

    def element(self, view: View, indices: tuple[Value, ...]) -> Value:
        """Returns the element of its array that an index of a view names."""
        if len(indices) != len(view.sides):
            raise NotCompiled("a row of a view")
        found = self._text(view.first)
        for index, side, step in zip(indices, view.sides, view.steps, strict=True):
            self._check(index, side)
            found = self._sum(found, self._product(self._text(index), self._text(step)))
        return self._made(found)

    def kept(self, view: View, known: View | None, here: Here) -> View:
        """Returns a copy that stays as it is, for the lanes that are here.

        Args:
            view: the view.
            known: the copy that is kept already, under the same name.
            here: the lanes that get it; others keep what they have.
        """
        if known is not None and (
            known.memory != view.memory or len(known.sides) != len(view.sides)
        ):
            raise NotCompiled("a name of views of several arrays")

        def copied(value: Value, old: Value | None) -> Value:
            if _is_fixed(value) and (old is None or old == value):
                return value
            if old is not None and not old.lanes:
                raise NotCompiled("a name of views of several shapes")
            room = Value(INT64, lanes=self.values.room(INT64)) if old is None else old
            self.values.put_where(here, value, INT64, room.lanes)
            return room

        if known is None:
            first = copied(view.first, None)
            sides = tuple(copied(each, None) for each in view.sides)
            return View(view.memory, first, sides, tuple(copied(e, None) for e in view.steps))
        copied(view.first, known.first)
        for each, old in zip((*view.sides, *view.steps), (*known.sides, *known.steps), strict=True):
            copied(each, old)
        return known

    def _check(self, index: Value, side: Value) -> None:
        at, size = self._text(index), self._text(side)
        self.masks.suspect_of_lanes(
            lambda lane: self.w.make(f"icmp uge i64 {at(lane)}, {size(lane)}")
        )

    def _span(self, span: tuple[Value | None, Value | None, int], size: Text) -> tuple[Text, Text]:
        """The first index and the length of a slice, bounded as Python bounds it."""
        w, (lower, upper, step) = self.w, span
        back = step < 0

        def low(lane: Register) -> str:
            return "-1" if back else "0"

        def high(lane: Register) -> str:
            return w.make(f"sub i64 {size(lane)}, 1") if back else size(lane)

        def bound(given: Value) -> Text:
            def text(lane: Register) -> str:
                value = self.values.converted(given, lane, INT64)
                from_end = w.make(f"add i64 {value}, {size(lane)}")
                below = w.make(f"icmp slt i64 {value}, 0")
                value = w.make(f"select i1 {below}, i64 {from_end}, i64 {value}")
                return self._clipped(value, low(lane), high(lane))

            return text

        start = bound(lower) if lower is not None else (high if back else low)
        stop = bound(upper) if upper is not None else (low if back else high)

        def length(lane: Register) -> str:
            less = w.make(f"sub i64 {start(lane)}, {stop(lane)}")
            turns = self.arithmetic.binary("FloorDiv", less, str(step), INT64)
            count = w.make(f"sub i64 0, {turns}")
            some = w.make(f"icmp sgt i64 {count}, 0")
            return w.make(f"select i1 {some}, i64 {count}, i64 0")

        def first(lane: Register) -> str:
            last = w.make(f"sub i64 {size(lane)}, 1")
            some = w.make(f"icmp sgt i64 {last}, 0")
            last = w.make(f"select i1 {some}, i64 {last}, i64 0")
            return self._clipped(start(lane), "0", last)

        return first, length

    def _clipped(self, value: str, low: str, high: str) -> str:
        """As NumPy does: at least the one, and then at most the other."""
        w = self.w
        small = w.make(f"icmp slt i64 {value}, {low}")
        value = w.make(f"select i1 {small}, i64 {low}, i64 {value}")
        large = w.make(f"icmp sgt i64 {value}, {high}")
        return w.make(f"select i1 {large}, i64 {high}, i64 {value}")

    def _text(self, value: Value) -> Text:
        return lambda lane: self.values.converted(value, lane, INT64)

    def _sum(self, one: Text, other: Text) -> Text:
        return lambda lane: self.w.make(f"add i64 {one(lane)}, {other(lane)}")

    def _product(self, one: Text, other: Text) -> Text:
        return lambda lane: self.w.make(f"mul i64 {one(lane)}, {other(lane)}")

    def _times(self, step: Value, by: int) -> Value:
        if by == 1:
            return step
        return self._made(self._product(self._text(step), lambda _: str(by)))

    def _made(self, text: Text) -> Value:
        cells = self.w.memory("i64", self.context.lanes)
        self.values.put(Worth(INT64, text), INT64, cells)
        return Value(INT64, lanes=cells)


def _is_fixed(value: Value) -> bool:
    """Whether a number is a constant, or one that the launch is given."""
    return not value.lanes and re.fullmatch(r"-?\d+|%s\d+", value.text) is not None
