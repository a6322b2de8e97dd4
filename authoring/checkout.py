"""Where the parts of a checkout lie, and the one error this room raises."""

from __future__ import annotations

import re
from pathlib import Path

from gpu_course.errors import CourseError

LESSON_FOLDER = re.compile(r"\d\d_[a-z0-9_]+")


class AuthoringError(CourseError):
    """A source of the course that cannot be built, with the place to mend.

    Args:
        fact: what is wrong.
        file: the source at fault, as a reader would write it.
        line: its line, counted from 1, or 0 where the whole file is meant.
        hint: what to write instead.
    """

    def __init__(self, fact: str, *, file: str, line: int = 0, hint: str = "") -> None:
        self.file = file
        self.line = line
        place = f"{file}:{line}" if line else file
        super().__init__(f"{fact}\n  where:  {place}", hint)


def find_root(start: Path | None = None) -> Path:
    """Returns the checkout that `start` (default: the current folder) lies in.

    Raises:
        AuthoringError: no folder above holds solutions/ and notebooks/source/.
    """
    here = (start or Path.cwd()).resolve()
    for folder in (here, *here.parents):
        if (folder / "solutions").is_dir() and (folder / "notebooks" / "source").is_dir():
            return folder
    raise AuthoringError(
        "this folder is not part of a checkout of the course",
        file=str(here),
        hint="run the command inside the checkout, where solutions/ and notebooks/source/ are",
    )


def solution_files(root: Path) -> dict[str, Path]:
    """Returns {full puzzle name: its solution}, in the order of the names."""
    return {
        f"{path.parent.name}/{path.stem}": path
        for path in sorted((root / "solutions").glob("*/*.py"))
        if LESSON_FOLDER.fullmatch(path.parent.name)
    }


def lesson_sources(root: Path) -> dict[str, Path]:
    """Returns {lesson name: its hand-written source}, in course order."""
    return {
        path.stem: path
        for path in sorted((root / "notebooks" / "source").glob("*.md"))
        if LESSON_FOLDER.fullmatch(path.stem)
    }


def stubs_file(root: Path) -> Path:
    """Returns where the pristine copies of all stubs are kept."""
    return root / "gpu_course" / "puzzle" / "stubs.json"


def learner_notebook(root: Path, lesson: str) -> Path:
    """Returns where the notebook lies that a learner opens."""
    return root / "notebooks" / f"{lesson}.ipynb"


def teacher_notebook(root: Path, lesson: str) -> Path:
    """Returns where the solved and executed notebook lies."""
    return root / "solutions" / "notebooks" / f"{lesson}.ipynb"


def read(path: Path) -> str:
    """Returns the text of a source, with line ends as \\n on every machine."""
    return path.read_text(encoding="utf-8")


def write(path: Path, text: str) -> bool:
    """Writes the text with \\n line ends; returns whether the file changed."""
    data = text.encode("utf-8")
    if path.is_file() and path.read_bytes() == data:
        return False
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return True
