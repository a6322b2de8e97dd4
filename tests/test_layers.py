"""Imports between the rooms of the package point one way, and heavy packages stay inside functions.

Read from the source with ast, so that an import inside a function counts too.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

from authoring import rooms
from authoring.parts import part_of
from authoring.rooms import ENGINE_MAY_IMPORT, MAY_IMPORT

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "gpu_course"
ENGINE = ROOT / "simt"

TOOLS = {"authoring", "benchmarks", "tests"}
"""What lies beside the packages: it is not installed with them."""
MAY_IMPORT_HEAVY_AT_MODULE_LEVEL = {"measure", "ranks", "draw", "lessons"}
HEAVY = {"torch", "numba", "llvmlite", "matplotlib"}
# Rooms that take no more of the engine than its words and the data of a report: what is counted,
# planned, drawn or run on a real GPU never asks the simulator.
PLAIN = {"hardware", "measure", "ranks", "claims", "draw", "isolation", "units"}
PLAIN_TAKES = {"simt.report", "simt.text", "simt.files", "simt.errors"}


def room_of(module: str) -> str:
    """Returns the room of a dotted module name: simt.report -> simt."""
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


def violations(package: Path, table: dict[str, set[str]]) -> list[str]:
    """Returns every import in a package that the rules forbid, as "file:line imports name".

    Args:
        package: its folder, called like the package.
        table: room -> the rooms of the package that it may import.
    """
    found = []
    for path in sorted(package.rglob("*.py")):
        place = path.relative_to(package)
        room = place.parts[0].removesuffix(".py")
        tree = ast.parse(path.read_text(encoding="utf-8"))
        for line, name in imports_of(tree):
            if forbidden(package.name, room, name, table.get(room, set())):
                found.append(f"{place}:{line} imports {name}")
        found += [
            f"{place}:{line} imports {name} at module level"
            for line, name in _at_module_level(tree)
            if name.split(".")[0] in HEAVY and room not in MAY_IMPORT_HEAVY_AT_MODULE_LEVEL
        ]
    return found


def forbidden(package: str, room: str, name: str, allowed: set[str]) -> bool:
    """True for an import that a room may not have."""
    top = name.split(".")[0]
    if top in TOOLS:
        return True
    if top == package:
        # The bare package holds nothing of its own but its version and its place on disk.
        if name in (package, f"{package}.__version__"):
            return False
        target = room_of(name)
        return target != room and target not in allowed
    if package == "simt":
        return top == "gpu_course"
    return top == "simt" and room in PLAIN and ".".join(name.split(".")[:2]) not in PLAIN_TAKES


def _at_module_level(tree: ast.Module) -> Iterator[tuple[int, str]]:
    for statement in tree.body:
        if isinstance(statement, ast.If) and "TYPE_CHECKING" in ast.unparse(statement.test):
            continue
        if not isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield from imports_of(statement)


def test_no_lesson_imports_another() -> None:
    found = []
    for path in sorted((PACKAGE / "lessons").rglob("*.py")):
        topic = path.relative_to(PACKAGE / "lessons").parts[0]
        for line, name in imports_of(ast.parse(path.read_text(encoding="utf-8"))):
            parts = name.split(".")
            if parts[:2] == ["gpu_course", "lessons"] and parts[2] != topic:
                found.append(f"{path.relative_to(PACKAGE)}:{line} imports {name}")
    assert found == []


def test_imports_point_one_way() -> None:
    assert violations(PACKAGE, MAY_IMPORT) == []
    assert violations(ENGINE, ENGINE_MAY_IMPORT) == []


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
        for module, path in modules.items()
    }


def test_no_files_import_each_other_in_a_circle() -> None:
    order = list(TopologicalSorter(files_that_import(PACKAGE)).static_order())
    assert order.index("gpu_course.errors") < order.index("gpu_course.grading.check")
    order = list(TopologicalSorter(files_that_import(ENGINE)).static_order())
    assert order.index("simt.text") < order.index("simt.simulator")


def test_a_planted_circle_is_found(tmp_path: Path) -> None:
    package = tmp_path / "gpu_course"
    package.mkdir()
    (package / "one.py").write_text("from gpu_course.two import b\n")
    inside = "def f():\n    from gpu_course import one\n"
    (package / "two.py").write_text(inside)
    with pytest.raises(CycleError, match="nodes are in a cycle"):
        list(TopologicalSorter(files_that_import(package)).static_order())


def test_every_room_has_a_rule() -> None:
    for package, table in ((PACKAGE, MAY_IMPORT), (ENGINE, ENGINE_MAY_IMPORT)):
        assert {p.stem for p in package.iterdir() if p.suffix == ".py" or _is_package(p)} <= set(
            table
        )


def _is_package(path: Path) -> bool:
    return path.is_dir() and any(path.glob("*.py"))


def test_the_map_of_contributing_is_the_table_of_imports() -> None:
    page = (ROOT / rooms.PAGE).read_text(encoding="utf-8")
    assert part_of(page, "map", rooms.PAGE) == rooms.table(ROOT), "run `python -m authoring map`"
    assert part_of(page, "picture", rooms.PAGE) == rooms.picture()


def test_the_map_shows_what_lies_there() -> None:
    here = {path.name for path in PACKAGE.glob("*.py")} | {
        f"{path.name}/" for path in PACKAGE.iterdir() if path.is_dir() and path.name[0] != "_"
    }
    rows = rooms.table(ROOT).splitlines()[2:]
    assert {row.split("`")[1] for row in rows} == here
    assert all(purpose for purpose, _ in rooms.ROOMS.values())


def test_the_picture_has_an_arrow_to_each_room_right_below() -> None:
    drawn = rooms.picture().splitlines()
    assert "    ranks --> isolation" in drawn and "    errors --> engine" in drawn
    # What is reached over another room has no arrow of its own.
    assert "    ranks --> errors" not in drawn
    assert "    puzzle -. reads .-> lessons" in drawn


def test_every_room_says_what_it_is() -> None:
    silent = [
        path.relative_to(ROOT).as_posix()
        for package in (PACKAGE, ENGINE)
        for path in (*package.glob("*.py"), *package.rglob("__init__.py"))
        if not ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")))
    ]
    assert silent == []


@pytest.mark.parametrize(
    ("file", "text", "complaint"),
    [
        (
            "simt/machine/warp.py",
            "from simt.observe.races import Race\n",
            "machine/warp.py:1 imports simt.observe.races.Race",
        ),
        (
            "simt/simulator.py",
            "def go():\n    from simt.foreign.script import main\n",
            "simulator.py:2 imports simt.foreign.script.main",
        ),
        (
            "simt/memory.py",
            "from gpu_course import simulate\n",
            "memory.py:1 imports gpu_course.simulate",
        ),
        (
            "gpu_course/hardware/run.py",
            "def go():\n    import simt.machine.launch\n",
            "hardware/run.py:2 imports simt.machine.launch",
        ),
        (
            "gpu_course/draw/touches.py",
            "from simt import simulator\n",
            "draw/touches.py:1 imports simt.simulator",
        ),
        (
            "gpu_course/puzzle/lesson.py",
            "from gpu_course import grading\n",
            "puzzle/lesson.py:1 imports gpu_course.grading",
        ),
        (
            "gpu_course/notebook/tutor/live.py",
            "from authoring.stubs import stub_text\n",
            "notebook/tutor/live.py:1 imports authoring.stubs.stub_text",
        ),
        (
            "gpu_course/grading/child.py",
            "import numpy\nimport torch.nn\n",
            "grading/child.py:2 imports torch.nn at module level",
        ),
    ],
)
def test_a_planted_violation_is_found(tmp_path: Path, file: str, text: str, complaint: str) -> None:
    path = tmp_path / file
    path.parent.mkdir(parents=True)
    path.write_text(text)
    package = tmp_path / file.split("/")[0]
    table = ENGINE_MAY_IMPORT if package.name == "simt" else MAY_IMPORT
    assert violations(package, table) == [complaint]


def test_what_is_allowed_is_not_reported(tmp_path: Path) -> None:
    observe = tmp_path / "simt" / "observe"
    observe.mkdir(parents=True)
    (observe / "races.py").write_text(
        "from simt.report import Hazard\n"
        "from simt.observe.events import Access\n"
        "def compare():\n    import numba\n"
    )
    assert violations(tmp_path / "simt", ENGINE_MAY_IMPORT) == []
    draw = tmp_path / "gpu_course" / "draw"
    draw.mkdir(parents=True)
    (draw / "map.py").write_text("from simt.report import Touch\nimport matplotlib\n")
    assert violations(tmp_path / "gpu_course", MAY_IMPORT) == []
