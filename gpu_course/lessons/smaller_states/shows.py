"""What lesson 20 shows of training runs: the bytes that each holds."""

from __future__ import annotations

from collections.abc import Mapping

from gpu_course.lessons.smaller_states.pictures import draw_held
from gpu_course.notebook.note import show
from gpu_course.notebook.pictures import Picture


def show_held(
    runs: Mapping[str, Mapping[str, float]], notes: Mapping[str, str] | None = None
) -> None:
    """Shows the bytes that several runs hold, by kind.

    Args:
        runs: {run: {kind: bytes}}.
        notes: {run: a few words behind its bar}.
    """
    show(Picture(draw_held(runs, notes)))
