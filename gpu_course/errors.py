"""The course's own errors, and under their old names those of the simulator it runs on.

Each says the fact, the place, and what to try.
"""

from __future__ import annotations

from typing import Any

from simt.errors import (
    BarrierDivergenceError,
    EndlessLoopError,
    HazardError,
    IllegalLaunchError,
    InactiveLaneError,
    KernelRefused,
    MisalignedError,
    OutOfBoundsError,
    RaceError,
    UninitialisedReadError,
)
from simt.errors import SourceFileError as AnswerFileError
from simt.errors import UserError as CourseError

__all__ = [
    "AnswerFileError", "BarrierDivergenceError", "CatalogueError", "CourseError",
    "EndlessLoopError", "HazardError", "IllegalLaunchError", "InactiveLaneError", "KernelRefused",
    "MisalignedError", "NotBegun", "OutOfBoundsError", "RaceError", "UninitialisedReadError",
    "UnknownName", "Unusable",
]  # fmt: skip


class NotBegun(CourseError):
    """An answer that is still the stub, or not there: nothing is wrong with it yet."""


class UnknownName(CourseError):
    """A puzzle, lesson or command name that nothing carries."""


class CatalogueError(CourseError):
    """A puzzle's own specification is at fault, never the learner's answer."""


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
