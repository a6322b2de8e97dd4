"""A folder of toy answers, and sessions whose workers and clock a test moves by hand."""

from __future__ import annotations

from pathlib import Path

import pytest

from gpu_course.catalog import index
from gpu_course.grading import workspace
from tests.grading import toy


@pytest.fixture
def answers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The learner's folder; the catalogue holds the toys alone."""
    folder = tmp_path / "puzzles"
    (folder / toy.LESSON.name).mkdir(parents=True)
    monkeypatch.setattr(index, "lessons", lambda: (toy.LESSON,))
    monkeypatch.setattr(workspace, "_stubs", lambda: toy.STUBS)
    monkeypatch.setenv("GPU_COURSE_ANSWERS", str(folder))
    monkeypatch.setenv("GPU_COURSE_SEED", "0")
    return folder


@pytest.fixture
def file(answers: Path) -> Path:
    """Where the answer to the toy puzzle lies."""
    return answers / f"{toy.TOY.name}.py"
