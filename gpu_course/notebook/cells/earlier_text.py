"""What is offered below a puzzle's cell: another text of its answer, one click away."""

from __future__ import annotations

import html
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gpu_course.errors import CourseError
from gpu_course.grading import workspace
from gpu_course.grading.learner.verdict_cache import check_own
from gpu_course.grading.verdicts.sections import heading, section
from gpu_course.notebook.note import Note, trouble
from gpu_course.notebook.panel import html_panel
from gpu_course.puzzle import Puzzle
from simt.errors import file_problem


class EarlierText:
    """Says that a text of the file was kept, with a button that brings it back.

    Args:
        puzzle: whose answer.
        kept: the copy, one of `workspace.backups`.
    """

    def __init__(self, puzzle: Puzzle, kept: Path) -> None:
        self.puzzle = puzzle
        self.kept = kept
        name = puzzle.short_name
        self._said = Note.of(
            [
                *heading(f"{name}.py had been changed outside this cell. That text is kept:"),
                *section("try", f"`gpu-course restore {name}` brings it back"),
            ]
        )

    def __repr__(self) -> str:
        return self._said.text

    def bring_back(self) -> tuple[Any, ...]:
        """Puts the kept text into the file and returns what to show of it."""
        try:
            workspace.restore(self.puzzle.name, self.kept)
            name = self.puzzle.short_name
            told = Note(f"{name}.py holds the kept text again. What it replaced is kept as well.")
            return told, check_own(self.puzzle)
        except CourseError as error:
            return (trouble(error),)
        except OSError as error:
            return (trouble(file_problem(error)),)

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, Any]:
        import ipywidgets

        button = ipywidgets.Button(
            description="Bring it back",
            tooltip=f"put the kept text back into {self.puzzle.short_name}.py",
            layout=ipywidgets.Layout(width="max-content"),
        )
        said = html_panel(self._said._repr_html_())
        below = html_panel()

        def clicked(_: Any) -> None:
            button.disabled = True
            below.value = "".join(each._repr_html_() for each in self.bring_back())

        button.on_click(clicked)
        bundle = dict(ipywidgets.VBox([said, button, below])._repr_mimebundle_(**kwargs) or {})
        # A stored notebook has no kernel behind it: the sentence stands in for the button.
        return bundle | {"text/plain": repr(self), "text/html": self._said._repr_html_()}


@dataclass(frozen=True)
class InTheFile:
    """Says that the file holds an answer while its cell holds the stub, and offers to show it.

    Args:
        puzzle: whose answer.
    """

    puzzle: Puzzle

    def __repr__(self) -> str:
        return self._said.text

    @property
    def _said(self) -> Note:
        name = self.puzzle.short_name
        fact = f"This cell holds the stub, and {name}.py holds your answer: the file was checked."
        step = f"`%puzzle {name}`, alone in a cell, puts the file's text into that cell"
        return Note.of([*heading(fact), *section("try", step)])

    def _repr_html_(self) -> str:
        return self._said._repr_html_() + file_link(
            self.puzzle, "load", "Show my answer in this cell"
        )


def file_link(puzzle: Puzzle, action: str, words: str) -> str:
    """Returns a button for the extension that `gpu-course lab` brings; elsewhere it does nothing.

    Args:
        puzzle: whose answer file.
        action: "open" for an editor beside the notebook, "load" for the text in this cell.
        words: what stands on the button.
    """
    folder = workspace.answers_folder().name
    return (
        f'<button type="button" data-gpu-course="{action}"'
        f' data-gpu-course-file="{html.escape(f"{folder}/{puzzle.name}.py")}">'
        f"{html.escape(words)}</button>"
    )
