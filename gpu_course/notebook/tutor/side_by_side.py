"""An answer beside the solution: two columns, the lines that differ marked by colour and sign."""

from __future__ import annotations

import difflib
import html
import re
from collections.abc import Iterator, Sequence

from gpu_course.draw.paper import palette
from gpu_course.grading.learner.solution import SolutionDiff

AROUND = 3
"""Equal lines that are shown before and after those that differ; more of them are counted."""

_HEADS = ("your answer", "the solution")
_SIGNS = ("\u2212", "+")
_COLOURS = (palette.ACTIVE, palette.FINE)
_NARROWEST = "34em"
"""Below that there is a bar to scroll by: each column keeps about 30 letters."""

Row = tuple[str | None, str | None, bool]
"""A line of the answer, one of the solution (None for no line), and whether they differ."""


class SideBySide:
    """An answer and the solution, line by line.

    Args:
        found: what is shown.
    """

    def __init__(self, found: SolutionDiff) -> None:
        self._found = found

    def __repr__(self) -> str:
        return self._found.difference

    def _repr_html_(self) -> str:
        if self._found.same:
            return f'<div style="margin:0.4em 0">{html.escape(self._found.difference)}</div>'
        heads = "".join(
            f'<div role="columnheader" style="padding:0.2em 0.6em;font-weight:600">{head}</div>'
            for head in _HEADS
        )
        rows = "".join(_row_html(row) for row in shortened(paired(*_lines(self._found))))
        return (
            '<div class="gpu-course-diff" style="overflow-x:auto;margin:0.4em 0">'
            '<div role="table" aria-label="your answer beside the solution" style="'
            f"min-width:{_NARROWEST};line-height:1.45;"
            "font-size:calc(var(--jp-code-font-size,13px) - 1px);"
            f'border:1px solid {palette.RULE};border-radius:4px">'
            f'<div role="row" style="{_TWO};border-bottom:1px solid {palette.RULE}">{heads}</div>'
            f"{rows}</div></div>"
        )


_TWO = "display:grid;grid-template-columns:minmax(0,1fr) minmax(0,1fr)"


def _lines(found: SolutionDiff) -> tuple[Sequence[str], Sequence[str]]:
    return found.answer, found.solution


def paired(answer: Sequence[str], solution: Sequence[str]) -> Iterator[Row]:
    """Yields the rows of both columns.

    >>> list(paired(["a", "b"], ["a", "c", "d"]))
    [('a', 'a', False), ('b', 'c', True), (None, 'd', True)]
    """
    match = difflib.SequenceMatcher(None, answer, solution, autojunk=False)
    for kind, a0, a1, b0, b1 in match.get_opcodes():
        for k in range(max(a1 - a0, b1 - b0)):
            left = answer[a0 + k] if a0 + k < a1 else None
            right = solution[b0 + k] if b0 + k < b1 else None
            yield left, right, kind != "equal"


def shortened(rows: Iterator[Row], around: int = AROUND) -> Iterator[Row | int]:
    """Yields the rows, and for many equal ones in a row only how many they are."""
    whole = list(rows)
    near = {
        k
        for number, row in enumerate(whole)
        if row[2]
        for k in range(number - around, number + around + 1)
    }
    left_out = 0
    for number, row in enumerate(whole):
        if number in near:
            if left_out:
                yield left_out
            left_out = 0
            yield row
        else:
            left_out += 1
    if left_out:
        yield left_out


def _row_html(row: Row | int) -> str:
    if isinstance(row, int):
        lines = "one line is" if row == 1 else f"{row} lines are"
        return (
            f'<div role="row"><div role="cell" style="padding:0 0.6em;'
            f'color:var(--jp-ui-font-color2,{palette.QUIET})">\u22ee {lines} the same</div></div>'
        )
    left, right, differs = row
    cells = "".join(_cell_html(text, side, differs) for side, text in enumerate((left, right)))
    return f'<div role="row" style="{_TWO}">{cells}</div>'


def _cell_html(text: str | None, side: int, differs: bool) -> str:
    if text is None:
        return '<div role="cell"></div>'
    indent = len(text) - len(text.lstrip())
    # A line that is too long goes on below its own beginning, two letters further in.
    hang = indent + 4
    marked = differs and text.strip() != ""
    ground = f"background:{_COLOURS[side]}2e;" if marked else ""
    edge = f"border-left:3px solid {_COLOURS[side] if marked else 'transparent'};"
    sign = (
        f'<span style="font-weight:700" aria-label="differs:">{_SIGNS[side]}</span> '
        if marked
        else "  "
    )
    return (
        f'<div role="cell" style="{ground}{edge}'
        "font-family:var(--jp-code-font-family,monospace);white-space:pre-wrap;"
        "word-break:normal;overflow-wrap:break-word;"
        f'padding:0 0.3em 0 calc({hang}ch + 0.3em);text-indent:-{hang}ch">'
        f"{sign}{_breakable(text)}</div>"
    )


def _breakable(text: str) -> str:
    """Returns a line of code as HTML that may also be broken after a bracket, a comma or a dot."""
    pieces = re.split(r"(?<=[(\[{,.=])(?=\w)", text)
    return "<wbr>".join(html.escape(piece, quote=False) for piece in pieces)
