"""Writes a kernel as a function that runs one block: a loop over its lanes for each statement.

It does what `machine.interpreter` does, in the same order, for the same lanes, and counts the same.
Where the interpreter would report something, the function returns 1, and whatever it has done is
thrown away.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from simt.compiled import traffic
from simt.compiled.analysis import Analysis, NotCompiled, parts
from simt.compiled.intervals import unraced_loads
from simt.compiled.text import Register, Writer, constant, name_of
from simt.kernel import ir, types
from simt.kernel.legality import STEPS_OF_ACCESSES
from simt.kernel.types import BOOL, FLOAT32, FLOAT64, INT32, INT64, RangeType, TupleType
from simt.machine.lanes import WARP
from simt.machine.memory import row_major
from simt.report import Dim3
from simt.vocabulary.loops import AHEAD, ARRAY_LENGTH, LEAST, MAX_TURNS

Number = np.dtype[Any]
CLEAN, SUSPECT = 0, 1
SEVERAL, WARPS = 4095, 2048
"""In the place of a thread: several of a block, and the first of those of one warp."""


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
class _Worth:
    """What an expression is worth, not worked out yet."""

    type: Number
    work_out: Callable[[Register], str]


@dataclass(frozen=True)
class Here:
    """The lanes that take part.

    Attributes:
        cells: pointer to an i8 for each lane, 1 for those that do; "" where all do.
        bits: pointer to an i32 for each warp.
        count, warps: pointers to their number, and that of their warps; or a constant.
    """

    cells: str
    bits: str
    count: str
    warps: str


@dataclass
class Memory:
    """An array as compiled code finds it.

    Attributes:
        name: of the argument, or of the array that the kernel makes.
        space: "global", "shared", "local" or "const".
        dtype: of a cell.
        shape, strides: for each axis a constant, or the slot that holds it.
        stored, loaded: whether the kernel does that to it.
    """

    name: str
    space: str
    dtype: Number
    shape: tuple[str, ...]
    strides: tuple[str, ...]
    stored: bool = True
    cells: int = 0
    offset: int = 0
    number: int = 0


@dataclass
class Loop:
    """A loop under way, with the lanes that have left it or skip the rest of a turn."""

    broken: str
    continued: str
    label: str
    parts: bool


class Emitter:
    """Writes the function of a kernel.

    Args:
        code: the kernel.
        block: of the launch.
        given: parameter -> "array", or the type of a number.

    Attributes:
        slots: what the function finds in its state, by name -> the word.
        counted: (line, what) -> its first counter.
        sites: how many places touch memory.
    """

    def __init__(self, code: ir.Code, block: Dim3, unset: frozenset[str] = frozenset()) -> None:
        self.code, self.block = code, block
        self.threads = block[0] * block[1] * block[2]
        self.lanes = -(-self.threads // WARP) * WARP
        self.warps = self.lanes // WARP
        self.unset = unset
        self.analysis = _analysed(code, block, {})
        self.types = code.types
        self.calls: list[ir.Code] = []
        self.result = ""
        self.slots: dict[str, int] = {}
        self.counted: dict[tuple[int, str], int] = {}
        self.counters = 0
        self.sites = 0
        self.w = Writer("define i32 @block(ptr noalias %state)")
        self.variables: dict[str, Any] = {}
        self.defined: dict[str, str] = {}
        self.temporaries: dict[int, Any] = {}
        self.arrays: dict[Any, Memory] = {}
        self.loops: list[Loop] = []
        self.made: dict[int, Any] = {}
        self.global_sizes: set[int] = set()
        self.shared_sizes: set[int] = set()
        self.math: set[str] = set()
        self.steps = 0
        self.travelling: list[str] = []

    # The whole

    def text(self) -> str:
        """Returns the module.

        Raises:
            NotCompiled: the kernel has something that stays with the interpreter.
        """
        code, w = self.code, self.w
        if code.mixed_widths or code.partial_warps or code.captured:
            raise NotCompiled("mixed widths, parts of warps, or arrays beside the kernel")
        self.loaded, self.written = _touched(code)
        self._unraced = unraced_loads(code)
        self._lines = sorted(_global_loads(code.body))
        self.has_atomics = any(name.startswith("cuda.atomic") for name in code.names)
        if any("fence" in name or "cuda.cg" in name for name in code.names):
            raise NotCompiled("fences, and barriers of the grid")
        self.has_tiles = bool(code.static_shared_bytes)
        if any(request.dynamic for request in code.arrays):
            raise NotCompiled("dynamic shared memory")
        if any(request.dtype.kind not in "biuf" or request.dtype.itemsize == 2
               and request.dtype.kind == "f" for request in code.arrays):
            raise NotCompiled("structures, or numbers that are not compiled")
        self.state: dict[str, str] = {}
        self.everybody = self._everybody()
        self.here = self.everybody
        self.returned = self.everybody
        for name, (given, own) in code.parameters.items():
            self._parameter(name, given, own)
        self.epoch = w.memory("i64")
        w.store(self.slot("epoch"), self.epoch, "i64")
        self.first_epoch = self.slot("epoch")
        self.met = w.memory("i64")
        w.store("0", self.met, "i64")
        self.spent = w.memory("i64")
        w.store("0", self.spent, "i64")
        self.synced = ""
        if "cuda.syncwarp" in code.names:
            self.synced = w.memory("i64", max(self.warps, 2))
            with w.loop(str(self.warps)) as warp:
                w.store("0", self.synced, "i64", warp)
        self.clocks = w.memory("i64", self.warps) if code.static_shared_bytes else ""
        if self.clocks:
            with w.loop(str(self.warps)) as warp:
                at = w.at(self.slot("clocks"), warp, "i64")
                w.store(w.make(f"add i64 {w.load(at, 'i64')}, 1"), self.clocks, "i64", warp)
        self.block_of(code.body)
        if self.clocks:
            with w.loop(str(self.warps)) as warp:
                w.store(w.load(self.clocks, "i64", warp), self.slot("clocks"), "i64", warp)
        w.store(w.make(f"add i64 {w.load(self.epoch, 'i64')}, 1"),
                w.at("%state", str(self.number_of("epoch")), "i64"), "i64")
        w.store(w.load(self.spent, "i64"),
                w.at("%state", str(self.number_of("steps")), "i64"), "i64")
        w.do(f"ret i32 {CLEAN}")
        w.lines.append("suspect:")
        w.do(f"ret i32 {SUSPECT}")
        helpers = traffic.functions(self.global_sizes, self.shared_sizes)
        return "\n".join([helpers, *sorted(_DECLARED), *self._math_functions(), w.text()])

    def number_of(self, name: str) -> int:
        """The word of the state that has a name."""
        return self.slots.setdefault(name, len(self.slots))

    def slot(self, name: str) -> Register:
        """Returns a word of the state, as an i64 or a pointer to memory."""
        pointer = name.startswith(("data ", "shadow ", "unset ", "left ")) or name in _POINTERS
        if name not in self.state:
            at = f"%s{self.number_of(name)}"
            type_ = "ptr" if pointer else "i64"
            self.w.own.append(
                f"  {at}.at = getelementptr inbounds i64, ptr %state, i64 {self.number_of(name)}"
            )
            self.w.own.append(f"  {at} = load {type_}, ptr {at}.at")
            self.state[name] = at
        return self.state[name]

    def count(self, line: int, what: str, size: int = 1) -> Register:
        """Returns a pointer to the first counter of something at a line."""
        if (line, what) not in self.counted:
            self.counted[line, what] = self.counters
            self.counters += size
        return self.w.at(self.slot("counters"), str(self.counted[line, what]), "i64")

    def _everybody(self) -> Here:
        w = self.w
        bits = w.memory("i32", max(self.warps, 2))
        full = self.threads == self.lanes
        with w.loop(str(self.warps)) as warp:
            w.store("-1", bits, "i32", warp)
        if full:
            return Here("", bits, str(self.threads), str(self.warps))
        cells = w.memory("i8", self.lanes)
        with w.loop(str(self.lanes)) as lane:
            inside = w.make(f"icmp slt i64 {lane}, {self.threads}")
            w.store(w.make(f"zext i1 {inside} to i8"), cells, "i8", lane)
        left = self.threads % WARP
        w.store(str((1 << left) - 1), bits, "i32", str(self.warps - 1))
        return Here(cells, bits, str(self.threads), str(self.warps))

    def _parameter(self, name: str, given: Any, own: Any) -> None:
        if isinstance(given, types.ArrayType):
            if given != own or given.dtype.kind not in "biuf":
                raise NotCompiled(f"{name} is an array of {given.dtype}")
            name_of_or_not(given.dtype)
            self.arrays[name] = Memory(
                name,
                "global",
                given.dtype,
                tuple(self.slot(f"shape {name} {axis}") for axis in range(given.ndim)),
                tuple(self.slot(f"stride {name} {axis}") for axis in range(given.ndim)),
                stored=name in self.code.stored,
            )
            self.variables[name] = self.arrays[name]
            return
        if not isinstance(given, np.dtype) or not isinstance(own, np.dtype):
            raise NotCompiled(f"{name} is neither an array nor a number")
        name_of_or_not(given)
        word = self.slot(f"number {name}")
        value = self._from_word(word, given)
        value = self.converted(value, given, own)
        self._give(name, own, Value(own, value), self.everybody, first=True)

    def _from_word(self, word: Register, dtype: Number) -> Register:
        w, size = self.w, dtype.itemsize * 8
        narrow = word if size == 64 else w.make(f"trunc i64 {word} to i{size}")
        if dtype.kind == "f":
            return w.make(f"bitcast i{size} {narrow} to {name_of(dtype)}")
        if dtype == BOOL:
            return w.make(f"icmp ne i8 {narrow}, 0")
        return narrow

    # Lanes

    def number_here(self, here: Here) -> str:
        """Returns how many lanes take part, an i64."""
        return self.w.load(here.count, "i64") if here.count.startswith("%") else here.count

    def warps_here(self, here: Here) -> str:
        """Returns of how many warps."""
        return self.w.load(here.warps, "i64") if here.warps.startswith("%") else here.warps

    def takes_part(self, here: Here, lane: Register) -> str:
        """Returns an i1, whether a lane does."""
        if not here.cells:
            return "true"
        return self.w.make(f"icmp ne i8 {self.w.load(here.cells, 'i8', lane)}, 0")

    def fresh(self) -> Here:
        """Returns room for a mask."""
        w = self.w
        return Here(
            w.memory("i8", self.lanes),
            w.memory("i32", max(self.warps, 2)),
            w.memory("i64"),
            w.memory("i64"),
        )

    def counted_mask(self, here: Here) -> Here:
        """Counts the lanes of a mask whose cells have been set."""
        w = self.w
        w.store("0", here.count, "i64")
        w.store("0", here.warps, "i64")
        with w.loop(str(self.warps)) as warp:
            first = w.make(f"shl i64 {warp}, 5")
            vector = w.make(f"load <32 x i8>, ptr {w.at(here.cells, first, 'i8')}, align 32")
            set_ = w.make(f"icmp ne <32 x i8> {vector}, zeroinitializer")
            bits = w.make(f"bitcast <32 x i1> {set_} to i32")
            w.store(bits, here.bits, "i32", warp)
            number = w.make(f"call i32 @llvm.ctpop.i32(i32 {bits})")
            w.add(w.make(f"zext i32 {number} to i64"), here.count)
            some = w.make(f"icmp ne i32 {bits}, 0")
            w.add(w.make(f"zext i1 {some} to i64"), here.warps)
        return here

    def where(self, here: Here, condition: Callable[[Register], str]) -> Here:
        """Returns the lanes of a mask for which a condition, an i1, holds."""
        w, found = self.w, self.fresh()
        with w.loop(str(self.lanes)) as lane:
            holds = condition(lane)
            part = self.takes_part(here, lane)
            both = w.make(f"select i1 {part}, i1 {holds}, i1 false")
            w.store(w.make(f"zext i1 {both} to i8"), found.cells, "i8", lane)
        return self.counted_mask(found)

    def without(self, here: Here, other: Here | str) -> Here:
        """Returns the lanes of a mask that are not in another, or not in its cells."""
        cells = other if isinstance(other, str) else other.cells
        w = self.w
        return self.where(
            here, lambda lane: w.make(f"icmp eq i8 {w.load(cells, 'i8', lane)}, 0")
        )

    def is_empty(self, here: Here) -> str:
        """Returns an i1."""
        if not here.count.startswith("%"):
            return "false"
        return self.w.make(f"icmp eq i64 {self.w.load(here.count, 'i64')}, 0")

    def suspect_if(self, condition: str) -> None:
        """Gives up if an i1 is true."""
        n = self.w.number()
        self.w.do(f"br i1 {condition}, label %suspect, label %clean{n}")
        self.w.lines.append(f"clean{n}:")

    @contextmanager
    def among(self, here: Here) -> Any:
        """What is written within is done by the lanes of a mask."""
        before, self.here = self.here, here
        yield
        self.here = before

    # Statements

    def block_of(self, body: ir.Block) -> bool:
        """Writes statements, which at least one lane comes to; returns whether any may go on."""
        for number, node in enumerate(body):
            if node.steps:
                self._spend(node.steps)
            goes_on = self._statement(node)
            if not goes_on:
                return False
            if _may_leave(node) and number + 1 < len(body):
                # Nothing after it is done once nobody is left.
                n = self.w.number()
                self.w.do(
                    f"br i1 {self.is_empty(self.here)}, label %over{n}, label %on{n}"
                )
                self.w.lines.append(f"on{n}:")
                before = self.here
                self.block_of(body[number + 1 :])
                if self.here is not before:
                    self._same(before, self.here)
                    self.here = before
                self.w.label(f"over{n}")
                return True
        return True

    def _same(self, into: Here, here: Here) -> None:
        """Copies a mask into the room of another."""
        w = self.w
        if not into.cells:
            raise NotCompiled("lanes leave where all of them stand")
        with w.loop(str(self.lanes)) as lane:
            cell = w.load(here.cells, "i8", lane) if here.cells else "1"
            w.store(cell, into.cells, "i8", lane)
        self.counted_mask(into)

    def _spend(self, steps: int) -> None:
        self.w.add(str(steps), self.spent)

    def _statement(self, node: ir.Statement) -> bool:
        if isinstance(node, ir.Assign):
            self._assign(node)
        elif isinstance(node, ir.Store):
            self._store(node)
        elif isinstance(node, ir.If):
            self._if(node)
        elif isinstance(node, ir.Loop):
            self._loop(node)
        elif isinstance(node, ir.Leave):
            self._leave(node)
            return False
        return True

    def _assign(self, node: ir.Assign) -> None:
        target = node.target
        if target is None and isinstance(node.value, ir.Constant):
            return
        value = node.value
        if isinstance(target, str) and isinstance(self.types.get(target), types.ArrayType):
            self.variables[target] = self.array(value)
            return
        if isinstance(target, int) and isinstance(value.type, types.ArrayType):
            self.temporaries[target] = self.array(value)
            return
        if isinstance(target, str) and isinstance(node.type, np.dtype) and self._direct(node):
            return
        found = self.worked_out(value)
        if target is None:
            return
        if isinstance(target, int):
            self._put_aside(target, found)
        else:
            if not isinstance(node.type, np.dtype):
                raise NotCompiled(f"{target} holds no number")
            self._give(target, node.type, found, self.here)

    def _direct(self, node: ir.Assign) -> bool:
        """Sets a variable to what an expression is worth, lane by lane; returns whether it could."""
        value, target = node.value, node.target
        if isinstance(value, ir.Element | ir.Tuple | ir.Load | ir.DeviceCall) or not isinstance(
            value.type, np.dtype
        ):
            return False
        if isinstance(value, ir.Call) and _is_done_here(value):
            return False
        if self.analysis.alike.get(target) is True or self.analysis.of(value) is True:  # type: ignore[arg-type]
            return False
        self._prepare(value)
        self._operations(value, self.here)
        worth = _Worth(value.type, lambda lane: self.pure(value, lane))
        self._give(target, node.type, worth, self.here)  # type: ignore[arg-type]
        return True

    def _put_aside(self, number: int, found: Any) -> None:
        """Sets a temporary, of all lanes."""
        if isinstance(found, Memory):
            self.temporaries[number] = found
            return
        alike = self.analysis.alike.get(number, False)
        known = self.temporaries.get(number)
        self.temporaries[number] = self._kept(found, alike, known)

    def _kept(self, found: Any, alike: Any, known: Any) -> Any:
        """Copies a value to memory of its own, which is kept from one time to the next."""
        if isinstance(found, tuple):
            old = known if isinstance(known, tuple) else (None,) * len(found)
            each = alike if isinstance(alike, tuple) else (alike,) * len(found)
            return tuple(map(self._kept, found, each, old))
        w, type_ = self.w, self._word(found.type)
        if alike is True:
            place = known if known is not None else ("one", w.memory(type_), found.type)
            w.store(self._in_memory(found.text, found.type), place[1], type_)
            return place
        place = known if known is not None else ("each", w.memory(type_, self.lanes), found.type)
        with w.loop(str(self.lanes)) as lane:
            w.store(self._in_memory(self.of_lane(found, lane), found.type), place[1], type_, lane)
        return place

    @staticmethod
    def _word(dtype: Number) -> str:
        return name_of_or_not(dtype)

    def _in_memory(self, text: str, dtype: Number) -> str:
        if dtype != BOOL:
            return text
        return self.w.make(f"zext i1 {text} to i8")

    def _from_memory(self, text: str, dtype: Number) -> str:
        if dtype != BOOL:
            return text
        return self.w.make(f"icmp ne i8 {text}, 0")

    def _give(
        self, name: str, dtype: Number, found: Value, here: Here, *, first: bool = False
    ) -> None:
        """Sets a variable in the lanes that are here."""
        w, type_ = self.w, self._word(dtype)
        if self.analysis.alike.get(name) is True:
            if name not in self.variables:
                self.variables[name] = ("one", w.memory(type_), dtype)
            text = self.converted(found.text, found.type, dtype)
            w.store(self._in_memory(text, dtype), self.variables[name][1], type_)
            return
        if name not in self.variables:
            cells = w.memory(type_, self.lanes)
            self.variables[name] = ("each", cells, dtype)
            w.own.append(f"  call void @llvm.memset.p0.i64(ptr {cells}, i8 0, "
                         f"i64 {self.lanes * dtype.itemsize}, i1 false)")
        cells = self.variables[name][1]
        checked = self._defined(name) if name in self.analysis.checked else ""
        with w.loop(str(self.lanes)) as lane:
            text = self._in_memory(
                self.converted(self.of_lane(found, lane), found.type, dtype), dtype
            )
            if here.cells:
                part = self.takes_part(here, lane)
                old = w.load(cells, type_, lane)
                text = w.make(f"select i1 {part}, {type_} {text}, {type_} {old}")
            w.store(text, cells, type_, lane)
            if checked:
                part = self.takes_part(here, lane)
                old = w.load(checked, "i8", lane)
                w.store(w.make(f"select i1 {part}, i8 1, i8 {old}"), checked, "i8", lane)

    def _defined(self, name: str) -> str:
        """Memory that says which lanes a variable has been given in."""
        if name not in self.defined:
            cells = self.w.memory("i8", self.lanes)
            self.w.own.append(f"  call void @llvm.memset.p0.i64(ptr {cells}, i8 0, "
                              f"i64 {self.lanes}, i1 false)")
            self.defined[name] = cells
        return self.defined[name]

    def _store(self, node: ir.Store) -> None:
        if node.field:
            raise NotCompiled("a field of a structure")
        value = self.worked_out(node.value)
        memory = self.array(node.array)
        indices = self.worked_out(node.index)
        w, here = self.w, self.here
        type_ = self._word(memory.dtype)
        data = self.data(memory)
        if memory.space == "local":
            elements = self.access("store", node.site, memory, indices)
            with w.loop(str(self.lanes)) as lane, w.when(self.takes_part(here, lane)):
                at = w.load(elements, "i64", lane)
                text = self.converted(self.of_lane(value, lane), value.type, memory.dtype)
                w.store(self._in_memory(text, memory.dtype), data, type_,
                        self._own_cell(memory, at, lane))
        else:
            given = self._as(value, memory.dtype)
            vector, wide = f"<32 x {type_}>", f"v32{_short(memory.dtype)}"
            scatter = f"llvm.masked.scatter.{wide}.v32p0"
            _DECLARED.add(f"declare void @{scatter}({vector}, <32 x ptr>, i32, <32 x i1>)")

            def put(warp: Register, places: Register, memo: Register) -> None:
                if given.lanes:
                    own = w.at(given.lanes, w.make(f"shl i64 {warp}, 5"), type_)
                    what = w.make(f"load {vector}, ptr {own}, align 1")
                else:
                    what = self._splat(self._in_memory(given.text, memory.dtype), type_)

                def in_a_row(first: Register) -> None:
                    w.do(f"store {vector} {what}, ptr {w.at(data, first, type_)}, align 1")

                def other(at: Register, part: str) -> None:
                    to = w.make(f"getelementptr inbounds {type_}, ptr {data}, <32 x i64> {at}")
                    w.do(f"call void @{scatter}({vector} {what}, <32 x ptr> {to}, "
                         f"i32 {memory.dtype.itemsize}, <32 x i1> {part})")

                self._by_shape(places, memo, self._bits_of(here, warp), in_a_row, None, other)

            elements = self.access("store", node.site, memory, indices, None, put)
        self._mark_written(memory, elements)

    def _if(self, node: ir.If) -> None:
        alike = self.analysis.of(node.test) is True
        test = self.worked_out(node.test)
        w, before = self.w, self.here
        if alike:
            taken = self._truth(test)
            if _may_leave(node):
                before = self._own_room(before)
            if node.branches:
                w.add(self.warps_here(before), self.count(node.test.line, "branches"))
            n = w.number()
            w.do(f"br i1 {taken}, label %yes{n}, label %no{n}")
            w.lines.append(f"yes{n}:")
            self._arm(node.body, before)
            w.do(f"br label %end{n}")
            w.lines.append(f"no{n}:")
            self._arm(node.orelse, before)
            w.label(f"end{n}")
            self.here = before
            return
        yes = self.where(before, lambda lane: self._truth_of(test, lane))
        self._branch(node.test.line, before, yes, counted=node.branches)
        no = self.without(before, yes) if node.orelse else None
        left = _may_leave(node)
        passed = self._own_room(before) if left else before
        self._divergent_arm(node.body, yes, passed)
        if no is not None:
            self._divergent_arm(node.orelse, no, passed)
        self.here = passed

    def _own_room(self, here: Here) -> Here:
        """A copy of a mask, from which lanes can be taken."""
        return self.where(here, lambda lane: "true")

    def _arm(self, body: ir.Block, before: Here) -> None:
        """An arm that all lanes take alike."""
        self.here = before
        if not body:
            return
        goes_on = self.block_of(body)
        if not goes_on or self.here is not before:
            if not before.cells:
                raise NotCompiled("all lanes may leave by one arm of a branch")
            if not goes_on:
                self._clear(before)
            else:
                self._same(before, self.here)
        self.here = before

    def _clear(self, here: Here) -> None:
        w = self.w
        with w.loop(str(self.lanes)) as lane:
            w.store("0", here.cells, "i8", lane)
        self.counted_mask(here)

    def _divergent_arm(self, body: ir.Block, here: Here, passed: Here) -> None:
        """An arm that some lanes take; those that leave in it do not come past."""
        if not body:
            return
        w = self.w
        with w.when(w.make(f"xor i1 {self.is_empty(here)}, true")):
            taken = self._own_room(here) if passed is not self.everybody and _leaving(body) else here
            self.here = here
            goes_on = self.block_of(body)
            if _leaving(body):
                left = self.here if goes_on else None
                with w.loop(str(self.lanes)) as lane:
                    was = w.make(f"icmp ne i8 {w.load(taken.cells, 'i8', lane)}, 0")
                    stays = "false"
                    if left is not None:
                        stays = w.make(f"icmp ne i8 {w.load(left.cells, 'i8', lane)}, 0")
                    gone = w.make(f"select i1 {was}, i1 {w.make(f'xor i1 {stays}, true')}, i1 false")
                    old = w.load(passed.cells, "i8", lane)
                    w.store(w.make(f"select i1 {gone}, i8 0, i8 {old}"), passed.cells, "i8", lane)
                self.counted_mask(passed)

    def _branch(self, line: int, before: Here, taken: Here, *, counted: bool = True) -> None:
        """Counts a branch, and the warps whose lanes part at it."""
        if not counted:
            return
        w = self.w
        w.add(self.warps_here(before), self.count(line, "branches"))
        divergent = self.count(line, "divergent_branches")
        with w.loop(str(self.warps)) as warp:
            all_, yes = w.load(before.bits, "i32", warp), w.load(taken.bits, "i32", warp)
            some = w.make(f"icmp ne i32 {yes}, 0")
            differ = w.make(f"icmp ne i32 {yes}, {all_}")
            w.add(w.make(f"zext i1 {w.make(f'and i1 {some}, {differ}')} to i64"), divergent)

    def _loop(self, node: ir.Loop) -> None:
        if node.waits:
            raise NotCompiled("a loop that waits for others")
        w, before = self.w, self.here
        self.block_of(node.before)
        most, turns = self._most_turns(node), ""
        if most:
            turns = w.memory("i64")
            w.store("0", turns, "i64")
        apart = id(node) in self.analysis.divergent
        alike = self.analysis.of(node.test) is True
        n = w.number()
        if not apart and not _leaves_loop(node.body):
            w.label(f"again{n}")
            self._count_turn(most, turns, f"out{n}")
            if node.steps:
                self._spend(node.steps)
            taken = self._truth(self.worked_out(node.test))
            w.add(self.warps_here(before), self.count(node.test.line, "branches"))
            w.do(f"br i1 {taken}, label %turn{n}, label %out{n}")
            w.lines.append(f"turn{n}:")
            if node.hopeless:
                self.suspect_if("true")
            self._turn_limit()
            self.block_of(node.body)
            if self.here is not before:
                self._same(before, self.here)
                self.here = before
            self.block_of(node.after)
            w.do(f"br label %again{n}")
            w.lines.append(f"out{n}:")
            if node.orelse:
                self.block_of(node.orelse)
            return
        running = self._own_room(before)
        finished, broken, continued = (w.memory("i8", self.lanes) for _ in range(3))
        for cells in (finished, broken, continued):
            self._zero(cells)
        self.loops.append(Loop(broken, continued, f"next{n}", parts=True))
        w.label(f"again{n}")
        self.here = running
        w.do(f"br i1 {self.is_empty(running)}, label %out{n}, label %test{n}")
        w.lines.append(f"test{n}:")
        if most:
            raise NotCompiled("a loop over an array that lanes may leave apart")
        if node.steps:
            self._spend(node.steps)
        test = self.worked_out(node.test)
        if alike:
            taken = self.where(running, lambda lane: self._truth(test))
        else:
            taken = self.where(running, lambda lane: self._truth_of(test, lane))
        self._branch(node.test.line, running, taken)
        with w.loop(str(self.lanes)) as lane:
            part = self.takes_part(running, lane)
            on = self.takes_part(taken, lane)
            done = w.make(f"select i1 {part}, i1 {w.make(f'xor i1 {on}, true')}, i1 false")
            old = w.load(finished, "i8", lane)
            w.store(w.make(f"select i1 {done}, i8 1, i8 {old}"), finished, "i8", lane)
        w.do(f"br i1 {self.is_empty(taken)}, label %out{n}, label %turn{n}")
        w.lines.append(f"turn{n}:")
        if node.hopeless:
            self.suspect_if("true")
        self._turn_limit()
        self._zero(continued)
        self._same(running, taken)
        self.here = running
        goes_on = self.block_of(node.body)
        if not goes_on:
            self._clear(running)
        elif self.here is not running:
            self._same(running, self.here)
        with w.loop(str(self.lanes)) as lane:
            one, other = w.load(running.cells, "i8", lane), w.load(continued, "i8", lane)
            w.store(w.make(f"or i8 {one}, {other}"), running.cells, "i8", lane)
        self.counted_mask(running)
        self.here = taken
        self.block_of(node.after)
        w.do(f"br label %again{n}")
        w.lines.append(f"out{n}:")
        self.loops.pop()
        ended = Here(finished, *(self.fresh().bits, w.memory("i64"), w.memory("i64")))
        self.counted_mask(ended)
        if node.orelse:
            self.here = ended
            with w.when(w.make(f"xor i1 {self.is_empty(ended)}, true")):
                goes_on = self.block_of(node.orelse)
                if not goes_on:
                    self._clear(ended)
                elif self.here is not ended:
                    self._same(ended, self.here)
        with w.loop(str(self.lanes)) as lane:
            one, other = w.load(finished, "i8", lane), w.load(broken, "i8", lane)
            w.store(w.make(f"or i8 {one}, {other}"), finished, "i8", lane)
        self.here = self.counted_mask(ended)

    def _most_turns(self, node: ir.Loop) -> str:
        """The turns after which a loop over arrays or tuples ends untested, or ""."""
        if node.most is None:
            return ""
        assert isinstance(node.most, ir.Call) and node.most.function is MAX_TURNS
        found = [self.worked_out(each) for each in node.most.arguments]
        if any(each.lanes for each in found):
            raise NotCompiled("a loop over arrays whose lengths lanes do not share")
        texts = [self._as(each, INT64).text for each in found]
        return self._extreme("min", texts, [INT64] * len(texts), INT64)

    def _count_turn(self, most: str, turns: str, out: str) -> None:
        if not most:
            return
        w, n = self.w, self.w.number()
        count = w.load(turns, "i64")
        over = w.make(f"icmp eq i64 {count}, {most}")
        w.store(w.make(f"add i64 {count}, 1"), turns, "i64")
        w.do(f"br i1 {over}, label %{out}, label %more{n}")
        w.lines.append(f"more{n}:")

    def _turn_limit(self) -> None:
        """Gives up where a launch has spent more steps than it may."""
        w = self.w
        most = self.slot("most steps")
        self.suspect_if(w.make(f"icmp sgt i64 {w.load(self.spent, 'i64')}, {most}"))

    def _zero(self, cells: str) -> None:
        self.w.do(f"call void @llvm.memset.p0.i64(ptr {cells}, i8 0, i64 {self.lanes}, i1 false)")

    def _leave(self, node: ir.Leave) -> None:
        w = self.w
        if node.how == "end":
            raise NotCompiled("a thread that an assertion ends")
        if node.how == "return":
            if node.value is not None and self.result:
                found, dtype = self.worked_out(node.value), self.calls[-1].result
                assert isinstance(dtype, np.dtype)
                type_ = self._word(dtype)
                with w.loop(str(self.lanes)) as lane:
                    text = self._in_memory(
                        self.converted(self.of_lane(found, lane), found.type, dtype), dtype
                    )
                    part = self.takes_part(self.here, lane)
                    old = w.load(self.result, type_, lane)
                    w.store(w.make(f"select i1 {part}, {type_} {text}, {type_} {old}"),
                            self.result, type_, lane)
            return
        loop = self.loops[-1]
        cells = loop.broken if node.how == "break" else loop.continued
        with w.loop(str(self.lanes)) as lane:
            part = self.takes_part(self.here, lane)
            old = w.load(cells, "i8", lane)
            w.store(w.make(f"select i1 {part}, i8 1, i8 {old}"), cells, "i8", lane)

    # Values

    def worked_out(self, node: ir.Expression) -> Any:
        """Returns a value, or a tuple of them, in which all that touches memory has been done."""
        if isinstance(node.type, types.ArrayType):
            return self.array(node)
        if isinstance(node, ir.Tuple):
            return tuple(self.worked_out(part) for part in node.parts)
        if isinstance(node, ir.Call) and (
            isinstance(node.type, RangeType | TupleType) or _is_done_here(node)
        ):
            return self._call_here(node)
        if isinstance(node, ir.Temporary) and not isinstance(node.type, np.dtype):
            return self._read_tuple(self.temporaries[node.number])
        if isinstance(node, ir.Element):
            return self._element(node)
        if isinstance(node, ir.DeviceCall):
            return self._inline(node)
        if not isinstance(node.type, np.dtype):
            what = node.path if isinstance(node, ir.Call) else type(node).__name__
            raise NotCompiled(f"a value that is no number: {what}")
        self._prepare(node)
        self._operations(node, self.here)
        if self.analysis.of(node) is True:
            return Value(node.type, self.pure(node, None))
        w, type_ = self.w, self._word(node.type)
        if id(node) in self.made:
            made = self.made[id(node)]
            if made.lanes:
                return made
        cells = w.memory(type_, self.lanes)
        with w.loop(str(self.lanes)) as lane:
            w.store(self._in_memory(self.pure(node, lane), node.type), cells, type_, lane)
        return Value(node.type, lanes=cells)

    def _inline(self, node: ir.DeviceCall) -> Value | None:
        """Writes a device function where it is called; returns what it returns."""
        w, code, before = self.w, node.code, self.here
        if code in self.calls or len(self.calls) > MAX_CALLS:
            raise NotCompiled("a function that calls itself")
        if code.result is not None and not isinstance(code.result, np.dtype):
            raise NotCompiled("a function that returns no number")
        given = [self.worked_out(each) for each in node.arguments]
        alike = {
            name: not isinstance(each, Value) or not each.lanes
            for name, each in zip(code.parameters, given, strict=True)
        }
        kept = (self.variables, self.defined, self.temporaries, self.analysis, self.loops,
                self.result, self.types)
        self.variables, self.temporaries, self.loops = {}, {}, []
        self.defined = {k: v for k, v in self.defined.items() if k.startswith("sent ")}
        self.types = code.types
        self.analysis = _analysed(code, self.block, alike)
        self.result = ""
        if code.result is not None:
            self.result = self._room(code.result)
        self.calls.append(code)
        self.here = self._own_room(before)
        for (name, (wanted, own)), each in zip(code.parameters.items(), given, strict=True):
            if isinstance(each, Memory):
                self.variables[name] = each
            elif isinstance(each, Value) and isinstance(wanted, np.dtype):
                if not isinstance(own, np.dtype):
                    raise NotCompiled(f"{name} holds no number")
                self._give(name, own, self._as(each, wanted), self.everybody)
            else:
                raise NotCompiled(f"{name} is neither an array nor a number")
        self.block_of(code.body)
        self.calls.pop()
        found = Value(code.result, lanes=self.result) if code.result is not None else None
        sent = {k: v for k, v in self.defined.items() if k.startswith("sent ")}
        (self.variables, self.defined, self.temporaries, self.analysis, self.loops,
         self.result, self.types) = kept
        self.defined |= sent
        self.here = before
        return found

    def _read_tuple(self, kept: Any) -> Any:
        if isinstance(kept, tuple) and kept and kept[0] not in ("one", "each"):
            return tuple(map(self._read_tuple, kept))
        if isinstance(kept, Memory):
            return kept
        return self._read_kept(kept)

    def _read_kept(self, kept: tuple[str, str, Number]) -> Value:
        how, place, dtype = kept
        if how == "each":
            return Value(dtype, lanes=place)
        text = self._from_memory(self.w.load(place, self._word(dtype)), dtype)
        return Value(dtype, text)

    def _element(self, node: ir.Element) -> Any:
        if not isinstance(node.index, int):
            raise NotCompiled("a part of a tuple that is known only at run time")
        owner = self.worked_out(node.owner)
        if not isinstance(owner, tuple) or not -len(owner) <= node.index < len(owner):
            raise NotCompiled("a part of what is no tuple here")
        return owner[node.index]

    def of_lane(self, value: Value, lane: Register) -> str:
        """Returns a lane's number."""
        if isinstance(value, _Worth):
            return value.work_out(lane)
        if not value.lanes:
            return value.text
        return self._from_memory(
            self.w.load(value.lanes, self._word(value.type), lane), value.type
        )

    def _truth(self, value: Value) -> str:
        return self._as_truth(value.text, value.type)

    def _truth_of(self, value: Value, lane: Register) -> str:
        return self._as_truth(self.of_lane(value, lane), value.type)

    def _as_truth(self, text: str, dtype: Number) -> str:
        return self.converted(text, dtype, BOOL)

    def _prepare(self, node: ir.Expression) -> None:
        """Does what an expression does beside arithmetic, in the order in which it is done."""
        self.made.pop(id(node), None)
        if isinstance(node, ir.Load):
            self.made[id(node)] = self._load(node)
        elif isinstance(node, ir.Logical | ir.Select) and self._needs_masks(node):
            how = self._logical if isinstance(node, ir.Logical) else self._select
            self.made[id(node)] = how(node)  # type: ignore[operator]
        elif isinstance(node, ir.Call) and _is_done_here(node):
            self.made[id(node)] = self._call_here(node)
        elif isinstance(node, ir.Element):
            self.made[id(node)] = self._element(node)
        elif isinstance(node, ir.DeviceCall):
            self.made[id(node)] = self._inline(node)
        elif isinstance(node, ir.View | ir.NewArray):
            raise NotCompiled(f"{type(node).__name__} within an expression")
        elif isinstance(node, ir.Read):
            self._check_given(node)
        elif isinstance(node, ir.Call) and node.path in _LIBRARY:
            for part in parts(node):
                self._prepare(part)
                self._operations(part, self.here)
            self.made[id(node)] = self._library(node)
        elif isinstance(node, ir.Call) and node.path.startswith("array."):
            return
        else:
            for part in parts(node):
                self._prepare(part)

    def _check_given(self, node: ir.Read) -> None:
        if node.variable not in self.analysis.checked:
            return
        w = self.w
        missing = w.memory("i8")
        w.store("0", missing, "i8")
        cells = self._defined(node.variable)
        with w.loop(str(self.lanes)) as lane:
            part = self.takes_part(self.here, lane)
            unset = w.make(f"icmp eq i8 {w.load(cells, 'i8', lane)}, 0")
            bad = w.make(f"zext i1 {w.make(f'and i1 {part}, {unset}')} to i8")
            w.store(w.make(f"or i8 {w.load(missing, 'i8')}, {bad}"), missing, "i8")
        self.suspect_if(w.make(f"icmp ne i8 {w.load(missing, 'i8')}, 0"))

    def _needs_masks(self, node: ir.Logical | ir.Select) -> bool:
        if isinstance(node, ir.Select):
            arms: Sequence[ir.Expression] = (node.yes, node.no)
            branches = node.branches
        else:
            arms, branches = node.parts[1:], any(node.branches)
        return branches or any(self._does_something(arm) for arm in arms)

    def _does_something(self, node: ir.Expression) -> bool:
        if isinstance(node, ir.Load | ir.DeviceCall | ir.View):
            return True
        if isinstance(node, ir.Binary) and (node.counted or node.fused):
            return True
        if isinstance(node, ir.Compare) and node.wide:
            return True
        if isinstance(node, ir.Call) and (
            _is_done_here(node) or node.path in (*_LIBRARY, "cuda.fma")
        ):
            return True
        if isinstance(node, ir.Read) and node.variable in self.analysis.checked:
            return True
        return any(map(self._does_something, parts(node)))

    def _arm_value(self, node: ir.Expression, here: Here, dtype: Number, into: str) -> None:
        """Works an expression out for some lanes, into the memory of all; nobody may be there."""
        w, type_ = self.w, self._word(dtype)
        with w.when(w.make(f"xor i1 {self.is_empty(here)}, true")), self.among(here):
            found = self.worked_out(node)
            with w.loop(str(self.lanes)) as lane:
                text = self._in_memory(
                    self.converted(self.of_lane(found, lane), found.type, dtype), dtype
                )
                part = self.takes_part(here, lane)
                old = w.load(into, type_, lane)
                w.store(w.make(f"select i1 {part}, {type_} {text}, {type_} {old}"),
                        into, type_, lane)

    def _room(self, dtype: Number) -> str:
        cells = self.w.memory(self._word(dtype), self.lanes)
        self.w.own.append(f"  call void @llvm.memset.p0.i64(ptr {cells}, i8 0, "
                          f"i64 {self.lanes * dtype.itemsize}, i1 false)")
        return cells

    def _select(self, node: ir.Select) -> Value:
        before, w = self.here, self.w
        assert isinstance(node.type, np.dtype)
        test = self.worked_out(node.test)
        into = self._room(node.type)
        yes = self.where(before, lambda lane: self._truth_of(test, lane))
        if node.branches:
            self._branch(node.line, before, yes)
        no = self.without(before, yes)
        self._arm_value(node.yes, yes, node.type, into)
        self._arm_value(node.no, no, node.type, into)
        return self._one_or_each(node, into)

    def _one_or_each(self, node: ir.Expression, into: str) -> Value:
        """What lanes have, or the number they share, which the first that is here has."""
        if self.analysis.of(node) is not True:
            return Value(node.type, lanes=into)  # type: ignore[arg-type]
        w = self.w
        lane = w.memory("i64")
        w.store("0", lane, "i64")
        if self.here.cells:
            with w.repeat() as done:
                at = w.load(lane, "i64")
                cell = w.load(self.here.cells, "i8", at)
                w.leave_unless(w.make(f"icmp eq i8 {cell}, 0"), done)
                w.store(w.make(f"add i64 {at}, 1"), lane, "i64")
        text = w.load(into, self._word(node.type), w.load(lane, "i64"))  # type: ignore[arg-type]
        return Value(node.type, self._from_memory(text, node.type))  # type: ignore[arg-type]

    def _logical(self, node: ir.Logical) -> Value:
        before, w = self.here, self.w
        assert isinstance(node.type, np.dtype)
        into, type_ = self._room(node.type), self._word(node.type)
        last = self.worked_out(node.parts[0])
        with w.loop(str(self.lanes)) as lane:
            text = self.converted(self.of_lane(last, lane), last.type, node.type)
            w.store(self._in_memory(text, node.type), into, type_, lane)
        here = before
        for part, branches in zip(node.parts[1:], node.branches[1:], strict=True):
            known = Value(node.type, lanes=into)
            if last.type != node.type:
                raise NotCompiled("`and` of numbers of several types")

            def goes_on(lane: Register, known: Value = known) -> str:
                true = self._truth_of(known, lane)
                return true if node.conjunction else w.make(f"xor i1 {true}, true")

            on = self.where(here, goes_on)
            if branches:
                # Where nobody is left to ask, nobody comes to the branch.
                self._branch(part.line, here, on)
            self._arm_value(part, on, node.type, into)
            here = on
        return self._one_or_each(node, into)

    def _operations(self, node: ir.Expression, here: Here) -> None:
        """Counts the arithmetic of an expression, but for what has been worked out already."""
        kinds: dict[tuple[int, str], int] = {}
        self._collect(node, kinds)
        if not kinds:
            return
        number = self.number_here(here)
        for (line, kind), times in kinds.items():
            what = self.w.make(f"mul i64 {number}, {times}") if times > 1 else number
            self.w.add(what, self.count(line, kind))

    def _collect(self, node: ir.Expression, kinds: dict[tuple[int, str], int]) -> None:
        if id(node) in self.made:
            return
        for part in parts(node):
            self._collect(part, kinds)
        if isinstance(node, ir.Binary):
            if node.counted:
                small = node.narrowed and self._small(node.left) and self._small(node.right)
                kind = "float32" if small else node.counted
                key = node.line, f"{kind}_operations"
                kinds[key] = kinds.get(key, 0) + 1
            if node.fused:
                kinds[node.line, "fma"] = kinds.get((node.line, "fma"), 0) + 1
        elif isinstance(node, ir.Compare) and node.wide:
            key = node.line, "float64_comparisons"
            kinds[key] = kinds.get(key, 0) + 1
        elif isinstance(node, ir.Call) and node.path == "cuda.fma":
            width = "float32" if node.type == FLOAT32 else "float64"
            for key, times in (((node.line, f"{width}_operations"), 2), ((node.line, "fma"), 1)):
                kinds[key] = kinds.get(key, 0) + times

    def _small(self, node: ir.Expression) -> bool:
        """Whether an operand is a float32, or a number that one holds exactly.

        Raises:
            NotCompiled: it hangs on whether all lanes happen to agree.
        """
        if node.type == FLOAT32:
            return True
        if isinstance(node, ir.Constant):
            return bool(np.float32(node.value) == node.value)
        raise NotCompiled("arithmetic whose width hangs on what lanes agree on")

    # Arithmetic, for one lane or for all at once

    def pure(self, node: ir.Expression, lane: Register | None) -> str:
        """Returns the register with a number, of a lane, or (None) of all lanes alike."""
        w = self.w
        if id(node) in self.made:
            made = self.made[id(node)]
            return made.text if not made.lanes else self.of_lane(made, lane)  # type: ignore[arg-type]
        if isinstance(node, ir.Constant):
            if node.type == BOOL:
                return "true" if node.value else "false"
            if not isinstance(node.type, np.dtype):
                raise NotCompiled("a constant that is no number")
            return constant(node.value, node.type) if node.type != FLOAT32 else _float32(node.value)
        if isinstance(node, ir.Read):
            return self._read(self.variables[node.variable], node.type, lane)
        if isinstance(node, ir.Temporary):
            return self._read(self.temporaries[node.number], node.type, lane)
        if isinstance(node, ir.Binary):
            left = self._operand(node.left, node.type, lane)
            right = self._operand(node.right, node.type, lane)
            return self.binary(node.operator, left, right, node.type)  # type: ignore[arg-type]
        if isinstance(node, ir.Unary):
            return self._unary(node, lane)
        if isinstance(node, ir.Compare):
            return self._compare(node, lane)
        if isinstance(node, ir.Logical):
            return self._pure_logical(node, lane)
        if isinstance(node, ir.Select):
            test = self._as_truth(self.pure(node.test, lane), node.test.type)  # type: ignore[arg-type]
            yes = self._operand(node.yes, node.type, lane)
            no = self._operand(node.no, node.type, lane)
            return w.make(f"select i1 {test}, {_value(node.type)} {yes}, {_value(node.type)} {no}")
        if isinstance(node, ir.Call):
            return self._pure_call(node, lane)
        raise NotCompiled(f"{type(node).__name__}")

    def _operand(self, node: ir.Expression, dtype: Any, lane: Register | None) -> str:
        if not isinstance(node.type, np.dtype):
            raise NotCompiled("an operand that is no number")
        return self.converted(self.pure(node, lane), node.type, dtype)

    def _read(self, kept: Any, dtype: Any, lane: Register | None) -> str:
        how, place, own = kept
        type_ = self._word(own)
        text = self.w.load(place, type_, lane if how == "each" else None)
        return self.converted(self._from_memory(text, own), own, dtype)

    def binary(self, operator: str, left: str, right: str, dtype: Number) -> str:
        """Returns left op right in a type."""
        w, type_ = self.w, _value(dtype)
        if dtype.kind == "f":
            names = {"Add": "fadd", "Sub": "fsub", "Mult": "fmul", "Div": "fdiv"}
            if operator not in names:
                raise NotCompiled(f"{operator} of floats")
            return w.make(f"{names[operator]} {type_} {left}, {right}")
        if dtype == BOOL:
            names = {"BitAnd": "and", "BitOr": "or", "BitXor": "xor"}
            if operator not in names:
                raise NotCompiled(f"{operator} of bools")
            return w.make(f"{names[operator]} i1 {left}, {right}")
        plain = {"Add": "add", "Sub": "sub", "Mult": "mul", "BitAnd": "and", "BitOr": "or",
                 "BitXor": "xor"}
        if operator in plain:
            return w.make(f"{plain[operator]} {type_} {left}, {right}")
        if operator in ("FloorDiv", "Mod"):
            return self._divided(operator, left, right, dtype)
        if operator in ("LShift", "RShift"):
            return self._shifted(operator, left, right, dtype)
        raise NotCompiled(f"{operator} of whole numbers")

    def _divided(self, operator: str, left: str, right: str, dtype: Number) -> str:
        """Rounded down as Python does; 0 where it is divided by 0, as NumPy gives."""
        w, type_ = self.w, _value(dtype)
        zero = w.make(f"icmp eq {type_} {right}, 0")
        if dtype.kind == "u":
            by = w.make(f"select i1 {zero}, {type_} 1, {type_} {right}")
            found = w.make(f"{'udiv' if operator == 'FloorDiv' else 'urem'} {type_} {left}, {by}")
            return w.make(f"select i1 {zero}, {type_} 0, {type_} {found}")
        # The least number by -1 has no quotient, and would end the process.
        minus = w.make(f"icmp eq {type_} {right}, -1")
        odd = w.make(f"or i1 {zero}, {minus}")
        by = w.make(f"select i1 {odd}, {type_} 1, {type_} {right}")
        rest = w.make(f"srem {type_} {left}, {by}")
        some = w.make(f"icmp ne {type_} {rest}, 0")
        signs = w.make(f"xor {type_} {rest}, {by}")
        down = w.make(f"and i1 {some}, {w.make(f'icmp slt {type_} {signs}, 0')}")
        if operator == "Mod":
            moved = w.make(f"add {type_} {rest}, {by}")
            found = w.make(f"select i1 {down}, {type_} {moved}, {type_} {rest}")
            return w.make(f"select i1 {odd}, {type_} 0, {type_} {found}")
        quotient = w.make(f"sdiv {type_} {left}, {by}")
        less = w.make(f"sub {type_} {quotient}, {w.make(f'zext i1 {down} to {type_}')}")
        negative = w.make(f"sub {type_} 0, {left}")
        special = w.make(f"select i1 {zero}, {type_} 0, {type_} {negative}")
        return w.make(f"select i1 {odd}, {type_} {special}, {type_} {less}")

    def _shifted(self, operator: str, left: str, right: str, dtype: Number) -> str:
        """As NumPy does: by more than there are bits, all of them go."""
        w, type_, bits = self.w, _value(dtype), dtype.itemsize * 8
        inside = w.make(f"icmp ult {type_} {right}, {bits}")
        by = w.make(f"select i1 {inside}, {type_} {right}, {type_} 0")
        if operator == "LShift":
            found, beyond = w.make(f"shl {type_} {left}, {by}"), "0"
        elif dtype.kind == "u":
            found, beyond = w.make(f"lshr {type_} {left}, {by}"), "0"
        else:
            found = w.make(f"ashr {type_} {left}, {by}")
            beyond = w.make(f"ashr {type_} {left}, {bits - 1}")
        return w.make(f"select i1 {inside}, {type_} {found}, {type_} {beyond}")

    def _unary(self, node: ir.Unary, lane: Register | None) -> str:
        w, own = self.w, node.operand.type
        text = self.pure(node.operand, lane)
        if not isinstance(own, np.dtype):
            raise NotCompiled("an operand that is no number")
        if node.operator == "Not":
            return w.make(f"xor i1 {self._as_truth(text, own)}, true")
        if own == BOOL:
            raise NotCompiled(f"{node.operator} of a bool")
        if node.operator == "USub":
            made = f"fneg {_value(own)} {text}" if own.kind == "f" else f"sub {_value(own)} 0, {text}"
            return self.converted(w.make(made), own, node.type)
        if node.operator == "Invert":
            return self.converted(w.make(f"xor {_value(own)} {text}, -1"), own, node.type)
        return self.converted(text, own, node.type)

    def _compare(self, node: ir.Compare, lane: Register | None) -> str:
        result = ""
        left, left_type = self.pure(node.operands[0], lane), node.operands[0].type
        for operator, operand in zip(node.operators, node.operands[1:], strict=True):
            right = self.pure(operand, lane)
            one = self._compared(operator, left, left_type, right, operand.type)
            result = one if not result else self.w.make(f"and i1 {result}, {one}")
            left, left_type = right, operand.type
        return result

    def _compared(self, operator: str, left: str, left_type: Any, right: str, right_type: Any) -> str:
        if operator not in _COMPARED or not all(
            isinstance(each, np.dtype) for each in (left_type, right_type)
        ):
            raise NotCompiled(f"a comparison: {operator}")
        common = left_type
        if left_type != right_type:
            if "f" in (left_type.kind, right_type.kind):
                common = types.arithmetic(left_type, right_type)
            else:
                common = np.promote_types(left_type, right_type)
            if common.kind == "f" and "f" not in (left_type.kind, right_type.kind):
                raise NotCompiled("uint64 beside a signed number")
        left = self.converted(left, left_type, common)
        right = self.converted(right, right_type, common)
        signed, unsigned, real = _COMPARED[operator]
        if common.kind == "f":
            return self.w.make(f"fcmp {real} {_value(common)} {left}, {right}")
        how = signed if common.kind == "i" else unsigned
        return self.w.make(f"icmp {how} {_value(common)} {left}, {right}")

    def _pure_logical(self, node: ir.Logical, lane: Register | None) -> str:
        w = self.w
        if node.type != BOOL or any(part.type != BOOL for part in node.parts):
            raise NotCompiled("`and` of what are no truths")
        found = self.pure(node.parts[0], lane)
        for part in node.parts[1:]:
            other = self.pure(part, lane)
            found = w.make(f"{'and' if node.conjunction else 'or'} i1 {found}, {other}")
        return found

    def converted(self, text: str, from_: Number, to: Any) -> str:
        """Returns a number in another type, as `machine.values.cast` gives it."""
        w = self.w
        if from_ == to:
            return text
        if not isinstance(to, np.dtype):
            raise NotCompiled("a conversion to what is no number")
        name_of_or_not(from_), name_of_or_not(to)
        source, target = _value(from_), _value(to)
        if to == BOOL:
            zero = "0.0" if from_.kind == "f" else "0"
            return w.make(
                f"{'fcmp une' if from_.kind == 'f' else 'icmp ne'} {source} {text}, {zero}"
            )
        if from_ == BOOL:
            if to.kind == "f":
                return w.make(f"uitofp i1 {text} to {target}")
            return w.make(f"zext i1 {text} to {target}")
        if from_.kind == "f" and to.kind == "f":
            return w.make(f"{'fpext' if to.itemsize > from_.itemsize else 'fptrunc'} "
                          f"{source} {text} to {target}")
        if to.kind == "f":
            return w.make(f"{'sitofp' if from_.kind == 'i' else 'uitofp'} {source} {text} to {target}")
        if from_.kind == "f":
            return self._cut(text, from_, to)
        if to.itemsize < from_.itemsize:
            return w.make(f"trunc {source} {text} to {target}")
        if to.itemsize == from_.itemsize:
            return text
        return w.make(f"{'sext' if from_.kind == 'i' else 'zext'} {source} {text} to {target}")

    def _cut(self, text: str, from_: Number, to: Number) -> str:
        w = self.w
        if to.itemsize == 1:
            wide = np.dtype(f"{to.kind}2")
            return w.make(f"trunc i16 {self._cut(text, from_, wide)} to i8")
        kind, target = ("s" if to.kind == "i" else "u"), _value(to)
        name = f"llvm.fpto{kind}i.sat.{target}.f{8 * from_.itemsize}"
        _DECLARED.add(f"declare {target} @{name}({_value(from_)})")
        found = w.make(f"call {target} @{name}({_value(from_)} {text})")
        if from_.itemsize < 8 and to.itemsize < 8:
            return found
        nan = w.make(f"fcmp uno {_value(from_)} {text}, {text}")
        high = 1 << (8 * to.itemsize - 1)
        high = high if to.kind == "u" else -high
        return w.make(f"select i1 {nan}, {target} {high}, {target} {found}")

    # Words of the vocabulary

    def _pure_call(self, node: ir.Call, lane: Register | None) -> str:
        w, path = self.w, node.path
        if path.startswith(("cuda.threadIdx.", "cuda.blockIdx.", "cuda.blockDim.", "cuda.gridDim.")):
            return self._place(path.split(".")[1], "xyz".index(path[-1]), lane)
        if path == "cuda.grid" and node.type == INT64:
            return self._global_index(0, lane)
        if path == "cuda.gridsize" and node.type == INT64:
            return w.make(f"mul i64 {self.slot('grid 0')}, {self.block[0]}")
        if path == "cuda.laneid":
            return w.make(f"and i32 {w.make(f'trunc i64 {lane} to i32')}, 31")
        if path == "cuda.warpsize":
            return "32"
        if path.startswith("array."):
            return self._attribute(node)
        arguments = [self.pure(part, lane) for part in node.arguments]
        given = [part.type for part in node.arguments]
        if not all(isinstance(each, np.dtype) for each in (*given, node.type)):
            raise NotCompiled(path)
        dtype: Number = node.type  # type: ignore[assignment]
        if path.startswith("numba.") or path in ("builtin.float", "builtin.bool"):
            if len(arguments) == 1:
                return self.converted(arguments[0], given[0], dtype)
        if path == "builtin.int" and len(arguments) == 1 and given[0].kind in "iuf":
            if given[0].kind == "f":
                return self.converted(arguments[0], given[0], dtype)
            return self.converted(arguments[0], given[0], dtype)
        if path == "cuda.selp":
            test = self._as_truth(arguments[0], given[0])
            yes, no = (self.converted(arguments[k], given[k], dtype) for k in (1, 2))
            return w.make(f"select i1 {test}, {_value(dtype)} {yes}, {_value(dtype)} {no}")
        if path == "cuda.fma":
            return self._intrinsic(
                "fma",
                [self.converted(t, g, dtype) for t, g in zip(arguments, given, strict=True)],
                dtype,
            )
        if path in _CASTS:
            source = _CASTS[path]
            text = self.converted(arguments[0], given[0], source)
            return w.make(f"bitcast {_value(source)} {text} to {_value(dtype)}")
        if node.function is LEAST:
            return self._extreme("min", arguments, given, dtype)
        if path in _OF_BITS and given[0].itemsize in (4, 8) and given[0].kind in "iu":
            return self._of_bits(path, arguments[0], given[0], dtype)
        if path == "cuda.lanemask_lt":
            bit = w.make(f"and i64 {lane}, 31")
            low = w.make(f"sub i64 {w.make(f'shl i64 1, {bit}')}, 1")
            return w.make(f"trunc i64 {low} to i32")
        if path in ("builtin.min", "builtin.max"):
            return self._extreme(path[-3:], arguments, given, dtype)
        if node.function is AHEAD:
            return self._ahead(arguments, given[0])
        if path in ("math.sqrt", "math.fabs", "math.floor", "math.ceil", "math.trunc"):
            return self._exact(path[5:], self.converted(arguments[0], given[0], node_real(node)), node)
        if path == "builtin.abs" and given[0] == dtype and dtype.kind in "if":
            if dtype.kind == "f":
                return self._intrinsic("fabs", [arguments[0]], dtype)
            negative = w.make(f"sub {_value(dtype)} 0, {arguments[0]}")
            below = w.make(f"icmp slt {_value(dtype)} {arguments[0]}, 0")
            return w.make(f"select i1 {below}, {_value(dtype)} {negative}, {_value(dtype)} {arguments[0]}")
        raise NotCompiled(path)

    def _of_bits(self, path: str, text: str, given: Number, dtype: Number) -> str:
        w, wide = self.w, given
        if path == "cuda.brev":
            text, wide = self.converted(text, given, dtype), dtype
        type_ = _value(wide)
        name = f"llvm.{_OF_BITS[path]}.{type_}"
        more = ", i1 false" if path in ("cuda.clz", "cuda.ffs") else ""
        _DECLARED.add(f"declare {type_} @{name}({type_}{', i1' if more else ''})")
        found = w.make(f"call {type_} @{name}({type_} {text}{more})")
        if path == "cuda.ffs":
            zero = w.make(f"icmp eq {type_} {text}, 0")
            found = w.make(f"select i1 {zero}, {type_} -1, {type_} {found}")
            found = w.make(f"add {type_} {found}, 1")
        return self.converted(found, wide, dtype)

    def _ahead(self, arguments: list[str], dtype: Number) -> str:
        w, type_ = self.w, _value(dtype)
        counter, stop, step = arguments
        letter = "s" if dtype.kind == "i" else "u"
        up = w.make(f"icmp {letter}lt {type_} {counter}, {stop}")
        down = w.make(f"icmp {letter}gt {type_} {counter}, {stop}")
        ahead = w.make(f"icmp {letter}gt {type_} {step}, 0")
        return w.make(f"select i1 {ahead}, i1 {up}, i1 {down}")

    def _exact(self, name: str, text: str, node: ir.Call) -> str:
        dtype = node_real(node)
        found = self._intrinsic(name, [text], dtype)
        return self.converted(found, dtype, node.type)

    def _intrinsic(self, name: str, arguments: list[str], dtype: Number) -> str:
        type_ = _value(dtype)
        full = f"llvm.{name}.f{8 * dtype.itemsize}"
        _DECLARED.add(f"declare {type_} @{full}({', '.join([type_] * len(arguments))})")
        given = ", ".join(f"{type_} {each}" for each in arguments)
        return self.w.make(f"call {type_} @{full}({given})")

    def _extreme(
        self, which: str, arguments: list[str], given: Sequence[Any], dtype: Number
    ) -> str:
        w, type_ = self.w, _value(dtype)
        texts = [self.converted(t, g, dtype) for t, g in zip(arguments, given, strict=True)]
        floats = len(texts) == 2 and all(each in (FLOAT32, FLOAT64) for each in given)
        if floats:
            a, b = texts
            # Of a NaN and a number the number, and -0.0 is less than 0.0.
            less = w.make(f"fcmp {'olt' if which == 'min' else 'ogt'} {type_} {a}, {b}")
            nan = w.make(f"fcmp uno {type_} {b}, {b}")
            first = w.make(f"or i1 {less}, {nan}")
            found = w.make(f"select i1 {first}, {type_} {a}, {type_} {b}")
            equal = w.make(f"fcmp oeq {type_} {a}, {b}")
            bits = f"i{8 * dtype.itemsize}"
            sign = w.make(f"icmp slt {bits} {w.make(f'bitcast {type_} {a} to {bits}')}, 0")
            one, other = (a, b) if which == "min" else (b, a)
            same = w.make(f"select i1 {sign}, {type_} {one}, {type_} {other}")
            return w.make(f"select i1 {equal}, {type_} {same}, {type_} {found}")
        found = texts[0]
        for other in texts[1:]:
            if dtype.kind == "f":
                how = f"fcmp {'olt' if which == 'min' else 'ogt'}"
            else:
                how = f"icmp {'s' if dtype.kind == 'i' else 'u'}{'lt' if which == 'min' else 'gt'}"
            better = w.make(f"{how} {type_} {other}, {found}")
            found = w.make(f"select i1 {better}, {type_} {other}, {type_} {found}")
        return found

    def _place(self, what: str, axis: int, lane: Register | None) -> str:
        w = self.w
        if what == "blockDim":
            return str(self.block[axis])
        if what == "gridDim":
            return w.make(f"trunc i64 {self.slot(f'grid {axis}')} to i32")
        if what == "blockIdx":
            return w.make(f"trunc i64 {self.slot(f'block {axis}')} to i32")
        if self.block[axis] == 1:
            return "0"
        return w.make(f"trunc i64 {self._thread_index(axis, lane)} to i32")

    def _thread_index(self, axis: int, lane: Register | None) -> str:
        """threadIdx along an axis, i64; lanes without a thread repeat the last one."""
        w, (x, y, _) = self.w, self.block
        if lane is None:
            return "0"
        if self.threads != self.lanes:
            inside = w.make(f"icmp slt i64 {lane}, {self.threads}")
            lane = w.make(f"select i1 {inside}, i64 {lane}, i64 {self.threads - 1}")
        if axis == 0:
            return lane if x == self.threads else w.make(f"urem i64 {lane}, {x}")
        inner = w.make(f"udiv i64 {lane}, {x}")
        if axis == 1:
            return inner if self.block[2] == 1 else w.make(f"urem i64 {inner}, {y}")
        return w.make(f"udiv i64 {inner}, {y}")

    def _global_index(self, axis: int, lane: Register | None) -> str:
        w = self.w
        first = w.make(f"mul i64 {self.slot(f'block {axis}')}, {self.block[axis]}")
        if self.block[axis] == 1:
            return first
        return w.make(f"add i64 {first}, {self._thread_index(axis, lane)}")

    def _attribute(self, node: ir.Call) -> str:
        w, memory = self.w, self.array(node.arguments[0])
        what = node.path.partition(".")[2]
        if what == "size":
            found = memory.shape[0]
            for side in memory.shape[1:]:
                found = w.make(f"mul i64 {found}, {side}")
            return found
        if what == "ndim":
            return str(len(memory.shape))
        raise NotCompiled(node.path)

    def _call_here(self, node: ir.Call) -> Any:
        """A call that does more than arithmetic, or gives several numbers."""
        w, path = self.w, node.path
        if path in _BARRIERS:
            return self._barrier(node)
        if path == "cuda.syncwarp":
            return self._warp_barrier(node)
        if path in _SHUFFLES:
            return self._shuffle(node)
        if path in _VOTES or path == "cuda.activemask":
            return self._vote(node)
        if path == "array.shape":
            memory = self.array(node.arguments[0])
            return tuple(Value(INT64, side) for side in memory.shape)
        if node.function is ARRAY_LENGTH or path in ("builtin.len", "len"):
            if not isinstance(node.arguments[0].type, types.ArrayType):
                raise NotCompiled(path)
            memory = self.array(node.arguments[0])
            if path == "len" and node.function is not ARRAY_LENGTH and len(memory.shape) > 1:
                raise NotCompiled("a slice of several dimensions")
            return Value(INT64, memory.shape[0])
        if path == "builtin.range":
            return self._range(node)
        if path in ("cuda.grid", "cuda.gridsize") and isinstance(node.type, TupleType):
            return tuple(self._index_along(path, axis) for axis in range(len(node.type.elements)))
        if path in _ATOMICS:
            return self._atomic(node)
        raise NotCompiled(path)

    def _index_along(self, path: str, axis: int) -> Value:
        w = self.w
        if path == "cuda.gridsize":
            side = self.slot(f"grid {axis}")
            return Value(INT64, w.make(f"mul i64 {side}, {self.block[axis]}"))
        if self.block[axis] == 1:
            return Value(INT64, self._global_index(axis, None))
        cells = w.memory("i64", self.lanes)
        with w.loop(str(self.lanes)) as lane:
            w.store(self._global_index(axis, lane), cells, "i64", lane)
        return Value(INT64, lanes=cells)

    def _range(self, node: ir.Call) -> tuple[Value, ...]:
        assert isinstance(node.type, RangeType)
        w, dtype = self.w, node.type.dtype
        found = [self._as(self.worked_out(part), dtype) for part in node.arguments]
        one, zero = Value(dtype, "1"), Value(dtype, "0")
        if len(found) == 1:
            return zero, found[0], one
        if len(found) == 2:
            return found[0], found[1], one
        step = found[2]
        if not isinstance(node.arguments[2], ir.Constant) or node.arguments[2].value == 0:
            self._suspect_of_lanes(
                lambda lane: w.make(f"icmp eq {_value(dtype)} {self.of_lane(step, lane)}, 0")
            )
        return found[0], found[1], step

    def _suspect_of_lanes(self, wrong: Callable[[Register], str]) -> None:
        """Gives up if an i1 is true for one of the lanes that are here."""
        w, bad = self.w, self.w.memory("i8")
        w.store("0", bad, "i8")
        with w.loop(str(self.lanes)) as lane:
            odd = w.make(f"select i1 {self.takes_part(self.here, lane)}, i1 {wrong(lane)}, i1 false")
            w.store(
                w.make(f"or i8 {w.load(bad, 'i8')}, {w.make(f'zext i1 {odd} to i8')}"), bad, "i8"
            )
        self.suspect_if(w.make(f"icmp ne i8 {w.load(bad, 'i8')}, 0"))

    def _as(self, value: Value, dtype: Number) -> Value:
        """Returns a value in a type."""
        if value.type == dtype:
            return value
        w = self.w
        if not value.lanes:
            return Value(dtype, self.converted(value.text, value.type, dtype))
        cells, type_ = w.memory(self._word(dtype), self.lanes), self._word(dtype)
        with w.loop(str(self.lanes)) as lane:
            text = self.converted(self.of_lane(value, lane), value.type, dtype)
            w.store(self._in_memory(text, dtype), cells, type_, lane)
        return Value(dtype, lanes=cells)

    def _barrier(self, node: ir.Call) -> Value | None:
        """A barrier of the block, and what it tells of the numbers that threads bring."""
        w = self.w
        brought = self.worked_out(node.arguments[0]) if node.arguments else None
        if self.here.count.startswith("%"):
            all_here = w.make(f"icmp ne i64 {w.load(self.here.count, 'i64')}, {self.threads}")
            self.suspect_if(all_here)
        w.add(str(self.warps), self.count(node.line, "barriers"))
        w.add("1", self.epoch)
        w.add("1", self.met)
        if self.clocks:
            with w.loop(str(self.warps)) as warp:
                w.add("1", self.clocks, warp)
        if brought is None:
            return None
        true = w.memory("i64")
        w.store("0", true, "i64")
        with w.loop(str(self.threads)) as lane:
            w.add(w.make(f"zext i1 {self._truth_of(brought, lane)} to i64"), true)
        found = w.load(true, "i64")
        if node.path.endswith("_count"):
            return Value(INT32, w.make(f"trunc i64 {found} to i32"))
        test = f"eq i64 {found}, {self.threads}" if node.path.endswith("_and") else f"ne i64 {found}, 0"
        return Value(INT32, w.make(f"zext i1 {w.make(f'icmp {test}')} to i32"))

    # What the lanes of a warp do together

    def _whole_warps(self, mask: ir.Expression) -> None:
        """Gives up unless a mask names all lanes, and of each warp all that there are are here."""
        w, here = self.w, self.here
        named = self.worked_out(mask)
        if named.lanes:
            raise NotCompiled("a mask that lanes do not share")
        low = self.converted(named.text, named.type, np.dtype(np.uint32))
        self.suspect_if(w.make(f"icmp ne i32 {low}, -1"))
        if not here.count.startswith("%"):
            return
        bad = w.memory("i8")
        w.store("0", bad, "i8")
        with w.loop(str(self.warps)) as warp:
            bits, whole = w.load(here.bits, "i32", warp), w.load(self.everybody.bits, "i32", warp)
            some = w.make(f"icmp ne i32 {bits}, 0")
            part = w.make(f"icmp ne i32 {bits}, {whole}")
            wrong = w.make(f"zext i1 {w.make(f'and i1 {some}, {part}')} to i8")
            w.store(w.make(f"or i8 {w.load(bad, 'i8')}, {wrong}"), bad, "i8")
        self.suspect_if(w.make(f"icmp ne i8 {w.load(bad, 'i8')}, 0"))

    def _warp_barrier(self, node: ir.Call) -> None:
        w = self.w
        if node.arguments:
            self._whole_warps(node.arguments[0])
        else:
            self._whole_warps(ir.Constant(node.line, INT64, np.int64(-1)))
        with w.loop(str(self.warps)) as warp:
            here = w.make(f"icmp ne i32 {w.load(self.here.bits, 'i32', warp)}, 0")
            one = w.make(f"zext i1 {here} to i64")
            w.add(one, self.synced, warp)
            if self.clocks:
                w.add(one, self.clocks, warp)
            many = w.make(f"icmp uge i64 {w.load(self.synced, 'i64', warp)}, {1 << 20}")
            self.suspect_if(many)

    def _shuffle(self, node: ir.Call) -> Value:
        w, (mask, value, operand) = self.w, node.arguments
        moved = self.worked_out(value)
        by = self.worked_out(operand)
        self._whole_warps(mask)
        dtype: Number = node.type  # type: ignore[assignment]
        type_ = self._word(dtype)
        sent, got = w.memory(type_, self.lanes), w.memory(type_, self.lanes)
        with w.loop(str(self.lanes)) as lane:
            text = self.converted(self.of_lane(moved, lane), moved.type, dtype)
            w.store(self._in_memory(text, dtype), sent, type_, lane)
        silent = w.memory("i8")
        w.store("0", silent, "i8")
        with w.loop(str(self.lanes)) as lane:
            own = w.make(f"and i64 {lane}, 31")
            asked = self.converted(self.of_lane(by, lane), by.type, INT64)
            how = node.path[len("cuda.shfl") : -len("_sync")]
            if how == "":
                # Python's %: from 0 on.
                wanted = w.make(f"and i64 {asked}, 31")
            else:
                word = {"_up": "sub", "_down": "add", "_xor": "xor"}[how]
                wanted = w.make(f"{word} i64 {own}, {asked}")
            inside = w.make(f"icmp ult i64 {wanted}, 32")
            wanted = w.make(f"select i1 {inside}, i64 {wanted}, i64 {own}")
            first = w.make(f"sub i64 {lane}, {own}")
            source = w.make(f"add i64 {first}, {wanted}")
            w.store(w.load(sent, type_, source), got, type_, lane)
            if self.threads != self.lanes:
                part = self.takes_part(self.here, lane)
                there = self.takes_part(self.here, source)
                wrong = w.make(f"select i1 {part}, i1 {w.make(f'xor i1 {there}, true')}, i1 false")
                old = w.load(silent, "i8")
                w.store(w.make(f"or i8 {old}, {w.make(f'zext i1 {wrong} to i8')}"), silent, "i8")
        self.suspect_if(w.make(f"icmp ne i8 {w.load(silent, 'i8')}, 0"))
        w.add(self.warps_here(self.here), self.count(node.line, "shuffles"))
        return Value(dtype, lanes=got)

    def _vote(self, node: ir.Call) -> Value:
        w, here = self.w, self.here
        votes = w.memory("i32", max(self.warps, 2))
        if node.path == "cuda.activemask":
            with w.loop(str(self.warps)) as warp:
                w.store(w.load(here.bits, "i32", warp), votes, "i32", warp)
        else:
            mask, predicate = node.arguments
            brought = self.worked_out(predicate)
            self._whole_warps(mask)
            true = self.where(here, lambda lane: self._truth_of(brought, lane))
            with w.loop(str(self.warps)) as warp:
                w.store(w.load(true.bits, "i32", warp), votes, "i32", warp)
        dtype: Number = node.type  # type: ignore[assignment]
        type_ = self._word(dtype)
        cells = w.memory(type_, self.lanes)
        with w.loop(str(self.lanes)) as lane:
            warp = w.make(f"lshr i64 {lane}, 5")
            bits, all_ = w.load(votes, "i32", warp), w.load(here.bits, "i32", warp)
            every = w.make(f"icmp eq i32 {bits}, {all_}")
            none = w.make(f"icmp eq i32 {bits}, 0")
            found = {
                "cuda.all_sync": every,
                "cuda.any_sync": w.make(f"xor i1 {none}, true"),
                "cuda.eq_sync": w.make(f"or i1 {every}, {none}"),
            }.get(node.path, bits)
            w.store(self._in_memory(found, dtype), cells, type_, lane)
        return Value(dtype, lanes=cells)

    # Atomics

    def _atomic(self, node: ir.Call) -> Any:
        """Updates cells lane after lane, where the order in which lanes do so shows in nothing."""
        w, name = self.w, node.path[len("cuda.atomic.") :]
        array, index, operand = node.arguments
        memory = self.array(array)
        if node.used or memory.dtype.kind == "f":
            raise NotCompiled("an atomic whose order may show")
        indices = self.worked_out(index)
        value = self.worked_out(operand)
        assert node.site is not None
        elements = self.access("atomic", node.site, memory, indices)
        self._check_written(memory, elements)
        type_, data = self._word(memory.dtype), self.data(memory)
        with w.loop(str(self.lanes)) as lane, w.when(self.takes_part(self.here, lane)):
            at = w.load(elements, "i64", lane)
            text = self.converted(self.of_lane(value, lane), value.type, memory.dtype)
            old = w.load(data, type_, at)
            if name in ("max", "min"):
                how = ("s" if memory.dtype.kind == "i" else "u") + ("gt" if name == "max" else "lt")
                better = w.make(f"icmp {how} {type_} {text}, {old}")
                new = w.make(f"select i1 {better}, {type_} {text}, {type_} {old}")
            else:
                new = w.make(f"{name.rstrip('_')} {type_} {old}, {text}")
            w.store(new, data, type_, at)
        self._mark_written(memory, elements)
        return None

    def _library(self, node: ir.Call) -> Value:
        """A function that NumPy works out, on the numbers of all lanes."""
        w, name = self.w, node.path[5:]
        dtype: Number = node.type  # type: ignore[assignment]
        if dtype not in (FLOAT32, FLOAT64) or len(node.arguments) != 1:
            raise NotCompiled(node.path)
        alike = self.analysis.of(node) is True
        count = 1 if alike else self.lanes
        into, out = w.memory("double", max(count, 2)), w.memory("double", max(count, 2))
        self.math.add(name)
        (given,) = node.arguments
        with w.loop(str(count)) as lane:
            text = self.pure(given, None if alike else lane)
            text = self.converted(self.converted(text, given.type, dtype), dtype, FLOAT64)  # type: ignore[arg-type]
            w.store(text, into, "double", lane)
        w.do(f"call void @math_{name}(ptr %state, ptr {into}, ptr {out}, i64 {count})")
        self.slot(f"loop {name}"), self.slot(f"with {name}")
        if alike:
            return Value(dtype, self.converted(w.load(out, "double"), FLOAT64, dtype))
        type_ = self._word(dtype)
        cells = w.memory(type_, self.lanes)
        with w.loop(str(self.lanes)) as lane:
            w.store(self.converted(w.load(out, "double", lane), FLOAT64, dtype), cells, type_, lane)
        return Value(dtype, lanes=cells)

    def _math_functions(self) -> list[str]:
        texts = []
        for name in sorted(self.math):
            w = Writer(
                f"define internal void @math_{name}(ptr %state, ptr %into, ptr %out, i64 %count) "
                "noinline"
            )
            two, steps, many = w.memory("ptr", 2), w.memory("i64", 2), w.memory("i64", 2)
            w.store("%into", two, "ptr", "0")
            w.store("%out", two, "ptr", "1")
            w.store("8", steps, "i64", "0")
            w.store("8", steps, "i64", "1")
            w.store("%count", many, "i64", "0")
            loop = w.load(w.at("%state", str(self.slots[f"loop {name}"]), "i64"), "ptr")
            data = w.load(w.at("%state", str(self.slots[f"with {name}"]), "i64"), "ptr")
            w.do(f"call void {loop}(ptr {two}, ptr {many}, ptr {steps}, ptr {data})")
            w.do("ret void")
            texts.append(w.text())
        return texts

    # Memory

    def array(self, node: ir.Expression) -> Memory:
        """Returns the one array that an expression stands for."""
        if isinstance(node, ir.Read):
            found = self.variables.get(node.variable)
        elif isinstance(node, ir.Temporary):
            found = self.temporaries.get(node.number)
        elif isinstance(node, ir.NewArray):
            found = self._own_array(node.number)
        else:
            raise NotCompiled(f"an array that is {type(node).__name__}")
        if not isinstance(found, Memory):
            raise NotCompiled("an array that is not known")
        return found

    def _own_array(self, number: int) -> Memory:
        if number not in self.arrays:
            asked = self.code.arrays[number]
            name_of_or_not(asked.dtype)
            shape = tuple(map(str, asked.shape))
            strides = tuple(map(str, row_major(asked.shape)))
            self.arrays[number] = Memory(
                f"own {number}", asked.space, asked.dtype, shape, strides,
                cells=int(np.prod(asked.shape)), offset=asked.offset, number=number,
            )
            if asked.space == "local":
                self._fresh_local(self.arrays[number])
            else:
                left = self.slot(f"left {self.arrays[number].name}")
                self.w.own.append(f"  store i64 {self.arrays[number].cells}, ptr {left}")
        return self.arrays[number]

    def _fresh_local(self, memory: Memory) -> None:
        """At its beginning a block has written no local memory."""
        cells = memory.cells * self.lanes
        given = self.slot(f"unset {memory.name}")
        self.w.own.append(
            f"  call void @llvm.memset.p0.i64(ptr {given}, i8 0, i64 {cells}, i1 false)"
        )

    def data(self, memory: Memory) -> Register:
        """Returns where the first cell lies."""
        return self.slot(f"data {memory.name}")

    def _own_cell(self, memory: Memory, element: str, lane: Register) -> str:
        """Local memory lies lane beside lane, so that lanes at one element lie in one piece."""
        if memory.space != "local":
            return element
        first = self.w.make(f"mul i64 {element}, {self.lanes}")
        return self.w.make(f"add i64 {first}, {lane}")

    def access(
        self,
        kind: str,
        site: ir.Site,
        memory: Memory,
        indices: Any,
        node: ir.Load | None = None,
        each_warp: Callable[[Register, Register, Register], None] | None = None,
    ) -> Register:
        """Checks and counts an access; returns memory with the element of each lane, i64."""
        w, here = self.w, self.here
        self.w.add(str(STEPS_OF_ACCESSES[kind]), self.spent)
        each = indices if isinstance(indices, tuple) else (indices,)
        if len(each) != len(memory.shape):
            raise NotCompiled("a row of an array")
        elements = w.memory("i64", self.lanes)
        bad = w.memory("i8")
        w.store("0", bad, "i8")
        with w.loop(str(self.lanes)) as lane:
            part = self.takes_part(here, lane)
            total, outside = "0", "false"
            for value, side, stride in zip(each, memory.shape, memory.strides, strict=True):
                at = self.converted(self.of_lane(value, lane), value.type, INT64)
                beyond = w.make(f"icmp uge i64 {at}, {side}")
                outside = beyond if outside == "false" else w.make(f"or i1 {outside}, {beyond}")
                step = at if stride == "1" else w.make(f"mul i64 {at}, {stride}")
                total = step if total == "0" else w.make(f"add i64 {total}, {step}")
            if memory.space == "global":
                total = w.make(f"add i64 {total}, {self.slot(f'origin {memory.name}')}")
            w.store(total, elements, "i64", lane)
            wrong = w.make(f"select i1 {part}, i1 {outside}, i1 false")
            wrong = w.make(f"zext i1 {wrong} to i8")
            w.store(w.make(f"or i8 {w.load(bad, 'i8')}, {wrong}"), bad, "i8")
        self.suspect_if(w.make(f"icmp ne i8 {w.load(bad, 'i8')}, 0"))
        self._account(kind, site.line, memory, elements, each_warp)
        if node is not None and id(node) in self._unraced:
            self._all_written(memory, elements)
        else:
            self._races(kind, memory, elements)
        return elements

    def _all_written(self, memory: Memory, elements: Register) -> None:
        """Gives up where a cell of shared memory is loaded that nobody has written.

        Once all of an array is written, nobody asks any more.
        """
        w, here = self.w, self.here
        left = self.slot(f"left {memory.name}")
        with w.when(w.make(f"icmp ne i64 {w.load(left, 'i64')}, 0")):
            writers = self._shadows(memory)["writers"]
            start = w.make(f"shl i64 {self.first_epoch}, 32")
            bad = w.memory("i8")
            w.store("0", bad, "i8")
            with w.loop(str(self.lanes)) as lane, w.when(self.takes_part(here, lane)):
                wrote = w.load(writers, "i64", w.load(elements, "i64", lane))
                never = w.make(f"zext i1 {w.make(f'icmp ult i64 {wrote}, {start}')} to i8")
                w.store(w.make(f"or i8 {w.load(bad, 'i8')}, {never}"), bad, "i8")
            self.suspect_if(w.make(f"icmp ne i8 {w.load(bad, 'i8')}, 0"))

    def _load(self, node: ir.Load) -> Value:
        if node.field:
            raise NotCompiled("a field of a structure")
        memory = self.array(node.array)
        indices = self.worked_out(node.index)
        w, type_ = self.w, self._word(memory.dtype)
        data, here = self.data(memory), self.here
        if self.analysis.of(node) is True:
            elements = self.access("load", node.site, memory, indices, node)
            self._check_written(memory, elements)
            text = w.load(data, type_, w.load(elements, "i64", self._first_lane()))
            return Value(memory.dtype, self._from_memory(text, memory.dtype))
        cells = w.memory(type_, self.lanes)
        if memory.space == "local":
            elements = self.access("load", node.site, memory, indices, node)
            self._check_written(memory, elements)
            alike = not any(each.lanes for each in _parts_of(indices))
            first = w.load(elements, "i64", "0") if alike and not here.cells else ""
            with w.loop(str(self.lanes)) as lane, w.when(self.takes_part(here, lane)):
                at = self._own_cell(memory, first or w.load(elements, "i64", lane), lane)
                w.store(w.load(data, type_, at), cells, type_, lane)
            return Value(memory.dtype, lanes=cells)

        def found(warp: Register, places: Register, memo: Register) -> None:
            into = w.at(cells, w.make(f"shl i64 {warp}, 5"), type_)
            vector, wide = f"<32 x {type_}>", f"v32{_short(memory.dtype)}"
            gather = f"llvm.masked.gather.{wide}.v32p0"
            _DECLARED.add(f"declare {vector} @{gather}(<32 x ptr>, i32, <32 x i1>, {vector})")

            def in_a_row(first: Register) -> None:
                got = w.make(f"load {vector}, ptr {w.at(data, first, type_)}, align 1")
                w.do(f"store {vector} {got}, ptr {into}, align 1")

            def at_one(first: Register) -> None:
                w.do(f"store {vector} {self._splat(w.load(data, type_, first), type_)}, "
                     f"ptr {into}, align 1")

            def other(at: Register, part: str) -> None:
                from_ = w.make(f"getelementptr inbounds {type_}, ptr {data}, <32 x i64> {at}")
                got = w.make(f"call {vector} @{gather}(<32 x ptr> {from_}, "
                             f"i32 {memory.dtype.itemsize}, <32 x i1> {part}, "
                             f"{vector} zeroinitializer)")
                w.do(f"store {vector} {got}, ptr {into}, align 1")

            self._by_shape(places, memo, self._bits_of(here, warp), in_a_row, at_one, other)

        elements = self.access("load", node.site, memory, indices, node, found)
        self._check_written(memory, elements)
        return Value(memory.dtype, lanes=cells)

    def _splat(self, text: str, type_: str) -> str:
        w, vector = self.w, f"<32 x {type_}>"
        one = w.make(f"insertelement {vector} poison, {type_} {text}, i32 0")
        return w.make(
            f"shufflevector {vector} {one}, {vector} poison, <32 x i32> zeroinitializer"
        )

    def _bits_of(self, here: Here, warp: Register) -> str:
        return "" if not here.cells else self.w.load(here.bits, "i32", warp)

    def _by_shape(
        self,
        places: Register,
        memo: Register,
        bits: str,
        in_a_row: Callable[[Register], None],
        at_one: Callable[[Register], None] | None,
        other: Callable[[Register, str], None],
    ) -> None:
        """Does something with the cells of a warp, quickly where it stands in a row.

        Args:
            places: the elements of its lanes.
            memo: what is kept of its pattern.
            bits: the lanes that take part; "" for all.
            in_a_row: what is done from a first element on.
            at_one: what is done at one element; None for the same as with others.
            other: what is done at <32 x i64> elements, by the lanes of an <32 x i1>.
        """
        w = self.w
        shape = w.load(memo, "i64", str(traffic.SHAPE))
        n = w.number()
        more = f" i64 {traffic.AT_ONE}, label %one{n}" if at_one is not None else ""
        w.do(f"switch i64 {shape}, label %other{n} [i64 {traffic.IN_A_ROW}, label %row{n}{more}]")
        w.lines.append(f"row{n}:")
        in_a_row(w.load(places, "i64"))
        w.do(f"br label %done{n}")
        if at_one is not None:
            w.lines.append(f"one{n}:")
            at_one(w.load(places, "i64"))
            w.do(f"br label %done{n}")
        w.lines.append(f"other{n}:")
        at = w.make(f"load <32 x i64>, ptr {places}, align 8")
        part = w.make(f"bitcast i32 {bits or -1} to <32 x i1>")
        other(at, part)
        w.label(f"done{n}")

    def _first_lane(self) -> Register:
        """The first lane that takes part."""
        if not self.here.cells:
            return "0"
        w, lane = self.w, self.w.memory("i64")
        w.store("0", lane, "i64")
        with w.repeat() as done:
            at = w.load(lane, "i64")
            cell = w.load(self.here.cells, "i8", at)
            w.leave_unless(w.make(f"icmp eq i8 {cell}, 0"), done)
            w.store(w.make(f"add i64 {at}, 1"), lane, "i64")
        return w.load(lane, "i64")

    def _account(
        self,
        kind: str,
        line: int,
        memory: Memory,
        elements: Register,
        each_warp: Callable[[Register, Register, Register], None] | None,
    ) -> None:
        """Counts an access warp by warp, and does with each what is to be done.

        Args:
            kind: "load", "store" or "atomic".
            line: its line.
            memory: the array.
            elements: memory with the element of each lane.
            each_warp: (warp, its first element, its pattern), for a warp of which lanes take part.
        """
        w, here, size = self.w, self.here, memory.dtype.itemsize
        if memory.space == "local":
            w.add(self.warps_here(here), self.count(line, f"local_{kind}"))
            return
        memo = w.at(self.slot("memos"), str(self.sites * traffic.MEMO_WORDS), "i64")
        self.sites += 1
        if memory.space == "global":
            self.global_sizes.add(size)
            counts = self.count(line, "red" if kind == "atomic" else f"global_{kind}", 4)
            if kind == "atomic":
                w.add(self.number_here(here), self.count(line, "atomic_updates"))
            address = self.slot(f"address {memory.name}")
            # Of the memory that a warp has sent for, it is known whether work was done meanwhile.
            sent = self._sent(line) if kind == "load" and self.has_tiles else ""
            with w.loop(str(self.warps)) as warp:
                bits = w.load(here.bits, "i32", warp)
                with w.when(w.make(f"icmp ne i32 {bits}, 0")):
                    first = w.at(elements, w.make(f"shl i64 {warp}, 5"), "i64")
                    own = w.at(memo, w.make(f"mul i64 {warp}, 0"), "i64")
                    w.do(f"call void @sectors{size}(ptr {first}, i32 {bits}, i64 {address}, "
                         f"ptr {own}, ptr {counts})")
                    if sent:
                        w.add("1", sent, warp)
                    if each_warp is not None:
                        each_warp(warp, first, own)
            return
        self.shared_sizes.add(size)
        shared = "load" if kind == "load" else "store"
        counts = self.count(line, f"shared_{shared}", 3)
        wide = self.count(line, "wide_loads") if kind == "load" else ""
        if kind == "atomic":
            w.add(self.number_here(here), self.count(line, "shared_updates"))
        room = w.memory("i32")
        w.store("0", room, "i32")
        with w.loop(str(self.warps)) as warp:
            bits = w.load(here.bits, "i32", warp)
            with w.when(w.make(f"icmp ne i32 {bits}, 0")):
                first = w.at(elements, w.make(f"shl i64 {warp}, 5"), "i64")
                key = w.make(f"call i64 @banks{size}(ptr {first}, i32 {bits}, "
                             f"i64 {memory.offset}, ptr {memo}, ptr {counts})")
                if kind == "load":
                    table = w.at(self.slot("tables"),
                                 w.make(f"mul i64 {warp}, {2 * traffic.TABLE}"), "i64")
                    clock = w.load(self.clocks, "i64", warp)
                    full = w.make(f"call i32 @wide(i64 {key}, ptr {table}, i64 {clock}, ptr {wide})")
                    w.store(w.make(f"or i32 {w.load(room, 'i32')}, {full}"), room, "i32")
                else:
                    w.add("1", self.clocks, warp)
                self._arrived(kind, warp)
                if each_warp is not None:
                    each_warp(warp, first, memo)
        if kind == "load":
            self.suspect_if(w.make(f"icmp ne i32 {w.load(room, 'i32')}, 0"))

    def _sent(self, line: int) -> Register:
        """Loads of a line that are on their way, for each warp."""
        name = f"sent {line}"
        if name not in self.travelling:
            self.travelling.append(name)
        return self._sent_memory(name)

    def _sent_memory(self, name: str) -> Register:
        if name not in self.defined:
            cells = self.w.memory("i64", max(self.warps, 2))
            self.w.own.append(f"  call void @llvm.memset.p0.i64(ptr {cells}, i8 0, "
                              f"i64 {8 * self.warps}, i1 false)")
            self.defined[name] = cells
        return self.defined[name]

    def _arrived(self, kind: str, warp: Register) -> None:
        """A warp touches shared memory: loads are on their way no more."""
        w = self.w
        for line in self.global_lines:
            sent = self._sent_memory(f"sent {line}")
            if kind != "load":
                w.add(w.load(sent, "i64", warp), self.count(line, "idle_loads"))
            w.store("0", sent, "i64", warp)

    @property
    def global_lines(self) -> list[int]:
        """The lines at which global memory is loaded, in a kernel with shared memory."""
        return self._lines if self.has_tiles else []

    def _races(self, kind: str, memory: Memory, elements: Register) -> None:
        if not memory.stored:
            return
        if memory.space == "shared":
            if memory.name not in self.written_names:
                return
            self._shared_race(kind, memory, elements)
        elif memory.space == "global":
            self._global_race(kind, memory, elements)

    @property
    def written_names(self) -> set[str]:
        return self.written

    def _shared_race(self, kind: str, memory: Memory, elements: Register) -> None:
        """A word for each cell: when it was touched last, and by whom.

        Its upper half is the block's barrier, then come 20 bits for the warp's, and 12 for the
        thread, from 1 on; SEVERAL of one warp are WARPS and its number.
        """
        w, here = self.w, self.here
        shadows = self._shadows(memory)
        now = w.make(f"shl i64 {w.load(self.epoch, 'i64')}, 32")
        start = w.make(f"shl i64 {self.first_epoch}, 32")
        bad = w.memory("i8")
        w.store("0", bad, "i8")
        with w.loop(str(self.lanes)) as lane, w.when(self.takes_part(here, lane)):
            at = w.load(elements, "i64", lane)
            mine = w.make(f"or i64 {now}, {w.make(f'add i64 {lane}, 1')}")
            warp, synced = w.make(f"lshr i64 {lane}, 5"), "0"
            if self.synced:
                synced = w.make(f"shl i64 {w.load(self.synced, 'i64', warp)}, 12")
                mine = w.make(f"or i64 {mine}, {synced}")
            kept = {what: w.load(shadow, "i64", at) for what, shadow in shadows.items()}

            def clashes(word: str, mine: str = mine, warp: str = warp, synced: str = synced) -> str:
                late = w.make(f"icmp uge i64 {word}, {now}")
                who, me = (w.make(f"and i64 {each}, 4095") for each in (word, mine))
                open_ = w.make(f"and i1 {late}, {w.make(f'icmp ne i64 {who}, {me}')}")
                if not self.synced:
                    return open_
                before = w.make(f"and i64 {word}, {((1 << 20) - 1) << 12}")
                earlier = w.make(f"icmp ult i64 {before}, {synced}")
                ordered = w.make(f"and i1 {earlier}, {self._of_warp(who, warp)}")
                return w.make(f"and i1 {open_}, {w.make(f'xor i1 {ordered}, true')}")

            wrong = self._any([clashes(kept[what]) for what in _AGAINST[kind] if what in shadows])
            never = w.make(f"icmp ult i64 {kept['writers']}, {start}")
            own = _OWN_SHADOW[kind]
            word = mine
            if kind != "store":
                wrong = w.make(f"or i1 {wrong}, {never}")
                several = w.make(f"or i64 {now}, {SEVERAL}")
                if self.synced:
                    who = w.make(f"and i64 {kept[own]}, 4095")
                    few = w.make(f"add i64 {warp}, {WARPS}")
                    few = w.make(f"or i64 {w.make(f'or i64 {now}, {synced}')}, {few}")
                    near = self._of_warp(who, warp)
                    several = w.make(f"select i1 {near}, i64 {few}, i64 {several}")
                word = w.make(f"select i1 {clashes(kept[own])}, i64 {several}, i64 {mine}")
            else:
                fresh = w.make(f"sext i1 {never} to i64")
                w.add(fresh, self.slot(f"left {memory.name}"))
            w.store(word, shadows[own], "i64", at)
            wrong = w.make(f"zext i1 {wrong} to i8")
            w.store(w.make(f"or i8 {w.load(bad, 'i8')}, {wrong}"), bad, "i8")
        self.suspect_if(w.make(f"icmp ne i8 {w.load(bad, 'i8')}, 0"))

    def _of_warp(self, who: str, warp: str) -> str:
        """Whether a thread, or all of several, are of a warp."""
        w = self.w
        one = w.make(f"lshr i64 {w.make(f'sub i64 {who}, 1')}, 5")
        same = w.make(f"icmp eq i64 {one}, {warp}")
        group = w.make(f"icmp eq i64 {w.make(f'sub i64 {who}, {WARPS}')}, {warp}")
        return w.make(f"or i1 {same}, {group}")

    def _any(self, conditions: Sequence[str]) -> str:
        found = conditions[0]
        for each in conditions[1:]:
            found = self.w.make(f"or i1 {found}, {each}")
        return found

    def _shadows(self, memory: Memory) -> dict[str, Register]:
        """Who wrote, read and updated the cells of an array, as far as anybody does."""
        names = ["writers", "readers"]
        if self.has_atomics:
            names.append("updaters")
        return {what: self.slot(f"shadow {what} {memory.name}") for what in names}

    def _global_race(self, kind: str, memory: Memory, elements: Register) -> None:
        """A word for each cell: the block, how often it had met, the thread; 4095 for several."""
        w, here = self.w, self.here
        shadows = self._shadows(memory)
        block = w.make(f"shl i64 {w.make(f'add i64 {self._block_number()}, 1')}, 38")
        met = w.make(f"shl i64 {w.load(self.met, 'i64')}, 12")
        now = w.make(f"or i64 {block}, {met}")
        bad = w.memory("i8")
        w.store("0", bad, "i8")
        with w.loop(str(self.lanes)) as lane, w.when(self.takes_part(here, lane)):
            at = w.load(elements, "i64", lane)
            mine = w.make(f"or i64 {now}, {w.make(f'add i64 {lane}, 1')}")
            kept = {what: w.load(shadow, "i64", at) for what, shadow in shadows.items()}
            wrong = self._any([
                self._unordered(kept[what], block, now, mine)
                for what in _AGAINST[kind]
                if what in shadows
            ])
            own = _OWN_SHADOW[kind]
            word = mine if kind == "store" else self._read_by(kept[own], block, now, mine)
            w.store(word, shadows[own], "i64", at)
            wrong = w.make(f"zext i1 {wrong} to i8")
            w.store(w.make(f"or i8 {w.load(bad, 'i8')}, {wrong}"), bad, "i8")
        self.suspect_if(w.make(f"icmp ne i8 {w.load(bad, 'i8')}, 0"))

    def _block_number(self) -> Register:
        return self.slot("block")

    def _unordered(self, word: str, block: str, now: str, mine: str) -> str:
        """Whether what a word tells of is ordered before nothing of this thread's."""
        w = self.w
        some = w.make(f"icmp ne i64 {word}, 0")
        of_block = w.make(f"lshr i64 {word}, 38")
        elsewhere = w.make(f"icmp ne i64 {of_block}, {w.make(f'lshr i64 {block}, 38')}")
        late = w.make(f"icmp uge i64 {word}, {now}")
        other = w.make(f"icmp ne i64 {word}, {mine}")
        inside = w.make(f"and i1 {late}, {other}")
        return w.make(f"and i1 {some}, {w.make(f'or i1 {elsewhere}, {inside}')}")

    def _read_by(self, word: str, block: str, now: str, mine: str) -> str:
        """What is kept of who read a cell; block 2^26 - 1 stands for several blocks."""
        w = self.w
        none = w.make(f"icmp eq i64 {word}, 0")
        same = w.make(f"icmp eq i64 {w.make(f'lshr i64 {word}, 38')}, "
                      f"{w.make(f'lshr i64 {block}, 38')}")
        fresh = w.make(f"or i1 {none}, {same}")
        late = w.make(f"icmp uge i64 {word}, {now}")
        other = w.make(f"icmp ne i64 {word}, {mine}")
        several = w.make(f"or i64 {now}, 4095")
        inside = w.make(f"and i1 {late}, {other}")
        own = w.make(f"select i1 {inside}, i64 {several}, i64 {mine}")
        own = w.make(f"select i1 {none}, i64 {mine}, i64 {own}")
        return w.make(f"select i1 {fresh}, i64 {own}, i64 -1")

    def _check_written(self, memory: Memory, elements: Register) -> None:
        """Gives up where memory is read that nobody has written."""
        if memory.space == "local":
            w, cells, bad = self.w, self.slot(f"unset {memory.name}"), self.w.memory("i8")
            w.store("0", bad, "i8")
            with w.loop(str(self.lanes)) as lane, w.when(self.takes_part(self.here, lane)):
                at = self._own_cell(memory, w.load(elements, "i64", lane), lane)
                fresh = w.make(f"xor i8 {w.load(cells, 'i8', at)}, 1")
                w.store(w.make(f"or i8 {w.load(bad, 'i8')}, {fresh}"), bad, "i8")
            self.suspect_if(w.make(f"icmp ne i8 {w.load(bad, 'i8')}, 0"))
            return
        if memory.space != "global" or memory.name not in self.unset:
            return
        w, here = self.w, self.here
        cells, size = self.slot(f"unset {memory.name}"), memory.dtype.itemsize
        bad = w.memory("i8")
        w.store("0", bad, "i8")
        with w.loop(str(self.lanes)) as lane, w.when(self.takes_part(here, lane)):
            at = w.make(f"mul i64 {w.load(elements, 'i64', lane)}, {size}")
            with w.loop(str(size)) as byte:
                cell = w.load(cells, "i8", w.make(f"add i64 {at}, {byte}"))
                fresh = w.make(f"zext i1 {w.make(f'icmp eq i8 {cell}, 0')} to i8")
                w.store(w.make(f"or i8 {w.load(bad, 'i8')}, {fresh}"), bad, "i8")
        self.suspect_if(w.make(f"icmp ne i8 {w.load(bad, 'i8')}, 0"))

    def _mark_written(self, memory: Memory, elements: Register) -> None:
        if memory.space == "local":
            w, cells = self.w, self.slot(f"unset {memory.name}")
            with w.loop(str(self.lanes)) as lane, w.when(self.takes_part(self.here, lane)):
                at = self._own_cell(memory, w.load(elements, "i64", lane), lane)
                w.store("1", cells, "i8", at)
            return
        if memory.space != "global" or memory.name not in self.unset:
            return
        w, here = self.w, self.here
        cells, size = self.slot(f"unset {memory.name}"), memory.dtype.itemsize
        with w.loop(str(self.lanes)) as lane, w.when(self.takes_part(here, lane)):
            at = w.make(f"mul i64 {w.load(elements, 'i64', lane)}, {size}")
            with w.loop(str(size)) as byte:
                w.store("1", cells, "i8", w.make(f"add i64 {at}, {byte}"))


