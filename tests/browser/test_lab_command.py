"""`gpu-course lab`: it starts JupyterLab in the checkout, at the lesson that was asked for."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.browser.lab import environment, free_port, serve

LESSONS = {(): "00_start_here", ("01",): "01_threads"}


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
