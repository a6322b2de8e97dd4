"""From an answer to a verdict: `check` for one puzzle, `grade` for a folder of them.

A kernel is interpreted: `check` has the order of the verdict, `trial` runs a case, `sharing` and
`budgets` look at what it costs. An answer in Python runs in a process of its own: `python_check`
has the order of that verdict, `isolation` the process. `diagnosis`, `compare`, `messages` and
`sentences` say what is wrong, `passing` what a pass says, and `exports` shows it.
"""

from gpu_course.grading.check import check
from gpu_course.grading.grade import grade
from gpu_course.grading.verdict import Verdict

__all__ = ["Verdict", "check", "grade"]
