"""A guess before the run: the learner commits to an answer, and later lays it beside the truth.

What was seen, and why, is kept in the catalogue under the question, and is told with the answer:
before the guess it stands nowhere in the lesson.
"""

from __future__ import annotations

import html
import math
import re
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from gpu_course.draw.paper import palette
from gpu_course.errors import CourseError
from gpu_course.notebook.note import Note, show, trouble
from gpu_course.puzzle.index import sealed

_NOT_GIVEN = object()
_WIDTH = 70


class Prediction:
    """A question and, once it is given, the learner's answer to it.

    Attributes:
        question, choices, unit: as they were asked.
    """

    def __init__(self, question: str, choices: Sequence[Any] | None, unit: str) -> None:
        self.question = question
        self.choices = None if choices is None else tuple(choices)
        self.unit = unit
        self.field: Any = None
        """The widget the answer is typed or picked in; None outside a notebook."""

    @property
    def answer(self) -> Any:
        """The learner's answer, or None while there is none."""
        value = None if self.field is None else self.field.value
        return _number(value) if self.choices is None else value

    def compare(self, value: Any = _NOT_GIVEN) -> None:
        """Shows the guess beside the answer, and what was seen; without a guess only those.

        Args:
            value: what the run gave; nothing where the answer is none a run can give.
        """
        try:
            show(self.comparison(value))
        except CourseError as error:
            show(trouble(error))

    def comparison(self, value: Any = _NOT_GIVEN) -> PredictionResult:
        """Returns what `compare` shows.

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
        right = given if kept is None else kept.right(given)
        said, true = self._words(self.answer), self._words(right)
        is_one = "It is" if _is_number(right) else "The answer is"
        seen = "" if kept is None else kept.seen
        if self.answer is None:
            return PredictionResult(f"No guess yet. {is_one} {true}.", "plain", seen)
        if _same(self.answer, right):
            return PredictionResult(f"You said {said}, and that is right.", "right", seen)
        return PredictionResult(f"You said {said}. {is_one} {true}.", "wrong", seen)

    def __repr__(self) -> str:
        options = "" if self.choices is None else f" ({', '.join(map(_text, self.choices))})"
        unit = f" [{self.unit}]" if self.unit and self.choices is None else ""
        return f"Your prediction: {self.question}{options}{unit}"

    def _words(self, value: Any) -> str:
        quoted = isinstance(value, str) and any(map(str.isalpha, value))
        return f"\u201c{value}\u201d" if quoted else f"{_text(value)} {self.unit}".rstrip()


@dataclass(frozen=True)
class PredictionResult(Note):
    """A guess beside the answer, and below it what was seen.

    Args:
        text: the guess and the answer, one line.
        kind: as for a Note.
        seen: paragraphs, with `code`, *stress* and **terms** as in Markdown; may be empty.
    """

    seen: str = ""

    def __repr__(self) -> str:
        paragraphs = [textwrap.fill(each, _WIDTH) for each in _paragraphs(self.seen)]
        return "\n\n".join([self.text, *paragraphs])

    def _repr_html_(self) -> str:
        told = "".join(
            f'<p style="margin:0.4em 0 0 0">{_inline(each)}</p>' for each in _paragraphs(self.seen)
        )
        return self.framed(f"<b>{html.escape(self.text)}</b>{told}", prose=True)


def _paragraphs(text: str) -> list[str]:
    return [" ".join(each.split()) for each in text.split("\n\n") if each.strip()]


def _inline(text: str) -> str:
    """Markdown's code, stress and strong words as HTML; whatever stands in code stays as it is.

    As in Markdown, a star beside a space is a star: 4 * (1 + 4) + 32 * 4 stresses nothing.
    """
    pieces = re.split(r"(`[^`]+`)", text)
    for number, piece in enumerate(pieces):
        escaped = html.escape(piece, quote=False)
        if number % 2:
            pieces[number] = f"<code>{escaped[1:-1]}</code>"
        else:
            strong = re.sub(r"\*\*(?=\S)(.+?)(?<=\S)\*\*", r"<b>\1</b>", escaped)
            pieces[number] = re.sub(r"\*(?=\S)(.+?)(?<=\S)\*", r"<i>\1</i>", strong)
    return "".join(pieces)


def predict(question: str, choices: Sequence[Any] | None = None, *, unit: str = "") -> Prediction:
    """Returns a Prediction and shows the field to answer it in.

    Nothing waits for the answer: a cell that comes later compares with what is there by then.

    Args:
        question: one sentence.
        choices: what to pick from; None asks for a number.
        unit: what the number counts, such as "sectors".
    """
    prediction = Prediction(question, choices, unit)
    if in_notebook():
        show(_panel(prediction))
    else:
        print(prediction)
    return prediction


def in_notebook() -> bool:
    from IPython import get_ipython

    return get_ipython() is not None


def _panel(prediction: Prediction) -> Any:
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

    question = ipywidgets.HTML(
        f'<div style="border-left:4px solid {palette.ACTIVE};padding:0.2em 0.8em;line-height:1.5">'
        f"<b>Your prediction.</b> {html.escape(prediction.question)}</div>"
    )
    if prediction.choices is None:
        prediction.field = ipywidgets.Text(
            placeholder="a number",
            description=prediction.unit,
            tooltip=prediction.question,
            layout=ipywidgets.Layout(width="16em"),
            style={"description_width": "initial"},
        )
    else:
        prediction.field = ipywidgets.RadioButtons(
            options=[(_text(choice), choice) for choice in prediction.choices],
            value=None,
            tooltip=prediction.question,
            layout=ipywidgets.Layout(width="max-content"),
        )
    return Panel([question, prediction.field])


def _number(text: str | None) -> int | float | None:
    """The number typed, None for an empty field or a text that is no number."""
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
