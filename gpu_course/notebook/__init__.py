"""What a lesson calls. Imported in IPython, it also makes `%%puzzle` known."""

from IPython import get_ipython as _get_ipython

from gpu_course.notebook import puzzle_magic as _puzzle_magic
from gpu_course.notebook.explore import explore, play
from gpu_course.notebook.feedback import check, hint, progress
from gpu_course.notebook.glossary import glossary
from gpu_course.notebook.pictures import (
    play_touches,
    show_cards,
    show_launch_grid,
    show_ownership,
    show_touches,
)
from gpu_course.notebook.prediction import predict

__all__ = [
    "check",
    "explore",
    "glossary",
    "hint",
    "play",
    "play_touches",
    "predict",
    "progress",
    "show_cards",
    "show_launch_grid",
    "show_ownership",
    "show_touches",
]

_shell = _get_ipython()
if _shell is not None:
    _puzzle_magic.register(_shell)
