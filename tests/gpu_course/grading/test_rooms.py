"""The files and rooms of `gpu_course/grading` stand on each other: imports point down."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from authoring.rooms import GRADING_FLOORS
from tests.test_layers import imports_of

FOLDER = Path(__file__).parents[3] / "gpu_course" / "grading"
HOME = "gpu_course.grading."


def upward(folder: Path) -> Iterator[str]:
    """Yields each import that points up, as "file:line imports name"."""
    for path in sorted(folder.rglob("*.py")):
        place = path.relative_to(folder)
        floor = GRADING_FLOORS.index(place.parts[0].removesuffix(".py"))
        for line, name in imports_of(ast.parse(path.read_text(encoding="utf-8"))):
            target = name.removeprefix(HOME).partition(".")[0]
            if name.startswith(HOME) and GRADING_FLOORS.index(target) > floor:
                yield f"{place}:{line} imports {name}"


def test_what_stands_in_the_folder_has_a_floor() -> None:
    here = {path.relative_to(FOLDER).parts[0].removesuffix(".py") for path in FOLDER.rglob("*.py")}
    assert here == set(GRADING_FLOORS)


def test_imports_point_down() -> None:
    assert list(upward(FOLDER)) == []


def test_a_planted_import_that_points_up_is_found(tmp_path: Path) -> None:
    kernel = tmp_path / "kernel"
    kernel.mkdir()
    inside = "def go():\n    from gpu_course.grading.learner.hints import next_hint\n"
    (kernel / "trial.py").write_text(f"from gpu_course.grading.python import check\n{inside}")
    assert list(upward(tmp_path)) == [
        "kernel/trial.py:3 imports gpu_course.grading.learner.hints.next_hint"
    ]
