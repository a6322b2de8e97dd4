"""An answer's kernels, seen by NVIDIA's compiler; no GPU is needed.

Of the answer file, imports, constants and functions are read; see `hardware.answer_module`.
"""

from __future__ import annotations

import linecache
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, partial
from math import prod
from pathlib import Path
from typing import Any

from gpu_course.errors import CourseError, NotBegun
from gpu_course.grading import workspace
from gpu_course.grading.answer_file import AnswerProblem
from gpu_course.grading.kernel.answers import read_answer
from gpu_course.grading.kernel.trial import Given, prepare
from gpu_course.grading.seeds import LISTED_SEED
from gpu_course.hardware.compiled import record, toolchain
from gpu_course.hardware.compiled.compiler import USUAL, compile_kernel
from gpu_course.hardware.compiled.listing import Compiled
from gpu_course.hardware.compute_capability import capability as limits_of
from gpu_course.hardware.occupancy import Occupancy, occupancy
from gpu_course.hardware.run import cuda_module, kernels_of
from gpu_course.puzzle import KernelPuzzle, Launch, index
from simt.text import one_line

FOLDER = "compiled"


@dataclass(frozen=True)
class Seen:
    """One kernel as the compiler leaves it.

    Attributes:
        puzzle: its full name; "" for a kernel that belongs to none.
        function: the kernel.
        capability: such as "8.0".
        threads: of one block, as the visible example launches it.
        figures: registers, spills, stack, shared memory and the mix of instructions.
        occupancy: how many of its blocks an SM holds.
        compiled: the code itself; None where only the record of the solution is known.
        text: the file it was compiled from, in lines; empty likewise.
        compiler: the versions that made it.
    """

    puzzle: str
    function: str
    capability: str
    threads: int
    figures: record.Figures
    occupancy: Occupancy
    compiled: Compiled | None
    text: tuple[str, ...]
    compiler: str


def compile_answer(
    name: str, capability: str = USUAL, path: Path | None = None
) -> tuple[Seen, ...]:
    """Returns what the compiler makes of each kernel of an answer.

    Args:
        name: of a kernel puzzle.
        capability: the compute capability to compile for.
        path: the answer file; default the learner's own.

    Raises:
        UnknownName: no such puzzle or capability.
        NotBegun: the answer is still the stub.
        NoCompiler: the wheels are not installed; `recorded` says what is known without them.
        CourseError: the answer cannot be read, or Numba refuses it.
        ToolFailed: ptxas or nvdisasm failed.
    """
    limits_of(capability)
    puzzle = _kernel_puzzle(name)
    tools = toolchain.toolchain()
    path = path or workspace.answer_path(puzzle)
    try:
        read_answer(puzzle, path)
    except AnswerProblem as problem:
        raise problem.error(NotBegun if problem.status == "not-started" else CourseError) from None
    text = path.read_text(encoding="utf-8")
    given = _example(puzzle)
    launches = _launches(given)
    file = path

    @cache
    def kernels() -> dict[str, Any]:
        try:
            return kernels_of(file, launches, cuda_module())
        except CourseError:
            raise
        except (Exception, SystemExit) as error:
            raise _broken(file, error) from error

    keep = workspace.state_folder() / FOLDER
    values = {**given.outputs, **given.inputs}
    seen = []
    for launch in launches:
        arguments = [values[each] for each in launch.args]
        function = launch.function
        load = partial(_kernel, kernels, function)
        found = compile_kernel(load, function, arguments, capability, keep, text)
        figures = record.Figures.of(found)
        seen.append(
            _seen(puzzle, launch, capability, figures, found, text.splitlines(), tools.named)
        )
    return tuple(seen)


def compile_function(
    kernel: Callable[..., Any], arguments: Sequence[Any], threads: int, capability: str = USUAL
) -> Seen:
    """Returns what the compiler makes of a kernel that is here as a function.

    Args:
        kernel: of `cuda.jit`, or plain Python.
        arguments: as a launch gets them; only their types count.
        threads: of one block, for the occupancy.
        capability: the compute capability to compile for.

    Raises:
        UnknownName, NoCompiler, CourseError, ToolFailed: as `compile_answer`.
    """
    limits = limits_of(capability)
    plain = getattr(kernel, "py_func", kernel)
    keep = workspace.state_folder() / FOLDER if workspace.checkout() else None
    found = compile_kernel(lambda: kernel, plain.__name__, arguments, capability, keep)
    figures = record.Figures.of(found)
    fits = occupancy(limits, figures.registers, figures.shared_bytes, threads)
    text = tuple(line.rstrip("\n") for line in linecache.getlines(plain.__code__.co_filename))
    name = plain.__name__
    return Seen("", name, capability, threads, figures, fits, found, text, found.compiler)


def recorded(name: str, capability: str = USUAL) -> tuple[Seen, ...]:
    """Returns what is on record of the kernels of a puzzle's solution.

    Raises:
        UnknownName: no such puzzle, or nothing is recorded for that capability.
    """
    puzzle = _kernel_puzzle(name)
    compiler = record.record().compiler
    return tuple(
        _seen(
            puzzle,
            launch,
            capability,
            record.figures(puzzle.name, launch.function, capability),
            None,
            (),
            compiler,
        )
        for launch in _launches(_example(puzzle))
    )


def _broken(file: Path, error: BaseException) -> CourseError:
    """Returns what happened when an answer file was executed, in one line with its place."""
    frames = traceback.extract_tb(error.__traceback__)
    line = next((each.lineno for each in reversed(frames) if each.filename == str(file)), None)
    where = file.name if line is None else f"{file.name}:{line}"
    said = one_line(f"{type(error).__name__}: {error}")
    return CourseError(f"{where} ends with {said}", "mend the line: nothing can be compiled of it")


def _kernel_puzzle(name: str) -> KernelPuzzle:
    puzzle = index.find(name)
    if not isinstance(puzzle, KernelPuzzle):
        raise CourseError(
            f"{puzzle.name} asks for no kernel, so there is nothing to compile",
            "`gpu-course list` shows the puzzles; name one of a lesson on kernels",
        )
    return puzzle


def _kernel(kernels: Callable[[], dict[str, Any]], function: str) -> Any:
    return kernels()[function]


def _example(puzzle: KernelPuzzle) -> Given:
    return prepare(puzzle, puzzle.cases[0], LISTED_SEED)


def _launches(given: Given) -> list[Launch]:
    """Returns the first launch of each kernel."""
    first: dict[str, Launch] = {}
    for launch in given.launches:
        first.setdefault(launch.function, launch)
    return list(first.values())


def _seen(
    puzzle: KernelPuzzle,
    launch: Launch,
    capability: str,
    figures: record.Figures,
    compiled: Compiled | None,
    text: list[str] | tuple[str, ...],
    compiler: str,
) -> Seen:
    block = launch.block
    threads = block if isinstance(block, int) else prod(block)
    shared = figures.shared_bytes + launch.shared_bytes
    fits = occupancy(limits_of(capability), figures.registers, shared, threads)
    return Seen(
        puzzle.name,
        launch.function,
        capability,
        threads,
        figures,
        fits,
        compiled,
        tuple(text),
        compiler,
    )
