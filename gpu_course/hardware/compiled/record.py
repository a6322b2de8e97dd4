"""What the compiler made of the course's own solutions, for machines that have no compiler.

`record.json` beside this file is written by `python -m benchmarks.record_compiled`. It holds counts
and no code.
"""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Any

import msgspec

from gpu_course.errors import UnknownName
from gpu_course.hardware.compiled.listing import Compiled

PATH = Path(__file__).with_name("record.json")


class Figures(msgspec.Struct, frozen=True):
    """What is kept of one kernel for one compute capability; the fields are those of Compiled."""

    registers: int
    spill_bytes: int
    stack_bytes: int
    shared_bytes: int
    mix: dict[str, int]

    @property
    def instructions(self) -> int:
        """How many there are."""
        return sum(self.mix.values())

    @classmethod
    def of(cls, found: Compiled) -> Figures:
        """Returns what is kept of a compiled kernel."""
        return cls(
            found.registers, found.spill_bytes, found.stack_bytes, found.shared_bytes, found.mix
        )


class Record(msgspec.Struct, frozen=True):
    """All that is kept.

    Attributes:
        versions: distribution -> version of what compiled.
        kernels: "lesson/puzzle:function" -> compute capability -> Figures, of the solutions.
        float64: "lesson/puzzle:function" -> operations in float64 in its PTX for the usual
            capability, of solutions and named mistakes.
    """

    versions: dict[str, str]
    kernels: dict[str, dict[str, Figures]]
    float64: dict[str, int] = msgspec.field(default_factory=dict)

    @property
    def compiler(self) -> str:
        """The versions, in a few words."""
        return ", ".join(f"{name} {version}" for name, version in self.versions.items())


@lru_cache(maxsize=1)
def record() -> Record:
    """Returns the record that came with the course."""
    return msgspec.json.decode(PATH.read_bytes(), type=Record)


def figures(puzzle: str, function: str, capability: str) -> Figures:
    """Returns what is kept of one kernel of a solution.

    Raises:
        UnknownName: the record has no such kernel, or not for that capability.
    """
    kept = record().kernels.get(f"{puzzle}:{function}")
    if kept is None:
        raise UnknownName(
            f"the record holds no {function} of {puzzle}", "`gpu-course list` names the puzzles"
        )
    if capability not in kept:
        raise UnknownName(
            f"the record holds nothing for compute capability {capability}",
            f"it has {', '.join(kept)}",
        )
    return kept[capability]


def to_text(made: Record) -> bytes:
    """Returns the record as it is written: a line for each kernel and table."""
    encode = msgspec.json.encode
    lines: list[Any] = [
        encode(name) + b": " + encode(kept) for name, kept in sorted(made.kernels.items())
    ]
    head = b'{"versions": ' + encode(made.versions) + b',\n"kernels": {\n'
    counts = [encode(name) + b": " + encode(count) for name, count in sorted(made.float64.items())]
    return b"".join(
        [head, b",\n".join(lines), b'\n},\n"float64": {\n', b",\n".join(counts), b"\n}}\n"]
    )
