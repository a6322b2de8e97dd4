"""Which launches run compiled, and what is left of one that turns out clean.

A launch that is compiled does what the interpreter would do, or it is suspicious: then its arrays
are as they were before, and the interpreter runs it. A first launch is compiled where interpreting
it takes clearly longer than compiling it; a kernel that is launched again and again, once what its
launches have taken together would have paid for that. One whose turns nobody could count may turn
out to be far longer than it looked: it begins anew, compiled, while the interpreter is at it.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from simt.compiled import glance, jit, run, worth
from simt.compiled.facts.analysis import NotCompiled
from simt.compiled.kept import Kept
from simt.compiled.writing.order import order_shows
from simt.errors import UserError
from simt.kernel import ir
from simt.machine.lanes import WARP
from simt.machine.launch import RunElsewhere, blocks_in_order, blocks_together
from simt.machine.memory import Array
from simt.machine.observer import Setting
from simt.report import Counters
from simt.vocabulary.allocate import local_bytes

VARIABLE = "SIMT_COMPILED"
OFF, AUTO, ALWAYS = "off", "auto", "always"
MAX_PLANS = 256
MAX_SHAPES = 64
"""Of launches of one kernel whose effort is kept."""
CLEARLY = 2.0
"""A first launch is compiled where it takes the interpreter so many times what it takes compiled,
the compiler included: an estimate may be twice too high."""
HARDLY = 0.05
"""A kernel is written, to see what it would take to compile, where that takes no more than so much
of what its launches have taken."""
FAR = 4.0
"""A launch begins anew, compiled, once the interpreter has taken so many times what that takes,
the compiler included: in vain, it costs at most a quarter more."""
TWICE, ASKED_AGAIN = 2, 1.25
"""Whether it should is asked first where it has taken twice what was guessed, and then each time
that it has taken so many times as much."""
GLANCE = 0.1
"""Of what compiling and running compiled take: so long the interpreter looks for a fault first."""
BACK_OFF = 2
"""Each suspicion makes a kernel wait for so many times more launches before the next attempt."""
MAX_WAIT = 1024


def asked_for(compiled: bool | None) -> str:
    """Returns OFF, AUTO or ALWAYS, as an argument says, or else the environment.

    Raises:
        UserError: the environment says something else.
    """
    if compiled is not None:
        return ALWAYS if compiled else OFF
    said = os.environ.get(VARIABLE) or AUTO
    if said not in (OFF, AUTO, ALWAYS):
        raise UserError(
            f"the environment variable {VARIABLE} is {said!r}",
            f"set it to {OFF}, {AUTO} or {ALWAYS}, or unset it",
        )
    return said


@dataclass(eq=False)
class _Plan:
    """What is known of a kernel for a shape of block.

    Attributes:
        code: the kernel; it is kept with the plan, whose key is its number.
        measured: shape of a launch -> what it takes.
        writing_ms: what it takes to write it for the compiler.
        spent_ms: what its launches took that the interpreter has run.
        ordered: whether the order shows in which lanes take their turn at its atomics.
        refused: why it cannot be compiled.
        suspicions: attempts in a row that were suspicious.
        waiting: launches to let pass before the next attempt.
    """

    code: ir.Code
    writing_ms: float
    ordered: bool
    measured: dict[Any, Measured] = field(default_factory=dict)
    spent_ms: float = 0.0
    refused: str = ""
    suspicions: int = 0
    waiting: int = 0

    def refuse(self, reason: Exception) -> bool:
        """Leaves the kernel to the interpreter from now on; returns False.

        Beside NotCompiled that may be what nobody has thought of. Whoever launches a kernel is told
        the truth all the same, and the tests, which run compiled code themselves, find it.
        """
        known = isinstance(reason, NotCompiled)
        self.refused = str(reason) if known else f"{type(reason).__name__}: {reason}"
        return False

    def suspicious(self) -> None:
        """An attempt came to nothing."""
        self.suspicions += 1
        self.waiting = min(BACK_OFF**self.suspicions, MAX_WAIT)


_PLANS = Kept(MAX_PLANS)


class _Memory:
    """What a launch may change."""

    def __init__(self, setting: Setting) -> None:
        stored = [a for a in setting.arrays.values() if a.allocation.number in setting.stored]
        self.cells = [array.flat for array in stored]
        self.cells += [a.initialised for a in stored if a.initialised is not None]

    def copy(self) -> list[np.ndarray]:
        """Returns what it holds now."""
        return [cells.copy() for cells in self.cells]

    def put(self, kept: list[np.ndarray]) -> None:
        """Lets it hold what it held then."""
        for cells, old in zip(self.cells, kept, strict=True):
            cells[...] = old


class Filter:
    """One launch, before and after.

    Args:
        how: AUTO or ALWAYS.
        step_budget: what blocks that run together may spend.
        counted: whether anybody asks for the counters.

    Attributes:
        by_line: what was counted, once the launch is done and clean; else None.
    """

    def __init__(self, how: str, step_budget: int, *, counted: bool) -> None:
        self.how = how
        self.step_budget = step_budget
        self.counted = counted
        self.by_line: dict[int, Counters] | None = None
        self._plan: _Plan | None = None
        self.measured: Measured | None = None
        self._at_first: list[np.ndarray] | None = None

    def clean(self, setting: Setting, before: Callable[[], bool]) -> bool:
        """Runs a launch compiled, where that pays; returns whether it is done, and clean.

        If it is not, memory is as it was.

        Args:
            setting: the launch.
            before: called before it runs compiled; where it returns False, it does not.
        """
        plan = self._plan = self._planned(setting)
        if plan.refused or (plan.ordered and setting.order_seed is not None):
            return False
        if self.counted and setting.code.mixed_widths:
            return False  # how wide an operation was is then what the lanes decide
        found = self.measured = _known(setting, plan)
        may_pay = self.how == ALWAYS or self._may_pay(plan, found)
        may_be_longer = found.may_be_longer and not plan.waiting
        if not (may_pay or may_be_longer):
            return False
        try:
            run.check(setting.arrays)
        except NotCompiled:
            return False  # of these arguments; with others it may be
        self.setting, self._before, self._memory = setting, before, _Memory(setting)
        kernel = self._kernel(plan) if may_pay else None
        if kernel is not None and (self.how == ALWAYS or _pays(plan, found, kernel)):
            if self.how != ALWAYS and not kernel.is_compiled and self._shows_early(found, kernel):
                plan.suspicious()
                return False
            return self._runs_compiled(plan, found)
        if may_be_longer and not plan.refused:
            self._at_first = self._memory.copy()
        return False

    def meanwhile(self, steps: int, batches: int) -> float:
        """Runs a launch compiled, from its beginning, where it turns out to be far longer.

        Asked by the interpreter, which runs it: what it has done is put back where nothing comes
        of it, and it goes on.

        Args:
            steps: taken so far.
            batches: that are done.

        Returns:
            After how many steps more to ask again.

        Raises:
            RunElsewhere: it has run the launch, and it is clean.
        """
        plan, found, at_first = self._plan, self.measured, self._at_first
        if plan is None or found is None or at_first is None or self.setting.faults.found:
            return math.inf
        guessed = found.effort.steps * found.batches
        if steps < TWICE * guessed:
            return max(1.0, TWICE * guessed - steps)
        if not self._has_become_worth_it(plan, found, steps, batches + 1):
            return math.inf if plan.refused else max(1.0, steps * (ASKED_AGAIN - 1))
        midway, self._at_first = self._memory.copy(), None
        self._memory.put(at_first)
        if self._runs_compiled(plan, found):
            raise RunElsewhere
        self._memory.put(midway)
        return math.inf

    def _has_become_worth_it(self, plan: _Plan, found: Measured, steps: int, batches: int) -> bool:
        """Whether to begin anew, after so many steps of so many batches, one of them under way."""
        spent, compiled = found.after(steps, batches)
        rest = spent * (found.batches - batches) / batches
        if plan.writing_ms >= HARDLY * (spent + rest) or spent <= compiled:
            return False
        kernel = self._kernel(plan)
        if kernel is None:
            return False
        compiling = 0.0 if kernel.is_compiled else worth.compiling_ms(kernel.text)
        whole = compiled * found.batches / batches
        return rest > CLEARLY * (compiling + whole) or spent > FAR * (compiling + compiled)

    def _planned(self, setting: Setting) -> _Plan:
        unset = frozenset([n for n, a in setting.arrays.items() if a.initialised is not None])
        self._key = id(setting.code), setting.block, unset
        plan = _PLANS.get(self._key)
        return plan or _PLANS.keep(self._key, _plan_of(setting))  # type: ignore[no-any-return]

    def _may_pay(self, plan: _Plan, found: Measured) -> bool:
        """Whether it is worth a look what it would take to compile the kernel."""
        if plan.waiting or found.interpreted_ms <= found.compiled_ms:
            return False
        if run.is_written(*self._key):
            return True
        return plan.writing_ms < HARDLY * (plan.spent_ms + found.interpreted_ms)

    def _kernel(self, plan: _Plan) -> run.Kernel | None:
        """Returns the kernel, written; None where it is refused."""
        try:
            return run.kernel_of(plan.code, *self._key[1:])
        except Exception as reason:
            plan.refuse(reason)
            return None

    def _shows_early(self, found: Measured, kernel: run.Kernel) -> bool:
        """Whether a look at a few blocks shows a fault: then the compiler is not asked in vain."""
        most_ms = GLANCE * (worth.compiling_ms(kernel.text) + found.compiled_ms)
        steps = min(found.steps_of(glance.BLOCKS, most_ms), self.step_budget)
        kept = self._memory.copy()
        try:
            return glance.shows_fault(self.setting, steps)
        finally:
            self._memory.put(kept)

    def _runs_compiled(self, plan: _Plan, found: Measured) -> bool:
        """Runs the launch compiled; if it is not clean, memory is as it was."""
        if not jit.available():  # to ask loads the compiler, which takes a while
            plan.refused = "there is no compiler"
            return False
        if not self._before():
            return False
        try:
            self.by_line = self._run(self.setting, found)
        except Exception as reason:
            return plan.refuse(reason)
        if self.by_line is None:
            plan.suspicious()
            return False
        plan.suspicions = 0
        return True

    def interpreted(self, steps: int) -> None:
        """The interpreter has run the launch after all, in so many steps."""
        plan = self._plan
        if plan is not None and self.measured is not None:
            self.measured.taken(steps)
            plan.spent_ms += self.measured.interpreted_ms
            plan.waiting = max(0, plan.waiting - 1)

    def _run(self, setting: Setting, expected: Measured) -> dict[int, Counters] | None:
        kept = self._memory.copy()
        found = None
        try:
            found = run.run(
                setting.code,
                setting.grid,
                setting.block,
                setting.arguments,
                blocks_in_order(setting.grid, setting.order_seed),
                self.step_budget,
                together=expected.together,
                bounded=expected.spends_at_most(self.step_budget),
                counted=self.counted,
                shuffled=setting.order_seed is not None,
                dynamic_bytes=setting.dynamic_bytes,
            )
        finally:
            if found is None:
                self._memory.put(kept)
        return found


def _pays(plan: _Plan, found: Measured, kernel: run.Kernel) -> bool:
    if kernel.is_compiled:
        return True
    compiling = worth.compiling_ms(kernel.text)
    now, after = found.interpreted_ms, found.compiled_ms
    return plan.spent_ms > compiling or now > CLEARLY * (compiling + after)


def _known(setting: Setting, plan: _Plan) -> Measured:
    shape = setting.grid, *[_shape_of(value) for value in setting.arguments.values()]
    known = plan.measured.get(shape)
    if known is None:
        if len(plan.measured) >= MAX_SHAPES:
            plan.measured.clear()
        known = plan.measured[shape] = measured(setting)
    return known


def measured(setting: Setting) -> Measured:
    """Returns what a launch takes, by an estimate."""
    effort = worth.effort(setting.code, setting.grid, setting.block, setting.arguments)
    return Measured(effort, setting)


class Measured:
    """What a launch takes, by an estimate.

    Attributes:
        effort: of one batch of blocks.
        together: the blocks of a batch.
        batches: how many there are.
        interpreted_ms, compiled_ms: what the launch takes both ways, its compiler left out.
    """

    def __init__(self, effort: worth.Effort, setting: Setting) -> None:
        (x, y, z), block = setting.grid, setting.block
        blocks = x * y * z
        self.together = min(blocks, blocks_together(block, local_bytes(setting.code.arrays)))
        self.batches = -(-blocks // self.together)
        self._lanes = -(-(block[0] * block[1] * block[2]) // WARP) * WARP
        self._blocks = blocks
        self._stored_bytes = sum(
            array.flat.nbytes
            for array in setting.arrays.values()
            if array.allocation.number in setting.stored
        )
        self._code = setting.code
        self._is(effort)

    def _is(self, effort: worth.Effort) -> None:
        self.effort = effort
        self.interpreted_ms = worth.interpreted_ms(
            self._code, effort, self.batches, self.together * self._lanes
        )
        self.compiled_ms = worth.compiled_ms(effort, self._blocks * self._lanes, self._stored_bytes)

    @property
    def may_be_longer(self) -> bool:
        """Whether turns are guessed, and what a launch may change is soon kept beside it."""
        keeping = self._stored_bytes * worth.STORED_BYTE_MS
        guessed = self.effort.most_steps is None and self.effort.steps > 0
        return guessed and keeping < HARDLY * self.interpreted_ms

    def after(self, steps: int, batches: int) -> tuple[float, float]:
        """Returns what so many steps of so many batches take, interpreted and compiled."""
        effort = self.effort.times(steps / (self.effort.steps * batches), None)
        lanes = self.together * self._lanes
        return (
            worth.interpreted_ms(self._code, effort, batches, lanes),
            worth.compiled_ms(effort, batches * lanes, self._stored_bytes),
        )

    def steps_of(self, blocks: int, milliseconds: float) -> int:
        """Returns how many steps of so many blocks the interpreter takes in a time."""
        once = worth.interpreted_ms(self._code, self.effort, 1, blocks * self._lanes)
        return int(self.effort.steps * milliseconds / once)

    def spends_at_most(self, steps: int) -> bool:
        """Whether it is known that no batch spends more."""
        most = self.effort.most_steps
        return most is not None and most <= steps

    def taken(self, steps: int) -> None:
        """The interpreter has taken so many steps: what was guessed is known now.

        A loop that each block runs another part of has as many turns as any two ends of the parts
        are apart, for all that is known before.
        """
        guessed = self.effort.steps * self.batches
        if steps > 0 and guessed > 0:
            known = self.effort.times(steps / guessed, None)
            self._is(replace(known, most_steps=self.effort.most_steps))


def _shape_of(value: Any) -> Any:
    """What of an argument a loop may hang on."""
    if isinstance(value, Array):
        return value.shape
    return int(value) if isinstance(value, np.integer) else None


def _plan_of(setting: Setting) -> _Plan:
    code = setting.code
    plan = _Plan(code, worth.writing_ms(code), order_shows(code))
    if code.captured:
        plan.refused = "arrays beside the kernel"
    if not all(isinstance(each, Array | np.generic) for each in setting.arguments.values()):
        plan.refused = "an argument that is neither an array nor a number"
    return plan
