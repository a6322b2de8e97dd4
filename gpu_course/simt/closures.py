"""A kernel in the one form that all later passes know.

Functions and lambdas defined inside it become device functions beside it; Numba puts their bodies
where they are called. What such a function reads of the kernel around it becomes parameters in
front of its own, and each call hands these over as they are at the call. And what has two spellings
gets one: `a[i]["x"]` is `a[i].x`, `in [1, 2]` is `in (1, 2)`.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from gpu_course.simt.source import Kernel


def respelled(kernel: Kernel) -> Kernel:
    """Returns the kernel with fields written as attributes, and lists as tuples where Numba may."""
    if not any(_is_field(node) or _lists_in(node) for node in ast.walk(kernel.tree)):
        return kernel
    return replace(kernel, tree=_Respelled().visit(copy.deepcopy(kernel.tree)))


def _is_field(node: ast.AST) -> bool:
    if not isinstance(node, ast.Subscript) or not isinstance(node.slice, ast.Constant):
        return False
    return isinstance(node.slice.value, str) and node.slice.value.isidentifier()


def _lists_in(node: ast.AST) -> list[ast.List]:
    """The lists that Numba compiles as tuples: of a loop, and of `in`."""
    if isinstance(node, ast.For):
        return [node.iter] if isinstance(node.iter, ast.List) else []
    if not isinstance(node, ast.Compare):
        return []
    asked = zip(node.ops, node.comparators, strict=True)
    return [c for op, c in asked if isinstance(op, ast.In | ast.NotIn) and isinstance(c, ast.List)]


class _Respelled(ast.NodeTransformer):
    def visit_Subscript(self, node: ast.Subscript) -> ast.expr:
        self.generic_visit(node)
        if not _is_field(node):
            return node
        name = ast.literal_eval(node.slice)
        return ast.copy_location(ast.Attribute(node.value, name, node.ctx), node)

    def visit_For(self, node: ast.For) -> ast.stmt:
        self.generic_visit(node)
        if _lists_in(node):
            node.iter = _as_tuple(node.iter)
        return node

    def visit_Compare(self, node: ast.Compare) -> ast.expr:
        self.generic_visit(node)
        lists = _lists_in(node)
        node.comparators = [_as_tuple(c) if c in lists else c for c in node.comparators]
        return node


def _as_tuple(node: ast.expr) -> ast.expr:
    assert isinstance(node, ast.List)
    return ast.copy_location(ast.Tuple(node.elts, ast.Load()), node)


_Defined = ast.FunctionDef | ast.Lambda


@dataclass(frozen=True)
class _Function:
    kernel: Kernel
    captured: tuple[str, ...]


def lift(kernel: Kernel) -> Kernel:
    """Returns the kernel with its inner functions as device functions of its scope.

    Raises:
        KernelRefused: a name that stands for two inner functions, or one handed on as a value
            although it reads variables of the kernel.
    """
    inside = [n for statement in kernel.tree.body for n in ast.walk(statement)]
    if not any(isinstance(n, _Defined) for n in inside):
        return kernel
    tree = copy.deepcopy(kernel.tree)
    lifter = _Lifter(kernel, tree)
    tree.body = [lifter.visit(statement) for statement in tree.body]
    return replace(kernel, tree=tree, scope=lifter.scope)


class _Calls(ast.NodeTransformer):
    """Lets each call of an inner function hand over what that function reads."""

    def __init__(self, kernel: Kernel, functions: dict[str, _Function]) -> None:
        self.kernel = kernel
        self.functions = functions

    def visit_Call(self, node: ast.Call) -> ast.expr:
        handed: list[ast.expr] = []
        if isinstance(node.func, ast.Name) and node.func.id in self.functions:
            captured = self.functions[node.func.id].captured
            handed = [ast.copy_location(ast.Name(n, ast.Load()), node) for n in captured]
        else:
            node.func = self.visit(node.func)
        node.args = [*handed, *map(self.visit, node.args)]
        node.keywords = [self.visit(k) for k in node.keywords]
        return node

    def visit_Name(self, node: ast.Name) -> ast.expr:
        known = self.functions.get(node.id)
        if known and known.captured and isinstance(node.ctx, ast.Load):
            raise self.kernel.refuse(
                node,
                f"{known.kernel.name} reads {known.captured[0]} of the kernel around it, and is "
                "used as a value: Numba can only call it",
                "hand over what it reads as an argument",
            )
        return node


class _Lifter(_Calls):
    def __init__(self, kernel: Kernel, tree: ast.FunctionDef) -> None:
        super().__init__(kernel, {})
        self.variables = set(kernel.parameters) | set(_stored(tree.body))

    def scope(self, name: str) -> Any:
        if name in self.functions:
            return self.functions[name].kernel
        return self.kernel.scope(name)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.stmt:
        if node.decorator_list:
            raise self.kernel.refuse(node, f"{node.name} is decorated inside a kernel")
        self.define(node.name, node, node.args, node.body)
        return ast.copy_location(ast.Pass(), node)

    def visit_Assign(self, node: ast.Assign) -> ast.stmt:
        target = node.targets[0]
        if isinstance(node.value, ast.Lambda) and isinstance(target, ast.Name):
            if len(node.targets) > 1 or _stored_twice(self.kernel, target.id):
                fact = f"{target.id} is a lambda, and something else as well"
                raise self.kernel.refuse(node, fact, "give the lambda a name of its own")
            self.variables.discard(target.id)
            self.define(target.id, node.value, node.value.args, _returns(node.value))
            return ast.copy_location(ast.Pass(), node)
        self.generic_visit(node)
        return node

    def visit_Lambda(self, node: ast.Lambda) -> ast.expr:
        return self.visit_Name(self.named(node))

    def visit_Call(self, node: ast.Call) -> ast.expr:
        if isinstance(node.func, ast.Lambda):
            node.func = self.named(node.func)
        return super().visit_Call(node)

    def named(self, node: ast.Lambda) -> ast.Name:
        """A lambda where it is used: it gets a name that no other has."""
        name = f"<lambda {node.lineno}:{node.col_offset}>"
        self.define(name, node, node.args, _returns(node))
        return ast.copy_location(ast.Name(name, ast.Load()), node)

    def define(self, name: str, node: _Defined, args: ast.arguments, body: list[ast.stmt]) -> None:
        if name in self.functions:
            fact = f"{name} is defined twice inside this kernel: Numba cannot tell which is called"
            raise self.kernel.refuse(node, fact, "give the two functions names of their own")
        own = {a.arg for inner in ast.walk(node) for a in _parameters(inner)} | set(_stored(body))
        free = [n.id for n in ast.walk(node) if isinstance(n, ast.Name) and n.id not in own]
        captured: dict[str, None] = {}
        for read in free:
            if read in self.functions:
                captured |= dict.fromkeys(self.functions[read].captured)
            elif read in self.variables and read != name:
                captured[read] = None
        before = [ast.copy_location(ast.arg(variable), node) for variable in captured]
        calls = _Calls(self.kernel, dict(self.functions))
        written = ast.FunctionDef(
            name=name,
            args=_with_parameters(args, before),
            body=[calls.visit(statement) for statement in body],
            decorator_list=[],
        )
        tree = ast.copy_location(written, node)
        inner = replace(self.kernel, name=_shown(name), tree=tree, scope=self.scope, declared=())
        self.functions[name] = _Function(replace(inner, decorated=True), tuple(captured))


def _returns(node: ast.Lambda) -> list[ast.stmt]:
    return [ast.copy_location(ast.Return(node.body), node.body)]


def _shown(name: str) -> str:
    return "lambda" if name.startswith("<") else name


def _parameters(node: ast.AST) -> list[ast.arg]:
    return node.args.args if isinstance(node, _Defined) else []


def _with_parameters(args: ast.arguments, before: list[ast.arg]) -> ast.arguments:
    found = copy.copy(args)
    found.args = [*before, *args.args]
    return found


def _stored(body: list[ast.stmt]) -> Iterator[str]:
    """The names assigned among statements, those inside inner functions left out."""
    waiting: list[ast.AST] = list(body)
    while waiting:
        node = waiting.pop()
        if isinstance(node, _Defined):
            continue
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
        waiting += ast.iter_child_nodes(node)


def _stored_twice(kernel: Kernel, name: str) -> bool:
    return list(_stored(kernel.tree.body)).count(name) > 1
