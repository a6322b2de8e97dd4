"""`gpu-course lab`: it starts JupyterLab in the checkout, at the lesson that was asked for.

`make test` draws with which lessons it is started; `test_live.py` starts it without one every time.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.browser.lab import environment, free_port, serve

LESSONS = {(): "00_start_here", ("01",): "01_threads"}


@pytest.mark.series(1 / 2)
@pytest.mark.parametrize(("arguments", "lesson"), LESSONS.items(), ids=LESSONS.values())
def test_lab_serves_the_lesson(
    arguments: tuple[str, ...], lesson: str, checkout: Path, tmp_path: Path
) -> None:
    command = ["-m", "gpu_course", "lab", *arguments, "--no-browser", "--port", str(free_port())]
    with serve(command, checkout / "notebooks", environment(checkout, tmp_path)) as server:
        windows = f"/lab/workspaces/{lesson}"
        assert server.path == f"{windows}/tree/notebooks/{lesson}.ipynb"
        status, text = server.get(server.path)
        assert status == 200
        assert "<title>JupyterLab</title>" in text
        status, text = server.get(f"/api/contents/notebooks/{lesson}.ipynb")
        assert status == 200
        cells = json.loads(text)["content"]["cells"]
        assert any(cell["source"].startswith("%%puzzle") for cell in cells)


HALF_A_WINDOW = {"width": 700, "height": 900}
WRAPPED = """() => [...document.querySelectorAll('.jp-Notebook .jp-CodeCell .cm-line')]
    .filter(line => line.getBoundingClientRect().height > 1.6 * line.parentElement
        .querySelector('.cm-line').getBoundingClientRect().height)
    .map(line => line.textContent)"""


@pytest.mark.browser
def test_half_a_window_shows_the_widest_lines_of_a_lesson(
    page: Any, checkout: Path, tmp_path: Path
) -> None:
    from tests.browser.notebook_page import NotebookPage

    command = ["-m", "gpu_course", "lab", "02", "--no-browser", "--port", str(free_port())]
    page.set_viewport_size(HALF_A_WINDOW)
    with serve(command, checkout, environment(checkout, tmp_path)) as server:
        notebook = NotebookPage(page, server, server.path)
        assert not page.locator("#filebrowser").is_visible()
        lines = notebook.code_cells.locator(".cm-line").all_inner_texts()
        assert max(len(line.rstrip()) for line in lines) == 72
        assert page.evaluate(WRAPPED) == []
        server.end_kernels()
