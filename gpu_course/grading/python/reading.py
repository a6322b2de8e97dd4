"""What the text of a function rules out: an answer that looks at nothing has no thought behind it.

By chance a number typed in, or the None of a function without `return`, can be what a named
mistake gives in the visible example. The mistake computed it, and such an answer did not.
"""

from __future__ import annotations

import ast
from collections import Counter
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


def left_as_set(function: ast.FunctionDef | None, at: int | None = None) -> dict[str, int]:
    """Returns what a function returns just as it set it once: {name: line}.

    It set a number, None, text, or a container of such or of nothing, which is named nowhere but
    where it is returned. What a function inside sets is another name.

    Args:
        function: the function.
        at: the place within the returned tuples that matters; None for any.

    >>> text = "def f(a):\\n  total = 0\\n  totl = a + 1\\n  return total"
    >>> left_as_set(function_named(text, "f"))
    {'total': 2}
    >>> left_as_set(function_named(text.replace("totl", "total"), "f"))
    {}
    """
    if function is None:
        return {}
    own = list(_own(function))
    values = [node.value for node in own if isinstance(node, ast.Return)]
    if None in values:
        return {}
    parts: list[ast.expr | None] = []
    for value in values:
        several = value.elts if isinstance(value, ast.Tuple) else [value]
        parts += several if at is None or len(several) < 2 else several[at : at + 1]
    returned = {id(each): each.id for each in parts if isinstance(each, ast.Name)}
    names = [each for each in own if isinstance(each, ast.Name)]
    stores = Counter(each.id for each in names if not isinstance(each.ctx, ast.Load))
    read, shared = set(), set()
    for node in ast.walk(function):
        if isinstance(node, ast.Global | ast.Nonlocal):
            shared.update(node.names)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            read |= set() if id(node) in returned else {node.id}
    found: dict[str, int] = {}
    for each in own:
        if not isinstance(each, ast.Assign) or not _is_plain(each.value):
            continue
        for target in each.targets:
            if not isinstance(target, ast.Name) or target.id not in returned.values():
                continue
            grows = not isinstance(each.value, ast.Constant) and target.id in read
            if stores[target.id] == 1 and target.id not in shared and not grows:
                found[target.id] = target.lineno
    return found


def set_outside(text: str, line: int, name: str) -> str:
    """Returns the function round a line of a text whose own name is also one outside it, or "".

    >>> text = "def f():\\n  n = 0\\n  def g():\\n    n += 1\\n  g()"
    >>> set_outside(text, 4, "n"), set_outside(text, 2, "n")
    ('g', '')
    """
    try:
        node: ast.AST | None = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ""
    round_it: list[ast.FunctionDef | ast.AsyncFunctionDef] = []
    while node is not None:
        within = (n for n in ast.walk(node) if isinstance(n, _FUNCTIONS) and n is not node)
        inner = next((n for n in within if n.lineno <= line <= (n.end_lineno or 0)), None)
        round_it += [inner] if inner is not None else []
        node = inner
    sets = any(
        isinstance(n, ast.Name) and n.id == name and isinstance(n.ctx, ast.Store)
        for each in round_it[:-1]
        for n in _own(each)
    )
    return round_it[-1].name if sets else ""


def _is_plain(value: ast.expr | None) -> bool:
    """True for a number, None or text as it is typed in, and for what holds such or nothing."""
    if isinstance(value, ast.List | ast.Tuple | ast.Set):
        return all(map(_is_plain, value.elts))
    if isinstance(value, ast.Dict):
        return all(map(_is_plain, (*value.keys, *value.values)))
    return isinstance(value, ast.Constant)


def _own(node: ast.AST) -> Iterator[ast.AST]:
    """What stands in a function and in none that is defined in it."""
    for child in ast.iter_child_nodes(node):
        yield child
        if not isinstance(child, (*_FUNCTIONS, ast.Lambda, ast.ClassDef)):
            yield from _own(child)


def what_it_lacks(function: ast.FunctionDef | None) -> frozenset[str]:
    """Returns what a function lacks of one that has a thought behind it; nothing, for most.

    An answer cannot come from the thought of a mistake that lacks less.

    >>> for body in ("return 8", "return a + 7", "b = a"):
    ...     sorted(what_it_lacks(function_named(f"def f(a): {body}", "f")))
    ['looks_at_nothing']
    []
    ['returns_nothing']
    """
    lacks = (looks_at_nothing, returns_nothing, left_as_set)
    return frozenset(each.__name__ for each in lacks if each(function))
