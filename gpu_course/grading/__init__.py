"""From an answer to a verdict: `check` for one puzzle, `grade` for a folder of them.

From the ground up: `workspace` knows where answers lie, and `answer_file` reads one. `diagnoses`
tells what is wrong with a result, and `verdicts` how a verdict is told and shown. `checking` is the
check of one answer, case by case, on data drawn from `seeds`; `kernel` says how it goes for what is
interpreted, `python` for what runs, in a process that `isolation` holds. A `worker` is a process
beside this one that checks (`worker_process` is what runs there). `learner` serves whose answers
these are, and `card` asks a real GPU and its compiler.
"""

from gpu_course.grading.check import check
from gpu_course.grading.grade import grade
from gpu_course.grading.verdicts.verdict import Verdict

__all__ = ["Verdict", "check", "grade"]
