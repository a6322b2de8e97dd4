"""Sliders move once the whole lesson has run, and what is first drawn is a value they can have."""

from __future__ import annotations

import ast
import importlib.util
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


def _defaults(function: ast.FunctionDef) -> dict[str, float]:
    """Parameter -> its default, where that is a number."""
    own = function.args
    given = own.args[len(own.args) - len(own.defaults) :]
    pairs = [
        *zip(given, own.defaults, strict=True),
        *zip(own.kwonlyargs, own.kw_defaults, strict=True),
    ]
    return {
        name.arg: default.value
        for name, default in pairs
        if isinstance(default, ast.Constant) and isinstance(default.value, int | float)
    }


def _functions(tree: ast.Module) -> dict[str, ast.FunctionDef]:
    """Functions of a lesson's cells, and those of the course that they import, by name."""
    found = {node.name: node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith(
            "gpu_course.lessons"
        ):
            spec = importlib.util.find_spec(node.module or "")
            assert spec is not None and spec.origin is not None
            module = ast.parse(Path(spec.origin).read_text(encoding="utf-8"))
            names = {each.name for each in node.names}
            found |= {
                each.name: each
                for each in module.body
                if isinstance(each, ast.FunctionDef) and each.name in names
            }
    return found


def between_steps(code: str) -> list[str]:
    """Returns where a slider begins between two of its steps: what is drawn is not what it says."""
    tree = ast.parse(code)
    functions, faults = _functions(tree), []
    for call in ast.walk(tree):
        if not (isinstance(call, ast.Call) and ast.unparse(call.func) == "explore" and call.args):
            continue
        function = functions.get(ast.unparse(call.args[0]))
        defaults = {} if function is None else _defaults(function)
        for slider in call.keywords:
            written = isinstance(slider.value, ast.Tuple) and all(
                isinstance(each, ast.Constant) for each in slider.value.elts
            )
            if written and slider.arg in defaults:
                low, high, *step = ast.literal_eval(slider.value)
                first = defaults[slider.arg]
                steps = (first - low) / (step[0] if step else 1)
                if not (low <= first <= high and abs(steps - round(steps)) < 1e-9):
                    faults.append(
                        f"{slider.arg} begins at {first}, and moves by {ast.unparse(slider.value)}"
                    )
    return faults


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.stem)
def test_a_slider_begins_at_one_of_its_steps(path: Path) -> None:
    codes = [cell.text for cell in cells_of(path) if cell.kind == "code"]
    assert between_steps("\n".join(code for code in codes if not code.startswith("%%"))) == []


def test_a_slider_that_begins_between_its_steps_is_found() -> None:
    code = "def shown(weight=0.5):\n    pass\nexplore(shown, weight=({}))"
    assert between_steps(code.format("0.1, 1, 0.1")) == []
    assert len(between_steps(code.format("0.2, 1, 0.2"))) == 1
    assert len(between_steps(code.format("0.6, 1, 0.1"))) == 1
    imported = "from gpu_course.lessons.zero_bubble.shows import filled\nexplore(filled, room=({}))"
    assert between_steps(imported.format("1, 2.5, 0.25")) == []
    assert len(between_steps(imported.format("1, 2.6, 0.4"))) == 1
