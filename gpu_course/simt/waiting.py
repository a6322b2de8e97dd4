"""Loops that may wait for other threads: their end depends on what a thread finds in memory."""

from __future__ import annotations

import ast
import functools
from collections.abc import Mapping
from typing import Any

from gpu_course.simt.constants import Symbol
from gpu_course.simt.program import Program

ATOMIC, MEMORY, NOTHING = "atomic", "memory", ""


def asks(program: Program, loop: ast.stmt) -> str:
    """Returns what the end of a loop depends on: ATOMIC, MEMORY (a plain load) or NOTHING.

    A loop ends by its test, or by a `break` or `return` under an `if`. What is asked may have gone
    through variables, or through a device function.
    """
    if not isinstance(loop, ast.While | ast.For):
        return NOTHING
    inside = [n for statement in loop.body for n in ast.walk(statement)]
    exits = [loop.test] if isinstance(loop, ast.While) else []
    exits += [n.test for n in inside if isinstance(n, ast.If) and _leaves(n)]
    if not exits:
        return NOTHING
    found: dict[str, str] = {}
    for _ in range(3):  # found = cuda.atomic...(...), then again = found
        for n in inside:
            if isinstance(n, ast.Assign) and (source := _source(program, n.value, found)):
                for target in n.targets:
                    names = (t.id for t in ast.walk(target) if isinstance(t, ast.Name))
                    found |= {name: _stronger(source, found.get(name)) for name in names}
    return _strongest(_source(program, test, found) for test in exits)


def _leaves(branch: ast.If) -> bool:
    return any(isinstance(n, ast.Break | ast.Return) for n in ast.walk(branch))


def _stronger(one: str, other: str | None) -> str:
    return ATOMIC if ATOMIC in (one, other) else one or other or NOTHING


def _strongest(sources: Any) -> str:
    result = NOTHING
    for source in sources:
        result = _stronger(source, result)
    return result


def _source(program: Program, node: ast.expr, found: Mapping[str, str]) -> str:
    return _strongest(_one(program, n, found) for n in ast.walk(node))


def _one(program: Program, node: ast.AST, found: Mapping[str, str]) -> str:
    if isinstance(node, ast.Name):
        return found.get(node.id, NOTHING)
    if isinstance(node, ast.Subscript):
        return MEMORY if isinstance(node.ctx, ast.Load) else NOTHING
    if isinstance(node, ast.Call):
        meaning = program.meanings.get(node.func)
        if isinstance(meaning, Symbol) and meaning.path.startswith("cuda.atomic."):
            return ATOMIC
        if node.func in program.devices:
            return _strongest(map(_anything, program.devices[node.func].family()))
    return NOTHING


def _anything(device: Program) -> str:
    """The strongest that a device function itself can give back; its calls are looked at apart."""
    nodes = (n for n in ast.walk(device.kernel.tree) if not _is_call_of_device(device, n))
    return _strongest(_one(device, n, {}) for n in nodes)


def _is_call_of_device(program: Program, node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and node.func in program.devices


@functools.lru_cache(maxsize=256)
def may_wait(program: Program) -> bool:
    """True for kernels with a loop whose end depends on memory: their threads may wait."""
    return any(
        asks(each, node)
        for each in program.family()
        for node in ast.walk(each.kernel.tree)
        if isinstance(node, ast.stmt)
    )


_ANY_ORDER = frozenset(
    f"cuda.atomic.{name}"
    for name in ("add", "sub", "max", "min", "nanmax", "nanmin", "and_", "or_", "xor")
)


def order_matters(program: Program) -> bool:
    """True for kernels whose result may depend on who comes first, without any race.

    They wait, or use what an atomic finds, or exchange values; a sum or maximum that nobody looks
    at while it grows is the same in every order, but for the last bits of floats.
    """
    return may_wait(program) or any(map(_uses_turns, program.family()))


def _uses_turns(program: Program) -> bool:
    nodes = list(ast.walk(program.kernel.tree))
    alone = {
        n.value.func for n in nodes if isinstance(n, ast.Expr) and isinstance(n.value, ast.Call)
    }
    return any(
        isinstance(meaning, Symbol)
        and meaning.path.startswith("cuda.atomic.")
        and not (node in alone and meaning.path in _ANY_ORDER)
        for node, meaning in program.meanings.items()
    )
