"""The process a Worker starts: which answer to check comes in, what the check came to goes out."""

from __future__ import annotations

import gc
import os
import queue
import sys
import threading
from dataclasses import replace
from pathlib import Path
from typing import Any, BinaryIO

from gpu_course.errors import CourseError
from gpu_course.grading.check import check_here
from gpu_course.grading.learner.verdict_cache import check_own
from gpu_course.grading.verdicts.sections import fact, section
from gpu_course.grading.verdicts.verdict import Verdict
from gpu_course.grading.worker import OBJECTS, CheckOutcome, Problem, exit_at_once
from gpu_course.grading.workspace import ANSWERS_VARIABLE
from gpu_course.isolation import transport
from gpu_course.puzzle import Puzzle, index


def main() -> None:
    """Answers until the pipe it is asked through is closed; then it ends at once."""
    html = "--html" in sys.argv[1:]
    asked, answers = private_pipes()
    requests: queue.SimpleQueue[dict[str, Any]] = queue.SimpleQueue()
    threading.Thread(target=listen, args=(asked, requests), daemon=True).start()
    if html:
        warm_pictures()
    # What is imported stays: no check has to look through it for what can be thrown away.
    gc.freeze()
    while True:
        answers.write(packed(reply(requests.get(), html)))
        answers.flush()


def warm_pictures() -> None:
    """Imports and makes what a first verdict that is shown would wait for."""
    from gpu_course.draw.execution.launch_grid import draw_launch_grid
    from gpu_course.draw.paper.picture import figure_html

    index.puzzles()
    # The first picture of a process looks for its fonts.
    figure_html(draw_launch_grid(1, 2))


def reply(request: dict[str, Any], html: bool) -> CheckOutcome | Problem:
    """Returns what a check came to, or what kept it from a verdict.

    Args:
        request: "name" of the puzzle; "folder" and "answers", where whoever asks is and what it
            calls the learner's folder; "keep". Without that, also "path", "own" and "seed".
        html: True to draw a verdict that is kept.
    """
    os.environ.pop(ANSWERS_VARIABLE, None)
    if request["answers"] is not None:
        os.environ[ANSWERS_VARIABLE] = request["answers"]
    try:
        # Messages show a file as it is seen from there.
        os.chdir(request["folder"])
        puzzle = _puzzle(request["name"])
        if request["keep"]:
            return _shown(check_own(puzzle, by=check_here), html)
        answer = None if request["own"] else Path(request["path"])
        return CheckOutcome(check_here(puzzle, answer=answer, seed=request["seed"]))
    except OSError as error:
        problem = Problem(f"the current folder cannot be used: {error.strerror}", "go to another")
    except CourseError as error:
        problem = Problem(error.fact, error.hint)
    if not request["keep"]:
        return problem
    said = (*fact(problem.fact), *section("try", problem.hint))
    return CheckOutcome(Verdict(request["name"], "error", "grader", 0, 0, said))


def packed(told: CheckOutcome | Problem) -> bytes:
    """Returns a reply as bytes; a verdict goes without its numbers where those are too many."""
    try:
        return transport.pack(told, OBJECTS)
    except transport.TooLarge:
        assert isinstance(told, CheckOutcome)
        bare = replace(told.verdict, report=None, evidence={})
        return transport.pack(CheckOutcome(bare), OBJECTS)


def _shown(verdict: Verdict, html: bool) -> CheckOutcome:
    """Returns a verdict as it is shown: what its picture was drawn from stays here."""
    drawn = verdict._repr_html_() if html else ""
    return CheckOutcome(replace(verdict, hazards=(), report=None, evidence={}, scene=None), drawn)


def _puzzle(name: str) -> Puzzle:
    """A puzzle of one lesson: the others need not be imported for it."""
    found = index.load(name.partition("/")[0])
    return next(puzzle for puzzle in found.puzzles if puzzle.name == name)


def private_pipes() -> tuple[BinaryIO, BinaryIO]:
    """Returns the two pipes to the parent, which no print of anybody's can reach."""
    asked, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 0)
    os.dup2(nothing, 1)
    return asked, answers


def listen(asked: BinaryIO, requests: queue.SimpleQueue[dict[str, Any]]) -> None:
    """Hands on what the parent asks; ends the process when the parent is gone."""
    try:
        while True:
            requests.put(transport.read(asked.read))
    finally:
        # Nobody is left to answer to: the parent ended, or has no more use for this process.
        exit_at_once()


if __name__ == "__main__":
    main()
