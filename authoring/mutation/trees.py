"""A syntax tree with one node exchanged, and how a statement is called."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

Nodes = ast.AST | Sequence[ast.AST]


@dataclass(frozen=True, eq=False)
class Edit:
    """One small change: a node of a tree, and what stands in its place.

    Attributes:
        kind: what sort of change it is, such as "guard-dropped".
        node: a statement or an expression of the tree.
        new: the node, or the statements, in its place.
        text: how the change is called; "" for the changed statement's first line.
        also_dropped: a statement that the change takes away elsewhere, or None.
    """

    kind: str
    node: ast.AST
    new: Nodes
    text: str = ""
    also_dropped: ast.stmt | None = None


def exchanged(tree: ast.AST, node: ast.AST, new: Nodes) -> ast.AST:
    """Returns a tree with `new` where `node` was; the tree itself stays as it is.

    What does not hold the node is the same in both trees. A block that loses its last statement
    becomes `pass`.

    >>> tree = ast.parse("x = a + b")
    >>> ast.unparse(exchanged(tree, tree.body[0].value.right, ast.Constant(2)))
    'x = a + 2'
    >>> ast.unparse(exchanged(tree, tree.body[0], []))
    'pass'
    """
    fields = {name: _field(name, value, node, new) for name, value in ast.iter_fields(tree)}
    if all(made is getattr(tree, name) for name, made in fields.items()):
        return tree
    return ast.copy_location(type(tree)(**fields), tree)


def _field(name: str, value: object, node: ast.AST, new: Nodes) -> object:
    if isinstance(value, ast.AST):
        return new if value is node else exchanged(value, node, new)
    if not isinstance(value, list):
        return value
    made: list[object] = []
    for item in value:
        if item is node:
            made += [new] if isinstance(new, ast.AST) else list(new)
        else:
            made.append(exchanged(item, node, new) if isinstance(item, ast.AST) else item)
    if len(made) == len(value) and all(a is b for a, b in zip(made, value, strict=True)):
        return value
    return made or ([ast.Pass()] if name in ("body", "finalbody") else [])


def statements(function: ast.AST) -> Iterator[tuple[ast.stmt, list[ast.stmt]]]:
    """Yields (statement, the block it stands in) of a function, from top to bottom."""
    for _, block in ast.iter_fields(function):
        if isinstance(block, list) and block and isinstance(block[0], ast.stmt):
            for statement in block:
                yield statement, block
                yield from statements(statement)


def first_line(statement: ast.AST) -> str:
    """Returns the first line of a statement, however long the block under it.

    >>> first_line(ast.parse("if i < size:\\n    out[i] = 1").body[0])
    'if i < size:'
    """
    if isinstance(statement, ast.If | ast.While | ast.For | ast.With):
        # The block is left out before the text is made: only the header is asked for.
        fields = {name: getattr(statement, name) for name in statement._fields}
        header = type(statement)(**fields | {"body": [ast.Pass()], "orelse": []})
        ast.copy_location(header, statement)
        return ast.unparse(header).partition("\n")[0]
    return ast.unparse(statement).partition("\n")[0]


def is_docstring(statement: ast.stmt) -> bool:
    """True for text that stands alone as a statement."""
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)


def dotted(node: ast.AST) -> str:
    """Returns a dotted name as text, or "" for anything else.

    >>> dotted(ast.parse("cuda.atomic.add").body[0].value)
    'cuda.atomic.add'
    """
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        owner = dotted(node.value)
        return f"{owner}.{node.attr}" if owner else ""
    return ""
