"""From an answer to a verdict: `check` for one puzzle, `grade` for a folder of them.

`checking` is the check of one answer, case by case. `kernel` says how it goes for what is
interpreted, `python` for what runs, in a process that `isolation` holds. `compare` and `diagnosis`
find what is wrong, `sentences` and `messages` say it in `sections`, `passing` has what a pass says,
and `exports` shows a verdict. A `worker` is a process beside this one that checks. `workspace`,
`progress`, `hints`, `solution` and `loop` serve the learner whose answers these are.
"""

from gpu_course.grading.check import check
from gpu_course.grading.grade import grade
from gpu_course.grading.verdicts.verdict import Verdict

__all__ = ["Verdict", "check", "grade"]
