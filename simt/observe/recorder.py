"""Follows a launch statement by statement, and keeps what it sees as a Recording.

A step begins when lanes come to a statement and ends when the same lanes come to the next one: only
then are its values known. Where the lanes of a launch take turns, another's step may come between
two accesses of one statement, which is then recorded in pieces.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from simt.kernel.ir import Assign, If, Loop, Statement
from simt.kernel.source import Kernel
from simt.machine.faults import Fault, FaultLog
from simt.machine.lanes import Lanes, Mask
from simt.machine.observer import Access, Followed, Observer, Setting
from simt.machine.values import Variable
from simt.observe.explain import explain
from simt.observe.recorded import Holdings, cells_in_order, step_access, text_of
from simt.report import Hazard, Recording, Report, Start, Step, StepAccess, StepExchange

MAX_STEPS = 2000
MAX_THREADS = 1024
MAX_CELLS = 1 << 16


@dataclass
class _Frame:
    """A statement that is under way, and what has happened in it so far."""

    machine: Followed
    depth: int
    kernel: Kernel
    variables: dict[str, Variable]
    node: Statement
    mask: Mask
    before: dict[str, Variable]
    turned: bool = False
    taken: Mask | None = None
    accesses: list[tuple[Access, np.ndarray, np.ndarray]] = field(default_factory=list)
    meetings: list[str] = field(default_factory=list)
    exchanges: list[StepExchange] = field(default_factory=list)
    faults: list[Fault] = field(default_factory=list)
    pieces: list[int] = field(default_factory=list)


class Recorder(Observer):
    """Keeps the steps of a launch, or of some of its warps.

    Args:
        watch: names of variables and arrays; none asks for the kernel's first local variables.
        threads: global linear numbers of the threads to record, at most 1,024 of them.
        most_steps: steps to keep; the rest is only counted.
    """

    follows = True

    def __init__(
        self, watch: Sequence[str], threads: Collection[int], most_steps: int = MAX_STEPS
    ) -> None:
        self.watch = tuple(watch)
        self.threads = np.array(sorted(threads), np.int64)
        self.most_steps = most_steps

    def begin(self, setting: Setting) -> None:
        """Starts afresh: a launch may begin more than once."""
        self.setting = setting
        self.steps: list[Step] = []
        self.steps_taken = 0
        self.stacks: dict[int, list[_Frame]] = {}
        self.last: int | None = None
        self.texts = {setting.code.kernel.name: text_of(setting.code.kernel)}
        self.arrays: dict[str, Start] = {}
        self.holdings = Holdings(self.threads, self.watch)
        self.hit: list[Fault] = []
        self.counts: dict[int, int] = {}
        for array in setting.arrays.values():
            for part in array.fields.values() or (array,):
                few = int(np.prod(part.shape, dtype=np.int64)) <= MAX_CELLS
                values = cells_in_order(part) if few else None
                self.arrays[part.name] = Start("global", part.shape, values)

    def batch(self, lanes: Lanes) -> None:
        """Finds the recorded threads among the lanes of a batch."""
        self.close_all()
        self.lanes = lanes
        known = np.isin(lanes.global_thread, self.threads) & lanes.alive.active
        self.here = known
        self.stacks = {}
        self.last = None

    # What happens

    def statement(self, machine: Followed, node: Statement, mask: Mask, turn: bool) -> None:
        """Ends the step these lanes were at, and begins the next."""
        stack = self._stack(machine)
        self._settle()
        if turn and stack and stack[-1].node is node and not stack[-1].turned:
            stack[-1].turned = True
            return
        while stack and stack[-1].depth >= machine.depth:
            self._close(stack.pop())
        if not (mask.active & self.here).any() or (isinstance(node, Assign) and node.empty):
            return
        kernel = machine.kernel
        now = machine.variables
        before = {version: now[version] for version in now}
        stack.append(_Frame(machine, machine.depth, kernel, now, node, mask, before, turn))

    def access(self, access: Access) -> None:
        """Adds an access to the step its lanes are at."""
        frame = self._frame(access.mask)
        if frame is None:
            return
        found = self.here[access.mask.lanes]
        if not found.any():
            return
        values = access.found() if access.kind == "load" else np.empty(0)
        frame.accesses.append((access, found, values))

    def branch(self, line: int, mask: Mask, taken: Mask, *, select: bool = False) -> None:
        """Keeps who found the condition of an if or a loop true; the last one is the whole."""
        frame = self._frame(mask)
        if frame is not None and isinstance(frame.node, If | Loop):
            frame.taken = taken

    def barrier(self, line: int, mask: Mask, blocks: np.ndarray) -> None:
        """Notes that the block met."""
        self._note(mask, "barrier")

    def warp_barrier(self, line: int, mask: Mask) -> None:
        """Notes that lanes of the warp met."""
        self._note(mask, "warp barrier")

    def grid_barrier(self, line: int) -> None:
        """Notes that the grid met."""
        self._note(self.lanes.alive, "grid barrier")

    def fence(self, line: int, mask: Mask, *, within_block: bool = False) -> None:
        """Notes a fence."""
        self._note(mask, "fence")

    def shuffle(self, line: int, mask: Mask) -> None:
        """Notes an exchange of values."""
        self._note(mask, "shuffle")

    def exchange(
        self, mask: Mask, sources: np.ndarray | None, sent: np.ndarray, received: np.ndarray
    ) -> None:
        """Adds what the recorded lanes gave and got to the step they are at."""
        frame = self._frame(mask)
        here = self.here[mask.lanes]
        if frame is None or not here.any():
            return
        frame.exchanges.append(
            StepExchange(
                threads=self.lanes.global_thread[mask.lanes][here],
                sources=None if sources is None else sources[here].astype(np.int64),
                sent=sent[here].copy(),
                received=received[here].copy(),
            )
        )

    # Steps

    def _stack(self, machine: Followed) -> list[_Frame]:
        key = id(machine)
        if self.last is not None and self.last != key:
            self._settle()
            self._interrupt(self.last)
        self.last = key
        return self.stacks.setdefault(key, [])

    def _interrupt(self, key: int) -> None:
        """Others go on: what the statement under way has done so far is a step of its own."""
        stack = self.stacks.get(key)
        if stack and stack[-1].accesses:
            frame = stack[-1]
            self._keep(frame)
            frame.accesses, frame.meetings, frame.faults = [], [], []
            frame.exchanges = []
            frame.before = dict(frame.variables)

    def _frame(self, mask: Mask) -> _Frame | None:
        """The statement that the lanes of a mask are at."""
        lane = int(mask.lanes[0]) if mask else 0
        if self.last is not None:
            stack = self.stacks[self.last]
            while stack and stack[-1].depth > stack[-1].machine.depth:
                self._close(stack.pop())  # the device function has returned
            if stack and stack[-1].mask.active[lane]:
                return stack[-1]
        for stack in self.stacks.values():
            if stack and stack[-1].mask.active[lane]:
                self._stack(stack[-1].machine)
                return stack[-1]
        return None

    def _note(self, mask: Mask, what: str) -> None:
        for stack in self.stacks.values():
            if stack and (stack[-1].mask.active & mask.active).any():
                stack[-1].meetings.append(what)

    def _close(self, frame: _Frame) -> None:
        if not frame.pieces or frame.accesses or frame.meetings or _assigned(frame):
            self._keep(frame)
        elif len(frame.pieces) == 1 and frame.pieces[0] >= 0:
            # Nothing came after the interruption: the one piece is the whole.
            whole = replace(self.steps[frame.pieces[0]], part=0)
            self.steps[frame.pieces[0]] = whole

    def _keep(self, frame: _Frame) -> None:
        """Makes a step of what a statement has done, or of what it has done since the last."""
        self.steps_taken += 1
        if self._full:
            frame.pieces.append(-1)
            return
        lanes = np.flatnonzero(frame.mask.active & self.here)
        held = self.holdings.after(
            frame.kernel, frame.before, frame.variables, lanes, frame.machine.lanes, self.lanes
        )
        frame.pieces.append(len(self.steps))
        threads = self._threads(frame.mask)
        self.texts.setdefault(frame.kernel.name, text_of(frame.kernel))
        self.steps.append(
            Step(
                function=frame.kernel.name,
                line=frame.node.line,
                threads=threads,
                taken=None if frame.taken is None else self._threads(frame.taken),
                accesses=tuple(self._access(*parts) for parts in frame.accesses),
                meetings=tuple(dict.fromkeys(frame.meetings)),
                held=held,
                struck=self._struck(frame, threads),
                # Of a statement in one piece this is put right when it ends.
                part=len(frame.pieces) if len(frame.pieces) > 1 or self._goes_on(frame) else 0,
                exchanges=tuple(frame.exchanges),
            )
        )

    @property
    def _full(self) -> bool:
        """True once steps are only counted."""
        return len(self.steps) >= self.most_steps

    def _goes_on(self, frame: _Frame) -> bool:
        return any(frame is open_frame for stack in self.stacks.values() for open_frame in stack)

    def _threads(self, mask: Mask) -> np.ndarray:
        return np.sort(self.lanes.global_thread[mask.active & self.here])

    def _access(self, access: Access, here: np.ndarray, found: np.ndarray) -> StepAccess:
        kept = step_access(access, here, found, self.lanes)
        if kept.space in ("shared", "global"):
            self.arrays.setdefault(kept.array, Start(kept.space, kept.shape, None))
        return kept

    # Hazards

    def _settle(self) -> None:
        """Lays what has been found since the last look to the statement it was found in."""
        if self._full:
            return
        for fault in self.setting.faults.found.values():
            if fault.count == self.counts.get(id(fault), 0):
                continue
            self.counts[id(fault)] = fault.count
            if fault not in self.hit:
                self.hit.append(fault)
            frame = self._culprit(fault)
            if frame is not None and fault not in frame.faults:
                frame.faults.append(fault)

    def _culprit(self, fault: Fault) -> _Frame | None:
        tops = [stack[-1] for stack in self.stacks.values() if stack]
        last = self.stacks.get(self.last or 0)
        if last:
            tops.insert(0, last[-1])
        for frame in tops:
            if np.isin(self._threads(frame.mask), fault.threads).any():
                return frame
        return None

    def _struck(self, frame: _Frame, threads: np.ndarray) -> tuple[tuple[int, np.ndarray], ...]:
        return tuple(
            (self.hit.index(fault), np.intersect1d(fault.threads, threads))
            for fault in frame.faults
        )

    # The end

    def close_all(self) -> None:
        """Ends every step that is still under way."""
        self._settle()
        for stack in self.stacks.values():
            while stack:
                self._close(stack.pop())

    def recording(self, report: Report) -> Recording:
        """Returns what was kept of a launch, once its report is there."""
        self.close_all()
        self.hit += [f for f in self.setting.faults.found.values() if f not in self.hit]
        hazards: list[Hazard] = []
        for fault in self.hit:
            alone = FaultLog()
            alone.found["one",] = fault
            hazards += explain(
                alone, self.setting.code.kernel, self.setting.grid, self.setting.block
            )
        touched = {a.array for step in self.steps for a in step.accesses}
        kernel = self.setting.code.kernel
        return Recording(
            kernel=kernel.name,
            launch=report.launch,
            texts=self.texts,
            threads=self.threads,
            steps=tuple(self.steps),
            steps_taken=self.steps_taken,
            hazards=tuple(hazards),
            arrays={n: s for n, s in self.arrays.items() if n in touched or n in self.watch},
            watch=self.watch or tuple(dict.fromkeys(n for s in self.steps for n in s.held)),
            finished=report.finished,
        )


def _assigned(frame: _Frame) -> bool:
    return any(frame.before.get(name) is not now for name, now in frame.variables.items())
