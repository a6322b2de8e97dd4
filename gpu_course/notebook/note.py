"""A few lines for a person: plain text anywhere, a quiet coloured box in a notebook."""

from __future__ import annotations

import functools
import html
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, ParamSpec, TypeVar

from gpu_course.draw.paper import palette
from gpu_course.errors import CourseError, NotBegun
from gpu_course.grading.verdicts.exports import PRE_STYLE, sections_html
from gpu_course.grading.verdicts.sections import Section, of_error, text_of
from simt.errors import file_problem

_Args = ParamSpec("_Args")
_Result = TypeVar("_Result")

# A sign stands beside each colour, so that the colour never speaks alone.
_LOOKS = {
    "plain": (palette.ACTIVE, ""),
    "right": (palette.FINE, "\u2713"),
    "wrong": (palette.WRITE, "\u2260"),
    "trouble": (palette.CONFLICT, "!"),
    "hint": (palette.READ, "?"),
}


STOPPED = "you stopped this cell; nothing of yours was changed, and running it again starts anew"


@dataclass(frozen=True)
class Note:
    """A short text that shows itself.

    Args:
        text: one or more lines.
        kind: "plain", "right", "wrong", "trouble" or "hint".
        sections: the text in parts, where it has labels.
    """

    text: str
    kind: str = "plain"
    sections: tuple[Section, ...] = field(default=(), kw_only=True)

    @classmethod
    def of(cls, sections: Iterable[Section], kind: str = "plain") -> Note:
        """Returns a note that says these sections."""
        said = tuple(sections)
        return cls(text_of(said), kind, sections=said)

    def __repr__(self) -> str:
        return self.text

    def _repr_html_(self) -> str:
        if any(each.label for each in self.sections):
            return self.framed(sections_html(self.sections, mark=self._mark()))
        return self.framed(self._mark() + html.escape(self.text))

    def framed(self, inside: str, *, prose: bool = False) -> str:
        """Returns HTML in the note's box: as it is laid out, or as prose behind the sign."""
        colour, _ = _LOOKS[self.kind]
        body = f'<pre style="margin:0;{PRE_STYLE}">{inside}</pre>'
        if prose:
            body = f'<div style="line-height:1.5">{self._mark()}{inside}</div>'
        return (
            f'<div class="gpu-course-note" role="note" style="border-left:4px solid {colour};'
            f'padding:0.4em 0 0.4em 0.6em;margin:0.4em 0">{body}</div>'
        )

    def _mark(self) -> str:
        # In the ink of the text: two of the colours are too light for a sign on white.
        _, sign = _LOOKS[self.kind]
        return f'<span aria-hidden="true">{sign}</span> ' if sign else ""


def show(thing: Any) -> None:
    """Displays a thing now, wherever in the cell or program the call stands."""
    from IPython.display import display

    display(thing)


def trouble(error: BaseException) -> Note:
    """Returns an error as a Note: its text for one of ours, type and text for any other.

    That nothing has been written yet is no trouble, and looks like none.
    """
    if isinstance(error, CourseError):
        return Note.of(of_error(error), "plain" if isinstance(error, NotBegun) else "trouble")
    return Note(f"{type(error).__name__}: {error}", "trouble")


def telling(function: Callable[_Args, _Result]) -> Callable[_Args, _Result | Note]:
    """Returns the function, which now answers an error of the course with a Note.

    A learner who mistypes a name reads one sentence instead of a traceback; so does one whose files
    cannot be read or written.
    """

    @functools.wraps(function)
    def told(*args: _Args.args, **kwargs: _Args.kwargs) -> _Result | Note:
        try:
            return function(*args, **kwargs)
        except CourseError as error:
            return trouble(error)
        except OSError as error:
            return trouble(file_problem(error))
        except KeyboardInterrupt:
            # Raised anew, so that the cells after this one wait as well, without the course's own
            # lines: where it happened to be is nothing to a learner.
            raise KeyboardInterrupt(STOPPED) from None

    return told
