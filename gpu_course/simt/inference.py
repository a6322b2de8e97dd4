"""The types Numba would infer: one per variable, unified over all its assignments."""

from __future__ import annotations

import ast
import functools
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from gpu_course.simt import types
from gpu_course.simt.effort import CHECKING, MOST_TYPING_STEPS
from gpu_course.simt.expression_types import ExpressionTypes
from gpu_course.simt.inferred import Inferred, NotYet, of_value
from gpu_course.simt.legality import specialised
from gpu_course.simt.program import Program
from gpu_course.simt.refusals import ours
from gpu_course.simt.types import (
    INT64,
    ArrayType,
    NoSuchType,
    NotSimulated,
    RangeType,
    TooLarge,
    TupleType,
    Type,
)
from gpu_course.simt.vocabulary.allocate import is_allocation, lay_out

__all__ = ["Inferred", "infer", "of_value"]

MAX_ROUNDS = 20
MOST_DEEP = 50


class Found(dict[tuple[ast.FunctionDef, tuple[Type, ...], tuple[Type, ...]], Inferred]):
    """What is known of device functions, by the types they are called with.

    Attributes:
        left: the steps that may still go into finding types.
    """

    left = MOST_TYPING_STEPS


def infer(
    program: Program,
    arguments: Sequence[Type],
    known: Sequence[Type] | None = None,
    depth: int = 0,
    found: Found | None = None,
) -> Inferred:
    """Returns the type of every variable of a kernel, and the arrays it makes for itself.

    A reading that may see an int from one assignment and a float32 from another gets a float64, as
    in Numba. Types only widen, so a few rounds over the body settle them.

    Args:
        program: the kernel, past the static pass.
        arguments: the types of its parameters, in order.
        known: the same for what decides branches: decisions.LITERAL for a number at the call.
        depth: how many calls of device functions lie above.
        found: what is known already of the functions it calls.

    Raises:
        KernelRefused: a line whose types no operator or variable can join.
    """
    if depth == 0 and known is None:
        return _infer_kernel(program, tuple(arguments))
    return _Inference(specialised(program, known or arguments), arguments, depth, found).run()


@functools.lru_cache(maxsize=256)
def _infer_kernel(program: Program, arguments: tuple[Type, ...]) -> Inferred:
    return _Inference(specialised(program, arguments), arguments).run()


class _Inference(ExpressionTypes):
    def __init__(
        self,
        program: Program,
        arguments: Sequence[Type],
        depth: int = 0,
        found: Found | None = None,
    ) -> None:
        super().__init__(program, arguments)
        self.parameters = tuple(arguments)
        self.depth = depth
        self.found = Found() if found is None else found

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
            self.program,
            self.parameters,
            self.given,
            self.members,
            frozenset(self.fields),
            self.expressions,
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
                f"{self.kernel.name} and what it calls take more than {MOST_TYPING_STEPS:,} steps "
                "to find their types, the simulator's limit",
                "call each function with few kinds of arguments, and write fewer of them",
            )

    # Statements

    def block(self, body: Sequence[ast.stmt]) -> None:
        for statement in body:
            if statement not in self.program.versions.reached:
                break  # behind a return, a break or a continue
            self.spend(self.program.efforts[statement])
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
                    self.expression(node.value)

    def assign(self, target: ast.expr, value: Type) -> None:
        if isinstance(target, ast.Name):
            if isinstance(value, np.dtype) and value.fields:
                what = "a name for a whole structure"
                raise NotSimulated(
                    what, f"read the fields one by one, such as a[i].{_first(value)}"
                )
            version = self.program.assigned(target)
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
            if isinstance(stored, ArrayType) and types.is_scalar(value):
                fact = ours("a store of one number to many cells")
                raise self.kernel.refuse(target, fact, "write the loop")
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
        whole = self.expression(target.value.value)
        if isinstance(whole, ArrayType) and whole.space == "const":
            raise NoSuchType("constant memory cannot be changed")
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
            if node.func.id == "enumerate" and len(node.args) == 1:
                return TupleType((INT64, self.item(node.args[0])))
            if node.func.id == "zip" and node.args:
                return TupleType(tuple(self.item(a) for a in node.args))
        iterated = self.expression(node)
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
            one = iterated.ndim == 1
            return iterated.dtype if one else replace(iterated, ndim=iterated.ndim - 1)
        raise NoSuchType(f"a loop over {iterated}")

    def infer_device(
        self, device: Program, arguments: Sequence[Type], known: Sequence[Type]
    ) -> Inferred:
        if self.depth > MOST_DEEP:
            fact = f"more than {MOST_DEEP} functions call each other here, one inside the other"
            raise self.kernel.refuse(self.kernel.tree, fact, "write a loop")
        # Numba compiles a function once for the types it is called with, and so is it read here.
        key = (device.kernel.tree, tuple(arguments), tuple(known))
        if key not in self.found:
            self.spend(CHECKING * sum(device.efforts.values()))
            self.found[key] = infer(device, arguments, known, self.depth + 1, self.found)
        return self.found[key]


def _first(structure: np.dtype[Any]) -> str:
    assert structure.names is not None
    return structure.names[0]
