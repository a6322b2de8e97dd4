"""The ledger of a learner's forecasts: a number and an interval for each, kept until it is told.

Only what was kept before the answer was shown is scored. What is kept stands in state.json, under
"forecasts", by the names of the forecasts.
"""

from __future__ import annotations

import math
import re
from dataclasses import asdict, dataclass
from typing import Any

from gpu_course.errors import CourseError
from gpu_course.grading.learner.ledger import TOLD, Ledger

CONFIDENCE = 0.9
"""How often a learner is asked to believe that the interval holds."""

LEDGER = Ledger("forecasts", "forecast")
_GROUPED = re.compile(r"[+-]?\d{1,3}(,\d{3})+(\.\d*)?")


@dataclass(frozen=True)
class Guess:
    """What a learner forecasts: a number, and the interval it is believed to lie in."""

    number: float
    low: float
    high: float

    def holds(self, value: float) -> bool:
        """True where a value lies in the interval, its ends included."""
        return self.low <= value <= self.high

    def relative_width(self, value: float) -> float:
        """Returns how wide the interval is, as a part of the value."""
        return (self.high - self.low) / value


@dataclass(frozen=True)
class Entry:
    """What the ledger holds of one forecast.

    Attributes:
        guess: kept before the answer was shown; None where there was none.
        told: True once the answer has been shown.
    """

    guess: Guess | None = None
    told: bool = False


def read_guess(number: str, low: str, high: str, unit: str = "") -> Guess | None:
    """Returns the guess that three fields hold, None while one of them is empty.

    Args:
        number, low, high: as they were typed.
        unit: of all three, for messages.

    Raises:
        CourseError: a field holds no number, one is below 0, the interval ends before it begins,
            or the number lies outside of it.
    """
    typed = {"your number": number, "the low end": low, "the high end": high}
    read = {name: _read(name, text, unit) for name, text in typed.items() if text.strip()}
    if len(read) < len(typed):
        return None
    guess = Guess(*read.values())
    if guess.low > guess.high:
        raise CourseError(
            f"the interval runs from {as_said(guess.low)} to {as_said(guess.high)}, "
            "which is backwards",
            "put the smaller number first",
        )
    if not guess.holds(guess.number):
        raise CourseError(
            f"your number {as_said(guess.number)} lies outside {as_said(guess.low)} to "
            f"{as_said(guess.high)}",
            "widen the interval, or move the number into it",
        )
    return guess


def with_a_point(typed: str) -> str:
    """Returns a number with a point for a comma that groups no thousands, "" where none is.

    Half of the world would write 4.1 with a comma, and to leave it out would make it 41.

    >>> with_a_point("4,1"), with_a_point("4,100"), with_a_point("4.1")
    ('4.1', '', '')
    """
    plain = typed.strip()
    misplaced = "," in plain and not _GROUPED.fullmatch(plain)
    return plain.replace(",", ".", 1) if misplaced else ""


def _read(name: str, text: str, unit: str) -> float:
    plain = text.strip()
    if meant := with_a_point(plain):
        raise CourseError(
            f"{name} reads {plain!r}, with a comma that groups no thousands",
            f"write a point before decimals: {meant}",
        )
    try:
        value = float(plain.replace(",", "").replace("_", ""))
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        alone = f"write the number alone; it counts {unit}" if unit else "write a number alone"
        raise CourseError(f"{name} reads {plain!r}, which is no number", alone)
    if value < 0:
        raise CourseError(
            f"{name} is {as_said(value)}, and nothing here is below 0", "leave out the minus"
        )
    return value


def as_said(number: float) -> str:
    """Returns a number of a guess as a person writes it.

    >>> as_said(1000.0), as_said(0.5), as_said(1234567.0)
    ('1,000', '0.5', '1,234,567')
    """
    return f"{number:,.12g}"


def entries() -> dict[str, Entry]:
    """Returns what the ledger holds, by the names of the forecasts.

    What is of another shape than this course writes is left out.

    Raises:
        CourseError: there is no folder of answers to keep it beside.
        OSError: it cannot be read.
    """
    return {name: _entry(given) for name, given in LEDGER.read().items()}


def entry(name: str) -> Entry:
    """Returns what the ledger holds of one forecast."""
    return entries().get(name, Entry())


def _entry(given: dict[str, Any]) -> Entry:
    numbers = [given.get(key) for key in ("number", "low", "high")]
    # To Python true is a number as well.
    whole = all(isinstance(n, int | float) and not isinstance(n, bool) for n in numbers)
    guess = Guess(*map(float, numbers)) if whole else None  # type: ignore[arg-type]
    if guess is not None and not guess.low <= guess.number <= guess.high < math.inf:
        guess = None
    return Entry(guess, given.get(TOLD) is True)


def keep(name: str, guess: Guess) -> None:
    """Keeps a guess, in place of an earlier one; nothing changes once the answer has been shown.

    Raises:
        CourseError: there is no folder to keep it in.
        OSError: it cannot be written.
    """
    LEDGER.keep(name, asdict(guess))


@dataclass(frozen=True)
class Calibration:
    """How often intervals held, beside how often they were meant to.

    Attributes:
        held, of: how many did, of how many.
        least, most: of as many intervals, each of which holds nine times out of ten: what 19 of 20
            learners would have at least, and at most.
    """

    held: int
    of: int
    least: int
    most: int

    @property
    def verdict(self) -> str:
        """What can be said of it, in one sentence: nothing yet, while there are few."""
        if self.of == 0:
            return "No forecast of yours has been told yet."
        expected = f"{self.least} to {self.most}" if self.least < self.most else f"{self.most}"
        meant = f"Where each holds 9 times out of 10, {expected} of {self.of} hold"
        if self.held < self.least:
            return f"{meant}: make your intervals wider."
        if self.held > self.most:
            return f"{meant}: you know more than you say, so make them narrower."
        few = "one is" if self.of == 1 else f"{self.of} are"
        return f"{meant}; {few} too few to say more." if self.of < FEW else f"{meant}."


FEW = 20
"""Below as many forecasts, a hit rate says little beyond its range."""


def calibration(held: int, of: int) -> Calibration:
    """Returns how a number of hits stands beside the stated confidence.

    The range holds the middle 95 % of a binomial distribution, both tails cut alike.

    >>> calibration(3, 5)
    Calibration(held=3, of=5, least=3, most=5)
    >>> calibration(30, 40).verdict
    'Where each holds 9 times out of 10, 32 to 39 of 40 hold: make your intervals wider.'
    """
    chance = [
        math.comb(of, k) * CONFIDENCE**k * (1 - CONFIDENCE) ** (of - k) for k in range(of + 1)
    ]
    least = next((k for k in range(of + 1) if sum(chance[: k + 1]) > 0.025), 0)
    most = next((k for k in reversed(range(of + 1)) if sum(chance[k:]) > 0.025), of)
    return Calibration(held, of, least, most)
