"""One spelling for what has two: `a[i]["x"]` is `a[i].x`."""

from __future__ import annotations

import ast
import copy
from dataclasses import replace

from gpu_course.simt.source import Kernel


def respelled(kernel: Kernel) -> Kernel:
    """Returns the kernel with the fields of structures written as attributes."""
    if not any(_is_field(node) for node in ast.walk(kernel.tree)):
        return kernel
    return replace(kernel, tree=_Fields().visit(copy.deepcopy(kernel.tree)))


def _is_field(node: ast.AST) -> bool:
    if not isinstance(node, ast.Subscript) or not isinstance(node.slice, ast.Constant):
        return False
    return isinstance(node.slice.value, str) and node.slice.value.isidentifier()


class _Fields(ast.NodeTransformer):
    def visit_Subscript(self, node: ast.Subscript) -> ast.expr:
        self.generic_visit(node)
        if not _is_field(node):
            return node
        name = ast.literal_eval(node.slice)
        return ast.copy_location(ast.Attribute(node.value, name, node.ctx), node)
