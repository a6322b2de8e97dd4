"""The types Numba would infer: one per variable, unified over all its assignments."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from gpu_course.errors import KernelRefused
from gpu_course.simt import intrinsics, types
from gpu_course.simt.constants import Symbol, as_dtype
from gpu_course.simt.legality import Program
from gpu_course.simt.types import (
    BOOL,
    FLOAT64,
    INT32,
    INT64,
    ArrayType,
    GridType,
    NoSuchType,
    RangeType,
    TupleType,
    Type,
)
from gpu_course.simt.vocabulary.allocate import SPACES, Request, is_allocation, lay_out, request

MAX_ROUNDS = 20


@dataclass(frozen=True)
class Inferred:
    """What is known of a kernel once the types of its arguments are.

    Attributes:
        types: variable -> type.
        requests: each call that makes a shared or local array, with what it asks for.
        static_shared_bytes: shared memory a block needs before any dynamic memory.
        calls: each call of a device function -> what is known of it there.
        result: the type a device function returns; None for a kernel.
        views: the subscripts that give an array and not a number.
        reads: a name where it is read -> its type there, which its variable's type can hold.
    """

    types: Mapping[str, Type]
    requests: Mapping[ast.Call, Request]
    static_shared_bytes: int = 0
    calls: Mapping[ast.Call, Inferred] = field(default_factory=dict)
    result: Type = None
    views: frozenset[ast.Subscript] = frozenset()
    reads: Mapping[ast.AST, Type] = field(default_factory=dict)


def infer(program: Program, arguments: Sequence[Type]) -> Inferred:
    """Returns the type of every variable of a kernel, and the arrays it makes for itself.

    A variable that is assigned an int in one place and a float32 in another is a float64
    everywhere, as in Numba. Types only widen, so a few rounds over the body settle them.

    Args:
        program: the kernel, past the static pass.
        arguments: the types of its parameters, in order.

    Raises:
        KernelRefused: a line whose types no operator or variable can join.
    """
    return _Inference(program, arguments).run()


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
        return TupleType(tuple(map(of_value, value)))
    raise NoSuchType(type(value).__name__)


class _Inference:
    def __init__(self, program: Program, arguments: Sequence[Type]) -> None:
        self.program = program
        self.kernel = program.kernel
        self.types: dict[str, Type] = dict(zip(self.kernel.parameters, arguments, strict=True))
        self.assignments: dict[int, Type] = {
            program.versions.numbers[parameter]: type_
            for parameter, type_ in zip(self.kernel.tree.args.args, arguments, strict=True)
        }
        self.reads: dict[ast.AST, Type] = {}
        self.requests: dict[ast.Call, Request] = {}
        self.calls: dict[ast.Call, Inferred] = {}
        self.results: list[Type] = []
        self.views: set[ast.Subscript] = set()
        self.changed = False
        self.pending: KernelRefused | None = None

    def run(self) -> Inferred:
        for _ in range(MAX_ROUNDS):
            self.changed = False
            self.pending = None
            self.results = []
            self.block(self.kernel.tree.body)
            if not self.changed:
                break
        if self.pending is not None:
            raise self.pending
        requests = dict(self.requests)
        for called in self.calls.values():
            requests |= called.requests
        placed, static = lay_out(requests)
        return Inferred(
            self.types,
            placed,
            static,
            self.calls,
            self.result(),
            frozenset(self.views),
            self.reads,
        )

    def result(self) -> Type:
        if not self.results:
            return None
        try:
            return self.joined(self.results)
        except NoSuchType as error:
            raise self.kernel.refuse(
                self.kernel.tree, f"{self.kernel.name} returns {error}", "return one type"
            ) from None

    # Statements

    def block(self, body: Sequence[ast.stmt]) -> None:
        for statement in body:
            try:
                self.statement(statement)
            except NoSuchType as error:
                raise self.kernel.refuse(
                    statement,
                    f"Numba finds no type for this line: {error}",
                    "check what each name on the line is: an array, a number or a tuple",
                ) from None
            except _NotYet as error:
                # A name read before the round has reached its assignment: a later round settles it.
                fact = f"{error.node.id} is read here, and nothing above assigns it"
                refusal = self.kernel.refuse(error.node, fact, "assign it first")
                self.pending = self.pending or refusal

    def statement(self, node: ast.stmt) -> None:
        match node:
            case ast.Assign(targets=[ast.Name() as name], value=ast.Call() as call) if (
                is_allocation(self.program.meanings.get(call.func))
            ):
                self.hold(name, self.expression(call))
            case ast.Assign():
                value = self.expression(node.value)
                for target in node.targets:
                    self.assign(target, value)
            case ast.AnnAssign():
                if node.value is not None:
                    self.assign(node.target, self.expression(node.value))
            case ast.AugAssign():
                current = self.target_type(node.target)
                value = self.expression(node.value)
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
                    self.expression(node.value)

    def test(self, node: ast.expr) -> None:
        if not types.is_scalar(self.expression(node)):
            raise NoSuchType("a condition must be a number or a bool")

    def assign(self, target: ast.expr, value: Type) -> None:
        if isinstance(target, ast.Name):
            if isinstance(value, np.dtype) and value.fields:
                raise NoSuchType(
                    f"a whole structure is not held by a name: read {target.id}'s fields"
                )
            version = self.program.assigned(target)
            known = self.types.get(version, value)
            try:
                joined = types.unify(known, value)
            except NoSuchType as error:
                raise NoSuchType(f"{target.id} is {error}") from None
            if version not in self.types or joined != known:
                self.types[version] = joined
                self.changed = True
            self.note(target, value)
        elif isinstance(target, ast.Tuple):
            if not isinstance(value, TupleType) or len(value.elements) != len(target.elts):
                raise NoSuchType(f"{value} cannot be unpacked into {len(target.elts)} names")
            for part, element in zip(target.elts, value.elements, strict=True):
                self.assign(part, element)
        elif isinstance(target, ast.Subscript):
            owner = self.expression(target.value)
            if isinstance(owner, TupleType):
                raise NoSuchType("a tuple cannot be changed")
            if isinstance(owner, ArrayType) and owner.space == "const":
                raise NoSuchType("constant memory cannot be changed")
            stored = self.element(target)
            if not (types.is_scalar(stored) and types.is_scalar(value)):
                raise NoSuchType(f"{value} cannot be stored in one cell of {stored}")
            if value.kind == "c" and stored.kind != "c":  # type: ignore[union-attr]
                raise NoSuchType(f"{value} cannot be stored as {stored}: take .real or .imag")
        else:
            self.field(target, value)

    def field(self, target: ast.expr, value: Type | None = None) -> Type:
        """The type of a field that is assigned to: a[i].x."""
        if not (isinstance(target, ast.Attribute) and isinstance(target.value, ast.Subscript)):
            raise NoSuchType("an attribute cannot be assigned to")
        owner = self.element(target.value)
        if not (isinstance(owner, np.dtype) and owner.fields and target.attr in owner.fields):
            raise NoSuchType("an attribute cannot be assigned to")
        if value is not None and not types.is_scalar(value):
            raise NoSuchType(f"{value} cannot be stored in a field")
        return owner.fields[target.attr][0]

    def hold(self, name: ast.Name, array: Type) -> None:
        """A shared or local array gets its name, once and for all."""
        self.note(name, array)
        known = self.types.setdefault(self.program.assigned(name), array)
        if known != array:
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
            if node.func.id == "enumerate" and len(node.args) == 1:
                return TupleType((INT64, self.item(node.args[0])))
            if node.func.id == "zip" and node.args:
                return TupleType(tuple(self.item(a) for a in node.args))
        iterated = self.expression(node)
        if isinstance(iterated, RangeType):
            return iterated.dtype
        if isinstance(iterated, TupleType) and iterated.elements:
            return self.joined(iterated.elements)
        if isinstance(iterated, ArrayType) and iterated.ndim == 1:
            return iterated.dtype
        raise NoSuchType(f"a loop over {iterated}")

    # Expressions

    def expression(self, node: ast.expr) -> Type:
        meaning = self.program.meanings.get(node)
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
                return types.binary(type(node.op).__name__, left, right)
            case ast.UnaryOp():
                return types.unary(type(node.op).__name__, self.expression(node.operand))
            case ast.BoolOp():
                parts = [self.expression(v) for v in node.values]
                return self.joined(parts)
            case ast.Compare():
                compared = [self.expression(part) for part in (node.left, *node.comparators)]
                if not all(map(types.is_scalar, compared)):
                    raise NoSuchType("only numbers can be compared")
                equal = all(isinstance(op, ast.Eq | ast.NotEq) for op in node.ops)
                if not equal and any(p.kind == "c" for p in compared):  # type: ignore[union-attr]
                    raise NoSuchType("complex numbers have no order")
                return BOOL
            case ast.IfExp():
                self.test(node.test)
                return self.joined([self.expression(node.body), self.expression(node.orelse)])
            case ast.Tuple():
                return TupleType(tuple(self.expression(e) for e in node.elts))
            case ast.Subscript():
                return self.element(node)
            case ast.Attribute():
                return self.attribute(node)
            case ast.Call():
                return self.call(node)
        raise NoSuchType(type(node).__name__)

    def joined(self, parts: Sequence[Type]) -> Type:
        result = parts[0]
        for part in parts[1:]:
            result = types.unify(result, part)
        return result

    def meaning(self, value: Any) -> Type:
        if isinstance(value, Symbol):
            if value.path in intrinsics.VALUES:
                return intrinsics.VALUES[value.path].type
            raise NoSuchType(f"{value.path} must be called")
        if isinstance(value, np.ndarray):
            return ArrayType(value.dtype, value.ndim, "const")
        return of_value(value)

    def variable(self, node: ast.Name) -> Type:
        seen = self.program.versions.reaching.get(node, frozenset())
        known = [self.assignments[d] for d in sorted(seen) if d in self.assignments]
        if not known:
            raise _NotYet(node)
        self.reads[node] = self.joined(known)
        return self.reads[node]

    def note(self, target: ast.Name, value: Type) -> None:
        """One assignment gives its variable a type of its own."""
        number = self.program.versions.numbers[target]
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
        for part in _parts(node.slice):
            if isinstance(part, ast.Slice):
                self.slice(part)
                slices += 1
            else:
                index = self.expression(part)
                parts += index.elements if isinstance(index, TupleType) else (index,)
        for index in parts:
            if not isinstance(index, np.dtype) or index.kind not in "iub":
                raise NoSuchType(
                    f"an index must be a whole number, and {ast.unparse(node.slice)} is {index}"
                )
        given = len(parts) + slices
        if given > owner.ndim:
            raise self.kernel.refuse(
                node,
                f"{ast.unparse(node)} gives {given} of {owner.ndim} indices",
                f"give {owner.ndim} indices, one per dimension",
            )
        left = owner.ndim - len(parts)
        if left:
            if len(parts) + slices != len(_parts(node.slice)):
                raise NoSuchType("a tuple as an index must give every index")
            self.views.add(node)
        return ArrayType(owner.dtype, left, owner.space) if left else owner.dtype

    def slice(self, node: ast.Slice) -> None:
        for bound in (node.lower, node.upper):
            if bound is not None:
                type_ = self.expression(bound)
                if not isinstance(type_, np.dtype) or type_.kind not in "iub":
                    raise NoSuchType(f"a slice is bounded by whole numbers, not by {type_}")
        step = node.step
        literal = isinstance(step, ast.Constant) and type(step.value) is int and step.value > 0
        if step is not None and not literal:
            raise self.kernel.refuse(
                node, "the simulator knows slices whose step is a positive number", "write a loop"
            )

    def tuple_element(self, node: ast.Subscript, owner: TupleType) -> Type:
        index = node.slice
        sign = 1
        if isinstance(index, ast.UnaryOp) and isinstance(index.op, ast.USub):
            index, sign = index.operand, -1
        if isinstance(index, ast.Constant) and type(index.value) is int:
            position = sign * index.value
            if -len(owner.elements) <= position < len(owner.elements):
                return owner.elements[position]
            raise NoSuchType(f"a tuple of {len(owner.elements)} has no element {position}")
        self.expression(node.slice)
        if owner.elements and all(e == owner.elements[0] for e in owner.elements):
            return owner.elements[0]
        raise NoSuchType("a tuple of different types takes constant indices only")

    def attribute(self, node: ast.Attribute) -> Type:
        owner = self.expression(node.value)
        if isinstance(owner, ArrayType):
            if node.attr == "shape":
                return TupleType((INT64,) * owner.ndim)
            if node.attr in ("size", "ndim"):
                return INT64
            raise self.kernel.refuse(
                node,
                f"the simulator does not know the array attribute .{node.attr}",
                "an array in a kernel has .shape, .size and .ndim",
            )
        if isinstance(owner, np.dtype) and owner.fields and node.attr in owner.fields:
            return owner.fields[node.attr][0]
        if isinstance(owner, np.dtype) and node.attr in ("real", "imag"):
            return _component(owner)
        raise NoSuchType(f"{ast.unparse(node.value)} has no .{node.attr}")

    def call(self, node: ast.Call) -> Type:
        symbol = self.program.meanings.get(node.func)
        if node.func in self.program.devices:
            return self.device_call(node, self.program.devices[node.func])
        if not isinstance(symbol, Symbol):
            method = node.func
            owner = method.value if isinstance(method, ast.Attribute) else None
            called_sync = ast.unparse(method).endswith(".sync") and not node.args
            if owner is not None and called_sync and self.expression(owner) == GridType():
                return INT32
            raise NoSuchType(f"{ast.unparse(node.func)} cannot be called")
        if is_allocation(symbol):
            return self.allocation(node, symbol)
        if node.keywords:
            raise self.kernel.refuse(node, f"{symbol.path} takes no keywords in a kernel")
        arguments = [self.expression(a) for a in node.args]
        dtype = as_dtype(symbol)
        if dtype is not None:
            if len(arguments) != 1 or not types.is_scalar(arguments[0]):
                raise NoSuchType(f"{symbol.path} takes one number")
            if arguments[0].kind == "c" and dtype.kind != "c":  # type: ignore[union-attr]
                raise NoSuchType(f"{symbol.path} takes no complex number: take .real or .imag")
            return dtype
        function = intrinsics.FUNCTIONS.get(symbol.path)
        if function is None:
            raise NoSuchType(f"{symbol.path} cannot be called")
        try:
            return function.type(arguments, node.args)
        except NoSuchType as error:
            raise NoSuchType(f"{symbol.path}: {error}") from None

    def device_call(self, node: ast.Call, device: Program) -> Type:
        parameters = device.kernel.parameters
        if node.keywords or len(node.args) != len(parameters):
            raise self.kernel.refuse(
                node,
                f"{device.kernel.name} takes {len(parameters)} arguments "
                f"({', '.join(parameters)}), and this call gives {len(node.args)}",
                "pass one value per parameter, in order",
            )
        arguments = [self.expression(a) for a in node.args]
        self.calls[node] = infer(device, arguments)
        return self.calls[node].result

    def allocation(self, node: ast.Call, symbol: Symbol) -> Type:
        def look_up(name: ast.expr) -> Any:
            return self.program.meanings.get(name)

        try:
            self.requests[node] = request(node, SPACES[symbol.path], look_up)
        except NoSuchType as error:
            raise self.kernel.refuse(
                node, f"{symbol.path}: {error}", "give it a constant shape and a dtype"
            ) from None
        return self.requests[node].type


def _parts(index: ast.expr) -> list[ast.expr]:
    return index.elts if isinstance(index, ast.Tuple) else [index]


def _component(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """The type of the real part of a number."""
    return np.dtype(f"float{4 * dtype.itemsize}") if dtype.kind == "c" else dtype


class _NotYet(Exception):
    def __init__(self, node: ast.Name) -> None:
        self.node = node
