"""Records what NVIDIA's compiler makes of every solution: registers, spills, kinds of instructions.

    python -m benchmarks.record_compiled

It needs no GPU, but the extra `compile`. Of the named mistakes it records alone how often their PTX
computes in float64. What is found is written to gpu_course/hardware/compiled/record.json, which
serves whoever has no compiler; a test compiles anew where it can and compares.
"""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks.programs.course_kernels import SOLUTIONS, kernels, load
from gpu_course.grading.card.compiled import compile_answer
from gpu_course.hardware.compiled.compiler import CAPABILITIES, USUAL, ptx_of
from gpu_course.hardware.compiled.listing import float64_in_ptx
from gpu_course.hardware.compiled.record import PATH, Figures, Record, to_text
from gpu_course.hardware.compiled.toolchain import toolchain
from gpu_course.puzzle import KernelPuzzle
from gpu_course.puzzle.index import puzzles


def compiled(capability: str) -> Iterator[tuple[str, Figures]]:
    """Yields ("lesson/puzzle:function", what the compiler made of it) of every solution."""
    for puzzle in puzzles():
        if isinstance(puzzle, KernelPuzzle):
            path = SOLUTIONS / f"{puzzle.name}.py"
            for seen in compile_answer(puzzle.name, capability, path):
                yield f"{puzzle.name}:{seen.function}", seen.figures


def float64() -> Iterator[tuple[str, int]]:
    """Yields ("lesson/puzzle:function", float64 operations in its PTX), mistakes included."""
    for key, path, function, _, arguments in kernels():
        ptx = ptx_of(load(path, function), arguments, USUAL)
        yield key, float64_in_ptx(ptx)


def made() -> Record:
    """Returns the record of the solutions as they are."""
    found: dict[str, dict[str, Figures]] = {}
    for capability in CAPABILITIES:
        for name, figures in compiled(capability):
            found.setdefault(name, {})[capability] = figures
    return Record(toolchain().versions, found, dict(float64()))


if __name__ == "__main__":
    PATH.write_bytes(to_text(made()))
    print(f"wrote {PATH.name}: {PATH.stat().st_size:,} bytes")
