"""A learner's first hour in a real browser: a wrong answer, its message, a right one, progress."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from authoring.checkout import read
from gpu_course.grading.workspace import has_notebook
from gpu_course.puzzle import index
from tests.browser.lab import Server
from tests.sampling import share

pytestmark = [pytest.mark.long(37), pytest.mark.browser]

FIRST = "00_start_here"
GUARD = "puzzles/01_threads/guard.py"
HOLE = "    # your code here (about 2 lines)\n"
NO_GUARD = "    out[i] = a[i] + 10\n"
RIGHT = "    if i < size:\n        out[i] = a[i] + 10\n"


# What a processor, a browser and a fresh kernel make of a lesson is seen nowhere else, so every
# lesson has its turn; the first one is a learner's first sight of the course.
NAMES = [lesson.name for lesson in index.lessons() if has_notebook(lesson)]
SOME = pytest.mark.series(share(2, of=len(NAMES)))
LESSONS = [pytest.param(name, marks=[] if name == FIRST else [SOME]) for name in NAMES]


@pytest.mark.timeout(3600)
@pytest.mark.parametrize("lesson", LESSONS)
def test_a_lesson_runs_clean_in_the_browser(
    lesson: str, server: Server, page: Any, screenshots: Path
) -> None:
    from tests.browser.notebook_page import NotebookPage

    notebook = NotebookPage(page, server, f"notebooks/{lesson}.ipynb")
    notebook.run_all()
    assert notebook.pictures(screenshots, lesson)
    assert notebook.errors() == []


def test_a_puzzle_answered_wrongly_then_rightly_then_progress(
    server: Server, page: Any, checkout: Path, screenshots: Path
) -> None:
    from playwright.sync_api import expect

    from tests.browser.notebook_page import NotebookPage

    stub = read(checkout / GUARD)
    assert HOLE in stub
    notebook = NotebookPage(page, server, "notebooks/01_threads.ipynb")
    notebook.run(notebook.code_cells.first)
    puzzle = notebook.cell("%%puzzle guard")

    wrong = stub.replace(HOLE, NO_GUARD)
    notebook.write(puzzle, f"%%puzzle guard\n{wrong}".removesuffix("\n"))
    notebook.run(puzzle)
    output = notebook.output(puzzle)
    expect(output).to_contain_text("a[8] is outside an array of shape (8,)")
    expect(output).to_contain_text("let only threads with i < size touch memory")
    expect(output).not_to_contain_text("passed")
    notebook.picture(screenshots / "guard_wrong.png", puzzle)
    assert read(checkout / GUARD) == wrong

    right = stub.replace(HOLE, RIGHT)
    notebook.write(puzzle, f"%%puzzle guard\n{right}".removesuffix("\n"))
    notebook.run(puzzle)
    expect(output).to_contain_text("passed")
    heading = page.get_by_role("heading", name="Puzzle: map_2d")
    expect(heading).not_to_be_in_viewport()
    output.get_by_role("link", name="Next puzzle: map_2d").click()
    expect(heading).to_be_in_viewport()
    above = page.locator(".jp-RenderedMarkdown", has=heading)
    expect(above.get_by_text("Easy, about 7 minutes.")).to_be_visible()
    expect(output).not_to_contain_text("outside an array")
    notebook.picture(screenshots / "guard_right.png", puzzle)
    assert read(checkout / GUARD) == right

    progress = notebook.cell("progress()")
    notebook.run(progress)
    expect(notebook.output(progress)).to_contain_text(f"1 of {len(index.puzzles())} puzzles")
    notebook.picture(screenshots / "progress.png", progress)
    assert notebook.errors() == []