_AGAINST = {
    "load": ("writers", "updaters"),
    "store": ("writers", "readers", "updaters"),
    "atomic": ("writers", "readers"),
}
"""What an access may clash with; nothing but a store replaces what is known of stores."""
_OWN_SHADOW = {"load": "readers", "store": "writers", "atomic": "updaters"}
_POINTERS = {"counters", "memos", "tables", "clocks"}
_DECLARED = {
    "declare i32 @llvm.ctpop.i32(i32)",
    "declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)",
}
_CASTS = {
    "cuda.libdevice.float_as_int": FLOAT32,
    "cuda.libdevice.int_as_float": INT32,
    "cuda.libdevice.double_as_longlong": FLOAT64,
    "cuda.libdevice.longlong_as_double": INT64,
}
_OF_BITS = {
    "cuda.popc": "ctpop", "cuda.clz": "ctlz", "cuda.ffs": "cttz", "cuda.brev": "bitreverse",
}  # fmt: skip
_SHUFFLES = {f"cuda.shfl{way}_sync" for way in ("", "_up", "_down", "_xor")}
_VOTES = {f"cuda.{how}_sync" for how in ("all", "any", "eq", "ballot")}
_BARRIERS = {f"cuda.syncthreads{how}" for how in ("", "_count", "_and", "_or")}
_ATOMICS = {f"cuda.atomic.{name}" for name in "add sub and_ or_ xor max min".split()}
_DONE_HERE = {
    "cuda.syncwarp", *_BARRIERS, *_SHUFFLES, *_VOTES, *_ATOMICS,
    "array.shape", "builtin.len", "builtin.range", "cuda.activemask",
}  # fmt: skip
_LIBRARY = {f"math.{n}" for n in "exp exp2 expm1 log log2 log10 log1p sin cos tan tanh".split()}
_COMPARED = {
    "Eq": ("eq", "eq", "oeq"), "NotEq": ("ne", "ne", "une"), "Lt": ("slt", "ult", "olt"),
    "LtE": ("sle", "ule", "ole"), "Gt": ("sgt", "ugt", "ogt"), "GtE": ("sge", "uge", "oge"),
}  # fmt: skip


