"""`grade`: a whole folder of answers, each puzzle on its own."""

from __future__ import annotations

import multiprocessing
from collections.abc import Iterable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from pathlib import Path

from gpu_course.catalog import Puzzle, index
from gpu_course.errors import CourseError
from gpu_course.grading import workspace
from gpu_course.grading.check import check, default_seed, grader_failed
from gpu_course.grading.verdict import Verdict


def grade(
    answers: str | Path | None = None,
    only: Iterable[str | Puzzle] | str | None = None,
    jobs: int = 1,
    seed: int | None = None,
) -> tuple[Verdict, ...]:
    """Returns one verdict per puzzle, in course order.

    A failure of the grader at one puzzle becomes that puzzle's `error`, and the next is graded.

    Args:
        answers: a folder with NN_topic/name.py; default the learner's own. solutions/ is one too.
        only: the puzzles to grade; default all.
        jobs: how many processes share the work; with more than 1 the verdicts carry no Report.
        seed: draws the random cases; default GPU_COURSE_SEED, else a fresh one for all puzzles.

    Raises:
        UnknownName: `only` names what is no puzzle.
        CourseError: there is no such folder of answers.
    """
    folder = workspace.answers_folder() if answers is None else Path(answers).absolute()
    if not folder.is_dir():
        raise CourseError(
            f"there is no folder of answers {answers}", "name a folder with NN_topic/name.py in it"
        )
    if jobs < 1:
        raise CourseError(f"{jobs} jobs cannot grade anything", "ask for 1 or more")
    puzzles = _chosen(only)
    seed = default_seed() if seed is None else seed
    if jobs == 1 or len(puzzles) < 2:
        return tuple(_grade_one(puzzle, folder, seed) for puzzle in puzzles)
    return _grade_in_parallel(puzzles, folder, seed, jobs)


def _chosen(only: Iterable[str | Puzzle] | str | None) -> tuple[Puzzle, ...]:
    if only is None:
        return index.puzzles()
    names = [only] if isinstance(only, str) else list(only)
    wanted = [name if isinstance(name, Puzzle) else index.find(name) for name in names]
    order = [puzzle.name for puzzle in index.puzzles()]
    unique = {puzzle.name: puzzle for puzzle in wanted}.values()
    return tuple(
        sorted(unique, key=lambda p: order.index(p.name) if p.name in order else len(order))
    )


def _grade_one(puzzle: Puzzle, folder: Path, seed: int) -> Verdict:
    try:
        return check(puzzle, answer=workspace.answer_path(puzzle, folder), seed=seed)
    except Exception as error:
        return grader_failed(puzzle, error)


def _grade_by_name(name: str, folder: Path, seed: int) -> Verdict:
    """Runs in a worker: a name and plain data go in, a verdict that can be sent comes back."""
    verdict = _grade_one(index.find(name), folder, seed)
    hazards = tuple(replace(h, details=_plain(h.details)) for h in verdict.hazards)
    # Of the evidence only words travel, such as how an answer in Python was isolated.
    evidence = {key: value for key, value in verdict.evidence.items() if isinstance(value, str)}
    return replace(verdict, report=None, evidence=evidence, hazards=hazards)


def _plain(details: object) -> dict[str, str]:
    return {key: value for key, value in dict(details).items() if isinstance(value, str)}  # type: ignore[call-overload]


def _grade_in_parallel(
    puzzles: tuple[Puzzle, ...], folder: Path, seed: int, jobs: int
) -> tuple[Verdict, ...]:
    verdicts: dict[str, Verdict] = {}
    with _pool(min(jobs, len(puzzles))) as pool:
        futures = {p.name: pool.submit(_grade_by_name, p.name, folder, seed) for p in puzzles}
        for name, future in futures.items():
            try:
                verdicts[name] = future.result()
            except Exception:
                # A worker that dies takes its neighbours' results with it: each gets a second
                # chance, alone in a process of its own.
                continue
    for puzzle in puzzles:
        if puzzle.name not in verdicts:
            verdicts[puzzle.name] = _grade_alone(puzzle, folder, seed)
    return tuple(verdicts[puzzle.name] for puzzle in puzzles)


def _grade_alone(puzzle: Puzzle, folder: Path, seed: int) -> Verdict:
    try:
        with _pool(1) as pool:
            return pool.submit(_grade_by_name, puzzle.name, folder, seed).result()
    except Exception as error:
        return grader_failed(puzzle, error)


def _pool(jobs: int) -> ProcessPoolExecutor:
    return ProcessPoolExecutor(jobs, mp_context=multiprocessing.get_context("spawn"))
