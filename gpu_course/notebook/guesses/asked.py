"""A question whose answer waits: what predictions and forecasts have in common.

The learner answers in a field. A cell that comes later has the answer, and shows it at once where
there is a guess. Where there is none, it shows that the guess is awaited, and the answer stands
nowhere: it comes as soon as the field is filled, or at the press of a button for those who only
read. What was guessed before is kept (`learner.ledger`), so that it is there again on another day.

Nobody can answer outside of a notebook, and nobody is asked where GPU_COURSE_GUESSES is off: there
no answer waits.
"""

from __future__ import annotations

import html
import os
import textwrap
from abc import ABC, abstractmethod
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar

from gpu_course.draw.paper import palette
from gpu_course.errors import CourseError
from gpu_course.grading.learner.ledger import Ledger
from gpu_course.notebook.cells import holding
from gpu_course.notebook.guesses.prose_note import ProseNote
from gpu_course.notebook.note import Note, show, trouble
from gpu_course.notebook.panel import html_panel

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import ipywidgets

GUESSES_VARIABLE = "GPU_COURSE_GUESSES"
ONLY_READ = "I only read: show me"
READ_ALL = "Show all answers from here on"
_QUESTION_WIDTH = 60
"""Of a question where only its beginning is needed to know it again, in characters."""
_WITH_IT = "What this cell prints and draws waits with it."


def guesses_wanted() -> bool:
    """False where somebody reads the course without guessing, and where the answers are stored."""
    return os.environ.get(GUESSES_VARIABLE, "").strip().lower() != "off"


def in_notebook() -> bool:
    """True where there are fields to answer in; a terminal has none, not even IPython's own."""
    from IPython import get_ipython

    shell = get_ipython()
    return shell is not None and type(shell).__name__ != "TerminalInteractiveShell"


