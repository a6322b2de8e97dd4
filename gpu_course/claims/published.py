"""Published numbers beside our own: each a cited value and the model that claims to explain it.

The numbers of a paper are a TOML file with their source and as they were printed: in the folder
`claims` of the lesson that shows them, or in `tables` here where several do. A module beside it has
the models that compute them. What we say about a number is always computed.

Agreement does not always say the same, so the board counts three kinds apart: see `Kind`. How far
off a number may be comes from rounding, of the printed digits and of the printed inputs, or from a
spread the source states. Where neither is known the row shows a difference, and no verdict.
"""

from __future__ import annotations

import difflib
import importlib
import math
import re
import textwrap
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property, lru_cache, partial
from itertools import groupby
from pathlib import Path
from typing import Annotated, Any, TypeVar

import msgspec

import gpu_course
from gpu_course.claims import models, tables
from gpu_course.claims.questions import Forecast, Question, read_question
from gpu_course.errors import CatalogueError, UnknownName

PACKAGE = Path(gpu_course.__path__[0])
LESSON = re.compile(r"\d\d_[a-z_]+")
Given = TypeVar("Given")
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
        computed_by: the name of the model, in rows that were read from a file.
        arguments: of the model, as the file gives them.
        forecast: what a learner is asked before the number is told; None where nothing is.
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
    computed_by: str = ""
    arguments: Mapping[str, Any] = field(default_factory=dict)
    forecast: Question | None = None

    @property
    def breaks(self) -> str:
        """The assumption of the model that fails here, "" where none is known to."""
        return self.forecast.breaks if self.forecast else ""

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


_Text = Annotated[str, msgspec.Meta(min_length=1)]


class _Paper(msgspec.Struct, forbid_unknown_fields=True):
    """What a file holds."""

    name: _Text
    title: _Text
    url: _Text
    table: list[dict[str, Any]]


class _Table(msgspec.Struct):
    """What a table must have; what else it says, it says for each of its rows."""

    place: _Text
    row: Annotated[list[dict[str, Any]], msgspec.Meta(min_length=1)]


