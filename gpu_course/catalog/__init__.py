"""The lessons and puzzles of the course: the trusted specification of each."""

from gpu_course.catalog.specification import (
    Budget,
    Case,
    Finding,
    KernelPuzzle,
    Launch,
    Lesson,
    Mistake,
    Puzzle,
    PythonPuzzle,
    Sealed,
)

__all__ = [
    "Budget",
    "Case",
    "Finding",
    "KernelPuzzle",
    "Launch",
    "Lesson",
    "Mistake",
    "Puzzle",
    "PythonPuzzle",
    "Sealed",
]
