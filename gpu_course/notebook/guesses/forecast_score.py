"""The score of a learner's forecasts over all lessons: how often the intervals held, how wide."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from gpu_course.claims import guesses as ledger
from gpu_course.claims import published
from gpu_course.claims.guesses import Calibration, Entry, calibration
from gpu_course.claims.pictures import Interval, draw_forecasts, score
from gpu_course.claims.row import Row
from gpu_course.draw.paper.picture import figure_html
from gpu_course.puzzle import outline


@dataclass(frozen=True)
class ForecastScore:
    """The forecasts that count, lesson by lesson.

    Attributes:
        lessons: {title: its forecasts as parts of what was measured}, in course order; a lesson
            without any is left out.
    """

    lessons: Mapping[str, Sequence[Interval]]

    def __bool__(self) -> bool:
        return bool(self.lessons)

    @cached_property
    def calibration(self) -> Calibration:
        """How often they held, beside how often they were meant to."""
        every = [interval for of_lesson in self.lessons.values() for interval in of_lesson]
        return calibration(sum(interval.held for interval in every), len(every))

    def __repr__(self) -> str:
        if not self:
            return ""
        found = self.calibration
        lines = [f"Forecasts: {found.held} of {found.of} intervals held"]
        lines += [f"  {title}: {score(of_lesson)}" for title, of_lesson in self.lessons.items()]
        lines += textwrap.wrap(found.verdict, 70, initial_indent="  ", subsequent_indent="  ")
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        if not self:
            return ""
        return figure_html(draw_forecasts(self.lessons, self.calibration.verdict))


def forecast_score() -> ForecastScore:
    """Returns the score over all lessons; what cannot be read counts as not given."""
    kept, _ = ledger.LEDGER.with_trouble(ledger.entries)
    return score_of(kept or {}, published.forecasts())


def score_of(kept: Mapping[str, Entry], rows: Sequence[Row]) -> ForecastScore:
    """Returns the score of what a ledger holds.

    Args:
        kept: by the names of the forecasts. One that was not told yet, or was told before there
            was a guess, does not count.
        rows: of the board.
    """
    found: dict[str, list[Interval]] = {}
    for row in rows:
        assert row.forecast is not None
        entry = kept.get(row.forecast.name, Entry())
        if entry.guess is not None and entry.told:
            value, guess = row.published, entry.guess
            mine = Interval(guess.number / value, guess.low / value, guess.high / value)
            found.setdefault(row.lessons[0], []).append(mine)
    titles = {planned.number: planned.title for planned in outline.COURSE}
    return ForecastScore({titles[name[:2]]: found[name] for name in sorted(found)})
