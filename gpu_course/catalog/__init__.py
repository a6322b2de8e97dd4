"""The lessons and puzzles of the course: the trusted specification of each."""

from gpu_course.catalog.specification import (
    Budget,
    Case,
    Finding,
    Held,
    KernelPuzzle,
    Launch,
    Lesson,
    Mistake,
    Puzzle,
    PythonPuzzle,
)

__all__ = [
    "Budget",
    "Case",
    "Finding",
    "Held",
    "KernelPuzzle",
    "Launch",
    "Lesson",
    "Mistake",
    "Puzzle",
    "PythonPuzzle",
]