def _short(dtype: Number) -> str:
    """How intrinsics call a number in memory."""
    return f"{'f' if dtype.kind == 'f' else 'i'}{8 * dtype.itemsize}"


MAX_CALLS = 16
"""Functions that are written inside one another."""


def _analysed(code: ir.Code, block: Dim3, given: dict[str, bool]) -> Analysis:
    """Returns what is alike in a function; nothing that may be read before it is given."""
    found = Analysis(code, block, given)
    for name in found.checked:
        if not isinstance(code.types.get(name), types.ArrayType):
            found.alike[name] = False
    return found


def _parts_of(value: Any) -> tuple[Value, ...]:
    return value if isinstance(value, tuple) else (value,)


def _is_done_here(node: ir.Call) -> bool:
    return node.path in _DONE_HERE or (
        node.path == "len" and isinstance(node.arguments[0].type, types.ArrayType)
    )


def node_real(node: ir.Call) -> Number:
    """The float type in which a function of one number is worked out."""
    given = node.arguments[0].type
    return FLOAT32 if given == FLOAT32 else FLOAT64


def name_of_or_not(dtype: Any) -> str:
    """Returns what LLVM calls a number in memory; raises NotCompiled for what it has no name for."""
    try:
        return name_of(dtype)
    except KeyError:
        raise NotCompiled(f"numbers of type {dtype}") from None


