"""Whether JupyterLab has a file open in an editor, as far as its saved windows tell."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from gpu_course.catalog import Puzzle
from gpu_course.grading import workspace

WORKSPACES = "workspaces"
"""The folder beside the learner's state in which `gpu-course lab` has JupyterLab keep windows."""


def is_open(puzzle: Puzzle) -> bool:
    """True when a window that `gpu-course lab` opened has the answer to a puzzle in an editor.

    JupyterLab writes its windows down a moment after they change, and a kernel has no other way to
    know. Where they cannot be read the answer is no.
    """
    wanted = f"editor:{workspace.answers_folder().name}/{puzzle.name}.py"
    folder = workspace.state_folder() / WORKSPACES
    return any(wanted in _windows(path) for path in folder.glob("*.jupyterlab-workspace"))


def _windows(path: Path) -> set[str]:
    """The names of all windows in the main area."""
    try:
        layout = json.loads(path.read_bytes())["data"]["layout-restorer:data"]
        return set(_widgets(layout["main"]["dock"]))
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return set()


def _widgets(area: Any) -> Iterator[str]:
    if isinstance(area, dict):
        yield from (str(name) for name in area.get("widgets", []))
        for child in area.get("children", []):
            yield from _widgets(child)
