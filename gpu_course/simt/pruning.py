"""A kernel without the branches that its compiler leaves out: those that ask about constants only.

Numba decides, before it gives types, each branch whose condition is a constant of the file, a
comparison of two such constants, or a question whether an argument is None; the branch not taken is
never typed. So are statements after a `return`. What is looked through is as there:
`if FLAG`, `if not FLAG`, `if N == 2`, `if FLAG and x > 0`, `f = FLAG` followed by `if f`, `a.ndim`
and `len(t)` of arguments; but no arithmetic on both sides of a comparison, and no member of a
tuple.

Source: Numba, "numba/core/analysis.py" (dead_branch_prune, rewrite_semantic_constants), which runs
once before the assignments of a name are told apart and once after; compared with it in the tests.
"""

from __future__ import annotations

import ast
import copy
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
    """Decides conditions of a function where its constants do, and leaves out what is dead.

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

    # One round over the function

    def pruned(self) -> ast.FunctionDef:
        body = self.block(self.tree.body)
        if body is self.tree.body:
            return self.tree
        return _with(self.tree, body=body or [ast.copy_location(ast.Pass(), self.tree)])

    # Statements

    def block(self, body: list[ast.stmt]) -> list[ast.stmt]:
        found: list[ast.stmt] = []
        for statement in body:
            found += self.statement(statement)
            if found and _ends(found[-1]):
                break
        same = len(found) == len(body) and all(a is b for a, b in zip(found, body, strict=True))
        return body if same else found

    def statement(self, node: ast.stmt) -> list[ast.stmt]:
        match node:
            case ast.If():
                taken, test = self.test(node.test)
                if taken is None:
                    bodies = {"body": self.block(node.body), "orelse": self.block(node.orelse)}
                    return [_with(node, test=test, **bodies)]
                asked = [] if test is None else [ast.copy_location(ast.Expr(test), node)]
                return [*asked, *self.block(node.body if taken else node.orelse)]
            case ast.While():
                taken, test = self.test(node.test)
                if taken is False and test is None:
                    return self.block(node.orelse)
                if taken and test is None:
                    test = _always(node.test)
                elif taken is not None:
                    test = node.test
                bodies = {"body": self.block(node.body), "orelse": self.block(node.orelse)}
                return [_with(node, test=test, **bodies)]
            case ast.For():
                bodies = {"body": self.block(node.body), "orelse": self.block(node.orelse)}
                return [_with(node, iter=self.expression(node.iter), **bodies)]
            case ast.Assert():
                taken, test = self.test(node.test)
                if taken and test is None:
                    return []
                if taken is False and test is None:
                    test = ast.copy_location(ast.Constant(value=False), node.test)
                return [_with(node, test=node.test if test is None else test)]
            case ast.FunctionDef() | ast.ClassDef() | ast.Try() | ast.With() | ast.Match():
                return [node]
        return [self.parts(node)]

    def parts(self, node: Any) -> Any:
        """The node with its expressions pruned."""
        changed: dict[str, Any] = {}
        for name, value in ast.iter_fields(node):
            if isinstance(value, ast.expr):
                changed[name] = self.expression(value)
            elif isinstance(value, list) and any(isinstance(v, ast.expr) for v in value):
                each = [self.expression(v) if isinstance(v, ast.expr) else v for v in value]
                if any(a is not b for a, b in zip(each, value, strict=True)):
                    changed[name] = each
        return _with(node, **changed)

    # Expressions

    def expression(self, node: ast.expr) -> ast.expr:
        if isinstance(node, ast.IfExp):
            taken, test = self.test(node.test)
            if taken is not None and test is None:
                return self.expression(node.body if taken else node.orelse)
        elif isinstance(node, ast.BoolOp):
            return self.last_asked(node)
        elif isinstance(node, ast.Lambda | ast.Constant | ast.Name):
            return node
        return self.parts(node)  # type: ignore[no-any-return]

    def last_asked(self, node: ast.BoolOp) -> ast.expr:
        """`a and b` as a value: constants in front decide what it is."""
        goes_on = isinstance(node.op, ast.And)
        values: list[ast.expr] = []
        for part in node.values[:-1]:
            taken, test = self.test(part)
            if taken is None or test is not None:
                values.append(self.expression(part))
            elif taken is not goes_on:
                values.append(part)
                break
        else:
            values.append(self.expression(node.values[-1]))
        return _joined(node, values)

    def test(self, node: ast.expr) -> tuple[bool | None, ast.expr | None]:
        """What a condition is known to be, and what of it must still be worked out."""
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            taken, rest = self.test(node.operand)
            if taken is None:
                assert rest is not None
                return None, _with(node, operand=rest)
            return not taken, rest
        if isinstance(node, ast.BoolOp):
            stops = isinstance(node.op, ast.Or)
            values: list[ast.expr] = []
            for part in node.values:
                taken, rest = self.test(part)
                if taken is stops:
                    return stops, _joined(node, values) if values else None
                if rest is not None:
                    values.append(part if taken is not None else rest)
            return (None, _joined(node, values)) if values else (not stops, None)
        known = self.decided(node)
        return (None, self.expression(node)) if known is None else (known, None)


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


def prune(kernel: Kernel, arguments: Arguments) -> ast.FunctionDef:
    """Returns the function without its dead branches; the same tree where nothing is dead.

    Args:
        kernel: the function as it is written.
        arguments: parameter -> its type, or LITERAL, where they are known.
    """
    first = Decisions(kernel, kernel.tree, arguments, alone=True)
    tree = first.pruned()
    known = first.versions if tree is kernel.tree else None
    return Decisions(kernel, tree, arguments, alone=False, versions=known).pruned()


def asks_about_arguments(tree: ast.FunctionDef, *, device: bool) -> bool:
    """True when the types of the arguments may decide a branch of a function.

    An argument of a device function may be None; those of a kernel are numbers and arrays.
    """
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and node.attr == "ndim":
            return True
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "len":
            return True
        if (
            device
            and isinstance(node, ast.Compare)
            and any(isinstance(op, ast.Is | ast.IsNot | ast.Eq | ast.NotEq) for op in node.ops)
        ):
            return True
    return False


def _always(test: ast.expr) -> ast.expr:
    """A loop's test that is always true; messages show it as it is written."""
    if isinstance(test, ast.Constant):
        return test
    found = ast.copy_location(ast.Constant(value=True), test)
    found.written = test  # type: ignore[attr-defined]
    return found


