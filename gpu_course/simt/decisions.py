"""Which conditions of a kernel its compiler knows: constants, and whether an argument is None."""

from __future__ import annotations

import ast
import operator
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from gpu_course.simt.constants import LARGEST, NotConstant, cells, constant
from gpu_course.simt.source import Kernel, Unknown
from gpu_course.simt.types import MOST_VALUES, ArrayType, TupleType, Type
from gpu_course.simt.versions import Versions, find_versions

LITERAL: Any = "literal"
"""Stands for the type of an argument that is a number written at the call: it is never None."""

_UNDECIDED = object()
_NUMBER = bool | int | float | complex | np.generic
_COMPARE: dict[type[ast.cmpop], Callable[[Any, Any], Any]] = {
    ast.Eq: operator.eq, ast.NotEq: operator.ne, ast.Lt: operator.lt, ast.LtE: operator.le,
    ast.Gt: operator.gt, ast.GtE: operator.ge, ast.Is: operator.is_, ast.IsNot: operator.is_not,
    ast.In: lambda a, b: a in b, ast.NotIn: lambda a, b: a not in b,
}  # fmt: skip
_BINARY: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Mod: operator.mod,
    ast.FloorDiv: operator.floordiv, ast.Div: operator.truediv, ast.BitAnd: operator.and_,
    ast.BitOr: operator.or_, ast.BitXor: operator.xor,
}  # fmt: skip

Arguments = Mapping[str, Type]


def is_literal(node: ast.expr, kernel: Kernel, tree: ast.FunctionDef, versions: Versions) -> bool:
    """True for an argument that Numba knows as a number at the call: 3, a constant, k = 3."""
    value = Decisions(kernel, tree, {}, alone=False, versions=versions).constant(node)
    return isinstance(value, bool | int | str)


