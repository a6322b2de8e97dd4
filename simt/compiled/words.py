"""Words of the vocabulary that are plain numbers: indices of threads, attributes, functions."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from simt.compiled.analysis import NotCompiled
from simt.compiled.arithmetic import OF_BITS, memory_type, number_type, register_type
from simt.compiled.arrays import Memory
from simt.compiled.context import Context
from simt.compiled.text import Register, Writer
from simt.compiled.values import Value, Values
from simt.kernel import ir
from simt.kernel.types import FLOAT32, FLOAT64, INT32, INT64
from simt.vocabulary.loops import AHEAD, LEAST

LIBRARY = {f"math.{n}" for n in "exp exp2 expm1 log log2 log10 log1p sin cos tan tanh".split()}
"""What NumPy's own loops work out."""
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
        math: the functions that NumPy works out, by name.
    """

    def __init__(self, context: Context, values: Values) -> None:
        self.context, self.w = context, context.w
        self.values, self.arithmetic = values, values.arithmetic
        self.math: set[str] = set()

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
            path.startswith("numba.")
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
        self, node: ir.Call, text_of: Callable[[Register | None], str], *, alike: bool
    ) -> Value:
        """Returns what NumPy works out for the numbers of all lanes.

        Args:
            node: the call.
            text_of: lane, or None for all of them -> the argument, in its own type.
            alike: whether all lanes share the argument.
        """
        w, name, dtype = self.w, node.path.removeprefix("math."), number_type(node.type)
        if dtype not in (FLOAT32, FLOAT64) or len(node.arguments) != 1:
            raise NotCompiled(node.path)
        arithmetic, own = self.arithmetic, number_type(node.arguments[0].type)
        count = 1 if alike else self.context.lanes
        into, out = w.memory("double", max(count, 2)), w.memory("double", max(count, 2))
        self.math.add(name)
        with w.loop(str(count)) as lane:
            text = arithmetic.converted(text_of(None if alike else lane), own, dtype)
            w.store(arithmetic.converted(text, dtype, FLOAT64), into, "double", lane)
        w.do(f"call void @math_{name}(ptr %state, ptr {into}, ptr {out}, i64 {count})")
        for what in ("loop", "with"):
            self.context.slot(f"{what} {name}")
        if alike:
            return Value(dtype, arithmetic.converted(w.load(out, "double"), FLOAT64, dtype))
        type_ = memory_type(dtype)
        cells = w.memory(type_, self.context.lanes)
        with w.loop(str(self.context.lanes)) as lane:
            found = arithmetic.converted(w.load(out, "double", lane), FLOAT64, dtype)
            w.store(found, cells, type_, lane)
        return Value(dtype, lanes=cells)

    def math_functions(self) -> list[str]:
        """Returns the functions that call NumPy's loops, which the state holds."""
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
            loop = w.load(w.at("%state", str(self.context.slots[f"loop {name}"]), "i64"), "ptr")
            data = w.load(w.at("%state", str(self.context.slots[f"with {name}"]), "i64"), "ptr")
            w.do(f"call void {loop}(ptr {two}, ptr {many}, ptr {steps}, ptr {data})")
            w.do("ret void")
            texts.append(w.text())
        return texts
