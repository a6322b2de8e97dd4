"""Published numbers beside our own: each a cited value and the model that claims to explain it.

A table of a paper is a module of `gpu_course.planner.tables` with a tuple `ROWS`; adding the module
adds its numbers to the board. Values stand there as they were printed, and what we say about them
is always computed.
"""

from __future__ import annotations

import importlib
import pkgutil
import textwrap
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

from gpu_course.errors import CatalogueError


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
        within: how far the model may be off; default half of the last printed digit. A larger one
            needs a note.
        note: what is known about a difference that stays.
    """

    paper: Paper
    place: str
    what: str
    printed: str
    unit: str
    model: Callable[[], float]
    how: str
    lessons: tuple[str, ...]
    within: float | None = None
    note: str = ""

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
        >>> any_row = rows()[0]
        >>> replace(any_row, printed="66.84").rounding, replace(any_row, printed="140").rounding
        (0.005, 0.5)
        """
        return 0.5 * 10.0 ** -len(self.printed.partition(".")[2])

    @property
    def to_the_digit(self) -> bool:
        """True where mine, rounded as the paper rounds, is what the paper printed."""
        # A hair of slack: 45.5625 is exactly between two printed values.
        return abs(self.difference) <= self.rounding * (1 + 1e-9)

    @property
    def holds(self) -> bool:
        """True where mine is as close as the row says it has to be."""
        allowed = self.rounding if self.within is None else self.within
        return abs(self.difference) <= allowed * (1 + 1e-9)


@lru_cache(maxsize=1)
def _all() -> tuple[Row, ...]:
    from gpu_course.planner import tables

    found: list[Row] = []
    for info in sorted(pkgutil.iter_modules(tables.__path__), key=lambda info: info.name):
        module = importlib.import_module(f"{tables.__name__}.{info.name}")
        found += module.ROWS
    seen: dict[tuple[str, str, str], Row] = {}
    for row in found:
        key = (row.paper.name, row.place, row.what)
        if key in seen:
            raise CatalogueError(f"{', '.join(key)} stands on the board twice", "keep one of them")
        seen[key] = row
    return tuple(found)


def rows(lesson: str = "", place: str = "") -> tuple[Row, ...]:
    """Returns the rows of the board, paper by paper.

    Args:
        lesson: only those that this lesson shows, such as "16_memory_ledger".
        place: only those of this table or figure.
    """
    return tuple(
        row
        for row in _all()
        if (not lesson or lesson in row.lessons) and (not place or row.place == place)
    )


def compared(chosen: Iterable[Row]) -> str:
    """Returns rows as text, mine beside published, under a heading for each place.

    Args:
        chosen: what to show, in the order of the board.
    """
    lines: list[str] = []
    heading, notes = ("", ""), dict[str, None]()
    for row in chosen:
        if (row.paper.name, row.place) != heading:
            lines += _notes(notes)
            heading, notes = (row.paper.name, row.place), {}
            lines += [*([""] if lines else []), f"{row.paper.name}, {row.place}"]
            lines.append(f"  {'':<38}{'mine':>10}{'published':>11}{'difference':>12}")
        lines.append(_line(row))
        if row.note:
            notes[row.note] = None
    return "\n".join(lines + _notes(notes))


def _notes(notes: Iterable[str]) -> list[str]:
    return [
        line
        for note in notes
        for line in textwrap.wrap(note, 72, initial_indent="  * ", subsequent_indent="    ")
    ]


def _line(row: Row) -> str:
    digits = len(row.printed.partition(".")[2])
    mine = f"{row.mine:,.{digits}f}"
    if row.to_the_digit:
        difference = "none"
    else:
        difference = f"{row.difference:+,.{max(digits, 2)}f}"
        mine = f"{row.mine:,.{max(digits, 2)}f}"
    mark = "" if row.holds else "  <- farther than it may be"
    unit = f" [{row.unit}]" if row.unit else ""
    # The same digits as printed, grouped like mine.
    printed = f"{row.published:,.{digits}f}"
    return f"  {row.what + unit:<38}{mine:>10}{printed:>11}{difference:>12}{mark}"


def count(chosen: Sequence[Row]) -> str:
    """Returns two lines on how many numbers there are and how many agree."""
    exact = sum(row.to_the_digit for row in chosen)
    holding = sum(row.holds for row in chosen)
    papers = len({row.paper.name for row in chosen})
    said = (
        f"{len(chosen)} published numbers of {papers} source{'' if papers == 1 else 's'}:\n"
        f"{exact} to the last printed digit, {holding - exact} within their stated margin"
    )
    missed = len(chosen) - holding
    return f"{said}, {missed} farther off." if missed else f"{said}."


def board(chosen: Sequence[Row] | None = None) -> str:
    """Returns the whole board as text, with its count at the end."""
    shown = rows() if chosen is None else tuple(chosen)
    return f"{compared(shown)}\n\n{count(shown)}"


def to_json(chosen: Sequence[Row]) -> list[dict[str, object]]:
    """Returns rows as plain data."""
    return [
        {
            "paper": row.paper.name,
            "url": row.paper.url,
            "place": row.place,
            "what": row.what,
            "unit": row.unit,
            "published": row.printed,
            "mine": row.mine,
            "difference": row.difference,
            "to_the_digit": row.to_the_digit,
            "holds": row.holds,
            "how": row.how,
            "note": row.note,
            "lessons": list(row.lessons),
        }
        for row in chosen
    ]
