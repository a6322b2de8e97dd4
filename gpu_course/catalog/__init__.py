"""The lessons and puzzles of the course: the trusted specification of each."""

from gpu_course.catalog.specification import Budget, Case, Launch, Lesson, Mistake, Puzzle

__all__ = ["Budget", "Case", "Launch", "Lesson", "Mistake", "Puzzle"]
