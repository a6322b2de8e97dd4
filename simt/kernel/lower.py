"""`lower(kernel, argument types)`: a kernel as the tree that the interpreter runs.

The types of everything are found first (`inference`). What it finds is kept by the nodes of the
syntax tree, for as long as this pass takes: the code that comes out holds all of it in its own
nodes.
"""

from __future__ import annotations

import ast
import functools
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from simt.kernel import inference, intrinsics, ir, types
from simt.kernel.constants import Symbol, as_dtype
from simt.kernel.inference import Inferred, constant_slice, of_value, parts_of
from simt.kernel.intrinsics import NOTHING
from simt.kernel.legality import NOTHING as NO_WAIT
from simt.kernel.legality import asks, draft
from simt.kernel.selects import are_selects, ends_kept
from simt.kernel.source import Captured, Kernel
from simt.kernel.types import (
    BOOL,
    FLOAT32,
    FLOAT64,
    INT64,
    ArrayType,
    DtypeType,
    FunctionType,
    RangeType,
    TupleType,
    Type,
    WordType,
)
from simt.machine.memory import FIRST_CAPTURED, Array, bind_captured, bind_constant
from simt.machine.values import binary, counted_as, unary
from simt.vocabulary import attributes, loops, whole_arrays
from simt.vocabulary.functions import Function
from simt.vocabulary.synchronise import GRID_BARRIER, GRID_SYNC

_NARROW = frozenset(("Add", "Sub", "Mult", "Div"))
_FOLDED = frozenset(("Add", "Sub", "Mult", "FloorDiv", "Mod", "BitAnd", "BitOr", "BitXor"))


@functools.lru_cache(maxsize=256)
def lower(kernel: Kernel, arguments: tuple[Type, ...]) -> ir.Code:
    """Returns a kernel lowered for arguments of these types; the same code for the same types.

    Args:
        kernel: the kernel.
        arguments: the types of its parameters, in order.

    Raises:
        KernelRefused: what the static pass refuses, or a line whose types nothing can join.
    """
    inferred = inference.infer(draft(kernel), arguments)
    return _Function(inferred, _Shared(inferred)).code()


@dataclass
class _Shared:
    """What a kernel and the functions it calls have in common while they are lowered."""

    kernel: Inferred
    sites: int = 0
    codes: dict[tuple[int, str], ir.Code] = field(default_factory=dict)
    again: dict[int, list[ir.DeviceCall]] = field(default_factory=dict)
    constants: dict[int, Array] = field(default_factory=dict)
    captured: dict[int, Array] = field(default_factory=dict)
    names: set[str] = field(default_factory=set)
    partial_warps: bool = False
    mixed_widths: bool = False

    def __post_init__(self) -> None:
        self.arrays = {call: number for number, call in enumerate(self.kernel.requests)}


@dataclass(frozen=True)
class _Turns:
    """How a `for` turns: the parts of an `ir.Loop` that it settles, and what a turn gives."""

    before: ir.Block
    test: ir.Expression
    most: ir.Expression | None
    item: ir.Expression
    after: ir.Block


