"""Small changes to a statement: barriers, guards, loops, assignments, an early return."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from copy import copy

from authoring.mutation.expressions import OTHER_OPERATORS, minus, plus
from authoring.mutation.trees import Edit, dotted, first_line, is_docstring

BARRIERS = ("cuda.syncthreads", "cuda.syncwarp")
FENCES = ("cuda.threadfence", "cuda.threadfence_block", "cuda.threadfence_system")


def statement_edits(statement: ast.stmt, block: list[ast.stmt]) -> Iterator[Edit]:
    """Yields the changes to a statement as a whole, or to what follows it.

    Args:
        statement: the statement.
        block: the statements it stands among.
    """
    if is_docstring(statement) or isinstance(statement, ast.Pass):
        return
    old = first_line(statement)
    called = _called(statement)
    kind = "statement-dropped"
    if called.startswith(BARRIERS) or called.endswith(".sync"):
        kind = "barrier-dropped"
    elif called in FENCES:
        kind = "fence-dropped"
    yield Edit(kind, statement, [], old)
    if not isinstance(statement, ast.Return):
        early = [ast.Return(None), statement]
        yield Edit("return-early", statement, early, f"before {old}")
    if called == "cuda.syncthreads":
        warp = ast.parse("cuda.syncwarp()").body
        yield Edit("barrier-of-a-warp", statement, warp, old)
    if isinstance(statement, ast.If):
        yield from _of_guard(statement, block)
    elif isinstance(statement, ast.For):
        yield from _of_loop(statement)
    elif isinstance(statement, ast.While):
        inverted = ast.UnaryOp(ast.Not(), statement.test)
        yield Edit("guard-inverted", statement.test, inverted)
        yield Edit("loop-once", statement, ast.If(statement.test, statement.body, []), old)
    elif isinstance(statement, ast.With):
        yield from _of_contexts(statement)
    elif isinstance(statement, ast.AugAssign):
        yield from _of_update(statement)
    elif isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Tuple):
        target = statement.targets[0]
        yield Edit("targets-swapped", target, ast.Tuple(target.elts[::-1], ast.Store()))


def _called(statement: ast.stmt) -> str:
    """The dotted name of the function that a statement calls and does nothing else."""
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
        return dotted(statement.value.func)
    return ""


def _of_guard(guard: ast.If, block: list[ast.stmt]) -> Iterator[Edit]:
    old = first_line(guard)
    yield Edit("guard-dropped", guard, guard.body, old)
    yield Edit("guard-inverted", guard.test, ast.UnaryOp(ast.Not(), guard.test))
    if guard.orelse:
        yield Edit("else-kept", guard, guard.orelse, old)
        yield Edit("else-dropped", guard, ast.If(guard.test, guard.body, []), old)
        return
    at = block.index(guard)
    for barrier in block[at + 1 : at + 2]:
        if _called(barrier) == "cuda.syncthreads":
            moved = ast.If(guard.test, [*guard.body, copy(barrier)], [])
            yield Edit("barrier-in-guard", guard, moved, f"after {old}", also_dropped=barrier)
    for barrier in block[max(at - 1, 0) : at]:
        if _called(barrier) == "cuda.syncthreads":
            moved = ast.If(guard.test, [copy(barrier), *guard.body], [])
            yield Edit("barrier-in-guard", guard, moved, f"before {old}", also_dropped=barrier)


def _of_loop(loop: ast.For) -> Iterator[Edit]:
    call = loop.iter
    if not isinstance(call, ast.Call) or dotted(call.func) != "range":
        if not isinstance(call, ast.Call) or dotted(call.func) not in ("zip", "enumerate"):
            everything = ast.Call(ast.Name("list", ast.Load()), [call], [])
            for kind, part in (
                ("loop-starts-late", ast.Slice(ast.Constant(1), None, None)),
                ("loop-ends-early", ast.Slice(None, ast.UnaryOp(ast.USub(), ast.Constant(1)))),
            ):
                yield Edit(kind, call, ast.Subscript(everything, part, ast.Load()))
        return
    arguments = call.args
    start = arguments[0] if len(arguments) > 1 else ast.Constant(0)
    stop = arguments[1] if len(arguments) > 1 else arguments[0]
    rest = arguments[2:]
    step: ast.expr | int = rest[0] if rest else 1
    for kind, begin, end in (
        ("loop-starts-late", plus(start, step), stop),
        ("loop-ends-early", start, minus(stop, step)),
        ("loop-ends-late", start, plus(stop, step)),
    ):
        yield Edit(kind, call, ast.Call(call.func, [begin, end, *rest], []))
    yield Edit("loop-once", loop.iter, ast.Call(call.func, [start, plus(start, 1)], []))


def _of_contexts(statement: ast.With) -> Iterator[Edit]:
    for number, item in enumerate(statement.items):
        rest = [*statement.items[:number], *statement.items[number + 1 :]]
        new = ast.With(rest, statement.body) if rest else statement.body
        yield Edit("context-dropped", statement, new, f"with {ast.unparse(item)}:")


def _of_update(update: ast.AugAssign) -> Iterator[Edit]:
    other = OTHER_OPERATORS.get(type(update.op))
    if other is not None:
        yield Edit("operator", update, ast.AugAssign(update.target, other(), update.value))
    yield Edit("update-to-store", update, ast.Assign([update.target], update.value, lineno=0))
