"""A guess before the run: the learner commits to an answer, and later lays it beside the truth."""

from __future__ import annotations

import html
import math
from collections.abc import Sequence
from typing import Any

from gpu_course.notebook.note import Note, show


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

    def compare(self, value: Any) -> None:
        """Shows the guess beside the value; without a guess only the value.

        Args:
            value: what the run gave.
        """
        show(self.comparison(value))

    def comparison(self, value: Any) -> Note:
        """Returns what `compare` shows."""
        said, true = self._words(self.answer), self._words(value)
        if self.answer is None:
            return Note(f"No guess yet: it is {true}.")
        if _same(self.answer, value):
            return Note(f"You said {said}, and it is.", "right")
        return Note(f"You said {said}. It is {true}.", "wrong")

    def __repr__(self) -> str:
        options = "" if self.choices is None else f" ({', '.join(map(_text, self.choices))})"
        unit = f" [{self.unit}]" if self.unit and self.choices is None else ""
        return f"Your prediction: {self.question}{options}{unit}"

    def _words(self, value: Any) -> str:
        return f"{_text(value)} {self.unit}".rstrip()


def predict(question: str, choices: Sequence[Any] | None = None, *, unit: str = "") -> Prediction:
    """Returns a Prediction and shows the field to answer it in.

    Nothing waits for the answer: a cell that comes later compares with what is there by then.

    Args:
        question: one sentence.
        choices: what to pick from; None asks for a number.
        unit: what the number counts, such as "sectors".
    """
    prediction = Prediction(question, choices, unit)
    if _in_notebook():
        show(_panel(prediction))
    else:
        print(prediction)
    return prediction


def _in_notebook() -> bool:
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
        '<div style="border-left:4px solid #0072B2;padding:0.2em 0.8em;line-height:1.5">'
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
