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
from gpu_course.grading.sections import heading, section
from gpu_course.notebook.marks import asks_for_answers
from gpu_course.notebook.note import Note, show, telling
from gpu_course.notebook.prediction import PredictionResult, in_notebook

ASKED = "A number, and an interval that you believe holds 9 times of 10."

_STANDS = "The answer has been shown, and this forecast counts as it stands."
_TOO_LATE = "The answer has been shown: what you type now is not scored."
_WAITS = PredictionResult(
    "No forecast yet, so the answer waits.",
    "plain",
    "Type your three numbers above and run this cell again. An empty forecast is never scored.",
)
_ASKS = "Show the answer without a forecast"
_LABELS = 7, 4.5, 5
"""Widths of what stands before the fields, in em."""
_FIELD = 8.5
"""The same of each field: as wide as the longest unit, which stands in it until somebody types."""

_SOURCE_SAYS = {
    Kind.formula: "Worked out by the source",
    Kind.identity: "Printed by the source",
}
"""What a number is that nobody measured."""


class Forecast:
    """A question about a published number and, once it is given, the learner's forecast.

    Attributes:
        row: of the board; it has a question.
    """

    def __init__(self, row: Row) -> None:
        assert row.forecast is not None
        self.row = row
        self.name = row.forecast.name
        self.fields: tuple[Any, ...] = ()
        """The widgets for number, low and high end; none outside a notebook."""
        self._status: Any = None
        kept, self._trouble = ledger.with_trouble(lambda: ledger.entry(self.name))
        self.kept: Entry = kept or Entry()

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

    def take(self, change: Any = None) -> None:
        """Keeps what the fields hold, and says below them what became of it."""
        if self.kept.told:
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
        _, trouble = ledger.with_trouble(lambda: ledger.keep(self.name, guess))
        kept = f"Kept: {_said(guess)}. You may change it until the answer is shown."
        self._say(trouble or kept, "plain")

    def compare(self) -> None:
        """Shows the forecast beside what was measured and what a simple model gives, and why.

        Where there are fields, the answer waits for what is typed into them: a run of all cells
        tells no answer that nobody asked for. It is told without a forecast at the press of a
        button, and what is typed after that is not scored.
        """
        if not self.kept.told:
            self.take()
            if unfinished := self._unfinished():
                show(unfinished)
                return
            if self.fields and self.guess is None:
                show(self._waiting())
                return
        show(self.comparison())
        if trouble := self._tell():
            show(trouble)

    def _tell(self) -> Note | None:
        """Notes that the answer has been shown, and returns what went wrong with that."""
        if self.kept.told:
            return None
        self.kept = Entry(self.kept.guess, told=True)
        _, trouble = ledger.with_trouble(lambda: ledger.tell(self.name))
        for field in self.fields:
            field.disabled = self.kept.guess is not None
        self._say(_STANDS if self.kept.guess is not None else _TOO_LATE, "plain")
        return Note(trouble, "trouble") if trouble and self.fields else None

    def _waiting(self) -> Any:
        """Returns the button that shows the answer although there is no forecast."""
        import ipywidgets

        forecast = self

        class Waiting(ipywidgets.VBox):
            """What has to be done for the answer, above the button."""

            def __repr__(self) -> str:
                return repr(_WAITS)

            def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, Any]:
                # A stored notebook has nothing to press: there the answer stands as it is.
                bundle = dict(super()._repr_mimebundle_(**kwargs) or {})
                told = forecast.comparison()
                return bundle | {"text/plain": repr(told), "text/html": told._repr_html_()}

        def told(button: Any) -> None:
            # What has been typed meanwhile counts, and what is half typed keeps the answer back.
            if not forecast.kept.told:
                forecast.take()
            if not forecast.kept.told and (unfinished := forecast._unfinished()):
                shown = [unfinished]
            else:
                shown = [forecast.comparison(), *filter(None, [forecast._tell()])]
                button.layout.display = "none"
            panel.children = [
                *(ipywidgets.HTML(note._repr_html_()) for note in shown),
                button,
            ]

        button = ipywidgets.Button(
            description=_ASKS,
            tooltip=f"{_ASKS}: what you type after that is not scored",
            layout=ipywidgets.Layout(width="max-content", margin="0.2em 0 0 1em"),
        )
        button.on_click(told)
        panel = Waiting([ipywidgets.HTML(_WAITS._repr_html_()), button])
        return panel

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
        step = "mend it above and run this cell again, or empty all", "three fields"
        return Note.of(
            [
                *heading("Your forecast is not whole, so the answer waits."),
                *section("why", why),
                *section("try", *step),
            ],
            "trouble",
        )

    def comparison(self) -> PredictionResult:
        """Returns what `compare` shows."""
        row, guess = self.row, self.guess
        question = row.forecast
        assert question is not None
        truth = _with_unit(f"{row.published:,.{_digits(row)}f}", row.unit)
        says = f"{_SOURCE_SAYS.get(row.kind, 'Measured')}: {truth} ({row.paper.name}, {row.place})."
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
        return PredictionResult(text, kind, "\n\n".join(told))

    def _verdict(self, guess: Guess | None, truth: str) -> tuple[str, str]:
        if guess is None:
            why = ""
            try:
                self.typed()
            except CourseError as error:
                why = f" ({error.fact})"
            return f"No forecast yet{why}. It is {truth}.", "plain"
        said = f"You said {_said(guess)}. It is {truth}"
        value = self.row.published
        if guess.holds(value):
            return f"{said}: your interval held.", "right"
        return f"{said}, {'above' if value > guess.high else 'below'} your interval.", "wrong"

    def _say(self, text: str, kind: str) -> None:
        if self._status is not None:
            self._status.value = Note(text, kind)._repr_html_() if text else ""

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
        question = ipywidgets.HTML(
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
                disabled=before is not None and self.kept.told,
                layout=ipywidgets.Layout(width=f"{wide + _FIELD}em"),
                style={"description_width": f"{wide}em"},
            )
            for name, value, wide in zip(names, values, _LABELS, strict=True)
        )
        self._status = ipywidgets.HTML()
        for field in self.fields:
            field.observe(self.take, names="value")
        if self._trouble:
            self._say(self._trouble, "trouble")
        elif self.kept.told and before is None:
            self._say(_TOO_LATE, "plain")
        elif self.kept.told:
            self._say(_STANDS, "plain")
        elif before is not None:
            self._say("You gave this forecast before; it counts until you change it.", "plain")
        row = ipywidgets.Box(self.fields, layout=ipywidgets.Layout(flex_flow="row wrap"))
        return Panel([question, row, self._status])


@asks_for_answers
@telling
def forecast(name: str) -> Forecast:
    """Returns a Forecast and shows its question, with the fields to answer it in.

    Nothing waits for the answer: `compare`, in a cell that comes later, takes what is there then.

    Args:
        name: of a forecast on the board, such as "h100-add-large".
    """
    asked = Forecast(forecast_row(name))
    if in_notebook():
        show(asked.panel())
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
