"""The teacher's edition: run again from top to bottom, every stored output compared."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import nbformat
import pytest
from nbformat import NotebookNode

from gpu_course.authoring.checkout import teacher_notebook
from gpu_course.authoring.notebooks import PUZZLE_CELL
from gpu_course.catalog import index
from gpu_course.grading.workspace import has_notebook
from tests.course.nbval_run import IGNORED, cells_to_compare, code_cells, run_nbval, tags

LESSONS = pytest.mark.parametrize(
    "lesson", [lesson.name for lesson in index.lessons() if has_notebook(lesson)]
)

# The calls whose output may be another one each time: what a hand moves, what tells about this
# machine, and what depends on how far a learner is.
CHANGING = {"predict", "explore", "play", "play_touches", "live"}
CHANGING |= {"step_through", "replay"}
CHANGING |= {"examine", "bench"}
CHANGING |= {"hint", "progress"}
MACHINE = re.compile(
    r"(?<![\w.])(/tmp/|/home/|/root/|/Users/|/var/folders/|/usr/|/opt/|[A-Z]:\\\\)|site-packages"
)


@pytest.fixture
def solved(root: Path, lesson: str) -> NotebookNode:
    """The stored notebook of one lesson."""
    return nbformat.read(teacher_notebook(root, lesson), as_version=4)


@pytest.fixture(scope="session")
def verdicts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the runs share what `progress()` keeps; a `%%puzzle` cell checks its answer always."""
    return tmp_path_factory.mktemp("verdicts")


@LESSONS
def test_stored_outputs_are_those_of_a_fresh_run(
    lesson: str, solved: NotebookNode, solutions: dict[str, str], verdicts: Path, fonts: None
) -> None:
    cells = run_nbval(solved, solutions, verdicts)
    assert set(cells.outcomes.values()) == {"passed"}, cells.text
    assert cells.passed == list(range(len(code_cells(solved))))
    # nbval passes a cell it has nothing to compare with; these are the ones it did compare.
    assert cells.with_compared_text == cells_to_compare(solved)
    assert len(cells.with_compared_text) > 0


@LESSONS
def test_every_code_cell_was_run_in_order(lesson: str, solved: NotebookNode) -> None:
    counts = [cell.execution_count for cell in code_cells(solved)]
    assert counts == list(range(1, len(counts) + 1))


@LESSONS
def test_only_cells_that_may_change_are_left_out(lesson: str, solved: NotebookNode) -> None:
    for cell in code_cells(solved):
        if tags(cell) & IGNORED:
            assert _calls(cell.source) & CHANGING, cell.source
        assert "NBVAL_" not in cell.source, "say it by a tag, where it is seen"


@LESSONS
def test_stored_text_holds_nothing_of_the_machine(lesson: str, solved: NotebookNode) -> None:
    for cell in code_cells(solved):
        for text in _texts(cell):
            assert MACHINE.search(text) is None, text


@LESSONS
def test_every_puzzle_of_the_lesson_is_seen_to_pass(lesson: str, solved: NotebookNode) -> None:
    wanted = {puzzle.short_name for puzzle in index.lesson(lesson).puzzles}
    passed = set()
    for cell in code_cells(solved):
        match = PUZZLE_CELL.match(cell.source)
        if match and any("passed" in text for text in _texts(cell)):
            passed.add(match[1])
    assert passed == wanted


def _calls(source: str) -> set[str]:
    """Returns the names of what a cell calls; a magic line calls nothing."""
    try:
        tree = ast.parse(source)
    except SyntaxError:
        return set()
    calls = [node.func for node in ast.walk(tree) if isinstance(node, ast.Call)]
    names = {call.id for call in calls if isinstance(call, ast.Name)}
    return names | {call.attr for call in calls if isinstance(call, ast.Attribute)}


def _texts(cell: NotebookNode) -> list[str]:
    texts = []
    for output in cell.outputs:
        if output.output_type == "stream":
            texts.append(output.text)
        for kind, data in output.get("data", {}).items():
            if kind.startswith("text/"):
                texts.append(re.sub(r"base64,[A-Za-z0-9+/=\s]+", "base64,", data))
    return texts
