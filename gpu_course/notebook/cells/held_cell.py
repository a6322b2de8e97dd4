"""What a cell shows is held back while an answer in it, or above it, waits for a guess.

Most cells that compare a guess also print what the run gave, or draw it: the answer stands there as
well. So while such a cell runs, all that it shows is collected. Where the answer was told, it is
shown when the cell ends; where it waits, each part has its place below the cell, empty, and appears
there together with the answer. A cell that raises an error holds nothing back, and neither does one
that only calls a function in which something is compared.

The cells below go on with what the run gave. So they are held as well, down to the next question:
they run, their names are there, and a line says for which question their output waits. Shown at
once is what a learner wrote there, what stands above the answer and is run again, and what gives no
answer away: the next question, a puzzle, and functions with the mark `shown_at_once`.
"""

from __future__ import annotations

import ast
import io
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol, cast

from IPython.core.displaypub import DisplayPublisher

from gpu_course.notebook.marks import shown_at_once
from gpu_course.puzzle.lesson_cells import is_of_a_lesson

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell

    from gpu_course.notebook.note import Note

_EMPTY = {"text/plain": "", "text/html": ""}


class Waiting(Protocol):
    """An answer that waits in a cell."""

    def put(self, *, alone: bool) -> None:
        """Shows below the cell that it waits; alone is False where other things wait as well."""


class Question(Protocol):
    """A question whose answer waits above other cells."""

    @property
    def waits(self) -> bool:
        """True where the answer is not to be seen yet."""

    def below(self) -> Note:
        """Returns what stands in the place of what a cell below would show."""


@dataclass
class _Part:
    """One thing that a cell shows.

    Attributes:
        data, metadata: as Jupyter's messages have them.
        display_id: by which it is changed later, None where nobody will.
        printed: True for what was printed.
        waiting: set for what waits, which is shown in any case.
        again: makes data and metadata anew when it is shown after all, for what shows the guess.
    """

    data: dict[str, Any]
    metadata: dict[str, Any] = field(default_factory=dict)
    display_id: str | None = None
    printed: bool = False
    waiting: Waiting | None = None
    again: Callable[[], tuple[dict[str, Any], dict[str, Any]]] | None = None


