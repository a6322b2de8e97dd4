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
from gpu_course.simt.decisions import LITERAL, Decisions, is_literal
from gpu_course.simt.inferred import Inferred, NotYet
from gpu_course.simt.legality import called_from
from gpu_course.simt.program import Program
from gpu_course.simt.refusals import method_refusal, ours
from gpu_course.simt.signatures import Signature, best, show
from gpu_course.simt.source import Kernel
from gpu_course.simt.types import (
    BOOL,
    INT32,
    ArrayType,
    FunctionType,
    GridType,
    NoSuchType,
    NotSimulated,
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
                raise self.kernel.refuse(node, method_refusal(called.attr), "write the loop")
            if called.attr in ("conjugate", "bit_count") and not node.args:
                owner = self.expression(called.value)
                if called.attr == "conjugate" and types.is_scalar(owner) and owner != BOOL:
                    return owner
                if called.attr == "bit_count" and isinstance(owner, np.dtype):
                    raise NotSimulated("the method .bit_count", "use cuda.popc")
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
        known = self.program.meanings.get(name)
        if known is not None or not isinstance(name, ast.Name):
            return known
        tree, versions = self.kernel.tree, self.program.versions
        made = Decisions(self.kernel, tree, {}, alone=False, versions=versions).definition(name)
        if isinstance(made, ast.Constant):
            return made.value
        if isinstance(made, ast.Tuple):
            return tuple(
                e.value if isinstance(e, ast.Constant) else self.look_up(e) for e in made.elts
            )
        return self.program.meanings.get(made) if isinstance(made, ast.Name) else None

    def dtype_at(self, node: ast.expr) -> np.dtype[Any] | None:
        """The dtype of an array, for `dtype=a.dtype`; None for any other expression."""
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
