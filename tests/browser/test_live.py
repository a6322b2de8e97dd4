"""The lesson beside its puzzle, and the live panel, as `gpu-course lab` opens them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from gpu_course.authoring.checkout import read, write
from gpu_course.catalog import index
from tests.browser.lab import Server, copy_checkout, environment, free_port, serve

pytestmark = pytest.mark.browser

ROOT = Path(__file__).parents[2]
FILE = "puzzles/00_start_here/add_ten.py"
HOLE = "    # your code here (about 1 line)\n"
OFF_BY_ONE = "    out[i + 1] = a[i] + 10\n"
ENDLESS = "    while i >= 0:\n        i = i + 0\n"
SIDE_BY_SIDE = [lesson.name for lesson in index.lessons() if lesson.name[:2] in ("01", "04")]


@pytest.fixture
def own_checkout(tmp_path: Path) -> Path:
    """A checkout whose puzzle files no other test writes."""
    return copy_checkout(ROOT, tmp_path / "checkout")


@pytest.fixture
def first_lesson(chromium: str, own_checkout: Path, tmp_path: Path) -> Iterator[Server]:
    """What `gpu-course lab` serves."""
    with lab(own_checkout, tmp_path / "home") as server:
        yield server


def lab(checkout: Path, home: Path, *arguments: str) -> Any:
    command = ["-m", "gpu_course", "lab", *arguments, "--no-browser", "--port", str(free_port())]
    return serve(command, checkout, environment(checkout, home))


@pytest.mark.parametrize("lesson", SIDE_BY_SIDE)
def test_a_lesson_opens_beside_its_first_puzzle(
    lesson: str, checkout: Path, page: Any, tmp_path: Path, screenshots: Path
) -> None:
    from playwright.sync_api import expect

    from tests.browser.notebook_page import NotebookPage

    puzzle = index.lesson(lesson).puzzles[0]
    with lab(checkout, tmp_path, lesson[:2]) as server:
        notebook = NotebookPage(page, server, server.path)
        editor = page.locator(".jp-FileEditor")
        expect(editor).to_contain_text(f"def {puzzle.functions[0]}(")
        left, right = notebook.place(".jp-NotebookPanel"), notebook.place(".jp-FileEditor")
        page.screenshot(path=screenshots / f"side_by_side_{lesson}.png")
        assert left["x"] + left["width"] <= right["x"]
        assert abs((left["y"] + left["height"]) - (right["y"] + right["height"])) < 5
        assert left["width"] > 500 and right["width"] > 400

        # Windows that were moved stay so: without the editor, the notebook comes back alone.
        tab = page.locator(".lm-TabBar-tab", has_text=f"{puzzle.short_name}.py")
        with page.expect_response(lambda answer: _keeps_no_editor(answer.request)):
            tab.locator(".lm-TabBar-tabCloseIcon").click()
        expect(editor).to_have_count(0)
        NotebookPage(page, server, server.path)
        expect(editor).to_have_count(0)


def _keeps_no_editor(request: Any) -> bool:
    """True when the browser has the server keep windows without an editor."""
    kept = request.method == "PUT" and "/api/workspaces/" in request.url
    return kept and '"editor:' not in (request.post_data or "")


def test_a_file_that_a_cell_wrote_is_loaded_anew_as_the_note_says(
    first_lesson: Server, own_checkout: Path, page: Any, screenshots: Path
) -> None:
    from playwright.sync_api import expect

    from tests.browser.notebook_page import NotebookPage

    file = own_checkout / FILE
    text = read(file).replace(HOLE, OFF_BY_ONE)
    notebook = NotebookPage(page, first_lesson, first_lesson.path)
    notebook.run(notebook.code_cells.first)
    cell = notebook.cell("%%puzzle add_ten")
    notebook.write(cell, f"%%puzzle add_ten\n{text}".removesuffix("\n"))
    notebook.run(cell)
    assert read(file) == text
    editor = page.locator(".jp-FileEditor .cm-content")
    expect(editor).not_to_contain_text(OFF_BY_ONE.strip())
    expect(notebook.output(cell)).to_contain_text("still shows the text from before")
    page.screenshot(path=screenshots / "editor_behind.png")
    editor.click()
    page.get_by_role("menuitem", name="File", exact=True).click()
    page.get_by_text("Reload Python File from Disk", exact=True).click()
    expect(editor).to_contain_text(OFF_BY_ONE.strip())


def test_live_follows_what_is_saved(
    first_lesson: Server, own_checkout: Path, page: Any, screenshots: Path
) -> None:
    from playwright.sync_api import expect

    from tests.browser.notebook_page import NotebookPage

    file = own_checkout / FILE
    stub = read(file)
    assert HOLE in stub
    notebook = NotebookPage(page, first_lesson, first_lesson.path)
    notebook.run(notebook.code_cells.first)
    cell = notebook.cell('live("add_ten")')
    notebook.run(cell)
    output = notebook.output(cell)
    expect(output).to_contain_text(f"following {FILE}")
    expect(output).to_contain_text("not started")

    # Typed in JupyterLab's editor, saved by the key.
    notebook.type_file(stub.replace(HOLE, OFF_BY_ONE))
    expect(output).to_contain_text("outside an array of shape")
    expect(output.locator("img")).to_have_count(1)
    output.scroll_into_view_if_needed()
    page.screenshot(path=screenshots / "live_wrong.png")
    assert OFF_BY_ONE in read(file)
    notebook.type_file("def (")
    expect(output).to_contain_text("Python cannot read this file")
    page.screenshot(path=screenshots / "live_syntax_error.png")

    # Written from outside, as any other editor does.
    write(file, stub.replace(HOLE, ENDLESS))
    expect(output).to_contain_text("EndlessLoopError: the kernel had not ended")
    page.screenshot(path=screenshots / "live_endless.png")
    right = read(ROOT / "solutions" / "00_start_here" / "add_ten.py")
    write(file, right)
    expect(output).to_contain_text("right in all")
    expect(output).to_contain_text('diff("add_ten") shows the solution and discusses it')
    page.screenshot(path=screenshots / "live_right.png")

    # Run again, the cell has one panel, and it follows the file.
    notebook.run(cell)
    expect(output.locator(".gpu-course-live")).to_have_count(1)
    write(file, stub)
    expect(output).to_contain_text("is still the stub")
    assert notebook.errors() == []
    workspaces = list((own_checkout / ".gpu_course" / "workspaces").iterdir())
    assert len(workspaces) == 1 and json.loads(workspaces[0].read_text(encoding="utf-8"))
