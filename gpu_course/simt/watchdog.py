"""Loops that never end, or wait for others that cannot go on meanwhile: found, and given up on.

Which loops may wait is told from the text: their end depends on what a thread finds in memory.
"""

from __future__ import annotations

import ast
import functools
from collections.abc import Mapping
from typing import Any, NoReturn

import numpy as np

from gpu_course.simt.constants import Symbol
from gpu_course.simt.ir import Loop, Statement
from gpu_course.simt.lanes import Mask
from gpu_course.simt.legality import Program
from gpu_course.simt.machine import Machine, Turns
from gpu_course.simt.memory import Array
from gpu_course.simt.source import Kernel
from gpu_course.simt.values import Variable

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


MOST_WAITING_TURNS = 250
MOST_TURNS_WITH_ATOMICS = 1000


class EndlessLoop(Exception):
    """A loop that cannot end, or a batch that has spent its steps."""

    def __init__(
        self, kernel: Kernel, line: int, threads: np.ndarray, facts: dict[str, Any]
    ) -> None:
        self.kernel = kernel
        self.line = line
        self.threads = threads
        self.facts = facts
        super().__init__(line)


class Waits(Exception):
    """A loop whose lanes wait for others, which cannot go on while all run in step.

    Attributes:
        kernel, line: the loop.
    """

    def __init__(self, kernel: Kernel, line: int) -> None:
        self.kernel = kernel
        self.line = line
        super().__init__(f"{kernel.name}, line {line}")


def watch(machine: Machine, loop: Loop, turns: Turns, running: Mask, taken: Mask) -> None:
    """Looks at a loop after a turn of all lanes in lockstep.

    Args:
        machine: runs it.
        loop: the loop.
        turns: what is known of its turns.
        running: the lanes that are still in it.
        taken: those that made the turn.

    Raises:
        Waits: its lanes wait for others.
    """
    turns.fruitless = turns.fruitless + 1 if running.count == taken.count else 0
    if turns.fruitless < MOST_WAITING_TURNS or not loop.waits:
        return
    if loop.waits == ATOMIC and turns.fruitless >= MOST_TURNS_WITH_ATOMICS:
        raise Waits(machine.kernel, loop.line)
    if turns.fruitless % MOST_WAITING_TURNS == 0:
        turns.seen = snapshot(machine.variables)
    elif turns.fruitless % MOST_WAITING_TURNS == 1 and unchanged(
        turns.seen, snapshot(machine.variables)
    ):
        raise Waits(machine.kernel, loop.line)


def give_up(machine: Machine, node: Statement, mask: Mask, *, hopeless: bool = False) -> NoReturn:
    """Ends a batch that has spent its steps, or whose loop can never end.

    Args:
        machine: runs it.
        node: the statement it is at.
        mask: the lanes that are there.
        hopeless: nothing can ever change what the loop's test gives.

    Raises:
        Waits: a loop that others could end.
        EndlessLoop: any other.
    """
    loop = node if isinstance(node, Loop) else None
    if loop is not None and loop.waits == ATOMIC and not hopeless:
        raise Waits(machine.kernel, loop.line)
    test = None if loop is None else loop.written
    facts = {
        "hopeless": hopeless,
        "test": "" if test is None else ast.unparse(test),
        "names": {} if loop is None else machine.range_of(loop.names, mask.lanes),
    }
    threads = machine.lanes.global_thread[mask.lanes]
    raise EndlessLoop(machine.kernel, node.line, threads, facts)


Snapshot = dict[str, tuple[Any, np.ndarray | None]]


def snapshot(variables: Mapping[str, Variable]) -> Snapshot:
    """Returns what the variables hold now; values are replaced, never changed in place."""
    return {name: (known.value, known.defined) for name, known in variables.items()}


def unchanged(before: Snapshot, now: Snapshot) -> bool:
    """True when all variables hold, bit for bit, what they held before."""
    return before.keys() == now.keys() and all(
        _same(value, now[name][0]) and _same(defined, now[name][1])
        for name, (value, defined) in before.items()
    )


def _same(a: Any, b: Any) -> bool:
    if a is b:
        return True
    if isinstance(a, tuple) and isinstance(b, tuple):
        return len(a) == len(b) and all(map(_same, a, b))
    if isinstance(a, Array) and isinstance(b, Array):
        return (
            a.flat is b.flat
            and _same(a.strides, b.strides)
            and _same(a.shape, b.shape)
            and _same(a.origin, b.origin)
        )
    if isinstance(a, np.ndarray | np.generic) and isinstance(b, np.ndarray | np.generic):
        return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()
    return bool(type(a) is type(b) and a == b)