class HeldCell:
    """A cell that runs, and what it has shown so far.

    Args:
        shell: in which it runs.
        questions: those whose answers wait above it.
    """

    def __init__(self, shell: InteractiveShell, questions: Sequence[Question] = ()) -> None:
        self.shell = shell
        self.questions = list(questions)
        self.nested = 0
        """How many cells run within this one, as by %run."""
        self._parts: list[_Part] = []
        self._held: list[tuple[_Part, Any]] = []
        self._before: tuple[Any, Any, Any] = (None, None, None)

    def begin(self) -> None:
        """Turns what the cell prints, displays and returns to this object."""
        shell = self.shell
        self._before = sys.stdout, shell.display_pub, shell.display_trap.hook
        sys.stdout = cast(Any, _Printed(self))
        shell.display_pub = _Displayed(self, shell.display_pub)
        shell.display_trap.hook = _Returned(self)

    def end(self, failed: bool = False) -> None:
        """Shows what was held; where an answer waits, that it does, and empty places."""
        sys.stdout, self.shell.display_pub, self.shell.display_trap.hook = self._before
        waits_here = any(part.waiting for part in self._parts)
        if failed or waits_here:
            self.questions.clear()
        holds = not failed and (waits_here or self._first() is not None)
        for part in self._parts:
            if part.waiting is not None:
                part.waiting.put(alone=len(self._parts) == 1 or failed)
            elif holds:
                place = self._line() if self.questions and not self._held else _EMPTY
                self._held.append((part, _display(place, {}, part.display_id or True)))
            elif part.printed:
                print(part.data["text/plain"], end="", flush=True)
            else:
                _display(part.data, part.metadata, part.display_id)

    def wait_for(self, waiting: Waiting) -> None:
        """Holds the cell until an answer has come that waits in it."""
        self._parts.append(_Part({}, waiting=waiting))

    def came(self, waiting: Waiting) -> None:
        """Shows all that was held once no answer in the cell waits any more."""
        for part in self._parts:
            if part.waiting is waiting:
                part.waiting = None
        if not any(part.waiting for part in self._parts):
            self._show()

    def look(self) -> None:
        """Shows what was held once no answer above it waits; until then, which one does."""
        if not self._held:
            return
        if self._first() is None:
            self._show()
        else:
            self._held[0][1].update(self._line(), raw=True)

    def _show(self) -> None:
        for part, handle in self._held:
            if part.again is not None:
                part.data, part.metadata = part.again()
            handle.update(part.data, raw=True, metadata=part.metadata)
        self._held.clear()

    def _first(self) -> Question | None:
        return next((each for each in self.questions if each.waits), None)

    def _line(self) -> dict[str, Any]:
        """Returns, as Jupyter's messages have it, what stands where something is held."""
        question = self._first()
        assert question is not None
        said = question.below()
        return {"text/plain": repr(said), "text/html": said._repr_html_()}

    def printed(self, text: str) -> None:
        """Adds a text to what was printed just before, or begins a new part."""
        if not (self._parts and self._parts[-1].printed):
            self._parts.append(_Part({"text/plain": ""}, printed=True))
        self._parts[-1].data["text/plain"] += text

    def shown(
        self, data: dict[str, Any], metadata: dict[str, Any] | None, display_id: str | None = None
    ) -> None:
        """Adds something that was displayed."""
        self._parts.append(_Part(dict(data), dict(metadata or {}), display_id))

    def renew_last(self, again: Callable[[], tuple[dict[str, Any], dict[str, Any]]]) -> None:
        """Says how what was shown last is made anew."""
        self._parts[-1].again = again

    def changed(
        self, data: dict[str, Any], metadata: dict[str, Any] | None, display_id: str
    ) -> bool:
        """Changes what this cell displayed under a name; False where it displayed nothing so."""
        mine = [part for part in self._parts if part.display_id == display_id]
        for part in mine:
            part.data, part.metadata = dict(data), dict(metadata or {})
        return bool(mine)

    def clear(self) -> None:
        """Forgets what the cell has shown so far, as `clear_output` asks for."""
        self._parts = [part for part in self._parts if part.waiting is not None]


class _Printed(io.TextIOBase):
    """What takes the place of stdout."""

    def __init__(self, cell: HeldCell) -> None:
        self._cell = cell

    def writable(self) -> bool:
        return True

    def write(self, text: str) -> int:
        self._cell.printed(text)
        return len(text)


class _Displayed(DisplayPublisher):
    """What takes the place of the shell's publisher; all else goes to that one."""

    def __init__(self, cell: HeldCell, real: Any) -> None:
        super().__init__()
        self._cell, self._real = cell, real

    def publish(
        self,
        data: dict[str, Any],
        metadata: dict[str, Any] | None = None,
        *,
        transient: dict[str, Any] | None = None,
        update: bool = False,
        **kwargs: Any,
    ) -> None:
        display_id = (transient or {}).get("display_id")
        if not update:
            self._cell.shown(data, metadata, display_id)
        elif not any(
            cell.changed(data, metadata, str(display_id)) for cell in (self._cell, *_below.cells())
        ):
            self._real.publish(data, metadata, transient=transient, update=True, **kwargs)

    def clear_output(self, wait: bool = False) -> None:
        self._cell.clear()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._real, name)


class _Returned:
    """What takes the place of the hook for the value of a cell's last line."""

    def __init__(self, cell: HeldCell) -> None:
        self._cell = cell

    def __call__(self, result: Any = None) -> None:
        hook = self._cell.shell.displayhook
        hook.check_for_underscore()
        if result is None or hook.quiet():
            return
        data, metadata = hook.compute_format_data(result)
        hook.update_user_ns(result)
        hook.fill_exec_result(result)
        if data:
            self._cell.shown(data, metadata)
            if getattr(result, "shows_the_guess", False):
                self._cell.renew_last(partial(hook.compute_format_data, result))


def _display(data: dict[str, Any], metadata: dict[str, Any], display_id: Any) -> Any:
    from IPython.display import display

    return display(data, raw=True, metadata=metadata, display_id=display_id)


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


def holding() -> HeldCell | None:
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
        _running.append(HeldCell(shell, questions))
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
