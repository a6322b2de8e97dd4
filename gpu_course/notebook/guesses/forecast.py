"""A forecast of somebody's measurement: a number and an interval, laid beside what was measured.

The question and the answer are a row of the board of published numbers. What the learner typed is
kept, and `progress()` shows how often the intervals held.
"""

from __future__ import annotations

import html
from typing import Any

from gpu_course.claims import guesses as ledger
from gpu_course.claims.guesses import Entry, Guess
from gpu_course.claims.kinds import Kind
from gpu_course.claims.published import forecast_row, mine_text
from gpu_course.claims.row import Row
from gpu_course.draw.paper import palette
from gpu_course.errors import CourseError
from gpu_course.grading.verdicts.sections import heading, section
from gpu_course.notebook.guesses.asked import Asked, in_notebook
from gpu_course.notebook.guesses.prose_note import ProseNote
from gpu_course.notebook.marks import asks_for_answers, shown_at_once
from gpu_course.notebook.note import Note, telling
from gpu_course.notebook.panel import html_panel

ASKED = "A number, and an interval that you believe holds 9 times out of 10."

_WAITS = ProseNote(
    "The answer waits for your forecast.",
    "plain",
    "Type your three numbers above, and it is shown here. An empty forecast is never scored.",
)
_LABELS = 7, 4.5, 5
"""Widths of what stands before the fields, in em."""
_FIELD = 8.5
"""The same of each field: as wide as the longest unit, which stands in it until somebody types."""

_SOURCE_SAYS = {
    Kind.formula: "Worked out by the source",
    Kind.identity: "Printed by the source",
}
"""What a number is that nobody measured."""


class Forecast(Asked):
    """A question about a published number and, once it is given, the learner's forecast.

    Attributes:
        row: of the board; it has a question.
        fields: the widgets for number, low and high end; none outside a notebook.
        kept: what the ledger holds.
    """

    ledger = ledger.LEDGER
    wanted = "forecast"
    stands = "The answer has been shown, and this forecast counts as it stands."
    too_late = "The answer has been shown: what you type now is not scored."

    def __init__(self, row: Row) -> None:
        assert row.forecast is not None
        super().__init__(row.forecast.name)
        self.row = row
        kept, self._trouble = self.ledger.with_trouble(lambda: ledger.entry(self.name))
        self.kept: Entry = kept or Entry()
        self.told = self.kept.told

    def __repr__(self) -> str:
        assert self.row.forecast is not None
        return f"Your forecast: {self.row.forecast.question} {ASKED}"

    def typed(self) -> Guess | None:
        """Returns what the fields hold, None while one of them is empty.

        Raises:
            CourseError: it is no forecast; the text says why.
        """
        if not self.fields:
            return None
        number, low, high = (field.value for field in self.fields)
        return ledger.read_guess(number, low, high, self.row.unit)

    @property
    def guess(self) -> Guess | None:
        """The forecast kept before the answer was shown; else what is typed."""
        if self.kept.guess is not None:
            return self.kept.guess
        try:
            return self.typed()
        except CourseError:
            return None

    @property
    def asks(self) -> str:
        assert self.row.forecast is not None
        return self.row.forecast.question

    @property
    def given(self) -> bool:
        return self.kept.guess is not None and not self.unfinished

    def take(self, change: Any = None) -> None:
        if self.told:
            return
        try:
            guess = self.typed()
        except CourseError as error:
            self._say(str(error), "trouble")
            return
        if guess is None:
            self._say("All three are needed." if self._begun else "", "plain")
            return
        self.kept = Entry(guess)
        trouble = self._kept(lambda: ledger.keep(self.name, guess))
        kept = f"Kept: {_said(guess)}. You may change it until the answer is shown."
        self._say(trouble or kept, "plain")
        self.answered()

    def _tell(self) -> Note | None:
        trouble = super()._tell()
        self.kept = Entry(self.kept.guess, told=True)
        return trouble

    @property
    def unfinished(self) -> bool:
        return self._unfinished() is not None

    def why(self) -> Note:
        return self._unfinished() or _WAITS

    @property
    def _begun(self) -> bool:
        """True where a field holds something."""
        return any(field.value.strip() for field in self.fields)

    def _unfinished(self) -> Note | None:
        """Returns why what stands in the fields is no forecast yet, None where nothing does."""
        why = "one of its three numbers is missing"
        try:
            if not self._begun or self.typed() is not None:
                return None
        except CourseError as error:
            why = error.fact
        step = "mend it above, and the answer is shown here; or empty all", "three fields"
        return Note.of(
            [
                *heading("Your forecast is not whole, so the answer waits."),
                *section("why", why),
                *section("try", *step),
            ],
            "trouble",
        )

    def comparison(self) -> ProseNote:
        """Returns what `compare` shows."""
        row, guess = self.row, self.guess
        question = row.forecast
        assert question is not None
        truth = _with_unit(f"{row.published:,.{_digits(row)}f}", row.unit)
        known = Kind.formula if row.worked_out else row.kind
        says = f"{_SOURCE_SAYS.get(known, 'Measured')}: {truth} ({row.paper.name}, {row.place})."
        share = "" if row.to_the_digit else f", {_share(row.mine / row.published)} that"
        mine = _with_unit(mine_text(row), row.unit)
        model = f"The simple model: {mine}{share}; {row.judged}. {_first(row.how)}."
        told = [says, model, question.seen]
        if row.breaks:
            told.append(f"What breaks here: {row.broken}")
        if guess is not None:
            wide = _ratio(guess.relative_width(row.published))
            about = f"Your interval is {wide} times as wide as the value."
            if self.kept.guess is None:
                about += " You typed it after the answer was shown, so it is not scored."
            told.insert(0, about)
        text, kind = self._verdict(guess, truth)
        return ProseNote(text, kind, "\n\n".join(told))

    def _verdict(self, guess: Guess | None, truth: str) -> tuple[str, str]:
        if guess is None:
            why = ""
            try:
                self.typed()
            except CourseError as error:
                why = f" ({error.fact})"
            return (f"No forecast{why}. It is {truth}." if why else f"It is {truth}."), "plain"
        said = f"You said {_said(guess)}. It is {truth}"
        value = self.row.published
        if guess.holds(value):
            return f"{said}: your interval held.", "right"
        return f"{said}, {'above' if value > guess.high else 'below'} your interval.", "wrong"

    def panel(self) -> Any:
        """Returns the question above its three fields, which say below what became of it."""
        import ipywidgets

        forecast = self

        class Panel(ipywidgets.VBox):
            """The question above its fields."""

            def __repr__(self) -> str:
                return repr(forecast)

            def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, Any]:
                # A stored notebook has no kernel behind it: the question stands in for its fields.
                bundle = dict(super()._repr_mimebundle_(**kwargs) or {})
                said = Note(repr(forecast))
                return bundle | {"text/plain": repr(said), "text/html": said._repr_html_()}

        assert self.row.forecast is not None
        question = html_panel(
            f'<div style="border-left:4px solid {palette.ACTIVE};padding:0.2em 0.8em;'
            f'line-height:1.5;max-width:44em"><b>Your forecast.</b> '
            f"{html.escape(self.row.forecast.question)}<br>{ASKED}</div>"
        )
        before = self.kept.guess
        values = ("", "", "")
        if before is not None:
            values = tuple(f"{n:.12g}" for n in (before.number, before.low, before.high))  # type: ignore[assignment]
        names = ("your number", "at least", "at most")
        self.fields = tuple(
            ipywidgets.Text(
                value,
                description=name,
                placeholder=self.row.unit,
                tooltip=f"{name}, in {self.row.unit}: {self.row.forecast.question}",
                continuous_update=False,
                disabled=before is not None and self.told,
                layout=ipywidgets.Layout(width=f"{wide + _FIELD}em"),
                style={"description_width": f"{wide}em"},
            )
            for name, value, wide in zip(names, values, _LABELS, strict=True)
        )
        self._status = html_panel()
        for field in self.fields:
            field.observe(self.take, names="value")
        if self._trouble:
            self._say(self._trouble, "trouble")
        elif self.told and before is None:
            self._say(self.too_late, "plain")
        elif self.told:
            self._say(self.stands, "plain")
        elif before is not None:
            self._say("You gave this forecast before; it counts until you change it.", "plain")
        row = ipywidgets.Box(self.fields, layout=ipywidgets.Layout(flex_flow="row wrap"))
        return Panel([question, row, self._status])


