"""What stored outputs say: each alt text can be read out, and no lesson names a later one.

No stored output depends on how many lessons there are: one more changes its neighbour's at most.
What shows something of every lesson is marked (`gpu_course.notebook.marks`), and its cells are not
stored. The last verdict of a lesson names the first puzzle of the next, as the lesson's prose does.
"""

from __future__ import annotations

import ast
import html
import re
from pathlib import Path
from typing import Any

import nbformat
import pytest

from authoring.execution import NOT_STORED
from gpu_course import check, notebook
from gpu_course.grading.verdicts import onward
from gpu_course.notebook import glossary, progress
from gpu_course.notebook.marks import tells_of_all_lessons
from gpu_course.puzzle import index
from tests.course.sources import SOURCES, Cell, cells_of
from tests.gpu_course.draw.spoken import stumbles

MARK = tells_of_all_lessons.__name__
SOLVED = sorted((Path(__file__).parents[2] / "solutions" / "notebooks").glob("*.ipynb"))
MARKED = {name for name in notebook.__all__ if hasattr(getattr(notebook, name), MARK)}


def tells_of_all(cell: Cell) -> bool:
    """True for a cell that calls a marked function without an argument."""
    if cell.kind != "code" or cell.text.startswith("%%"):
        return False
    return any(
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id in MARKED
        and not node.args
        for node in ast.walk(ast.parse(cell.text))
    )


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.stem)
def test_what_tells_of_every_lesson_is_not_stored(path: Path) -> None:
    telling = [cell for cell in cells_of(path) if tells_of_all(cell)]
    assert [cell.text for cell in telling if NOT_STORED not in cell.tags] == []


def test_such_a_cell_is_found() -> None:
    assert {"progress", "glossary"} == MARKED
    assert tells_of_all(Cell("code", "from gpu_course.notebook import progress\n\nprogress()"))
    assert tells_of_all(Cell("code", "glossary()"))
    assert not tells_of_all(Cell("code", 'glossary("warp")'))
    assert not tells_of_all(Cell("code", "%%puzzle guard\nprogress()"))
    assert not tells_of_all(Cell("markdown", "progress()"))


def lessons_named(text: str) -> set[str]:
    """The lessons of the course whose full names are told in a text, links aside."""
    told = re.sub(r'href="[^"]*"', "", text)
    return set(re.findall(r"\d\d_[a-z_]+", told)) & {lesson.name for lesson in index.lessons()}


def outputs_of(cell: Any) -> str:
    """What stands below a cell, as text and as HTML."""
    texts = []
    for output in cell.get("outputs", ()):
        data = output.get("data", {})
        texts += [output.get("text", ""), data.get("text/plain", ""), data.get("text/html", "")]
    return " ".join(map(str, texts))


@pytest.mark.parametrize("path", SOLVED, ids=lambda path: path.stem)
def test_no_stored_output_names_a_lesson_behind_the_next(path: Path) -> None:
    names = [lesson.name for lesson in index.lessons()]
    near = set(names[: names.index(path.stem) + 2])
    cells = nbformat.read(path, as_version=4).cells
    far = {cell.source: lessons_named(outputs_of(cell)) - near for cell in cells}
    assert {source: named for source, named in far.items() if named} == {}


@pytest.mark.parametrize("path", SOLVED, ids=lambda path: path.stem)
def test_every_stored_alt_text_can_be_read_out(path: Path) -> None:
    cells = nbformat.read(path, as_version=4).cells
    told = [
        html.unescape(told)
        for cell in cells
        for told in re.findall(r'<img\b[^>]*?\balt="([^"]+)"', outputs_of(cell))
    ]
    assert told, "a lesson without a picture"
    assert {each: wrong for each in told if (wrong := stumbles(each))} == {}


def shown() -> dict[str, str]:
    """What functions of the notebook say that lesson 02 calls, as text and as HTML."""
    solution = str(Path(__file__).parents[2] / "solutions" / "02_warps" / "warp_sum.py")
    said = {
        "verdict": check("warp_sum", answer=solution, seed=0),
        "words": glossary("warp", "mask"),
        "after a pass": onward.next_puzzles("02_warps/warp_sum"),
    }
    return {
        name: f"{each!r} {each._repr_html_() if hasattr(each, '_repr_html_') else ''}"
        for name, each in said.items()
    }


@pytest.mark.parametrize("left_out", ["06_matmul", "25_context_parallel"])
@pytest.mark.usefixtures("answers")
def test_a_lesson_less_changes_no_word_of_another(
    left_out: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    before, whole = shown(), repr(progress())
    fewer = tuple(lesson for lesson in index.lessons() if lesson.name != left_out)
    monkeypatch.setattr(index, "lessons", lambda: fewer)
    assert shown() == before
    assert left_out in whole and left_out not in repr(progress())
