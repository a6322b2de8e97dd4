"""A course of one lesson, with a folder of answers in a temporary place."""

from __future__ import annotations

from pathlib import Path

import pytest

from gpu_course.grading import workspace
from gpu_course.puzzle import Lesson, index


def toy_course(
    home: Path, monkeypatch: pytest.MonkeyPatch, lesson: Lesson, stubs: dict[str, str]
) -> Path:
    """Makes one lesson the whole course; returns the learner's folder of answers, still empty.

    Args:
        home: where the folder is made.
        monkeypatch: takes everything back at the end of the test.
        lesson: its puzzles are all there are.
        stubs: {full puzzle name: stub}, for those that have one.
    """
    folder = home / "puzzles"
    (folder / lesson.name).mkdir(parents=True)
    monkeypatch.setattr(index, "lessons", lambda: (lesson,))
    monkeypatch.setattr(workspace, "_stubs", lambda: stubs)
    monkeypatch.setenv("GPU_COURSE_ANSWERS", str(folder))
    monkeypatch.setenv("GPU_COURSE_SEED", "0")
    return folder