class _Function:
    """Lowers one function for one set of types."""

    def __init__(self, inferred: Inferred, shared: _Shared) -> None:
        self.inferred = inferred
        self.shared = shared
        self.draft = inferred.draft
        self.kernel = self.draft.kernel
        self.temporaries = 0

    def code(self) -> ir.Code:
        inferred, names = self.inferred, self.kernel.parameters
        body = ends_kept(self.block(self.kernel.tree.body))
        whole = inferred is self.shared.kernel
        return ir.Code(
            kernel=self.kernel,
            parameters={
                name: (given, inferred.types[name])
                for name, given in zip(names, inferred.parameters, strict=True)
            },
            body=body,
            result=inferred.result,
            temporaries=self.temporaries,
            types=inferred.types,
            arrays=tuple(inferred.requests.values()) if whole else (),
            static_shared_bytes=inferred.static_shared_bytes,
            stored=self.draft.stored,
            names=frozenset(self.shared.names) if whole else frozenset(),
            partial_warps=self.shared.partial_warps,
            mixed_widths=self.shared.mixed_widths,
            captured=tuple(self.shared.captured.values()) if whole else (),
        )

    # Statements

    def block(self, body: Iterable[ast.stmt]) -> ir.Block:
        found: list[ir.Statement] = []
        for node in body:
            if node not in self.draft.versions.reached:
                break
            found += self.statement(node)
        return tuple(found)

    def statement(self, node: ast.stmt) -> list[ir.Statement]:
        line, steps = node.lineno, self.draft.efforts[node]
        match node:
            case ast.Assign(targets=[ast.Name() as name], value=ast.Call() as call) if (
                call in self.shared.arrays
            ):
                array = self.new_array(call, name.id)
                version = self.draft.assigned(name)
                return [ir.Assign(line, steps, version, array, everywhere=True)]
            case ast.Assign():
                cells = self.draft.passed_on.get(node.value, node.targets)
                value = self.expression(node.value, narrowed=self.are_float32(cells))
                return self.assigned(line, steps, node.targets, value)
            case ast.AnnAssign() if node.value is not None:
                return self.assigned(line, steps, [node.target], self.expression(node.value))
            case ast.AugAssign():
                return self.augmented(node, steps)
            case ast.If():
                test = self.expression(node.test)
                body, orelse = self.block(node.body), self.block(node.orelse)
                if are_selects(test, body, orelse):
                    return [ir.If(line, steps, test, body, orelse, branches=False)]
                return [ir.If(line, steps, test, ends_kept(body), ends_kept(orelse))]
            case ast.While():
                return [self.while_loop(node, steps)]
            case ast.For():
                return [self.for_loop(node, steps)]
            case ast.Break():
                return [ir.Leave(line, steps, "break")]
            case ast.Continue():
                return [ir.Leave(line, steps, "continue")]
            case ast.Return():
                none = isinstance(node.value, ast.Constant) and node.value.value is None
                result = None if node.value is None or none else self.expression(node.value)
                return [ir.Leave(line, steps, "return", result)]
            case ast.Assert():
                return self.assertion(node, steps)
            case ast.Raise():
                text = ast.unparse(node.exc) if node.exc is not None else "an exception"
                return self.ended(node, steps, "raised", f"{text} (line {line}")
            case ast.Expr(value=ast.Call() as call):
                return [ir.Assign(line, steps, None, self.expression(call, used=False))]
            case ast.Expr() if not isinstance(node.value, ast.Constant):
                return [ir.Assign(line, steps, None, self.expression(node.value))]
        # `pass`, a docstring, or `x: int` without a value.
        return [ir.Assign(line, steps, None, ir.Constant(line, None, None))]

    def assigned(
        self, line: int, steps: int, targets: Sequence[ast.expr], value: ir.Expression
    ) -> list[ir.Statement]:
        """x = value, or a[i] = value; of several targets, or a tuple of them, each by itself."""
        if len(targets) == 1 and targets[0] in self.inferred.views:
            assert isinstance(targets[0], ast.Subscript)
            return self.filled(line, steps, targets[0], value)
        if len(targets) == 1 and not isinstance(targets[0], ast.Tuple):
            return [self.one_assigned(line, steps, targets[0], value)]
        first, whole = self.keep(line, value, steps)
        found = [first]
        for target in targets:
            if not isinstance(target, ast.Tuple):
                found += self.assigned(line, 0, [target], whole)
                continue
            if isinstance(value.type, ArrayType):
                found += self.unpacked(line, target, whole)
                continue
            assert isinstance(value.type, TupleType)
            for place, (part, type_) in enumerate(
                zip(target.elts, value.type.elements, strict=True)
            ):
                found += self.assigned(
                    line, 0, [part], ir.Element(line, type_, whole, place, target)
                )
        return found

    def unpacked(self, line: int, target: ast.Tuple, array: ir.Temporary) -> list[ir.Statement]:
        """x, y, z = a, of an array of three cells or rows."""
        type_ = array.type
        assert isinstance(type_, ArrayType)
        count = ir.Constant(line, INT64, np.int64(len(target.elts)))
        checked = self.word(target, "unpack", loops.SO_MANY, None, [array, count], line)
        found: list[ir.Statement] = [ir.Assign(line, 0, None, checked)]
        for place, part in enumerate(target.elts):
            at = ir.Constant(line, INT64, np.int64(place))
            if type_.ndim == 1 and not type_.dtype.fields:
                site = self.site(target, target)
                item: ir.Expression = ir.Load(line, type_.dtype, array, at, "", site)
            else:
                row = ArrayType(type_.dtype, type_.ndim - 1, type_.space)
                item = self.word(target, "row", loops.ROW, row, [array, at], line)
            found += self.assigned(line, 0, [part], item)
        return found

    def one_assigned(
        self, line: int, steps: int, target: ast.expr, value: ir.Expression
    ) -> ir.Statement:
        if isinstance(target, ast.Name):
            version = self.draft.assigned(target)
            return ir.Assign(line, steps, version, value, self.inferred.types[version])
        array, index, field_, site = self.place(target)
        if isinstance(value.type, ArrayType):  # a structure, cell to cell
            value = ir.Load(line, value.type.dtype, value, self.no_index(line), "", site)
        return ir.Store(line, steps, array, index, field_, value, site)

    def place(self, target: ast.expr) -> tuple[ir.Expression, ir.Expression, str, ir.Site]:
        """What a[i] = ..., a[i].x = ... or r.x = ... writes to: array, index, field and place."""
        field_ = ""
        if isinstance(target, ast.Attribute):
            field_, target = target.attr, target.value
        whole = target.value if isinstance(target, ast.Subscript) else None
        if whole is None or isinstance(self.inferred.expressions.get(whole), TupleType):
            # A name, or a place of a tuple, for one structure.
            line = target.lineno
            site = self.site(target, ast.copy_location(ast.Tuple([], ast.Load()), target))
            return self.expression(target), self.no_index(line), field_, site
        assert isinstance(target, ast.Subscript)
        array, index = self.expression(target.value), self.expression(target.slice)
        return array, index, field_, self.site(target, target.slice)

    def no_index(self, line: int) -> ir.Tuple:
        """The index of an array without dimensions."""
        return ir.Tuple(line, TupleType(()), ())

    def filled(
        self, line: int, steps: int, target: ast.Subscript, value: ir.Expression
    ) -> list[ir.Statement]:
        """a[2:] = x, a[i] = x of a row: one number for every cell, one after the other."""
        first, number = self.keep(line, value, steps)
        second, cells = self.keep(line, self.subscript(target))
        site = self.site(target, target.slice)

        def at(index: ir.Tuple) -> ir.Block:
            return (ir.Store(line, 1, cells, index, "", number, site),)

        return [first, second, *self.over_cells(line, cells, [], at)]

    def over_cells(
        self,
        line: int,
        cells: ir.Temporary,
        counters: list[ir.Expression],
        at: Callable[[ir.Tuple], ir.Block],
    ) -> ir.Block:
        """The loop over the next axis of an array, or what is done `at` the index of a cell."""
        assert isinstance(cells.type, ArrayType)
        if len(counters) == cells.type.ndim:
            return at(ir.Tuple(line, TupleType((INT64,) * len(counters)), tuple(counters)))
        zero, counter = self.keep(line, ir.Constant(line, INT64, np.int64(0)))
        along = loops.length_along(len(counters))
        measured, length = self.keep(line, self.word(_NOWHERE, "len", along, INT64, [cells], line))
        loop = ir.Loop(
            line=line,
            steps=1,
            before=(zero, measured),
            test=ir.Compare(line, BOOL, ("Lt",), (counter, length)),
            most=self.word(_NOWHERE, "len", loops.MAX_TURNS, INT64, [length], line),
            body=self.over_cells(line, cells, [*counters, counter], at),
            after=self.onward(counter, ir.Constant(line, INT64, np.int64(1))),
            orelse=(),
            waits=NO_WAIT,
            hopeless=False,
            column=0,
            written=None,
            names=(),
        )
        return (loop,)

    def augmented(self, node: ast.AugAssign, steps: int) -> list[ir.Statement]:
        """x += value; of a[i] += value, the array and the index are worked out once."""
        line, target = node.lineno, node.target
        if isinstance(target, ast.Name):
            new = self.operation(node, self.read(target), self.expression(node.value))
            return [self.one_assigned(line, steps, target, new)]
        array, index, field_, site = self.place(target)
        array_first, array = self.keep(line, array, steps)
        index_first, index = self.keep(line, index)
        assert isinstance(array.type, ArrayType)
        dtype = array.type.dtype
        if field_:
            assert dtype.fields is not None
            dtype = dtype.fields[field_][0]
        old = ir.Load(site.line, dtype, array, index, field_, site)
        new = self.operation(node, old, self.expression(node.value), narrowed=dtype == FLOAT32)
        store = ir.Store(line, 0, array, index, field_, new, site)
        return [array_first, index_first, store]

    def keep(
        self, line: int, value: ir.Expression, steps: int = 0
    ) -> tuple[ir.Statement, ir.Temporary]:
        """Puts a value aside for a later part of the statement; returns how, and what reads it."""
        number = self.temporaries
        self.temporaries += 1
        return ir.Assign(line, steps, number, value), ir.Temporary(line, value.type, number)

    def assertion(self, node: ast.Assert, steps: int) -> list[ir.Statement]:
        line = node.lineno
        text = ast.unparse(node.msg if node.msg is not None else node.test)
        failed = tuple(self.ended(node, 0, "AssertionError", f"{text} (line {line}"))
        asked, kept = self.keep(line, self.expression(node.test), steps)
        test = ir.Temporary(node.test.lineno, kept.type, kept.number)
        return [asked, ir.If(line, 0, test, (), failed)]

    def ended(self, node: ast.stmt, steps: int, kind: str, text: str) -> list[ir.Statement]:
        """The thread ends here, and the launch says why."""
        line = node.lineno
        said = ir.Constant(line, None, f"{kind}: {text}")
        told = self.word(_NOWHERE, "assert", loops.THREADS_END, None, [said], line)
        return [ir.Assign(line, steps, None, told), ir.Leave(line, 0, "end")]

    # Loops

    def while_loop(self, node: ast.While, steps: int) -> ir.Loop:
        written = getattr(node.test, "written", node.test)
        return ir.Loop(
            line=node.lineno,
            steps=steps,
            before=(),
            test=self.expression(node.test),
            most=None,
            body=self.block(node.body),
            after=(),
            orelse=self.block(node.orelse),
            waits=asks(self.draft, node),
            hopeless=_never_changes(node),
            column=node.col_offset,
            written=written,
            names=self.names_in(written),
        )

    def for_loop(self, node: ast.For, steps: int) -> ir.Loop:
        """A loop with a counter that all lanes share."""
        line = node.lineno
        iterated = None if _is_zip(node.iter) else self.expression(node.iter)
        if iterated is not None and isinstance(iterated.type, RangeType):
            turns = self.over_range(line, iterated)
        else:
            turns = self.over_items(line, node.iter, iterated)
        return ir.Loop(
            line=line,
            steps=steps,
            before=turns.before,
            test=turns.test,
            most=turns.most,
            body=(*self.assigned(line, 0, [node.target], turns.item), *self.block(node.body)),
            after=turns.after,
            orelse=self.block(node.orelse),
            waits=asks(self.draft, node),
            hopeless=False,
            column=node.col_offset,
            written=None,
            names=(),
        )

    def over_range(self, line: int, iterated: ir.Expression) -> _Turns:
        """for i in range(start, stop, step)"""
        assert isinstance(iterated.type, RangeType)
        dtype = iterated.type.dtype
        first, whole = self.keep(line, iterated)
        parts = [
            self.keep(line, ir.Element(line, dtype, whole, place, _NOWHERE)) for place in range(3)
        ]
        counter, stop, step = (part for _, part in parts)
        known = _known_step(iterated)
        if known:
            operator = "Lt" if known > 0 else "Gt"
            test: ir.Expression = ir.Compare(line, BOOL, (operator,), (counter, stop))
        else:
            parts_of_test = [counter, stop, step]
            test = self.word(_NOWHERE, "range", loops.AHEAD, BOOL, parts_of_test, line)
        before = (first, *(statement for statement, _ in parts))
        return _Turns(before, test, None, counter, self.onward(counter, step))

    def over_items(self, line: int, node: ast.expr, iterated: ir.Expression | None) -> _Turns:
        """for x in array, tuple, enumerate(...) or zip(...): lanes may differ in how many turns"""
        zero, counter = self.keep(line, ir.Constant(line, INT64, np.int64(0)))
        before, lengths, item = self.items(line, node, counter, iterated)
        kept = [self.keep(line, length) for length in lengths]
        read = [length for _, length in kept]
        most = self.word(node, "len", loops.MAX_TURNS, INT64, read)
        least = self.word(node, "len", loops.LEAST, INT64, read)
        test = ir.Compare(line, BOOL, ("Lt",), (counter, least))
        one = ir.Constant(line, INT64, np.int64(1))
        before = [zero, *before, *(statement for statement, _ in kept)]
        return _Turns(tuple(before), test, most, item, self.onward(counter, one))

    def onward(self, counter: ir.Temporary, step: ir.Expression) -> ir.Block:
        """counter += step, for all lanes alike."""
        line = counter.line
        added = ir.Binary(line, counter.type, "Add", counter, step)
        return (ir.Assign(line, 0, counter.number, added),)

    def items(
        self, line: int, node: ast.expr, counter: ir.Temporary, value: ir.Expression | None = None
    ) -> tuple[list[ir.Statement], list[ir.Expression], ir.Expression]:
        """What is done before a loop, how many turns its parts allow, and what a turn gives."""
        if _is_zip(node):
            assert isinstance(node, ast.Call)
            counts = ast.unparse(node.func) == "enumerate"
            over = node.args[:1] if counts else node.args
            parts = [self.items(line, a, counter) for a in over]
            given = [item for _, _, item in parts]
            if counts:
                number: ir.Expression = counter
                if len(node.args) == 2:
                    kept, start = self.keep(line, self.expression(node.args[1]))
                    parts.append(([kept], [], start))
                    number = ir.Binary(line, INT64, "Add", counter, start)
                given.insert(0, number)
            whole = TupleType(tuple(item.type for item in given))
            return (
                [statement for before, _, _ in parts for statement in before],
                [length for _, lengths, _ in parts for length in lengths],
                ir.Tuple(line, whole, tuple(given)),
            )
        value = self.expression(node) if value is None else value
        kept, owner = self.keep(line, value)
        type_ = value.type
        if isinstance(type_, RangeType):
            length = self.word(node, "len", loops.RANGE_LENGTH, INT64, [owner])
            item = self.word(node, "range", loops.RANGE_ITEM, type_.dtype, [owner, counter])
            return [kept], [length], item
        if isinstance(type_, TupleType):
            count = ir.Constant(line, INT64, np.int64(len(type_.elements)))
            one = type_.elements[0]
            return [kept], [count], ir.Element(line, one, owner, counter, node)
        assert isinstance(type_, ArrayType)
        length = self.word(node, "len", loops.ARRAY_LENGTH, INT64, [owner])
        if type_.ndim > 1 or type_.dtype.fields:
            row = ArrayType(type_.dtype, type_.ndim - 1, type_.space)
            return [kept], [length], self.word(node, "row", loops.ROW, row, [owner, counter])
        index = node.slice if isinstance(node, ast.Subscript) else node
        load = ir.Load(node.lineno, type_.dtype, owner, counter, "", self.site(node, index))
        return [kept], [length], load

    # Expressions

    def expression(
        self, node: ast.expr, *, narrowed: bool = False, used: bool = True
    ) -> ir.Expression:
        """Lowers an expression.

        Args:
            node: as it is written.
            narrowed: its value goes straight to a float32 store.
            used: somebody asks for its value.
        """
        meaning = self.draft.meanings.get(node)
        if meaning is not None:
            return self.meaning(node, meaning)
        line = node.lineno
        match node:
            case ast.Constant(value=str() | None):
                return ir.Constant(line, None, node.value)
            case ast.Constant():
                return self.number(line, node.value)
            case ast.Name():
                return self.read(node)
            case ast.Tuple():
                parts = tuple(map(self.expression, node.elts))
                return ir.Tuple(line, TupleType(tuple(p.type for p in parts)), parts)
            case ast.BinOp():
                left, right = self.expression(node.left), self.expression(node.right)
                return self.operation(node, left, right, narrowed=narrowed)
            case ast.UnaryOp():
                operand, name = self.expression(node.operand), _operator(node.op)
                return _folded(ir.Unary(line, types.unary(name, operand.type), name, operand))
            case ast.Compare():
                return self.comparison(node)
            case ast.BoolOp():
                return ir.Logical(
                    line,
                    self.type(node),
                    isinstance(node.op, ast.And),
                    tuple(map(self.expression, node.values)),
                    tuple(map(_touches_memory, node.values)),
                )
            case ast.IfExp():
                test, yes, no = map(self.expression, (node.test, node.body, node.orelse))
                touches = _touches_memory(node)
                return ir.Select(line, self.type(node), test, yes, no, touches, node)
            case ast.Subscript():
                return self.subscript(node)
            case ast.Attribute():
                return self.attribute(node)
            case ast.Call():
                return self.call(node, used=used)
        raise AssertionError(f"the static pass lets no {type(node).__name__} through")

    def type(self, node: ast.expr) -> Type:
        return self.inferred.expressions[node]

    def read(self, node: ast.Name) -> ir.Read:
        return ir.Read(node.lineno, self.inferred.reads[node], self.draft.read(node), node.id)

    def number(self, line: int, value: Any) -> ir.Constant:
        type_ = of_value(value)
        assert isinstance(type_, np.dtype)
        return ir.Constant(line, type_, type_.type(value))

    def meaning(self, node: ast.expr, meaning: Any) -> ir.Expression:
        """What a name stands for that is no variable."""
        line = node.lineno
        if meaning is NOTHING:
            return ir.Constant(line, None, None)
        if isinstance(meaning, Kernel):
            function = FunctionType(meaning.name, meaning.place[:2], meaning)
            return ir.Constant(line, function, function)
        if isinstance(meaning, Symbol) and meaning.path in intrinsics.THREE_PARTS:
            paths = [f"{meaning.path}.{part}" for part in types.THREE_PARTS]
            words = [self.meaning(node, Symbol(path)) for path in paths]
            return ir.Tuple(line, self.type(node), tuple(words))
        if isinstance(meaning, Symbol) and meaning.path in intrinsics.VALUES:
            value = intrinsics.VALUES[meaning.path]
            return self.word(node, meaning.path, value, value.type((), ()), [])
        if isinstance(meaning, Symbol):
            return ir.Constant(line, self.type(node), self.type(node))
        if isinstance(meaning, np.ndarray | tuple):
            value = self.held(ast.unparse(node), meaning)
            return ir.Constant(line, of_value(meaning), value)
        return self.number(line, meaning)

    def held(self, name: str, value: Any) -> Any:
        """A constant of the kernel's file: a number, an array, or tuples of them to any depth."""
        if isinstance(value, tuple):
            return tuple(self.held(f"{name}[{k}]", part) for k, part in enumerate(value))
        if isinstance(value, Captured):
            kept = self.shared.captured
            number = FIRST_CAPTURED + len(kept)
            return kept.setdefault(id(value), bind_captured(name, value.view(np.ndarray), number))
        if isinstance(value, np.ndarray):
            known = self.shared.constants
            return known.setdefault(id(value), bind_constant(name, value))
        type_ = of_value(value)
        return type_.type(value) if isinstance(type_, np.dtype) else None

    def operation(
        self,
        node: ast.BinOp | ast.AugAssign,
        left: ir.Expression,
        right: ir.Expression,
        *,
        narrowed: bool = False,
    ) -> ir.Expression:
        """a + b, or what a += b works out."""
        name = _operator(node.op)
        type_ = types.binary(name, left.type, right.type)
        if isinstance(node, ast.AugAssign):
            parts = [(node.value, right)]
        else:
            parts = [(node.left, left), (node.right, right)]
        narrowed = narrowed and name in _NARROW
        if narrowed and any(
            each.type != FLOAT32 and not isinstance(each, ir.Constant) for each in (left, right)
        ):
            self.shared.mixed_widths = True
        sum_ = name in ("Add", "Sub") and isinstance(type_, np.dtype) and type_.kind == "f"
        return _folded(
            ir.Binary(
                node.lineno,
                type_,
                name,
                left,
                right,
                counted_as(name, type_),
                narrowed,
                sum_ and any(_is_product(part) and p.type == type_ for part, p in parts),
            )
        )

    def comparison(self, node: ast.Compare) -> ir.Compare:
        operands = tuple(map(self.expression, (node.left, *node.comparators)))
        wide = any(o.type == FLOAT64 and not isinstance(o, ir.Constant) for o in operands)
        return ir.Compare(node.lineno, BOOL, tuple(map(_operator, node.ops)), operands, wide)

    def subscript(self, node: ast.Subscript) -> ir.Expression:
        """a[i, j], a[2:], t[0]"""
        owner = self.expression(node.value)
        if isinstance(owner.type, TupleType):
            return self.tuple_element(node, owner)
        site = self.site(node, node.slice)
        if node not in self.inferred.views:
            index = self.expression(node.slice)
            return ir.Load(node.lineno, self.type(node), owner, index, "", site)
        assert isinstance(owner.type, ArrayType)
        given = parts_of(node.slice, owner.type.ndim)
        parts = [self.span(p) if isinstance(p, ast.Slice) else self.expression(p) for p in given]
        parts += [ir.Span()] * (owner.type.ndim - len(parts))
        return ir.View(node.lineno, self.type(node), owner, tuple(parts), site)

    def span(self, node: ast.Slice) -> ir.Span:
        low, high, step = (
            None if bound is None else self.expression(bound)
            for bound in (node.lower, node.upper, node.step)
        )
        return ir.Span(low, high, step, node.lineno)

    def tuple_element(self, node: ast.Subscript, owner: ir.Expression) -> ir.Element:
        type_ = self.type(node)
        if isinstance(node.slice, ast.Slice):
            return ir.Element(node.lineno, type_, owner, constant_slice(node.slice), node)
        index = self.expression(node.slice)
        assert isinstance(owner.type, TupleType)
        size = len(owner.type.elements)
        if isinstance(index, ir.Constant) and -size <= index.value < size:
            return ir.Element(node.lineno, type_, owner, int(index.value), node)
        return ir.Element(node.lineno, type_, owner, index, node)

    def attribute(self, node: ast.Attribute) -> ir.Expression:
        """a.shape, a[i].x, t.x, z.real"""
        line, type_ = node.lineno, self.type(node)
        if node in self.inferred.fields:
            array, index, field_, site = self.place(node)
            return ir.Load(line, type_, array, index, field_, site)
        if isinstance(type_, DtypeType):  # a.dtype, a.dtype.type
            return ir.Constant(line, type_, type_)
        owner = self.expression(node.value)
        if node in self.inferred.members:
            return ir.Element(line, type_, owner, self.inferred.members[node], node)
        if isinstance(owner.type, ArrayType) and node.attr in whole_arrays.ATTRIBUTES:
            function = whole_arrays.ATTRIBUTES[node.attr][1]
            return self.word(node, f"array.{node.attr}", function, type_, [owner])
        return self.word(node, f"array.{node.attr}", attributes.of(node.attr), type_, [owner])

    # Calls

    def call(self, node: ast.Call, *, used: bool) -> ir.Expression:
        """cuda.grid(1), math.sqrt(x), f(x), cuda.shared.array(...)"""
        if node in self.shared.arrays:
            return self.new_array(node, ast.unparse(node.func))
        if node in self.inferred.calls:
            called = self.inferred.calls[node]
            given = tuple(map(self.expression, self.inferred.given[node]))
            if isinstance(called, inference.Itself):
                return self.call_itself(node, called, given)
            code = self.device(called)
            return ir.DeviceCall(node.lineno, code.result, code, given, node)
        if node in self.inferred.given:  # a named tuple
            parts = tuple(map(self.expression, self.inferred.given[node]))
            return ir.Tuple(node.lineno, self.type(node), parts)
        symbol, type_ = self.draft.meanings.get(node.func), self.type(node)
        held = None if symbol is not None else self.inferred.expressions.get(node.func)
        if isinstance(held, WordType):
            symbol = Symbol(held.path)
        if isinstance(held, DtypeType):
            arguments = [self.expression(a) for a in node.args]
            return self.word(node, str(type_), attributes.CONVERSION, type_, arguments)
        if symbol is None:
            assert isinstance(node.func, ast.Attribute)
            if node.func.attr == "sync":
                return self.word(node, GRID_BARRIER, GRID_SYNC, type_, [])
            owner = self.expression(node.func.value)
            name = node.func.attr
            if isinstance(owner.type, ArrayType):
                return self.array_method(node, name, owner)
            return self.word(node, name, attributes.METHODS[name], type_, [owner])
        arguments = [self.expression(a) for a in node.args]
        if as_dtype(symbol) is not None:
            return self.word(node, symbol.path, attributes.CONVERSION, type_, arguments)
        if symbol.path in whole_arrays.FUNCTIONS:
            return self.folded(node, symbol.path.rpartition(".")[2], arguments[0])
        function = intrinsics.FUNCTIONS[symbol.path]
        site = None
        if symbol.path.startswith("cuda.atomic."):
            site = self.site(node, node.args[1])
        return self.word(node, symbol.path, function, type_, arguments, used=used, site=site)

    def array_method(self, node: ast.Call, name: str, owner: ir.Expression) -> ir.Expression:
        """a.sum(), a.reshape(2, 3), a.view(int32)"""
        if name in whole_arrays.FOLDS:
            return self.folded(node, name, owner)
        if name == "fill":
            return self.fill(node, owner)
        if name == "view":
            return self.word(node, whole_arrays.SEEN, whole_arrays.VIEW, self.type(node), [owner])
        sides = [self.expression(a) for a in node.args]
        return self.word(node, name, whole_arrays.RESHAPE, self.type(node), [owner, *sides])

    def folded(self, node: ast.Call, name: str, owner: ir.Expression) -> ir.DeviceCall:
        """The loop that Numba has for a.sum() and its kin, as a function of its own."""
        fold, type_ = whole_arrays.FOLDS[name], owner.type
        assert isinstance(type_, ArrayType)
        inner = _Function(self.inferred, self.shared)
        body, kept = inner.fold(node, fold, type_)
        code = ir.Code(
            kernel=self.kernel,
            parameters={_WHOLE: (type_, type_)},
            body=body,
            result=fold.type(type_),
            temporaries=inner.temporaries,
            types={_WHOLE: type_, _SO_FAR: kept},
        )
        return ir.DeviceCall(node.lineno, code.result, code, (owner,), node)

    def fill(self, node: ast.Call, owner: ir.Expression) -> ir.DeviceCall:
        """The loop that Numba has for a.fill(x), as a function of its own."""
        line, value, type_ = node.lineno, self.expression(node.args[0]), owner.type
        inner = _Function(self.inferred, self.shared)
        begin, cells = inner.keep(line, ir.Read(line, type_, _WHOLE, _WHOLE), 1)
        second, number = inner.keep(line, ir.Read(line, value.type, _NUMBER, _NUMBER))
        site = inner.site(node, node)

        def at(index: ir.Tuple) -> ir.Block:
            return (ir.Store(line, 1, cells, index, "", number, site),)

        given = {_WHOLE: type_, _NUMBER: value.type}
        code = ir.Code(
            kernel=self.kernel,
            parameters={name: (each, each) for name, each in given.items()},
            body=(begin, second, *inner.over_cells(line, cells, [], at)),
            temporaries=inner.temporaries,
            types=given,
        )
        return ir.DeviceCall(line, None, code, (owner, value), node)

    def fold(
        self, node: ast.Call, fold: whole_arrays.Fold, type_: ArrayType
    ) -> tuple[ir.Block, np.dtype[Any]]:
        """The statements of such a function, and the type of what it keeps."""
        line, kept = node.lineno, fold.kept(type_.dtype)
        begin, cells = self.keep(line, ir.Read(line, type_, _WHOLE, _WHOLE), 1)
        so_far = ir.Read(line, kept, _SO_FAR, _SO_FAR)
        site = self.site(node, node)

        def at(index: ir.Tuple) -> ir.Block:
            cell = ir.Load(line, type_.dtype, cells, index, "", site)
            if not fold.operator:
                found = ir.Leave(line, 0, "return", ir.Constant(line, BOOL, np.bool_(fold.until)))
                there, other = ((found,), ()) if fold.until else ((), (found,))
                return (ir.If(line, 1, cell, there, other),)
            wide = types.binary(fold.operator, kept, type_.dtype)
            added = ir.Binary(
                line, wide, fold.operator, so_far, cell, counted_as(fold.operator, wide)
            )
            return (ir.Assign(line, 1, _SO_FAR, added, kept),)

        first = ir.Constant(line, kept, kept.type(fold.first))
        result: ir.Expression = so_far
        if fold.mean:
            size = self.word(node, "array.size", attributes.of("size"), INT64, [cells])
            wide = types.binary("Div", kept, INT64)
            result = ir.Binary(line, wide, "Div", so_far, size, counted_as("Div", wide))
        body = (
            begin,
            ir.Assign(line, 0, _SO_FAR, first, kept),
            *self.over_cells(line, cells, [], at),
            ir.Leave(line, 0, "return", result),
        )
        return body, kept

    def word(
        self,
        node: ast.expr,
        path: str,
        function: Function,
        type_: Type,
        arguments: Sequence[ir.Expression],
        line: int = 0,
        *,
        used: bool = True,
        site: ir.Site | None = None,
    ) -> ir.Call:
        """Something that the vocabulary works out."""
        self.shared.names.add(path)
        if path == "cuda.syncwarp" and not all(map(_is_every_lane, arguments)):
            self.shared.partial_warps = True
        line = line or node.lineno
        return ir.Call(line, type_, path, function, tuple(arguments), node, used, site)

    def call_itself(
        self, node: ast.Call, called: inference.Itself, given: tuple[ir.Expression, ...]
    ) -> ir.DeviceCall:
        """A call whose code is this function's own: it gets it as soon as there is one."""
        assert called.inferred is not None
        call = ir.DeviceCall(node.lineno, called.result, _UNKNOWN, given, node)
        self.shared.again.setdefault(id(called.inferred.types), []).append(call)
        return call

    def device(self, inferred: Inferred) -> ir.Code:
        """A device function, lowered once for the types it is called with."""
        key = id(inferred.types), repr(inferred.result)
        if key not in self.shared.codes:
            code = self.shared.codes[key] = _Function(inferred, self.shared).code()
            for call in self.shared.again.pop(key[0], ()):
                object.__setattr__(call, "code", code)  # the one circle in what is lowered
        return self.shared.codes[key]

    def new_array(self, call: ast.Call, name: str) -> ir.NewArray:
        number = self.shared.arrays[call]
        return ir.NewArray(call.lineno, self.type(call), number, name)

    # Places

    def site(self, written: ast.expr, index: ast.expr) -> ir.Site:
        self.shared.sites += 1
        parts = index.elts if isinstance(index, ast.Tuple) else [index]
        names = tuple(map(self.names_in, parts))
        number, line = self.shared.sites, written.lineno
        return ir.Site(number, line, written.col_offset, written, index, names)

    def names_in(self, node: ast.expr) -> tuple[tuple[str, str], ...]:
        named = [n for n in ast.walk(node) if isinstance(n, ast.Name)]
        return tuple((n.id, self.draft.read(n)) for n in named)

    def are_float32(self, targets: Sequence[ast.expr]) -> bool:
        return all(isinstance(t, ast.Subscript) and self.is_float32(t.value) for t in targets)

    def is_float32(self, owner: ast.expr) -> bool:
        while isinstance(owner, ast.Subscript):
            owner = owner.value
        found = self.inferred.reads.get(owner)
        return isinstance(found, ArrayType) and found.dtype == FLOAT32


