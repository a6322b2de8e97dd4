"""The process that `apart` starts: what to check comes in as a line of JSON, a Verdict goes out."""

from __future__ import annotations

import gc
import os
import queue
import threading
from pathlib import Path
from typing import Any

from gpu_course.errors import CourseError
from gpu_course.grading.check import check_file
from gpu_course.grading.kernel import wire
from gpu_course.grading.verdict import Verdict
from gpu_course.grading.worker_process import listen, private_pipes
from gpu_course.grading.workspace import ANSWERS_VARIABLE
from gpu_course.puzzle import Puzzle, index


def main() -> None:
    """Answers until the pipe it is asked through is closed; then it ends at once."""
    # What is imported stays: no check has to look through it for what can be thrown away.
    gc.freeze()
    asked, answers = private_pipes()
    requests: queue.SimpleQueue[dict[str, Any]] = queue.SimpleQueue()
    threading.Thread(target=listen, args=(asked, requests), daemon=True).start()
    while True:
        answers.write(wire.dumps(reply(requests.get())) + "\n")
        answers.flush()


def reply(request: dict[str, Any]) -> Verdict | CourseError:
    """Returns the verdict that is asked for, or the error that stands in its place."""
    os.environ.pop(ANSWERS_VARIABLE, None)
    if request["answers"] is not None:
        os.environ[ANSWERS_VARIABLE] = request["answers"]
    try:
        # Messages show a file as it is seen from there.
        os.chdir(request["folder"])
        return check_file(
            _puzzle(request["name"]),
            Path(request["path"]),
            own=request["own"],
            seed=request["seed"],
        )
    except CourseError as error:
        return error
    except OSError as error:
        return CourseError(f"the current folder cannot be used: {error.strerror}", "go to another")


def _puzzle(name: str) -> Puzzle:
    """A puzzle of one lesson: the others need not be imported for it."""
    found = index.load(name.partition("/")[0])
    return next(puzzle for puzzle in found.puzzles if puzzle.name == name)


if __name__ == "__main__":
    main()
