"""Which cells are held back: those that give an answer away while it waits for a guess.

Most cells that compare a guess also print what the run gave, or draw it: the answer stands there as
well. So while such a cell runs, all that it shows is collected (`held_cell`). A cell that only
calls a function in which something is compared holds nothing back.

The cells below go on with what the run gave. So they are held as well, down to the next question:
they run, their names are there, and a line says for which question their output waits. Shown at
once is what a learner wrote there, what stands above the answer and is run again, and what gives no
answer away: the next question, a puzzle, and functions with the mark `shown_at_once`.
"""

from __future__ import annotations

import ast
import sys
from typing import TYPE_CHECKING, Any

from gpu_course.notebook.cells.held_cell import HeldCell, Question
from gpu_course.notebook.marks import shown_at_once
from gpu_course.puzzle.lesson_cells import is_of_a_lesson

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell


class _Below:
    """What comes below the answers that wait, down to the next question.

    A cell's place is told by when it ran first. Front ends that tell no ids of a lesson's cells
    leave open whose a cell is, and there all cells count as the lesson's.
    """

    def __init__(self) -> None:
        self.questions: list[Question] = []
        """Those whose answers wait, since the last question was asked."""
        self._place = 0
        """Of the cell in which the first of these answers waits."""
        self._places: dict[str, int] = {}
        self._now: tuple[str | None, str] = (None, "")
        self._ids = False
        self._held: dict[str, HeldCell] = {}

    def begins(self, identity: str | None, text: str) -> None:
        """Notes which cell runs."""
        self._now = identity, text
        self._places.setdefault(identity or text, len(self._places))

    def above(self) -> list[Question]:
        """Returns the questions whose answers wait above the cell that runs."""
        identity, text = self._now
        waiting = [each for each in self.questions if each.waits]
        if not waiting or not self._ids:
            return waiting
        is_above = self._places[identity or text] < self._place
        return [] if is_above or not is_of_a_lesson(identity, text) else waiting

    def wait(self, question: Question) -> None:
        """Holds what comes below the cell that runs."""
        identity, text = self._now
        self._ids = self._ids or is_of_a_lesson(identity, text)
        if not self.questions:
            self._place = self._places.get(identity or text, 0)
        if question not in self.questions:
            self.questions.append(question)

    def asked(self, question: Question, earlier: Question | None) -> None:
        """Ends what those before hold; what waits for an earlier asking waits for this one."""
        for questions in [self.questions, *(cell.questions for cell in self.cells())]:
            if earlier in questions:
                questions[questions.index(earlier)] = question
        if question not in self.questions:
            self.questions = []

    def keep(self, cell: HeldCell) -> None:
        """Remembers a cell that has ended, instead of what an earlier run of it showed."""
        identity, text = self._now
        self._held[identity or text] = cell

    def cells(self) -> list[HeldCell]:
        """Returns the cells that were held, in the order in which they ran first."""
        return list(self._held.values())


_below = _Below()
_running: list[HeldCell] = []
"""The cell that runs, if it is one that is held."""


def held_cell() -> HeldCell | None:
    """Returns the cell that runs, None where what it shows is not held."""
    return _running[0] if _running else None


def asked(question: Question, earlier: Question | None) -> None:
    """Says that a question is asked: down to here went what waited for those before.

    Args:
        question: asked in the cell that runs, which shows it at once.
        earlier: the same question, where this kernel has asked it before.
    """
    _below.asked(question, earlier)
    if _running:
        _running[0].questions.clear()


def waits(question: Question) -> None:
    """Says that an answer waits in the cell that runs: what comes below waits with it."""
    _below.wait(question)


def told() -> None:
    """Says that the cell that runs has told an answer: what it shows belongs to that one."""
    if _running:
        _running[0].questions.clear()


def look() -> None:
    """Shows what waited below answers that have been told."""
    for cell in _below.cells():
        cell.look()


def register(shell: InteractiveShell) -> None:
    """Holds the cells of an IPython shell that would show what waits for a guess."""
    global _below
    _below = _Below()
    shell.events.register("pre_run_cell", _before_cell)
    shell.events.register("post_run_cell", _after_cell)


def _before_cell(info: Any) -> None:
    from IPython import get_ipython

    if _running:
        _running[0].nested += 1
        return
    shell, cell = get_ipython(), info.raw_cell or ""
    if shell is None:
        return
    _below.begins(getattr(info, "cell_id", None), cell)
    questions = _below.above()
    if questions and _is_shown_at_once(cell, shell.user_ns):
        questions = []
    if questions or _compares_what_waits(cell, shell.user_ns):
        _running.append(HeldCell(shell, questions, _below.cells()))
        _running[0].begin()


def _after_cell(result: Any) -> None:
    if not _running:
        return
    if _running[0].nested:
        _running[0].nested -= 1
        return
    cell = _running.pop()
    cell.end(failed=result is None or not result.success)
    if cell.questions:
        _below.keep(cell)


def _is_shown_at_once(cell: str, names: dict[str, Any]) -> bool:
    """True for a puzzle, and for a cell whose lines only call functions with the mark."""
    if cell.lstrip().startswith(("%%puzzle", "%puzzle")):
        return True
    tree = _tree(cell)
    # A cell may import what it calls.
    names = names | {
        alias.asname or alias.name: getattr(sys.modules.get(line.module or ""), alias.name, None)
        for line in tree.body
        if isinstance(line, ast.ImportFrom)
        for alias in line.names
    }
    lines = [line.value for line in tree.body if isinstance(line, ast.Expr | ast.Assign)]
    called = [line.func for line in lines if isinstance(line, ast.Call)]
    marked = [
        isinstance(each, ast.Name)
        and getattr(names.get(each.id), shown_at_once.__name__, False) is True
        for each in called
    ]
    return any(marked) and all(marked)


def _compares_what_waits(cell: str, names: dict[str, Any]) -> bool:
    """True for a cell that has `guess.compare(...)` where no guess is given yet."""
    called = [node.func for node in ast.walk(_tree(cell)) if isinstance(node, ast.Call)]
    return any(
        isinstance(each, ast.Attribute)
        and each.attr == "compare"
        and isinstance(each.value, ast.Name)
        and getattr(names.get(each.value.id), "waits", False) is True
        for each in called
    )


def _tree(cell: str) -> ast.Module:
    """A cell as a tree, an empty one where it is no Python."""
    try:
        return ast.parse(cell)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ast.Module([], [])
