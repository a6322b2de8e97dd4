"""A guess before the run: the learner commits to an answer, and later lays it beside the truth.

What was seen, and why, is kept in the catalogue under the question, and is told with the answer:
before the guess it stands nowhere in the lesson, and the answer waits for the guess.
"""

from __future__ import annotations

import html
import math
from collections.abc import Mapping, Sequence
from typing import Any

from gpu_course.claims.guesses import with_a_point
from gpu_course.draw.paper import palette
from gpu_course.errors import CourseError
from gpu_course.grading.learner.ledger import Ledger
from gpu_course.notebook.guesses.asked import Asked, guesses_wanted, in_notebook
from gpu_course.notebook.guesses.prose_note import ProseNote
from gpu_course.notebook.marks import shown_at_once
from gpu_course.notebook.note import Note
from gpu_course.notebook.panel import html_panel
from gpu_course.puzzle import index
from gpu_course.puzzle.index import sealed

LEDGER = Ledger("predictions", "guess")
_ANSWER = "answer"
_NOT_GIVEN = object()
_CHOICES = "gpu-course-choices"
_AS_ROUNDED = 0.06
"""A choice stands for a number that is off it by this part or less."""
_LONG_CHOICES = (
    # By itself a choice has one line, and what goes on below is cut.
    f"<style>.{_CHOICES} .widget-radio-box label{{display:flex;flex-direction:row-reverse;"
    "justify-content:flex-end;align-items:flex-start;gap:0.4em;height:auto;line-height:1.45;"
    f"margin-bottom:0.25em;white-space:normal}} .{_CHOICES} .widget-radio-box{{max-width:100%;"
    f"margin-bottom:0!important}} .{_CHOICES} input[type=radio]{{flex:none;float:none;"
    "margin:0 0 0 0.4em}</style>"
)


class Prediction(Asked):
    """A question and, once it is given, the learner's answer to it.

    Attributes:
        question, choices, unit: as they were asked.
    """

    ledger = LEDGER
    wanted = "guess"
    stands = "The answer has been shown, and your guess stands."
    too_late = "The answer has been shown: what you say now is compared, and not counted."

    def __init__(self, question: str, choices: Sequence[Any] | None, unit: str) -> None:
        super().__init__(question)
        self.question = question
        self.choices = None if choices is None else tuple(choices)
        self.unit = unit

    @property
    def field(self) -> Any:
        """The widget the answer is typed or picked in; None outside a notebook."""
        return self.fields[0] if self.fields else None

    @property
    def answer(self) -> Any:
        """The learner's answer, or None while there is none."""
        value = None if self.field is None else self.field.value
        return _number(value) if self.choices is None else value

    @property
    def said(self) -> str:
        """The same in words, with its unit; "" while there is none."""
        return "" if self.answer is None else self._words(self.answer)

    @property
    def asks(self) -> str:
        return self.question

    @property
    def given(self) -> bool:
        return self.answer is not None

    def take(self, change: Any = None) -> None:
        if self.told or not self.fields:
            return
        if not self.given:
            typed = str(self.field.value or "").strip()
            how = "type it in digits, such as 8 or 0.5"
            if (meant := with_a_point(typed)) and _number(meant) is not None:
                how = f"write a point before decimals, {meant}"
            amiss = f"\u201c{typed}\u201d is no number: {how}."
            self._say(amiss if typed else "", "trouble")
            return
        said = _as_kept(self.field.value)
        trouble = self._kept(lambda: LEDGER.keep(self.name, {_ANSWER: said}))
        self._say(trouble, "trouble")
        self.answered()

    def why(self) -> ProseNote:
        return ProseNote("The answer waits for your guess.")

    def again(self) -> Sequence[Any]:
        return [_question_html(self.question), *self.fields]

    def compare(self, value: Any = _NOT_GIVEN) -> None:
        """Shows the guess beside the answer, and what was seen; without a guess it waits for one.

        Args:
            value: what the run gave; nothing where the answer is none a run can give.
        """
        super().compare(value)

    def comparison(self, value: Any = _NOT_GIVEN) -> ProseNote:
        """Returns what `compare` shows once there is a guess, or nobody is asked for one.

        Raises:
            CourseError: there is neither a value nor a sealed answer.
        """
        kept = sealed(self.question)
        if value is _NOT_GIVEN and (kept is None or kept.answer is None or callable(kept.answer)):
            raise CourseError(
                f"{self.question!r} has no answer to compare with",
                "give compare() the value that the run gave",
            )
        given = None if value is _NOT_GIVEN else value
        right = self._choice(given if kept is None else kept.right(given))
        said, true = self._words(self.answer), self._words(right)
        is_one = "It is" if _is_number(right) else "The answer is"
        seen = "" if kept is None else kept.seen
        if self.answer is None:
            return ProseNote(f"{is_one} {true}.", "plain", seen)
        if _same(self.answer, right):
            return ProseNote(f"You said {said}, and that is right.", "right", seen)
        return ProseNote(f"You said {said}. {is_one} {true}.", "wrong", seen)

    def _choice(self, right: Any) -> Any:
        """Returns the number among the choices that stands for the right one; itself, if none."""
        numbers = [_plain(each) for each in self.choices or () if _is_number(each)]
        if not _is_number(right) or any(_same(each, right) for each in numbers):
            return right
        near = [each for each in numbers if math.isclose(each, _plain(right), rel_tol=_AS_ROUNDED)]
        return near[0] if len(near) == 1 else right

    def __repr__(self) -> str:
        options = "" if self.choices is None else f" ({', '.join(map(_text, self.choices))})"
        unit = f" [{self.unit}]" if self.unit and self.choices is None else ""
        return f"Your prediction: {self.question}{options}{unit}"

    def _words(self, value: Any) -> str:
        quoted = isinstance(value, str) and any(map(str.isalpha, value))
        return f"\u201c{value}\u201d" if quoted else f"{_text(value)} {self.unit}".rstrip()

    def panel(self) -> Any:
        """Returns the question above its field, with the guess of an earlier day in it."""
        import ipywidgets

        kept, trouble = _kept_of(self.name)
        before = kept.get(_ANSWER)
        if self.choices is None:
            field = ipywidgets.Text(
                before if isinstance(before, str) else "",
                placeholder="a number",
                description=self.unit,
                tooltip=self.question,
                # Enter, or leaving the field, gives the answer: its first digit alone would be one.
                continuous_update=False,
                layout=ipywidgets.Layout(width="16em"),
                style={"description_width": "initial"},
            )
        else:
            field = ipywidgets.RadioButtons(
                options=[(_text(choice), choice) for choice in self.choices],
                value=next((c for c in self.choices if _as_kept(c) == before), None),
                tooltip=self.question,
                layout=ipywidgets.Layout(width="max-content", max_width="100%"),
            ).add_class(_CHOICES)
        self.fields = (field,)
        self._status = html_panel()
        self.told = kept.get("told") is True
        field.disabled = self.told and self.given
        if trouble:
            self._say(trouble, "trouble")
        elif self.told:
            self._say(self.stands if self.given else self.too_late, "plain")
        field.observe(self.take, names="value")
        return _panel(self, [_question_html(self.question), field, self._status])


