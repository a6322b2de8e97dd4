"""A notebook in JupyterLab, used as a person uses it: by its cells, keys and menus."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from tests.browser.chromium import WAIT_S
from tests.browser.lab import Server

KERNEL_IS_IDLE = "Python 3 (ipykernel) | Idle"
NOT_RUN_YET = re.compile(r"\[[ *]?\]:")
TROUBLE = (
    # A traceback is drawn as a text of stderr, and so are warnings; older versions had a kind of
    # its own.
    "[data-mime-type='application/vnd.jupyter.stderr']",
    "[data-mime-type='application/vnd.jupyter.error']",
    # What a widget or a script of an output leaves when it cannot be drawn.
    ".jupyter-widgets-error-widget",
    ".jp-OutputArea-output:has-text('Error displaying widget')",
    ".jp-OutputArea-output:has-text('JavaScript Error')",
)
"""What stands in a notebook where something went wrong."""
TRACEBACK = re.compile(r"Traceback \(most recent call last\)|Cell In\[\d+\], line \d+")


class NotebookPage:
    """One notebook, opened in a page of the browser.

    Args:
        page: a Playwright page.
        server: the running JupyterLab.
        path: the notebook, from the checkout's root; or an address of the server, with whatever
            stands beside the notebook there.
    """

    def __init__(self, page: Any, server: Server, path: str) -> None:
        # Imported here, so that the tests can be collected where Playwright is not installed.
        from playwright.sync_api import expect

        self._expect = expect
        self.page = page
        if path.startswith("/"):
            page.goto(server.address(path))
        else:
            # `reset` forgets the tabs that an earlier page of this server had open.
            page.goto(server.address(f"/lab/tree/{path}") + "&reset")
        self.wait_until_idle()
        self.code_cells = page.locator(".jp-Notebook .jp-CodeCell")
        self._trouble = page.locator(", ".join(TROUBLE))

    def wait_until_idle(self) -> None:
        """Waits until the kernel has nothing left to do."""
        self.page.get_by_text(KERNEL_IS_IDLE).wait_for(timeout=WAIT_S * 1000)

    def cell(self, first_line: str) -> Any:
        """Returns the code cell that begins with a line, by what it says now."""
        line = re.compile(rf"^\s*{re.escape(first_line)}\s*$")
        return self.code_cells.filter(
            has=self.page.locator(".cm-line:first-child").filter(has_text=line)
        ).first

    def run_all(self) -> None:
        """Runs all cells by the menu and waits until each has its number.

        Raises:
            AssertionError: a cell raised an error, after which JupyterLab runs no other.
        """
        self.page.get_by_role("menuitem", name="Run", exact=True).click()
        self.page.get_by_text("Run All Cells", exact=True).click()
        self._every_prompt_has_a_number(self.code_cells)

    def run(self, cell: Any) -> None:
        """Runs one cell by Shift+Enter and waits until it is done."""
        prompt = cell.locator(".jp-InputPrompt")
        before = prompt.inner_text()
        cell.locator(".cm-content").click()
        self.page.keyboard.press("Shift+Enter")
        self._expect(prompt).not_to_have_text(before, timeout=WAIT_S * 1000)
        self._every_prompt_has_a_number(cell)
        self.wait_until_idle()

    def write(self, cell: Any, text: str) -> None:
        """Replaces the text of a cell, as somebody who pastes does."""
        cell.locator(".cm-content").click()
        self.page.keyboard.press("ControlOrMeta+a")
        self.page.keyboard.insert_text(text)

    def type_file(self, text: str) -> None:
        """Replaces the text of the file in the editor, and saves it by its key."""
        editor = self.page.locator(".jp-FileEditor .cm-content")
        editor.click()
        self.page.keyboard.press("ControlOrMeta+a")
        self.page.keyboard.insert_text(text)
        self.page.keyboard.press("ControlOrMeta+s")

    def place(self, selector: str) -> dict[str, float]:
        """Returns x, y, width and height of something, in pixels of the window."""
        box: dict[str, float] = self.page.locator(selector).first.bounding_box()
        return box

    def output(self, cell: Any) -> Any:
        """Returns what a cell shows below its code."""
        return cell.locator(".jp-Cell-outputArea")

    def errors(self) -> list[str]:
        """Returns what stands anywhere in the notebook that no learner should meet.

        That is a traceback, a warning, or a widget that could not be drawn.
        """
        texts: list[str] = self._trouble.all_inner_texts()
        return texts

    def picture(self, path: Path, cell: Any = None) -> None:
        """Writes a screenshot of the window, with a cell in its view if one is given."""
        if cell is not None:
            self.output(cell).first.scroll_into_view_if_needed()
        self.page.screenshot(path=path)

    def pictures(self, folder: Path, stem: str) -> list[Path]:
        """Writes screenshots of the whole notebook from top to bottom, one per window."""
        panel = self.page.locator(".jp-WindowedPanel-outer").first
        height, window = panel.evaluate("element => [element.scrollHeight, element.clientHeight]")
        paths = []
        for number, top in enumerate(range(0, height, window), 1):
            # Two frames: one to lay the cells out that come into view, one to draw them.
            panel.evaluate(
                """async (element, top) => {
                    element.scrollTo(0, top);
                    for (const turn of [1, 2]) await new Promise(requestAnimationFrame);
                }""",
                top,
            )
            paths.append(folder / f"{stem}_{number:02d}.png")
            self.page.screenshot(path=paths[-1])
        return paths

    def _every_prompt_has_a_number(self, cells: Any) -> None:
        waiting = cells.locator(".jp-InputPrompt").filter(has_text=NOT_RUN_YET)
        # Cells behind one that raised never get a number, and nobody should wait for them.
        raised = self._trouble.filter(has_text=TRACEBACK)
        done = self.page.locator("body").filter(has_not=waiting)
        self._expect(done.or_(raised).first).to_be_attached(timeout=WAIT_S * 1000)
        self.wait_until_idle()
        if raised.count():
            raise AssertionError("a cell raised an error:\n" + "\n".join(self.errors()))
