"""A cell whose output is collected while it runs, and shown when what it waits for has come.

Where no answer waits, all of it is shown when the cell ends. Where one does, each part has its
place below the cell, empty or with a line that says what it waits for, and appears there together
with the answer. A cell that raises an error holds nothing back. Which cells are held, `holding`
decides.
"""

from __future__ import annotations

import io
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol, cast

from IPython.core.displaypub import DisplayPublisher

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
        earlier: the cells that were held before it, whose displays it may change.
    """

    def __init__(
        self,
        shell: InteractiveShell,
        questions: Sequence[Question] = (),
        earlier: Sequence[HeldCell] = (),
    ) -> None:
        self.shell = shell
        self.questions = list(questions)
        self.earlier = tuple(earlier)
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
            cell.changed(data, metadata, str(display_id))
            for cell in (self._cell, *self._cell.earlier)
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