def predictions_made() -> dict[str, tuple[int, int]]:
    """Returns {lesson: (predictions made before their answer was shown, predictions there are)}.

    What cannot be read counts as not made.
    """
    kept, _ = LEDGER.with_trouble(LEDGER.read)
    made = {name for name, entry in (kept or {}).items() if entry.get(_ANSWER) is not None}
    return {
        lesson.name: (len(made & set(lesson.predictions)), len(lesson.predictions))
        for lesson in index.lessons()
    }


def _kept_of(question: str) -> tuple[Mapping[str, Any], str]:
    """Returns (what the ledger holds of a question, what went wrong with it)."""
    if not guesses_wanted():
        return {}, ""
    kept, trouble = LEDGER.with_trouble(LEDGER.read)
    return (kept or {}).get(question, {}), trouble


def _as_kept(value: Any) -> str:
    """Returns an answer as the ledger has it: what was typed, or the words of a choice."""
    return value if isinstance(value, str) else _text(value)


def _question_html(question: str) -> Any:

    return html_panel(
        f"{_LONG_CHOICES}"
        f'<div style="border-left:4px solid {palette.ACTIVE};padding:0.2em 0.8em;line-height:1.5">'
        f"<b>Your prediction.</b> {html.escape(question)}</div>"
    )


@shown_at_once
def predict(question: str, choices: Sequence[Any] | None = None, *, unit: str = "") -> Prediction:
    """Returns a Prediction and shows the field to answer it in.

    No cell waits for the guess, all of them run. The answer waits, in the cell that comes to it
    later, and what the cells below that one show, down to the next question.

    Args:
        question: one sentence.
        choices: what to pick from; None asks for a number.
        unit: what the number counts, such as "sectors".
    """
    prediction = Prediction(question, choices, unit)
    if in_notebook():
        prediction.ask(prediction.panel())
    else:
        print(prediction)
    return prediction


def _panel(prediction: Prediction, children: Sequence[Any]) -> Any:
    import ipywidgets

    class Panel(ipywidgets.VBox):
        """The question above its field."""

        def __repr__(self) -> str:
            return repr(prediction)

        def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, Any]:
            # A stored notebook has no kernel behind it: the question stands in for its field.
            bundle = dict(super()._repr_mimebundle_(**kwargs) or {})
            said = Note(repr(prediction))
            return bundle | {"text/plain": repr(said), "text/html": said._repr_html_()}

    return Panel(children)


def _number(text: str | None) -> int | float | None:
    """The number typed, None for an empty field or a text that is no number."""
    if with_a_point(text or ""):
        return None
    cleaned = (text or "").replace(",", "").replace("_", "").strip()
    for kind in (int, float):
        try:
            value = kind(cleaned)
        except ValueError:
            continue
        return value if math.isfinite(value) else None
    return None


def _text(value: Any) -> str:
    value = _plain(value)
    if isinstance(value, int) and not isinstance(value, bool):
        return f"{value:,}"
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def _is_number(value: Any) -> bool:
    return isinstance(_plain(value), int | float) and not isinstance(_plain(value), bool)


def _plain(value: Any) -> Any:
    """A NumPy scalar as Python's own number; anything else as it is."""
    is_scalar = hasattr(value, "item") and getattr(value, "ndim", None) == 0
    return value.item() if is_scalar else value


def _same(said: Any, true: Any) -> bool:
    said, true = _plain(said), _plain(true)
    if isinstance(said, float) or isinstance(true, float):
        try:
            return math.isclose(said, true, rel_tol=1e-6, abs_tol=1e-12)
        except TypeError:
            return False
    return bool(said == true)
