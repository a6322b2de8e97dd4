"""What the tests of the course's content share: the checkout, its stubs and its solutions."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from authoring.checkout import read, solution_files
from authoring.stubs import build_stubs
from tests.gpu_course.notebook.conftest import answers

__all__ = ["answers", "fonts", "root", "solutions", "stubs"]

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="session")
def root() -> Path:
    """The checkout these tests belong to."""
    return ROOT


@pytest.fixture(scope="session")
def stubs() -> dict[str, str]:
    """{full puzzle name: stub}, built from the solutions."""
    return build_stubs(ROOT)


@pytest.fixture(scope="session")
def solutions() -> dict[str, str]:
    """{full puzzle name: solution}."""
    return {name: read(path) for name, path in solution_files(ROOT).items()}


@pytest.fixture(scope="session")
def fonts() -> None:
    """Lets Matplotlib list the fonts once: the first time it tells so, in the middle of a cell."""
    subprocess.run([sys.executable, "-c", "import matplotlib.font_manager"], check=True)
