"""A slider still moves once the whole lesson has run: no later cell changes what it reads."""

from __future__ import annotations

import ast
import symtable
from pathlib import Path

import pytest

from tests.course.sources import SOURCES, cells_of


def _handed_on(tree: ast.Module) -> set[str]:
    """Names of functions that a cell hands to `explore` or `play`."""
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and node.args]
    return {
        call.args[0].id
        for call in calls
        if isinstance(call.func, ast.Name)
        and call.func.id in ("explore", "play")
        and isinstance(call.args[0], ast.Name)
    }


def _globals_read(code: str) -> dict[str, set[str]]:
    """Function of a cell -> global names that it reads, functions within it included."""
    found = {}
    for table in symtable.symtable(code, "cell", "exec").get_children():
        tables, names = [table], set()
        while tables:
            each = tables.pop()
            tables += each.get_children()
            names |= {s.get_name() for s in each.get_symbols() if s.is_global()}
        found[table.get_name()] = names
    return found


def _bound(tree: ast.Module) -> set[str]:
    """Names that a cell assigns at its outermost level, loops and `with` included."""
    names = symtable.symtable(ast.unparse(tree), "cell", "exec").get_symbols()
    return {name.get_name() for name in names if name.is_assigned()}


def changed_later(codes: list[str]) -> list[str]:
    """Returns what would go wrong: function, name and the number of the cell that changes it."""
    trees = [ast.parse(code) for code in codes]
    reads = {name: each for code in codes for name, each in _globals_read(code).items()}
    handed: set[str] = set()
    asked = set().union(*map(_handed_on, trees))
    while asked:  # a function of the slider, and those of the lesson that it calls
        handed |= asked
        asked = {name for each in asked for name in reads.get(each, ()) if name in reads} - handed
    faults = []
    for at, code in enumerate(codes):
        for function, names in _globals_read(code).items():
            later = range(at + 1, len(codes)) if function in handed else ()
            faults += [
                f"{function} reads {name}, which code cell {n} sets anew"
                for n in later
                for name in sorted(names & _bound(trees[n]))
            ]
    return faults


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.stem)
def test_no_later_cell_changes_what_a_slider_reads(path: Path) -> None:
    codes = [cell.text for cell in cells_of(path) if cell.kind == "code"]
    assert changed_later([code for code in codes if not code.startswith("%%")]) == []


def test_such_a_cell_is_found() -> None:
    first = (
        "two = {1: 2}\ndef shown(n=1):\n    return [two[k] for k in (n,)]\nexplore(shown, n=(1, 2))"
    )
    assert changed_later([first, "three = [1]"]) == []
    assert changed_later([first, "for two in [1]:\n    pass"]) == [
        "shown reads two, which code cell 1 sets anew"
    ]
    through = "def shown(n=1):\n    return inner(n)\nexplore(shown, n=(1, 2))"
    inner = "two = 2\ndef inner(n):\n    return two * n"
    assert len(changed_later([inner, through, "two = 3"])) == 1
