"""The types of calls: intrinsics, device functions, functions held by names, arrays of a kernel."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from gpu_course.errors import CourseError
from gpu_course.simt import intrinsics, types
from gpu_course.simt.constants import NamedTuple, Symbol, as_dtype
from gpu_course.simt.decisions import LITERAL, is_literal
from gpu_course.simt.inferred import Inferred, NotYet
from gpu_course.simt.legality import called_from
from gpu_course.simt.program import Program
from gpu_course.simt.signatures import Signature, best, show
from gpu_course.simt.source import Kernel
from gpu_course.simt.types import (
    INT32,
    ArrayType,
    FunctionType,
    GridType,
    NoSuchType,
    TupleType,
    Type,
)
from gpu_course.simt.vocabulary.allocate import SPACES, Request, is_allocation, request


class CallTypes:
    """Finds the type of a call, given those of its arguments."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.kernel = program.kernel
        self.requests: dict[ast.Call, Request] = {}
        self.calls: dict[ast.Call, Inferred] = {}
        self.given: dict[ast.Call, Sequence[ast.expr]] = {}

    def expression(self, node: ast.expr) -> Type:
        """Finds the type of an expression; one that knows all of them knows how."""
        raise NotImplementedError

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
            sync = called.attr == "sync" and not node.args
            if sync and self.expression(called.value) == GridType():
                return INT32
            if self.is_array(called.value):
                fact = f"the simulator does not know the array method .{called.attr}"
                raise self.kernel.refuse(node, fact, "write the loop")
        else:
            function = self.expression(called)
            if isinstance(function, FunctionType):
                program, device = self.program, function.function
                assert program.written is not None
                found = called_from(
                    program.written, self.kernel, node, device, program.callers, program.checked
                )
                return self.device_call(node, found)
        raise NoSuchType(f"{ast.unparse(called)} cannot be called")

    def is_array(self, node: ast.expr) -> bool:
        try:
            return isinstance(self.expression(node), ArrayType)
        except NotYet:
            return False

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
