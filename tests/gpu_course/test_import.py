"""`import gpu_course` stays light: fresh interpreters say what it pulls in."""

from __future__ import annotations

import subprocess
import sys

import pytest

import gpu_course

HEAVY = ("torch", "numba", "matplotlib", "IPython", "ipywidgets", "typer", "rich", "jupytext")
REPORT = "import sys; print(*sorted({name.partition('.')[0] for name in sys.modules}))"


def loaded_after(statement: str) -> set[str]:
    """Returns the top-level modules a fresh interpreter holds after one statement."""
    done = subprocess.run(
        [sys.executable, "-c", f"{statement}\n{REPORT}"], capture_output=True, text=True, check=True
    )
    return set(done.stdout.split())


@pytest.mark.parametrize(
    "statement",
    [
        "import gpu_course",
        "from gpu_course import simulate",
        "from gpu_course import check, grade",
        "from gpu_course.puzzle import index; index.puzzles()",
        "import gpu_course.hardware.datasheet",
    ],
)
def test_nothing_heavy_is_imported(statement: str) -> None:
    loaded = loaded_after(statement)
    assert "gpu_course" in loaded
    assert loaded.isdisjoint(HEAVY)


@pytest.mark.parametrize("name", ["matplotlib", "rich"])
def test_the_test_above_would_notice(name: str) -> None:
    assert name in loaded_after(f"import gpu_course; import {name}")


def test_the_doctor_needs_the_standard_library_alone() -> None:
    # -S leaves site-packages out of the path: there is no package to import.
    done = subprocess.run(
        [sys.executable, "-S", "-m", "gpu_course.hardware.doctor"],
        capture_output=True,
        text=True,
        check=False,
        cwd=gpu_course.__path__[0] + "/..",
    )
    assert done.stderr == ""
    assert done.returncode == 1
    assert "MISSING numpy" in done.stdout


def test_commands_without_packages_say_what_to_install() -> None:
    done = subprocess.run(
        [sys.executable, "-S", "-m", "gpu_course", "list"],
        capture_output=True,
        text=True,
        check=False,
        cwd=gpu_course.__path__[0] + "/..",
    )
    assert done.returncode == 2
    assert done.stderr.startswith("gpu-course needs typer, which is not installed")
    assert "pip install -r requirements.txt" in done.stderr


def test_names_are_listed_before_they_are_loaded() -> None:
    assert {"simulate", "check", "grade", "__version__"} <= set(dir(gpu_course))


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        gpu_course.nonsense  # noqa: B018
