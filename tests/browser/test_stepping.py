"""A launch stepped through in a real browser: the buttons and the slider change the picture."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from tests.browser.lab import Server
from tests.browser.notebooks import write_notebook

pytestmark = pytest.mark.browser

KERNEL = """import numpy as np
from numba import cuda, float32
from gpu_course.notebook import {name}

@cuda.jit
def neighbours(out, a):
    s = cuda.shared.array(64, float32)
    t = cuda.threadIdx.x
    s[t] = a[t]{barrier}
    total = s[t]
    if t > 0:
        total += s[t - 1]
    out[t] = total

out, a = np.zeros(64, np.float32), np.arange(1, 65, dtype=np.float32)
"""


class Panel:
    """A stepper on the page: its picture, buttons and slider."""

    def __init__(self, output: Any) -> None:
        self.output = output
        self.image = output.locator("img").last
        self.step_button = output.get_by_role("button", name="step")
        self.handle = output.locator(".noUi-handle").first

    def words(self) -> str:
        return str(self.image.get_attribute("alt"))

    def number(self) -> int:
        match = re.search(r"step (\d+) of", self.words())
        assert match, self.words()
        return int(match[1])

    def expect_number(self, number: int) -> None:
        from playwright.sync_api import expect

        expect(self.image).to_have_attribute("alt", re.compile(rf"step {number} of"))

    def expect_words(self, words: str) -> None:
        from playwright.sync_api import expect

        expect(self.image).to_have_attribute("alt", re.compile(re.escape(words)))


def test_a_launch_is_stepped_through_by_button_key_and_menu(
    server: Server, page: Any, checkout: Path, screenshots: Path
) -> None:
    from tests.browser.notebook_page import NotebookPage

    name = write_notebook(
        checkout / "stepping.ipynb",
        KERNEL.format(name="step_through", barrier="\n    cuda.syncthreads()"),
        'step_through(neighbours, ("t", "total", "s"))[1, 64](out, a)',
    )
    notebook = NotebookPage(page, server, name)
    notebook.run_all()
    cell = notebook.code_cells.last
    panel = Panel(notebook.output(cell))
    panel.expect_number(1)
    assert panel.image.evaluate("image => image.naturalWidth") > 300
    panel.step_button.click()
    panel.expect_number(2)
    panel.handle.focus()
    for number in (3, 4):
        page.keyboard.press("ArrowRight")
        panel.expect_number(number)
    assert "The block meets at a barrier." in panel.words()
    notebook.picture(screenshots / "step_through.png", cell)
    notebook.output(cell).locator("select").select_option("warp 1")
    # The number is the same for both warps: it is the words that tell when the picture has come.
    panel.expect_words("Warp 1: all 32 lanes active.")
    panel.expect_number(4)
    assert notebook.errors() == []
