"""The types Numba would infer for expressions: one method or branch per kind of expression."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any

import numpy as np

from gpu_course.errors import KernelRefused
from gpu_course.simt import intrinsics, types
from gpu_course.simt.call_types import CallTypes
from gpu_course.simt.constants import NotConstant, Symbol, constant
from gpu_course.simt.inferred import NotYet, of_value
from gpu_course.simt.meanings import NOTHING
from gpu_course.simt.program import Program
from gpu_course.simt.source import Kernel
from gpu_course.simt.types import (
    BOOL,
    INT64,
    ArrayType,
    FunctionType,
    NoSuchType,
    NotSimulated,
    RangeType,
    TupleType,
    Type,
)


class ExpressionTypes(CallTypes):
    """Finds the type of an expression, given those of the variables it reads."""

    def __init__(self, program: Program, arguments: Sequence[Type]) -> None:
        super().__init__(program)
        self.types: dict[str, Type] = dict(zip(self.kernel.parameters, arguments, strict=True))
        self.assignments: dict[int, Type] = {
            program.versions.numbers[parameter]: type_
            for parameter, type_ in zip(self.kernel.tree.args.args, arguments, strict=True)
        }
        self.reads: dict[ast.AST, Type] = {}
        self.expressions: dict[ast.AST, Type] = {}
        self.results: list[Type] = []
        self.views: set[ast.Subscript] = set()
        self.members: dict[ast.Attribute, int] = {}
        self.fields: set[ast.Attribute] = set()
        self.changed = False
        self.pending: KernelRefused | None = None

    def expression(self, node: ast.expr) -> Type:
        found = self.expressions[node] = self.worked_out(node)
        return found

    def worked_out(self, node: ast.expr) -> Type:
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
                    check_comparison(op, left, right)
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

    def refuse_whole(self, node: ast.AST, *parts: tuple[Type, ast.expr]) -> None:
        """Raises KernelRefused where a whole array is computed with, as NumPy does on the host."""
        for type_, part in parts:
            numbers = not any(t is None or isinstance(t, FunctionType) for t, _ in parts)
            if isinstance(type_, ArrayType) and numbers:
                name = ast.unparse(part)
                fact = f"{name} is a whole array: a kernel computes with its cells, one by one"
                cell = ", ".join("ijkl"[: type_.ndim])
                raise self.kernel.refuse(node, fact, f"index it, such as {name}[{cell}]")

    def test(self, node: ast.expr) -> None:
        if not types.is_scalar(self.expression(node)):
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
            raise NotSimulated(f"{value.path} as a value", "call it where it is needed")
        return of_value(value)

    def variable(self, node: ast.Name) -> Type:
        seen = self.program.versions.reaching.get(node, frozenset())
        known = [self.assignments[d] for d in sorted(seen) if d in self.assignments]
        if not known:
            raise NotYet(node)
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
                whole = part is node.slice and isinstance(index, TupleType)
                parts += index.elements if whole else (index,)  # type: ignore[union-attr]
        for index in parts:
            if not isinstance(index, np.dtype) or index.kind not in "iu":
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
        for bound in (node.lower, node.upper, node.step):
            type_ = None if bound is None else self.expression(bound)
            whole = isinstance(type_, np.dtype) and type_.kind in "iub"
            if type_ is not None and not whole:
                raise NoSuchType(f"a slice is bounded by whole numbers, not by {type_}")
        if isinstance(node.step, ast.Constant) and node.step.value == 0:
            raise self.kernel.refuse(node, "a slice's step cannot be 0", "step by 1 or by -1")

    def tuple_element(self, node: ast.Subscript, owner: TupleType) -> Type:
        index = node.slice
        if isinstance(index, ast.Slice):
            return TupleType(owner.elements[constant_slice(index)])
        sign = 1
        if isinstance(index, ast.UnaryOp) and isinstance(index.op, ast.USub):
            index, sign = index.operand, -1
        value = self.program.meanings.get(index)
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
        if isinstance(owner, ArrayType):
            if node.attr == "shape":
                return TupleType((INT64,) * owner.ndim)
            if node.attr in ("size", "ndim"):
                return INT64
            if owner.dtype.fields and node.attr in owner.dtype.fields:
                return ArrayType(owner.dtype.fields[node.attr][0], owner.ndim, owner.space)
            raise self.kernel.refuse(
                node,
                f"the simulator does not know the array attribute .{node.attr}",
                "an array in a kernel has .shape, .size and .ndim",
            )
        if isinstance(owner, np.dtype) and owner.fields and node.attr in owner.fields:
            self.fields.add(node)
            return owner.fields[node.attr][0]
        if isinstance(owner, TupleType) and node.attr in owner.names:
            self.members[node] = owner.names.index(node.attr)
            return owner.elements[self.members[node]]
        if isinstance(owner, np.dtype) and node.attr in ("real", "imag") and owner != BOOL:
            return _component(owner)
        raise NoSuchType(f"{ast.unparse(node.value)} has no .{node.attr}")


def check_comparison(op: ast.cmpop, left: Type, right: Type) -> None:
    """Raises NoSuchType where Numba compares no such two values."""
    asks_equality = isinstance(op, ast.Eq | ast.NotEq | ast.Is | ast.IsNot)
    if asks_equality and (left is None or right is None):
        return
    if isinstance(op, ast.In | ast.NotIn):
        if isinstance(right, ArrayType | RangeType) and types.is_scalar(left):
            what = "a whole array" if isinstance(right, ArrayType) else "a range"
            raise NotSimulated(f"in for {what}", "write the loop, or compare with its bounds")
        elements = right.elements if isinstance(right, TupleType) else ()
        if not elements or not types.is_scalar(left) or len(set(elements)) > 1:
            raise NoSuchType("in takes a tuple of numbers of one type")
        return
    if isinstance(left, TupleType) and isinstance(right, TupleType):
        for one, other in zip(left.elements, right.elements, strict=False):
            check_comparison(op, one, other)
        return
    if not (isinstance(left, np.dtype) and isinstance(right, np.dtype)):
        raise NoSuchType("only numbers can be compared")
    if not asks_equality and "c" in (left.kind, right.kind):
        raise NoSuchType("complex numbers have no order")


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


def _parts(index: ast.expr) -> list[ast.expr]:
    return index.elts if isinstance(index, ast.Tuple) else [index]


def _component(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """The type of the real part of a number."""
    return np.dtype(f"float{4 * dtype.itemsize}") if dtype.kind == "c" else dtype
