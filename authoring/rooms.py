"""The rooms of the code, and which of them may import which: one table.

`tests/test_layers.py` holds the code to it, and `python -m authoring map` writes it into
CONTRIBUTING.md, as a table and as a picture.
"""

from __future__ import annotations

from graphlib import TopologicalSorter
from pathlib import Path

from authoring.checkout import read, write
from authoring.parts import with_part

PAGE = "CONTRIBUTING.md"
LEAVES = {"errors", "units"}
CORE = LEAVES | {
    "puzzle",
    "grading",
    "isolation",
    "ranks",
    "measure",
    "planner",
    "claims",
    "hardware",
    "draw",
}
SHORTHANDS = {"core": CORE, "leaves": LEAVES}

ROOMS: dict[str, tuple[str, set[str]]] = {
    "errors": ("the course's exceptions, and the engine's under the names the course gives", set()),
    "units": ("bytes, rates and counts as people read them", set()),
    "simt": ("the engine under its old names, such as `python -m gpu_course.simt`", set()),
    "hardware": (
        "real GPUs: data sheets, limits, occupancy, and what this machine has",
        LEAVES | {"isolation"},
    ),
    "measure": ("what two lessons or more count by: models, ledgers, peaks, schedules", LEAVES),
    "planner": (
        "memory and time of a training step on a described cluster, and the search of layouts",
        LEAVES | {"hardware", "measure"},
    ),
    "isolation": ("processes that hold code nobody vouches for: locked down and measured", LEAVES),
    "ranks": (
        "many processes and what they send each other, every call counted",
        LEAVES | {"isolation"},
    ),
    "draw": ("pictures that lessons share: data in, a figure with alt text out", LEAVES),
    "puzzle": (
        "what a puzzle is, and how a lesson's room is read",
        LEAVES | {"measure", "ranks", "lessons"},
    ),
    "grading": (
        "from an answer to a verdict, and what a verdict says",
        LEAVES | {"puzzle", "hardware", "isolation", "ranks", "draw"},
    ),
    "claims": (
        "published numbers, the models they are held against, and forecasts of them",
        LEAVES | {"hardware", "measure", "planner", "grading", "draw"},
    ),
    "notebook": ("what every lesson calls: `%%puzzle`, `predict`, `explore`, pictures", CORE),
    "lessons": ("a room per lesson, with all that is that lesson's alone", CORE | {"notebook"}),
    "app": (
        "what opens, updates and watches the course: JupyterLab, `update`, `watch`",
        CORE | {"notebook"},
    ),
    "before_imports": ("says in one sentence that a cell ran before the imports", {"notebook"}),
    "commands": ("the commands of `gpu-course`", CORE | {"app"}),
    "cli": (
        "the entry, which says what is missing before it imports anything heavy",
        {"commands", "hardware"},
    ),
    "__main__": ("`python -m gpu_course`", {"cli"}),
    "__init__": ("the three public names: `simulate`, `check`, `grade`", {"grading"}),
}
"""Room of gpu_course -> (what it is for, the rooms it may import beside itself and the engine)."""

MAY_IMPORT = {room: allowed for room, (_, allowed) in ROOMS.items()}

_WORDS = {"errors", "text", "files"}
_MACHINE = _WORDS | {"report", "kernel", "vocabulary", "machine"}
ENGINE_MAY_IMPORT: dict[str, set[str]] = {
    "text": set(),
    "files": set(),
    "errors": {"report"},  # for type checking alone
    "report": {"text"},
    "tiny": set(),
    "kernel": _MACHINE,
    "vocabulary": _MACHINE,
    "machine": _MACHINE,
    "observe": _MACHINE,
    "compiled": _MACHINE | {"observe"},
    "simulator": _MACHINE | {"observe", "compiled"},
    "stepping": _MACHINE | {"observe", "simulator"},
    "interleaving": _MACHINE | {"observe", "simulator"},
    "foreign": _MACHINE | {"simulator"},
    "pytest": {"foreign"},
    "__main__": {"foreign"},
    "__init__": {"simulator", "report"},
}
"""The same for the engine, `simt/`, which knows nothing of the course."""

NOTEBOOK_MAY_IMPORT: dict[str, set[str]] = {
    "cells": set(),
    "own": set(),
    "interactive": set(),
    "guesses": {"cells"},
    "tutor": {"cells", "guesses"},
}
"""The same for the rooms of `notebook/`, which may all import the files beside them."""

GRADING_FLOORS = (
    "seeds",
    "workspace",
    "answer_file",
    "diagnoses",
    "verdicts",
    "checking",
    "python",
    "kernel",
    "worker",
    "check",
    "grade",
    "learner",
    "worker_process",
    "card",
    "__init__",
)
"""The files and rooms of `grading/` from the ground up: each may import those below it."""

READS_ONLY = {("puzzle", "lessons")}
"""The one arrow that points up: a lesson's room is found by its folder and read by its name."""


def write_map(root: Path) -> bool:
    """Writes table and picture into CONTRIBUTING.md; returns whether the page changed."""
    text = read(root / PAGE)
    for name, part in (("map", table(root)), ("picture", picture())):
        text = with_part(text, name, part, PAGE)
    return write(root / PAGE, text)


def table(root: Path) -> str:
    """Returns the rooms as a table in Markdown."""
    lines = ["| room | what it is for | may import |", "|---|---|---|"]
    for room, (purpose, allowed) in ROOMS.items():
        file = root / "gpu_course" / f"{room}.py"
        place = f"{room}.py" if file.is_file() else f"{room}/"
        lines.append(f"| `{place}` | {purpose} | {_said(allowed)} |")
    return "\n".join(lines)


def _said(allowed: set[str]) -> str:
    """Returns rooms in words, by a shorthand where one covers them.

    >>> _said({"errors", "units", "isolation"}), _said(set())
    ('leaves, isolation', 'nothing')
    """
    words, left = [], set(allowed)
    for shorthand, rooms in SHORTHANDS.items():
        if rooms <= left:
            words.append(shorthand)
            left -= rooms
    return ", ".join([*words, *(room for room in ROOMS if room in left)]) or "nothing"


def picture() -> str:
    """Returns the table as a drawing: an arrow from each room to those right below it."""
    lines = ["```mermaid", "flowchart TD", "    engine([simt: the engine])"]
    for room in _drawn():
        below = _right_below(room) or ["engine"]
        lines += [f"    {room} --> {other}" for other in below]
    lines += [f"    {low} -. reads .-> {high}" for low, high in sorted(READS_ONLY)]
    return "\n".join([*lines, "```"])


def _drawn() -> list[str]:
    """The rooms of the drawing from the lowest up: those that are folders of code, and leaves."""
    # In the table's order: that of a set is another in every process.
    rooms = [room for room in ROOMS if room not in _ENTRIES]
    graph = {room: [other for other in rooms if other in _below(room)] for room in rooms}
    return list(TopologicalSorter(graph).static_order())


_ENTRIES = {"simt", "before_imports", "commands", "cli", "__main__", "__init__"}
"""Files that only start something, and old names: the drawing leaves them out."""


def _below(room: str) -> set[str]:
    return {other for other in MAY_IMPORT[room] if (room, other) not in READS_ONLY}


def _right_below(room: str) -> list[str]:
    """The rooms that a room may import and that no other of those may import."""
    allowed = _below(room)
    through = {far for near in allowed for far in _everything_below(near)}
    return [other for other in ROOMS if other in allowed - through]


def _everything_below(room: str) -> set[str]:
    found = _below(room)
    return found | {far for near in found for far in _everything_below(near)}
