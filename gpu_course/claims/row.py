"""One published number: as printed, what the course's model says, and how far off that is."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from gpu_course.claims import models
from gpu_course.claims.assumptions import BREAKS
from gpu_course.claims.kinds import BOUNDS, MARGINS, PREDICTED, Kind, Margin
from gpu_course.claims.questions import Question


@dataclass(frozen=True)
class Paper:
    """Where numbers were published.

    Attributes:
        name: as messages call it, such as "Korthikanti 2022".
        title: in full.
        url: where it can be read.
    """

    name: str
    title: str
    url: str


@dataclass(frozen=True)
class Spread:
    """How far a source says that its own number may be off.

    Attributes:
        off: that far, up or down, in the row's unit.
        place: where the source says so.
    """

    off: float
    place: str


@dataclass(frozen=True)
class Row:
    """One published number.

    Attributes:
        paper: where it was printed.
        place: the table, figure or section.
        what: which number of that place, such as "22B, sequence parallelism".
        printed: the digits as printed.
        unit: of the number, such as "%" or "GiB".
        model: computes the same number from the model's own formula or measurement.
        how: what `model` does, in a few words.
        lessons: the lessons that show it.
        kind: what agreement would say.
        inputs_rounding: computes how far off the model may be because its own inputs were printed
            rounded; it comes on top of half the last printed digit.
        spread: what the source says of its own number; it takes the place of the kind's margin.
        missing: what the source does not tell and the model needs, so that there is no verdict; ""
            where all is told.
        note: what is known about a difference that stays.
        breaks: the assumption of the model that fails here, a key of BREAKS; "" where none is
            known to.
        computed_by: the name of the model, in rows that were read from a file.
        arguments: of the model, as the file gives them.
        forecast: what a learner is asked before the number is told; None where nothing is.
        worked_out: True where nobody measured the number, though its kind speaks of measurements.
    """

    paper: Paper
    place: str
    what: str
    printed: str
    unit: str
    model: Callable[[], float]
    how: str
    lessons: tuple[str, ...]
    kind: Kind
    inputs_rounding: Callable[[], float] | None = None
    spread: Spread | None = None
    missing: str = ""
    note: str = ""
    breaks: str = ""
    computed_by: str = ""
    arguments: Mapping[str, Any] = field(default_factory=dict)
    forecast: Question | None = None
    worked_out: bool = False

    @property
    def broken(self) -> str:
        """The assumption that fails, and how; "" where none does."""
        if not self.breaks:
            return ""
        return f"{self.breaks.replace('_', ' ')}. {BREAKS[self.breaks]}"

    @property
    def allowed(self) -> Margin:
        """How far off the model may be, by the kind of the row or by what the model predicts."""
        if self.kind is Kind.prediction:
            return PREDICTED[models.known()[self.computed_by].predicts]
        return MARGINS[self.kind]

    @property
    def published(self) -> float:
        """The printed digits as a number."""
        return float(self.printed.replace(",", ""))

    @cached_property
    def mine(self) -> float:
        """What the model computes."""
        return float(self.model())

    @property
    def difference(self) -> float:
        """Mine less published, in the row's unit."""
        return self.mine - self.published

    @property
    def rounding(self) -> float:
        """Half of one unit in the last printed digit.

        >>> from dataclasses import replace
        >>> from gpu_course.claims.published import rows
        >>> any_row = rows()[0]
        >>> replace(any_row, printed="66.84").rounding, replace(any_row, printed="140").rounding
        (0.005, 0.5)
        """
        return half_a_digit(self.printed)

    @property
    def to_the_digit(self) -> bool:
        """True where mine, rounded as the paper rounds, is what the paper printed."""
        # A hair of slack: 45.5625 is exactly between two printed values.
        return abs(self.difference) <= self.rounding * (1 + 1e-9)

    @cached_property
    def margin(self) -> float:
        """How far off mine may be: nothing in it depends on the published number."""
        own = self.spread.off if self.spread else self.allowed.share * abs(self.mine)
        return self.rounding + own + (self.inputs_rounding() if self.inputs_rounding else 0.0)

    @property
    def holds(self) -> bool | None:
        """Whether mine is as close as it has to be; None where there is no verdict."""
        if self.missing or self.kind is Kind.fitted:
            return None
        slack = self.margin * (1 + 1e-9)
        if self.kind is Kind.floor:
            return self.difference <= slack
        if self.kind is Kind.ceiling:
            return self.difference >= -slack
        return abs(self.difference) <= slack

    @property
    def judged(self) -> str:
        """What becomes of the comparison, in a few words."""
        if self.holds is None:
            return "no verdict"
        if self.kind in BOUNDS:
            return f"a {self.kind.value}, which {'holds' if self.holds else 'fails'}"
        if self.holds and self.to_the_digit:
            return "to the last printed digit"
        where = "inside" if self.holds else "outside"
        # A number and its sign stay on one line.
        share = self.share_text.replace(" ", "\N{NO-BREAK SPACE}")
        return f"{where} its margin" + (f" of {share}" if share else "")

    @property
    def share_text(self) -> str:
        """The margin of the row's kind in %, "" where rounding or a stated spread decides alone."""
        share = 0.0 if self.spread else self.allowed.share
        return f"{100 * share:.0f} %" if share else ""


def half_a_digit(printed: str) -> float:
    """Returns half of one unit in the last digit.

    >>> half_a_digit("66.84"), half_a_digit("140")
    (0.005, 0.5)
    """
    return 0.5 * 10.0 ** -len(printed.partition(".")[2])
