"""What a cell shows is held back while an answer in it waits for a guess.

Most cells that compare a guess also print what the run gave, or draw it: the answer stands there as
well. So while such a cell runs, all that it shows is collected. Where the answer was told, it is
shown when the cell ends; where it waits, each part has its place below the cell, empty, and appears
there together with the answer. A cell that raises an error holds nothing back, and neither does one
that only calls a function in which something is compared.
"""

from __future__ import annotations

import ast
import io
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol, cast

from IPython.core.displaypub import DisplayPublisher

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell

_EMPTY = {"text/plain": "", "text/html": ""}


class Waiting(Protocol):
    """An answer that waits in a cell."""

    def put(self, *, alone: bool) -> None:
        """Shows below the cell that it waits; alone is False where other things wait as well."""


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
    """

    def __init__(self, shell: InteractiveShell) -> None:
        self.shell = shell
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
        holds = not failed and any(part.waiting for part in self._parts)
        for part in self._parts:
            if part.waiting is not None:
                part.waiting.put(alone=len(self._parts) == 1 or failed)
            elif holds:
                self._held.append((part, _display(_EMPTY, {}, part.display_id or True)))
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
            for part, handle in self._held:
                if part.again is not None:
                    part.data, part.metadata = part.again()
                handle.update(part.data, raw=True, metadata=part.metadata)
            self._held.clear()

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
        elif not self._cell.changed(data, metadata, str(display_id)):
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


_running: list[HeldCell] = []
"""The cell that runs, if it is one that is held."""


def holding() -> HeldCell | None:
    """Returns the cell that runs, None where what it shows is not held."""
    return _running[0] if _running else None


def register(shell: InteractiveShell) -> None:
    """Holds the cells of an IPython shell that compare a guess which is not there yet."""
    shell.events.register("pre_run_cell", _before_cell)
    shell.events.register("post_run_cell", _after_cell)


def _before_cell(info: Any) -> None:
    from IPython import get_ipython

    if _running:
        _running[0].nested += 1
        return
    shell = get_ipython()
    if shell is not None and _compares_what_waits(info.raw_cell or "", shell.user_ns):
        _running.append(HeldCell(shell))
        _running[0].begin()


def _after_cell(result: Any) -> None:
    if not _running:
        return
    if _running[0].nested:
        _running[0].nested -= 1
        return
    _running.pop().end(failed=result is None or not result.success)


def _compares_what_waits(cell: str, names: dict[str, Any]) -> bool:
    """True for a cell that has `guess.compare(...)` where no guess is given yet."""
    try:
        tree = ast.parse(cell)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    called = [node.func for node in ast.walk(tree) if isinstance(node, ast.Call)]
    return any(
        isinstance(each, ast.Attribute)
        and each.attr == "compare"
        and isinstance(each.value, ast.Name)
        and getattr(names.get(each.value.id), "waits", False) is True
        for each in called
    )
