"""Predictions in JupyterLab: the answer waits, comes at a click, and stays in the notebook."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from authoring.checkout import read
from gpu_course.app.lab import arrange
from tests.browser.lab import Server
from tests.browser.notebooks import write_notebook

pytestmark = [pytest.mark.long(80), pytest.mark.browser]

ROOT = Path(__file__).parents[2]
CELLS = (
    "from gpu_course.notebook import forecast, predict",
    "guess = predict('How many?', choices=[2, 4, 8])",
    "print('printed', 31400 + 15)\nguess.compare(31400 + 15)\n31400 + 15",
    "bytes_moved = predict('How many bytes?')",
    "bytes_moved.compare(31400 + 15)",
    "reading = predict('And for readers?', choices=[1, 2])",
    "reading.compare(31400 + 15)",
)


def test_an_answer_waits_for_a_click_and_is_stored_with_it(
    first_lesson: Server, own_checkout: Path, page: Any, screenshots: Path
) -> None:
    from playwright.sync_api import expect

    from tests.browser.notebook_page import NotebookPage

    page.set_viewport_size({"width": 700, "height": 900})
    path = own_checkout / "notebooks" / "guessing.ipynb"
    name = write_notebook(path, *CELLS)
    arrange(f"notebooks/{name}", own_checkout)
    address = f"/lab/workspaces/guessing/tree/notebooks/{name}"
    notebook = NotebookPage(page, first_lesson, address)
    notebook.run_all()
    notes = page.locator(".jp-OutputArea")
    expect(notes.get_by_text("The answer waits for your guess.")).to_have_count(3)
    for secret in ("31415", "31,415"):
        assert secret not in notes.all_inner_texts().__repr__()
    page.screenshot(path=screenshots / "waiting.png")

    def saved() -> str:
        page.keyboard.press("Escape")
        page.keyboard.press("ControlOrMeta+s")
        page.wait_for_function("() => !document.querySelector('.jp-mod-dirty')")
        stored = json.loads(read(path))
        for cell in stored["cells"]:
            cell["source"] = ""
        return json.dumps(stored)

    assert "31415" not in saved() and "31,415" not in saved()

    # In the field that stands where the answer waits.
    held = notebook.output(notebook.cell("print('printed', 31400 + 15)"))
    held.get_by_role("radio").nth(1).click()
    expect(held).to_contain_text("You said 4. It is 31,415.")
    expect(held).to_contain_text("printed 31415")
    # In the field above; Enter gives the number, and its first digit is no answer.
    typed = notebook.output(notebook.cell("bytes_moved.compare(31400 + 15)"))
    field = notebook.output(notebook.cell("bytes_moved = predict('How many bytes?')"))
    field.locator("input").click()
    page.keyboard.type("31,415")
    expect(typed).to_contain_text("The answer waits")
    page.keyboard.press("Enter")
    expect(typed).to_contain_text("You said 31,415, and that is right.")
    # Of somebody who only reads.
    read_only = notebook.output(notebook.cell("reading.compare(31400 + 15)"))
    read_only.get_by_role("button", name="I only read: show me").click()
    expect(read_only).to_contain_text("It is 31,415.")
    expect(read_only.get_by_role("button")).to_have_count(0)
    page.screenshot(path=screenshots / "told.png")
    assert saved().count("You said") >= 4

    # Without a kernel the answers stay; asked again, the guess is there, and stands.
    first_lesson.end_kernels()
    page.goto("about:blank")
    notebook = NotebookPage(page, first_lesson, address)
    expect(held).to_contain_text("You said 4. It is 31,415.")
    expect(held).to_contain_text("printed 31415")
    notebook.run_all()
    asked = notebook.output(notebook.cell("guess = predict('How many?', choices=[2, 4, 8])"))
    expect(asked.get_by_role("radio").nth(1)).to_be_checked()
    expect(asked.get_by_role("radio").nth(1)).to_be_disabled()
    expect(held).to_contain_text("You said 4. It is 31,415.")
    assert notebook.errors() == []


TELLS = "report = simulate(load_strided)[1, 32](out, a, 2, 0)"
DRAGS = "def sectors_of_a_load(stride=2, offset=0):"
COUNTS = "for stride in (0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 16, 32):"


def test_run_all_shows_no_answer_before_its_guess(
    first_lesson: Server, own_checkout: Path, page: Any, screenshots: Path
) -> None:
    from playwright.sync_api import expect

    from tests.browser.notebook_page import NotebookPage

    page.set_viewport_size({"width": 700, "height": 900})
    arrange("notebooks/03_coalescing.ipynb", own_checkout)
    address = "/lab/workspaces/run-all/tree/notebooks/03_coalescing.ipynb"
    notebook = NotebookPage(page, first_lesson, address)
    notebook.run_all()
    assert notebook.errors() == []
    question = "“Sectors of a load with stride 2”"
    tells = notebook.output(notebook.cell(TELLS))
    expect(tells).to_contain_text("The answer waits for your guess.")
    drags = notebook.output(notebook.cell(DRAGS))
    counts = notebook.output(notebook.cell(COUNTS))
    for below in (drags, counts):
        expect(below).to_contain_text(f"Waits for your guess above: {question}")
        expect(below).not_to_contain_text("sectors")
    expect(drags.get_by_role("slider")).to_have_count(0)
    outputs = page.locator(".jp-OutputArea")
    for secret in ("8 sectors", "It is ", "You said"):
        assert secret not in outputs.all_inner_texts().__repr__()
    # What gives nothing away is there: words, and a panel that follows the answer to a puzzle.
    cards = notebook.cell('glossary("request", "sector", "excess sectors", "alignment")')
    expect(notebook.output(cards)).to_contain_text("beyond the fewest")
    expect(notebook.output(notebook.cell('live("sectors")'))).to_contain_text("following")
    page.keyboard.press("ControlOrMeta+b")
    notebook.picture(screenshots / "run_all_answer.png", notebook.cell(TELLS))
    notebook.picture(screenshots / "run_all_below.png", notebook.cell(COUNTS))

    # Something tried in a cell of one's own waits for nothing.
    notebook.cell(COUNTS).locator(".jp-InputPrompt").click()
    page.keyboard.press("b")
    page.keyboard.press("Enter")
    page.keyboard.insert_text("print(2 ** 20)")
    page.keyboard.press("Shift+Enter")
    expect(notebook.output(notebook.cell("print(2 ** 20)"))).to_contain_text("1048576")

    tells.get_by_role("radio").nth(2).click()
    expect(tells).to_contain_text("You said 8, and that is right.")
    expect(counts).to_contain_text("stride  2:  8 sectors")
    picture = drags.get_by_role("img").first
    expect(picture).to_be_visible()
    before = picture.get_attribute("alt")
    drags.get_by_role("slider").first.press("ArrowRight")
    expect(picture).not_to_have_attribute("alt", str(before))
    notebook.picture(
        screenshots / "run_all_told.png",
        notebook.cell(DRAGS),
    )

    # The next questions wait as before, until somebody only wants to read.
    rows = notebook.output(notebook.cell('show_sectors(rows, "a")'))
    expect(rows).to_contain_text("Waits for your guess above: “Which kernel wastes sectors?”")
    late = notebook.output(notebook.cell("report = simulate(load_strided)[1, 32](out, a, 1, 1)"))
    late.get_by_role("button", name="Show all answers from here on").click()
    expect(late).to_contain_text("It is 5.")
    expect(rows.get_by_role("img").first).to_be_visible()
    assert "Waits for your" not in outputs.all_inner_texts().__repr__()
    assert notebook.errors() == []


def test_the_next_puzzle_is_one_click_away_in_another_lesson_too(
    first_lesson: Server, own_checkout: Path, page: Any, screenshots: Path
) -> None:
    from playwright.sync_api import expect

    from tests.browser.notebook_page import NotebookPage

    page.set_viewport_size({"width": 700, "height": 900})
    notebook = NotebookPage(page, first_lesson, first_lesson.path)
    cell = notebook.cell("%%puzzle add_ten")
    solution = read(ROOT / "solutions" / "00_start_here" / "add_ten.py")
    notebook.run(notebook.code_cells.first)
    notebook.write(cell, f"%%puzzle add_ten\n{solution}".removesuffix("\n"))
    notebook.run(cell)
    notebook.output(cell).get_by_role("link", name="Next puzzle: zip_add").click()
    heading = page.get_by_role("heading", name="Puzzle: zip_add")
    expect(heading).to_be_in_viewport()
    expect(page.locator(".lm-TabBar-tab", has_text="01_threads.ipynb")).to_have_count(1)
    assert len(page.context.pages) == 1
    page.screenshot(path=screenshots / "next_puzzle.png")
    # Once more, from the other end: the notebook is open by now, and was scrolled elsewhere.
    page.get_by_role("heading", name="01 Threads, blocks, grids").scroll_into_view_if_needed()
    page.locator(".lm-TabBar-tab", has_text="00_start_here.ipynb").click()
    notebook.output(cell).get_by_role("link", name="Next puzzle: zip_add").click()
    expect(heading).to_be_in_viewport()
