"""The types Numba would infer for expressions: one method or branch per kind of expression."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from gpu_course.errors import CourseError, KernelRefused
from gpu_course.simt import intrinsics, types
from gpu_course.simt.constants import NamedTuple, NotConstant, Symbol, as_dtype, constant
from gpu_course.simt.legality import Program, called_from
from gpu_course.simt.meanings import NOTHING
from gpu_course.simt.pruning import LITERAL, is_literal
from gpu_course.simt.signatures import Signature, best, show
from gpu_course.simt.source import Kernel
from gpu_course.simt.types import (
    BOOL,
    FLOAT64,
    INT32,
    INT64,
    ArrayType,
    FunctionType,
    GridType,
    NoSuchType,
    TupleType,
    Type,
)
from gpu_course.simt.vocabulary.allocate import SPACES, Request, is_allocation, request


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
        program: the program these types are of, less the branches they decide.
        parameters: the type of each parameter, to which its argument is cast.
        given: each call of a device function -> its arguments, default values included.
        members: a field of a named tuple -> its place.
        fields: a field of a structure in a cell that is read: a[i].x.
    """

    types: Mapping[str, Type]
    requests: Mapping[ast.Call, Request]
    static_shared_bytes: int = 0
    calls: Mapping[ast.Call, Inferred] = field(default_factory=dict)
    result: Type = None
    views: frozenset[ast.Subscript] = frozenset()
    reads: Mapping[ast.AST, Type] = field(default_factory=dict)
    program: Program | None = None
    parameters: tuple[Type, ...] = ()
    given: Mapping[ast.Call, Sequence[ast.expr]] = field(default_factory=dict)
    members: Mapping[ast.Attribute, int] = field(default_factory=dict)
    fields: frozenset[ast.Attribute] = frozenset()


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
    if value is None:
        return None
    raise NoSuchType(type(value).__name__)


class ExpressionTypes:
    """Finds the type of an expression, given those of the variables it reads."""

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
        self.given: dict[ast.Call, Sequence[ast.expr]] = {}
        self.members: dict[ast.Attribute, int] = {}
        self.fields: set[ast.Attribute] = set()
        self.changed = False
        self.pending: KernelRefused | None = None

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
                return intrinsics.VALUES[value.path].type
            raise NoSuchType(f"{value.path} must be called")
        if isinstance(value, np.ndarray):
            return ArrayType(value.dtype, value.ndim, "const")
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
        for bound in (node.lower, node.upper, node.step):
            type_ = None if bound is None else self.expression(bound)
            if type_ is not None:
                if not isinstance(type_, np.dtype) or type_.kind not in "iub":
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
        if isinstance(owner, np.dtype) and node.attr in ("real", "imag"):
            return _component(owner)
        raise NoSuchType(f"{ast.unparse(node.value)} has no .{node.attr}")

    def call(self, node: ast.Call) -> Type:
        symbol = self.program.meanings.get(node.func)
        if node.func in self.program.devices:
            return self.device_call(node, self.program.devices[node.func])
        if isinstance(symbol, NamedTuple):
            return self.named_tuple(node, symbol)
        if not isinstance(symbol, Symbol):
            return self.called_value(node)
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

    def called_value(self, node: ast.Call) -> Type:
        """A call of what an expression gives: a method, or a function held by a name."""
        called = node.func
        if isinstance(called, ast.Attribute):
            if called.attr == "sync" and not node.args:
                if self.expression(called.value) == GridType():
                    return INT32
        else:
            function = self.expression(called)
            if isinstance(function, FunctionType):
                program, device = self.program, function.function
                assert program.written is not None
                found = called_from(program.written, self.kernel, node, device, program.callers)
                return self.device_call(node, found)
        raise NoSuchType(f"{ast.unparse(called)} cannot be called")

    def named_tuple(self, node: ast.Call, made: NamedTuple) -> Type:
        parameters = dict.fromkeys(made.fields)
        self.given[node] = bound(self.kernel, node, made.name, parameters, {})
        return TupleType(tuple(map(self.expression, self.given[node])), made.fields)

    def infer_device(
        self, device: Program, arguments: Sequence[Type], known: Sequence[Type]
    ) -> Inferred:
        """Infers a device function; an inference that has statements knows how."""
        raise NotImplementedError

    def device_call(self, node: ast.Call, device: Program) -> Type:
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
        found = self.infer_device(device, arguments, known)
        if signature is not None:
            found = declared_result(device, found, signature)
        self.calls[node] = found
        return found.result

    def known_arguments(
        self, device: Program, given: Sequence[ast.expr], arguments: Sequence[Type]
    ) -> list[Type]:
        """The types by which a device function's branches are decided."""
        if not device.asks or device.kernel.declared:
            return list(arguments)
        program = self.program
        return [
            LITERAL
            if isinstance(type_, np.dtype)
            and is_literal(node, self.kernel, self.kernel.tree, program.versions)
            else type_
            for node, type_ in zip(given, arguments, strict=True)
        ]

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
        count = len(node.args) + len(node.keywords)
        raise kernel.refuse(
            node,
            f"{name} takes {len(parameters)} arguments ({', '.join(parameters)}), and this call "
            f"gives {f'{wrong[0]}=...' if wrong else count}",
            "pass one value per parameter, in order",
        )
    return [given[parameter] for parameter in parameters]


def declared_result(device: Program, found: Inferred, signature: Signature) -> Inferred:
    """What is known of a device function, with the result its signature declares.

    Raises:
        KernelRefused: what it returns cannot be converted to that.
    """
    try:
        return replace(found, result=signature.returns(found.result))
    except CourseError as error:
        fact = f"{device.kernel.name} {error}: Numba converts neither to the other"
        raise device.kernel.refuse(device.kernel.tree, fact, "declare what it returns") from None


def check_comparison(op: ast.cmpop, left: Type, right: Type) -> None:
    """Raises NoSuchType where Numba compares no such two values."""
    asks_equality = isinstance(op, ast.Eq | ast.NotEq | ast.Is | ast.IsNot)
    if asks_equality and (left is None or right is None):
        return
    if isinstance(op, ast.In | ast.NotIn):
        elements = right.elements if isinstance(right, TupleType) else ()
        if not elements or not types.is_scalar(left) or len(set(elements)) > 1:
            raise NoSuchType("in asks a tuple of numbers of one type")
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


class NotYet(Exception):
    """A name that is read before anything known assigns it."""

    def __init__(self, node: ast.Name) -> None:
        self.node = node
