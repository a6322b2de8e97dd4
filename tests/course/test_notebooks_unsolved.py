"""The learner's edition: built from its source, it runs clean before anything is answered.

`test_notebooks_solved.py` runs, for every lesson, what differs from the teacher's edition. Here the
whole of it runs in a kernel of its own: part of the lessons in `make test`, all in `make test-all`.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_notebook, new_output

import gpu_course.notebook as calls
from authoring.checkout import lesson_sources, read
from authoring.execution import answers_copy, execute
from authoring.notebooks import PUZZLE_CELL, build_notebook
from gpu_course.grading.workspace import has_notebook
from gpu_course.notebook.marks import shown_at_once
from gpu_course.puzzle import index
from tests.course.nbval_run import code_cells
from tests.sampling import share

pytestmark = pytest.mark.long(19)

NAMES = [lesson.name for lesson in index.lessons() if has_notebook(lesson)]
LESSONS = pytest.mark.parametrize("lesson", NAMES)

MARK = shown_at_once.__name__
MAX_S = 3600
"""A lesson runs in half a minute, and on a busy machine in many."""


def test_every_source_is_that_of_a_lesson_of_the_catalogue(root: Path) -> None:
    named = [lesson.name for lesson in index.lessons() if has_notebook(lesson)]
    assert list(lesson_sources(root)) == named
    assert named[:2] == ["00_start_here", "01_threads"]


@LESSONS
def test_a_lesson_brings_its_puzzles_in_order(
    lesson: str, root: Path, stubs: dict[str, str]
) -> None:
    notebook = build_notebook(lesson, read(lesson_sources(root)[lesson]), stubs)
    found = [PUZZLE_CELL.match(cell.source) for cell in code_cells(notebook)]
    names = [match[1] for match in found if match]
    assert names == [puzzle.short_name for puzzle in index.lesson(lesson).puzzles]


@pytest.mark.timeout(MAX_S)
@pytest.mark.series(share(2, of=len(NAMES)))
@LESSONS
def test_a_lesson_runs_from_top_to_bottom(
    lesson: str, root: Path, stubs: dict[str, str], fonts: None
) -> None:
    notebook = build_notebook(lesson, read(lesson_sources(root)[lesson]), stubs)
    with answers_copy(stubs) as answers:
        done = execute(notebook, answers, lesson=lesson, deadline_s=MAX_S)
        after = {name: read(answers / f"{name}.py") for name in stubs}
    assert all(cell.execution_count for cell in code_cells(done))
    # A shipped cell holds the stub: it writes nothing.
    assert after == stubs
    assert shown_below_what_waits(done) == {}


def shown_below_what_waits(done: NotebookNode) -> dict[str, str]:
    """{cell: what it shows}, of cells between an answer that waits and the next question.

    Left out are cells that say they wait, and those that give nothing away.
    """
    found, waits = {}, False
    for cell in code_cells(done):
        texts = [
            output.get("data", {}).get("text/plain", "") or output.get("text", "")
            for output in cell.outputs
            if output.get("name") != "stderr"
        ]
        if re.search(r"\b(predict|forecast)\(", cell.source):
            waits = False
        elif re.search(r"\.compare\(", cell.source):
            waits = any("answer waits for your" in text for text in texts)
        elif waits and not shown_for_all_that(cell.source):
            told = [text for text in texts if text and not text.startswith("Waits for your")]
            found |= {cell.source: "\n".join(told)} if told else {}
    return found


def shown_for_all_that(source: str) -> bool:
    """Whether a cell of a lesson gives no answer away: a puzzle, or functions with the mark."""
    marked = {name for name in calls.__all__ if hasattr(getattr(calls, name), MARK)}
    called = re.sub(r"^from gpu_course\.notebook import .*\s*", "", source)
    return bool(PUZZLE_CELL.match(source) or re.fullmatch(rf"(?:{'|'.join(marked)})\(.*\)", called))


def test_what_is_shown_below_an_answer_that_waits_is_found() -> None:
    def ran(source: str, shown: str) -> NotebookNode:
        return new_code_cell(source, outputs=[new_output("stream", text=shown)])

    waiting = ran("guess.compare(8)", "The answer waits for your guess.")
    held, leak = ran("print(n)", "Waits for your guess above"), ran("print(8)", "8")
    cards, asks = ran('glossary("warp")', "warp"), ran("guess = predict('?')", "?")
    found = shown_below_what_waits(
        new_notebook(cells=[waiting, held, cards, leak, asks, ran("print(9)", "9")])
    )
    assert found == {"print(8)": "8"}


def test_a_lesson_links_every_neighbour_that_has_a_notebook(root: Path) -> None:
    sources = lesson_sources(root)
    for source in sources.values():
        lines = [
            line
            for line in read(source).splitlines()
            if "Previous / next" in line or line.startswith("**Next:**")
        ]
        assert lines or source.stem == "00_start_here", source
        for lesson in sources:
            number = lesson.partition("_")[0]
            for line in lines:
                named = re.search(rf"\b{number} [A-Z]", line)
                assert not named or f"]({lesson}.ipynb)" in line, f"{source.name}: {line}"


@LESSONS
def test_a_code_cell_is_short(lesson: str, root: Path, stubs: dict[str, str]) -> None:
    notebook = build_notebook(lesson, read(lesson_sources(root)[lesson]), stubs)
    for cell in code_cells(notebook):
        if not PUZZLE_CELL.match(cell.source):
            assert len(cell.source.splitlines()) <= 20, cell.source


CELL_COLUMNS = 72


@LESSONS
def test_half_a_window_shows_a_line_of_code_whole(
    lesson: str, root: Path, stubs: dict[str, str]
) -> None:
    notebook = build_notebook(lesson, read(lesson_sources(root)[lesson]), stubs)
    lines = [line for cell in code_cells(notebook) for line in cell.source.splitlines()]
    assert not [line for line in lines if len(line) > CELL_COLUMNS]


@pytest.mark.parametrize("lesson", ["00_start_here", "02_warps", "04_shared_memory"])
def test_the_first_puzzle_of_these_takes_minutes(lesson: str) -> None:
    first = next(each for each in index.lessons() if each.name == lesson).puzzles[0]
    assert first.difficulty == "easy" and first.minutes <= 7


def test_the_first_puzzle_of_all_comes_within_five_minutes(
    root: Path, stubs: dict[str, str]
) -> None:
    lesson = "00_start_here"
    cells = build_notebook(lesson, read(lesson_sources(root)[lesson]), stubs).cells
    first = next(n for n, cell in enumerate(cells) if cell.source.startswith("%%puzzle"))
    code = [cell.source for cell in cells[: first + 1] if cell.cell_type == "code"]
    assert len(code) < 5
    # One line of imports, a kernel, its picture.
    assert len(code[0].splitlines()) == 1 and "import" in code[0]
    assert not any("import" in text for text in code[1:-1])
    assert "show_touches(" in "".join(code)


def test_a_lesson_links_only_to_what_is_there(root: Path) -> None:
    sources = lesson_sources(root)
    for source in sources.values():
        prose = re.sub(r"```.*?```|`[^`]*`", "", read(source), flags=re.DOTALL)
        for target in re.findall(r"\]\(([^)\s]+)\)", prose):
            if "://" in target or target.startswith("#"):
                continue
            path, _, _ = target.partition("#")
            is_lesson = path.removesuffix(".ipynb") in sources
            assert is_lesson or (root / "notebooks" / path).exists(), f"{source.name}: {target}"


def test_no_lesson_speaks_of_the_tools_that_test_the_course(root: Path) -> None:
    tools = re.compile(r"\b(pytest|nbval|hypothesis|mypy|ruff|playwright|make test)\b")
    for source in lesson_sources(root).values():
        text = re.sub(r"^:tags:.*$", "", read(source), flags=re.MULTILINE)
        assert not tools.search(text), source.name
