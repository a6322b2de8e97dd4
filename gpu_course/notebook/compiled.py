"""What NVIDIA's compiler makes of a kernel in a lesson."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gpu_course.grading.card.compiled import compile_function
from gpu_course.grading.card.compiled_text import line_table, sass_text, summary_text
from gpu_course.notebook.note import Note, telling


@telling
def compiled(
    kernel: Callable[..., Any],
    *arguments: Any,
    cc: str = "8.0",
    threads: int = 256,
    sass: bool = False,
) -> Note:
    """Returns what the compiler makes of a kernel: registers, kinds of instructions, line by line.

    Nothing runs, and no GPU is needed; the extra `compile` is.

    Args:
        kernel: of `cuda.jit`, or plain Python.
        arguments: as a launch gets them; only their types count.
        cc: the compute capability to compile for.
        threads: of one block, for the occupancy.
        sass: the machine code in place of a row for each line.
    """
    seen = compile_function(kernel, arguments, threads, cc)
    shown = sass_text(seen) if sass else line_table(seen)
    return Note(f"{summary_text(seen)}\n\n{shown}")
