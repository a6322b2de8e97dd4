"""`grade`: a whole folder of answers, each puzzle on its own."""

from __future__ import annotations

import multiprocessing
import os
import shlex
import threading
from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Future, ProcessPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass, replace
from multiprocessing import connection
from pathlib import Path

from gpu_course.errors import CourseError
from gpu_course.grading import workspace
from gpu_course.grading.check import check, grader_failed
from gpu_course.grading.kernel import on_card
from gpu_course.grading.seeds import default_seed
from gpu_course.grading.verdicts.sections import fact, section
from gpu_course.grading.verdicts.verdict import Verdict
from gpu_course.grading.worker import exit_at_once
from gpu_course.puzzle import KernelPuzzle, Puzzle, PythonPuzzle, index

SUBMISSION_S = 900
"""What all answers in Python of one folder may take together; right ones take about a minute."""


def grade(
    answers: str | Path | None = None,
    only: Iterable[str | Puzzle] | str | None = None,
    jobs: int = 1,
    seed: int | None = None,
    gpu: bool = False,
) -> tuple[Verdict, ...]:
    """Returns one verdict per puzzle, in course order.

    A failure of the grader at one puzzle becomes that puzzle's `error`, and the next is graded.

    Args:
        answers: a folder with NN_topic/name.py; default the learner's own. solutions/ is one too.
        only: the puzzles to grade; default all.
        jobs: how many processes share the work; with more than 1 the verdicts carry no Report.
        seed: draws the random cases; default GPU_COURSE_SEED, else a fresh one for all puzzles.
        gpu: whether kernels also run on this machine's GPU, one after the other; see `check`.

    Raises:
        UnknownName: `only` names what is no puzzle.
        CourseError: there is no such folder of answers, or it holds those of several people; with
            `gpu`, there is no GPU.
    """
    handed_in = answers is not None
    folder = workspace.answers_folder() if answers is None else Path(answers).absolute()
    if not folder.is_dir():
        raise CourseError(
            f"there is no folder of answers {answers}", "name a folder with NN_topic/name.py in it"
        )
    if handed_in:
        _reject_a_class(folder)
    if jobs < 1:
        raise CourseError(f"{jobs} jobs cannot grade anything", "ask for 1 or more")
    puzzles = _chosen(only)
    seed = default_seed() if seed is None else seed
    work = _Work(folder, seed, handed_in)
    with _safe_path():
        if gpu:
            on_card.stop()  # its process was started with another path
            on_card.make_ready()
        if jobs == 1 or len(puzzles) < 2:
            verdicts = tuple(_one_by_one(puzzles, work))
        else:
            verdicts = _grade_in_parallel(puzzles, work, jobs)
        if not gpu:
            return verdicts
        by_name = {puzzle.name: puzzle for puzzle in puzzles}
        try:
            return tuple(_with_card(verdict, by_name[verdict.name], work) for verdict in verdicts)
        finally:
            on_card.stop()


def _with_card(verdict: Verdict, puzzle: Puzzle, work: _Work) -> Verdict:
    """Returns a verdict with the card's beside it; as it is where the puzzle asks for no kernel."""
    if not isinstance(puzzle, KernelPuzzle):
        return verdict
    path = workspace.answer_path(puzzle, work.folder).absolute()
    try:
        return on_card.beside(verdict, puzzle, path, work.seed)
    except Exception as error:  # the card's verdict is lost, and the simulator's is not
        return on_card.unanswered(verdict, error)


@dataclass(frozen=True)
class _Work:
    """What is the same for all puzzles of a submission.

    Attributes:
        folder: of the answers; `handed_in`: it is somebody else's, and its links lead nowhere.
        seed: draws the random cases.
    """

    folder: Path
    seed: int
    handed_in: bool


def _one_by_one(puzzles: Iterable[Puzzle], work: _Work) -> Iterator[Verdict]:
    spent = 0.0
    for puzzle in puzzles:
        verdict = _out_of_budget(puzzle, spent) or _grade_one(puzzle, work)
        spent += _seconds_of_the_answer(verdict)
        yield verdict


def _seconds_of_the_answer(verdict: Verdict) -> float:
    """Returns the time an answer in Python took; reading a kernel has a budget of its own."""
    return verdict.seconds if verdict.evidence.get("isolation") else 0.0


def _out_of_budget(puzzle: Puzzle, spent: float) -> Verdict | None:
    """Returns the verdict on a Python answer whose submission has used up its time, or None."""
    if not isinstance(puzzle, PythonPuzzle) or spent <= SUBMISSION_S:
        return None
    what = f"the answers before it took {spent:.0f} seconds, and a folder has {SUBMISSION_S}"
    step = f"`gpu-course grade --only {puzzle.short_name}` grades it alone"
    said = (*fact(f"not run: {what}"), *section("try", step))
    return Verdict(puzzle.name, "timeout", "deadline", 0, puzzle.points, said)


