"""An error of the course that ends a cell is said in its own words, and no traceback.

Most functions that lessons call answer such an error with a note (`note.telling`). Where a cell
goes on with the result, as in `a, b = planned(plan)`, it has to end there, and the cells below do
not run.
"""

from __future__ import annotations

import traceback
from types import TracebackType
from typing import TYPE_CHECKING, Any

from gpu_course.errors import CourseError
from gpu_course.grading.verdicts.sections import of_error, section, text_of

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell


def register(shell: InteractiveShell) -> None:
    """Has a shell say the course's errors; what it explained before, it still does.

    Args:
        shell: whose cells these are.
    """
    if CourseError in shell.custom_exceptions:
        return
    others, explain = shell.custom_exceptions, shell.CustomTB

    def say(
        shell: Any,
        kind: type[BaseException],
        error: BaseException,
        trace: TracebackType | None,
        tb_offset: int | None = None,
    ) -> Any:
        if not isinstance(error, CourseError):
            return explain(kind, error, trace, tb_offset=tb_offset)
        # A front end shows this in the place of the traceback.
        shell._showtraceback(kind, error, [said(shell, error, trace)])
        return None

    shell.set_custom_exc((*others, CourseError), say)


def said(shell: Any, error: CourseError, trace: TracebackType | None) -> str:
    """Returns the fact, the line of the cell that it came from, and what to try.

    Args:
        shell: in which the cell ran.
        error, trace: what ended it.
    """
    lines = [at for frame, at in traceback.walk_tb(trace) if frame.f_globals is shell.user_ns]
    parts = of_error(error)
    if lines and not error.places:
        parts[1:1] = section("where", f"line {lines[-1]} of this cell")
    return text_of(parts)
