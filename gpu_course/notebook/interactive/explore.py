"""Something to drag: a picture drawn anew while a slider moves, or stepped frame by frame."""

from __future__ import annotations

import html
import inspect
from collections.abc import Callable, Sequence
from typing import Any

import ipywidgets

from gpu_course.draw.paper.picture import alt_text, quick_html
from gpu_course.errors import CourseError
from gpu_course.grading.verdicts.exports import PRE_STYLE
from gpu_course.notebook.hazards import hazard_note
from gpu_course.notebook.interactive.controls import label_em, make_control
from gpu_course.notebook.note import trouble
from gpu_course.notebook.panel import html_panel
from gpu_course.notebook.pictures import Picture
from simt.report import Report


class Explorer(ipywidgets.VBox):
    """Controls above a picture; `controls` maps names to widgets, `panel` holds the picture."""

    def __init__(
        self,
        function: Callable[..., Any],
        controls: dict[str, ipywidgets.ValueWidget],
        rows: Sequence[ipywidgets.Widget],
    ) -> None:
        self.function = function
        self.controls = controls
        self.panel = html_panel()
        self._words = ""
        self._redraw()
        self._first = (repr(self), self.panel.value)
        for control in controls.values():
            control.observe(self._redraw, names="value")
        super().__init__([*rows, self.panel])

    def values(self) -> dict[str, Any]:
        """Returns the present value of every control."""
        return {name: control.value for name, control in self.controls.items()}

    def __repr__(self) -> str:
        settings = ", ".join(f"{name}={value!r}" for name, value in self.values().items())
        return f"{self.function.__name__}({settings})\n{self._words}".rstrip()

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, Any]:
        # A stored notebook has no widgets behind it: the first picture stands in for them.
        bundle = dict(super()._repr_mimebundle_(**kwargs) or {})
        bundle["text/plain"], bundle["text/html"] = self._first
        return bundle

    def _redraw(self, change: Any = None) -> None:
        try:
            self._words, content = rendered(self.function(**self.values()))
        except Exception as error:
            # An error inside a callback would vanish into a log nobody reads.
            note = trouble(error)
            self._words, content = repr(note), note._repr_html_()
        self.panel.value = content


def explore(function: Callable[..., Any], **sliders: Any) -> Explorer:
    """Returns controls and the picture `function` draws for them, redrawn at every change.

    Args:
        function: takes the sliders' names as keywords; returns a Figure, a text, or anything with
            `_repr_html_`.
        sliders: `name=(lowest, highest)` or `(lowest, highest, step)` makes a slider, a list a
            menu, True or False a box to tick. A slider starts at the function's default, else at
            its lowest value.

    Raises:
        CourseError: a slider's description is none of these.
    """
    defaults = {
        name: parameter.default
        for name, parameter in inspect.signature(function).parameters.items()
        if parameter.default is not inspect.Parameter.empty
    }
    wide_em = label_em(sliders)
    made = {
        name: make_control(name, how, defaults.get(name), wide_em) for name, how in sliders.items()
    }
    controls = {name: widget for name, (widget, _) in made.items()}
    return Explorer(function, controls, [row for _, row in made.values()])


def play(function: Callable[[Any], Any], frames: int | Sequence[Any], ms: int = 900) -> Explorer:
    """Returns a picture that is stepped through by hand or plays by itself.

    Args:
        function: takes one frame, returns what `explore` shows.
        frames: what to step through; a number n means 0 to n - 1.
        ms: milliseconds between two frames while it plays.

    Raises:
        CourseError: there is no frame.
    """
    shown = range(frames) if isinstance(frames, int) else list(frames)
    if not shown:
        raise CourseError("there is no frame to step through", "give at least one")
    last = len(shown) - 1
    slider = ipywidgets.IntSlider(0, 0, last, description="step", tooltip="step")
    button = ipywidgets.Play(value=0, min=0, max=last, interval=ms)
    ipywidgets.jslink((button, "value"), (slider, "value"))

    def draw(step: int) -> Any:
        return function(shown[step])

    draw.__name__ = getattr(function, "__name__", "play")
    wrap = ipywidgets.Layout(flex_flow="row wrap")
    return Explorer(draw, {"step": slider}, [ipywidgets.HBox([button, slider], layout=wrap)])


def rendered(result: Any) -> tuple[str, str]:
    """Returns (plain text, HTML) of whatever an explored function gave.

    Args:
        result: a Figure, a text, the Report of a launch (its first hazard is shown), something
            with `_repr_html_`, None, or a tuple or list of these, shown one below the other.
    """
    if result is None:
        return "", ""
    if isinstance(result, tuple | list):
        parts = [rendered(part) for part in result]
        return "\n".join(t for t, _ in parts if t), "".join(h for _, h in parts)
    if isinstance(result, Report):
        note = hazard_note(result)
        return repr(note), note._repr_html_()
    if isinstance(result, Picture):
        # Its own HTML is one to be kept, and takes twice as long as one that is waited for.
        result = result.figure
    if hasattr(result, "savefig"):
        return alt_text(result), quick_html(result)
    if hasattr(result, "_repr_html_") and (content := result._repr_html_()) is not None:
        return repr(result), content
    text = result if isinstance(result, str) else repr(result)
    return text, f'<pre style="{PRE_STYLE}">{html.escape(text)}</pre>'
