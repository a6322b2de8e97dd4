"""What of a lesson depends on the learner's answers, found in its cells.

A `%%puzzle` cell is saved and checked, and never executed. So the two editions of a lesson do the
same in every other cell, but for those that ask for answers by one of a few functions, which are
marked (`gpu_course.notebook.marks`). Those cells, and what they need, are all that a run of the
learner's edition adds to a run of the teacher's.
"""

from __future__ import annotations

import ast
import builtins
import importlib
from collections.abc import Sequence

from authoring.notebooks import PUZZLE_CELL
from gpu_course.notebook.marks import asks_for_answers

MARK = asks_for_answers.__name__


def depends_on_answers(sources: Sequence[str]) -> list[int]:
    """Returns which cells may do something else in the learner's edition, by their numbers.

    These are the puzzles, the cells that call a function with the mark `asks_for_answers`, and
    those that read a name that such a cell has given a value.

    Args:
        sources: the code cells of a lesson, in order.
    """
    found: list[int] = []
    changed: set[str] = set()
    asking = _asking(sources)
    for number, source in enumerate(sources):
        if PUZZLE_CELL.match(source):
            found.append(number)
            continue
        read, given = _names(source)
        if read & changed or _calls(source) & asking:
            found.append(number)
            changed |= given
        else:
            changed -= given
    return found


def with_what_they_need(sources: Sequence[str], wanted: Sequence[int]) -> list[int]:
    """Returns the wanted cells and the earlier ones that give their names a value, in order.

    Args:
        sources: the code cells of a lesson, in order.
        wanted: numbers of cells.
    """
    kept: set[int] = set()
    needed: set[str] = set()
    for number in reversed(range(len(sources))):
        puzzle = PUZZLE_CELL.match(sources[number]) is not None
        read, given = (set(), set()) if puzzle else _names(sources[number])
        if number in wanted or given & needed:
            kept.add(number)
            needed |= read
    return sorted(kept)


def _tree(source: str) -> ast.Module:
    """A cell as a tree; one that runs elsewhere, such as `%%ranks 4`, names nothing here."""
    return ast.parse("" if source.startswith("%%") else source)


def _asking(sources: Sequence[str]) -> set[str]:
    """Returns the names under which a lesson imports functions that ask for answers."""
    return {
        alias.asname or alias.name
        for source in sources
        for node in ast.walk(_tree(source))
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("gpu_course")
        for alias in node.names
        if hasattr(getattr(importlib.import_module(str(node.module)), alias.name, None), MARK)
    }


def _calls(source: str) -> set[str]:
    called = [node.func for node in ast.walk(_tree(source)) if isinstance(node, ast.Call)]
    return {each.id for each in called if isinstance(each, ast.Name)}


def _names(source: str) -> tuple[set[str], set[str]]:
    """Returns the names that a cell reads and those that it gives a value."""
    read, given = set(), set()
    for node in ast.walk(_tree(source)):
        if isinstance(node, ast.Name):
            (read if isinstance(node.ctx, ast.Load) else given).add(node.id)
        elif isinstance(node, ast.alias):
            given.add(node.asname or node.name.partition(".")[0])
        elif isinstance(node, ast.FunctionDef | ast.ClassDef):
            given.add(node.name)
    return read - set(dir(builtins)), given
