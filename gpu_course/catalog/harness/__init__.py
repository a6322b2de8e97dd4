"""Harnesses: what stands between a Python answer and the grader, inside the child process.

A module NAME here has `run(answer, **inputs) -> dict` and is named by PythonPuzzle.harness. It
calls the answer's functions as attributes of `answer`, and returns named outputs and measurements.
It holds no expected value and no reference solution, changes none of its inputs, and imports what
it needs from the course at module level: once the answer runs, nothing more of the course can be
imported, and what the harness has imported is all an answer could find of it.
"""

from __future__ import annotations

from typing import Any


class Unusable(Exception):
    """What an answer gave to the harness is not what the puzzle asks for.

    Args:
        fact: one line with what it is and what it should be: "checkpoint returned None, not a
            tensor".
        key: the diagnosis, a key of Puzzle.diagnoses or of the grader's own.
        shown: plain data for a picture, kept as the verdict's evidence.
    """

    def __init__(
        self, fact: str, key: str = "wrong-type", shown: dict[str, Any] | None = None
    ) -> None:
        self.key = key
        self.shown = shown
        super().__init__(fact)
