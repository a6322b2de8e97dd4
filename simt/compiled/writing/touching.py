"""The lanes that touch an array, one after the other or a row of them at once."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from simt.compiled.writing.context import Context
from simt.compiled.writing.masks import Masks
from simt.compiled.writing.text import Register
from simt.machine.lanes import WARP


class Each:
    """Lanes that take part in an access, with operations on an i64 of each of those at work.

    Args:
        context: of the function.
        elements: memory with the element of each lane.
        masks: what tells which lanes take part.
    """

    count = 1
    type, truth = "i64", "i1"

    def __init__(self, context: Context, elements: Register, masks: Masks) -> None:
        self.context, self.w = context, context.w
        self.elements, self.masks = elements, masks
        self._noted = self.w.memory("i16")
        self.w.store("0", self._noted, "i16")

    @contextmanager
    def each(self) -> Iterator[tuple[Register, Register]]:
        """Repeats what is written within; gives the lane, and its element."""
        w, here = self.w, self.masks.here
        with (
            w.loop(self.masks.lanes_up_to(here)) as lane,
            w.when(self.masks.takes_part(here, lane)),
        ):
            yield lane, w.load(self.elements, "i64", lane)

    def note(self, condition: str) -> None:
        """Keeps that a condition was true."""
        w = self.w
        if self.count == 1:
            found = w.make(f"zext i1 {condition} to i16")
        else:
            found = w.make(f"bitcast {self.truth} {condition} to i{self.count}")
        w.store(w.make(f"or i16 {w.load(self._noted, 'i16')}, {found}"), self._noted, "i16")

    def noted(self) -> str:
        """Returns an i1, whether any condition was."""
        return self.w.make(f"icmp ne i16 {self.w.load(self._noted, 'i16')}, 0")

    def numbers(self, lane: Register) -> str:
        """The numbers of the lanes at work, of which the first is given."""
        return lane

    def all(self, text: str) -> str:
        """The same i64 for all lanes at work."""
        return text

    def constant(self, number: int) -> str:
        """A number for all of them."""
        return str(number)

    def load(self, pointer: Register, at: Register) -> str:
        """What is kept for their elements, which begin at one."""
        return self.w.make(f"load {self.type}, ptr {self.w.at(pointer, at, 'i64')}, align 8")

    def store(self, word: str, pointer: Register, at: Register) -> None:
        """Keeps something for their elements."""
        self.w.do(f"store {self.type} {word}, ptr {self.w.at(pointer, at, 'i64')}, align 8")

    def op(self, name: str, left: str, right: str) -> str:
        """Returns left op right."""
        return self.w.make(f"{name} {self.type} {left}, {right}")

    def compare(self, how: str, left: str, right: str) -> str:
        """Returns a truth."""
        return self.w.make(f"icmp {how} {self.type} {left}, {right}")

    def both(self, one: str, other: str) -> str:
        """Returns whether both are true."""
        return self.w.make(f"and {self.truth} {one}, {other}")

    def any(self, conditions: Sequence[str]) -> str:
        """Returns whether one of several is true."""
        found = conditions[0]
        for each in conditions[1:]:
            found = self.w.make(f"or {self.truth} {found}, {each}")
        return found

    def negated(self, condition: str) -> str:
        """Returns whether it is not true."""
        return self.w.make(f"xor {self.truth} {condition}, {self.constant_truth}")

    constant_truth = "true"

    def choose(self, condition: str, yes: str, no: str) -> str:
        """Returns one where a condition is true, else the other."""
        return self.w.make(f"select {self.truth} {condition}, {self.type} {yes}, {self.type} {no}")

    def number_of(self, condition: str) -> str:
        """Returns of how many a condition is true, an i64."""
        return self.w.make(f"zext i1 {condition} to i64")


class Rows(Each):
    """All lanes of a block, where so many at once stand in a row.

    Args:
        context: of the function.
        start: first lane of a row -> its element.
    """

    count = 16
    type, truth = "<16 x i64>", "<16 x i1>"
    constant_truth = "splat (i1 true)"

    def __init__(self, context: Context, start: Callable[[Register, Register], Register]) -> None:
        self.context, self.w, self.start = context, context.w, start
        self._noted = self.w.memory("i16")
        self.w.store("0", self._noted, "i16")

    @contextmanager
    def each(self) -> Iterator[tuple[Register, Register]]:
        """Repeats what is written within; gives the first lane of each row, and its element."""
        w = self.w
        with w.loop(str(self.context.lanes // self.count)) as row:
            lane = w.make(f"mul i64 {row}, {self.count}")
            yield lane, self.start(row, lane)

    def numbers(self, lane: Register) -> str:
        """The numbers of the lanes of a row."""
        each = ", ".join(f"i64 {k}" for k in range(self.count))
        return self.op("add", self.all(lane), f"<{each}>")

    def all(self, text: str) -> str:
        """The same i64 for a row."""
        return self.w.splat(text, "i64", self.count)

    def constant(self, number: int) -> str:
        """A number for a row."""
        return f"splat (i64 {number})"

    def number_of(self, condition: str) -> str:
        """Returns of how many of a row a condition is true, an i64."""
        self.context.declare("declare i16 @llvm.ctpop.i16(i16)")
        bits = self.w.make(f"bitcast {self.truth} {condition} to i16")
        found = self.w.make(f"call i16 @llvm.ctpop.i16(i16 {bits})")
        return self.w.make(f"zext i16 {found} to i64")


_SHORT = {"float": "f32", "double": "f64"}


class PartRows(Rows):
    """The lanes that take part, where so many at once stand in a row, the others left out.

    Args:
        context: of the function.
        element: a lane that takes part -> its element.
        masks: what tells which lanes take part.
    """

    def __init__(
        self, context: Context, element: Callable[[Register], Register], masks: Masks
    ) -> None:
        Each.__init__(self, context, "", masks)
        self._element, self._part = element, ""

    @contextmanager
    def each(self) -> Iterator[tuple[Register, Register]]:
        """Repeats what is written within; gives the first lane of each row, and its element."""
        w, here, count = self.w, self.masks.here, self.count
        warps = self.masks.warps_up_to(here)
        with w.loop(w.make(f"mul i64 {warps}, {WARP // count}")) as row:
            lane = w.make(f"mul i64 {row}, {count}")
            cells = w.make(f"load <{count} x i8>, ptr {w.at(here.cells, lane, 'i8')}, align 1")
            self._part = w.make(f"icmp ne <{count} x i8> {cells}, zeroinitializer")
            bits = w.make(f"bitcast {self.truth} {self._part} to i{count}")
            with w.when(w.make(f"icmp ne i{count} {bits}, 0")):
                self.context.declare("declare i16 @llvm.cttz.i16(i16, i1)")
                first = w.make(f"call i16 @llvm.cttz.i16(i16 {bits}, i1 true)")
                beside = w.make(f"zext i16 {first} to i64")
                own = self._element(w.make(f"add i64 {lane}, {beside}"))
                yield lane, w.make(f"sub i64 {own}, {beside}")

    def note(self, condition: str) -> None:
        """Keeps that a condition was true for a lane that takes part."""
        super().note(self.both(condition, self._part))

    def number_of(self, condition: str) -> str:
        """Returns of how many of those in a row that take part a condition is true, an i64."""
        return super().number_of(self.both(condition, self._part))

    def load(self, pointer: Register, at: Register) -> str:
        """What is kept for the elements of a row, which begin at one; 0 for those left out."""
        return self.get(pointer, at, "i64", 8)

    def store(self, word: str, pointer: Register, at: Register) -> None:
        """Keeps something for the elements of a row, those left out excepted."""
        self.put(word, pointer, at, "i64", 8)

    def get(self, pointer: Register, at: Register, type_: str, size: int) -> str:
        """What is in the cells of a row, of a type of LLVM's and so many bytes each."""
        vector, name = f"<{self.count} x {type_}>", f"llvm.masked.load.{self._short(type_)}.p0"
        self.context.declare(f"declare {vector} @{name}(ptr, i32, {self.truth}, {vector})")
        cells, part = self.w.at(pointer, at, type_), f"{self.truth} {self._part}"
        return self.w.make(
            f"call {vector} @{name}(ptr {cells}, i32 {size}, {part}, {vector} zeroinitializer)"
        )

    def put(self, what: str, pointer: Register, at: Register, type_: str, size: int) -> None:
        """Writes to the cells of a row, those left out excepted."""
        vector, name = f"<{self.count} x {type_}>", f"llvm.masked.store.{self._short(type_)}.p0"
        self.context.declare(f"declare void @{name}({vector}, ptr, i32, {self.truth})")
        cells, part = self.w.at(pointer, at, type_), f"{self.truth} {self._part}"
        self.w.do(f"call void @{name}({vector} {what}, ptr {cells}, i32 {size}, {part})")

    def _short(self, type_: str) -> str:
        """How LLVM's own functions call such a vector."""
        return f"v{self.count}{_SHORT.get(type_, type_)}"
