"""The types Numba would infer: one per variable, unified over all its assignments.

A reading that may see an int from one assignment and a float32 from another gets a float64, as in
Numba. What is found is kept by the nodes of the syntax tree, until `lower` has made code of it.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from simt.errors import KernelRefused, UserError
from simt.kernel import intrinsics, types
from simt.kernel.constants import NamedTuple, NotConstant, Symbol, as_dtype, constant
from simt.kernel.flow import LITERAL, Decisions, is_literal
from simt.kernel.intrinsics import NOTHING
from simt.kernel.legality import CHECKING, MAX_TYPING_STEPS, Draft, called_from, specialised
from simt.kernel.refusals import method_refusal, ours, refused
from simt.kernel.source import Captured, Kernel
from simt.kernel.types import (
    BOOL,
    FLOAT64,
    INT32,
    INT64,
    ArrayType,
    DtypeType,
    FunctionType,
    GridType,
    NoSuchType,
    NotSimulated,
    RangeType,
    Signature,
    TooLarge,
    TupleType,
    Type,
    WordType,
    best,
    show,
)
from simt.text import count
from simt.vocabulary import whole_arrays
from simt.vocabulary.allocate import SPACES, Request, is_allocation, lay_out, request


@dataclass(frozen=True)
class Inferred:
    """What is known of a kernel once the types of its arguments are.

    Attributes:
        draft: the function these types are of, less the branches they decide.
        types: variable -> type.
        requests: each call that makes a shared or local array, with what it asks for.
        static_shared_bytes: shared memory a block needs before any dynamic memory.
        calls: each call of a device function -> what is known of it there.
        result: the type a device function returns; None for a kernel.
        views: the subscripts that give an array and not a number.
        reads: a name where it is read -> its type there, which its variable's type can hold.
        parameters: the type of each parameter, to which its argument is cast.
        given: each call of a device function -> its arguments, default values included.
        members: a field of a named tuple -> its place.
        fields: a field of a structure that is read: a[i].x, or r.x where r = a[i].
        expressions: an expression -> its type.
    """

    draft: Draft
    types: Mapping[str, Type]
    requests: Mapping[ast.Call, Request]
    static_shared_bytes: int = 0
    calls: Mapping[ast.Call, Inferred | Itself] = field(default_factory=dict)
    result: Type = None
    views: frozenset[ast.Subscript] = frozenset()
    reads: Mapping[ast.AST, Type] = field(default_factory=dict)
    parameters: tuple[Type, ...] = ()
    given: Mapping[ast.Call, Sequence[ast.expr]] = field(default_factory=dict)
    members: Mapping[ast.Attribute, int] = field(default_factory=dict)
    fields: frozenset[ast.Attribute] = frozenset()
    expressions: Mapping[ast.AST, Type] = field(default_factory=dict, repr=False)


def of_value(value: Any) -> Type:
    """Returns the type of a number as Numba takes it from Python: int64, float64 or its own dtype.

    >>> of_value(3), of_value(np.float32(1))
    (dtype('int64'), dtype('float32'))
    """
    if isinstance(value, np.generic):
        return value.dtype
    if isinstance(value, bool):
        return BOOL
    if isinstance(value, int):
        return INT64 if -(2**63) <= value < 2**63 else types.UINT64
    if isinstance(value, float):
        return FLOAT64
    if isinstance(value, complex):
        return np.dtype(np.complex128)
    if isinstance(value, tuple):
        return TupleType(tuple(map(of_value, value)), getattr(value, "_fields", ()))
    if isinstance(value, Captured):
        return ArrayType(value.dtype, value.ndim)
    if isinstance(value, np.ndarray):
        return ArrayType(value.dtype, value.ndim, "const")
    if value is None:
        return None
    raise NotSimulated(f"a {type(value).__name__} beside the kernel, used like this")


class NotYet(Exception):
    """A name that is read before anything known assigns it."""

    def __init__(self, node: ast.expr) -> None:
        self.node = node


MAX_ROUNDS = 20
MAX_DEEP = 50


Literals = tuple[tuple[str, Any], ...]
"""Parameters of a device function, and the constants that are handed over for them."""


Key = tuple[ast.FunctionDef, tuple[Type, ...], tuple[Type, ...], Literals]


class Found(dict[Key, Inferred]):
    """What is known of device functions, by the types they are called with.

    Attributes:
        left: the steps that may still go into finding types.
        under_way: those whose types are being found, which may call themselves.
    """

    left = MAX_TYPING_STEPS

    def __init__(self) -> None:
        super().__init__()
        self.under_way: dict[Key, _Inference] = {}


@dataclass(eq=False)
class Itself:
    """What stands for a device function where it calls itself: it is known at the end.

    Attributes:
        result: what it returns, as far as that is known.
        inferred: the whole, once it is found.
    """

    result: Type = None
    inferred: Inferred | None = None
    requests: Mapping[ast.Call, Request] = field(default_factory=dict)


def infer(
    draft: Draft,
    arguments: Sequence[Type],
    known: Sequence[Type] | None = None,
    depth: int = 0,
    found: Found | None = None,
    literals: Literals = (),
) -> Inferred:
    """Returns the type of every variable of a kernel, and the arrays it makes for itself.

    A reading that may see an int from one assignment and a float32 from another gets a float64, as
    in Numba. Types only widen, so a few rounds over the body settle them.

    Args:
        draft: the kernel, past the static pass.
        arguments: the types of its parameters, in order.
        known: the same for what decides branches: decisions.LITERAL for a number at the call.
        depth: how many calls of device functions lie above.
        found: what is known already of the functions it calls.
        literals: constants that are handed over for parameters, where a shape needs them.

    Raises:
        KernelRefused: a line whose types no operator or variable can join.
    """
    if depth == 0 and known is None:
        return _Inference(specialised(draft, arguments), arguments).run()
    special = specialised(draft, known or arguments)
    return _Inference(special, arguments, depth, found, literals).run()


class _Inference:
    """One function and the types of its arguments; `run` finds all others."""

    def __init__(
        self,
        draft: Draft,
        arguments: Sequence[Type],
        depth: int = 0,
        found: Found | None = None,
        literals: Literals = (),
    ) -> None:
        self.literals = dict(literals)
        self.draft = draft
        self.kernel = draft.kernel
        self.parameters = tuple(arguments)
        self.depth = depth
        self.found = Found() if found is None else found
        self.types: dict[str, Type] = dict(zip(self.kernel.parameters, arguments, strict=True))
        self.assignments: dict[int, Type] = {
            draft.versions.numbers[parameter]: type_
            for parameter, type_ in zip(self.kernel.tree.args.args, arguments, strict=True)
        }
        self.reads: dict[ast.AST, Type] = {}
        self.expressions: dict[ast.AST, Type] = {}
        self.requests: dict[ast.Call, Request] = {}
        self.calls: dict[ast.Call, Inferred | Itself] = {}
        self.itself: list[Itself] = []
        self.returns: Type = None
        self.given: dict[ast.Call, Sequence[ast.expr]] = {}
        self.views: set[ast.Subscript] = set()
        self.members: dict[ast.Attribute, int] = {}
        self.fields: set[ast.Attribute] = set()
        self.results: list[Type] = []
        self.changed = False
        self.pending: KernelRefused | None = None

    def run(self) -> Inferred:
        for _ in range(MAX_ROUNDS):
            self.changed = False
            self.pending = None
            self.results = []
            self.block(self.kernel.tree.body)
            if self.itself and self.results:
                before, self.returns = self.returns, self.result()
                self.changed |= before != self.returns
            if not self.changed:
                break
        if self.pending is not None:
            raise self.pending
        requests = dict(self.requests)
        for node, called in self.calls.items():
            for made, asked in called.requests.items():
                if requests.setdefault(made, asked) != asked:
                    fact = (
                        "a function that makes an array of one shape or dtype here, and of another"
                    )
                    raise self.kernel.refuse(node, ours(fact), "write a function for each")
        if self.itself and requests:
            fact = ours(f"{self.kernel.name}, which calls itself and makes arrays of its own")
            raise self.kernel.refuse(self.kernel.tree, fact, "hand it an array to work in")
        placed, static = lay_out(requests)
        return Inferred(
            draft=self.draft,
            types=self.types,
            requests=placed,
            static_shared_bytes=static,
            calls=self.calls,
            result=self.result(),
            views=frozenset(self.views),
            reads=self.reads,
            parameters=self.parameters,
            given=self.given,
            members=self.members,
            fields=frozenset(self.fields),
            expressions=self.expressions,
        )

    def result(self) -> Type:
        if not self.results:
            return None
        try:
            return self.joined(self.results)
        except NotSimulated as error:
            raise self.kernel.refuse(self.kernel.tree, ours(str(error)), error.hint) from None
        except NoSuchType as error:
            raise self.kernel.refuse(
                self.kernel.tree, f"{self.kernel.name} returns {error}", "return one type"
            ) from None

    def spend(self, steps: int) -> None:
        """Counts what types cost to find: a few functions can ask for 2 ** n versions."""
        self.found.left -= steps
        if self.found.left < 0:
            raise self.kernel.refuse(
                self.kernel.tree,
                f"{self.kernel.name} and what it calls take more than {MAX_TYPING_STEPS:,} steps "
                "to find their types, the simulator's limit",
                "call each function with few kinds of arguments, and write fewer of them",
            )

    # Statements

    def block(self, body: Sequence[ast.stmt]) -> None:
        for statement in body:
            if statement not in self.draft.versions.reached:
                break  # behind a return, a break or a continue
            self.spend(self.draft.efforts[statement])
            try:
                self.statement(statement)
            except TooLarge as error:
                step = "keep what is of one kind in an array"
                raise self.kernel.refuse(statement, str(error), step) from None
            except NotSimulated as error:
                raise self.kernel.refuse(statement, ours(str(error)), error.hint) from None
            except NoSuchType as error:
                raise self.kernel.refuse(
                    statement,
                    f"Numba finds no type for this line: {error}",
                    error.hint or "check what each name is: an array, a number or a tuple",
                ) from None
            except NotYet as error:
                # A name read before the round has reached its assignment: a later round settles it.
                name = ast.unparse(error.node)
                fact, hint = f"{name} is read here, and nothing above assigns it", "assign it first"
                if error.node in self.draft.devices:
                    fact = f"{name} calls itself before anything says what it returns"
                    hint = "return a value above, without a call of itself"
                refusal = self.kernel.refuse(error.node, fact, hint)
                self.pending = self.pending or refusal

    def statement(self, node: ast.stmt) -> None:
        match node:
            case ast.Assign(targets=[ast.Name() as name], value=ast.Call() as call) if (
                is_allocation(self.draft.meanings.get(call.func))
            ):
                self.hold(name, self.expression(call))
            case ast.Assign():
                value = self.expression(node.value)
                for target in node.targets:
                    self.assign(target, value, node.value)
            case ast.AnnAssign():
                if node.value is not None:
                    self.assign(node.target, self.expression(node.value))
            case ast.AugAssign():
                current = self.target_type(node.target)
                value = self.expression(node.value)
                self.refuse_whole(node, (current, node.target), (value, node.value))
                self.assign(node.target, types.binary(type(node.op).__name__, current, value))
            case ast.Return(value=ast.expr() as value):
                if not (isinstance(value, ast.Constant) and value.value is None):
                    self.results.append(self.expression(value))
            case ast.Assert():
                self.test(node.test)
            case ast.If() | ast.While():
                self.test(node.test)
                self.block(node.body)
                self.block(node.orelse)
            case ast.For():
                self.assign(node.target, self.item(node.iter))
                self.block(node.body)
                self.block(node.orelse)
            case ast.Expr():
                if not isinstance(node.value, ast.Constant):
                    self.on_its_own(node.value)

    def on_its_own(self, node: ast.expr) -> None:
        """A line that is an expression: what it names and does not call does nothing.

        Raises:
            KernelRefused: it names a function. Numba compiles nothing for it, without a word.
        """
        found = self.expression(node)
        if isinstance(found, FunctionType | WordType):
            name = ast.unparse(node)
            fact = f"this line names the function {name} and does not call it: it does nothing"
            raise self.kernel.refuse(node, fact, f"write {name}(...), with its brackets")

    def assign(self, target: ast.expr, value: Type, written: ast.expr | None = None) -> None:
        if isinstance(target, ast.Name):
            self.name(target, value)
        elif isinstance(target, ast.Tuple):
            self.unpack(target, value)
        elif isinstance(target, ast.Subscript):
            self.store(target, value, written)
        else:
            self.field(target, value)

    def name(self, target: ast.Name, value: Type) -> None:
        """x = value: what x holds from all sides that lead here."""
        version = self.draft.assigned(target)
        known = self.types.get(version, value)
        try:
            joined = types.unify(known, value)
        except NotSimulated:
            raise
        except NoSuchType as error:
            raise NoSuchType(f"{target.id} is {error}") from None
        if version not in self.types or joined != known:
            self.types[version] = joined
            self.changed = True
        self.note(target, value)

    def unpack(self, target: ast.Tuple, value: Type) -> None:
        """x, y = value"""
        if isinstance(value, ArrayType) and value.ndim:
            for part in target.elts:
                self.assign(part, self.item_of(value))
            return
        if not isinstance(value, TupleType) or len(value.elements) != len(target.elts):
            names = count(len(target.elts), "name")
            raise NoSuchType(f"{value} cannot be unpacked into {names}")
        for part, element in zip(target.elts, value.elements, strict=True):
            self.assign(part, element)

    def store(self, target: ast.Subscript, value: Type, written: ast.expr | None) -> None:
        """a[i] = value, and a[i, :] = value"""
        owner = self.expression(target.value)
        if isinstance(owner, TupleType):
            raise NoSuchType("a tuple cannot be changed")
        if isinstance(owner, ArrayType) and owner.space == "const":
            raise NoSuchType("constant memory cannot be changed")
        stored = self.element(target)
        if isinstance(stored, ArrayType) and isinstance(value, ArrayType):
            fact = refused(f"{ast.unparse(target)} = ..., cells from cells,")
            raise self.kernel.refuse(target, fact, "write the loop")
        if isinstance(stored, ArrayType):
            self.expressions[target] = stored
            stored = stored.dtype  # one number for many cells
        if types.is_structure(value) and types.same(value.dtype, stored):
            return
        if written is not None and isinstance(stored, np.dtype):
            self.refuse_parts(written, value)
        if not (isinstance(stored, np.dtype) and isinstance(value, np.dtype)):
            raise NoSuchType(f"{value} cannot be stored in one cell of {stored}")
        if value.kind == "c" and stored.kind != "c":
            raise NoSuchType(f"{value} cannot be stored as {stored}: take .real or .imag")

    def field(self, target: ast.expr, value: Type | None = None) -> Type:
        """The type of a field that is assigned to: a[i].x."""
        whole = self.expression(target.value) if isinstance(target, ast.Attribute) else None
        if isinstance(whole, ArrayType) and whole.space == "const":
            raise NoSuchType("constant memory cannot be changed")
        assert isinstance(target, ast.Attribute)
        if not types.is_structure(whole) or target.attr not in types.fields_of(whole):
            raise NoSuchType("an attribute cannot be assigned to")
        if isinstance(value, ArrayType):
            raise NotSimulated("a store of a whole array in a field", "write the loop")
        if value is not None and not types.is_scalar(value):
            raise NoSuchType(f"{value} cannot be stored in a field")
        found = types.field_type(whole, target.attr)
        if not isinstance(found, np.dtype):
            raise NoSuchType(f"{ast.unparse(target)} is {found}, which takes no store as a whole")
        return found

    def hold(self, name: ast.Name, array: Type) -> None:
        """A shared or local array gets its name, once and for all."""
        self.note(name, array)
        known = self.types.setdefault(self.draft.assigned(name), array)
        if not types.same(known, array):
            raise NoSuchType(f"{name.id} is {known} and {array}")

    def target_type(self, target: ast.expr) -> Type:
        if isinstance(target, ast.Name):
            return self.variable(target)
        if isinstance(target, ast.Subscript):
            return self.element(target)
        return self.field(target)

    def item(self, node: ast.expr) -> Type:
        """What a loop over `node` gives in each turn."""
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            if node.func.id == "enumerate" and len(node.args) in (1, 2):
                for start in node.args[1:]:
                    first = self.expression(start)
                    if not isinstance(first, np.dtype) or first.kind not in "iu":
                        raise NoSuchType(f"enumerate counts from a whole number, not {first}")
                return TupleType((INT64, self.item(node.args[0])))
            if node.func.id == "zip" and node.args:
                return TupleType(tuple(self.item(a) for a in node.args))
        iterated = self.expression(node)
        self.refuse_parts(node, iterated)
        if isinstance(iterated, RangeType):
            return iterated.dtype
        if isinstance(iterated, TupleType) and iterated.elements:
            first, *others = iterated.elements
            if all(types.same(first, other) for other in others):
                return first
            raise NoSuchType(
                f"a loop over {iterated}, whose elements are not of one type",
                "write all of them as floats, or as whole numbers",
            )
        if isinstance(iterated, ArrayType):
            return self.item_of(iterated)
        raise NoSuchType(f"a loop over {iterated}")

    def item_of(self, array: ArrayType) -> Type:
        """What a[0] is of an array: a cell, or a row."""
        one = array.ndim == 1 and not array.dtype.fields
        return array.dtype if one else replace(array, ndim=array.ndim - 1)

    def infer_device(
        self,
        device: Draft,
        arguments: Sequence[Type],
        known: Sequence[Type],
        literals: Literals = (),
    ) -> Inferred:
        if self.depth > MAX_DEEP:
            fact = f"more than {MAX_DEEP} functions call each other here, one inside the other"
            raise self.kernel.refuse(self.kernel.tree, fact, "write a loop")
        # Numba compiles a function once for the types it is called with, and so is it read here.
        key = (device.kernel.tree, tuple(arguments), tuple(known), literals)
        if key not in self.found:
            self.spend(CHECKING * sum(device.efforts.values()))
            if device.makes_arrays and any(each[0] is key[0] for each in self.found):
                device = device.anew()
            special, under_way = specialised(device, known), self.found.under_way
            inside = _Inference(special, arguments, self.depth + 1, self.found, literals)
            under_way[key] = inside
            found = self.found[key] = inside.run()
            del under_way[key]
            for each in inside.itself:
                each.inferred = found
        return self.found[key]

    def infer_itself(self, name: ast.expr, inside: _Inference) -> Itself:
        """What is known of a device function so far, which is called from within itself.

        Raises:
            NotYet: nothing is known of what it returns.
        """
        returned = [*inside.results, *([] if inside.returns is None else [inside.returns])]
        again = Itself()
        inside.itself.append(again)
        gives = any(
            isinstance(n, ast.Return) and n.value is not None for n in ast.walk(inside.kernel.tree)
        )
        if gives and not returned:
            raise NotYet(name)
        again.result = self.joined(returned) if returned else None
        return again

    # Expressions

    def expression(self, node: ast.expr) -> Type:
        found = self.expressions[node] = self.worked_out(node)
        return found

    def worked_out(self, node: ast.expr) -> Type:
        meaning = self.draft.meanings.get(node)
        if meaning is not None:
            return self.meaning(meaning)
        match node:
            case ast.Constant(value=str() as text):
                return text  # type: ignore[return-value]  # only print takes it
            case ast.Constant():
                return of_value(node.value)
            case ast.Name():
                return self.variable(node)
            case ast.BinOp():
                left, right = self.expression(node.left), self.expression(node.right)
                self.refuse_whole(node, (left, node.left), (right, node.right))
                return types.binary(type(node.op).__name__, left, right)
            case ast.UnaryOp():
                operand = self.expression(node.operand)
                self.refuse_whole(node, (operand, node.operand))
                return types.unary(type(node.op).__name__, operand)
            case ast.BoolOp():
                parts = [self.expression(v) for v in node.values]
                return self.joined(parts)
            case ast.Compare():
                compared = [self.expression(part) for part in (node.left, *node.comparators)]
                sides = zip(compared, (node.left, *node.comparators), strict=True)
                if not any(
                    isinstance(op, ast.In | ast.NotIn | ast.Is | ast.IsNot) for op in node.ops
                ):
                    self.refuse_whole(node, *sides)
                for op, left, right in zip(node.ops, compared, compared[1:], strict=False):
                    types.check_comparison(op, left, right)
                return BOOL
            case ast.IfExp():
                self.test(node.test)
                return self.joined([self.expression(node.body), self.expression(node.orelse)])
            case ast.Tuple():
                return TupleType(tuple(self.expression(e) for e in node.elts))
            case ast.Subscript():
                return self.part(node)
            case ast.Attribute():
                return self.attribute(node)
            case ast.Call():
                return self.call(node)
        raise NoSuchType(type(node).__name__)

    def part(self, node: ast.Subscript) -> Type:
        """a[i], a[2:], t[0]; a structure in a cell is an array of it without dimensions."""
        found = self.element(node)
        if isinstance(found, np.dtype) and found.fields:
            owner = self.expressions[node.value]
            assert isinstance(owner, ArrayType)
            self.views.add(node)
            return ArrayType(found, 0, owner.space)
        return found

    def refuse_whole(self, node: ast.AST, *parts: tuple[Type, ast.expr]) -> None:
        """Raises KernelRefused where a whole array is computed with, as NumPy does on the host."""
        for type_, part in parts:
            self.refuse_parts(part, type_)
            if isinstance(type_, TupleType) and type_.names == types.THREE_PARTS:
                name = ast.unparse(part)
                fact = f"{name} is no number: it has the parts .x, .y and .z"
                raise self.kernel.refuse(node, fact, f"write {name}.x")
            numbers = not any(t is None or isinstance(t, FunctionType) for t, _ in parts)
            if isinstance(type_, ArrayType) and numbers:
                name = ast.unparse(part)
                fact = f"{name} is a whole array: a kernel computes with its cells, one by one"
                raise self.kernel.refuse(node, fact, f"index it, such as {_a_cell_of(part, type_)}")

    def refuse_parts(self, node: ast.expr, type_: Type) -> None:
        """Raises KernelRefused for what is written as a number and lacks its last word.

        `cuda.threadIdx` lacks its .x, and `cuda.grid` its brackets.
        """
        if not isinstance(type_, TupleType | WordType):
            return
        name, held = ast.unparse(node), self.held_by(node)
        said = f"{name}, which is {held}," if held != name else name
        if held in intrinsics.THREE_PARTS:  # and not the caller's own tuple of an x, a y and a z
            raise self.kernel.refuse(
                node,
                f"{said} is no number: it has the parts .x, .y and .z",
                f"write {held}.x, its place along x",
            )
        if isinstance(type_, WordType):
            given = "1" if type_.path in ("cuda.grid", "cuda.gridsize") else "..."
            raise self.kernel.refuse(
                node,
                f"{said} is a function, and gives a number only where it is called",
                f"write {held}({given}), with its brackets",
            )

    def held_by(self, node: ast.expr) -> str:
        """What an expression stands for, by a name too that one line gives it: cuda.threadIdx."""
        made: ast.AST | None = node
        if isinstance(node, ast.Name) and self.draft.meanings.get(node) is None:
            tree, versions = self.kernel.tree, self.draft.versions
            decisions = Decisions(self.kernel, tree, {}, alone=False, versions=versions)
            made = decisions.definition(node)
        symbol = self.draft.meanings.get(made) if isinstance(made, ast.expr) else None
        return symbol.path if isinstance(symbol, Symbol) else ast.unparse(node)

    def test(self, node: ast.expr) -> None:
        tested = self.expression(node)
        self.refuse_parts(node, tested)
        if not types.is_scalar(tested):
            raise NoSuchType("a condition must be a number or a bool")

    def joined(self, parts: Sequence[Type]) -> Type:
        result = parts[0]
        for part in parts[1:]:
            result = types.unify(result, part)
        return result

    def meaning(self, value: Any) -> Type:
        if value is NOTHING:
            return None
        if isinstance(value, Kernel):
            return FunctionType(value.name, value.place[:2], value)
        if isinstance(value, Symbol):
            if value.path in intrinsics.VALUES:
                return intrinsics.VALUES[value.path].type((), ())
            if value.path in intrinsics.THREE_PARTS:
                return TupleType((INT32,) * 3, types.THREE_PARTS)
            dtype = as_dtype(value)
            if dtype is not None:
                return DtypeType(dtype)
            if value.path in intrinsics.FUNCTIONS:
                return WordType(value.path)
            raise NotSimulated(
                f"{value.path} as a value",
                f"call it where it is needed: {value.path}(...)",
            )
        return of_value(value)

    def variable(self, node: ast.Name) -> Type:
        seen = self.draft.versions.reaching.get(node, frozenset())
        known = [self.assignments[d] for d in sorted(seen) if d in self.assignments]
        if not known:
            raise NotYet(node)
        self.reads[node] = self.joined(known)
        return self.reads[node]

    def note(self, target: ast.Name, value: Type) -> None:
        """One assignment gives its variable a type of its own."""
        number = self.draft.versions.numbers[target]
        joined = types.unify(self.assignments.get(number, value), value)
        if number not in self.assignments or self.assignments[number] != joined:
            self.assignments[number] = joined
            self.changed = True

    def element(self, node: ast.Subscript) -> Type:
        owner = self.expression(node.value)
        if isinstance(owner, TupleType):
            return self.tuple_element(node, owner)
        if not isinstance(owner, ArrayType):
            raise NoSuchType(f"{ast.unparse(node.value)} is {owner}, which has no cells")
        parts: list[Type] = []
        slices = 0
        given_parts = parts_of(node.slice, owner.ndim)
        for part in given_parts:
            if isinstance(part, ast.Slice):
                self.slice(part)
                slices += 1
            else:
                index = self.expression(part)
                self.refuse_parts(part, index)
                if index is None:
                    fact = "None as an index, which gives an array one more axis"
                    raise NotSimulated(fact, "give an index for each axis that there is")
                whole = part is node.slice and isinstance(index, TupleType)
                parts += index.elements if whole else (index,)  # type: ignore[union-attr]
        for index in parts:
            if not isinstance(index, np.dtype) or index.kind not in "iu":
                real = isinstance(index, np.dtype) and index.kind == "f"
                raise NoSuchType(
                    f"an index must be a whole number, and {ast.unparse(node.slice)} is {index}",
                    "divide by // where a whole number is meant, or write int(x)" if real else "",
                )
        given = len(parts) + slices
        if given > owner.ndim:
            indices = "1 index" if owner.ndim == 1 else f"{owner.ndim} indices"
            name = ast.unparse(node.slice)
            tuple_ = isinstance(node.slice, ast.Name) and f", since {name} is a tuple of {given}"
            raise self.kernel.refuse(
                node,
                f"{ast.unparse(node)} gives {given} of {indices}{tuple_ or ''}",
                f"give {indices}, one per dimension",
            )
        left = owner.ndim - len(parts)
        if left or slices or any(map(is_ellipsis, _written(node.slice))):
            if len(parts) + slices != len(given_parts):
                raise NoSuchType("a tuple as an index must give every index")
            self.views.add(node)
            return ArrayType(owner.dtype, left, owner.space)
        return owner.dtype

    def slice(self, node: ast.Slice) -> None:
        for bound in (node.lower, node.upper, node.step):
            type_ = None if bound is None else self.expression(bound)
            # Numba drops the fraction of a float there.
            real = isinstance(type_, np.dtype) and type_.kind in "iubf"
            if type_ is not None and not real:
                raise NoSuchType(f"a slice is bounded by real numbers, not by {type_}")
        if isinstance(node.step, ast.Constant) and node.step.value == 0:
            raise self.kernel.refuse(node, "a slice's step cannot be 0", "step by 1 or by -1")

    def tuple_element(self, node: ast.Subscript, owner: TupleType) -> Type:
        self.refuse_parts(node.value, owner)
        index = node.slice
        if isinstance(index, ast.Slice):
            return TupleType(owner.elements[constant_slice(index)])
        sign = 1
        if isinstance(index, ast.UnaryOp) and isinstance(index.op, ast.USub):
            index, sign = index.operand, -1
        value = self.draft.meanings.get(index)
        if isinstance(index, ast.Constant):
            value = index.value
        if type(value) is int:
            position = sign * value
            if -len(owner.elements) <= position < len(owner.elements):
                return owner.elements[position]
            raise NoSuchType(f"a tuple of {len(owner.elements)} has no element {position}")
        found = self.expression(node.slice)
        if not isinstance(found, np.dtype) or found.kind not in "iu":
            written = ast.unparse(node.slice)
            raise NoSuchType(f"an index must be a whole number, and {written} is {found}")
        if owner.elements and all(types.same(e, owner.elements[0]) for e in owner.elements):
            return owner.elements[0]
        raise NoSuchType("a tuple of different types takes constant indices only")

    def attribute(self, node: ast.Attribute) -> Type:
        owner = self.expression(node.value)
        if types.is_structure(owner) and node.attr in types.fields_of(owner):
            found = types.field_type(owner, node.attr)
            if isinstance(found, np.dtype):
                self.fields.add(node)
            return found
        if types.is_structure(owner):
            raise NoSuchType(f"{ast.unparse(node.value)} has no .{node.attr}")
        if isinstance(owner, ArrayType):
            if node.attr == "shape":
                return TupleType((INT64,) * owner.ndim)
            if node.attr in ("size", "ndim"):
                return INT64
            if owner.dtype.fields and node.attr in owner.dtype.fields:
                return types.field_type(owner, node.attr)
            if node.attr in whole_arrays.ATTRIBUTES:
                return whole_arrays.ATTRIBUTES[node.attr][0](owner)
            if node.attr == "dtype":
                return DtypeType(owner.dtype)
            raise self.kernel.refuse(
                node,
                f"the simulator does not know the array attribute .{node.attr}",
                "an array in a kernel has .shape, .size and .ndim",
            )
        if isinstance(owner, DtypeType) and node.attr == "type":
            return owner
        if isinstance(owner, TupleType) and node.attr in owner.names:
            self.members[node] = owner.names.index(node.attr)
            return owner.elements[self.members[node]]
        if isinstance(owner, np.dtype) and node.attr in ("real", "imag") and owner != BOOL:
            return types.component(owner)
        raise NoSuchType(f"{ast.unparse(node.value)} has no .{node.attr}")

    # Calls

    def call(self, node: ast.Call) -> Type:
        symbol = self.draft.meanings.get(node.func)
        if node.func in self.draft.devices:
            return self.device_call(node, self.draft.devices[node.func])
        if isinstance(symbol, NamedTuple):
            return self.named_tuple(node, symbol)
        if not isinstance(symbol, Symbol):
            return self.called_value(node)
        return self.word(node, symbol)

    def word(self, node: ast.Call, symbol: Symbol) -> Type:
        """A call of something of the vocabulary, or of a dtype."""
        if is_allocation(symbol):
            return self.allocation(node, symbol)
        if node.keywords:
            raise self.kernel.refuse(node, f"{symbol.path} takes no keywords in a kernel")
        arguments = [self.expression(a) for a in node.args]
        for argument, type_ in zip(node.args, arguments, strict=True):
            self.refuse_parts(argument, type_)
        dtype = as_dtype(symbol)
        if dtype is not None:
            return types.converted(symbol.path, dtype, arguments)
        function = intrinsics.FUNCTIONS.get(symbol.path)
        if function is None:
            hint = f"write {symbol.path}, without brackets"
            if symbol.path in intrinsics.THREE_PARTS:
                hint = f"write {symbol.path}.x, .y or .z, without brackets"
            known = symbol.path in intrinsics.VALUES or symbol.path in intrinsics.THREE_PARTS
            raise NoSuchType(f"{symbol.path} cannot be called", hint if known else "")
        try:
            return function.type(arguments, node.args)
        except NotSimulated:
            raise
        except NoSuchType as error:
            shown = symbol.path.removeprefix("builtin.")
            raise NoSuchType(f"{shown}: {error}", error.hint) from None

    def called_value(self, node: ast.Call) -> Type:
        """A call of what an expression gives: a method, or a function held by a name."""
        called = node.func
        if isinstance(called, ast.Attribute):
            sync = called.attr == "sync" and not node.args
            if sync and self.expression(called.value) == GridType():
                return INT32
            if self.is_array(called.value):
                return self.array_method(node, called)
            if called.attr == "view" and len(node.args) == 1 and not node.keywords:
                return self.bits_of(called, node.args[0])
            if called.attr in ("conjugate", "bit_count") and not node.args:
                owner = self.expression(called.value)
                if called.attr == "conjugate" and types.is_scalar(owner) and owner != BOOL:
                    return owner
                if (
                    called.attr == "bit_count"
                    and isinstance(owner, np.dtype)
                    and owner.kind in "iu"
                ):
                    return owner
            function = self.expression(called) if called.attr == "type" else None
        else:
            function = self.expression(called)
            if isinstance(function, WordType):
                return self.word(node, Symbol(function.path))
            if isinstance(function, FunctionType):
                draft, device = self.draft, function.function
                assert draft.written is not None
                found = called_from(
                    draft.written, self.kernel, node, device, draft.callers, draft.checked
                )
                return self.device_call(node, found)
        if isinstance(function, DtypeType):
            arguments = [self.expression(a) for a in node.args]
            return types.converted(ast.unparse(called), function.of, arguments)
        raise NoSuchType(f"{ast.unparse(called)} cannot be called")

    def bits_of(self, called: ast.Attribute, dtype: ast.expr) -> Type:
        """x.view(int32) of a number: the same bits as another number of its size."""
        owner, wanted = self.expression(called.value), self.expression(dtype)
        if not isinstance(owner, np.dtype) or not isinstance(wanted, DtypeType):
            raise NoSuchType(f"{ast.unparse(called)} takes a number and a dtype")
        for one in (owner, wanted.of):
            if one.kind not in "iuf":
                raise NoSuchType(
                    f"{ast.unparse(called)} is for whole numbers and floats, not {one}"
                )
        if owner.itemsize != wanted.of.itemsize:
            raise NoSuchType(
                f"{ast.unparse(called.value)} has {count(owner.itemsize, 'byte')}, and {wanted.of} "
                f"{wanted.of.itemsize}",
                "name a dtype of its size",
            )
        return wanted.of

    def array_method(self, node: ast.Call, called: ast.Attribute) -> Type:
        """a.sum(), a.reshape(2, 3), a.view(int32)"""
        owner, name = self.expression(called.value), called.attr
        assert isinstance(owner, ArrayType)
        plain = not node.keywords and not owner.dtype.fields
        if plain and not node.args and name in whole_arrays.FOLDS:
            return whole_arrays.FOLDS[name].type(owner)
        if plain and name == "fill" and len(node.args) == 1:
            value = self.expression(node.args[0])
            if not isinstance(value, np.dtype):
                raise NoSuchType(f"fill takes a number, not {value}")
            return None
        if name == "reshape" and not node.keywords:
            arguments = [self.expression(a) for a in node.args]
            return whole_arrays.reshaped_type(owner, arguments)
        if name == "view" and plain and len(node.args) == 1:
            wanted = self.expression(node.args[0])
            if isinstance(wanted, DtypeType) and not wanted.of.fields:
                return whole_arrays.viewed_type(owner, wanted.of)
        raise self.kernel.refuse(node, method_refusal(name), "write the loop")

    def is_array(self, node: ast.expr) -> bool:
        try:
            return isinstance(self.expression(node), ArrayType)
        except NotYet:
            return False

    def named_tuple(self, node: ast.Call, made: NamedTuple) -> Type:
        parameters = dict.fromkeys(made.fields)
        self.given[node] = bound(self.kernel, node, made.name, parameters, {})
        return TupleType(tuple(map(self.expression, self.given[node])), made.fields)

    def device_call(self, node: ast.Call, device: Draft) -> Type:
        name, parameters = device.kernel.name, device.kernel.parameters
        given = bound(self.kernel, node, name, dict.fromkeys(parameters), device.defaults)
        arguments = [self.expression(a) for a in given]
        declared = device.kernel.declared
        signature = best(declared, arguments) if declared else None
        if declared and signature is None:
            listed = "; ".join(map(str, declared))
            fact = f"no signature of {name} takes ({', '.join(map(show, arguments))})"
            raise self.kernel.refuse(node, fact, f"it declares {listed}")
        if signature is not None:
            arguments = list(signature.converted(arguments))
        self.given[node] = given
        known = self.known_arguments(device, given, arguments)
        literals = self.literals_of(device, given)
        inside = self.found.under_way.get(
            (device.kernel.tree, tuple(arguments), tuple(known), literals)
        )
        if inside is not None:
            if signature is not None:
                inside.returns = signature.returns(signature.result)
            again = self.calls[node] = self.infer_itself(node.func, inside)
            return again.result
        found = self.infer_device(device, arguments, known, literals)
        if signature is not None:
            found = declared_result(device, found, signature)
        self.calls[node] = found
        return found.result

    def known_arguments(
        self, device: Draft, given: Sequence[ast.expr], arguments: Sequence[Type]
    ) -> list[Type]:
        """The types by which a device function's branches are decided."""
        if not device.asks or device.kernel.declared:
            return list(arguments)
        draft = self.draft
        return [
            LITERAL
            if isinstance(type_, np.dtype)
            and is_literal(node, self.kernel, self.kernel.tree, draft.versions)
            else type_
            for node, type_ in zip(given, arguments, strict=True)
        ]

    def literals_of(self, device: Draft, given: Sequence[ast.expr]) -> Literals:
        """The constants handed over for parameters that stand in the shape of an array."""
        wanted = device.shapes_from_arguments
        pairs = zip(device.kernel.parameters, given, strict=True) if wanted else ()
        known = ((name, self.literal(node)) for name, node in pairs if name in wanted)
        return tuple((name, value) for name, value in known if value is not None)

    def literal(self, node: ast.expr) -> Any:
        """A whole number, or a tuple of them, that is written at a call or named there."""
        if isinstance(node, ast.Tuple):
            parts = tuple(map(self.literal, node.elts))
            return None if None in parts else parts
        value = node.value if isinstance(node, ast.Constant) else self.look_up(node)
        numbers = value if isinstance(value, tuple) else (value,)
        whole = all(isinstance(n, int) and not isinstance(n, bool) for n in numbers)
        return value if whole else None

    def allocation(self, node: ast.Call, symbol: Symbol) -> Type:
        try:
            self.requests[node] = request(node, SPACES[symbol.path], self.look_up, self.dtype_at)
        except NotSimulated as error:
            raise self.kernel.refuse(node, ours(str(error)), error.hint) from None
        except NoSuchType as error:
            raise self.kernel.refuse(
                node,
                f"{symbol.path}: {error}",
                error.hint or "give it a constant shape and a dtype",
            ) from None
        return self.requests[node].type

    def look_up(self, name: ast.expr) -> Any:
        """What a name in a shape stands for: a constant of the file, or of the kernel: N = 100."""
        known = self.draft.meanings.get(name)
        if known is not None or not isinstance(name, ast.Name):
            return known
        tree, versions = self.kernel.tree, self.draft.versions
        made = Decisions(self.kernel, tree, {}, alone=False, versions=versions).definition(name)
        if isinstance(made, ast.arg):
            return self.literals.get(made.arg)
        if isinstance(made, ast.Constant):
            return made.value
        if isinstance(made, ast.Tuple):
            return tuple(
                e.value if isinstance(e, ast.Constant) else self.look_up(e) for e in made.elts
            )
        return self.draft.meanings.get(made) if isinstance(made, ast.Name) else None

    def dtype_at(self, node: ast.expr) -> np.dtype[Any] | None:
        """The dtype of an array, for `dtype=a.dtype`, or one that a variable holds; else None."""
        if isinstance(node, ast.Name) and node.id in self.draft.variables:
            held = self.variable(node)
            return held.of if isinstance(held, DtypeType) else None
        if not isinstance(node, ast.Attribute) or node.attr != "dtype":
            return None
        owner = self.expression(node.value)
        return owner.dtype if isinstance(owner, ArrayType) else None


