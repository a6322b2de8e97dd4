"""The rooms of `gpu_course/notebook` import one way, and what lessons import stays in place."""

from __future__ import annotations

import ast
import importlib
from pathlib import Path

from authoring.checkout import lesson_sources, read
from authoring.rooms import NOTEBOOK_MAY_IMPORT
from tests.test_layers import imports_of

ROOT = Path(__file__).parents[3]
FOLDER = ROOT / "gpu_course" / "notebook"


def test_rooms_of_the_notebook_import_each_other_one_way() -> None:
    assert {path.parent.name for path in FOLDER.glob("*/*.py")} == set(NOTEBOOK_MAY_IMPORT)
    found = []
    for path in FOLDER.rglob("*.py"):
        place = path.relative_to(FOLDER)
        if place.name == "__init__.py":
            continue
        room = place.parts[0] if len(place.parts) > 1 else None
        allowed = {room, *NOTEBOOK_MAY_IMPORT.get(room or "", ())}
        for line, name in imports_of(ast.parse(path.read_text(encoding="utf-8"))):
            target = name.removeprefix("gpu_course.notebook.").partition(".")[0]
            if name.startswith("gpu_course.notebook.") and target in set(NOTEBOOK_MAY_IMPORT):
                found += [f"{place}:{line} imports {name}"] if target not in allowed else []
    assert found == []


def test_lessons_import_only_what_is_there() -> None:
    """A learner's notebook keeps these lines, whatever moves beneath them."""
    asked = {
        (node.module, alias.name)
        for text in map(read, lesson_sources(ROOT).values())
        for line in text.splitlines()
        if line.startswith("from gpu_course.notebook") and not line.endswith("(")
        for node in ast.parse(line).body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    assert {("gpu_course.notebook", "predict"), ("gpu_course.notebook.note", "show")} <= asked
    for module, name in asked:
        assert hasattr(importlib.import_module(module), name), f"{module}.{name}"
