"""A race replayed in a real browser: the story, the picture, a step on, another warp."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.browser.lab import Server
from tests.browser.notebooks import write_notebook
from tests.browser.test_stepping import KERNEL, Panel

pytestmark = pytest.mark.browser


def test_a_race_is_replayed_and_stepped_through(
    server: Server, page: Any, checkout: Path, screenshots: Path
) -> None:
    from playwright.sync_api import expect

    from tests.browser.notebook_page import NotebookPage

    name = write_notebook(
        checkout / "replay.ipynb",
        KERNEL.format(name="replay", barrier=""),
        "replay(neighbours)[1, 64](out, a)",
    )
    notebook = NotebookPage(page, server, name)
    notebook.run_all()
    cell = notebook.code_cells.last
    output = notebook.output(cell)
    expect(output).to_contain_text("The order: warp 1 runs ahead.")
    expect(output).to_contain_text(
        "Thread 32 (warp 1) reads s[31] in line 12 before thread 31 (warp 0) has written it"
    )
    panel = Panel(output)
    first = panel.number()
    assert "Line 12: total += s[t - 1]" in panel.words()
    notebook.picture(screenshots / "replay.png", cell)
    panel.step_button.click()
    panel.expect_number(first + 1)
    panel.handle.focus()
    page.keyboard.press("ArrowRight")
    panel.expect_number(first + 2)
    assert notebook.errors() == []
