"""A panel that follows an answer file: each save is checked, and the verdict appears."""

from __future__ import annotations

import asyncio
import html
import secrets
from typing import Any

import ipywidgets

from gpu_course.draw.paper import palette
from gpu_course.grading.learner.loop import POLL_S, Checker, Event, Finished, Loop, Started
from gpu_course.grading.worker import Worker
from gpu_course.notebook.cells.earlier_text import file_link
from gpu_course.notebook.marks import asks_for_answers, shown_at_once
from gpu_course.notebook.note import Note, telling, trouble
from gpu_course.notebook.panel import html_panel
from gpu_course.puzzle import Puzzle, index
from simt.kernel.source import show_path

SLOW_S = 0.3
"""Only a check that takes longer is worth a word of its own."""

_panels: dict[str, list[tuple[str, LivePanel]]] = {}
"""Cell -> the (run of that cell, panel) that still follow a file."""


class LivePanel(ipywidgets.VBox):
    """A line on what is being followed, above the latest verdict.

    The checks run in a process beside the kernel; the kernel's own event loop asks about them again
    and again and is never held up.

    Args:
        puzzle: whose answer to follow.
        loop: the kernel's running event loop.
        worker: what checks; the panel ends it.
    """

    def __init__(
        self, puzzle: Puzzle, loop: asyncio.AbstractEventLoop, worker: Checker | None = None
    ) -> None:
        self.puzzle = puzzle
        self.running = True
        self._worker = worker or Worker(html=True)
        self._follower = Loop(puzzle, self._worker, clock=loop.time)
        self._file = show_path(self._follower.path)
        self._events = loop
        self._started_at: float | None = None
        self._head = html_panel()
        self._say(f"following {self._file}: save it and it is checked")
        self._body = html_panel()
        stored = f"run this cell, and {self._file} is checked each time it is saved"
        self._first = (repr(self), _line(stored))
        super().__init__([self._head, self._body])
        self._tick()

    def __repr__(self) -> str:
        return f"live panel of {self.puzzle.name}: {self._file} is checked each time it is saved"

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, Any]:
        # A stored notebook has no kernel behind it: a sentence stands in for the panel.
        bundle = dict(super()._repr_mimebundle_(**kwargs) or {})
        bundle["text/plain"], bundle["text/html"] = self._first
        return bundle

    def stop(self, why: str = "no longer followed") -> None:
        """Follows the file no more and ends the worker.

        Args:
            why: what the panel says from now on.
        """
        if self.running:
            self.running = False
            self._worker.stop()
            self._say(f"{self._file}: {why}")

    def _tick(self) -> None:
        """Looks once, and asks to be called again."""
        if not self.running:
            return
        try:
            for event in self._follower.step():
                self._happened(event)
            self._say_when_slow()
        except Exception as error:
            # An error inside a callback would vanish into a log nobody reads.
            self._body.value = trouble(error)._repr_html_()
            self.stop("following it failed; run the cell again")
            return
        self._events.call_later(POLL_S, self._tick)

    def _happened(self, event: Event) -> None:
        if isinstance(event, Started):
            self._started_at = self._events.time()
            return
        self._started_at = None
        if isinstance(event, Finished):
            self._body.value = event.outcome.html
        else:
            self._body.value = Note.of(event.sections, "trouble")._repr_html_()
        passed = isinstance(event, Finished) and event.outcome.verdict.passed
        name = self.puzzle.short_name
        more = f' \u00b7 diff("{name}") shows the solution and discusses it' if passed else ""
        self._say(f"following {self._file}: save it and it is checked{more}")

    def _say_when_slow(self) -> None:
        started = self._started_at
        if started is not None and self._events.time() - started > SLOW_S:
            self._say(f"checking {self._file} ...")

    def _say(self, text: str) -> None:
        self._head.value = _line(text) + file_link(self.puzzle, "open", "Open the file")


@shown_at_once
@asks_for_answers
@telling
def live(name: str) -> LivePanel | Note:
    """Returns a panel that checks your answer each time you save its file.

    One cell has one panel: running the cell again ends the panel it had.

    Args:
        name: "guard" or "01_threads/guard".
    """
    puzzle = index.find(name)
    try:
        loop = asyncio.get_running_loop()
    except RuntimeError:
        return Note(
            f"live needs a notebook; in a terminal `gpu-course watch {puzzle.short_name}` does it"
        )
    cell, run = _this_cell(puzzle)
    _end_earlier(cell, run)
    panel = LivePanel(puzzle, loop)
    _panels.setdefault(cell, []).append((run, panel))
    return panel


def _end_earlier(cell: str, run: str) -> None:
    """Ends the panels that an earlier run of a cell made."""
    kept = []
    for made_in, panel in _panels.pop(cell, []):
        if made_in == run:
            kept.append((made_in, panel))
        else:
            panel.stop("this panel was replaced by a newer one")
    if kept:
        _panels[cell] = kept


def _this_cell(puzzle: Puzzle) -> tuple[str, str]:
    """Returns (what stays the same when the cell runs again, what does not).

    A front end that does not name its cells gets one panel for each puzzle.
    """
    from IPython import get_ipython

    shell = get_ipython()
    message = shell.get_parent() if hasattr(shell, "get_parent") else {}
    cell = message.get("metadata", {}).get("cellId")
    run = message.get("header", {}).get("msg_id", "")
    return (str(cell), str(run)) if cell and run else (puzzle.name, secrets.token_hex(8))


def _line(text: str) -> str:
    return (
        '<div class="gpu-course-live" role="status" style="'
        f"color:var(--jp-ui-font-color2,{palette.QUIET});"
        f'line-height:1.5"><span aria-hidden="true">\u25c9</span> {html.escape(text)}</div>'
    )
