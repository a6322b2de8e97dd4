"""Loops that never end, or wait for others that cannot go on meanwhile: found, and given up on."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import Any

import numpy as np

from gpu_course.simt import waiting
from gpu_course.simt.expressions import Expressions
from gpu_course.simt.lanes import Mask
from gpu_course.simt.source import Kernel

MOST_WAITING_TURNS = 250
MOST_TURNS_WITH_ATOMICS = 1000


class EndlessLoop(Exception):
    """A loop that cannot end, or a batch that has spent its steps."""

    def __init__(self, line: int, threads: np.ndarray, facts: dict[str, Any]) -> None:
        self.line = line
        self.threads = threads
        self.facts = facts
        super().__init__(line)


class Waits(Exception):
    """A loop whose lanes wait for others, which cannot go on while all run in step.

    Attributes:
        kernel, node: the loop.
    """

    def __init__(self, kernel: Kernel, node: ast.stmt) -> None:
        self.kernel = kernel
        self.node = node
        super().__init__(f"{kernel.name}, line {node.lineno}")


@dataclass
class Loop:
    """The lanes that left the innermost loop, or skipped the rest of an iteration.

    Attributes:
        broken, continued: these lanes.
        turns: how many turns in a row no lane has left it.
        seen: what the variables were, a turn ago.
    """

    broken: Mask
    continued: Mask
    turns: int = 0
    seen: Any = None


class Limited(Expressions):
    """A Machine that gives up on loops that do not end."""

    def __init__(self, *state: Any) -> None:
        super().__init__(*state)
        self._asked: dict[ast.stmt, str] = {}

    def _never_changes(self, node: ast.While) -> bool:
        """True when nothing in the loop's body can make its test come out differently."""
        if any(isinstance(n, ast.Subscript | ast.Call) for n in ast.walk(node.test)):
            return False
        inside = [n for statement in node.body for n in ast.walk(statement)]
        if any(isinstance(n, ast.Break | ast.Return) for n in inside):
            return False
        changed = {n.id for n in inside if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
        asked = {n.id for n in ast.walk(node.test) if isinstance(n, ast.Name)}
        return not changed & asked

    def _asks(self, node: ast.stmt) -> str:
        if node not in self._asked:
            self._asked[node] = waiting.asks(self.program, node)
        return self._asked[node]

    def _turned(self, node: ast.For | ast.While, loop: Loop, running: Mask, taken: Mask) -> None:
        """Ends a launch in lockstep where a loop's lanes wait for others."""
        loop.turns = loop.turns + 1 if running.count == taken.count else 0
        if loop.turns < MOST_WAITING_TURNS or not self._asks(node):
            return
        if self._asks(node) == waiting.ATOMIC and loop.turns >= MOST_TURNS_WITH_ATOMICS:
            raise Waits(self.program.kernel, node)
        if loop.turns % MOST_WAITING_TURNS == 0:
            loop.seen = waiting.snapshot(self.variables)
        elif loop.turns % MOST_WAITING_TURNS == 1 and waiting.unchanged(
            loop.seen, waiting.snapshot(self.variables)
        ):
            raise Waits(self.program.kernel, node)

    def _stop(self, node: ast.stmt, mask: Mask, *, hopeless: bool = False) -> None:
        if not hopeless and self._asks(node) == waiting.ATOMIC:
            raise Waits(self.program.kernel, node)
        test = getattr(node.test, "written", node.test) if isinstance(node, ast.While) else None
        facts = {
            "hopeless": hopeless,
            "test": ast.unparse(test) if test is not None else "",
            "names": self._names_in(test, mask.lanes) if test is not None else {},
        }
        raise EndlessLoop(node.lineno, self.lanes.global_thread[mask.lanes], facts)
