"""The types Numba would infer: one per variable, unified over all its assignments."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gpu_course.errors import KernelRefused
from gpu_course.simt import intrinsics, types
from gpu_course.simt.allocate import SPACES, Request, is_allocation, lay_out, request
from gpu_course.simt.constants import Symbol, as_dtype
from gpu_course.simt.legality import Program
from gpu_course.simt.types import (
    BOOL,
    FLOAT64,
    INT64,
    ArrayType,
    NoSuchType,
    RangeType,
    TupleType,
    Type,
)

MAX_ROUNDS = 20


@dataclass(frozen=True)
class Inferred:
    """What is known of a kernel once the types of its arguments are.

    Attributes:
        types: variable -> type.
        requests: each call that makes a shared or local array, with what it asks for.
        static_shared_bytes: shared memory a block needs before any dynamic memory.
    """

    types: Mapping[str, Type]
    requests: Mapping[ast.Call, Request]
    static_shared_bytes: int


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
    if isinstance(value, tuple):
        return TupleType(tuple(map(of_value, value)))
    raise NoSuchType(type(value).__name__)


class _Inference:
    def __init__(self, program: Program, arguments: Sequence[Type]) -> None:
        self.program = program
        self.kernel = program.kernel
        self.types: dict[str, Type] = dict(zip(self.kernel.parameters, arguments, strict=True))
        self.requests: dict[ast.Call, Request] = {}
        self.changed = False
        self.pending: KernelRefused | None = None

    def run(self) -> Inferred:
        for _ in range(MAX_ROUNDS):
            self.changed = False
            self.pending = None
            self.block(self.kernel.tree.body)
            if not self.changed:
                break
        if self.pending is not None:
            raise self.pending
        placed, static = lay_out(self.requests)
        return Inferred(self.types, placed, static)

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
            case ast.If() | ast.While():
                self.test(node.test)
                self.block(node.body)
                self.block(node.orelse)
            case ast.For():
                iterated = self.expression(node.iter)
                assert isinstance(iterated, RangeType)
                self.assign(node.target, iterated.dtype)
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
            if isinstance(value, ArrayType):
                raise self.kernel.refuse(
                    target,
                    f"the simulator does not know a second name for an array ({target.id})",
                    "use the parameter's own name",
                )
            known = self.types.get(target.id, value)
            try:
                joined = types.unify(known, value)
            except NoSuchType as error:
                raise NoSuchType(f"{target.id} is {error}") from None
            if target.id not in self.types or joined != known:
                self.types[target.id] = joined
                self.changed = True
        elif isinstance(target, ast.Tuple):
            if not isinstance(value, TupleType) or len(value.elements) != len(target.elts):
                raise NoSuchType(f"{value} cannot be unpacked into {len(target.elts)} names")
            for part, element in zip(target.elts, value.elements, strict=True):
                self.assign(part, element)
        elif isinstance(target, ast.Subscript):
            if isinstance(self.expression(target.value), TupleType):
                raise NoSuchType("a tuple cannot be changed")
            stored = self.element(target)
            if not (types.is_scalar(stored) and types.is_scalar(value)):
                raise NoSuchType(f"{value} cannot be stored in one cell of {stored}")
        else:
            raise NoSuchType("an attribute cannot be assigned to")

    def hold(self, name: ast.Name, array: Type) -> None:
        """A shared or local array gets its name, once and for all."""
        known = self.types.setdefault(name.id, array)
        if known != array:
            raise NoSuchType(f"{name.id} is {known} and {array}")

    def target_type(self, target: ast.expr) -> Type:
        if isinstance(target, ast.Name):
            return self.variable(target)
        if isinstance(target, ast.Subscript):
            return self.element(target)
        raise NoSuchType("an attribute cannot be assigned to")

    # Expressions

    def expression(self, node: ast.expr) -> Type:
        meaning = self.program.meanings.get(node)
        if meaning is not None:
            return self.meaning(meaning)
        match node:
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
                for part in (node.left, *node.comparators):
                    if not types.is_scalar(self.expression(part)):
                        raise NoSuchType("only numbers can be compared")
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
        return of_value(value)

    def variable(self, node: ast.Name) -> Type:
        if node.id not in self.types:
            raise _NotYet(node)
        return self.types[node.id]

    def element(self, node: ast.Subscript) -> Type:
        owner = self.expression(node.value)
        if isinstance(owner, TupleType):
            return self.tuple_element(node, owner)
        if not isinstance(owner, ArrayType):
            raise NoSuchType(f"{ast.unparse(node.value)} is {owner}, which has no cells")
        if any(isinstance(part, ast.Slice) for part in ast.walk(node.slice)):
            raise self.kernel.refuse(node, "the simulator does not know slices", "index one cell")
        index = self.expression(node.slice)
        parts = index.elements if isinstance(index, TupleType) else (index,)
        for part in parts:
            if not isinstance(part, np.dtype) or part.kind not in "iub":
                raise NoSuchType(
                    f"an index must be a whole number, and {ast.unparse(node.slice)} is {part}"
                )
        if len(parts) != owner.ndim:
            raise self.kernel.refuse(
                node,
                f"{ast.unparse(node)} gives {len(parts)} of {owner.ndim} indices",
                f"give {owner.ndim} indices, one per dimension",
            )
        return owner.dtype

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
        raise NoSuchType(f"{ast.unparse(node.value)} has no .{node.attr}")

    def call(self, node: ast.Call) -> Type:
        symbol = self.program.meanings.get(node.func)
        if not isinstance(symbol, Symbol):
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
            return dtype
        function = intrinsics.FUNCTIONS.get(symbol.path)
        if function is None:
            raise NoSuchType(f"{symbol.path} cannot be called")
        try:
            return function.type(arguments, node.args)
        except NoSuchType as error:
            raise NoSuchType(f"{symbol.path}: {error}") from None

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


class _NotYet(Exception):
    def __init__(self, node: ast.Name) -> None:
        self.node = node