def bound(
    kernel: Kernel,
    node: ast.Call,
    name: str,
    parameters: dict[str, Any],
    defaults: Mapping[str, ast.Constant],
) -> list[ast.expr]:
    """The arguments of a call in the order of the parameters.

    Raises:
        KernelRefused: one is missing, given twice, or unknown.
    """
    given: dict[str, ast.expr] = dict(zip(parameters, node.args, strict=False))
    wrong = [k.arg for k in node.keywords if k.arg in given or k.arg not in parameters]
    given |= {k.arg: k.value for k in node.keywords if k.arg}
    given = {**defaults, **given}
    if wrong or len(node.args) > len(parameters) or set(given) != set(parameters):
        given_here = len(node.args) + len(node.keywords)
        raise kernel.refuse(
            node,
            f"{name} takes {count(len(parameters), 'argument')} ({', '.join(parameters)}), and "
            f"this call gives {f'{wrong[0]}=...' if wrong else given_here}",
            "pass one value per parameter, in order",
        )
    return [given[parameter] for parameter in parameters]


def declared_result(device: Draft, found: Inferred, signature: Signature) -> Inferred:
    """What is known of a device function, with the result its signature declares.

    Raises:
        KernelRefused: what it returns cannot be converted to that.
    """
    try:
        return replace(found, result=signature.returns(found.result))
    except UserError as error:
        fact = f"{device.kernel.name} {error}: Numba converts neither to the other"
        raise device.kernel.refuse(device.kernel.tree, fact, "declare what it returns") from None