EVERY_LANE = 0xFFFFFFFF
_UNKNOWN: Any = None
_WHOLE, _NUMBER, _SO_FAR = "the array", "the number", "what is kept"
_NOWHERE = ast.Constant(value=None, lineno=0, col_offset=0)


def _operator(op: ast.AST) -> str:
    return type(op).__name__


def _is_zip(node: ast.expr) -> bool:
    """True for zip(...) and enumerate(...), which a loop takes apart."""
    named = isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
    return named and node.func.id in ("enumerate", "zip")  # type: ignore[attr-defined]


def _is_product(node: ast.expr) -> bool:
    return isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult)


def _touches_memory(node: ast.expr) -> bool:
    return any(isinstance(n, ast.Subscript) for n in ast.walk(node))


def _is_every_lane(mask: ir.Expression) -> bool:
    return isinstance(mask, ir.Constant) and mask.value == EVERY_LANE


def _known_step(iterated: ir.Expression) -> int:
    """The step of range(...) where it is a number in the text, else 0."""
    if not isinstance(iterated, ir.Call):
        return 0
    if len(iterated.arguments) < 3:
        return 1
    step = iterated.arguments[2]
    return int(step.value) if isinstance(step, ir.Constant) else 0


def _folded(node: ir.Unary | ir.Binary) -> ir.Expression:
    """A number where an operator meets numbers alone; a counted operation stays one."""
    parts = (node.operand,) if isinstance(node, ir.Unary) else (node.left, node.right)
    values = [p.value for p in parts if isinstance(p, ir.Constant) and types.is_scalar(p.type)]
    if len(values) < len(parts):
        return node
    with np.errstate(all="ignore"):
        if isinstance(node, ir.Unary):
            value = unary(node.operator, values[0], node.type)
        elif node.counted or node.operator not in _FOLDED:
            return node
        else:
            value = binary(node.operator, values[0], values[1], node.type)
    return ir.Constant(node.line, node.type, value)


def _never_changes(node: ast.While) -> bool:
    """True when nothing in the loop's body can make its test come out differently."""
    if any(isinstance(n, ast.Subscript | ast.Call) for n in ast.walk(node.test)):
        return False
    inside = [n for statement in node.body for n in ast.walk(statement)]
    if any(isinstance(n, ast.Break | ast.Return) for n in inside):
        return False
    changed = {n.id for n in inside if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    asked = {n.id for n in ast.walk(node.test) if isinstance(n, ast.Name)}
    return not changed & asked
