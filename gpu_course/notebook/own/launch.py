"""The learner's own answer to a kernel puzzle, launched on the visible example and recorded."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from gpu_course.errors import CourseError, NotBegun
from gpu_course.grading.answer_file import AnswerProblem
from gpu_course.grading.kernel import trial
from gpu_course.grading.kernel.answers import read_answer
from gpu_course.grading.seeds import LISTED_SEED
from gpu_course.puzzle import KernelPuzzle, index
from simt.report import Recording
from simt.stepping import record


def record_answer(name: str, watch: Sequence[str] = (), *, answer: Any = None) -> Recording:
    """Returns the first launch of the visible example, carried out by an answer and recorded.

    Args:
        name: of a kernel puzzle.
        watch: variables and arrays to keep; none asks for the first local variables.
        answer: as for `check`; default the learner's own file.

    Raises:
        UnknownName: no puzzle is called that.
        CourseError: no kernel puzzle, or an answer that cannot be run.
    """
    puzzle = index.find(name)
    if not isinstance(puzzle, KernelPuzzle):
        raise CourseError(f"{puzzle.name} has no threads to draw", "name a kernel puzzle")
    try:
        kernels = read_answer(puzzle, answer).kernels
    except AnswerProblem as problem:
        kind = NotBegun if problem.status == "not-started" else CourseError
        raise problem.error(kind) from None
    given = trial.prepare(puzzle, puzzle.cases[0], LISTED_SEED)
    launch = given.launches[0]
    values: dict[str, Any] = {**given.outputs, **given.inputs}
    copies = {n: v.copy() if isinstance(v, np.ndarray) else v for n, v in values.items()}
    shape = (launch.grid, launch.block, 0, launch.shared_bytes)
    return record(kernels[launch.function], watch)[shape](*(copies[n] for n in launch.args))
