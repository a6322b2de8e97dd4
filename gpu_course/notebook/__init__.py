"""What every lesson calls. Imported in IPython, it also makes `%%puzzle` and `%%ranks` known.

`cells` is what happens to a cell, `guesses` what a learner commits to, `tutor` what they ask about
an answer, `own` their answers at work in a lesson, and `interactive` what answers a hand. Beside
these rooms stands what all of them and the lessons show things with: `note`, `panel`, `pictures`.
"""

from typing import Any

import numpy as np
from IPython import get_ipython as _get_ipython

from gpu_course.notebook.cells import cell_errors as _cell_errors
from gpu_course.notebook.cells import holding as _holding
from gpu_course.notebook.cells import puzzle_magic as _puzzle_magic
from gpu_course.notebook.cells import ranks_magic as _ranks_magic
from gpu_course.notebook.compiled import compiled
from gpu_course.notebook.glossary import glossary
from gpu_course.notebook.guesses.forecast import forecast
from gpu_course.notebook.guesses.prediction import predict
from gpu_course.notebook.guesses.triptych import triptych
from gpu_course.notebook.hazards import show_hazards
from gpu_course.notebook.interactive.explore import explore, play
from gpu_course.notebook.interactive.replay import replay
from gpu_course.notebook.interactive.step_through import step_through
from gpu_course.notebook.pictures import show_banks, show_intervals, show_touches
from gpu_course.notebook.tutor.feedback import check, diff, hint, progress
from gpu_course.notebook.tutor.live import live
from simt.simulator import simulate

__all__ = [
    "check",
    "compiled",
    "cuda",
    "diff",
    "explore",
    "forecast",
    "glossary",
    "hint",
    "live",
    "np",
    "play",
    "predict",
    "progress",
    "replay",
    "show_banks",
    "show_hazards",
    "show_intervals",
    "show_touches",
    "simulate",
    "step_through",
    "triptych",
]


def __getattr__(name: str) -> Any:
    """Gives a lesson `cuda` in its one line of imports; Numba is loaded when it is asked for."""
    if name == "cuda":
        from numba import cuda

        return cuda
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


_shell = _get_ipython()
if _shell is not None:
    _puzzle_magic.register(_shell)
    _ranks_magic.register(_shell)
    _holding.register(_shell)
    _cell_errors.register(_shell)
