"""Kernels of this lesson line by line as NVIDIA's compiler leaves them, from a record.

`listings.json` beside this file is written by `python -m benchmarks.record_listings`. It serves
whoever has no compiler, and is why the numbers of the lesson are the same on every machine.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

import msgspec

from gpu_course.errors import UnknownName
from gpu_course.hardware.compiled.compiler import compile_kernel
from gpu_course.hardware.compiled.listing import Compiled, Instruction, mix

PATH = Path(__file__).with_name("listings.json")


class Code(msgspec.Struct, frozen=True):
    """A kernel for one compute capability, in the order of its addresses.

    Attributes:
        registers, spill_bytes, stack_bytes, shared_bytes: as in `Compiled`.
        sass: (line of the kernel's text, 32-bit registers in use, the instruction).
        ptx: (line, statement).
    """

    registers: int
    spill_bytes: int
    stack_bytes: int
    shared_bytes: int
    sass: tuple[tuple[int, int, str], ...]
    ptx: tuple[tuple[int, str], ...]


class Kept(msgspec.Struct, frozen=True):
    """A kernel's text, and its code by compute capability; the first line is line 1."""

    text: str
    code: dict[str, Code]


class Record(msgspec.Struct, frozen=True):
    """All that is kept, and by which versions it was compiled."""

    compiler: str
    kernels: dict[str, Kept]


class Listing(msgspec.Struct, frozen=True):
    """A kernel line by line.

    Attributes:
        name: what pictures and tables call it.
        capability: that it was compiled for.
        compiler: the versions that compiled it.
        recorded: whether it comes from the record.
        lines: the text; the first is line 1.
        code: what it became.
    """

    name: str
    capability: str
    compiler: str
    recorded: bool
    lines: tuple[str, ...]
    code: Code

    @property
    def source(self) -> str:
        """Where it comes from, in a few words."""
        return f"{'record' if self.recorded else 'compiled here'}: {self.compiler}"

    def under(self, line: int) -> tuple[tuple[int, int, str], ...]:
        """Returns the instructions of a line: (place in the program, registers in use, text)."""
        return tuple(
            (place, live, text)
            for place, (of, live, text) in enumerate(self.code.sass)
            if of == line
        )

    def ptx_under(self, line: int) -> tuple[str, ...]:
        """Returns the PTX statements of a line, without labels and declarations."""
        return tuple(
            text
            for of, text in self.code.ptx
            if of == line and not text.startswith(".") and not text.endswith(":")
        )

    @property
    def mix(self) -> Mapping[str, int]:
        """Kind -> how many instructions."""
        return mix(Instruction(line, opcode(text), text, 0) for line, _, text in self.code.sass)

    @property
    def instructions(self) -> int:
        """How many there are."""
        return len(self.code.sass)

    def line_of(self, part: str) -> int:
        """Returns the first line that has this text in it.

        Raises:
            UnknownName: none has.
        """
        for number, text in enumerate(self.lines, 1):
            if part in text:
                return number
        raise UnknownName(f"{self.name} has no line with {part!r}", "look at its `lines`")


def opcode(text: str) -> str:
    """Returns the name of an instruction, with its suffixes and without its predicate.

    >>> opcode("@!P0 LDG.E R2, [R4]"), opcode("EXIT")
    ('LDG.E', 'EXIT')
    """
    first, _, rest = text.partition(" ")
    return rest.split(" ", 1)[0] if first.startswith("@") else first


@lru_cache(maxsize=1)
def _record() -> Record:
    return msgspec.json.decode(PATH.read_bytes(), type=Record)


def names() -> tuple[str, ...]:
    """Returns the kernels that are on record."""
    return tuple(_record().kernels)


def recorded(name: str, capability: str = "8.0") -> Listing:
    """Returns a kernel of this lesson from the record.

    Raises:
        UnknownName: the record has no such kernel, or not for that capability.
    """
    kept = _record().kernels.get(name)
    if kept is None:
        raise UnknownName(f"no kernel {name!r} is on record", f"it has {', '.join(names())}")
    if capability not in kept.code:
        raise UnknownName(
            f"nothing is on record of {name} for compute capability {capability}",
            f"it has {', '.join(kept.code)}",
        )
    lines = tuple(kept.text.splitlines())
    code = kept.code[capability]
    return Listing(name, capability, _record().compiler, True, lines, code)


def compiled_here(kernel: Callable[..., Any], *arguments: Any, capability: str = "8.0") -> Listing:
    """Returns a kernel of one's own, compiled on this machine.

    Args:
        kernel: of `cuda.jit`, or plain Python.
        arguments: as a launch gets them; only their types count.
        capability: the compute capability to compile for.

    Raises:
        NoCompiler, CourseError, ToolFailed: as `compile_kernel`.
    """
    plain = getattr(kernel, "py_func", kernel)
    name = plain.__name__
    found = compile_kernel(lambda: kernel, name, arguments, capability)
    text, first = inspect.getsourcelines(plain)
    lines = tuple(line.rstrip("\n") for line in text)
    return Listing(name, capability, found.compiler, False, lines, code_of(found, first))


def code_of(found: Compiled, first: int = 1) -> Code:
    """Returns what is kept of compiled code, its lines counted from `first` of the file."""
    return Code(
        found.registers,
        found.spill_bytes,
        found.stack_bytes,
        found.shared_bytes,
        tuple((_line(each.line, first), each.registers, each.text) for each in found.instructions),
        tuple((_line(line, first), text) for line, text in found.ptx),
    )


def _line(line: int, first: int) -> int:
    return line - first + 1 if line else 0
