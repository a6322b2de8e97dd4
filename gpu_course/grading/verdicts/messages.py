"""What every verdict is made of: the case, why, the cells round a wrong one, the hint."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from gpu_course.grading.diagnoses.compare import two_values
from gpu_course.grading.diagnoses.sentences import HINT_KINDS, sentence_of
from gpu_course.grading.verdicts.sections import INDENT, WIDTH, Section, command_section, section
from gpu_course.puzzle import Case, Debrief, KernelPuzzle, Launch, Puzzle

BEFORE = 2
"""Cells shown in front of the first wrong one."""

MAX_CELLS = 12
MAP_ROWS = 8


def which_case(case: Case, launch: Launch | None = None) -> list[Section]:
    """Returns which case it is, and which launch of it."""
    shown = describe(case) + (f", {show_launch(launch)}" if launch else "")
    return section("case", shown)


def describe(case: Case) -> str:
    """Returns a case as messages call it: "visible example (size 8, threads 12)"."""
    sizes = ", ".join(f"{name} {value}" for name, value in case.sizes.items())
    return f"{case.name} ({sizes})" if sizes else case.name


def reason(puzzle: Puzzle, key: str, fact: str = "") -> list[Section]:
    """Returns the `why` of a diagnosis: what was seen, and what to think about."""
    sentence = sentence_of(puzzle, key)
    if fact:
        seen = fact[:1].upper() + fact[1:]
        sentence = f"{seen}. {sentence}" if sentence else f"{seen}."
    return section("why", sentence)


def which_hint(puzzle: Puzzle, key: str) -> list[Section]:
    """Returns which kind of hint fits, and the command that gives it."""
    of_threads = isinstance(puzzle, KernelPuzzle) and key in HINT_KINDS
    kind = f"about {HINT_KINDS[key]}: " if of_threads else ""
    name = puzzle.short_name
    here, in_terminal = f'{kind}hint("{name}")', f"or `gpu-course hint {name}`"
    return command_section("hint", here, in_terminal)


def debrief_sections(told: Debrief, bonus: str = "") -> list[Section]:
    """Returns what a puzzle says of a pass: why it works, another way, and the bonus."""
    return [
        *section("why", told.why),
        *section("other", told.alternative),
        *section("bonus", bonus),
    ]


def show_launch(launch: Launch) -> str:
    """Returns a launch as it is written: "guard[3, 4]"."""
    return f"{launch.function}[{_plain(launch.grid)}, {_plain(launch.block)}]"


def cells_around(
    rows: Sequence[tuple[str, np.ndarray]],
    right: np.ndarray,
    written: np.ndarray | None = None,
    at: int | None = None,
) -> list[Section]:
    """Returns a small table: cells round a wrong one, a sign below each that is wrong.

    Args:
        rows: (label, values) from top to bottom, all of one shape with one or two dimensions: what
            came in, then what came out, then what was expected.
        right: bool, in that shape.
        written: bool, in that shape: False where nothing was stored; default all of it.
        at: round which cell, counted row by row; default the first wrong one.
    """
    if right.ndim not in (1, 2) or right.size < 2:
        return []
    centre = int(np.argmin(right)) if at is None else at
    *above, column = (int(i) for i in np.unravel_index(centre, right.shape))
    row = above[0] if above else 0
    tables = [(label, np.atleast_2d(values)[row]) for label, values in rows]
    wrong = ~np.atleast_2d(right)[row]
    stored = np.ones(wrong.shape, bool) if written is None else np.atleast_2d(written)[row]
    names = ["[row, col]" if above else "index", *(label for label, _ in rows)]
    edge = max(map(len, names))
    columns: list[list[str]] = []
    room = WIDTH - INDENT - edge - len("  wrong")
    for cell in range(max(0, column - BEFORE), min(wrong.size, column - BEFORE + MAX_CELLS)):
        cells = [f"[{row}, {cell}]" if above else str(cell)]
        cells += [short(values[cell]) for _, values in tables[:-2]]
        pair = tables[-2][1][cell], tables[-1][1][cell]
        # What is right but for rounding need not be told apart.
        out, wanted = two_values(*pair) if wrong[cell] else map(short, pair)
        cells += [out if stored[cell] else "-", wanted]
        cells.append("^" if wrong[cell] else "")
        width = max(map(len, cells)) + 2
        # Cells in front make room for the first wrong one, and that one for none behind it.
        while columns and room < width and cell <= column:
            room += len(columns.pop(0)[0])
        if columns and room < width:
            break
        room -= width
        columns.append([cell.rjust(width) for cell in cells])
    shown = [
        f"{label:<{edge}}" + "".join(each[number] for each in columns)
        for number, label in enumerate(names)
    ]
    marks = f"{'':{edge}}" + "".join(each[-1] for each in columns)
    table = section("cells", *shown, marks.rstrip() + "  wrong")
    return table + (_map(right, written, row) if above else [])


def _map(right: np.ndarray, written: np.ndarray | None, row: int) -> list[Section]:
    """Returns which cells of a table are right, a sign for each, near the first wrong row."""
    rows, columns = right.shape
    if rows == 1 or columns == 1:
        return []
    stored = np.ones(right.shape, bool) if written is None else written
    first = max(0, min(row - 2, rows - MAP_ROWS))
    last = min(rows, first + MAP_ROWS)
    most = WIDTH - INDENT - len(f"row {last}  ") - 3
    lines = []
    for at in range(first, last):
        signs = np.where(right[at], ".", np.where(stored[at], "x", "-"))[:most]
        cut = "..." if columns > most else ""
        lines.append(f"row {at:<{len(str(last - 1))}}  " + "".join(signs) + cut)
    legend = ". right   x wrong" + ("" if stored.all() else "   - not written")
    return section("map", *lines, legend)


def short(value: Any) -> str:
    """Returns a number as a cell of a table shows it."""
    return f"{value:.6g}" if isinstance(value, np.floating | float) else str(value)


def _plain(shape: int | tuple[int, ...]) -> str:
    if isinstance(shape, tuple):
        return "(" + ", ".join(map(str, shape)) + ("," if len(shape) == 1 else "") + ")"
    return str(shape)
