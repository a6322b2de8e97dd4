"""Published numbers beside our own: each a cited value and the model that claims to explain it.

A table of a paper is a module of `gpu_course.planner.tables` with a tuple `ROWS`; adding the module
adds its numbers to the board. Values stand there as they were printed, and what we say about them
is always computed.

Agreement does not always say the same, so the board counts three kinds apart: see `Kind`. How far
off a number may be comes from rounding, of the printed digits and of the printed inputs, or from a
spread the source states. Where neither is known the row shows a difference, and no verdict.
"""

from __future__ import annotations

import importlib
import pkgutil
import textwrap
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property, lru_cache

from gpu_course.errors import CatalogueError

WIDTH = 70
"""Columns that a learner sees of a printed line."""


class Kind(StrEnum):
    """What it says when a number agrees.

    An identity cannot differ: the same few bytes times the same count. A formula's digits were
    worked out by the source from a formula that we use as well: agreement says that both read it
    alike. A measurement was taken by somebody, and our model predicts it.
    """

    identity = "identity"
    formula = "formula"
    measurement = "measurement"


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
        kind: what agreement would say.
        inputs_rounding: computes how far off the model may be because its own inputs were printed
            rounded, or read off a drawing; it comes on top of half the last printed digit.
        verdict: False where too little is known of what was printed to say how far off is too far.
        note: what is known about a difference that stays, and where a margin comes from.
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
    verdict: bool = True
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
    def margin(self) -> float:
        """How far off mine may be: nothing in it depends on how far off it is."""
        return self.rounding + (self.inputs_rounding() if self.inputs_rounding else 0.0)

    @property
    def holds(self) -> bool | None:
        """Whether mine is as close as it has to be; None where there is no verdict."""
        if not self.verdict:
            return None
        return abs(self.difference) <= self.margin * (1 + 1e-9)


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
            lines += [""] if lines else []
            lines += textwrap.wrap(f"{row.paper.name}, {row.place}", WIDTH)
            lines.append(f"{'':<39}{'mine':>8}{'published':>10}{'difference':>12}")
        lines.append(_line(row))
        if row.note:
            notes[row.note] = None
    return "\n".join(lines + _notes(notes))


def _notes(notes: Iterable[str]) -> list[str]:
    return [
        line
        for note in notes
        for line in textwrap.wrap(note, WIDTH, initial_indent="  * ", subsequent_indent="    ")
    ]


def _line(row: Row) -> str:
    digits = len(row.printed.partition(".")[2])
    mine = f"{row.mine:,.{digits}f}"
    if row.to_the_digit:
        difference = "none"
    else:
        difference = f"{row.difference:+,.{max(digits, 2)}f}"
        mine = f"{row.mine:,.{max(digits, 2)}f}"
    mark = {True: "", False: "far", None: "open"}[row.holds]
    unit = f" [{row.unit}]" if row.unit else ""
    # The same digits as printed, grouped like mine.
    printed = f"{row.published:,.{digits}f}"
    return f"  {row.what + unit:<37}{mine:>8}{printed:>10}{difference:>7} {mark:>4}".rstrip()


COUNTED = {
    Kind.formula: "from a formula that the source used as well",
    Kind.measurement: "measured by somebody, and predicted here",
}


def count(chosen: Sequence[Row]) -> str:
    """Returns in a few lines how many numbers there are of each kind, and how many agree."""
    tests = [row for row in chosen if row.kind is not Kind.identity]
    papers = len({row.paper.name for row in chosen})
    lines = [
        f"{len(tests)} published numbers, tested; {papers} source{'' if papers == 1 else 's'}:"
    ]
    for kind, words in COUNTED.items():
        of_kind = [row for row in tests if row.kind is kind]
        if of_kind:
            lines.append(f"  {len(of_kind)} {words}")
            lines += [f"    {part}" for part in _agreement(of_kind)]
    if identities := len(chosen) - len(tests):
        lines.append(f"  and {identities} by definition, which cannot differ and test nothing")
    return "\n".join(lines)


def _agreement(chosen: Sequence[Row]) -> list[str]:
    exact = sum(bool(row.holds) and row.to_the_digit for row in chosen)
    holding = sum(row.holds is True for row in chosen)
    missed = sum(row.holds is False for row in chosen)
    parts = [
        f"{exact} to the last printed digit",
        f"{holding - exact} within the rounding of their inputs",
        f"{len(chosen) - holding - missed} open",
    ]
    return parts + ([f"{missed} farther off"] if missed else [])


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
            "kind": row.kind.value,
            "margin": row.margin,
            "holds": row.holds,
            "how": row.how,
            "note": row.note,
            "lessons": list(row.lessons),
        }
        for row in chosen
    ]