def constant_slice(node: ast.Slice) -> slice:
    """A slice of a tuple, whose bounds must be numbers.

    Raises:
        NoSuchType: they are not.
    """
    try:
        parts = [
            None if p is None else constant(p, {}) for p in (node.lower, node.upper, node.step)
        ]
    except NotConstant:
        raise NoSuchType("a tuple is sliced by numbers") from None
    return slice(*parts)


def parts_of(index: ast.expr, ndim: int) -> list[ast.expr]:
    """Returns what an index says of each axis, `...` as the whole axes that it stands for.

    >>> [ast.unparse(part) for part in parts_of(ast.parse("a[..., i]").body[0].value.slice, 3)]
    [':', ':', 'i']
    """
    parts = _written(index)
    at = next((k for k, part in enumerate(parts) if is_ellipsis(part)), None)
    if at is None:
        return parts
    count = ndim - len(parts) + 1
    whole: list[ast.expr] = [ast.copy_location(ast.Slice(), parts[at]) for _ in range(count)]
    return [*parts[:at], *whole, *parts[at + 1 :]]


def _a_cell_of(node: ast.expr, array: ArrayType) -> str:
    """A cell of what a node gives, as it might be written: of `a[row]` it is `a[row, i]`."""
    used = {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}
    further = [name for name in "ijklmnpqrs" if name not in used][: array.ndim]
    if not isinstance(node, ast.Subscript):
        return f"{ast.unparse(node)}[{', '.join(further)}]"
    given = [ast.unparse(part) for part in _written(node.slice)]
    if any(isinstance(part, ast.Slice) or is_ellipsis(part) for part in _written(node.slice)):
        return f"{ast.unparse(node)}[{', '.join(further)}]"
    return f"{ast.unparse(node.value)}[{', '.join([*given, *further])}]"


def _written(index: ast.expr) -> list[ast.expr]:
    return index.elts if isinstance(index, ast.Tuple) else [index]


def is_ellipsis(node: ast.expr) -> bool:
    """True for `...`."""
    return isinstance(node, ast.Constant) and node.value is Ellipsis