def _joined(node: ast.BoolOp, values: list[ast.expr]) -> ast.expr:
    if len(values) == 1:
        return values[0]
    same = len(values) == len(node.values) and all(
        a is b for a, b in zip(values, node.values, strict=True)
    )
    return node if same else _with(node, values=values)


def _with(node: Any, **changes: Any) -> Any:
    """The node, or a copy of it where something changes."""
    changes = {name: new for name, new in changes.items() if getattr(node, name) is not new}
    if not changes:
        return node
    found = copy.copy(node)
    for name, new in changes.items():
        setattr(found, name, new)
    return found


def _ends(node: ast.stmt) -> bool:
    """True when nothing after the statement is ever reached."""
    match node:
        case ast.Return() | ast.Break() | ast.Continue():
            return True
        case ast.Assert(test=ast.Constant(value=False)):
            return True
        case ast.If():
            both = node.body and node.orelse
            return bool(both and _ends(node.body[-1]) and _ends(node.orelse[-1]))
        case ast.While(test=ast.Constant(value=value)) if value:
            return not _breaks(node.body)
    return False


def _breaks(body: Sequence[ast.stmt]) -> bool:
    """True when a `break` among the statements ends the loop around them."""
    for node in body:
        if isinstance(node, ast.Break):
            return True
        if isinstance(node, ast.If) and (_breaks(node.body) or _breaks(node.orelse)):
            return True
        if isinstance(node, ast.For | ast.While) and _breaks(node.orelse):
            return True
    return False
