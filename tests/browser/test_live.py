"""One text of an answer in JupyterLab as `gpu-course lab` starts it: cell, editor, file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from authoring.checkout import read, write
from tests.browser.lab import Server

pytestmark = pytest.mark.browser

ROOT = Path(__file__).parents[2]
FILE = "puzzles/00_start_here/add_ten.py"
HOLE = "    # your code here (about 1 line)\n"
OFF_BY_ONE = "    out[i + 1] = a[i] + 10\n"
ENDLESS = "    while i >= 0:\n        i = i + 0\n"


def test_a_lesson_opens_alone_without_a_question_and_explains_a_name_not_yet_known(
    first_lesson: Server, own_checkout: Path, page: Any, screenshots: Path
) -> None:
    from playwright.sync_api import expect

    from tests.browser.notebook_page import NotebookPage

    page.set_viewport_size({"width": 700, "height": 1000})
    notebook = NotebookPage(page, first_lesson, first_lesson.path)
    kernel = notebook.code_cells.nth(1)
    notebook.run(kernel)
    expect(notebook.output(kernel)).to_have_text(
        "cuda is not known yet: run the first code cell of this notebook, which holds the imports, "
        "and then this cell again."
    )
    puzzle = notebook.cell("%%puzzle add_ten")
    notebook.run(puzzle)
    expect(notebook.output(puzzle)).to_contain_text("not started")
    assert page.locator(".jp-FileEditor").count() == 0
    # By now JupyterLab would have asked whether it may fetch news.
    assert page.locator(".jp-toast, .Toastify__toast, .jp-Dialog").count() == 0
    page.screenshot(path=screenshots / "first_screen.png")


def test_cell_editor_and_file_hold_one_text(
    first_lesson: Server, own_checkout: Path, page: Any, screenshots: Path
) -> None:
    from playwright.sync_api import expect

    from tests.browser.notebook_page import NotebookPage

    file = own_checkout / FILE
    stub = read(file)
    notebook = NotebookPage(page, first_lesson, first_lesson.path)
    live = notebook.cell("from gpu_course.notebook import live")
    notebook.run(live)
    page.get_by_role("button", name="Open the file").click()
    editor = page.locator(".jp-FileEditor .cm-content")
    expect(editor).to_contain_text("def add_ten(")
    cell = notebook.cell("%%puzzle add_ten")

    # Typed in the editor: the cell follows, the file is saved, the panel tells the verdict.
    editor.click()
    page.keyboard.press("ControlOrMeta+a")
    page.keyboard.insert_text(stub.replace(HOLE, OFF_BY_ONE))
    expect(cell).to_contain_text(OFF_BY_ONE.strip())
    expect(notebook.output(live)).to_contain_text("outside an array of shape")
    assert read(file) == stub.replace(HOLE, OFF_BY_ONE)

    # Typed in the cell: the editor follows, and running the cell finds nothing to ask.
    notebook.write(cell, f"%%puzzle add_ten\n{stub.replace(HOLE, ENDLESS)}".removesuffix("\n"))
    expect(editor).to_contain_text("i = i + 0")
    notebook.run(cell)
    expect(notebook.output(cell)).to_contain_text("EndlessLoopError")
    assert read(file) == stub.replace(HOLE, ENDLESS)

    # Typed in the editor, then in the cell, then run: each text stood in the cell, and is not
    # offered as one that somebody else wrote.
    expect(notebook.output(live)).to_contain_text("EndlessLoopError")
    editor.click()
    page.keyboard.press("ControlOrMeta+a")
    page.keyboard.insert_text(stub.replace(HOLE, OFF_BY_ONE))
    expect(notebook.output(live)).to_contain_text("outside an array of shape")
    assert read(file) == stub.replace(HOLE, OFF_BY_ONE)
    notebook.write(cell, f"%%puzzle add_ten\n{stub.replace(HOLE, ENDLESS)}".removesuffix("\n"))
    notebook.run(cell)
    expect(notebook.output(cell)).to_contain_text("EndlessLoopError")
    expect(notebook.output(cell)).not_to_contain_text("outside this cell")

    # Written from outside: both follow.
    right = read(ROOT / "solutions" / "00_start_here" / "add_ten.py")
    write(file, f"{right}# outside\n")
    expect(editor).to_contain_text("# outside")
    expect(cell).to_contain_text("# outside")
    expect(notebook.output(live)).to_contain_text("passed")

    # Typing goes on in the editor after that, saved by its key: no dialog asks whose file it is.
    editor.click()
    page.keyboard.press("ControlOrMeta+End")
    page.keyboard.insert_text("# mine\n")
    page.keyboard.press("ControlOrMeta+s")
    expect(cell).to_contain_text("# mine")
    notebook.run(cell)
    expect(notebook.output(cell)).to_contain_text("passed")
    assert "# mine" in read(file)
    assert page.locator(".jp-Dialog").count() == 0
    page.screenshot(path=screenshots / "one_text.png")
    assert notebook.errors() == []


def test_a_cell_that_differs_from_its_file_runs_and_one_click_brings_the_file_s_text_back(
    first_lesson: Server, own_checkout: Path, page: Any, screenshots: Path
) -> None:
    from playwright.sync_api import expect

    from tests.browser.notebook_page import NotebookPage

    file = own_checkout / FILE
    stub = read(file)
    elsewhere = stub.replace(HOLE, "    out[i] = 10 + a[i]  # elsewhere\n")
    write(file, elsewhere)
    notebook = NotebookPage(page, first_lesson, first_lesson.path)
    cell = notebook.cell("%%puzzle add_ten")
    output = notebook.output(cell)

    # The shipped cell offers the answer that the file holds.
    notebook.run(cell)
    page.get_by_role("button", name="Show my answer in this cell").click()
    expect(cell).to_contain_text("# elsewhere")

    write(file, stub.replace(HOLE, "    out[i] = a[i] + 12\n"))
    expect(cell).to_contain_text("+ 12")
    notebook.write(cell, f"%%puzzle add_ten\n{stub.replace(HOLE, OFF_BY_ONE)}".removesuffix("\n"))
    notebook.run(cell)
    expect(output).to_contain_text("outside an array of shape")
    expect(output).to_contain_text("had been changed outside this cell")
    notebook.picture(screenshots / "kept.png", cell)
    page.get_by_role("button", name="Bring it back").click()
    expect(output).to_contain_text("holds the kept text again")
    expect(cell.locator(".cm-content")).to_contain_text("+ 12")
    assert "+ 12" in read(file)
    page.screenshot(path=screenshots / "brought_back.png")


def test_reopened_from_disk_a_lesson_shows_what_it_showed(
    first_lesson: Server, own_checkout: Path, page: Any, screenshots: Path
) -> None:
    from playwright.sync_api import expect

    from tests.browser.notebook_page import NotebookPage

    notebook = NotebookPage(page, first_lesson, first_lesson.path)
    for cell in notebook.code_cells.all()[:3]:
        notebook.run(cell)
    hint = notebook.cell("from gpu_course.notebook import hint")
    notebook.run(hint)
    expect(notebook.output(hint)).not_to_contain_text("You write the work of one")
    page.get_by_role("button", name="Show hint 1 of 3").click()
    expect(notebook.output(hint)).to_contain_text("You write the work of one")
    guess = notebook.cell("from gpu_course.notebook import explore, predict, show_hazards")
    notebook.run(guess)
    notebook.output(guess).locator("input[type=radio]").nth(1).check()
    slider = notebook.cell("from gpu_course.draw import draw_touches")
    notebook.run(slider)
    handle = notebook.output(slider).locator(".noUi-handle").first
    handle.focus()
    for _ in range(2):
        page.keyboard.press("ArrowRight")
    shown = notebook.output(slider).locator("img")
    expect(shown).to_have_attribute("alt", _of_threads(7))
    page.keyboard.press("ControlOrMeta+s")
    page.wait_for_function("() => !document.querySelector('.jp-mod-dirty')")

    path = own_checkout / "notebooks" / "00_start_here.ipynb"
    stored = json.loads(read(path))["cells"]
    (panel,) = [
        output["data"]
        for cell in stored
        if "How many times is" in "".join(cell["source"])
        for output in cell.get("outputs", [])
    ]
    assert "How many times is the last line carried out?" in "".join(panel["text/html"])

    # The kernel ends, and the lesson is opened again: nothing has run in it.
    sessions = json.loads(first_lesson.get("/api/sessions")[1])
    page.evaluate(
        """async ([url, ids]) => { for (const id of ids)
            await fetch(`/api/sessions/${id}?token=${url}`, {method: 'DELETE'}); }""",
        [first_lesson.token, [each["id"] for each in sessions]],
    )
    notebook = NotebookPage(page, first_lesson, first_lesson.path)
    expect(page.locator("img[alt*='double[1, 7]']")).to_have_count(1)
    expect(page.get_by_text("You write the work of one")).to_be_visible()
    expect(page.locator("input[type=radio]").nth(1)).to_be_checked()
    assert page.get_by_text("Error displaying widget").count() == 0
    assert page.evaluate(BROKEN) == []
    notebook.picture(
        screenshots / "reopened.png", notebook.code_cells.filter(has_text="How many times is")
    )


BROKEN = """() => [...document.querySelectorAll('.jupyter-widgets-disconnected')]
    .filter(each => getComputedStyle(each, '::before').content !== 'none')
    .map(each => each.className)"""
"""Where JupyterLab draws the icon of a broken link."""


def _of_threads(number: int) -> Any:
    import re

    return re.compile(rf"double\[1, {number}\]")
