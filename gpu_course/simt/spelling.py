"""One spelling for what has two: `a[i]["x"]` is `a[i].x`, `in [1, 2]` is `in (1, 2)`."""

from __future__ import annotations

import ast
import copy
from dataclasses import replace

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
