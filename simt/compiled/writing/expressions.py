"""Expressions: first what they do beside arithmetic, in its order, and then the arithmetic.

What an expression loads, calls or chooses is done for all lanes before any arithmetic is, since it
may ask for a mask or touch memory. What is left is plain, and is written into whichever loop over
the lanes wants the number.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from simt.compiled.facts.affine import Known, Lanes
from simt.compiled.facts.analysis import NotCompiled
from simt.compiled.library import FUNCTIONS as LIBRARY
from simt.compiled.writing.accesses import Accesses
from simt.compiled.writing.arithmetic import (
    Number,
    constant_of,
    memory_type,
    number_type,
    register_type,
)
from simt.compiled.writing.arrays import Memory
from simt.compiled.writing.context import Context
from simt.compiled.writing.masks import Here, Masks
from simt.compiled.writing.text import Register
from simt.compiled.writing.together import BARRIERS, SHUFFLES, VOTES, Together
from simt.compiled.writing.values import Value, Values, Worth, parts_of
from simt.compiled.writing.variables import Variables
from simt.compiled.writing.views import View, Views
from simt.compiled.writing.words import Words
from simt.kernel import ir, trees, types
from simt.kernel.types import BOOL, FLOAT32, INT64, RangeType, TupleType
from simt.vocabulary.loops import AHEAD, ARRAY_LENGTH

ATOMICS = {
    f"cuda.atomic.{name}" for name in "add sub and_ or_ xor max min inc dec exch cas".split()
}
_DONE_FIRST = {
    "cuda.syncwarp", *BARRIERS, *SHUFFLES, *VOTES, *ATOMICS,
    "array.shape", "builtin.len", "builtin.range", "cuda.activemask",
}  # fmt: skip
_TELLS = {"array.shape", "builtin.len", "len"}
"""Of these, what does nothing but tell numbers that are known."""


def is_done_first(node: ir.Expression) -> bool:
    """Whether a call does more than arithmetic, or gives several numbers."""
    return isinstance(node, ir.Call) and (
        node.path in _DONE_FIRST
        or (node.path == "len" and isinstance(node.arguments[0].type, types.ArrayType))
    )


class Expressions:
    """The expressions of a function.

    Args:
        context, masks, values, variables, accesses, together, words: of the function.
        inline: writes a device function where it is called; returns what it returns.
    """

    def __init__(
        self,
        context: Context,
        masks: Masks,
        values: Values,
        variables: Variables,
        accesses: Accesses,
        together: Together,
        words: Words,
        inline: Callable[[ir.DeviceCall], Any],
    ) -> None:
        self.context, self.w, self.masks = context, context.w, masks
        self.values, self.arithmetic, self.variables = values, values.arithmetic, variables
        self.accesses, self.arrays = accesses, accesses.arrays
        self.together, self.words, self.inline = together, words, inline
        self.views = Views(context, masks, values)
        self._made: dict[int, Any] = {}

    def is_alike(self, node: ir.Expression) -> bool:
        """Whether an expression is the same for all lanes."""
        return self.variables.frame.analysis.of(node) is True

    # What is done for all lanes

    def worked_out(self, node: ir.Expression) -> Any:
        """Returns a value, a tuple of them, an array, or None for a call that gives nothing."""
        if isinstance(node.type, types.ArrayType):
            return self.array_or_view(node)
        if isinstance(node, ir.Tuple):
            return tuple(self.worked_out(part) for part in node.parts)
        if isinstance(node, ir.Call) and (
            isinstance(node.type, RangeType | TupleType) or is_done_first(node)
        ):
            return self._call(node)
        if isinstance(node, ir.Temporary) and not isinstance(node.type, np.dtype):
            return self.variables.read_aside(self.variables.frame.temporaries[node.number])
        if isinstance(node, ir.Read) and isinstance(node.type, TupleType):
            return self.variables.parts(node.variable, node.type)
        if isinstance(node, ir.Element):
            return self._element(node)
        if isinstance(node, ir.DeviceCall):
            return self.inline(node)
        what = node.path if isinstance(node, ir.Call) else type(node).__name__
        dtype = number_type(node.type, f"a value that is no number: {what}")
        self.prepare(node)
        return self.prepared(node, dtype)

    def prepared(self, node: ir.Expression, dtype: Number) -> Value:
        """Returns the value of an expression that has been prepared, of a type."""
        if self.is_alike(node):
            return Value(dtype, self.pure(node, None))
        made = self._made.get(id(node))
        if made is not None and made.lanes:
            return made
        cells = self.w.memory(memory_type(dtype), self.context.lanes)
        self.values.put(self._worth(node, dtype), dtype, cells)
        return Value(dtype, lanes=cells)

    def worth(self, node: ir.Expression) -> Worth | None:
        """Returns a number of each lane, so that it need not be kept; None where it has to be."""
        if isinstance(node, ir.Element | ir.Tuple | ir.Load | ir.DeviceCall):
            return None
        if not isinstance(node.type, np.dtype) or is_done_first(node) or self.is_alike(node):
            return None
        self.prepare(node)
        return self._worth(node, node.type)

    def _worth(self, node: ir.Expression, dtype: Number) -> Worth:
        return Worth(dtype, lambda lane: self.pure(node, lane))

    def array(self, node: ir.Expression) -> Memory:
        """Returns the one array that an expression stands for; raises NotCompiled for a view."""
        found = self.array_or_view(node)
        if isinstance(found, View):
            raise NotCompiled("a view, of which something is asked")
        return found

    def view_of(self, node: ir.Expression) -> View:
        """Returns the array that an expression stands for as a view, if only of all of it."""
        found = self.array_or_view(node)
        return found if isinstance(found, View) else self.views.of_all(found)

    def _view(self, node: ir.View) -> View:
        """A part of an array, from what is worked out now."""
        base = self.view_of(node.array)
        parts: list[Value | tuple[Value | None, Value | None, int]] = []
        for part in node.parts:
            if not isinstance(part, ir.Span):
                parts.append(self._number(part))
                continue
            low, high = (
                None if each is None else self._number(each) for each in (part.low, part.high)
            )
            step = 1
            if part.step is not None:
                if not isinstance(part.step, ir.Constant) or not int(part.step.value):
                    raise NotCompiled("a slice whose step is not written down")
                step = int(part.step.value)
            parts.append((low, high, step))
        return self.views.part(base, tuple(parts))

    def _number(self, node: ir.Expression) -> Value:
        found = self.worked_out(node)
        if not isinstance(found, Value):
            raise NotCompiled("an index that is no number")
        return found

    def array_or_view(self, node: ir.Expression) -> Memory | View:
        """Returns the one array that an expression stands for, or the part of one."""
        found: Any = None
        if isinstance(node, ir.View):
            return self._view(node)
        if isinstance(node, ir.Read):
            found = self.variables.frame.variables.get(node.variable)
        elif isinstance(node, ir.Temporary):
            found = self.variables.frame.temporaries.get(node.number)
        elif isinstance(node, ir.NewArray):
            found = self.arrays.own(node.number)
        else:
            raise NotCompiled(f"an array that is {type(node).__name__}")
        if not isinstance(found, Memory | View):
            raise NotCompiled("an array that is not known")
        return found

    def prepare(self, node: ir.Expression) -> None:
        """Does what an expression does beside arithmetic, and counts its arithmetic."""
        self._prepare(node)
        self._count_operations(node)

    def _prepare(self, node: ir.Expression) -> None:
        self._made.pop(id(node), None)
        if isinstance(node, ir.Load):
            self._made[id(node)] = self._load(node)
        elif isinstance(node, ir.Logical) and self._needs_masks(node):
            self._made[id(node)] = self._logical(node)
        elif isinstance(node, ir.Select) and self._needs_masks(node):
            self._made[id(node)] = self._select(node)
        elif isinstance(node, ir.Call) and is_done_first(node):
            self._made[id(node)] = self._call(node)
        elif isinstance(node, ir.Element):
            self._made[id(node)] = self._element(node)
        elif isinstance(node, ir.DeviceCall):
            self._made[id(node)] = self.inline(node)
        elif isinstance(node, ir.View | ir.NewArray):
            raise NotCompiled(f"{type(node).__name__} within an expression")
        elif isinstance(node, ir.Read):
            self.variables.check_given(node.variable)
        elif _of_library(node):
            for part in trees.parts(node):
                self.prepare(part)
            made = self._library(node)
            self._count_operations(node, itself=True)
            self._made[id(node)] = made
        elif isinstance(node, ir.Call) and node.path.startswith("array."):
            return
        else:
            for part in trees.parts(node):
                self._prepare(part)

    def _load(self, node: ir.Load) -> Value:
        if node.field:
            raise NotCompiled("a field of a structure")
        memory, cell = self.cell(node)
        if isinstance(memory, View):
            element = self.views.element(memory, cell.values())
            alike = self.is_alike(node)
            return self.accesses.load(node, memory.memory, (None,), element, alike=alike)
        axes = cell.axes()
        if self.accesses.can_be_whole(memory, axes, loads=True):
            return self.accesses.load_whole(node, memory, axes, cell.at(["0"])[0])
        if self.accesses.can_be_rows(memory, axes, loads=True):
            return self.accesses.load_rows(node, memory, axes, cell.at_ends())
        return self.accesses.load(node, memory, axes, cell.values(), alike=self.is_alike(node))

    def cell(self, node: ir.Load | ir.Store) -> tuple[Memory | View, Cell]:
        """Returns the array that an access touches, and where.

        A cell of a row of an array is one of the array itself: `a[i][j]` is `a[i, j]`.
        """
        array, parts, rows = node.array, _parts_of_index(node), 0
        if all(isinstance(part.type, np.dtype) for part in parts):
            while isinstance(array, ir.View) and (row := _row_of(array)):
                array, parts, rows = array.array, (*row, *parts), rows + 1
        if rows and not isinstance(array, ir.View):
            memory = self.array_or_view(array)
            if isinstance(memory, Memory) and memory.space == "global":
                return memory, Cell(self, parts)
        return self.array_or_view(node.array), Cell(self, _parts_of_index(node))

    def all_hold(self, node: ir.Expression, *, true: bool = True) -> Register | None:
        """Returns an i1, whether a condition is true (or false) for every lane of the block.

        It may be false though they all do. None is returned where nothing can be said but by asking
        each lane. The condition has been prepared, and all lanes are here.
        """
        whole = not self.masks.here.cells and self.context.is_whole
        if not whole or self.variables.frame.affine is None or self.does_something(node):
            return None
        return self._all_hold(node, true)

    def _all_hold(self, node: ir.Expression, true: bool) -> Register | None:
        if isinstance(node, ir.Unary) and node.operator == "Not":
            return self._all_hold(node.operand, not true)
        found: list[Register | None] = []
        if isinstance(node, ir.Logical) and node.conjunction is true:
            found = [self._all_hold(part, true) for part in node.parts]
        elif isinstance(node, ir.Compare) and (true or len(node.operators) == 1):
            operands = node.operands
            for operator, left, right in zip(node.operators, operands, operands[1:], strict=False):
                found.append(self._all_compare(_ORDER.get((operator, true), ""), left, right))
        elif isinstance(node, ir.Call) and node.function is AHEAD and true:
            found = [self._all_ahead(*node.arguments)]
        if not found or None in found:
            return None
        whole = found[0]
        for each in found[1:]:
            whole = self.w.make(f"and i1 {whole}, {each}")
        return whole

    def _all_ahead(
        self, counter: ir.Expression, stop: ir.Expression, step: ir.Expression
    ) -> Register | None:
        """Whether no lane has come to the end of a range."""
        if not self.is_alike(step) or not is_small(step.type):
            return None
        up, down = (self._all_compare(order, counter, stop) for order in ("slt", "sgt"))
        if up is None or down is None:
            return None
        text = self.arithmetic.converted(self.pure(step, None), number_type(step.type), INT64)
        forward = self.w.make(f"icmp sgt i64 {text}, 0")
        return self.w.make(f"select i1 {forward}, i1 {up}, i1 {down}")

    def _all_compare(
        self, operator: str, left: ir.Expression, right: ir.Expression
    ) -> Register | None:
        """Whether all lanes' numbers are in some order, told from the first lane's."""
        w, known = self.w, []
        for each in (left, right):
            affine = self.variables.frame.affine
            lanes = affine.of(each) if affine is not None else None
            if not isinstance(lanes, Lanes) or not is_small(each.type) or any(lanes.more):
                return None
            known.append(lanes.more.get((), np.zeros(1, np.int64)))
        if not operator:
            return None
        apart = known[0] - known[1]
        furthest = apart.max() if operator in ("slt", "sle") else apart.min()
        texts, sure = [], ""
        for each in (left, right):
            text = self.pure(each, None if self.is_alike(each) else "0")
            text = self.arithmetic.converted(text, number_type(each.type), INT64)
            # Far from where numbers of 64 bits end, nothing is cut.
            far = w.make(f"icmp ult i64 {w.make(f'add i64 {text}, {1 << 62}')}, {1 << 63}")
            sure = w.make(f"and i1 {sure}, {far}") if sure else far
            texts.append(text)
        moved = w.make(f"add i64 {texts[0]}, {int(furthest)}")
        return w.make(f"and i1 {sure}, {w.make(f'icmp {operator} i64 {moved}, {texts[1]}')}")

    def _element(self, node: ir.Element) -> Any:
        owner = self.worked_out(node.owner)
        if isinstance(node.index, ir.Expression):
            return self._one_of(node, owner, self.worked_out(node.index))
        if not isinstance(node.index, int):
            raise NotCompiled("a part of a tuple that is a tuple")
        if not isinstance(owner, tuple) or not -len(owner) <= node.index < len(owner):
            raise NotCompiled("a part of what is no tuple here")
        return owner[node.index]

    def _one_of(self, node: ir.Element, owner: Any, index: Value) -> Value:
        """The part of a tuple that a number says; from the end where it is negative."""
        w, dtype, numbers = self.w, number_type(node.type), isinstance(owner, tuple)
        if not numbers or any(getattr(each, "type", None) != dtype for each in owner):
            raise NotCompiled("a part of a tuple whose parts are no numbers of one type")
        count = len(owner)

        def place(lane: Register) -> str:
            return self.values.converted(index, lane, INT64)

        def outside(lane: Register) -> str:
            from_least = w.make(f"add i64 {place(lane)}, {count}")
            return w.make(f"icmp uge i64 {from_least}, {2 * count}")

        def part(lane: Register) -> str:
            at, found = place(lane), self.values.of_lane(owner[0], lane)
            for number in range(1, count):
                here = w.make(f"icmp eq i64 {at}, {number}")
                from_end = w.make(f"icmp eq i64 {at}, {number - count}")
                here = w.make(f"or i1 {here}, {from_end}")
                other, type_ = self.values.of_lane(owner[number], lane), register_type(dtype)
                found = w.make(f"select i1 {here}, {type_} {other}, {type_} {found}")
            return found

        self.masks.suspect_of_lanes(outside)
        if self.is_alike(node):
            return Value(dtype, part(""))
        cells = w.memory(memory_type(dtype), self.context.lanes)
        self.values.put(Worth(dtype, part), dtype, cells)
        return Value(dtype, lanes=cells)

    def _library(self, node: Any) -> Value:
        given = node.arguments if isinstance(node, ir.Call) else (node.left, node.right)
        return self.words.library(node, given, self.pure, alike=self.is_alike(node))

    def _call(self, node: ir.Call) -> Any:
        """A call that does more than arithmetic, or gives several numbers."""
        path = node.path
        if path in BARRIERS:
            brought = self.worked_out(node.arguments[0]) if node.arguments else None
            return self.together.barrier(node, brought)
        if path == "cuda.syncwarp":
            return self.together.syncwarp(self._mask(node))
        if path in SHUFFLES:
            mask, value, operand = node.arguments
            moved, by = self.worked_out(value), self.worked_out(operand)
            dtype = number_type(node.type)
            return self.together.shuffle(node, dtype, moved, by, self.worked_out(mask))
        if path == "cuda.activemask":
            return self.together.active(number_type(node.type))
        if path in VOTES:
            mask, predicate = node.arguments
            brought, named = self.worked_out(predicate), self.worked_out(mask)
            return self.together.vote(node, number_type(node.type), brought, named)
        if path == "array.shape":
            return self.view_of(node.arguments[0]).sides
        if node.function is ARRAY_LENGTH or path in ("builtin.len", "len"):
            return self._length(node)
        if path == "builtin.range" and isinstance(node.type, RangeType):
            return self._range(node, node.type.dtype)
        if path in ("cuda.grid", "cuda.gridsize") and isinstance(node.type, TupleType):
            axes = range(len(node.type.elements))
            return tuple(self.words.index_along(path, axis) for axis in axes)
        if path in ATOMICS:
            return self._atomic(node)
        raise NotCompiled(path)

    def _mask(self, node: ir.Call) -> Value:
        """The lanes that a barrier of a warp names: all of them if it names none."""
        if node.arguments:
            named: Value = self.worked_out(node.arguments[0])
            return named
        return Value(INT64, "-1")

    def _length(self, node: ir.Call) -> Value:
        given = node.arguments[0]
        if not isinstance(given.type, types.ArrayType):
            raise NotCompiled(node.path)
        sides = self.view_of(given).sides
        slices = node.path == "len" and node.function is not ARRAY_LENGTH
        if slices and len(sides) > 1:
            raise NotCompiled("a slice of several dimensions")
        return sides[0]

    def _range(self, node: ir.Call, dtype: Number) -> tuple[Value, ...]:
        """Start, stop and step."""
        found = [self.values.in_type(self.worked_out(part), dtype) for part in node.arguments]
        if len(found) == 1:
            return Value(dtype, "0"), found[0], Value(dtype, "1")
        if len(found) == 2:
            return found[0], found[1], Value(dtype, "1")
        step, written = found[2], node.arguments[2]
        if not isinstance(written, ir.Constant) or written.value == 0:
            zero = f"icmp eq {register_type(dtype)}"
            self.masks.suspect_of_lanes(
                lambda lane: self.w.make(f"{zero} {self.values.of_lane(step, lane)}, 0")
            )
        return found[0], found[1], step

    def _atomic(self, node: ir.Call) -> Value | None:
        array, *given = node.arguments
        memory = self.array_or_view(array)
        indices, *operands = map(self.worked_out, given)
        if isinstance(memory, View):
            indices, memory = self.views.element(memory, parts_of(indices)), memory.memory
        return self.accesses.atomic(node, memory, indices, operands)

    # What only some lanes do

    def _needs_masks(self, node: ir.Logical | ir.Select) -> bool:
        if isinstance(node, ir.Select):
            arms: Sequence[ir.Expression] = (node.yes, node.no)
            branches = node.branches
        else:
            arms, branches = node.parts[1:], any(node.branches)
        return branches or any(map(self.does_something, arms))

    def does_something(self, node: ir.Expression) -> bool:
        """Whether an expression does more than arithmetic that nobody counts."""
        if isinstance(node, ir.Load | ir.DeviceCall | ir.View):
            return True
        if is_done_first(node) and getattr(node, "path", "") not in _TELLS:
            return True
        if isinstance(node, ir.Binary) and (node.counted or node.fused):
            return True
        if isinstance(node, ir.Compare) and node.wide:
            return True
        if _of_library(node) or (isinstance(node, ir.Call) and node.path == "cuda.fma"):
            return True
        if isinstance(node, ir.Read) and node.variable in self.variables.frame.analysis.checked:
            return True
        return any(map(self.does_something, trees.parts(node)))

    def _select(self, node: ir.Select) -> Value:
        before, dtype = self.masks.here, number_type(node.type)
        into = self.values.room(dtype)
        self.prepare(node.test)
        all_yes = self.all_hold(node.test) if isinstance(node.test.type, np.dtype) else None
        if all_yes is None:
            self._select_apart(node, dtype, into)
        else:
            with self.w.either(all_yes) as otherwise:
                if node.branches:
                    warps = self.masks.warps_here(before)
                    self.w.add(warps, self.context.count(node.line, "branches"))
                self.values.put(self.worked_out(node.yes), dtype, into)
                otherwise()
                self._select_apart(node, dtype, into)
        return self._one_or_each(node, dtype, into)

    def _select_apart(self, node: ir.Select, dtype: Number, into: Register) -> None:
        """Works each arm out for the lanes that take it; the test has been prepared."""
        before = self.masks.here
        test = self.prepared(node.test, number_type(node.test.type))
        yes = self.masks.where(before, lambda lane: self.values.truth_of(test, lane))
        if node.branches:
            self.masks.count_branch(node.line, before, yes)
        no = self.masks.without(before, yes)
        self._arm(node.yes, yes, dtype, into)
        self._arm(node.no, no, dtype, into)

    def _logical(self, node: ir.Logical) -> Value:
        here, dtype = self.masks.here, number_type(node.type)
        into = self.values.room(dtype)
        first = self.worked_out(node.parts[0])
        self.values.put(first, dtype, into)
        if first.type != dtype:
            raise NotCompiled("`and` of numbers of several types")
        known = Value(dtype, lanes=into)

        def goes_on(lane: Register) -> str:
            true = self.values.truth_of(known, lane)
            return true if node.conjunction else self.w.make(f"xor i1 {true}, true")

        for part, branches in zip(node.parts[1:], node.branches[1:], strict=True):
            on = self.masks.where(here, goes_on)
            if branches:
                # Where nobody is left to ask, nobody comes to the branch.
                self.masks.count_branch(part.line, here, on)
            self._arm(part, on, dtype, into)
            here = on
        return self._one_or_each(node, dtype, into)

    def _arm(self, node: ir.Expression, here: Here, dtype: Number, into: Register) -> None:
        """Works an expression out for some lanes, into the memory of all; nobody may be there."""
        some = self.w.make(f"xor i1 {self.masks.is_empty(here)}, true")
        with self.w.when(some), self.masks.among(here):
            self.values.put_where(here, self.worked_out(node), dtype, into)

    def _one_or_each(self, node: ir.Expression, dtype: Number, into: Register) -> Value:
        """What lanes have, or the number they share, which the first that is here has."""
        if not self.is_alike(node):
            return Value(dtype, lanes=into)
        text = self.w.load(into, memory_type(dtype), self.masks.first_lane())
        return Value(dtype, self.arithmetic.from_memory(text, dtype))

    # What is counted

    def _count_operations(self, node: ir.Expression, *, itself: bool = False) -> None:
        """Counts the arithmetic of an expression, but for what has been worked out already.

        Args:
            node: the expression.
            itself: without what it is made of.
        """
        kinds: dict[tuple[int, str], int] = {}
        if itself:
            kinds = {(node.line, kind): times for kind, times in _operations_of(node)}
        else:
            self._collect(node, kinds)
        if not kinds:
            return
        number = self.masks.number_here(self.masks.here)
        for (line, kind), times in kinds.items():
            what = self.w.make(f"mul i64 {number}, {times}") if times > 1 else number
            self.w.add(what, self.context.count(line, kind))

    def _collect(self, node: ir.Expression, kinds: dict[tuple[int, str], int]) -> None:
        if id(node) in self._made:
            return
        for part in trees.parts(node):
            self._collect(part, kinds)
        for kind, times in _operations_of(node):
            kinds[node.line, kind] = kinds.get((node.line, kind), 0) + times

    # Arithmetic, for one lane or for all at once

    def pure(self, node: ir.Expression, lane: Register | None) -> str:
        """Returns the register with a number, of a lane, or (None) of all lanes alike."""
        if id(node) in self._made:
            made = self._made[id(node)]
            return self.values.of_lane(made, lane or "0")
        if isinstance(node, ir.Constant):
            return constant_of(node.value, node.type)
        frame = self.variables.frame
        if isinstance(node, ir.Read):
            return self.variables.read(frame.variables[node.variable], node.type, lane)
        if isinstance(node, ir.Temporary):
            return self.variables.read(frame.temporaries[node.number], node.type, lane)
        if isinstance(node, ir.Binary):
            dtype = number_type(node.type)
            left, right = (self._operand(each, dtype, lane) for each in (node.left, node.right))
            return self.arithmetic.binary(node.operator, left, right, dtype)
        if isinstance(node, ir.Unary):
            own = number_type(node.operand.type, "an operand that is no number")
            text = self.pure(node.operand, lane)
            return self.arithmetic.unary(node.operator, text, own, node.type)
        if isinstance(node, ir.Compare):
            return self._compare(node, lane)
        if isinstance(node, ir.Logical):
            return self._pure_logical(node, lane)
        if isinstance(node, ir.Select):
            return self._pure_select(node, lane)
        if isinstance(node, ir.Call):
            return self._pure_call(node, lane)
        raise NotCompiled(type(node).__name__)

    def _operand(self, node: ir.Expression, dtype: Number, lane: Register | None) -> str:
        own = number_type(node.type, "an operand that is no number")
        return self.arithmetic.converted(self.pure(node, lane), own, dtype)

    def _compare(self, node: ir.Compare, lane: Register | None) -> str:
        result, left = "", node.operands[0]
        one = self.pure(left, lane)
        for operator, right in zip(node.operators, node.operands[1:], strict=True):
            other = self.pure(right, lane)
            holds = self.arithmetic.compared(operator, one, left.type, other, right.type)
            result = self.w.make(f"and i1 {result}, {holds}") if result else holds
            one, left = other, right
        return result

    def _pure_logical(self, node: ir.Logical, lane: Register | None) -> str:
        if node.type != BOOL or any(part.type != BOOL for part in node.parts):
            raise NotCompiled("`and` of what are no truths")
        found = self.pure(node.parts[0], lane)
        for part in node.parts[1:]:
            other = self.pure(part, lane)
            found = self.w.make(f"{'and' if node.conjunction else 'or'} i1 {found}, {other}")
        return found

    def _pure_select(self, node: ir.Select, lane: Register | None) -> str:
        dtype = number_type(node.type)
        test = self.arithmetic.truth(self.pure(node.test, lane), number_type(node.test.type))
        yes, no = (self._operand(each, dtype, lane) for each in (node.yes, node.no))
        type_ = register_type(dtype)
        return self.w.make(f"select i1 {test}, {type_} {yes}, {type_} {no}")

    def _pure_call(self, node: ir.Call, lane: Register | None) -> str:
        place = self.words.place(node, lane)
        if place is not None:
            return place
        if node.path.startswith("array."):
            found = self.array_or_view(node.arguments[0])
            if isinstance(found, Memory):
                return self.words.attribute(node, found)
            if node.path != "array.size" or len(found.sides) != 1:
                raise NotCompiled(f"{node.path} of a view")
            return self.values.converted(found.sides[0], lane or "0", INT64)
        return self.words.call(node, [self.pure(part, lane) for part in node.arguments])


_ORDER = {
    ("Lt", True): "slt", ("LtE", True): "sle", ("Gt", True): "sgt", ("GtE", True): "sge",
    ("Lt", False): "sge", ("LtE", False): "sgt", ("Gt", False): "sle", ("GtE", False): "slt",
}  # fmt: skip
"""How numbers are compared, so that it tells whether all comparisons are true, or all false."""


def is_small(dtype: Any) -> bool:
    """Whether numbers of a type are whole, and all of them fit into an int64."""
    if not isinstance(dtype, np.dtype) or dtype.kind not in "iu":
        return False
    return dtype.kind == "i" or dtype.itemsize < INT64.itemsize


class Cell:
    """Where an access touches its array.

    Args:
        expressions: of the function.
        parts: what says so, an expression for each axis; or one whose value is a tuple.
    """

    def __init__(self, expressions: Expressions, parts: tuple[ir.Expression, ...]) -> None:
        self.expressions, self.parts = expressions, parts

    def axes(self) -> tuple[Known, ...]:
        """Returns what is known before the launch of the index along each axis."""
        affine = self.expressions.variables.frame.affine
        if affine is None:
            return (None,) * len(self.parts)
        if all(isinstance(part.type, np.dtype) for part in self.parts):
            return tuple(affine.of(part) for part in self.parts)
        found = affine.of(self.parts[0]) if len(self.parts) == 1 else None
        return found if isinstance(found, tuple) else (None,) * len(self.parts)

    def values(self) -> tuple[Value, ...]:
        """Returns the index of each lane along each axis."""
        found = [parts_of(self.expressions.worked_out(part)) for part in self.parts]
        return tuple(each for parts in found for each in parts)

    def at(self, lanes: Sequence[Register]) -> list[list[Register]]:
        """Returns the index that each of some lanes has along each axis, i64."""
        own = self.expressions
        indices: list[list[Register]] = [[] for _ in lanes]
        for part in self.parts:
            if not isinstance(part.type, np.dtype):
                for value in parts_of(own.worked_out(part)):
                    for lane, found in zip(lanes, indices, strict=True):
                        found.append(own.values.converted(value, lane, INT64))
                continue
            own.prepare(part)
            for lane, found in zip(lanes, indices, strict=True):
                text = own.pure(part, None if own.is_alike(part) else lane)
                found.append(own.arithmetic.converted(text, number_type(part.type), INT64))
        return indices

    def at_ends(self) -> list[list[Register]]:
        """Returns the indices of the first lane that takes part, and of the last, i64."""
        masks = self.expressions.masks
        return self.at([masks.first_lane(), masks.last_lane()])


def _parts_of_index(node: ir.Load | ir.Store) -> tuple[ir.Expression, ...]:
    return node.index.parts if isinstance(node.index, ir.Tuple) else (node.index,)


def _row_of(view: ir.View) -> tuple[ir.Expression, ...]:
    """The numbers in front of a view that has whole axes behind them; none for any other."""
    row = [part for part in view.parts if not isinstance(part, ir.Span)]
    rest = view.parts[len(row) :]
    if not row or any(not isinstance(each, ir.Span) or not _is_all(each) for each in rest):
        return ()
    return tuple(row) if all(isinstance(part.type, np.dtype) for part in row) else ()


def _is_all(span: ir.Span) -> bool:
    return span.low is None and span.high is None and span.step is None


def _of_library(node: ir.Expression) -> bool:
    """Whether an expression is worked out by a library, for all lanes at a time."""
    if isinstance(node, ir.Call):
        return node.path in LIBRARY
    if not isinstance(node, ir.Binary) or node.operator not in LIBRARY:
        return False
    return node.operator == "Pow" or getattr(node.type, "kind", "") == "f"


def _operations_of(node: ir.Expression) -> list[tuple[str, int]]:
    """What an operation counts as, and how often."""
    if isinstance(node, ir.Binary):
        found = []
        if node.counted:
            small = node.narrowed and _is_small(node.left) and _is_small(node.right)
            found.append((f"{'float32' if small else node.counted}_operations", 1))
        if node.fused:
            found.append(("fma", 1))
        return found
    if isinstance(node, ir.Compare) and node.wide:
        return [("float64_comparisons", 1)]
    if isinstance(node, ir.Call) and node.path == "cuda.fma":
        width = "float32" if node.type == FLOAT32 else "float64"
        return [(f"{width}_operations", 2), ("fma", 1)]
    return []


def _is_small(node: ir.Expression) -> bool:
    """Whether an operand is a float32, or a number that is written down and that one holds."""
    if node.type == FLOAT32:
        return True
    return isinstance(node, ir.Constant) and bool(np.float32(node.value) == node.value)
