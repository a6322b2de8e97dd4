"""Writes a kernel as a function that runs one block: a loop over its lanes for each statement.

It does what `machine.interpreter` does, in the same order, for the same lanes, and counts the same.
Where the interpreter would report something, the function returns 1, and whatever it has done is
thrown away.
"""

from __future__ import annotations

from collections.abc import Set
from typing import Any

import numpy as np

from simt.compiled.facts.analysis import NotCompiled
from simt.compiled.facts.intervals import unraced_loads
from simt.compiled.facts.uses import Uses
from simt.compiled.writing import traffic
from simt.compiled.writing.accesses import Accesses
from simt.compiled.writing.arithmetic import Arithmetic, memory_type, number_type
from simt.compiled.writing.arrays import Arrays, Memory, has_tiles
from simt.compiled.writing.context import Context
from simt.compiled.writing.masks import Masks
from simt.compiled.writing.order import Order
from simt.compiled.writing.races import Races
from simt.compiled.writing.statements import Statements
from simt.compiled.writing.together import Together
from simt.compiled.writing.values import Value, Values
from simt.compiled.writing.variables import Variables, frame_of
from simt.compiled.writing.whole import Whole, remembering
from simt.compiled.writing.words import Words
from simt.kernel import ir, types
from simt.report import Dim3

CLEAN, SUSPECT = 0, 1


class Emitter:
    """Writes the function of a kernel.

    Args:
        code: the kernel.
        block: of the launch.
        unset: arguments of which not all cells have been written before the launch.
    """

    def __init__(self, code: ir.Code, block: Dim3, unset: Set[str] = frozenset()) -> None:
        self.code = code
        self.context = Context(block)
        masks = self.masks = Masks(self.context)
        arithmetic = self.arithmetic = Arithmetic(self.context)
        values = Values(self.context, masks, arithmetic)
        frame = frame_of(code, block, {})
        self._variables = Variables(self.context, masks, arithmetic, values, frame)
        self._arrays = Arrays(self.context, masks, code, unset)
        unraced = unraced_loads(code)
        races = Races(self.context, masks, Uses(code, unraced))
        affine = frame.affine
        remembered = remembering(code, affine, self.context.threads) if affine else {}
        whole = self.whole = Whole(self.context, values, self._arrays, races, remembered)
        self.order = Order(self.context, masks, code)
        self._accesses = Accesses(
            self.context, masks, values, self._arrays, races, self.order, whole, code, unraced
        )
        self._words = Words(self.context, masks, values)
        self._statements = Statements(
            self.context,
            masks,
            values,
            self._variables,
            self._accesses,
            Together(self.context, masks, values),
            self._words,
        )

    @property
    def slots(self) -> dict[str, int]:
        """What the function finds in its state, by name -> the word."""
        return self.context.slots

    @property
    def counted(self) -> dict[tuple[int, str], int]:
        """(line, what) -> its first counter."""
        return self.context.counted

    @property
    def counters(self) -> int:
        """How many counters there are."""
        return self.context.counters

    @property
    def lanes(self) -> int:
        """The lanes of a block."""
        return self.context.lanes

    @property
    def threads(self) -> int:
        """The threads of a block."""
        return self.context.threads

    @property
    def warps(self) -> int:
        """The warps of a block."""
        return self.context.warps

    @property
    def sites(self) -> int:
        """How many places touch global or shared memory."""
        return self._accesses.accounts.sites

    @property
    def arrays(self) -> dict[str | int, Memory]:
        """Arguments by name, and arrays that the kernel makes by number."""
        return self._arrays.known

    @property
    def math(self) -> Set[str]:
        """The functions that a library works out, by their keys."""
        return self._words.math.keys()

    def number_of(self, name: str) -> int:
        """Returns the word of the state that has a name."""
        return self.context.number_of(name)

    def text(self) -> str:
        """Returns the module.

        Raises:
            NotCompiled: the kernel has something that stays with the interpreter.
        """
        code, w = self.code, self.context.w
        _check(code)
        for name, (given, own) in code.parameters.items():
            self._parameter(name, given, own)
        syncs_warps = "cuda.syncwarp" in code.names
        self.context.begin(syncs_warps=syncs_warps, has_tiles=has_tiles(code))
        self._statements.block(code.body, last=True)
        self.context.end()
        w.do(f"ret i32 {CLEAN}")
        w.lines.append("suspect:")
        w.do(f"ret i32 {SUSPECT}")
        accounts = self._accesses.accounts
        sizes = accounts.global_sizes, accounts.shared_sizes
        declared = sorted(self.context.declared | traffic.DECLARED)
        functions = self._words.math_functions()
        return "\n".join([traffic.functions(*sizes), *declared, *functions, w.text()])

    def _parameter(self, name: str, given: Any, own: Any) -> None:
        if isinstance(given, types.ArrayType):
            self._variables.frame.variables[name] = self._arrays.argument(name, given, own)
            return
        what = f"{name} is neither an array nor a number"
        given, own = number_type(given, what), number_type(own, what)
        memory_type(given)
        value = self.arithmetic.from_word(self.context.slot(f"number {name}"), given)
        value = self.arithmetic.converted(value, given, own)
        self._variables.give(name, own, Value(own, value), self.masks.everybody)


def _check(code: ir.Code) -> None:
    """Raises NotCompiled for kernels that stay with the interpreter as a whole."""
    if code.partial_warps or code.captured:
        raise NotCompiled("parts of warps, or arrays beside the kernel")
    if any("fence" in name or "cuda.cg" in name for name in code.names):
        raise NotCompiled("fences, and barriers of the grid")
    if sum(request.dynamic for request in code.arrays) > 1:
        raise NotCompiled("several arrays in the same dynamic shared memory")
    for request in code.arrays:
        if request.dtype.kind not in "biuf" or request.dtype == np.float16:
            raise NotCompiled("structures, or numbers that are not compiled")
