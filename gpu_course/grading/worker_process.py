"""The process a Worker starts: a puzzle's name comes in as a line of JSON, an Outcome goes out."""

from __future__ import annotations

import json
import os
import queue
import sys
import threading
from typing import Any, TextIO

from gpu_course.errors import CourseError
from gpu_course.grading.exports import to_json
from gpu_course.grading.kernel import apart
from gpu_course.grading.verdict import Verdict
from gpu_course.grading.verdict_cache import check_own
from gpu_course.grading.worker import Outcome, exit_at_once, outcome_of, to_line
from gpu_course.puzzle import index


def main() -> None:
    """Answers until the pipe it is asked through is closed; then it ends at once."""
    html = "--html" in sys.argv[1:]
    asked, answers = private_pipes()
    requests: queue.SimpleQueue[dict[str, Any]] = queue.SimpleQueue()
    threading.Thread(target=listen, args=(asked, requests), daemon=True).start()
    warm(html)
    while True:
        answers.write(to_line(outcome(requests.get()["name"], html)) + "\n")
        answers.flush()


def warm(html: bool) -> None:
    """Imports whatever a first check would wait for."""
    apart.warm()
    index.puzzles()
    to_json(())
    if html:
        from gpu_course.draw.execution.launch_grid import draw_launch_grid
        from gpu_course.draw.paper.picture import figure_html

        # The first picture of a process looks for its fonts.
        figure_html(draw_launch_grid(1, 2))


def outcome(name: str, html: bool) -> Outcome:
    """Returns the Outcome of checking one puzzle; where nothing can be checked, it says why."""
    try:
        return outcome_of(check_own(name), html)
    except CourseError as error:
        return outcome_of(Verdict(name, "error", "grader", 0, 0, str(error)), html)


def private_pipes() -> tuple[TextIO, TextIO]:
    """Returns the two pipes to the parent, which no print of anybody's can reach."""
    asked = os.fdopen(os.dup(0), "r", encoding="utf-8")
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8", newline="\n")
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 0)
    os.dup2(nothing, 1)
    return asked, answers


def listen(asked: TextIO, requests: queue.SimpleQueue[dict[str, Any]]) -> None:
    """Hands on what the parent asks; ends the process when the parent is gone."""
    try:
        for line in asked:
            requests.put(json.loads(line))
    finally:
        # Nobody is left to answer to: the parent ended, or has no more use for this process.
        exit_at_once()


if __name__ == "__main__":
    main()
