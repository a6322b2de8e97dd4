"""Reads the rows of one paper from its TOML file."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import partial
from typing import Annotated, Any, TypeVar

import msgspec

from gpu_course.claims import models
from gpu_course.claims.assumptions import BREAKS
from gpu_course.claims.kinds import BOUNDS, FORMER, Kind
from gpu_course.claims.questions import Forecast, Question, read_question
from gpu_course.claims.row import Paper, Row, Spread, half_a_digit
from gpu_course.errors import CatalogueError

Given = TypeVar("Given")

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


class _Spread(msgspec.Struct, forbid_unknown_fields=True):
    """How far off the source says its number may be, and where it says so."""

    off: Annotated[float, msgspec.Meta(gt=0)]
    place: _Text


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
    inputs_rounding: list[str] = []
    spread: _Spread | None = None
    missing: str = ""
    note: str = ""
    breaks: str = ""
    forecast: Forecast | None = None
    worked_out: bool = False


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
    both = {**shared, **own}
    _refuse_former(both, where)
    given = _as(_Printed, both, where)
    if not _DIGITS.fullmatch(given.printed):
        raise CatalogueError(
            f"{where}: the printed digits are {given.printed!r}, and no number",
            'write the digits alone, such as "7.80"; the unit has a key of its own',
        )
    if given.breaks and given.breaks not in BREAKS:
        raise CatalogueError(
            f"{where}: breaks is {given.breaks!r}, and no assumption of that name is known",
            f"it is one of {', '.join(BREAKS)}",
        )
    if given.worked_out and given.kind not in BOUNDS:
        raise CatalogueError(
            f"{where}: {given.kind} says by itself whether the number was measured",
            "say worked_out of a floor or a ceiling, where nobody measured it",
        )
    if given.breaks and given.missing:
        raise CatalogueError(
            f"{where}: the model breaks ({given.breaks}), and the source leaves something out",
            "say what breaks where there is a verdict, or what is missing where there is none",
        )
    call = partial(models.compute, given.model)
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
        spread=Spread(given.spread.off, given.spread.place) if given.spread else None,
        missing=" ".join(given.missing.split()),
        note=given.note,
        breaks=given.breaks,
        computed_by=given.model,
        arguments=given.arguments,
        forecast=_question(given, where),
        worked_out=given.worked_out,
    )


def _refuse_former(given: Mapping[str, Any], where: str) -> None:
    """Says of a row in an earlier form what it says today."""
    if given.get("kind") in FORMER:
        new = ", ".join(kind.value for kind in Kind)
        raise CatalogueError(
            f"{where}: kind is {given['kind']!r}, which does not say what could fail",
            f"write one of {new}; claims/kinds.py says what each means",
        )
    if "verdict" in given:
        raise CatalogueError(
            f"{where}: verdict is no key of a row",
            "a number that is too far off stays on the board; where the source does not tell what "
            "the model needs, say what in `missing`",
        )
    if isinstance(given.get("inputs_rounding"), int | float | dict):
        raise CatalogueError(
            f"{where}: inputs_rounding gives a number of its own",
            "name the arguments that were printed rounded: their digits say how far. What the "
            "source states itself is `spread = { off = 0.2, place = '...' }`",
        )
    forecast = given.get("forecast")
    if isinstance(forecast, dict) and "breaks" in forecast:
        raise CatalogueError(
            f"{where}: breaks stands in the forecast", "it is said of the row: put it above"
        )


def _question(given: _Printed, where: str) -> Question | None:
    if given.forecast is None:
        return None
    if not float(given.printed.replace(",", "")) > 0:
        raise CatalogueError(
            f"{where}: nobody forecasts {given.printed}",
            "how wide a guess is needs a value above 0",
        )
    return read_question(given.forecast, where)


def _inputs_rounding(
    row: _Printed, call: Callable[[Mapping[str, Any]], float], where: str
) -> Callable[[], float] | None:
    """Returns what computes how far off the rounding of inputs may leave a model.

    Args:
        row: names the arguments that were printed rounded. Each may be off by half of one unit in
            its last digit as the file has it: 39 by 0.5, 15.1 by 0.05.
        call: the model.
        where: the row, for messages.
    """
    arguments = row.arguments
    off: dict[str, tuple[float, float]] = {}
    for name in row.inputs_rounding:
        argument = arguments.get(name)
        if isinstance(argument, bool | str | None):
            raise CatalogueError(
                f"{where}: inputs_rounding has {name!r}",
                "name an argument of the row that is a number",
            )
        off[name] = argument, half_a_digit(repr(argument))
    if not off:
        return None

    def one_by_one() -> float:
        ends = (
            [call({**arguments, name: argument + sign * value}) for sign in (-1, 1)]
            for name, (argument, value) in off.items()
        )
        return sum(abs(high - low) / 2 for low, high in ends)

    return one_by_one