def _value(dtype: Any) -> str:
    """What LLVM calls a number in a register."""
    return "i1" if dtype == BOOL else name_of_or_not(dtype)


def _float32(value: Any) -> str:
    return constant(np.float32(value), FLOAT32)


def _may_leave(node: ir.Statement) -> bool:
    """Whether lanes that come to a statement may not come past it."""
    if isinstance(node, ir.Leave):
        return True
    if isinstance(node, ir.If):
        return _leaving(node.body) or _leaving(node.orelse)
    if isinstance(node, ir.Loop):
        return _returns(node.body) or _leaving(node.orelse)
    return False


def _leaving(body: ir.Block) -> bool:
    return any(map(_may_leave, body))


def _returns(body: ir.Block) -> bool:
    for node in body:
        if isinstance(node, ir.Leave) and node.how in ("return", "end"):
            return True
        if isinstance(node, ir.If) and (_returns(node.body) or _returns(node.orelse)):
            return True
        if isinstance(node, ir.Loop) and (_returns(node.body) or _returns(node.orelse)):
            return True
    return False


def _leaves_loop(body: ir.Block) -> bool:
    """Whether a turn may be left before its end."""
    for node in body:
        if isinstance(node, ir.Leave):
            return True
        if isinstance(node, ir.If) and (_leaves_loop(node.body) or _leaves_loop(node.orelse)):
            return True
        if isinstance(node, ir.Loop) and (_returns(node.body) or _leaves_loop(node.orelse)):
            return True
    return False


