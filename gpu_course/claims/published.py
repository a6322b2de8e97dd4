"""Published numbers beside our own: each a cited value and the model that claims to explain it.

The numbers of a paper are a TOML file with their source and as they were printed: in the folder
`claims` of the lesson that shows them, or in `tables` here where several do. A module beside it has
the models that compute them. What we say about a number is always computed.

Agreement does not always say the same, so the board counts several kinds apart: see `kinds.Kind`.
How far off a number may be is settled before its value is looked at: by its kind, by the rounding
of what was printed, or by a spread that the source states. A number that is farther off stays on
the board, outside its margin. Only where the source leaves out what the model needs, a row shows a
difference and no verdict.
"""

from __future__ import annotations

import difflib
import math
import re
import textwrap
from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import groupby

from gpu_course.claims import models
from gpu_course.claims.kinds import BOUNDS, PREDICTED, SAID, SHORT, Kind
from gpu_course.claims.reading import read_rows
from gpu_course.claims.row import Row
from gpu_course.errors import CatalogueError, UnknownName

LESSON = re.compile(r"\d\d_[a-z_]+")
WIDTH = 70
"""Columns that a learner sees of a printed line."""


@lru_cache(maxsize=1)
def _printed() -> tuple[tuple[str, Row], ...]:
    """Returns (file, row) of every file, in the order of the files' names."""
    paths = sorted(
        (path for folder in models.folders() for path in folder.glob("*.toml")),
        key=lambda path: path.name,
    )
    return tuple(
        (path.name, row)
        for path in paths
        for row in read_rows(path.read_text(encoding="utf-8"), path.name)
    )


def printed(paper: str, place: str) -> tuple[Row, ...]:
    """Returns what a paper printed at a place. It loads no model, so models may read inputs here.

    Args:
        paper: its name, such as "Korthikanti 2022".
        place: such as "Table 5".
    """
    return tuple(row for _, row in _printed() if (row.paper.name, row.place) == (paper, place))


def checked(found: Iterable[tuple[str, Row]]) -> tuple[Row, ...]:
    """Returns the rows of (file, row) pairs, each with a model that is there.

    Raises:
        CatalogueError: a lesson's name is none, a model is unknown, its arguments do not fit it, a
            number stands twice, or two forecasts have one name. The message names the row.
    """
    seen: dict[tuple[str, str, str], Row] = {}
    asked: dict[str, str] = {}
    for file, row in found:
        where = f"{file}, {row.place}, {row.what}"
        for name in row.lessons:
            if not (isinstance(name, str) and LESSON.fullmatch(name)):
                raise CatalogueError(
                    f"{where}: no lesson is called {name!r}", "write its name as 16_memory_ledger"
                )
        _check_model(row, where)
        key = (row.paper.name, row.place, row.what)
        if key in seen:
            raise CatalogueError(f"{', '.join(key)} stands on the board twice", "keep one of them")
        seen[key] = row
        if row.forecast is not None:
            name = row.forecast.name
            if name in asked:
                raise CatalogueError(
                    f"{where}: {asked[name]} has a forecast {name} too", "give one another name"
                )
            asked[name] = where
    return tuple(seen.values())


def _check_model(row: Row, where: str) -> None:
    model = models.known().get(row.computed_by)
    if model is None:
        raise CatalogueError(
            f"{where}: no model is called {row.computed_by!r}",
            f"known ones: {', '.join(sorted(models.known()))}",
        )
    if problem := model.problem(row.arguments):
        raise CatalogueError(f"{where}: {problem}", "see the model's own arguments")
    if row.kind is Kind.prediction and not model.predicts:
        raise CatalogueError(
            f"{where}: nothing says how far off {row.computed_by} may be",
            f'mark it with what it predicts, such as @model("rate"): one of {", ".join(PREDICTED)}',
        )


@lru_cache(maxsize=1)
def _all() -> tuple[Row, ...]:
    return checked(_printed())


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


def forecasts(lesson: str = "") -> tuple[Row, ...]:
    """Returns the rows that learners forecast, in the order of the board.

    Args:
        lesson: only those of this lesson.
    """
    return tuple(row for row in rows(lesson) if row.forecast is not None)


