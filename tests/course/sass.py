"""The machine code of a kernel, made without a GPU by numba-cuda and NVIDIA's assembler."""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

INSTRUCTION = re.compile(r"/\*[0-9a-f]{4,}\*/\s+(?:@!?U?P\d+\s+)?(.+?)\s*;")


@dataclass(frozen=True)
class Machine:
    """A kernel as the assembler left it.

    Args:
        registers: of a thread.
        shared_bytes, stack_bytes: of a block, and of a thread in local memory.
        instructions: in the order of the program, without their predicates.
    """

    registers: int
    shared_bytes: int
    stack_bytes: int
    instructions: tuple[str, ...]

    def count(self, name: str) -> int:
        """Returns how many instructions begin with a name, such as "SHFL"."""
        return sum(each.startswith(name) for each in self.instructions)

    def loads_in_flight(self) -> int:
        """Returns the most loads from global memory sent off before the first of them is used."""
        most, pending = 0, set[str]()
        for each in self.instructions:
            registers = re.findall(r"\bR\d+\b", each)
            stores = each.startswith(("ST", "RED", "ATOM"))
            if each.startswith("LDG"):
                pending.add(registers[0])
                most = max(most, len(pending))
            elif pending & set(registers if stores else registers[1:]):
                pending.clear()
        return most


@lru_cache(maxsize=1)
def tools() -> tuple[Path, Path] | None:
    """Returns the assembler and the disassembler, or None where one or numba-cuda is missing."""
    if importlib.util.find_spec("numba_cuda") is None:
        return None
    for folder in map(Path, sys.path):
        for assembler in sorted(folder.glob("nvidia/*/bin/ptxas*")):
            reader = assembler.with_name(assembler.name.replace("ptxas", "nvdisasm"))
            if reader.exists():
                return assembler, reader
    return None


def compiled(kernel: Callable[..., None], arguments: Sequence[Any], folder: Path) -> Machine:
    """Returns a kernel for compute capability 9.0, an H100's.

    Args:
        kernel: a plain function.
        arguments: of a launch; their types are taken, or types of Numba.
        folder: an empty one, for the files between.
    """
    from numba import cuda, typeof, types

    found = tools()
    assert found is not None
    signature = tuple(a if isinstance(a, types.Type) else typeof(a) for a in arguments)
    ptx, _ = cuda.compile_ptx(kernel, signature, cc=(9, 0))
    text, binary = folder / "kernel.ptx", folder / "kernel.cubin"
    text.write_text(ptx, encoding="utf-8")
    said = _run(found[0], "-v", "-arch=sm_90", text, "-o", binary).stderr
    listing = _run(found[1], "-c", binary).stdout
    shared = re.search(r"(\d+) bytes smem", said)
    return Machine(
        int(_number(r"Used (\d+) registers", said)),
        int(shared[1]) if shared else 0,
        int(_number(r"(\d+) bytes stack frame", said)),
        tuple(INSTRUCTION.findall(listing)),
    )


def _run(*command: Any) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*map(str, command)], capture_output=True, text=True, check=True)


def _number(pattern: str, text: str) -> str:
    found = re.search(pattern, text)
    assert found is not None, text
    return found[1]