def _link_on_the_way(folder: Path, path: Path) -> Path | None:
    """Returns the first link between a folder and a file in it, or None."""
    steps = [folder.joinpath(*path.relative_to(folder).parts[: n + 1]) for n in range(2)]
    return next((step for step in steps if step.is_symlink()), None)


def _linked(puzzle: Puzzle, folder: Path, link: Path) -> Verdict:
    what = f"{link.relative_to(folder)} is a link, and no link is followed in answers handed in"
    said = (*fact(what), *section("try", "put the file itself there"))
    return Verdict(puzzle.name, "failed", "refused", 0, puzzle.points, said)


@contextmanager
def _safe_path() -> Iterator[None]:
    """Has the Python processes started meanwhile import nothing from the current folder.

    It may be a submission's, with a file json.py in it.
    """
    name = "PYTHONSAFEPATH"
    before = os.environ.get(name)
    os.environ[name] = "1"
    try:
        yield
    finally:
        if before is None:
            del os.environ[name]
        else:
            os.environ[name] = before


def _reject_a_class(folder: Path) -> None:
    """Raises CourseError for a folder of folders of answers: all in it would be not started."""
    lessons = {puzzle.lesson for puzzle in index.puzzles()}

    def has_answers(place: Path) -> bool:
        return any((place / lesson).is_dir() for lesson in lessons)

    if has_answers(folder):
        return
    own = [each for each in sorted(folder.iterdir()) if each.is_dir() and has_answers(each)]
    if own:
        raise CourseError(
            f"{folder} has no lesson in it, and {len(own)} of its folders have",
            f"grade them one by one, beginning with --answers {shlex.quote(str(own[0]))}",
        )


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


def _grade_one(puzzle: Puzzle, work: _Work) -> Verdict:
    try:
        path = workspace.answer_path(puzzle, work.folder)
        link = _link_on_the_way(work.folder, path) if work.handed_in else None
        if link is not None:
            return _linked(puzzle, work.folder, link)
        return check(puzzle, answer=path, seed=work.seed)
    except Exception as error:
        return grader_failed(puzzle, error)


def _grade_by_name(name: str, work: _Work) -> Verdict:
    """Runs in a worker: a name and plain data go in, a verdict that can be sent comes back."""
    verdict = _grade_one(index.find(name), work)
    hazards = tuple(replace(h, details=_plain(h.details)) for h in verdict.hazards)
    # Of the evidence only words travel, such as how an answer in Python was isolated.
    evidence = {key: value for key, value in verdict.evidence.items() if isinstance(value, str)}
    return replace(verdict, report=None, evidence=evidence, hazards=hazards)


def _plain(details: object) -> dict[str, str]:
    return {key: value for key, value in dict(details).items() if isinstance(value, str)}  # type: ignore[call-overload]


def _grade_in_parallel(puzzles: tuple[Puzzle, ...], work: _Work, jobs: int) -> tuple[Verdict, ...]:
    verdicts: dict[str, Verdict] = {}
    waiting, running = deque(puzzles), dict[Future[Verdict], Puzzle]()
    spent = 0.0
    with _pool(min(jobs, len(puzzles))) as pool:
        while waiting or running:
            while waiting and len(running) < jobs:
                puzzle = waiting.popleft()
                late = _out_of_budget(puzzle, spent)
                if late is not None:
                    verdicts[puzzle.name] = late
                    continue
                try:
                    running[pool.submit(_grade_by_name, puzzle.name, work)] = puzzle
                except BrokenExecutor:
                    waiting.clear()
            for future in wait(running, return_when=FIRST_COMPLETED).done:
                puzzle = running.pop(future)
                try:
                    verdict = verdicts[puzzle.name] = future.result()
                    spent += _seconds_of_the_answer(verdict)
                except Exception:
                    # A worker that dies takes its neighbours' results with it: each gets a second
                    # chance, alone in a process of its own.
                    continue
    for puzzle in puzzles:
        if puzzle.name not in verdicts:
            verdicts[puzzle.name] = _grade_alone(puzzle, work)
    return tuple(verdicts[puzzle.name] for puzzle in puzzles)


def _grade_alone(puzzle: Puzzle, work: _Work) -> Verdict:
    try:
        with _pool(1) as pool:
            return pool.submit(_grade_by_name, puzzle.name, work).result()
    except Exception as error:
        return grader_failed(puzzle, error)


def _pool(jobs: int) -> ProcessPoolExecutor:
    context = multiprocessing.get_context("spawn")
    return ProcessPoolExecutor(jobs, mp_context=context, initializer=_end_with_the_grader)


def _end_with_the_grader() -> None:
    """In a worker of a pool: has it end when the grader is gone, and so all that it started.

    A worker holds both ends of the pipe that its work comes through, so it would wait for ever.
    """
    grader = multiprocessing.parent_process()
    assert grader is not None

    def watch() -> None:
        connection.wait([grader.sentinel])
        exit_at_once()

    threading.Thread(target=watch, daemon=True).start()
