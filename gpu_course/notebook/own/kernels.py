"""Kernels that a lesson works with: the learner's own, and until there is one the solution's."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from gpu_course.errors import CourseError
from gpu_course.grading import workspace
from gpu_course.grading.answer_file import AnswerProblem
from gpu_course.grading.kernel.answers import read_answer
from gpu_course.grading.learner.solution import course_solutions
from gpu_course.puzzle import KernelPuzzle, index
from simt.kernel.source import Kernel


@dataclass(frozen=True)
class OwnKernel:
    """A kernel to work with.

    Attributes:
        name: of the puzzle and the kernel, such as "matvec".
        kernel: for `simulate`.
        file: where it is written, for `hardware.run`.
        own: True for the learner's.
    """

    name: str
    kernel: Kernel
    file: Path
    own: bool

    def __str__(self) -> str:
        return f"{'your' if self.own else 'our'} {self.name}"


def own_kernel(name: str) -> OwnKernel:
    """Returns the learner's kernel, right or wrong; until there is one, that of the solution.

    Args:
        name: of a kernel puzzle; its first function is meant.

    Raises:
        CourseError: no kernel puzzle is called that, or the learner's file cannot be read.
        KernelRefused: the learner's kernel is refused, with its line.
    """
    puzzle = index.find(name)
    if not isinstance(puzzle, KernelPuzzle):
        raise CourseError(f"{puzzle.name} asks for no kernel", "name a kernel puzzle")
    file, own = workspace.answer_path(puzzle), True
    try:
        kernels = read_answer(puzzle).kernels
    except AnswerProblem as problem:
        if problem.status != "not-started":
            raise problem.error() from None
        file, own = course_solutions() / f"{puzzle.name}.py", False
        kernels = read_answer(puzzle, file).kernels
    return OwnKernel(puzzle.short_name, kernels[puzzle.functions[0]], file, own)


def whose(kernels: Iterable[OwnKernel]) -> str:
    """Returns in words which kernels are the learner's.

    >>> from pathlib import Path
    >>> two = [OwnKernel(n, None, Path(), n == "rope") for n in ("rope", "matvec")]
    >>> whose(two)
    'your rope; our matvec, until there is one of yours'
    """
    given = list(kernels)
    own = ", ".join(each.name for each in given if each.own)
    ours = ", ".join(each.name for each in given if not each.own)
    parts = [f"your {own}"] if own else []
    if ours:
        several = "there are some" if ours.count(",") else "there is one"
        parts.append(f"our {ours}, until {several} of yours")
    return "; ".join(parts)
