"""One strand of a launch: an interpreter over one warp or one thread, which hands on to others."""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol

import numpy as np

from gpu_course.simt import intrinsics, waiting
from gpu_course.simt.access import Access
from gpu_course.simt.endless import EndlessLoop, Loop, Waits
from gpu_course.simt.interpreter import Interpreter
from gpu_course.simt.lanes import Mask
from gpu_course.simt.meetings import BLOCK_MEETINGS, WARP_MEETINGS, Arrival
from gpu_course.simt.memory import Array
from gpu_course.simt.relay import Stopped, Wait
from gpu_course.simt.schedule import About, Schedule
from gpu_course.simt.values import type_of
from gpu_course.simt.variables import Value
from gpu_course.simt.vocabulary.allocate import Arena
from gpu_course.simt.vocabulary.synchronise import meet_grid
from gpu_course.simt.window import Window, WindowArena

# A loop that is not idle hands on now and then only: most such loops wait for nobody.
TURNS_IN_A_ROW = 32


@dataclass
class Seen:
    """What a loop's lanes had before them when its turn began.

    Attributes:
        mask: the lanes in the loop.
        variables: what they hold.
        version: of the launch's memory.
        own: changes of memory the strand itself had made.
    """

    mask: Mask
    variables: waiting.Snapshot
    version: int
    own: int


class Group(Protocol):
    """What a strand asks of, and tells, the launch it belongs to; `strands.Strands` is one."""

    schedule: Schedule
    arena: Arena
    asked: dict[ast.stmt, str]
    version: int
    stopping: bool

    def memory_changed(self) -> None:
        """Some cell holds another value than before."""

    def progress(self) -> None:
        """Something has happened that brings the launch on."""

    def pause(self, number: int, about: About) -> None:
        """A strand is about to touch memory."""

    def wait(self, number: int, wait: Wait, *, idle: bool) -> None:
        """A strand has made a turn of a loop that waits."""

    def give_up(self, wait: Wait) -> None:
        """A strand's loop cannot end in lockstep."""

    def meet(self, number: int, arrival: Arrival) -> Value:
        """Returns what a meeting gives a strand, once it has taken place."""


class StrandInterpreter(Interpreter):
    """Executes the kernel for one strand.

    Args:
        group: the launch.
        number: the strand's.
        window: its lanes.
        state: as an Interpreter's, with the window and its observers.
    """

    def __init__(self, group: Group, number: int, window: Window, *state: Any) -> None:
        super().__init__(*state)
        self.group = group
        self.number = number
        self.window = window
        self.arena = WindowArena(group.arena, window)
        self._asked = group.asked
        self.path: tuple[int, ...] = ()
        self.changes = 0
        self._last: tuple[Access, np.ndarray] | None = None

    # Memory

    def _access(
        self,
        kind: str,
        node: ast.expr,
        index: ast.expr,
        array: Array,
        indices: tuple[Value, ...],
        value: Value = None,
        **atomic: Any,
    ) -> tuple[Access | None, bool]:
        if array.space not in ("global", "shared"):
            return super()._access(kind, node, index, array, indices, value, **atomic)
        if self.group.schedule.fineness == "accesses":
            find = partial(self._cells, array, indices, self.mask)
            self.group.pause(self.number, About(kind, node.lineno, array.name, find))
        access, uniform = super()._access(kind, node, index, array, indices, value, **atomic)
        if access is not None:
            self._last = access, access.array.flat[access.elements]
        return access, uniform

    def store(
        self, node: ast.Subscript, array: Array, indices: tuple[Value, ...], value: Value
    ) -> None:
        """As in lockstep; notes whether the memory is another one now."""
        self._last = None
        super().store(node, array, indices, value)
        self._note_change()

    def update(self, call: ast.Call, array: Array, *rest: Any) -> Value:
        """As in lockstep; notes whether the memory is another one now."""
        self._last = None
        old = super().update(call, array, *rest)
        self._note_change()
        return old

    def _note_change(self) -> None:
        if self._last is not None:
            access, before = self._last
            if access.array.flat[access.elements].tobytes() != before.tobytes():
                self.changes += 1
                self.group.memory_changed()

    # Loops

    def _turned(self, node: ast.For | ast.While, loop: Loop, running: Mask, taken: Mask) -> None:
        """Hands on where the loop waits for others."""
        kind = self._asks(node)
        if not kind or not running:
            return
        loop.turns += 1
        before: Seen | None = loop.seen
        left = before is not None and before.mask.count != running.count
        if left:
            self.group.progress()
        now = waiting.snapshot(self.variables)
        version = self.group.version
        idle = (
            before is not None
            and not left
            and before.version == version
            and waiting.unchanged(before.variables, now)
        )
        asks_again = kind == waiting.ATOMIC and (before is None or before.own == self.changes)
        if idle or asks_again or loop.turns % TURNS_IN_A_ROW == 0:
            self.group.wait(self.number, self._wait(node, running), idle=idle)
            version = self.group.version
        loop.seen = Seen(running, now, version, self.changes)

    def _wait(self, node: ast.For | ast.While, mask: Mask) -> Wait:
        going = self.lanes.alive.active & ~self.returned
        partial_ = mask.count < int(np.count_nonzero(going))
        asks, found = "", None
        if self._last is not None:
            access, values = self._last
            cell = np.unravel_index(int(access.cells[0]), access.array.shape)
            asks = f"{access.array.name}[{', '.join(map(str, cell))}]"
            found = values[0].item()
        return Wait(node, mask, partial_, asks, found, self.program.kernel)

    def _stop(self, node: ast.stmt, mask: Mask, *, hopeless: bool = False) -> None:
        if self.group.stopping:
            raise Stopped
        try:
            super()._stop(node, mask, hopeless=hopeless)
        except Waits:
            assert isinstance(node, ast.For | ast.While)
            self.group.give_up(self._wait(node, mask))
            raise EndlessLoop(
                node.lineno,
                self.lanes.global_thread[mask.lanes],
                {"hopeless": False, "test": "", "names": {}},
            ) from None

    # Meetings

    def of_Call(self, node: ast.Call) -> Value:  # cuda.syncthreads(), cuda.shfl_sync(...)
        symbol = self.program.meanings.get(node.func)
        if node.func in self.program.devices:
            self.path = (*self.path, node.lineno)
            result = super().of_Call(node)
            self.path = self.path[:-1]
            return result
        path = getattr(symbol, "path", "")
        if path in BLOCK_MEETINGS:
            return self._meet("block", node, path)
        if path in WARP_MEETINGS and self.group.schedule.strands == "threads":
            return self._meet("warp", node, path)
        if symbol is None and node not in self.requests:  # cuda.cg.this_grid().sync()
            return self._arrive("grid", node, [], lambda machine, _: meet_grid(machine, node))
        return super().of_Call(node)

    def _meet(self, scope: str, node: ast.Call, path: str) -> Value:
        arguments = [self.value(a) for a in node.args]
        function = intrinsics.FUNCTIONS[path]
        result = function.type([type_of(a) for a in arguments], node.args)
        return self._arrive(scope, node, arguments, lambda m, a: function.run(m, node, a, result))

    def _arrive(
        self, scope: str, node: ast.Call, arguments: list[Value], run: Callable[[Any, Any], Value]
    ) -> Value:
        place = (*self.path, node.lineno, node.col_offset)
        arrival = Arrival(
            scope, node, place, self.window, self.mask, arguments, run, self.program.kernel
        )
        return self.group.meet(self.number, arrival)
