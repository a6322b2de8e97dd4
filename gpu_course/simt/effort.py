"""How much work a statement is: what a step budget counts, and what is too much for one kernel."""

from __future__ import annotations

import ast
from collections.abc import Iterator

EXPRESSIONS_PER_STEP = 16
WEIGHTS: dict[type[ast.AST], int] = {ast.Slice: 16, ast.Call: 4}
"""What an expression of a kind counts for; 1 unless it is here."""
STEPS_OF_ACCESSES = {"load": 0, "store": 2, "atomic": 8}
"""What an access counts for beside its statement: every observer looks at each of its lanes."""
MOST_NODES = 20_000
MOST_STEPS_CALLED = 20_000
MOST_CALLS_DEEP = 32
MOST_TYPING_STEPS = 100_000
CHECKING = 4
"""A version of a function is checked before its types are found, at so many times its steps."""


def efforts(tree: ast.FunctionDef) -> dict[ast.stmt, int]:
    """Returns the steps that each statement of a function costs: 1 for an ordinary one.

    A line of ten thousand terms is no one step: without this it would run for hours inside the
    budget of a loop that never ends.

    >>> tree = ast.parse("def f(x):\\n    x = 1\\n    x = " + " + ".join(["x"] * 100)).body[0]
    >>> list(efforts(tree).values())
    [1, 13]
    """
    return {
        node: 1
        + sum(WEIGHTS.get(type(e), 1) for e in own_expressions(node)) // EXPRESSIONS_PER_STEP
        for node in ast.walk(tree)
        if isinstance(node, ast.stmt) and node is not tree
    }


def _weight(statement: ast.stmt) -> int:
    return sum(WEIGHTS.get(type(e), 1) for e in own_expressions(statement))


def own_expressions(statement: ast.stmt) -> Iterator[ast.expr]:
    """Yields every expression of a statement, but none of the statements inside it.

    >>> loop = ast.parse("while i < n:\\n    i += step").body[0]
    >>> [ast.unparse(expression) for expression in own_expressions(loop)]
    ['i < n', 'i', 'n']
    """
    waiting: list[ast.AST] = [statement]
    while waiting:
        for child in ast.iter_child_nodes(waiting.pop()):
            if isinstance(child, ast.expr):
                yield child
            if not isinstance(child, ast.stmt):
                waiting.append(child)
