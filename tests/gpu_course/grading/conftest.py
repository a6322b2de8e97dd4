"""A course of toys: its puzzles, its stubs and a folder of answers, in a temporary place."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.gpu_course.grading import toy
from tests.gpu_course.grading.toy_course import toy_course


@pytest.fixture
def answers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The learner's folder; the catalogue holds the toys alone."""
    return toy_course(tmp_path, monkeypatch, toy.LESSON, toy.STUBS)


@pytest.fixture
def file(answers: Path) -> Path:
    """Where the answer to the toy puzzle lies."""
    return answers / f"{toy.TOY.name}.py"
