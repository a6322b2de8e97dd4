"""%%ranks N and %%rank K: a cell runs on the lesson's ranks, and their output stands side by side.

Each rank is a process with a namespace of its own, which it keeps from cell to cell. In there are
`rank`, `size`, `torch` and `dist`.
"""

from __future__ import annotations

import html
import itertools
import textwrap
from dataclasses import dataclass
from typing import TYPE_CHECKING

from IPython.core.interactiveshell import InteractiveShell
from IPython.core.magic import no_var_expand

from gpu_course.draw.paper import palette
from gpu_course.errors import CourseError
from gpu_course.grading.verdicts.exports import PRE_STYLE
from gpu_course.grading.verdicts.sections import heading, of_error
from gpu_course.notebook.note import Note, show, trouble

if TYPE_CHECKING:
    from gpu_course.ranks.console import CellRun, Console, Shown

USUAL = 4
WIDTH = 100
GAP = "   "
NARROWEST = 16
_GONE = "The ranks have been ended, and what they held is gone; the next %%ranks starts new ones."
_STOPPED = "you stopped this cell; the ranks have been ended, and the next %%ranks starts new ones"


@dataclass(frozen=True)
class SideBySide:
    """The output of ranks, a column for each; below each other where columns would be too narrow.

    Args:
        shown: for each rank.
    """

    shown: tuple[Shown, ...]

    def __repr__(self) -> str:
        texts = [_text(each).splitlines() or ["-"] for each in self.shown]
        heads = [f"rank {each.rank}" for each in self.shown]
        widths = [max(map(len, [head, *text])) for head, text in zip(heads, texts, strict=True)]
        room = (WIDTH - len(GAP) * (len(widths) - 1)) // len(widths)
        if sum(widths) + len(GAP) * (len(widths) - 1) > WIDTH and room < NARROWEST:
            rows = zip(heads, texts, strict=True)
            return "\n".join(f"[{head}] {line}" for head, text in rows for line in text)
        if sum(widths) + len(GAP) * (len(widths) - 1) > WIDTH:
            texts = [[p for line in text for p in _cut(line, room)] for text in texts]
            widths = [max(map(len, [head, *t])) for head, t in zip(heads, texts, strict=True)]
        columns = [[h, "-" * w, *t] for h, w, t in zip(heads, widths, texts, strict=True)]
        lines = itertools.zip_longest(*columns, fillvalue="")
        cells = (zip(line, widths, strict=True) for line in lines)
        return "\n".join(GAP.join(cell.ljust(w) for cell, w in row).rstrip() for row in cells)

    def _repr_html_(self) -> str:
        columns = "".join(
            f'<div style="flex:1 1 0;min-width:9em;border-left:4px solid {palette.ACTIVE};'
            f'padding-left:0.5em"><div style="font-weight:bold">rank {each.rank}</div>'
            f'<pre style="margin:0;white-space:pre-wrap;{PRE_STYLE}">'
            f"{html.escape(_text(each)) or '&nbsp;'}</pre></div>"
            for each in self.shown
        )
        return (
            '<div class="gpu-course-ranks" role="group" aria-label="output of each rank" '
            f'style="display:flex;flex-wrap:wrap;gap:0.8em">{columns}</div>'
        )


def _text(shown: Shown) -> str:
    return "\n".join(filter(None, (shown.printed.rstrip("\n"), shown.error)))


def _cut(line: str, room: int) -> list[str]:
    return textwrap.wrap(line, room, drop_whitespace=False) or [""]


def register(shell: InteractiveShell) -> None:
    """Makes %%ranks and %%rank known to an IPython shell."""
    shell.register_magic_function(ranks, magic_kind="line_cell", magic_name="ranks")
    shell.register_magic_function(rank, magic_kind="cell", magic_name="rank")


@no_var_expand
def ranks(line: str, cell: str | None = None) -> None:
    """Runs the cell on N ranks: `%%ranks N`. Without N, on those that are there, or on 4.

    Another number than before starts new ones. As `%ranks end` it ends them.

    Args:
        line: how many.
        cell: the text they run.
    """
    from gpu_course.ranks.console import console

    try:
        own = console()
        if cell is None:
            if line.strip() != "end":
                raise CourseError("%ranks takes no cell", "write `%%ranks 4`, or `%ranks end`")
            own.close()
            return
        before = own.ranks
        own.start(number := _number(line, before or USUAL, "%%ranks", "ranks"))
        if own.note and number != before:
            show(Note(own.note))
        _run(own, cell)
    except CourseError as error:
        show(trouble(error))
    except KeyboardInterrupt:
        raise KeyboardInterrupt(_STOPPED) from None


@no_var_expand
def rank(line: str, cell: str) -> None:
    """Runs the cell on one rank: `%%rank K`. The others wait for their next cell.

    Args:
        line: which.
        cell: the text it runs.
    """
    from gpu_course.ranks.console import console

    try:
        _run(console(), cell, only=_number(line, None, "%%rank", "the number of one rank"))
    except CourseError as error:
        show(trouble(error))
    except KeyboardInterrupt:
        raise KeyboardInterrupt(_STOPPED) from None


def _number(line: str, otherwise: int | None, magic: str, what: str) -> int:
    word = line.partition("#")[0].strip()
    if not word and otherwise is not None:
        return otherwise
    if not word.isdecimal():
        raise CourseError(f"{magic} takes {what}, not {line.strip()!r}", f"write `{magic} 2`")
    return int(word)


def _run(own: Console, cell: str, only: int | None = None) -> None:
    """Runs a cell and shows what came of it, also where whoever sits there stopped it."""
    try:
        _show(own.run(cell, only))
    except KeyboardInterrupt:
        if own.last is not None:
            _show(own.last)
        raise


def _show(done: CellRun) -> None:
    """Shows what the ranks made of a cell; nothing where there is nothing to see."""
    if any(each.printed or each.error for each in done.shown):
        show(SideBySide(done.shown))
    if done.trouble is not None:
        show(Note.of([*of_error(done.trouble), *heading(*_GONE.splitlines())], "trouble"))