class Asked(ABC):
    """A question, the fields to answer it in, and the cells in which its answer waits.

    Attributes:
        name: what it is kept under.
        fields: the widgets; none outside a notebook.
        told: True once the answer has been shown.
    """

    ledger: ClassVar[Ledger]
    wanted: ClassVar[str]
    """What the learner is asked for: a guess, or a forecast."""
    stands: ClassVar[str]
    """What the status says once the answer was shown beside a guess."""
    too_late: ClassVar[str]
    """The same, where there was no guess."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.fields: tuple[Any, ...] = ()
        self.told = False
        self._status: Any = None
        self._waiting: list[Waiting] = []

    @property
    @abstractmethod
    def given(self) -> bool:
        """True where there is a guess that counts."""

    @abstractmethod
    def take(self, change: Any = None) -> None:
        """Keeps what the fields hold, and says below them what became of it."""

    @abstractmethod
    def comparison(self, *ran: Any) -> ProseNote:
        """Returns what `compare` shows, once the answer may be told."""

    @abstractmethod
    def why(self) -> Note:
        """Returns why the answer waits; it holds nothing of the answer."""

    def again(self) -> Sequence[ipywidgets.Widget]:
        """Returns what is shown of the question where its answer waits."""
        return ()

    @property
    @abstractmethod
    def asks(self) -> str:
        """The question in words."""

    def below(self) -> WaitingBelow:
        """Returns what stands where a cell below waits with the answer."""
        question = textwrap.shorten(
            self.asks, _QUESTION_WIDTH, placeholder=" \N{HORIZONTAL ELLIPSIS}"
        )
        return WaitingBelow(
            f"Waits for your {self.wanted} above: \u201c{question}\u201d\n"
            f"Answer there, or press \u201c{ONLY_READ}\u201d, and it is shown here."
        )

    @property
    def unfinished(self) -> bool:
        """True where what the fields hold is no guess yet, and somebody has begun one."""
        return False

    @property
    def waits(self) -> bool:
        """True where the answer is not to be seen yet."""
        wanted = guesses_wanted() and not _reads_all
        return bool(self.fields) and not self.told and not self.given and wanted

    def compare(self, *ran: Any) -> None:
        """Shows the guess beside the answer, and what was seen; without a guess it waits for one.

        Args:
            ran: what the run gave; nothing where the answer is none a run can give.
        """
        try:
            comparison = self.comparison(*ran)
            if not self.told:
                self.take()
            if self.waits:
                self._waiting.append(Waiting(self, ran))
                self._waiting[-1].show()
                holding.waits(self)
                return
            holding.told()
            show(comparison if self.told else self.comparison(*ran))
            if said := self._tell():
                show(said)
        except CourseError as error:
            show(trouble(error))

    def ask(self, panel: Any) -> None:
        """Shows the question; what waits for the one that this cell asked before, waits for it."""
        earlier = _latest.get(self.name)
        if earlier is not None:
            self._waiting = earlier._waiting
        _latest[self.name] = self
        holding.asked(self, earlier)
        show(panel)

    def answered(self) -> None:
        """Shows the answers that have waited for this guess."""
        if self.given and not self.told and self._waiting:
            self._open()

    def only_read(self, *, even_unfinished: bool = False) -> None:
        """Shows the answers that wait, though there is no guess; what is half typed is told.

        Args:
            even_unfinished: True to show them also where something is half typed.
        """
        if not self.told:
            self.take()
        if not self._waiting:
            return
        if self.unfinished and not self.told and not even_unfinished:
            for each in self._waiting:
                each.explain()
        else:
            self._open()

    def _open(self) -> None:
        waiting, told = list(self._waiting), []
        self._waiting.clear()
        for each in waiting:
            told.append(self.comparison(*each.ran))
        amiss = self._tell()
        for each, comparison in zip(waiting, told, strict=True):
            each.reveal(Notes((comparison, amiss)) if amiss else comparison)
        holding.look()

    def _tell(self) -> Note | None:
        """Notes that the answer has been shown, and returns what went wrong with that."""
        if self.told:
            return None
        self.told = True
        given = self.given
        amiss = self._kept(lambda: self.ledger.tell(self.name))
        for field in self.fields:
            field.disabled = given
        self._say(self.stands if given else self.too_late, "plain")
        return Note(amiss, "trouble") if amiss and self.fields else None

    def _kept(self, action: Callable[[], Any]) -> str:
        """Does something with the ledger, and returns what went wrong with it, "" for nothing."""
        return self.ledger.with_trouble(action)[1] if guesses_wanted() else ""

    def _say(self, text: str, kind: str) -> None:
        if self._status is not None:
            prose = Note(text).framed(html.escape(text), prose=True)
            shown = prose if kind == "plain" else Note(text, kind)._repr_html_()
            self._status.value = shown if text else ""


_reads_all: list[bool] = []
"""Holds something once a person has said in this kernel that they read without guessing."""


def read_all() -> None:
    """Shows all answers that wait, and from now on each one as it comes."""
    _reads_all.append(True)
    for asked in list(_latest.values()):
        asked.only_read(even_unfinished=True)


_latest: dict[str, Asked] = {}
"""Name -> what this kernel asked last under it: a cell may be run again while its answer waits."""


class Waiting:
    """An answer that waits below a cell: why, the question once more, and a button for readers.

    Args:
        asked: the question.
        ran: what `compare` was given.
    """

    def __init__(self, asked: Asked, ran: tuple[Any, ...]) -> None:
        import ipywidgets

        self.ran = ran
        self._asked = asked
        self._cell = holding.held_cell()
        self._alone = True
        self._handle: Any = None
        self.body = html_panel()
        self.button = _button(ONLY_READ, "show this answer without a guess", asked.only_read)
        self.button_for_all = _button(READ_ALL, "ask for no more guesses in this lesson", read_all)
        wraps = ipywidgets.Layout(flex_flow="row wrap", margin="0 0 0 1em")
        self.buttons = ipywidgets.Box([self.button, self.button_for_all], layout=wraps)
        self.panel = _panel(self, [self.body, *asked.again(), self.buttons])
        self.explain()

    def why(self) -> Note:
        """Returns why the answer waits, as it is now, and what waits with it."""
        said = self._asked.why()
        if self._alone or not isinstance(said, ProseNote):
            return said
        return replace(said, seen=f"{said.seen}\n\n{_WITH_IT}")

    def explain(self) -> None:
        """Says why the answer waits."""
        self.body.value = self.why()._repr_html_()

    def show(self) -> None:
        """Shows it below the cell, at the latest when the cell has ended."""
        if self._cell is None:
            self.put()
        else:
            self._cell.wait_for(self)

    def put(self, *, alone: bool = True) -> None:
        """Puts it below the cell.

        Args:
            alone: False where other things that the cell shows wait as well.
        """
        from IPython.display import display

        self._alone = alone
        self.explain()
        self._handle = display(self.panel, display_id=True)

    def reveal(self, answer: Note | Notes) -> None:
        """Puts the answer in the place where it waited, as a text that needs no kernel."""

        if self._handle is None:
            self.panel.children = [html_panel(answer._repr_html_())]
        else:
            self._handle.update(answer)
            # Nothing of it is stored with the notebook any more.
            for widget in (self.panel, self.body, self.buttons, *self.buttons.children):
                widget.close()
        if self._cell is not None:
            self._cell.came(self)


def _button(words: str, tooltip: str, press: Callable[[], None]) -> ipywidgets.Button:
    import ipywidgets

    layout = ipywidgets.Layout(width="max-content", margin="0.2em 0.4em 0 0")
    button = ipywidgets.Button(description=words, tooltip=tooltip, layout=layout)
    button.on_click(lambda _: press())
    return button


def _panel(waiting: Waiting, children: Sequence[Any]) -> Any:
    import ipywidgets

    class WaitingPanel(ipywidgets.VBox):
        """What has to be done for the answer, above the button."""

        def __repr__(self) -> str:
            return repr(waiting.why())

        def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, Any]:
            # A stored notebook has nothing to press, and the answer is not for it to tell.
            bundle = dict(super()._repr_mimebundle_(**kwargs) or {})
            said = waiting.why()
            return bundle | {"text/plain": repr(said), "text/html": said._repr_html_()}

    return WaitingPanel(children)


class WaitingBelow(Note):
    """A quiet line or two in the place of what a cell would show."""

    def _repr_html_(self) -> str:
        lines = "<br>".join(map(html.escape, self.text.splitlines()))
        return (
            '<div class="gpu-course-note" role="note" style="border-left:4px solid '
            f"{palette.IDLE};padding:0.1em 0 0.1em 0.6em;margin:0.2em 0;line-height:1.45;"
            f'color:var(--jp-ui-font-color2,{palette.QUIET})">{lines}</div>'
        )


class Notes(tuple[Note, ...]):
    """Several notes, one below the other."""

    def __repr__(self) -> str:
        return "\n".join(map(repr, self))

    def _repr_html_(self) -> str:
        return "".join(each._repr_html_() for each in self)
