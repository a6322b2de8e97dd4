"""A mesh in a real browser: a rank is picked by a click and by the arrow keys, and shows whom."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.browser.lab import Server
from tests.browser.notebooks import write_notebook

pytestmark = pytest.mark.browser

CELL = """from gpu_course.notebook import explore
from gpu_course.lessons.meshes.shows import ORDERS, four_axes
explore(four_axes, order=list(ORDERS), coloured=["tp", "cp", "pp", "dp"])
"""


class Mesh:
    """A mesh on the page: which rank is picked, and what is said of it."""

    def __init__(self, output: Any) -> None:
        self.output = output

    def button(self, rank: int) -> Any:
        return self.output.locator(f'input[id$="-{rank}"]')

    def expect_said(self, words: str) -> None:
        """Fails unless these words stand below the picture, and those of no other rank."""
        from playwright.sync_api import expect

        seen = self.output.locator("svg g.k >> visible=true")
        expect(seen).to_have_count(1)
        expect(seen).to_contain_text(words)


def test_a_rank_is_picked_by_mouse_and_by_keyboard(
    server: Server, page: Any, checkout: Path, screenshots: Path
) -> None:
    from playwright.sync_api import expect

    from tests.browser.notebook_page import NotebookPage

    name = write_notebook(checkout / "meshes.ipynb", CELL)
    notebook = NotebookPage(page, server, name)
    notebook.run_all()
    cell = notebook.code_cells.last
    mesh = Mesh(notebook.output(cell))
    mesh.expect_said("Rank 0 is at tp 0, cp 0, pp 0, dp 0")
    mesh.button(5).click()
    mesh.expect_said("tp with 4; cp with 7; pp with 1; dp with 13")
    for key, rank in (("ArrowRight", 6), ("ArrowDown", 7), ("ArrowLeft", 6)):
        page.keyboard.press(key)
        expect(mesh.button(rank)).to_be_checked(timeout=20_000)
        mesh.expect_said(f"Rank {rank} is at")
    notebook.picture(screenshots / "mesh.png", cell)
    notebook.output(cell).locator("select").first.select_option("dp pp cp tp")
    mesh.expect_said("dp with 1; pp with 2; cp with 4; tp with 8")
    assert notebook.errors() == []