class _Printed(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """What is said of one row, by itself or by its table; the fields are those of Row."""

    place: _Text
    what: _Text
    printed: _Text
    unit: str
    kind: Kind
    lessons: Annotated[list[str], msgspec.Meta(min_length=1)]
    model: _Text
    how: _Text
    arguments: dict[str, int | float | bool | str] = {}
    inputs_rounding: float | dict[str, float] | None = None
    verdict: bool = True
    note: str = ""
    forecast: Forecast | None = None


_DIGITS = re.compile(r"-?(\d+|\d{1,3}(,\d{3})+)(\.\d+)?")


def read_rows(text: str, file: str) -> tuple[Row, ...]:
    """Returns the rows of one paper, before their models are looked up.

    The text is TOML: `name`, `title` and `url` of the paper, and a `table` for each place of it. A
    table has a `row` for each number. What all rows of a table share stands in the table, once. A
    row may have a table `forecast`: what a learner is asked before the number is told.

    Args:
        text: of the file.
        file: its name, for messages.

    Raises:
        CatalogueError: a key is missing, unknown, given twice, empty or of the wrong type; or the
            printed digits are no number. The message names the row.
    """
    try:
        data = msgspec.toml.decode(text, type=_Paper)
    except msgspec.ValidationError as error:
        raise _slip(file, error) from None
    except msgspec.DecodeError as error:
        raise CatalogueError(f"{file} is no TOML: {error}", "mend that line") from None
    paper = Paper(data.name, data.title, data.url)
    found = []
    for number, given in enumerate(data.table, 1):
        where = f"{file}, {_called(given, 'place', 'table', number)}"
        table = _as(_Table, given, where)
        shared = {key: value for key, value in given.items() if key != "row"}
        if "forecast" in shared:
            raise CatalogueError(f"{where}: a forecast is of one row", "put it below its row")
        for row_number, own in enumerate(table.row, 1):
            found.append(
                _row(paper, shared, own, f"{where}, {_called(own, 'what', 'row', row_number)}")
            )
    return tuple(found)


def _as(kind: type[Given], data: object, where: str) -> Given:
    """Returns a table of TOML as what it is to be."""
    try:
        return msgspec.convert(data, kind)
    except msgspec.ValidationError as error:
        raise _slip(where, error) from None


def _slip(where: str, error: msgspec.ValidationError) -> CatalogueError:
    return CatalogueError(f"{where}: {error}", "see the other files beside it for the form")


def _called(given: Mapping[str, Any], key: str, kind: str, number: int) -> str:
    """Returns what messages call a table or a row: its name, or its number where it has none."""
    named = given.get(key)
    return named if isinstance(named, str) and named else f"{kind} {number}"


def _row(paper: Paper, shared: Mapping[str, Any], own: Mapping[str, Any], where: str) -> Row:
    if twice := sorted(shared.keys() & own.keys()):
        raise CatalogueError(
            f"{where}: {', '.join(twice)} stands in the table and in the row",
            "keep it in the table where all rows share it, else in each row",
        )
    given = _as(_Printed, {**shared, **own}, where)
    if not _DIGITS.fullmatch(given.printed):
        raise CatalogueError(
            f"{where}: the printed digits are {given.printed!r}, and no number",
            'write the digits alone, such as "7.80"; the unit has a key of its own',
        )
    call = partial(_compute, given.model)
    return Row(
        paper,
        given.place,
        given.what,
        given.printed,
        given.unit,
        partial(call, given.arguments),
        given.how,
        tuple(given.lessons),
        given.kind,
        inputs_rounding=_inputs_rounding(given, call, where),
        verdict=given.verdict,
        note=given.note,
        computed_by=given.model,
        arguments=given.arguments,
        forecast=_question(given, where),
    )


def _question(given: _Printed, where: str) -> Question | None:
    if given.forecast is None:
        return None
    if not float(given.printed.replace(",", "")) > 0:
        raise CatalogueError(
            f"{where}: nobody forecasts {given.printed}",
            "how wide a guess is needs a value above 0",
        )
    return read_question(given.forecast, bool(given.note) and not given.verdict, where)


def _inputs_rounding(
    row: _Printed, call: Callable[[Mapping[str, Any]], float], where: str
) -> Callable[[], float] | None:
    """Returns what computes how far off the rounding of inputs may leave a model.

    Args:
        row: says it as a number in the row's unit, or as {argument: how far off it may be}.
        call: the model.
        where: the row, for messages.
    """
    given, arguments = row.inputs_rounding, row.arguments
    if given is None:
        return None
    if not isinstance(given, dict):
        margin = given
        if not 0 < margin < math.inf:
            raise CatalogueError(
                f"{where}: inputs_rounding cannot be {margin!r}", "a margin is above 0 and finite"
            )
        return lambda: margin
    off: dict[str, tuple[float, float]] = {}
    for name, value in given.items():
        argument = arguments.get(name)
        if isinstance(argument, bool | str | None) or not 0 < value < math.inf:
            raise CatalogueError(
                f"{where}: inputs_rounding has {name} = {value!r}",
                "name an argument of the row that is a number, and how far off it may be",
            )
        off[name] = argument, value

    def one_by_one() -> float:
        ends = (
            [call({**arguments, name: argument + sign * value}) for sign in (-1, 1)]
            for name, (argument, value) in off.items()
        )
        return sum(abs(high - low) / 2 for low, high in ends)

    return one_by_one


def _compute(name: str, arguments: Mapping[str, Any]) -> float:
    return _models()[name](**arguments)


def _folders() -> list[Path]:
    """The folders of tables and their models: the lessons' own, and of what several show."""
    own = sorted(PACKAGE.glob("lessons/*/claims"))
    return [Path(tables.__path__[0]), *own]


@lru_cache(maxsize=1)
def _models() -> dict[str, models.Model]:
    """Returns every model by its name: the marked functions of the modules beside the tables."""
    inside = (
        path.relative_to(PACKAGE).with_suffix("").parts
        for folder in _folders()
        for path in sorted(folder.glob("[a-z]*.py"))
    )
    return models.models_of(
        importlib.import_module(".".join((PACKAGE.name, *parts))) for parts in inside
    )


@lru_cache(maxsize=1)
def _printed() -> tuple[tuple[str, Row], ...]:
    """Returns (file, row) of every file, in the order of the files' names."""
    paths = sorted(
        (path for folder in _folders() for path in folder.glob("*.toml")),
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
    model = _models().get(row.computed_by)
    if model is None:
        raise CatalogueError(
            f"{where}: no model is called {row.computed_by!r}",
            f"known ones: {', '.join(sorted(_models()))}",
        )
    if problem := model.problem(row.arguments):
        raise CatalogueError(f"{where}: {problem}", "see the model's own arguments")


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


def compared(chosen: Iterable[Row]) -> str:
    """Returns rows as text, mine beside published, under a heading for each place.

    Args:
        chosen: what to show, in the order of the board.
    """
    tables: list[str] = []
    for (paper, place), alike in groupby(chosen, key=lambda row: (row.paper.name, row.place)):
        table = list(alike)
        lines = [*textwrap.wrap(f"{paper}, {place}", WIDTH), *_lines(table)]
        for note in dict.fromkeys(note for row in table for note in _notes(row)):
            lines += textwrap.wrap(note, WIDTH, initial_indent="  * ", subsequent_indent="    ")
        tables.append("\n".join(lines))
    return "\n\n".join(tables)


def _notes(row: Row) -> list[str]:
    found = [row.note] if row.note else []
    if row.forecast and row.breaks:
        found.append(f"{row.what}: the model breaks here: {row.forecast.broken}")
    return found


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


def _lines(table: Sequence[Row]) -> list[str]:
    """Rows below each other, with a heading: every number ends where those above it end."""
    numbers = [_numbers(row) for row in table]
    printed, difference = (
        max(narrowest, 1 + max(len(each[column]) for each in numbers))
        for column, narrowest in ((1, 10), (2, 7))
    )
    room = WIDTH - printed - difference - len(" broke")  # for a name, and for mine
    lines = [f"{'mine':>{room}}{'published':>{printed}}{'difference':>{difference + 5}}"]
    for row, (own, theirs, off, mark) in zip(table, numbers, strict=True):
        name = f"  {row.what}" + (f" [{row.unit}]" if row.unit else "")
        if len(name) + 1 + len(own) > room:
            # Numbers as long as these leave too little beside them.
            lines.append(name)
            name = ""
        told = f"{theirs:>{printed}}{off:>{difference}} {mark:>4}".rstrip()
        lines.append(f"{name}{own:>{room - len(name)}}{told}")
    return lines


def _numbers(row: Row) -> tuple[str, str, str, str]:
    """Mine, published, their difference, and what to think of it."""
    difference = "none" if row.to_the_digit else f"{row.difference:+,.{_own_digits(row)}f}"
    mark = "broke" if row.breaks else {True: "", False: "far", None: "open"}[row.holds]
    # The same digits as printed, grouped like mine.
    return mine_text(row), f"{row.published:,.{_printed_digits(row)}f}", difference, mark


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
    broken = sum(bool(row.breaks) for row in chosen)
    parts = [
        f"{exact} to the last printed digit",
        f"{holding - exact} within the rounding of their inputs",
        f"{len(chosen) - holding - missed - broken} open",
    ]
    if broken:
        parts.append(f"{broken} where an assumption of the model breaks, which is named")
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
            "forecast": row.forecast.name if row.forecast else None,
            "breaks": row.breaks or None,
            "lessons": list(row.lessons),
        }
        for row in chosen
    ]
