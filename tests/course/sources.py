"""The sources of the lessons, cell by cell."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import jupytext

SOURCES = sorted((Path(__file__).parents[2] / "notebooks" / "source").glob("*.md"))


@dataclass(frozen=True)
class Cell:
    """One cell of a source: "code" or "markdown", its text and its tags."""

    kind: str
    text: str
    tags: tuple[str, ...] = ()


@dataclass(frozen=True)
class Guess:
    """One prediction of a lesson.

    Attributes:
        question: as it is asked.
        choices: the variable or text that holds them, "" for a number.
        asked, told: numbers of the cells with `predict` and with `compare`.
        compared: what is handed to `compare`; None for nothing.
    """

    question: str
    choices: str
    asked: int
    told: int
    compared: ast.expr | None


@dataclass(frozen=True)
class Forecast:
    """One forecast of a lesson.

    Attributes:
        name: of its row on the board.
        asked, told: numbers of the cells with `forecast` and with `compare`.
    """

    name: str
    asked: int
    told: int


def cells_of(path: Path) -> list[Cell]:
    """Returns the cells of a source."""
    notebook = jupytext.read(path)
    return [
        Cell(cell.cell_type, cell.source, tuple(cell.metadata.get("tags", ())))
        for cell in notebook.cells
    ]


def guesses_of(cells: list[Cell]) -> list[Guess]:
    """Returns the predictions of a lesson, in order; `told` is -1 where nothing compares."""
    found = []
    open_guesses: dict[str, tuple[str, str, int]] = {}
    for number, cell in enumerate(cells):
        if cell.kind != "code" or cell.text.startswith("%%"):
            continue
        for name, call in _calls(cell.text):
            if name == "predict":
                (variable,) = _assigned(cell.text)
                choices = next((ast.unparse(k.value) for k in call.keywords), "")
                question = ast.literal_eval(call.args[0])
                open_guesses[variable] = question, choices, number
            elif name.endswith(".compare") and name.removesuffix(".compare") in open_guesses:
                question, choices, asked = open_guesses.pop(name.removesuffix(".compare"))
                compared = call.args[0] if call.args else None
                found.append(Guess(question, choices, asked, number, compared))
    found += [Guess(q, c, asked, -1, None) for q, c, asked in open_guesses.values()]
    return sorted(found, key=lambda guess: guess.asked)


def forecasts_of(cells: list[Cell]) -> list[Forecast]:
    """Returns the forecasts of a lesson, in order; `told` is -1 where nothing compares."""
    found = []
    open_forecasts: dict[str, tuple[str, int]] = {}
    for number, cell in enumerate(cells):
        if cell.kind != "code" or cell.text.startswith("%%"):
            continue
        for name, call in _calls(cell.text):
            if name == "forecast":
                (variable,) = _assigned(cell.text, "forecast")
                open_forecasts[variable] = ast.literal_eval(call.args[0]), number
            elif name.endswith(".compare") and name.removesuffix(".compare") in open_forecasts:
                asked = open_forecasts.pop(name.removesuffix(".compare"))
                found.append(Forecast(*asked, number))
    found += [Forecast(*asked, -1) for asked in open_forecasts.values()]
    return sorted(found, key=lambda forecast: forecast.asked)


def _calls(code: str) -> Iterator[tuple[str, ast.Call]]:
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.Call):
            yield ast.unparse(node.func), node


def _assigned(code: str, function: str = "predict") -> list[str]:
    """The names that a cell gives to what `predict`, or another function, returns."""
    return [
        node.targets[0].id
        for node in ast.walk(ast.parse(code))
        if isinstance(node, ast.Assign)
        and isinstance(node.targets[0], ast.Name)
        and isinstance(node.value, ast.Call)
        and ast.unparse(node.value.func) == function
    ]
