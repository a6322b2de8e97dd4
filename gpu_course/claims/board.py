"""The board as a whole: every number, then how far off each model is, what is sealed, and you.

gpu-course doctor --published
"""

from __future__ import annotations

import statistics
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from gpu_course.claims import guesses, published, sealed
from gpu_course.claims.guesses import Calibration, Entry, calibration
from gpu_course.claims.kinds import Kind
from gpu_course.claims.row import Row

TESTED = frozenset({Kind.scaled, Kind.prediction})
"""The kinds whose numbers a model can miss by some percent, up or down."""


@dataclass(frozen=True)
class Off:
    """How far off one model is.

    Attributes:
        model: its name.
        rows: how many numbers it is held against.
        mean: of the differences, each as a part of what was published.
        worst: the largest of them.
        outside: how many lie outside their margins.
    """

    model: str
    rows: int
    mean: float
    worst: float
    outside: int


def models_off(rows: Sequence[Row]) -> tuple[Off, ...]:
    """Returns how far off each model is that scales or predicts, the closest first.

    Rows without a verdict, and numbers that were published as 0, are left out.

    Args:
        rows: of the board.
    """
    found: dict[str, list[Row]] = {}
    for row in rows:
        if row.kind in TESTED and row.holds is not None and row.published:
            found.setdefault(row.computed_by, []).append(row)
    off = [
        Off(
            name,
            len(own),
            statistics.fmean(abs(row.difference / row.published) for row in own),
            max(abs(row.difference / row.published) for row in own),
            sum(row.holds is False for row in own),
        )
        for name, own in found.items()
    ]
    return tuple(sorted(off, key=lambda each: (each.mean, each.model)))


def models_text(off: Sequence[Off], least_rows: int = 1) -> str:
    """Returns a line for each model, "" where there is none.

    Args:
        off: of all models.
        least_rows: those held against fewer numbers are counted in a last line, and not listed.

    >>> print(models_text([Off("mfu", 12, 0.031, 0.1, 1)]))
    How far off the models are that scale or predict
                                           rows  mean off   worst  outside
      mfu                                    12     3.1 %    10 %        1
    """
    if not off:
        return ""
    lines = [
        "How far off the models are that scale or predict",
        f"{'':39}rows  mean off   worst  outside",
    ]
    for each in off:
        if each.rows >= least_rows:
            lines.append(
                f"  {each.model:<37.37}{each.rows:>4}{100 * each.mean:>8.1f} %"
                f"{100 * each.worst:>6.0f} %{each.outside:>9}"
            )
    if few := sum(each.rows < least_rows for each in off):
        lines.append(f"  and {few} more, each held against fewer than {least_rows} numbers")
    return "\n".join(lines)


def own_calibration(kept: Mapping[str, Entry], rows: Sequence[Row]) -> Calibration:
    """Returns how often a learner's intervals held, of the forecasts that count.

    Args:
        kept: what the ledger holds, by the names of the forecasts. One that was not told yet, or
            was told before there was a guess, does not count.
        rows: of the board.
    """
    held = []
    for row in rows:
        entry = kept.get(row.forecast.name, Entry()) if row.forecast else Entry()
        if entry.guess is not None and entry.told:
            held.append(entry.guess.holds(row.published))
    return calibration(sum(held), len(held))


def calibration_text(found: Calibration) -> str:
    """Returns what can be said of a learner's own forecasts.

    >>> print(calibration_text(calibration(0, 0)))
    Your own forecasts: 0 of 0 intervals held
      No forecast of yours has been told yet.
    """
    held = f"Your own forecasts: {found.held} of {found.of} intervals held"
    said = textwrap.wrap(
        found.verdict, published.WIDTH, initial_indent="  ", subsequent_indent="  "
    )
    return "\n".join([held, *said])


def score(rows: Sequence[Row] | None = None, least_rows: int = 1) -> str:
    """Returns how far off each model is, what is sealed, and the learner's own score.

    The learner's forecasts are read from beside the answers; what cannot be read counts as not
    given.

    Args:
        rows: of the board; all of them if left out.
        least_rows: see `models_text`.
    """
    shown = published.rows() if rows is None else rows
    kept, _ = guesses.LEDGER.with_trouble(guesses.entries)
    parts = [
        models_text(models_off(shown), least_rows),
        sealed.told(sealed.sealed()),
        calibration_text(own_calibration(kept or {}, shown)),
    ]
    return "\n\n".join(part for part in parts if part)


def whole(rows: Sequence[Row] | None = None) -> str:
    """Returns every number of the board, and then its scores; see `score`."""
    shown = published.rows() if rows is None else rows
    return f"{published.board(shown)}\n\n{score(shown)}"


def to_json(rows: Sequence[Row] | None = None) -> dict[str, object]:
    """Returns the board as plain data.

    Returns:
        {"numbers": the rows, "models": how far off each model is, "sealed": every prediction of a
        sealed measurement, None where there is no checkout, "calibration": of the learner}.
    """
    shown = published.rows() if rows is None else rows
    kept, _ = guesses.LEDGER.with_trouble(guesses.entries)
    own = own_calibration(kept or {}, shown)
    return {
        "numbers": published.to_json(shown),
        "models": [vars(each) for each in models_off(shown)],
        "sealed": sealed.to_json(sealed.sealed()),
        "calibration": {"held": own.held, "of": own.of, "least": own.least, "most": own.most},
    }
