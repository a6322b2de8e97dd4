"""Imports between the rooms of the package point one way, and heavy packages stay inside functions.

Read from the source with ast, so that an import inside a function counts too.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[1] / "gpu_course"

LEAVES = {"errors", "files", "text", "units"}
GRADING = LEAVES | {"simt", "observe", "simulator", "catalog", "hardware"}
# Room -> the rooms it may import. A room always may import itself.
MAY_IMPORT: dict[str, set[str]] = {
    "errors": {"simt"},  # for type checking alone; see test_errors_imports_nothing_at_run_time
    "files": set(),
    "text": set(),
    "units": set(),
    "simt": LEAVES,
    "observe": LEAVES | {"simt"},
    "simulator": LEAVES | {"simt", "observe"},
    "foreign": LEAVES | {"simt", "simulator"},
    "stepping": LEAVES | {"simt", "observe", "simulator"},
    "interleaving": LEAVES | {"simt", "observe", "simulator"},
    "hardware": LEAVES,
    "training": LEAVES,
    "isolation": LEAVES,
    "parallel": LEAVES | {"isolation"},
    "planner": LEAVES | {"hardware", "training"},
    "draw": LEAVES | {"simt"},  # plain data: Report and Counters
    "catalog": LEAVES | {"simt", "observe", "simulator", "hardware", "training", "parallel"},
    "grading": GRADING | {"interleaving", "isolation", "parallel", "draw"},
    "notebook": GRADING
    | {"grading", "stepping", "interleaving", "draw", "training", "parallel", "planner"},
    "lessons": GRADING
    | {"grading", "stepping", "notebook", "draw", "training", "parallel", "planner"},
    "authoring": GRADING | {"grading", "notebook", "lessons", "draw"},
    "lab": GRADING | {"grading"},
    "updating": LEAVES,
    "before_imports": {"notebook"},
    "terminal": GRADING | {"grading", "draw"},
    "commands": GRADING | {"grading", "lab", "terminal", "draw", "planner", "updating"},
    "cli": {"commands", "hardware"},
    "__main__": {"cli"},
    "__init__": {"simulator", "grading"},  # the three public names
}
# A file that may import more than its room. `python -m gpu_course.simt SCRIPT` has to bear the name
# of simt, and so have its drop-in for numba.cuda and its plugin for pytest; all lie in foreign.
ENTRIES = {
    "simt/__main__.py": {"foreign"},
    "simt/module.py": {"foreign"},
    "simt/pytest.py": {"foreign"},
}
MAY_IMPORT_HEAVY_AT_MODULE_LEVEL = {"training", "parallel", "draw"}
HEAVY = {"torch", "numba", "matplotlib"}
# Two files that name each other: a verdict shows itself, and exports shows verdicts.
MAY_BE_A_CIRCLE = {"gpu_course.grading.exports": {"gpu_course.grading.verdict"}}
# What draw takes from simt is the data of a report, never the machine that makes it.
DRAW_TAKES = {"gpu_course.simt.report"}


def room_of(module: str) -> str:
    """Returns the room of a dotted module name: gpu_course.simt.report -> simt."""
    return module.split(".")[1]


def imports_of(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Yields (line, dotted name) of every import in a syntax tree."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"line {node.lineno}: relative imports hide their room"
            for alias in node.names:
                yield node.lineno, f"{node.module}.{alias.name}"


def violations(package: Path) -> list[str]:
    """Returns every import in a package that the rules forbid, as "file:line imports name"."""
    found = []
    for path in sorted(package.rglob("*.py")):
        place = path.relative_to(package)
        room = place.parts[0].removesuffix(".py")
        allowed = MAY_IMPORT.get(room, set()) | ENTRIES.get(place.as_posix(), set())
        tree = ast.parse(path.read_text(encoding="utf-8"))
        for line, name in imports_of(tree):
            if name.split(".")[0] != "gpu_course":
                continue
            # The bare package holds nothing of its own but its version and its place on disk.
            if name in ("gpu_course", "gpu_course.__version__"):
                continue
            target = room_of(name)
            if target == room or target in allowed:
                continue
            found.append(f"{place}:{line} imports {name}")
        found += [
            f"{place}:{line} imports {name} at module level"
            for line, name in _at_module_level(tree)
            if name.split(".")[0] in HEAVY and room not in MAY_IMPORT_HEAVY_AT_MODULE_LEVEL
        ]
    return found


def _at_module_level(tree: ast.Module) -> Iterator[tuple[int, str]]:
    for statement in tree.body:
        if isinstance(statement, ast.If) and "TYPE_CHECKING" in ast.unparse(statement.test):
            continue
        if not isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield from imports_of(statement)


def test_imports_point_one_way() -> None:
    assert violations(PACKAGE) == []


def files_that_import(package: Path) -> dict[str, set[str]]:
    """Returns {module: the modules of the package it imports}, for type checking included."""
    modules = {
        ".".join(path.relative_to(package.parent).with_suffix("").parts): path
        for path in package.rglob("*.py")
    }
    return {
        module: {
            target
            for _, name in imports_of(ast.parse(path.read_text(encoding="utf-8")))
            for target in (name, name.rpartition(".")[0])
            if target in modules and target != module
        }
        - MAY_BE_A_CIRCLE.get(module, set())
        for module, path in modules.items()
    }


def test_no_files_import_each_other_in_a_circle() -> None:
    order = list(TopologicalSorter(files_that_import(PACKAGE)).static_order())
    assert order.index("gpu_course.errors") < order.index("gpu_course.simulator")


def test_a_planted_circle_is_found(tmp_path: Path) -> None:
    package = tmp_path / "gpu_course"
    package.mkdir()
    (package / "one.py").write_text("from gpu_course.two import b\n")
    inside = "def f():\n    from gpu_course import one\n"
    (package / "two.py").write_text(inside)
    with pytest.raises(CycleError, match="nodes are in a cycle"):
        list(TopologicalSorter(files_that_import(package)).static_order())


def test_every_room_has_a_rule() -> None:
    rooms = {path.stem for path in PACKAGE.iterdir() if path.suffix == ".py" or _is_package(path)}
    assert rooms <= set(MAY_IMPORT)


def _is_package(path: Path) -> bool:
    return path.is_dir() and any(path.glob("*.py"))


MAP = (PACKAGE.parent / "CONTRIBUTING.md").read_text(encoding="utf-8")
WITHOUT_PYTHON = {"jupyter"}


def mapped(text: str) -> dict[str, tuple[str, str, set[str]]]:
    """Returns {room: (as the map writes it, what it is for, the rooms it may import)}."""
    found = re.search(r"<!-- map -->\n(.*?)<!-- end map -->", text, flags=re.DOTALL)
    assert found is not None
    rooms = {}
    for row in found.group(1).splitlines()[2:]:
        place, purpose, allowed = (cell.strip() for cell in row.strip("|").split("|"))
        names = set(allowed.split(", ")) - {"nothing", "for type checking alone"}
        for shorthand, meant in (("leaves", LEAVES), ("core", GRADING)):
            if shorthand in names:
                names = names - {shorthand} | meant
        place = place.strip("`")
        rooms[place.removesuffix("/").removesuffix(".py")] = place, purpose, names
    return rooms


def test_the_map_of_contributing_is_the_table_of_imports() -> None:
    rooms = {room: allowed for room, (_, _, allowed) in mapped(MAP).items()}
    assert {room: rooms.pop(room) for room in WITHOUT_PYTHON} == {"jupyter": set()}
    assert rooms == MAY_IMPORT


def test_the_map_of_contributing_shows_what_lies_there() -> None:
    here = {path.name for path in PACKAGE.glob("*.py")} | {
        f"{path.name}/" for path in PACKAGE.iterdir() if path.is_dir() and path.name[0] != "_"
    }
    rooms = mapped(MAP)
    assert {place for place, _, _ in rooms.values()} == here
    assert all(purpose for _, purpose, _ in rooms.values())


def test_a_map_that_says_something_else_would_be_seen() -> None:
    wrong = MAP.replace("| leaves, simt, simulator |", "| leaves, simt |")
    assert mapped(wrong)["foreign"][2] == MAY_IMPORT["foreign"] - {"simulator"}
    assert "stepping" not in mapped(re.sub(r"\| `stepping.py`.*\n", "", MAP))


def test_every_room_says_what_it_is() -> None:
    rooms = [*PACKAGE.glob("*.py"), *PACKAGE.rglob("__init__.py")]
    silent = [
        path.relative_to(PACKAGE).as_posix()
        for path in rooms
        if not ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")))
    ]
    assert silent == []


def test_draw_takes_only_the_data_of_a_report() -> None:
    taken = {
        name.rpartition(".")[0]
        for path in sorted((PACKAGE / "draw").rglob("*.py"))
        for _, name in imports_of(ast.parse(path.read_text(encoding="utf-8")))
        if name.startswith("gpu_course.simt")
    }
    assert taken <= DRAW_TAKES


def test_errors_imports_nothing_at_run_time() -> None:
    tree = ast.parse((PACKAGE / "errors.py").read_text(encoding="utf-8"))
    names = [name for _, name in _at_module_level(tree)]
    assert not [name for name in names if name.startswith("gpu_course")]


@pytest.mark.parametrize(
    ("file", "text", "complaint"),
    [
        (
            "simt/warp.py",
            "from gpu_course.observe.races import Race\n",
            "simt/warp.py:1 imports gpu_course.observe.races.Race",
        ),
        (
            "simt/machine.py",
            "def go():\n    from gpu_course.foreign.script import main\n",
            "simt/machine.py:2 imports gpu_course.foreign.script.main",
        ),
        (
            "hardware/run.py",
            "def go():\n    import gpu_course.simt.launch\n",
            "hardware/run.py:2 imports gpu_course.simt.launch",
        ),
        (
            "catalog/lesson.py",
            "from gpu_course import grading\n",
            "catalog/lesson.py:1 imports gpu_course.grading",
        ),
        (
            "simt/memory.py",
            "from gpu_course import simulate\n",
            "simt/memory.py:1 imports gpu_course.simulate",
        ),
        (
            "grading/child.py",
            "import numpy\nimport torch.nn\n",
            "grading/child.py:2 imports torch.nn at module level",
        ),
    ],
)
def test_a_planted_violation_is_found(tmp_path: Path, file: str, text: str, complaint: str) -> None:
    path = tmp_path / file
    path.parent.mkdir()
    path.write_text(text)
    assert violations(tmp_path) == [complaint]


def test_what_is_allowed_is_not_reported(tmp_path: Path) -> None:
    (tmp_path / "observe").mkdir()
    (tmp_path / "observe" / "races.py").write_text(
        "from gpu_course.simt.report import Hazard\n"
        "from gpu_course.observe.events import Access\n"
        "def compare():\n    import numba\n"
    )
    assert violations(tmp_path) == []
