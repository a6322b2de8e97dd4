"""Loops that never end, or wait for others that cannot go on meanwhile: found, and given up on."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from typing import Any, NoReturn

import numpy as np

from simt.kernel.ir import Loop, Statement
from simt.kernel.legality import ATOMIC
from simt.kernel.source import Kernel
from simt.machine.lanes import Mask
from simt.machine.machine import Machine, Turns
from simt.machine.memory import Array
from simt.machine.values import Variable

MAX_WAITING_TURNS = 250
MAX_TURNS_WITH_ATOMICS = 1000


class EndlessLoop(Exception):
    """A loop that cannot end, or a batch that has spent its steps."""

    def __init__(
        self,
        kernel: Kernel,
        line: int,
        threads: np.ndarray,
        facts: dict[str, Any],
        caller: str = "",
    ) -> None:
        self.caller = caller
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
    if turns.fruitless < MAX_WAITING_TURNS or not loop.waits:
        return
    if loop.waits == ATOMIC and turns.fruitless >= MAX_TURNS_WITH_ATOMICS:
        raise Waits(machine.kernel, loop.line)
    if turns.fruitless % MAX_WAITING_TURNS == 0:
        turns.seen = snapshot(machine.variables)
    elif turns.fruitless % MAX_WAITING_TURNS == 1 and unchanged(
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
    raise EndlessLoop(machine.kernel, node.line, threads, facts, machine.caller)


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
