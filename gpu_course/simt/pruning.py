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
from collections.abc import Sequence
from typing import Any

from gpu_course.simt.decisions import Arguments, Decisions
from gpu_course.simt.source import Kernel


def prune(kernel: Kernel, arguments: Arguments) -> ast.FunctionDef:
    """Returns the function without its dead branches; the same tree where nothing is dead.

    Args:
        kernel: the function as it is written.
        arguments: parameter -> its type, or LITERAL, where they are known.
    """
    first = _Pruner(kernel, kernel.tree, arguments, alone=True)
    tree = first.pruned()
    known = first.versions if tree is kernel.tree else None
    return _Pruner(kernel, tree, arguments, alone=False, versions=known).pruned()


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


class _Pruner(Decisions):
    """One round over a function."""

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
