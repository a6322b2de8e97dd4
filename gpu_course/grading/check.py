"""`check`: one answer to one puzzle becomes one Verdict."""

from __future__ import annotations

import ast
import os
import secrets
import time
import traceback
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

import gpu_course
from gpu_course.catalog import KernelPuzzle, Launch, Puzzle, PythonPuzzle, index
from gpu_course.errors import CourseError, KernelRefused
from gpu_course.grading import passing, workspace
from gpu_course.grading.answer_file import path_of
from gpu_course.grading.answer_problem import AnswerProblem
from gpu_course.grading.diagnosis import Observation, Pattern, diagnose
from gpu_course.grading.kernel import apart, budgets, messages, sharing, trial
from gpu_course.grading.kernel.answers import is_path, read_answer
from gpu_course.grading.kernel.sharing import Unshared
from gpu_course.grading.kernel.trial import Given, Trial
from gpu_course.grading.python import check as python_check
from gpu_course.grading.python.answers import read_python_answer
from gpu_course.grading.verdict import Verdict
from gpu_course.simt.launch import dim3
from gpu_course.simt.source import Kernel

SEED_VARIABLE = "GPU_COURSE_SEED"
LISTED_SEED = 0
"""The listed cases have the same inputs in every check; only the random case is new each time."""


