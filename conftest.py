"""`pytest puzzles` grades the learner's answers: one test per puzzle, and no file of theirs is run.

It stands outside puzzles/, and pytest never sees an answer as a file of tests. An answer that is
still the stub is skipped with those words, and never counted as passed.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

PUZZLES = Path(__file__).resolve().parent / "puzzles"


def pytest_addoption(parser: pytest.Parser, pluginmanager: pytest.PytestPluginManager) -> None:
    # The course's own tests end what hangs by pytest-timeout, which a learner does not install.
    if not pluginmanager.hasplugin("timeout"):
        parser.addini("timeout", "seconds a test may take; needs pytest-timeout")


def pytest_collect_directory(path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    return Folder.from_parent(parent, path=path) if path.resolve() == PUZZLES else None


class Folder(pytest.Directory):
    """puzzles/, or the folder of one lesson in it: its puzzles, in course order."""

    def collect(self) -> Iterator[pytest.Collector]:
        from gpu_course.puzzle import index

        lesson = None if self.path.resolve() == PUZZLES else self.path.name
        for each in index.lessons():
            if lesson is None:
                yield Folder.from_parent(self, path=self.path / each.name)
            elif lesson == each.name:
                for puzzle in each.puzzles:
                    yield Answer.from_parent(self, path=self.path / f"{puzzle.short_name}.py")


class Answer(pytest.File):
    """One answer, which is read and graded, and never imported."""

    def collect(self) -> Iterator[pytest.Item]:
        yield Grade.from_parent(self, name="grade")


class Grade(pytest.Item):
    """The verdict on one answer."""

    def runtest(self) -> None:
        from gpu_course.grading import workspace
        from gpu_course.grading.check import check

        name = f"{self.path.parent.name}/{self.path.stem}"
        verdict = check(name, answer=workspace.answer_path(name, PUZZLES))
        if verdict.status == "not-started":
            pytest.skip("not started")
        if not verdict.passed:
            raise NotPassed(verdict.message)

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException]) -> str:  # type: ignore[override]
        if isinstance(excinfo.value, NotPassed):
            return str(excinfo.value)
        return str(super().repr_failure(excinfo))

    def reportinfo(self) -> tuple[os.PathLike[str], None, str]:
        return self.path, None, f"{self.path.parent.name}/{self.path.stem}"


class NotPassed(Exception):
    """An answer that is not right; its text is the message of the verdict."""
