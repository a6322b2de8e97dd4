"""A syntax tree in which one node is exchanged, and how a statement is called."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
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


class Places:
    """Where each node of a tree stands, so that one can be exchanged without a look at the others.

    Args:
        tree: as it is from now on, whenever nothing is exchanged.
    """

    def __init__(self, tree: ast.AST) -> None:
        self._holders: dict[int, list[tuple[ast.AST, str]]] = {}
        for holder in ast.walk(tree):
            for name, value in ast.iter_fields(holder):
                for each in value if isinstance(value, list) else [value]:
                    if isinstance(each, ast.AST):
                        self._holders.setdefault(id(each), []).append((holder, name))

    @contextmanager
    def exchanged(self, node: ast.AST, new: Nodes) -> Iterator[None]:
        """Has `new` stand where `node` stood, inside the context; afterwards all is as before.

        A block that loses its last statement becomes `pass`.

        >>> tree = ast.parse("x = a + b")
        >>> places = Places(tree)
        >>> with places.exchanged(tree.body[0].value.right, ast.Constant(2)):
        ...     ast.unparse(tree)
        'x = a + 2'
        >>> with places.exchanged(tree.body[0], []):
        ...     ast.unparse(tree)
        'pass'
        >>> ast.unparse(tree)
        'x = a + b'
        """
        for each in [new] if isinstance(new, ast.AST) else new:
            ast.fix_missing_locations(each)
        before = [(holder, name, getattr(holder, name)) for holder, name in self._holders[id(node)]]
        for holder, name, value in before:
            setattr(holder, name, _with(name, value, node, new))
        try:
            yield
        finally:
            for holder, name, value in before:
                setattr(holder, name, value)


def _with(name: str, value: object, node: ast.AST, new: Nodes) -> object:
    """A field that holds a node, with `new` in its place."""
    if not isinstance(value, list):
        return new
    made: list[object] = []
    for item in value:
        if item is node:
            made += [new] if isinstance(new, ast.AST) else list(new)
        else:
            made.append(item)
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
