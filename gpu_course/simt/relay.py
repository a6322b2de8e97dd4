"""Coroutines of which exactly one runs at a time, until it hands on."""

from __future__ import annotations

import ast
from contextlib import suppress
from contextvars import copy_context
from dataclasses import dataclass
from typing import Any

from greenlet import greenlet

from gpu_course.simt.interpreter import Interpreter
from gpu_course.simt.lanes import Mask
from gpu_course.simt.meetings import Arrival
from gpu_course.simt.schedule import Strand
from gpu_course.simt.source import Kernel
from gpu_course.simt.variables import Value
from gpu_course.simt.window import Window


class Stopped(BaseException):
    """The launch has ended; the strand unwinds."""


class Ended(BaseException):
    """The launch has come to a stop before its end, and the faults say why."""


@dataclass
class Wait:
    """A loop in which a strand waits.

    Attributes:
        node: the loop.
        mask: the strand's lanes in it.
        partial: True when other lanes of the strand are held up by these.
        asks: the cell it asks, as "flag[0]"; "" when it is not known.
        found: what it finds there.
        kernel: the kernel or device function that holds the loop.
    """

    node: ast.For | ast.While
    mask: Mask
    partial: bool
    asks: str
    found: Any
    kernel: Kernel


class Runner:
    """A strand as it runs.

    Attributes:
        strand: as the schedule sees it.
        window: its lanes.
        interpreter: None until it starts.
        coroutine: what it runs in; None until it starts.
        wait: the loop it waits in, or None.
        arrival: the meeting it stands at, or None.
        result: what the last meeting gave it.
        steps_left: statements it may still execute; `allowance` of them until it hands on.
    """

    def __init__(self, strand: Strand, window: Window) -> None:
        self.strand = strand
        self.window = window
        self.interpreter: Interpreter | None = None
        self.coroutine: greenlet | None = None
        self.wait: Wait | None = None
        self.arrival: Arrival | None = None
        self.result: Value = None
        self.steps_left = 0
        self.allowance = 0

    def bits(self) -> int:
        """Its lanes within their warp, as bits."""
        return sum(1 << lane for lane in self.window.alive.lanes.tolist())


class Relay:
    """Runs strands in turn; a subclass says who is next, and what a strand does.

    Each strand runs in a greenlet, a coroutine that can hand on from deep within its calls.

    Attributes:
        stopping: True once the launch has ended, however it did.
        under_way: the strands that have started and not ended, by number.
    """

    def __init__(self) -> None:
        self.stopping = False
        self.under_way: dict[int, Runner] = {}

    def pick(self) -> Runner | None:
        """Returns the strand that goes on now; None when all have ended."""
        raise NotImplementedError

    def execute(self, runner: Runner) -> None:
        """Runs a strand from its start to its end."""
        raise NotImplementedError

    def suspend(self, runner: Runner) -> None:
        """A strand hands on."""

    def resume(self, runner: Runner) -> None:
        """A strand goes on."""

    def run(self) -> None:
        """Runs all strands to their end; raises what one of them raised."""
        try:
            while (runner := self.pick()) is not None:
                if runner.coroutine is None:
                    runner.coroutine = greenlet(self.execute)
                    # NumPy's errstate belongs to a context, and each greenlet has its own.
                    runner.coroutine.gr_context = copy_context()
                runner.coroutine.switch(runner)
        except Ended:
            pass
        finally:
            self.stopping = True
            for runner in list(self.under_way.values()):
                if runner.coroutine is not None:
                    with suppress(Stopped):
                        runner.coroutine.throw(Stopped)

    def hand_on(self, runner: Runner) -> None:
        """Lets others run until a strand under way is picked again."""
        if self.stopping:
            raise Stopped
        self.suspend(runner)
        assert runner.coroutine is not None and runner.coroutine.parent is not None
        runner.coroutine.parent.switch()
        self.resume(runner)
