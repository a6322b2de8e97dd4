"""The hints of a puzzle below a cell: a button gives the next, running the cell gives none."""

from __future__ import annotations

from typing import Any

import ipywidgets

from gpu_course.errors import CourseError
from gpu_course.grading.learner.hints import hints_seen, next_hint
from gpu_course.notebook.note import Note, trouble
from gpu_course.notebook.panel import html_panel
from gpu_course.puzzle import Puzzle
from simt.errors import file_problem


class HintPanel(ipywidgets.VBox):
    """The hints that were asked for, and a button for the next one.

    Args:
        puzzle: whose hints.
    """

    def __init__(self, puzzle: Puzzle) -> None:
        self.puzzle = puzzle
        self._body = html_panel()
        self._button = ipywidgets.Button(layout=ipywidgets.Layout(width="max-content"))
        self._button.on_click(lambda _: self.ask())
        super().__init__([self._body, self._button])
        self._redraw(hints_seen(puzzle.name))
        self._first = repr(self), self._body.value or Note(repr(self), "hint")._repr_html_()

    def ask(self) -> None:
        """Shows the next hint and remembers that it was seen."""
        try:
            self._redraw(next_hint(self.puzzle.name).number)
        except CourseError as error:
            self._body.value += trouble(error)._repr_html_()
        except OSError as error:
            self._body.value += trouble(file_problem(error))._repr_html_()

    def __repr__(self) -> str:
        if self._seen:
            return "\n".join(self._texts())
        name = self.puzzle.short_name
        return f"{len(self.puzzle.hints)} hints: `gpu-course hint {name}` shows one at a time."

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, Any]:
        # A stored notebook has no kernel behind it: the hints seen stand in for the button.
        bundle = dict(super()._repr_mimebundle_(**kwargs) or {})
        bundle["text/plain"], bundle["text/html"] = self._first
        return bundle

    def _texts(self) -> list[str]:
        hints = self.puzzle.hints
        return [f"Hint {n} of {len(hints)}: {hints[n - 1]}" for n in range(1, self._seen + 1)]

    def _redraw(self, seen: int) -> None:
        of = len(self.puzzle.hints)
        self._seen = min(seen, of)
        self._body.value = "".join(Note(text, "hint")._repr_html_() for text in self._texts())
        left = self._seen < of
        self._button.disabled = not left
        self._button.description = (
            f"Show hint {self._seen + 1} of {of}" if left else "These are all the hints"
        )
