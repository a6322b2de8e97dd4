"""Opening JupyterLab at a lesson, with the file of its first puzzle beside it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from gpu_course.catalog import index
from gpu_course.errors import CourseError
from gpu_course.grading import workspace

FIRST = "00_start_here"
WORKSPACES = ".gpu_course/workspaces"
"""Where the windows of each lesson are kept, apart from the workspaces of Jupyter's other work."""


def open_jupyterlab(
    lesson: str | None = None, *, browser: bool = True, port: int | None = None
) -> int:
    """Runs JupyterLab in the checkout until it is stopped, and returns its exit status.

    Args:
        lesson: such as "01" or "01_threads"; None for lesson 00.
        browser: False to print the address and open nothing.
        port: the port to listen on; None lets Jupyter choose.

    Raises:
        CourseError: no checkout around the current folder, no JupyterLab, or no such notebook.
    """
    root = workspace.checkout()
    if root is None:
        raise CourseError(
            f"{Path.cwd()} is not inside a checkout of the course",
            "change into the checkout and run this again",
        )
    if find_spec("jupyterlab") is None:
        raise CourseError(
            "JupyterLab is not installed", "run `python -m pip install -r requirements.txt`"
        )
    notebook = notebook_of(lesson, root)
    puzzle = first_puzzle_of(lesson, root)
    beside = None if puzzle is None else arrange(notebook, puzzle, root)
    shown = notebook if beside is None else f"{notebook} beside {puzzle}"
    print(f"JupyterLab opens {shown}. To stop it, press Ctrl-C here and answer y.", flush=True)
    return _run(lab_command(notebook, browser=browser, port=port, workspace=beside), root)


def notebook_of(lesson: str | None, root: Path) -> str:
    """Returns a lesson's notebook as a path inside the checkout, such as notebooks/x.ipynb.

    Raises:
        UnknownName: no lesson is called that.
        CourseError: the lesson's notebook has not been built.
    """
    found = index.lesson(FIRST if lesson is None else lesson)
    notebook = f"notebooks/{found.name}.ipynb"
    if not workspace.has_notebook(found):
        names = " ".join(puzzle.short_name for puzzle in found.puzzles)
        raise CourseError(
            f"{found.name} has no notebook yet, only puzzles: {names}",
            f"edit them in puzzles/{found.name}/ and check them with `gpu-course check NAME`",
        )
    if not (root / notebook).is_file():
        raise CourseError(f"{notebook} is not there", "run `make build` to make the notebooks")
    return notebook


def first_puzzle_of(lesson: str | None, root: Path) -> str | None:
    """Returns the file of a lesson's first puzzle inside the checkout, None if there is none."""
    for puzzle in index.lesson(FIRST if lesson is None else lesson).puzzles:
        path = f"puzzles/{puzzle.name}.py"
        if (root / path).is_file():
            return path
    return None


def arrange(notebook: str, puzzle: str, root: Path) -> str | None:
    """Returns the name of a workspace with a notebook on the left and a file on the right.

    A workspace that is there already holds the windows as the learner left them, and is kept.
    None where JupyterLab keeps its workspaces in another way than the one known here, or where
    nothing can be written: then the notebook opens alone.
    """
    name = f"gpu-course-{Path(notebook).stem}"
    try:
        from jupyterlab_server.workspaces_handler import WorkspacesManager

        manager = WorkspacesManager(str(root / WORKSPACES))
        if not manager.load(name)["data"]:
            manager.save(name, json.dumps(side_by_side(name, notebook, puzzle)))
    except (ImportError, OSError, ValueError, KeyError, TypeError):
        return None
    return name


def side_by_side(name: str, notebook: str, puzzle: str) -> dict[str, Any]:
    """Returns a workspace of JupyterLab: a notebook and an editor in two halves, no side bars."""
    left, right = f"notebook:{notebook}", f"editor:{puzzle}"
    tabs = [{"type": "tab-area", "currentIndex": 0, "widgets": [each]} for each in (left, right)]
    split = {
        "type": "split-area",
        "orientation": "horizontal",
        "sizes": [0.58, 0.42],
        "children": tabs,
    }
    bar = {"collapsed": True, "visible": True, "widgets": []}
    layout = {
        "main": {"dock": split, "current": left},
        "left": {**bar, "current": None},
        "right": {**bar, "current": None},
    }
    return {
        "data": {
            "layout-restorer:data": layout,
            left: {"data": {"path": notebook, "factory": "Notebook"}},
            right: {"data": {"path": puzzle, "factory": "Editor"}},
        },
        "metadata": {"id": name},
    }


def lab_command(
    notebook: str, *, browser: bool, port: int | None, workspace: str | None = None
) -> list[str]:
    """Returns the command that starts JupyterLab with a notebook open.

    Args:
        workspace: the arrangement of windows to open it in; default none.
    """
    place = "" if workspace is None else f"/workspaces/{workspace}"
    command = [sys.executable, "-m", "jupyterlab"]
    command.append(f"--LabApp.default_url=/lab{place}/tree/{notebook}")
    if workspace is not None:
        command.append(f"--LabApp.workspaces_dir={WORKSPACES}")
    # Warnings and the address, without the names of forty extensions before it.
    command.append("--log-level=WARN")
    if not browser:
        command.append("--no-browser")
    if port is not None:
        command.append(f"--port={port}")
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        # In a container everybody is root, and Jupyter would refuse to start.
        command.append("--allow-root")
    return command


def _run(command: list[str], root: Path) -> int:
    with subprocess.Popen(command, cwd=root, env=_environment()) as process:
        # Whoever ends this command means JupyterLab, which would live on without its parent.
        before = signal.signal(signal.SIGTERM, lambda *_: process.terminate())
        try:
            return _wait(process)
        finally:
            signal.signal(signal.SIGTERM, before)


def _wait(process: subprocess.Popen[bytes]) -> int:
    while True:
        try:
            return process.wait()
        except KeyboardInterrupt:
            # Jupyter got the interrupt too and asks whether to stop; wait for its answer.
            continue


def _environment() -> dict[str, str]:
    """Returns an environment in which cells and terminals find gpu-course."""
    scripts = str(Path(sys.executable).parent)
    path = os.pathsep.join(filter(None, (scripts, os.environ.get("PATH"))))
    return {**os.environ, "PATH": path}