def forecast_row(name: str) -> Row:
    """Returns the row whose forecast has that name.

    Raises:
        UnknownName: none has; close matches are listed.
    """
    by_name = {row.forecast.name: row for row in forecasts() if row.forecast}
    if name in by_name:
        return by_name[name]
    close = difflib.get_close_matches(str(name), list(by_name), n=3, cutoff=0.6)
    hint = f"did you mean {' or '.join(close)}?" if close else "see the lesson that asks for it"
    raise UnknownName(f"no forecast is called {name!r}", hint)


def compared(chosen: Iterable[Row], *, kinds: bool = True) -> str:
    """Returns rows as text, mine beside published, under a heading for each place.

    Args:
        chosen: what to show, in the order of the board.
        kinds: whether to say above the rows of a kind what could fail there.
    """
    tables: list[str] = []
    for (paper, place), alike in groupby(chosen, key=lambda row: (row.paper.name, row.place)):
        table = sorted(alike, key=_of_kind)
        lines = [*textwrap.wrap(f"{paper}, {place}", WIDTH), *_lines(table, kinds)]
        for note in (*_spreads(table), *_of_whom(table), *_breaks(table)):
            lines += textwrap.wrap(note, WIDTH, initial_indent="  * ", subsequent_indent="    ")
        tables.append("\n".join(lines))
    return "\n\n".join(tables)


NAMED = 3
"""Rows that a note names, where it is not of all rows of its table."""


def _of_whom(table: Sequence[Row]) -> list[str]:
    """What is noted of rows, each note once, behind the names of the rows that it is of."""
    found: dict[str, list[str]] = {}
    for row in table:
        for note in _notes(row):
            found.setdefault(note, []).append(row.what)
    said = []
    for note, names in found.items():
        more = [f"{len(names) - NAMED} more"] if len(names) > NAMED else []
        of = f"{', '.join(names[:NAMED] + more)}: " if len(names) < len(table) else ""
        said.append(f"{of}{note}")
    return said


def _notes(row: Row) -> list[str]:
    found = [f"No verdict, since this is not told: {row.missing}."] if row.missing else []
    found += [row.note] if row.note else []
    return found


def _spreads(table: Sequence[Row]) -> list[str]:
    """How far the source says that its numbers may be off, once for each place where it does."""
    found: dict[tuple[str, str], list[str]] = {}
    for row in table:
        if row.spread:
            found.setdefault((row.spread.place, row.unit), []).append(f"{row.spread.off:.3g}")
    return [
        f"The source leaves room for {', '.join(dict.fromkeys(offs))} {unit}".rstrip()
        + f": {place}."
        for (place, unit), offs in found.items()
    ]


def _breaks(table: Sequence[Row]) -> list[str]:
    """Which rows each broken assumption is of, and how it fails."""
    found: dict[tuple[str, str], list[str]] = {}
    for row in table:
        if row.breaks:
            kept = row.kind in BOUNDS and row.holds
            words = "what the bound leaves out" if kept else "the model breaks here"
            found.setdefault((words, row.broken), []).append(row.what)
    return [f"{', '.join(rows)}: {words}: {why}" for (words, why), rows in found.items()]


def _of_kind(row: Row) -> tuple[int, float]:
    """What rows are sorted by: their kind, then how far off they may be."""
    return list(Kind).index(row.kind), 0.0 if row.spread else row.allowed.share


def _said(row: Row) -> str:
    """What is said above the rows of one kind."""
    within = f", within {row.share_text}" if row.share_text else ""
    said = SAID[row.kind]
    if row.worked_out:
        said = said.replace("was measured", "the source worked out")
    return f"{said}{within}:"


def mine_text(row: Row) -> str:
    """Returns what the model computes: as printed where it agrees, else with more digits."""
    if row.to_the_digit:
        # Python rounds 62.5 to 62, and who printed 63 agrees all the same.
        return f"{row.published:,.{_printed_digits(row)}f}"
    return f"{row.mine:,.{_own_digits(row)}f}"


def _printed_digits(row: Row) -> int:
    return len(row.printed.partition(".")[2])


def _own_digits(row: Row) -> int:
    if not _printed_digits(row) and math.isclose(row.mine, round(row.mine), rel_tol=1e-12):
        return 0
    return max(_printed_digits(row), 1 if abs(row.mine) >= 100 else 2)


MARKED = " outside"
"""The widest mark behind a row."""


