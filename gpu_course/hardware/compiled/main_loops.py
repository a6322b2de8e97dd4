"""What the compiler made of the matrix products, by a record: `benchmarks.compiled_kernels`.

The record counts instructions of the main loop, of one thread. It was made without a GPU, so it
says what a warp has to issue and nothing of how long that takes.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from gpu_course.errors import CourseError

PATH = Path(__file__).with_name("main_loops.json")
"""The record. It lies in the package, since lessons read it wherever that is."""
H100 = "9.0"
"""The compute capability that lessons show."""


@dataclass(frozen=True)
class MainLoop:
    """The main loop of a kernel as machine code.

    Attributes:
        instructions: for each multiply-add, itself included.
        shared_loads: instructions that load from shared memory, for each multiply-add.
        load_bytes: of the widest of them, for each thread; 0 where there is none.
        barriers: in a turn of the loop.
        registers: of a thread.
        spilled_bytes: of a thread's numbers that lie in local memory.
        in_flight: global loads that are issued before the first of their numbers is used.
        hidden_behind: multiply-adds between the first of these loads and that use.
    """

    instructions: float
    shared_loads: float
    load_bytes: int
    barriers: int
    registers: int
    spilled_bytes: int
    in_flight: int
    hidden_behind: int


def main_loop(kernel: str, capability: str = H100) -> MainLoop:
    """Returns what the record says of a kernel.

    Args:
        kernel: a puzzle of lesson 06, or one of its variants, such as "matmul_naive with range".
        capability: compute capability, "8.0" or "9.0".

    Raises:
        CourseError: the record is not there, or does not have it.
    """
    try:
        found = json.loads(PATH.read_text(encoding="utf-8"))["kernels"][kernel][capability]
    except (OSError, KeyError) as error:
        raise CourseError(
            f"no record says what {kernel} is compiled to for {capability}",
            "python -m benchmarks.compiled_kernels matmul",
        ) from error
    loads = found["shared_loads"]
    return MainLoop(
        instructions=found["instructions"] / found["ffma"],
        shared_loads=sum(loads.values()) / found["ffma"],
        load_bytes=max(map(int, loads), default=0),
        barriers=found["barriers"],
        registers=found["registers"],
        spilled_bytes=found["spilled_bytes"],
        in_flight=found["in_flight"],
        hidden_behind=found["hidden_behind"],
    )


def main_loops_text(kernels: Sequence[str], capability: str = H100) -> str:
    """Returns a table of kernels, a line for each.

    Args:
        kernels: as `main_loop` takes them.
        capability: compute capability.
    """
    rows = [
        ("for each multiply-add:", "instr.", "loads", "bytes", "barriers", "registers"),
        *(
            (
                kernel,
                f"{each.instructions:.2f}",
                f"{each.shared_loads:.3f}",
                str(each.load_bytes or "-"),
                str(each.barriers),
                str(each.registers),
            )
            for kernel, each in ((kernel, main_loop(kernel, capability)) for kernel in kernels)
        ),
    ]
    return "\n".join(
        f"{name:<25}{instructions:>7}{loads:>7}{width:>7}{barriers:>10}{registers:>11}"
        for name, instructions, loads, width, barriers, registers in rows
    )
