"""Every command below benchmarks/ that a page names starts so, and its rooms stand alone."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path

from tests.test_layers import imports_of

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "benchmarks"
PAGES = (
    "*.md",
    "Makefile",
    "docs/*.md",
    "simt/README.md",
    "notebooks/source/*.md",
    "gpu_course/**/*.py",
    "gpu_course/**/*.json",
    "simt/**/*.py",
    "tests/**/*.py",
    "benchmarks/**/*.py",
)
COMMAND = re.compile(r"(?:python|\$\(RUN\)) (?:-m (benchmarks(?:\.\w+)+)|(benchmarks/[\w/]+\.py))")
MODULES = "import importlib, sys; [importlib.import_module(name) for name in sys.argv[1:]]"
SCRIPTS = """
import os, runpy, sys
before = list(sys.path)
for path in sys.argv[1:]:
    sys.path[:] = [os.path.dirname(path), *before]
    for name in [name for name in sys.modules if name.partition(".")[0] == "benchmarks"]:
        del sys.modules[name]
    runpy.run_path(path)
"""


def named() -> tuple[set[str], set[str]]:
    """Returns the commands that pages name: modules for `python -m`, and paths."""
    found = {
        match
        for pattern in PAGES
        for page in ROOT.glob(pattern)
        for match in COMMAND.findall(page.read_text(encoding="utf-8"))
    }
    return {module for module, _ in found if module}, {path for _, path in found if path}


def test_every_command_starts_as_it_is_named(tmp_path: Path) -> None:
    """As `python -m` it looks from the root of the checkout; as a script, from its own folder."""
    modules, scripts = named()
    assert {"benchmarks.both_ways", "benchmarks.waiting.lessons"} <= modules
    assert {"benchmarks/simulator.py", "benchmarks/worth.py"} <= scripts
    for code, names, folder in (
        (MODULES, sorted(modules), ROOT),
        (SCRIPTS, [str(ROOT / path) for path in sorted(scripts)], tmp_path),
    ):
        done = subprocess.run(
            [sys.executable, "-c", code, *names], cwd=folder, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stderr


def test_a_room_imports_no_command_and_no_other_room() -> None:
    rooms = {path.parent for path in FOLDER.glob("*/__init__.py")} | {FOLDER / "sealed"}
    assert len(rooms) > 5
    found = [
        f"{path.relative_to(ROOT)}:{line} imports {name}"
        for room in rooms
        for path in room.rglob("*.py")
        for line, name in imports_of(ast.parse(path.read_text(encoding="utf-8")))
        if name.startswith("benchmarks.") and name.split(".")[1] != room.name
    ]
    assert found == []


def test_every_room_says_what_it_is() -> None:
    for path in (FOLDER / "__init__.py", *FOLDER.glob("*/__init__.py")):
        assert ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))), path
