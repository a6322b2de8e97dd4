"""Python threads of which exactly one runs at a time: the baton goes from hand to hand."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from queue import SimpleQueue
from typing import Any

import numpy as np

from gpu_course.simt.interpreter import Interpreter
from gpu_course.simt.ir import Loop
from gpu_course.simt.lanes import Mask
from gpu_course.simt.meetings import Arrival
from gpu_course.simt.schedule import Strand
from gpu_course.simt.source import Kernel
from gpu_course.simt.variables import Value
from gpu_course.simt.window import Window

STACK_BYTES = 1 << 20


class Stopped(BaseException):
    """The launch has ended; the strand unwinds."""


class Ended(BaseException):
    """The launch has come to a stop before its end, and the faults say why."""


@dataclass
class Wait:
    """A loop in which a strand waits.

    Attributes:
        loop: the loop.
        mask: the strand's lanes in it.
        partial: True when other lanes of the strand are held up by these.
        asks: the cell it asks, as "flag[0]"; "" when it is not known.
        found: what it finds there.
        kernel: the kernel or device function that holds the loop.
    """

    loop: Loop
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
        baton: has something in it when the strand may go on.
        wait: the loop it waits in, or None.
        version: of the memory in which it has found nothing new; None when it has not looked.
        arrival: the meeting it stands at, or None.
        result: what the last meeting gave it.
        steps_left: statements it may still execute; `allowance` of them until it hands on.
    """

    def __init__(self, strand: Strand, window: Window) -> None:
        self.strand = strand
        self.window = window
        self.interpreter: Interpreter | None = None
        self.baton: SimpleQueue[None] = SimpleQueue()
        self.wait: Wait | None = None
        self.version: int | None = None
        self.arrival: Arrival | None = None
        self.result: Value = None
        self.steps_left = 0
        self.allowance = 0

    def bits(self) -> int:
        """Its lanes within their warp, as bits."""
        return sum(1 << lane for lane in self.window.alive.lanes.tolist())


class Relay:
    """Runs strands in turn; a subclass says who is next, and what a strand does.

    Attributes:
        stopping: True once the launch has ended, however it did.
        under_way: the strands that have started and not ended, by number.
    """

    def __init__(self) -> None:
        self.stopping = False
        self.under_way: dict[int, Runner] = {}
        self._failure: BaseException | None = None
        self._finished: SimpleQueue[None] = SimpleQueue()
        self._threads: list[threading.Thread] = []

    def pick(self) -> Runner | None:
        """Returns the strand that goes on now; None when all have ended."""
        raise NotImplementedError

    def execute(self, runner: Runner) -> None:
        """Runs a strand from its start to its end."""
        raise NotImplementedError

    def suspend(self, runner: Runner) -> None:
        """A strand hands the baton on."""

    def resume(self, runner: Runner) -> None:
        """A strand has got the baton."""

    def run(self) -> None:
        """Runs all strands to their end; raises what one of them raised."""
        try:
            first = self.pick()
            if first is not None:
                self._pass_to(first)
                self._finished.get()
        finally:
            self.stopping = True
            for runner in list(self.under_way.values()):
                if runner.interpreter is not None:
                    runner.interpreter.steps_left = 0
                runner.baton.put(None)
            for thread in self._threads:
                thread.join()
        if self._failure is not None:
            raise self._failure

    def hand_on(self, runner: Runner) -> None:
        """Passes the baton on from a strand under way, and waits until it comes back."""
        if self.stopping:
            raise Stopped
        self.suspend(runner)
        following = self.pick()
        if following is not runner:
            assert following is not None
            self._pass_to(following)
            runner.baton.get()
            if self.stopping:
                raise Stopped
        self.resume(runner)

    def _pass_to(self, runner: Runner) -> None:
        if runner.interpreter is not None:
            runner.baton.put(None)
            return
        size = threading.stack_size(STACK_BYTES)
        try:
            thread = threading.Thread(target=self._work, args=(runner,), daemon=True)
            self._threads.append(thread)
            thread.start()
        finally:
            threading.stack_size(size)

    def _work(self, runner: Runner) -> None:
        """What a Python thread does: one strand after the other, as long as new ones are due."""
        try:
            with np.errstate(all="ignore"):
                due: Runner | None = runner
                while due is not None:
                    if self.stopping:
                        raise Stopped
                    self.execute(due)
                    due = self._after(due)
        except Stopped:
            pass
        except Ended:
            self._finished.put(None)
        except BaseException as failure:
            if not self.stopping:
                self._failure = failure
                self._finished.put(None)

    def _after(self, runner: Runner) -> Runner | None:
        """Passes the baton on from a strand that has ended; a new one, to be run right here."""
        following = self.pick()
        if following is None:
            self._finished.put(None)
        elif following.interpreter is None:
            return following
        else:
            following.baton.put(None)
        return None