def _global_loads(node: Any) -> set[int]:
    """The lines at which global memory is loaded from."""
    if isinstance(node, tuple):
        return {line for each in node for line in _global_loads(each)}
    if not isinstance(node, ir.Statement | ir.Expression):
        return set()
    found = {line for each in fields(node) for line in _global_loads(getattr(node, each.name))}
    if isinstance(node, ir.Load) and getattr(node.array.type, "space", "") == "global":
        found.add(node.site.line)
    if isinstance(node, ir.DeviceCall):
        found |= _global_loads(node.code.body)
    return found


def _touched(code: ir.Code) -> tuple[set[str], set[str]]:
    """Returns the names of arrays that are loaded from, and those that are stored to.

    Of arrays under several names all may be meant, so they are taken for both.
    """
    return _Touched(code).found()


class _Touched:
    def __init__(self, code: ir.Code) -> None:
        self.code = code
        self.loaded: set[str] = set()
        self.stored: set[str] = set()

    def found(self) -> tuple[set[str], set[str]]:
        # Who stands behind a name is settled while it is written; here it is enough that a kernel
        # loads and stores at all.
        names = {n for n, (g, _) in self.code.parameters.items() if isinstance(g, types.ArrayType)}
        names |= {f"own {k}" for k in range(len(self.code.arrays))}
        return set(names), set(names)
