"""What the text of a function rules out: an answer that looks at nothing has no thought behind it.

By chance a number typed in, or the None of a function without `return`, can be what a named
mistake gives in the visible example. The mistake computed it, and such an answer did not.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

_ALL_NAMES = {"locals", "vars", "globals", "eval", "exec"}
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


def function_named(text: str, name: str) -> ast.FunctionDef | None:
    """Returns the last function of that name at the top level of a text; None where none is."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    found = [each for each in tree.body if isinstance(each, ast.FunctionDef) and each.name == name]
    return found[-1] if found and not found[-1].decorator_list else None


def looks_at_nothing(function: ast.FunctionDef | None) -> bool:
    """True where a function has parameters and reads none, so that it gives the same every time.

    >>> looks_at_nothing(function_named("def f(a, b): return 8", "f"))
    True
    >>> looks_at_nothing(function_named("def f(a, b): return a", "f"))
    False
    """
    if function is None:
        return False
    args = function.args
    each = [*args.posonlyargs, *args.args, *args.kwonlyargs, args.vararg, args.kwarg]
    names = {arg.arg for arg in each if arg is not None}
    read = {n.id for n in ast.walk(function) if isinstance(n, ast.Name)}
    return bool(names) and read.isdisjoint(names | _ALL_NAMES)


def returns_nothing(function: ast.FunctionDef | None) -> bool:
    """True where no `return` of a function has a value, so that it gives None every time.

    >>> returns_nothing(function_named("def f(a): b = a + 1", "f"))
    True
    >>> returns_nothing(function_named("def f(a): return a + 1", "f"))
    False
    """
    if function is None:
        return False
    own = list(_own(function))
    if any(isinstance(each, ast.Yield | ast.YieldFrom) for each in own):
        return False
    return all(each.value is None for each in own if isinstance(each, ast.Return))


def _own(node: ast.AST) -> Iterator[ast.AST]:
    """What stands in a function and in none that is defined in it."""
    for child in ast.iter_child_nodes(node):
        yield child
        if not isinstance(child, (*_FUNCTIONS, ast.Lambda, ast.ClassDef)):
            yield from _own(child)


def could_think(answer: ast.FunctionDef | None, mistake: ast.FunctionDef | None) -> bool:
    """False where a function cannot come from the thought of a mistake, which looks at more.

    >>> typed, worked = (function_named(f"def f(a): return {x}", "f") for x in ("8", "a + 7"))
    >>> could_think(typed, worked), could_think(worked, typed)
    (False, True)
    """
    return not any(
        lacks(answer) and not lacks(mistake) for lacks in (looks_at_nothing, returns_nothing)
    )
