"""The report on the mutants: a table per puzzle, and every hole as lines of code."""

from __future__ import annotations

import ast
import difflib
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

from authoring.checkout import read
from authoring.mutation.mutants import Mutant
from authoring.mutation.table import Row, row_of
from gpu_course.puzzle import Puzzle


def report(root: Path, puzzles: Iterable[Puzzle], *, listed: bool = False) -> bool:
    """Prints what became of every mutant; returns whether killed and equivalent are all.

    Args:
        root: the checkout with solutions/.
        puzzles: whose mutants.
        listed: True to name each mutant with what became of it.
    """
    rows = []
    for puzzle in puzzles:
        row = row_of(puzzle, root)
        rows.append(row)
        lines = describe(row, read(root / "solutions" / f"{puzzle.name}.py"))
        if listed:
            ends = row.killed | {name: puzzle.equivalent_mutants[name] for name in row.equivalent}
            lines = [f"{name}    {end}" for name, end in ends.items()] + lines
        if lines:
            print("\n".join(lines), flush=True)
    print(table_text(rows))
    return all(row.complete for row in rows)


def describe(row: Row, solution: str) -> list[str]:
    """Returns the lines on what a row lacks: each hole as a difference from the solution.

    Args:
        row: the row.
        solution: the text of the solution.
    """
    lines = []
    for mutant in row.survived:
        lines += [f"{row.puzzle}: the grader passes {mutant.name!r}"]
        lines += [f"    {line}" for line in _changes(solution, mutant)]
    for name in row.mislaid:
        lines.append(f"{row.puzzle}: no mutant that passes is called {name!r}; it is listed as one")
    for name, message in row.failed.items():
        lines.append(f"{row.puzzle}: the grader failed at {name!r}: {message}")
    return lines


def _changes(solution: str, mutant: Mutant) -> list[str]:
    before = ast.unparse(ast.parse(solution)).splitlines()
    return [
        line
        for line in difflib.unified_diff(before, mutant.text.splitlines(), lineterm="", n=0)
        if line[0] in "+-" and not line.startswith(("+++", "---"))
    ]


def table_text(rows: Sequence[Row]) -> str:
    """Returns the report: for each puzzle how many mutants, rejected why, equivalent, passed.

    >>> row = Row("01_threads/guard", {"a": "hazard", "b": "refused"}, (), (), (), {})
    >>> print(table_text([row]))
    puzzle           mutants hazard refused equivalent survived
    01_threads/guard       2      1       1          0        0
    all                    2      1       1          0        0
    """
    reasons = sorted({reason for row in rows for reason in row.killed.values()})
    head = ["puzzle", "mutants", *reasons, "equivalent", "survived"]
    body = [[row.puzzle, *_numbers([row], reasons)] for row in rows]
    table = [head, *body, ["all", *_numbers(rows, reasons)]]
    widths = [max(len(line[column]) for line in table) for column in range(len(head))]
    return "\n".join(
        " ".join(
            cell.rjust(width) if column else cell.ljust(width)
            for column, (cell, width) in enumerate(zip(line, widths, strict=True))
        )
        for line in table
    )


def _numbers(rows: Iterable[Row], reasons: Sequence[str]) -> list[str]:
    rows = list(rows)
    killed = Counter(reason for row in rows for reason in row.killed.values())
    numbers = [
        sum(row.total for row in rows),
        *(killed[reason] for reason in reasons),
        sum(len(row.equivalent) for row in rows),
        sum(len(row.survived) + len(row.failed) for row in rows),
    ]
    return [f"{number:,}" for number in numbers]
