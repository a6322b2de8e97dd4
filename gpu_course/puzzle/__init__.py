"""The lessons and puzzles of the course: the trusted specification of each."""

from gpu_course.puzzle.specification import (
    DIFFICULTIES,
    Bonus,
    Budget,
    Case,
    Debrief,
    Finding,
    Held,
    KernelPuzzle,
    Launch,
    Lesson,
    Mistake,
    PerRank,
    Puzzle,
    PythonPuzzle,
    Sealed,
    Share,
)

__all__ = [
    "DIFFICULTIES",
    "Bonus",
    "Budget",
    "Case",
    "Debrief",
    "Finding",
    "Held",
    "KernelPuzzle",
    "Launch",
    "Lesson",
    "Mistake",
    "PerRank",
    "Puzzle",
    "PythonPuzzle",
    "Sealed",
    "Share",
]