def _lines(table: Sequence[Row], kinds: bool) -> list[str]:
    """Rows below each other, with a heading: every number ends where those above it end."""
    numbers = [_numbers(row) for row in table]
    printed, difference = (
        max(narrowest, 1 + max(len(each[column]) for each in numbers))
        for column, narrowest in ((1, 10), (2, 7))
    )
    room = WIDTH - printed - difference - len(MARKED)  # for a name, and for mine
    lines = [f"{'mine':>{room}}{'published':>{printed}}{'difference':>{difference + 5}}"]
    above = ""
    for row, (own, theirs, off, mark) in zip(table, numbers, strict=True):
        if kinds and _said(row) != above:
            above = _said(row)
            lines.append(f"  {above}")
        name = f"  {row.what}" + (f" [{row.unit}]" if row.unit else "")
        if len(name) + 1 + len(own) > room:
            # Numbers as long as these leave too little beside them.
            lines.append(name)
            name = ""
        told = f"{theirs:>{printed}}{off:>{difference}} {mark}".rstrip()
        lines.append(f"{name}{own:>{room - len(name)}}{told}")
    return lines


def _numbers(row: Row) -> tuple[str, str, str, str]:
    """Mine, published, their difference, and what to think of it."""
    difference = "none" if row.to_the_digit else f"{row.difference:+,.{_own_digits(row)}f}"
    # The same digits as printed, grouped like mine.
    return mine_text(row), f"{row.published:,.{_printed_digits(row)}f}", difference, _mark(row)


def _mark(row: Row) -> str:
    if row.holds is None:
        return "open"
    if not row.holds:
        return "outside"
    if row.to_the_digit:
        return ""
    return "bound" if row.kind in BOUNDS else "inside"


def count(chosen: Sequence[Row]) -> str:
    """Returns a table of kinds: how many numbers are inside their margins, and how many outside."""
    papers = len({row.paper.name for row in chosen})
    lines = [
        f"{len(chosen)} published numbers, {papers} source{'' if papers == 1 else 's'}",
        f"{'':26}{'rows':>6}{'inside':>9}{'outside':>9}{'no verdict':>13}",
    ]
    for kind in Kind:
        of_kind = [row for row in chosen if row.kind is kind]
        if of_kind:
            lines.append(f"  {SHORT[kind]:24}{_counted(of_kind)}")
    return "\n".join([*lines, f"  {'all':24}{_counted(chosen)}"])


def _counted(chosen: Sequence[Row]) -> str:
    inside, outside, none = (sum(row.holds is each for row in chosen) for each in _VERDICTS)
    return f"{len(chosen):>6}{inside:>9}{outside:>9}{none:>13}"


_VERDICTS = True, False, None


def outside(chosen: Iterable[Row]) -> str:
    """Returns a line or two for each number that is outside its margin, "" where none is."""
    lines: list[str] = []
    for row in chosen:
        if row.holds is False:
            own, theirs, _, _ = _numbers(row)
            said = f"{row.paper.name}, {row.place}, {row.what}: {own}, published {theirs}"
            lines += textwrap.wrap(
                f"{said} {row.unit}".rstrip(), WIDTH, initial_indent="  ", subsequent_indent="    "
            )
    return "\n".join(lines)


def board(chosen: Sequence[Row] | None = None) -> str:
    """Returns every number as text: kind by kind, what is outside, and the count."""
    shown = rows() if chosen is None else tuple(chosen)
    parts: list[str] = []
    for said, alike in groupby(sorted(shown, key=_of_kind), key=_heading):
        of_kind = list(alike)
        parts += [f"{said}\n{'=' * WIDTH}", compared(of_kind, kinds=False)]
    if far := outside(shown):
        parts.append(f"Outside their margins:\n{far}")
    parts.append(count(shown))
    return "\n\n".join(parts)


def _heading(row: Row) -> str:
    said = _said(row).removesuffix(":")
    stated = row.spread and row.allowed.share
    why = "As far off as the source says of each." if stated else row.allowed.reason
    return "\n".join([said[:1].upper() + said[1:] + ".", *textwrap.wrap(why, WIDTH)])


def to_json(chosen: Sequence[Row]) -> list[dict[str, object]]:
    """Returns rows as plain data, in their order."""
    return [_as_data(row) for row in chosen]


def _as_data(row: Row) -> dict[str, object]:
    return {
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
        "margin_reason": row.spread.place if row.spread else row.allowed.reason,
        "holds": row.holds,
        "how": row.how,
        "missing": row.missing or None,
        "note": row.note,
        "forecast": row.forecast.name if row.forecast else None,
        "breaks": row.breaks or None,
        "lessons": list(row.lessons),
    }
