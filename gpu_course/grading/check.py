"""`check`: one answer to one puzzle becomes one Verdict."""

from __future__ import annotations

import time
import traceback
from dataclasses import replace
from pathlib import Path
from typing import Any

import gpu_course
import simt
from gpu_course.errors import CourseError
from gpu_course.grading import workspace
from gpu_course.grading.answer_file import AnswerProblem, path_of
from gpu_course.grading.checking import Checking
from gpu_course.grading.kernel import on_card
from gpu_course.grading.kernel.answers import is_path, read_answer
from gpu_course.grading.kernel.check import KernelChecking
from gpu_course.grading.python.answers import read_python_answer
from gpu_course.grading.python.check import PythonChecking
from gpu_course.grading.seeds import default_seed
from gpu_course.grading.verdicts.sections import code_line, fact, section
from gpu_course.grading.verdicts.verdict import Verdict
from gpu_course.grading.worker import check_in_worker
from gpu_course.puzzle import KernelPuzzle, Puzzle, PythonPuzzle, index
from simt.errors import KernelRefused


def check(
    name: str | Puzzle, *, answer: Any = None, seed: int | None = None, gpu: bool = False
) -> Verdict:
    """Returns the verdict on an answer to a puzzle.

    Every case is tried in two orders of the blocks, the visible example first and a random one
    last, up to the first that fails; a kernel on whose result the order may tell, since it waits or
    uses what an atomic finds, in some orders of its warps as well. In a case, what weighs more is
    told first: refused, hazard, changed input, wrong result, dependence on the order. Budgets come
    when all cases are right.

    Args:
        name: "guard" or "01_threads/guard", or a Puzzle.
        answer: default the learner's own file; else the path of a file or of a folder of answers,
            or a function (for several functions a dict, a sequence or a module of them). A kernel
            is read and interpreted, never executed; an answer in Python runs in a process of its
            own.
        seed: draws the random case; default GPU_COURSE_SEED, else a fresh one each time.
        gpu: whether a kernel's file also runs on this machine's GPU, in a process of its own. What
            the card left stands beside the simulator's verdict (`Verdict.card`).

    Raises:
        UnknownName: no puzzle is called that.
        CourseError: no folder of answers, or an `answer` that is nothing of the above; with `gpu`,
            there is no GPU, or no file of kernels to run on it.
    """
    puzzle = name if isinstance(name, Puzzle) else index.find(name)
    seed = default_seed() if seed is None else seed
    file = on_card.answer_of(puzzle, answer) if gpu else None
    if gpu:
        on_card.make_ready()
    start = time.perf_counter()
    if isinstance(puzzle, KernelPuzzle) and is_path(answer) and index.is_of_the_course(puzzle):
        own = answer is None
        path = workspace.answer_path(puzzle) if own else path_of(puzzle, answer)
        verdict = check_in_worker(puzzle, path.absolute(), own=own, seed=seed)
    else:
        verdict = check_here(puzzle, answer=answer, seed=seed)
    verdict = replace(verdict, seconds=time.perf_counter() - start)
    if file is not None and isinstance(puzzle, KernelPuzzle):
        verdict = on_card.beside(verdict, puzzle, file, seed)
    return verdict


def check_here(puzzle: Puzzle, *, answer: Any = None, seed: int | None = None) -> Verdict:
    """Returns the verdict on an answer, made in this very process; see `check`."""
    seed = default_seed() if seed is None else seed
    start = time.perf_counter()
    try:
        verdict = _verdict_on(puzzle, answer, seed)
    except AnswerProblem as problem:
        verdict = _not_run(puzzle, problem)
    except KernelRefused as refusal:
        verdict = refused(puzzle, refusal)
    return replace(verdict, seconds=time.perf_counter() - start)


def _verdict_on(puzzle: Puzzle, answer: Any, seed: int) -> Verdict:
    try:
        checking = _checking(puzzle, answer, seed)
    except (AnswerProblem, CourseError):
        raise
    except Exception as error:
        return grader_failed(puzzle, error)
    try:
        return checking.verdict()
    except (AnswerProblem, KernelRefused):
        raise
    except Exception as error:
        return grader_failed(puzzle, error)


def _checking(puzzle: Puzzle, answer: Any, seed: int) -> Checking:
    """Returns the check of an answer, which is read here."""
    if isinstance(puzzle, PythonPuzzle):
        return PythonChecking(puzzle, read_python_answer(puzzle, answer), seed)
    assert isinstance(puzzle, KernelPuzzle)
    return KernelChecking(puzzle, read_answer(puzzle, answer).kernels, seed)


def refused(puzzle: Puzzle, refusal: KernelRefused) -> Verdict:
    """Returns the verdict on a kernel that cannot be compiled, with its line."""
    said = (
        *fact(refusal.fact),
        *section("where", refusal.where, *code_line(refusal.text)),
        *section("try", refusal.hint),
        *section("think", puzzle.diagnoses.get("refused", "")),
    )
    return Verdict(puzzle.name, "failed", "refused", 0, puzzle.points, said, diagnosis="refused")


def grader_failed(puzzle: Puzzle, error: BaseException) -> Verdict:
    """Returns the verdict that says the grader itself failed; it says nothing on the answer."""
    what = error.fact if isinstance(error, CourseError) else f"{type(error).__name__}: {error}"
    said = (
        *fact(f"the grader failed at {puzzle.name}, not your answer: {what}"),
        *section("where", _place(error)),
        *section("try", error.hint if isinstance(error, CourseError) else ""),
        *section("report", "these lines and your answer, to the people who maintain the course"),
    )
    return Verdict(puzzle.name, "error", "grader", 0, puzzle.points, said)


def _not_run(puzzle: Puzzle, problem: AnswerProblem) -> Verdict:
    think = puzzle.diagnoses.get(problem.diagnosis or "", "")
    return Verdict(
        name=puzzle.name,
        status=problem.status,
        reason=problem.reason,
        points=0,
        max_points=puzzle.points,
        sections=(*fact(problem.fact), *section("try", problem.step), *section("think", think)),
        diagnosis=problem.diagnosis,
    )


def _place(error: BaseException) -> str:
    """Returns the innermost line of the course or its engine that an error came through."""
    roots = [Path(package.__path__[0]) for package in (gpu_course, simt)]
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        path = Path(frame.filename)
        for root in roots:
            if path.is_relative_to(root):
                return f"{root.name}/{path.relative_to(root).as_posix()}:{frame.lineno}"
    return ""
