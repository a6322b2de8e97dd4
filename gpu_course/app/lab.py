"""Opening JupyterLab at a lesson, with what the course adds to it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path

import gpu_course
from gpu_course.errors import CourseError
from gpu_course.grading import workspace
from gpu_course.puzzle import index

FIRST = "00_start_here"
WORKSPACES = ".gpu_course/windows"
"""Where the windows of each lesson are kept, apart from the workspaces of Jupyter's other work."""

JUPYTER = Path(gpu_course.__path__[0]) / "app" / "jupyter"
"""What the course adds to Jupyter: `config` has settings that a user's own overrule, `data` a
kernel that explains names not yet imported, and the extension that keeps one text of an answer."""


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
    arrange(notebook, root)
    print(f"JupyterLab opens {notebook}. To stop it, press Ctrl-C here and answer y.", flush=True)
    return _run(lab_command(notebook, browser=browser, port=port), root)


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


def arrange(notebook: str, root: Path) -> None:
    """Has a lesson open alone the first time, with the side bars closed and all the window its own.

    The right bar, which holds what a lesson never needs, is hidden: without it half a window of 700
    pixels shows 72 columns of a cell and 70 of a verdict. The menu View brings it back.

    Windows that are there already are as the learner left them, and are kept. Where JupyterLab
    keeps them in another way than the one known here, or nothing can be written, it opens as it
    likes.
    """
    name, tab = Path(notebook).stem, f"notebook:{notebook}"
    bar = {"collapsed": True, "visible": True, "widgets": [], "current": None}
    dock = {"type": "tab-area", "currentIndex": 0, "widgets": [tab]}
    hidden = bar | {"visible": False}
    layout = {"main": {"dock": dock, "current": tab}, "left": bar, "right": hidden}
    data = {
        "layout-restorer:data": layout,
        tab: {"data": {"path": notebook, "factory": "Notebook"}},
    }
    try:
        from jupyterlab_server.workspaces_handler import WorkspacesManager

        manager = WorkspacesManager(str(root / WORKSPACES))
        if not manager.load(name)["data"]:
            manager.save(name, json.dumps({"data": data, "metadata": {"id": name}}))
    except (ImportError, OSError, ValueError, KeyError, TypeError):
        return


def lab_command(notebook: str, *, browser: bool, port: int | None) -> list[str]:
    """Returns the command that starts JupyterLab with a notebook open in windows of its own."""
    command = [sys.executable, "-m", "jupyterlab"]
    command.append(f"--LabApp.default_url=/lab/workspaces/{Path(notebook).stem}/tree/{notebook}")
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


def environment(variables: Mapping[str, str]) -> dict[str, str]:
    """Returns an environment in which cells and terminals find gpu-course, and Jupyter our part.

    Nothing of the user's own Jupyter is written to, and their settings go before ours.

    Args:
        variables: those of this process.
    """
    added = {
        "PATH": Path(sys.executable).parent,
        "JUPYTER_CONFIG_PATH": JUPYTER / "config",
        "JUPYTER_PATH": JUPYTER / "data",
    }
    return {**variables} | {
        name: os.pathsep.join(filter(None, (str(place), variables.get(name))))
        for name, place in added.items()
    }


def _run(command: list[str], root: Path) -> int:
    with subprocess.Popen(command, cwd=root, env=environment(os.environ)) as process:
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
