"""Words of the vocabulary that are plain numbers: indices of threads, attributes, functions."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from simt.compiled import library
from simt.compiled.facts.analysis import NotCompiled
from simt.compiled.writing.arithmetic import (
    OF_BITS,
    Number,
    memory_type,
    number_type,
    register_type,
)
from simt.compiled.writing.arrays import Memory
from simt.compiled.writing.context import Context
from simt.compiled.writing.masks import Masks
from simt.compiled.writing.text import Register, Writer, constant
from simt.compiled.writing.values import Value, Values
from simt.kernel import ir
from simt.kernel.constants import Symbol, as_dtype
from simt.kernel.types import FLOAT32, FLOAT64, INT32, INT64
from simt.vocabulary.loops import AHEAD, LEAST

_CASTS = {
    "cuda.libdevice.float_as_int": FLOAT32,
    "cuda.libdevice.int_as_float": INT32,
    "cuda.libdevice.double_as_longlong": FLOAT64,
    "cuda.libdevice.longlong_as_double": INT64,
}
_PLACES = ("cuda.threadIdx.", "cuda.blockIdx.", "cuda.blockDim.", "cuda.gridDim.")
_EXACT = {"math.sqrt", "math.fabs", "math.floor", "math.ceil", "math.trunc"}


class Words:
    """Calls of words that do nothing but give a number.

    Attributes:
        math: the functions that a library works out, by their keys.
    """

    def __init__(self, context: Context, masks: Masks, values: Values) -> None:
        self.context, self.w, self.masks = context, context.w, masks
        self.values, self.arithmetic = values, values.arithmetic
        self.math: dict[str, library.Function] = {}

    def place(self, node: ir.Call, lane: Register | None) -> str | None:
        """Returns where a lane is in warp, block and grid; None for words that say no such thing.

        Args:
            node: the call.
            lane: the lane; None for what all lanes share.
        """
        w, path = self.w, node.path
        if path.startswith(_PLACES):
            return self._place(path.split(".")[1], "xyz".index(path[-1]), lane)
        if path == "cuda.grid" and node.type == INT64:
            return self._global_index(0, lane)
        if path == "cuda.gridsize" and node.type == INT64:
            return w.make(f"mul i64 {self.context.slot('grid 0')}, {self.context.block[0]}")
        if path == "cuda.laneid":
            return w.make(f"and i32 {w.make(f'trunc i64 {lane} to i32')}, 31")
        if path == "cuda.warpsize":
            return "32"
        if path == "cuda.lanemask_lt":
            bit = w.make(f"and i64 {lane}, 31")
            low = w.make(f"sub i64 {w.make(f'shl i64 1, {bit}')}, 1")
            return w.make(f"trunc i64 {low} to i32")
        return None

    def _place(self, what: str, axis: int, lane: Register | None) -> str:
        w = self.w
        if what == "blockDim":
            return str(self.context.block[axis])
        if what == "gridDim":
            return w.make(f"trunc i64 {self.context.slot(f'grid {axis}')} to i32")
        if what == "blockIdx":
            return w.make(f"trunc i64 {self.context.slot(f'block {axis}')} to i32")
        if self.context.block[axis] == 1:
            return "0"
        return w.make(f"trunc i64 {self._thread_index(axis, lane)} to i32")

    def _thread_index(self, axis: int, lane: Register | None) -> str:
        """threadIdx along an axis, i64; lanes without a thread repeat the last one."""
        w, (x, y, _) = self.w, self.context.block
        if lane is None:
            return "0"
        if self.context.threads != self.context.lanes:
            inside = w.make(f"icmp slt i64 {lane}, {self.context.threads}")
            lane = w.make(f"select i1 {inside}, i64 {lane}, i64 {self.context.threads - 1}")
        if axis == 0:
            return lane if x == self.context.threads else w.make(f"urem i64 {lane}, {x}")
        inner = w.make(f"udiv i64 {lane}, {x}")
        if axis == 1:
            return inner if self.context.block[2] == 1 else w.make(f"urem i64 {inner}, {y}")
        return w.make(f"udiv i64 {inner}, {y}")

    def _global_index(self, axis: int, lane: Register | None) -> str:
        w = self.w
        first = w.make(f"mul i64 {self.context.slot(f'block {axis}')}, {self.context.block[axis]}")
        if self.context.block[axis] == 1:
            return first
        return w.make(f"add i64 {first}, {self._thread_index(axis, lane)}")

    def index_along(self, path: str, axis: int) -> Value:
        """Returns one of several parts of `cuda.grid` or `cuda.gridsize`."""
        w = self.w
        if path == "cuda.gridsize":
            side = self.context.slot(f"grid {axis}")
            return Value(INT64, w.make(f"mul i64 {side}, {self.context.block[axis]}"))
        if self.context.block[axis] == 1:
            return Value(INT64, self._global_index(axis, None))
        cells = w.memory("i64", self.context.lanes)
        with w.loop(str(self.context.lanes)) as lane:
            w.store(self._global_index(axis, lane), cells, "i64", lane)
        return Value(INT64, lanes=cells)

    def attribute(self, node: ir.Call, memory: Memory) -> str:
        """Returns an attribute of an array that is a number."""
        if node.path == "array.size":
            found = memory.shape[0]
            for side in memory.shape[1:]:
                found = self.w.make(f"mul i64 {found}, {side}")
            return found
        if node.path == "array.ndim":
            return str(len(memory.shape))
        raise NotCompiled(node.path)

    def call(self, node: ir.Call, arguments: Sequence[str]) -> str:
        """Returns what a function gives for numbers.

        Args:
            node: the call.
            arguments: registers, each of the type of its expression.

        Raises:
            NotCompiled: a function that is not known here.
        """
        w, path, arithmetic = self.w, node.path, self.arithmetic
        given = [number_type(part.type, path) for part in node.arguments]
        dtype = number_type(node.type, path)
        type_ = register_type(dtype)
        if len(arguments) == 1 and (
            as_dtype(Symbol(path)) is not None
            or path in ("builtin.float", "builtin.bool")
            or (path == "builtin.int" and given[0].kind in "iuf")
        ):
            return arithmetic.converted(arguments[0], given[0], dtype)
        if path == "cuda.selp":
            test = arithmetic.truth(arguments[0], given[0])
            yes, no = (arithmetic.converted(arguments[k], given[k], dtype) for k in (1, 2))
            return w.make(f"select i1 {test}, {type_} {yes}, {type_} {no}")
        if path == "cuda.fma":
            factors = zip(arguments, given, strict=True)
            return arithmetic.intrinsic(
                "fma", [arithmetic.converted(t, g, dtype) for t, g in factors], dtype
            )
        if path in _CASTS:
            source = _CASTS[path]
            text = arithmetic.converted(arguments[0], given[0], source)
            return w.make(f"bitcast {register_type(source)} {text} to {type_}")
        if node.function is LEAST:
            return arithmetic.extreme("min", arguments, given, dtype)
        if path in OF_BITS and given[0].itemsize in (4, 8) and given[0].kind in "iu":
            return arithmetic.of_bits(path, arguments[0], given[0], dtype)
        if path in ("builtin.min", "builtin.max"):
            return arithmetic.extreme(path[-3:], arguments, given, dtype)
        if node.function is AHEAD:
            return arithmetic.ahead(arguments, given[0])
        if path in _EXACT:
            real = FLOAT32 if given[0] == FLOAT32 else FLOAT64
            text = arithmetic.converted(arguments[0], given[0], real)
            found = arithmetic.intrinsic(path.removeprefix("math."), [text], real)
            return arithmetic.converted(found, real, dtype)
        if path == "builtin.abs" and given[0] == dtype and dtype.kind in "if":
            (text,) = arguments
            if dtype.kind == "f":
                return arithmetic.intrinsic("fabs", [text], dtype)
            negative = w.make(f"sub {type_} 0, {text}")
            below = w.make(f"icmp slt {type_} {text}, 0")
            return w.make(f"select i1 {below}, {type_} {negative}, {type_} {text}")
        raise NotCompiled(path)

    def library(
        self,
        node: ir.Call | ir.Binary,
        given: Sequence[ir.Expression],
        text_of: Callable[[ir.Expression, Register | None], str],
        *,
        alike: bool,
    ) -> Value:
        """Returns what a library works out for the numbers of all lanes.

        Args:
            node: the call, or the operation.
            given: its arguments.
            text_of: (argument, lane, or None for all of them) -> its number, in its own type.
            alike: whether all lanes share the arguments.
        """
        w, arithmetic = self.w, self.arithmetic
        what = node.path if isinstance(node, ir.Call) else node.operator
        function, dtype = library.FUNCTIONS[what], number_type(node.type)
        if len(given) != function.count or (dtype.kind == "f" and dtype.itemsize < 4):
            raise NotCompiled(what)
        if isinstance(node, ir.Call) and dtype.kind != "f":
            raise NotCompiled(what)
        worked = library.worked_in(function, dtype)
        type_, count = memory_type(worked), 1 if alike else self.context.lanes
        rooms = [w.memory(type_, max(count, 2)) for _ in given]
        for argument, into in zip(given, rooms, strict=True):
            own = number_type(argument.type)
            with w.loop(str(count)) as lane:
                text = arithmetic.converted(text_of(argument, None if alike else lane), own, dtype)
                w.store(arithmetic.converted(text, dtype, worked), into, type_, lane)
        if function.name == "power":
            self._check_exponents(given[1], rooms[1], worked, alike=alike)
        out = w.memory(type_, max(count, 2))
        key = function.key(worked)
        self.math[key] = function
        for part in ("loop", "with"):
            self.context.slot(f"{part} {key}")
        pointers = [f"ptr {each}" for each in (*rooms, out)]
        # One exponent for all numbers, where it is written down.
        fixed = function.name == "power" and isinstance(given[1], ir.Constant)
        step = [f"i64 {0 if fixed else worked.itemsize}"] if function.count > 1 else []
        w.do(
            f"call void @math_{_letters(key)}(ptr %state, {', '.join(pointers)}, "
            f"{', '.join([*step, f'i64 {count}'])})"
        )
        if alike:
            return Value(dtype, arithmetic.converted(w.load(out, type_), worked, dtype))
        if worked == dtype:
            return Value(dtype, lanes=out)
        cells = w.memory(memory_type(dtype), self.context.lanes)
        with w.loop(str(self.context.lanes)) as lane:
            found = arithmetic.converted(w.load(out, type_, lane), worked, dtype)
            w.store(found, cells, memory_type(dtype), lane)
        return Value(dtype, lanes=cells)

    def _check_exponents(
        self, written: ir.Expression, room: Register, dtype: Number, *, alike: bool
    ) -> None:
        """Gives up where NumPy goes another way than the loop by itself would.

        It takes short cuts for one exponent of all numbers, and the interpreter may have one where
        nothing here says so. To whole numbers it has no power of less than 0.
        """
        w, type_ = self.w, memory_type(dtype)
        if dtype.kind == "f" and isinstance(written, ir.Constant):
            return

        def exponent(lane: Register) -> str:
            return w.load(room, type_, "0" if alike else lane)

        def short_cut(lane: Register) -> str:
            found = "false"
            for number in library.SHORT_CUTS:
                equal = w.make(f"fcmp oeq {type_} {exponent(lane)}, {constant(number, dtype)}")
                found = w.make(f"or i1 {found}, {equal}")
            return found

        def below(lane: Register) -> str:
            return w.make(f"icmp slt {type_} {exponent(lane)}, 0")

        if dtype.kind == "f":
            self.masks.suspect_of_lanes(short_cut)
        elif dtype.kind == "i":
            self.masks.suspect_of_lanes(below)
            # Those of lanes that take no part would stop the loop as well.
            with w.loop("1" if alike else str(self.context.lanes)) as lane:
                kept = w.make(f"select i1 {below(lane)}, {type_} 0, {type_} {exponent(lane)}")
                w.store(kept, room, type_, lane)

    def math_functions(self) -> list[str]:
        """Returns the functions that call the libraries' loops, which the state holds."""
        return [self._math_function(key) for key in sorted(self.math)]

    def _math_function(self, key: str) -> str:
        function, type_ = self.math[key], memory_type(np.dtype(key[-1]))
        names = [*("%into", "%by")[: function.count], "%out"]
        more = ["i64 %step"] if function.count > 1 else []
        given = ", ".join([*(f"ptr {name}" for name in names), *more, "i64 %count"])
        w = Writer(f"define internal void @math_{_letters(key)}(ptr %state, {given}) noinline")
        loop = w.load(w.at("%state", str(self.context.slots[f"loop {key}"]), "i64"), "ptr")
        if function.of_c:
            with w.loop("%count") as turn:
                found = w.make(f"call {type_} {loop}({type_} {w.load('%into', type_, turn)})")
                w.store(found, "%out", type_, turn)
            w.do("ret void")
            return w.text()
        data = w.load(w.at("%state", str(self.context.slots[f"with {key}"]), "i64"), "ptr")
        pointers, steps = w.memory("ptr", 3), w.memory("i64", 3)
        many = w.memory("i64", 2)
        size = str(np.dtype(key[-1]).itemsize)
        for place, name in enumerate(names):
            w.store(name, pointers, "ptr", str(place))
            w.store("%step" if name == "%by" else size, steps, "i64", str(place))
        w.store("%count", many, "i64", "0")
        w.do(f"call void {loop}(ptr {pointers}, ptr {many}, ptr {steps}, ptr {data})")
        w.do("ret void")
        return w.text()


def _letters(key: str) -> str:
    """A key as LLVM takes it for a name."""
    return key.replace(" ", "_").replace("->", "_")
