"""A schedule board in a real browser: what a pointer, a drag and the keys do on it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from tests.browser.lab import Server
from tests.browser.notebooks import write_notebook

pytestmark = pytest.mark.browser

CELL = """from gpu_course.measure.pipelines.orders import one_f_one_b
from gpu_course.notebook.interactive.pipeline_board import board

made = board(one_f_one_b(4, 6))
made"""
LINES = "made.lines()[0]"


def test_a_board_is_moved_by_hand_and_by_keys_and_says_at_once_what_comes_of_it(
    server: Server, page: Any, checkout: Path, screenshots: Path
) -> None:
    from playwright.sync_api import expect

    from tests.browser.notebook_page import NotebookPage

    page.set_viewport_size({"width": 1140, "height": 1000})
    name = write_notebook(checkout / "board.ipynb", CELL, LINES)
    notebook = NotebookPage(page, server, name)
    notebook.run_all()
    cell = notebook.code_cells.first
    output = notebook.output(cell)
    told, verdict = output.locator(".board-told"), output.locator(".board-verdict")

    def act(label: str) -> Any:
        return output.locator(f".board-act[aria-label*=': {label},']").first

    # The pointer shows the whole way of a microbatch.
    expect(verdict).to_contain_text("It runs in")
    act("2F1").hover()
    expect(told).to_contain_text("2F1, forward of microbatch 1 through stage 2")
    expect(told).to_contain_text("Microbatch 1: down stages 0 to 3 from 1 to")
    assert output.locator(".board-way[visibility=visible]").count() == 1
    notebook.picture(screenshots / "board_way.png", cell)

    # A drag asks while it is under way, and changes the board when it ends.
    start, end = act("0B0").bounding_box(), act("0F1").bounding_box()
    page.mouse.move(start["x"] + 4, start["y"] + 8)
    page.mouse.down()
    page.mouse.move(end["x"] + 1, end["y"] + 9, steps=6)
    expect(verdict).to_contain_text("which stands at")
    expect(verdict).to_contain_text("a circle")
    assert output.locator(".board-waits").count() == 0
    page.mouse.up()
    assert output.locator(".board-waits").first.get_attribute("stroke")
    expect(output.locator(".board-root svg")).to_contain_text("this is how far it comes")
    notebook.picture(screenshots / "board_circle.png", cell)
    output.get_by_role("button", name="undo").click()
    expect(verdict).to_contain_text("It runs in")

    # The same by keys. The notebook's own shortcuts stay out of it.
    output.locator(".board-root").focus()
    page.keyboard.press("Home")
    expect(told).to_contain_text("Rank 0, step 0: 0F0")
    page.keyboard.press("ArrowRight")
    expect(told).to_contain_text("Rank 0, step 1: 0F1")
    page.keyboard.press("ArrowDown")
    expect(told).to_contain_text("Rank 1, step 0: 1F0")
    page.keyboard.press("ArrowUp")
    page.keyboard.press("Shift+ArrowRight")
    expect(told).to_contain_text("step 2: 0F1")
    expect(verdict).to_contain_text("It runs in")
    page.keyboard.press("Delete")
    expect(verdict).to_contain_text("rank 0 never does 0F1")
    page.keyboard.press("ControlOrMeta+z")
    expect(verdict).to_contain_text("It runs in")
    page.keyboard.press("d")
    expect(verdict).to_contain_text("once more")
    page.keyboard.press("ControlOrMeta+z")
    expect(verdict).to_contain_text("It runs in")
    page.keyboard.press("Shift+ArrowDown")
    expect(verdict).to_contain_text("belongs to rank 0")
    page.keyboard.press("ControlOrMeta+z")
    expect(verdict).to_contain_text("It runs in")
    assert notebook.code_cells.count() == 2

    # Python has what the hand made.
    lines = notebook.code_cells.nth(1)
    notebook.run(lines)
    expect(notebook.output(lines)).to_have_text(re.compile("'0F0 0F2 0F1 0F3 0B0 "))
    assert notebook.errors() == []
