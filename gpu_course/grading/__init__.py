"""From an answer to a verdict: `check` for one puzzle, `grade` for a folder of them."""

from gpu_course.grading.check import check
from gpu_course.grading.grade import grade
from gpu_course.grading.verdict import Verdict

__all__ = ["Verdict", "check", "grade"]
