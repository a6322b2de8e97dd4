"""Where a kernel stores: what it may write to, and what a variable only carries to a store."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from typing import Any

from gpu_course.simt.constants import Symbol
from gpu_course.simt.source import Kernel
from gpu_course.simt.versions import Versions
from gpu_course.simt.vocabulary.allocate import is_allocation


def passed_on(body: list[ast.AST], versions: Versions) -> dict[ast.AST, list[ast.expr]]:
    """Returns the values that a variable only carries to stores, and the cells they end in.

    In `x = a + b` and then `out[i] = x`, that is a + b -> [out[i]], where nothing else reads x.
    """
    stores: dict[ast.AST, ast.expr] = {
        node.value: node.targets[0]
        for node in body
        if isinstance(node, ast.Assign) and len(node.targets) == 1
    }
    readers_of: dict[int, list[ast.AST]] = {}
    for node, seen in versions.reaching.items():
        for number in seen:
            readers_of.setdefault(number, []).append(node)
    found: dict[ast.AST, list[ast.expr]] = {}
    for value, target in stores.items():
        readers = readers_of.get(versions.numbers.get(target, -1), [])
        cells = [
            stores[n]
            for n in readers
            if len(versions.reaching[n]) == 1 and isinstance(stores.get(n), ast.Subscript)
        ]
        if readers and len(cells) == len(readers):
            found[value] = cells
    return found


def stored_parameters(
    kernel: Kernel, body: list[ast.AST], meanings: Mapping[ast.AST, Any]
) -> frozenset[str]:
    """Returns the parameters the kernel may write to; all, once a store goes through another name.

    Args:
        kernel: the kernel.
        body: every node of its body.
        meanings: node -> what a name stands for.
    """
    parameters = frozenset(kernel.parameters)
    own = {
        target.id
        for node in body
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call)
        for target in node.targets
        if isinstance(target, ast.Name) and is_allocation(meanings.get(node.value.func))
    }
    found = set()
    for node in body:
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            node = node.value  # a field of a[i]
            if not isinstance(node, ast.Subscript):
                return parameters
            store = True
        else:
            store = isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store)
        if store and isinstance(node, ast.Subscript):
            name = node.value.id if isinstance(node.value, ast.Name) else ""
            if name not in parameters | own:
                return parameters
            found.add(name)
        if isinstance(node, ast.Call):
            symbol = meanings.get(node.func)
            if isinstance(symbol, Symbol) and symbol.path.startswith("cuda.atomic."):
                name = node.args[0].id if node.args and isinstance(node.args[0], ast.Name) else ""
                if name not in parameters | own:
                    return parameters
                found.add(name)
    rebound = any(
        isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store) and n.id in parameters
        for n in body
    )
    return parameters if rebound else frozenset(found) & parameters
