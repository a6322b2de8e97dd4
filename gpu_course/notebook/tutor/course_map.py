"""The map of the whole course: its lessons in their parts, and how far each is solved."""

from __future__ import annotations

import html
import textwrap
from collections.abc import Mapping
from dataclasses import dataclass, field

from gpu_course.draw.paper import palette
from gpu_course.grading.learner.progress import LessonProgress, next_puzzle
from gpu_course.grading.verdicts.verdict import Verdict
from gpu_course.grading.workspace import has_notebook
from gpu_course.notebook.guesses.forecast_score import ForecastScore
from gpu_course.puzzle import outline

_BAR = 10

_FINE, _NEUTRAL, _NOT_YET = palette.FINE, palette.QUIET, palette.CONFLICT
_QUIET_TEXT = f"var(--jp-ui-font-color2,{palette.QUIET})"


@dataclass(frozen=True)
class CourseMap:
    """All lessons of the course in their parts, with what is passed in each that is here.

    Args:
        lessons: as `grading.learner.progress.progress` returns them.
        forecasts: the score of the learner's forecasts; shown once there is one.
        predictions: {lesson: (predictions made before their answer was shown, of how many)}.
    """

    lessons: tuple[LessonProgress, ...]
    forecasts: ForecastScore = field(default_factory=lambda: ForecastScore({}))
    predictions: Mapping[str, tuple[int, int]] = field(default_factory=dict)

    @property
    def passed(self) -> int:
        """Puzzles passed."""
        return sum(lesson.passed for lesson in self.lessons)

    @property
    def puzzles(self) -> int:
        """Puzzles there are."""
        return sum(len(lesson.verdicts) for lesson in self.lessons)

    def __repr__(self) -> str:
        lines = [self._headline()]
        for part in range(len(outline.PARTS)):
            lines += ["", outline.part_title(part)]
            for lesson in self._of(part):
                share = f"{lesson.passed} of {len(lesson.verdicts)}"
                points = f"{lesson.points} of {lesson.max_points} points"
                lines.append(f"  {lesson.name:<24} {_text_bar(lesson)}  {share:>8}   {points}")
                if not has_notebook(lesson.lesson):
                    lines[-1] += "   no notebook yet"
                marks = (f"{_look(lesson, v)[1]} {_short(v)}" for v in lesson.verdicts)
                lines.append("    " + "   ".join(marks))
                if made := self._made(lesson):
                    lines.append(f"    {made}")
            if coming := outline.to_come_text(part):
                lines += textwrap.wrap(
                    coming, 90, initial_indent="  ", subsequent_indent=" " * len("  to come: ")
                )
        if self.forecasts:
            lines += ["", repr(self.forecasts)]
        lines += ["", self._next()]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        parts = "".join(
            f'<h4 style="margin:0.9em 0 0.3em 0">{html.escape(outline.part_title(part))}</h4>'
            + "".join(_lesson_html(lesson, self._made(lesson)) for lesson in self._of(part))
            + _to_come_html(part)
            for part in range(len(outline.PARTS))
        )
        return (
            '<section class="gpu-course-map" aria-label="Map of the course with your progress"'
            ' style="max-width:52em;line-height:1.5">'
            f"<div><b>{html.escape(self._headline())}</b></div>{parts}{self._forecasts_html()}"
            f'<div style="margin-top:0.9em">{html.escape(self._next())}</div></section>'
        )

    def _forecasts_html(self) -> str:
        if not self.forecasts:
            return ""
        heading = '<h4 style="margin:0.9em 0 0.3em 0">Your forecasts</h4>'
        return f"{heading}{self.forecasts._repr_html_()}"

    def _of(self, part: int) -> tuple[LessonProgress, ...]:
        return tuple(each for each in self.lessons if each.lesson.part == part)

    def _made(self, lesson: LessonProgress) -> str:
        made, of = self.predictions.get(lesson.name, (0, 0))
        return f"{made} of {of} predictions made" if of else ""

    def _headline(self) -> str:
        points = sum(lesson.points for lesson in self.lessons)
        most = sum(lesson.max_points for lesson in self.lessons)
        return f"{self.passed} of {self.puzzles} puzzles passed, {points} of {most} points"

    def _next(self) -> str:
        upcoming = next_puzzle(self.lessons)
        return f"Next: {upcoming}" if upcoming else "Every puzzle is passed."


def _short(verdict: Verdict) -> str:
    return verdict.name.rpartition("/")[2]


def _text_bar(lesson: LessonProgress) -> str:
    filled = _BAR * lesson.passed // max(len(lesson.verdicts), 1)
    return "[" + "#" * filled + "." * (_BAR - filled) + "]"


_FOR_THE_EAR = "position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%)"
# Name, bar and numbers: the first two give way in a narrow window, in every line alike.
_COLUMNS = (
    "display:grid;grid-template-columns:minmax(8em,18em) minmax(3em,9em) 13em;"
    "align-items:center;gap:0.8em"
)

# Each row of them begins in the same place, however many there are.
_MARKS = "display:flex;flex-wrap:wrap;gap:0 1em;margin-left:1.6em"


def _look(lesson: LessonProgress, verdict: Verdict) -> tuple[str, str, str]:
    """The colour, sign and word of a puzzle."""
    if verdict.passed:
        return _FINE, "\u2713", "passed"
    if lesson.has_passed(verdict):
        return _FINE, "\u2713", "passed, changed since"
    if verdict.status == "not-started":
        return _NEUTRAL, "\u25cb", "not started"
    return _NOT_YET, "\u2717", "not yet"


def _to_come_html(part: int) -> str:
    text = html.escape(outline.to_come_text(part))
    return f'<div style="margin:0.35em 0;color:{_QUIET_TEXT}">{text}</div>' if text else ""


def _lesson_html(lesson: LessonProgress, made: str) -> str:
    total = len(lesson.verdicts)
    percent = 100 * lesson.passed // max(total, 1)
    name, title = html.escape(lesson.name), html.escape(lesson.title)
    label = f"{title}: {lesson.passed} of {total} puzzles passed"
    bar = (
        f'<div role="progressbar" aria-label="{label}" aria-valuemin="0" aria-valuemax="{total}"'
        f' aria-valuenow="{lesson.passed}" style="height:0.7em;border:1px solid'
        f' {_NEUTRAL};border-radius:0.4em;overflow:hidden">'
        f'<div style="width:{percent}%;height:100%;background:{_FINE}"></div></div>'
    )
    place = f'<a href="{name}.ipynb">{name[:2]} {title}</a>'
    if not has_notebook(lesson.lesson):
        # No link leads nowhere.
        place = f"<span>{name[:2]} {title} (no notebook yet)</span>"
    marks = " ".join(_puzzle_html(lesson, verdict) for verdict in lesson.verdicts)
    if made:
        marks += f' <span style="white-space:nowrap;color:{_QUIET_TEXT}">{made}</span>'
    return (
        f'<div style="margin:0.35em 0"><div style="{_COLUMNS}">'
        f"{place}{bar}"
        f"<span>{lesson.passed} of {total}, {lesson.points} of {lesson.max_points} points</span>"
        f'</div><div style="{_MARKS}">{marks}</div></div>'
    )


def _puzzle_html(lesson: LessonProgress, verdict: Verdict) -> str:
    colour, sign, word = _look(lesson, verdict)
    return (
        f'<span style="white-space:nowrap" title="{word}">'
        f'<span aria-hidden="true" style="color:{colour}">{sign}</span>'
        f" <code>{html.escape(_short(verdict))}</code>"
        f'<span style="{_FOR_THE_EAR}">: {word}</span></span>'
    )
