"""`pytest puzzles`: a test per puzzle, graded and never run, also without the makers' tools."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from authoring.checkout import read, write
from authoring.stubs import build_stubs
from gpu_course.puzzle import index

ROOT = Path(__file__).parents[1]
LESSON = "01_threads"
ANSWERS = {
    "zip_add": "solution",
    "guard": "from numba import cuda\n\n\n@cuda.jit\ndef guard(out, a, size):\n    pass\n",
    "blocks": "def (",
    "clip": "open('was_run', 'w')\n",
    "gather": None,
}


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A learner's checkout: one right answer, some that are not, the rest as they came."""
    course = tmp_path_factory.mktemp("course")
    for name in ("conftest.py", "pyproject.toml"):
        shutil.copy(ROOT / name, course)
    for name, text in build_stubs(ROOT).items():
        lesson, _, short = name.partition("/")
        if lesson in (LESSON, "00_start_here"):
            mine = ANSWERS.get(short, text)
            if mine == "solution":
                mine = read(ROOT / "solutions" / f"{name}.py")
            if mine is not None:
                write(course / "puzzles" / f"{name}.py", mine)
    # Whatever else lies there is no test.
    write(course / "puzzles" / LESSON / "test_mine.py", "def test_mine(): open('was_run', 'w')\n")
    return course


def run(course: Path, *arguments: str) -> tuple[int, str]:
    # pytest-timeout and its like are not there for a learner.
    tools = ("timeout", "xdist", "hypothesispytest", "nbval", "playwright")
    without = [word for tool in tools for word in ("-p", f"no:{tool}")]
    command = [sys.executable, "-m", "pytest", "-v", "--color=no", "-p", "no:cacheprovider"]
    done = subprocess.run(
        [*command, *without, *arguments],
        cwd=course,
        env={"PYTHONPATH": str(ROOT), "PATH": "/usr/bin:/bin", "GPU_COURSE_SEED": "0"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert not (course / "was_run").exists()
    return done.returncode, done.stdout + done.stderr


def test_each_puzzle_of_a_lesson_is_a_test_of_its_own(course: Path) -> None:
    status, said = run(course, f"puzzles/{LESSON}")
    found = dict(re.findall(rf"puzzles/{LESSON}/(\w+)\.py::grade (\w+)", said))
    assert list(found) == [puzzle.short_name for puzzle in index.lesson(LESSON).puzzles], said
    expected = {
        name: "PASSED" if answer == "solution" else "FAILED"
        for name, answer in ANSWERS.items()
        if answer is not None
    }
    assert found == {**dict.fromkeys(found, "SKIPPED"), **expected}
    assert status == 1 and "not started" in said
    assert "Python cannot read this file" in said
    assert "Traceback" not in said and "was_run" not in said.replace("open('was_run', 'w')", "")


@pytest.mark.parametrize(("name", "status"), [("zip_add", 0), ("guard", 1), ("gather", 0)])
def test_one_answer_is_graded_by_its_path(course: Path, name: str, status: int) -> None:
    path = f"puzzles/{LESSON}/{name}.py"
    if not (course / path).exists():
        path = f"puzzles/{LESSON}"
    ended, said = run(course, path, "-k", name)
    assert ended == status, said
    assert ("1 passed" in said) == (name == "zip_add")
    assert ("1 skipped" in said) == (name == "gather")


def test_stubs_alone_pass_nothing(course: Path) -> None:
    _, said = run(course, "puzzles/00_start_here")
    assert "1 skipped" in said and "passed" not in said
