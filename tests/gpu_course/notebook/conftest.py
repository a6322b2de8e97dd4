"""A folder of answers of its own for every test, and one shell for all of them."""

from __future__ import annotations

from pathlib import Path

import pytest
from IPython.core.interactiveshell import InteractiveShell

from gpu_course.notebook.cells import holding, puzzle_magic
from tests.gpu_course.notebook.shells import Shell


@pytest.fixture
def answers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "puzzles"
    folder.mkdir()
    monkeypatch.setenv("GPU_COURSE_ANSWERS", str(folder))
    monkeypatch.setenv("GPU_COURSE_SEED", "0")
    return folder


@pytest.fixture
def shell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, answers: Path):
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))
    made = Shell()
    # Without a history file there is nothing left open when the test is over.
    made.shell.history_manager.enabled = False
    puzzle_magic.register(made.shell)
    holding.register(made.shell)
    yield made
    InteractiveShell.clear_instance()