def check(name: str | Puzzle, *, answer: Any = None, seed: int | None = None) -> Verdict:
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

    Raises:
        UnknownName: no puzzle is called that.
        CourseError: no folder of answers, or an `answer` that is nothing of the above.
    """
    puzzle = name if isinstance(name, Puzzle) else index.find(name)
    seed = default_seed() if seed is None else seed
    start = time.perf_counter()
    if isinstance(puzzle, KernelPuzzle) and is_path(answer) and apart.can_be_found(puzzle):
        own = answer is None
        path = workspace.answer_path(puzzle) if own else path_of(puzzle, answer)
        verdict = apart.check_apart(puzzle, path.absolute(), own=own, seed=seed)
    else:
        verdict = _check_here(puzzle, answer, seed)
    return replace(verdict, seconds=time.perf_counter() - start)


def check_file(puzzle: Puzzle, path: Path, *, own: bool, seed: int) -> Verdict:
    """Returns the verdict on a file, made in this very process.

    Args:
        puzzle: the puzzle.
        path: the file.
        own: True for the learner's own file, which a command can begin.
        seed: draws the random case.
    """
    return _check_here(puzzle, None if own else path, seed)


def _check_here(puzzle: Puzzle, answer: Any, seed: int) -> Verdict:
    try:
        verdict = _verdict_on(puzzle, answer, seed)
    except AnswerProblem as problem:
        verdict = _not_run(puzzle, problem)
    except KernelRefused as refusal:
        verdict = refused(puzzle, refusal)
    return replace(verdict, message=messages.fit(verdict.message.splitlines()))


def _verdict_on(puzzle: Puzzle, answer: Any, seed: int) -> Verdict:
    if isinstance(puzzle, PythonPuzzle):
        return _verdict_on_python(puzzle, answer, seed)
    try:
        kernels = read_answer(puzzle, answer).kernels
    except (AnswerProblem, CourseError):
        raise
    except Exception as error:
        return grader_failed(puzzle, error)
    try:
        assert isinstance(puzzle, KernelPuzzle)
        return _Checking(puzzle, kernels, seed).verdict()
    except KernelRefused:
        raise
    except Exception as error:
        return grader_failed(puzzle, error)


def _verdict_on_python(puzzle: PythonPuzzle, answer: Any, seed: int) -> Verdict:
    try:
        found = read_python_answer(puzzle, answer)
    except (AnswerProblem, CourseError):
        raise
    except Exception as error:
        return grader_failed(puzzle, error)
    try:
        return python_check.verdict_on(puzzle, found, seed)
    except AnswerProblem:
        raise
    except Exception as error:
        return grader_failed(puzzle, error)


def default_seed() -> int:
    """Returns GPU_COURSE_SEED, or a fresh seed where it is not set."""
    text = os.environ.get(SEED_VARIABLE, "").strip()
    if not text:
        return secrets.randbits(32)
    if not text.isdecimal():
        raise CourseError(
            f"{SEED_VARIABLE} is {text!r}, which is not a whole number", "set it to 0, or unset it"
        )
    return int(text)


def refused(puzzle: Puzzle, refusal: KernelRefused) -> Verdict:
    """Returns the verdict on a kernel that cannot be compiled, with its line."""
    lines = [str(refusal)]
    lines += messages.line("think", puzzle.diagnoses.get("refused", ""))
    return Verdict(
        puzzle.name, "failed", "refused", 0, puzzle.points, "\n".join(lines), diagnosis="refused"
    )


def grader_failed(puzzle: Puzzle, error: BaseException) -> Verdict:
    """Returns the verdict that says the grader itself failed; it says nothing on the answer."""
    what = error.fact if isinstance(error, CourseError) else f"{type(error).__name__}: {error}"
    lines = [
        f"the grader failed at {puzzle.name}, not your answer: {what}",
        *messages.line("where", _place(error)),
        *messages.line("try", error.hint if isinstance(error, CourseError) else ""),
        *messages.line("report", "these lines and your answer, to whoever looks after the course"),
    ]
    return Verdict(puzzle.name, "error", "grader", 0, puzzle.points, "\n".join(lines))


class _Checking:
    """The check of one answer, with what it has found out so far."""

    def __init__(self, puzzle: KernelPuzzle, kernels: Mapping[str, Kernel], seed: int) -> None:
        self.puzzle = puzzle
        self.kernels = kernels
        self.seed = seed
        self.visible: Trial | None = None
        self.right: list[Trial] = []

    def verdict(self) -> Verdict:
        for case in sorted(self.puzzle.cases, key=lambda case: not case.visible):
            failure = self._try(trial.prepare(self.puzzle, case, LISTED_SEED))
            if failure is not None:
                # One thread that does it all comes to no end where there are many cells; what is
                # wrong with it shows in the smaller cases.
                endless = failure.diagnosis == "endless-loop"
                return (self._shared() if endless else None) or failure
        drawn = self.puzzle.random_case(np.random.default_rng(self.seed))
        failure = self._try(trial.prepare(self.puzzle, drawn, self.seed))
        return failure or self._shared() or self._within_budget() or self._passed()

    def _try(self, given: Given) -> Verdict | None:
        """Returns the verdict on a case that fails, or None where it is right in every order."""
        first = trial.attempt(given, self.kernels, 0)
        if self.visible is None:
            self.visible = first
        if any(hazard.severity == "error" for hazard in first.hazards):
            return self._hazard(first)
        second = trial.attempt(given, self.kernels, 1)
        if any(hazard.severity == "error" for hazard in second.hazards):
            return self._hazard(second)
        if first.changed:
            lines = messages.input_changed(self.puzzle, first)
            return self._failed("input-changed", "input-changed", first, lines)
        failure = self._wrong(first, second, "blocks")
        if failure is not None:
            return failure
        for further in trial.more_orders(given, self.kernels):
            if any(hazard.severity == "error" for hazard in further.hazards):
                return self._hazard(further)
            failure = self._wrong(first, further, "warps")
            if failure is not None:
                return failure
        self.right.append(first)
        return None

    def _hazard(self, tried: Trial) -> Verdict:
        errors = [hazard for hazard in tried.hazards if hazard.severity == "error"]
        if errors[0].kind == "endless-loop" and (unshared := self._shared()):
            # One thread with the work of all is out of steps in a larger case: its loop does end.
            return unshared
        lines = messages.hazards(self.puzzle, tried, errors)
        number = next(n for n, each in enumerate(tried.reports) if errors[0] in each.hazards)
        return self._failed("hazard", errors[0].kind, tried, lines, number)

    def _wrong(self, first: Trial, second: Trial, ordered: str) -> Verdict | None:
        """Returns the verdict on outputs that are wrong in one of two orders of `ordered`."""
        for name in first.given.expected:
            failure = self._wrong_output(name, first, second, ordered)
            if failure is not None:
                return failure
        return None

    def _wrong_output(self, name: str, first: Trial, second: Trial, ordered: str) -> Verdict | None:
        rights = [trial.is_right(t, name, self.puzzle.tolerance) for t in (first, second)]
        if rights[0].all() and rights[1].all():
            return None
        written = trial.written(name, first, second)
        if rights[0].all() != rights[1].all() and written.all():
            tried, right = (second, rights[1]) if rights[0].all() else (first, rights[0])
            lines = messages.order_dependent(self.puzzle, tried, name, right, ordered)
            return self._failed("order-dependent", "order-dependent", tried, lines)
        # A cell nobody wrote is wrong in both orders, whatever its poison happens to be.
        tried, right = (second, rights[1]) if rights[0].all() else (first, rights[0])
        right = right & written
        pattern = self._pattern(tried, name, right, written)
        lines = messages.wrong_result(self.puzzle, tried, name, right, written, pattern)
        evidence = {
            "case": tried.given.case,
            "array": tried.own_names(messages.launch_of(tried.given, name), name)[0],
            "expected": tried.given.expected[name],
            "got": tried.got[name],
            "mask": ~right,
            "written": written,
        }
        number = tried.given.launches.index(messages.launch_of(tried.given, name))
        verdict = self._failed("wrong-result", pattern.key, tried, lines, number)
        return replace(verdict, evidence=evidence)

    def _pattern(self, tried: Trial, name: str, right: np.ndarray, written: np.ndarray) -> Pattern:
        given, puzzle = tried.given, self.puzzle
        if puzzle.diagnose is not None:
            copies = ({n: a.copy() for n, a in d.items()} for d in (given.expected, tried.got))
            key = puzzle.diagnose(dict(given.inputs), given.case, *copies)
            if key is not None:
                return Pattern(key)
        launch = messages.launch_of(given, name)
        seen = Observation(
            expected=given.expected[name],
            got=tried.got[name],
            written=written,
            right=right,
            grid=dim3(launch.grid, "grid"),
            block=dim3(launch.block, "block"),
            inputs={n: given.inputs[n] for n in launch.args if n in given.inputs},
            tolerance=puzzle.tolerance,
        )
        found = diagnose(seen) or Pattern("wrong")
        if found.key == "unwritten":
            return self._rebound(tried, launch, name) or found
        return found

    def _rebound(self, tried: Trial, launch: Launch, name: str) -> Pattern | None:
        """Returns the pattern of `out = ...` where `out[i] = ...` is meant, or None."""
        kernel = self.kernels[launch.function]
        for own in tried.own_names(launch, name):
            for node in ast.walk(kernel.tree):
                if (
                    isinstance(node, ast.Name)
                    and node.id == own
                    and isinstance(node.ctx, ast.Store)
                ):
                    return Pattern("rebound", f"line {node.lineno} is `{own} = ...`")
        return None

    def _shared(self) -> Verdict | None:
        """Returns the verdict on right results that a few threads wrote for all, or None."""
        for tried in self.right:
            for found in sharing.unshared_results(self.puzzle, tried):
                return self._not_shared(tried, found)
        return None

    def _within_budget(self) -> Verdict | None:
        """Returns the verdict on a right answer that costs too much, or None."""
        for tried in self.right:
            over = budgets.overrun(self.puzzle, tried)
            if over is not None:
                lines = budgets.over_budget(self.puzzle, tried, over, self.kernels, self.right)
                return self._failed("over-budget", "over-budget", tried, lines)
        for tried in self.right:
            for found in sharing.unshared_work(self.puzzle, tried):
                return self._not_shared(tried, found)
        return None

    def _not_shared(self, tried: Trial, found: Unshared) -> Verdict:
        lines = messages.not_shared(self.puzzle, tried, found)
        return self._failed("over-budget", found.key, tried, lines, found.number)

    def _passed(self) -> Verdict:
        puzzle, cases = self.puzzle, len(self.right)
        lines = [f"right in all {cases} cases: {puzzle.points} of {puzzle.points} points"]
        lines += passing.kernel_lines(puzzle, self.right)
        advice = tuple(h for tried in self.right for h in tried.hazards)
        if advice:
            lines += ["advice, which costs no points:", advice[0].text()]
        return self._verdict("passed", None, None, lines, advice, puzzle.points)

    def _failed(
        self, reason: str, diagnosis: str, tried: Trial, lines: list[str], launch: int = -1
    ) -> Verdict:
        """Returns the verdict on a case that failed, with the report of the launch at fault."""
        lines = [*lines, *messages.repeat_with(self.puzzle, tried.given, self.seed)]
        verdict = self._verdict("failed", reason, diagnosis, lines, tried.hazards, 0, tried)
        return replace(verdict, report=tried.reports[launch])

    def _verdict(
        self,
        status: str,
        reason: str | None,
        diagnosis: str | None,
        lines: list[str],
        hazards: Any,
        points: int,
        tried: Trial | None = None,
    ) -> Verdict:
        shown = tried or self.visible
        if shown is not None:
            printed = "".join(report.printed for report in shown.reports)
            lines = [*lines, *messages.printed(printed)]
        return Verdict(
            name=self.puzzle.name,
            status=status,
            reason=reason,
            points=points,
            max_points=self.puzzle.points,
            message="\n".join(lines),
            hazards=tuple(hazards),
            counters=self.visible.counters if self.visible else None,
            diagnosis=diagnosis,
            report=self.visible.reports[-1] if self.visible else None,
        )


def _not_run(puzzle: Puzzle, problem: AnswerProblem) -> Verdict:
    lines = [problem.text]
    lines += messages.line("think", puzzle.diagnoses.get(problem.diagnosis or "", ""))
    return Verdict(
        name=puzzle.name,
        status=problem.status,
        reason=problem.reason,
        points=0,
        max_points=puzzle.points,
        message="\n".join(lines),
        diagnosis=problem.diagnosis,
    )


def _place(error: BaseException) -> str:
    """Returns the innermost line of this package that an error came through."""
    root = Path(gpu_course.__path__[0])
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        path = Path(frame.filename)
        if path.is_relative_to(root):
            return f"gpu_course/{path.relative_to(root).as_posix()}:{frame.lineno}"
    return ""
