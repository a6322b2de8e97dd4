"""`gpu-course watch`: keys in, screens out, until q."""

from __future__ import annotations

import contextlib
from typing import TextIO

from rich.console import Console

from gpu_course.app.terminal.keys import ending_politely, keyboard
from gpu_course.app.terminal.screen import screen
from gpu_course.app.terminal.session import Session
from gpu_course.grading.learner.loop import POLL_S

SURVEY_POLL_S = 0.02
"""Seconds between two steps while many puzzles are checked, each in a few milliseconds."""


def watch(
    name: str | None = None, *, stream: TextIO | None = None, console: Console | None = None
) -> None:
    """Follows one puzzle after the other until the learner quits.

    Args:
        name: the puzzle to begin with; default the first that is not passed.
        stream: where keys come from; default standard input. Where it is no terminal, a key is the
            first letter of a line, and the end of the lines ends the loop after the next verdict.
        console: where to draw; default standard output.

    Raises:
        UnknownName: no puzzle is called that.
        CourseError: there is no folder of answers.
    """
    console = console or Console(highlight=False)
    with (
        contextlib.closing(Session(name)) as session,
        contextlib.suppress(KeyboardInterrupt),
        ending_politely(),
        keyboard(stream) as keys,
    ):
        painted = 0
        while not session.done:
            surveying = session.surveyed is not None
            key = keys.read(SURVEY_POLL_S if surveying else POLL_S)
            if key:
                session.press(key)
            news = session.tick()
            # In a file or a pipe nothing can be drawn over: what is under way is left out.
            if not console.is_terminal:
                news = news and (session.surveyed is None or not surveying)
            if news or key or painted != console.width:
                painted = console.width
                paint(session, console)


def paint(session: Session, console: Console) -> None:
    """Draws the session: in place of what was there, where the console is a terminal."""
    console.clear()
    console.print(screen(session, console.width), soft_wrap=True)