@shown_at_once
@asks_for_answers
@telling
def forecast(name: str) -> Forecast:
    """Returns a Forecast and shows its question, with the fields to answer it in.

    No cell waits for the forecast, all of them run. The answer waits, in the cell that compares,
    and what the cells below that one show, down to the next question.

    Args:
        name: of a forecast on the board, such as "h100-add-large".
    """
    asked = Forecast(forecast_row(name))
    if in_notebook():
        asked.ask(asked.panel())
    else:
        print(asked)
    return asked


def _digits(row: Row) -> int:
    return len(row.printed.partition(".")[2])


def _with_unit(number: str, unit: str) -> str:
    return f"{number} {unit}".rstrip()


def _said(guess: Guess) -> str:
    number, low, high = map(ledger.as_said, (guess.number, guess.low, guess.high))
    return f"{number} ({low} to {high})"


def _share(ratio: float) -> str:
    """Returns what a number is of another, such as "97 % of" or "2.4 times".

    >>> _share(0.0012), _share(0.97), _share(0.998), _share(1.03), _share(2.42)
    ('0.12 % of', '97 % of', '99.8 % of', '3 % more than', '2.4 times')
    """
    if ratio < 1:
        return f"{100 * ratio:.{2 if ratio < 0.995 else 3}g} % of"
    return f"{100 * (ratio - 1):.2g} % more than" if ratio < 1.1 else f"{_ratio(ratio)} times"


def _ratio(value: float) -> str:
    return f"{value:,.0f}" if value >= 99.5 else f"{value:.2g}"


def _first(words: str) -> str:
    """Returns words that begin a sentence; names such as float32 stay as they are."""
    return words[:1].upper() + words[1:].rstrip(".")