class Decisions:
    """Decides conditions of a function, where its constants do.

    Args:
        kernel: gives the names beside the function.
        tree: the function as it stands.
        arguments: what is known of its parameters.
        alone: a name counts where one assignment makes it in the whole function; in the second
            round, where one alone reaches the place.
    """

    def __init__(
        self,
        kernel: Kernel,
        tree: ast.FunctionDef,
        arguments: Arguments,
        *,
        alone: bool,
        versions: Versions | None = None,
    ) -> None:
        self.kernel = kernel
        self.tree = tree
        self.arguments = arguments
        self.versions = versions or find_versions(tree)
        self.definitions = _definitions(tree, self.versions)
        counts = Counter(_name(node) for node in self.versions.numbers)
        self.locals = frozenset(counts)
        self.single = {name for name, count in counts.items() if count == 1 or not alone}

    def test(self, node: ast.expr) -> tuple[bool | None, ast.expr | None]:
        """What a condition is known to be, and what of it must still be worked out."""
        raise NotImplementedError

    def decided(self, node: ast.expr) -> bool | None:
        match node:
            case ast.Name():
                made = self.definition(node)
                if isinstance(made, ast.Compare | ast.BinOp | ast.Name):
                    return self.decided(made)
            case ast.IfExp():
                taken, rest = self.test(node.test)
                if taken is None or rest is not None:
                    return None
                taken, rest = self.test(node.body if taken else node.orelse)
                return taken if rest is None else None
            case ast.Compare(ops=[op]):
                return self.compared(op, node.left, node.comparators[0])
            case ast.Compare():
                return self.chain(node)
            case ast.BinOp() if type(node.op) in _BINARY:
                left, right = self.constant(node.left), self.constant(node.right)
                if isinstance(left, _NUMBER) and isinstance(right, _NUMBER):
                    # Of numbers alone: "x" * 10 ** 12 would fill any memory.
                    return _truth(_BINARY[type(node.op)], left, right)
        value = self.constant(node)
        return None if value is _UNDECIDED else _truth(lambda a, _: a, value, None)

    def chain(self, node: ast.Compare) -> bool | None:
        """a < b < c: false where its first known part is."""
        left = node.left
        for op, right in zip(node.ops, node.comparators, strict=True):
            taken = self.compared(op, left, right)
            if not taken:
                return taken
            left = right
        return True

    def compared(self, op: ast.cmpop, left: ast.expr, right: ast.expr) -> bool | None:
        one, other = self.argument(left), self.argument(right)
        if one is None and other is None:
            a, b = self.constant(left), self.constant(right)
            if a is _UNDECIDED or b is _UNDECIDED:
                return None
            return _truth(_COMPARE[type(op)], a, b)
        sides = [
            self.constant(side) if parameter is None else self.nothing_or_not(parameter)
            for side, parameter in ((left, one), (right, other))
        ]
        # An argument is asked only whether it is None.
        if any(s is _UNDECIDED for s in sides) or all(s is not None for s in sides):
            return None
        return _truth(_COMPARE[type(op)], *sides)

    def nothing_or_not(self, parameter: str) -> Any:
        type_ = self.arguments.get(parameter, _UNDECIDED)
        return type_ if type_ is None or type_ is LITERAL else _UNDECIDED

    # Names

    def definition(self, node: ast.Name) -> ast.AST | None:
        """What makes a name here, where one thing alone does: an expression, or a parameter.

        `i = j` passes on what makes j; `i = i` in a loop passes on nothing.
        """
        made: ast.AST | None = node
        passed: set[ast.AST] = set()
        while isinstance(made, ast.Name) and made not in passed:
            passed.add(made)
            seen = self.versions.reaching.get(made, frozenset())
            if len(seen) != 1 or made.id not in self.single:
                return made if len(passed) > 1 else None
            made = self.definitions.get(next(iter(seen)))
        return made if made not in passed else None

    def argument(self, node: ast.expr) -> str | None:
        """The parameter that a name stands for."""
        made = self.definition(node) if isinstance(node, ast.Name) else None
        if isinstance(made, ast.arg):
            return made.arg
        return self.argument(made) if isinstance(made, ast.Name) else None

    def constant(self, node: ast.expr) -> Any:
        """The value of a constant; _UNDECIDED for what Numba does not look through."""
        match node:
            case ast.Constant():
                return _bounded(node.value)
            case ast.Name() if node.id in self.locals:
                made = self.definition(node)
                return self.constant(made) if isinstance(made, ast.expr) else _UNDECIDED
            case ast.Name():
                return _of_file(self.kernel, node.id)
            case ast.Attribute(attr="ndim"):
                type_ = self.arguments.get(self.argument(node.value) or "")
                return type_.ndim if isinstance(type_, ArrayType) else _UNDECIDED
            case ast.Call(func=ast.Name(id="len"), args=[owner]) if "len" not in self.locals:
                type_ = self.arguments.get(self.argument(owner) or "")
                return len(type_.elements) if isinstance(type_, TupleType) else _UNDECIDED
            case ast.UnaryOp() | ast.BinOp() if not any(
                isinstance(n, ast.Name | ast.Call | ast.Attribute) for n in ast.walk(node)
            ):
                try:
                    return constant(node, {})
                except NotConstant:
                    return _UNDECIDED
        return _UNDECIDED


def _of_file(kernel: Kernel, name: str) -> Any:
    try:
        value = kernel.scope(name)
    except KeyError:
        return _UNDECIDED
    if isinstance(value, Unknown):
        return value.text if value.text is not None else _UNDECIDED
    plain = value is None or isinstance(value, bool | int | float | complex | tuple | np.generic)
    return _bounded(value) if plain else _UNDECIDED


def _bounded(value: Any) -> Any:
    """The value of a constant; _UNDECIDED where deciding anything by it could take for ever."""
    if isinstance(value, int) and abs(value) >= LARGEST:
        return _UNDECIDED
    if isinstance(value, tuple) and cells(value, MOST_VALUES) > MOST_VALUES:
        return _UNDECIDED
    return value


def _definitions(tree: ast.FunctionDef, versions: Versions) -> dict[int, ast.AST]:
    """The number of an assignment -> the expression, or the parameter, that gives the value."""
    found: dict[int, ast.AST] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.arg) and node in versions.numbers:
            found[versions.numbers[node]] = node
        elif isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
            targets: Sequence[ast.expr] = (
                node.targets if isinstance(node, ast.Assign) else [node.target]
            )
            for target in targets:
                if isinstance(target, ast.Name) and target in versions.numbers:
                    found[versions.numbers[target]] = node.value
    return found


def _name(node: ast.AST) -> str:
    return node.arg if isinstance(node, ast.arg) else node.id  # type: ignore[attr-defined]


def _truth(function: Callable[[Any, Any], Any], a: Any, b: Any) -> bool | None:
    try:
        return bool(function(a, b))
    except Exception:  # Numba leaves such a branch to the types
        return None
