"""A new lesson's skeleton passes lint and the table of imports, and the course finds it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from authoring.checkout import AuthoringError, lesson_sources, read
from authoring.new_lesson import write_lesson
from authoring.notebooks import build_notebook
from authoring.rooms import MAY_IMPORT
from tests.test_layers import violations

ROOT = Path(__file__).parents[2]
LESSON, TOPIC = "33_across_oceans", "across_oceans"


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of what the course is read from, with a new lesson in it."""
    root = tmp_path_factory.mktemp("checkout")
    (root / "notebooks" / "source").mkdir(parents=True)
    shutil.copy(ROOT / "notebooks/source/00_start_here.md", root / "notebooks/source")
    for folder in ("gpu_course", "solutions"):
        leave = shutil.ignore_patterns("__pycache__", "*.ipynb", "data")
        shutil.copytree(ROOT / folder, root / folder, ignore=leave)
    for there in (root / "gpu_course/lessons" / TOPIC, root / "solutions" / LESSON):
        shutil.rmtree(there, ignore_errors=True)
    write_lesson(root, LESSON[:2], TOPIC)
    return root


def test_it_has_its_four_places(checkout: Path) -> None:
    for place in (
        f"gpu_course/lessons/{TOPIC}/lesson.toml",
        f"solutions/{LESSON}/mistakes",
        f"notebooks/source/{LESSON}.md",
        f"tests/lessons/{TOPIC}/test_puzzles.py",
    ):
        assert (checkout / place).exists(), place


def test_it_passes_lint_and_the_table_of_imports(checkout: Path) -> None:
    new = [checkout / "gpu_course/lessons" / TOPIC, checkout / "tests/lessons" / TOPIC]
    ruff = [sys.executable, "-m", "ruff"]
    for command in (["check"], ["format", "--check"]):
        where = ["--config", str(ROOT / "pyproject.toml"), *map(str, new)]
        done = subprocess.run([*ruff, *command, *where], capture_output=True, text=True)
        assert done.returncode == 0, done.stdout
    assert violations(checkout / "gpu_course", MAY_IMPORT) == []


def test_its_own_tests_pass_and_the_course_finds_it(checkout: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", f"tests/lessons/{TOPIC}"],
        cwd=checkout,
        env=os.environ | {"PYTHONPATH": f"{checkout}{os.pathsep}{ROOT}"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "1 passed" in done.stdout


def test_its_source_is_a_notebook_that_stores_no_map(checkout: Path) -> None:
    notebook = build_notebook(LESSON, read(lesson_sources(checkout)[LESSON]), {})
    assert notebook.cells[0].source.startswith("# 33 Across oceans")
    maps = [c for c in notebook.cells if c.cell_type == "code" and c.source == "progress()"]
    assert ["not-stored" in cell.metadata["tags"] for cell in maps] == [True]


@pytest.mark.parametrize(
    ("number", "topic", "told"),
    [
        ("99", "far_away", "the outline has no lesson 99"),
        ("08", "Host and device", "a room cannot be called 'Host and device'"),
        ("07", "anything", "there is a lesson 07 or a room anything already"),
        ("08", "warps", "there is a lesson 08 or a room warps already"),
    ],
)
def test_what_cannot_be_is_refused(checkout: Path, number: str, topic: str, told: str) -> None:
    before = sorted(checkout.rglob("*.toml"))
    with pytest.raises(AuthoringError, match=told):
        write_lesson(checkout, number, topic)
    assert sorted(checkout.rglob("*.toml")) == before
