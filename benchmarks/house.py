"""How large the rooms of this code are, and in how many places one idea lies: `make house`.

What is counted, and from what:

* **Files and lines** of what people write: Python, TOML and JavaScript. Built files are left out.
* **Places of a lesson**: its own four, which are its room, its solutions, its source and its tests;
  and each folder elsewhere that names the lesson, or whose tests name a puzzle of it in quotes.
* **Lines of a puzzle**: its module and its words in the lesson's room, a harness of its name, its
  solution, its mistakes and its discussion. What several puzzles share is nobody's.
* **Files entered**: those of the packages in which a function is called by one launch of a kernel,
  the first of its process.
* **Branches of a function**: one, and one more for each `if`, loop, `except`, `case`, `assert`,
  conditional expression, `and` and `or`, and each part of a comprehension. What is defined inside
  a function is counted with it.
"""

from __future__ import annotations

import ast
import os
import re
import statistics
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

ROOT = Path(__file__).parents[1]
WRITTEN = {".py", ".toml", ".js"}
LESSON = "23"
"""The lesson whose places are listed where none is named."""
MANY_BRANCHES = 20
PACKAGES = ("simt", "gpu_course", "authoring")


@dataclass(frozen=True)
class Room:
    """A folder with one purpose, or a file that is a room of its own.

    Attributes:
        name: its path in the tree.
        files: how many people wrote.
        lines: of those files.
    """

    name: str
    files: int
    lines: int


def written_files(folder: Path) -> list[Path]:
    """Returns the files below a folder that people write, or the file that it is itself."""
    found = [folder] if folder.is_file() else sorted(folder.rglob("*"))
    return [path for path in found if path.suffix in WRITTEN and path.is_file()]


def lines_of(path: Path) -> int:
    """Returns how many lines a file has; 0 for one that is not there."""
    return len(path.read_text(encoding="utf-8").splitlines()) if path.is_file() else 0


def rooms(root: Path = ROOT) -> tuple[Room, ...]:
    """Returns the engine, each room of the course, each lesson's room, and the authoring tools."""
    course = root / "gpu_course"
    lessons = course / "lessons"
    places = [root / "simt", root / "authoring"]
    places += [path for path in course.iterdir() if path != lessons]
    places += [path for path in lessons.iterdir() if path.is_dir()]
    files = {place: written_files(place) for place in places}
    return tuple(
        Room(place.relative_to(root).as_posix(), len(found), sum(map(lines_of, found)))
        for place, found in sorted(files.items())
        if found
    )


def summary(found: tuple[Room, ...]) -> list[str]:
    """Returns the sizes of rooms in a few lines, for the end of a run of the tests."""
    lessons = [room for room in found if room.name.startswith("gpu_course/lessons/")]
    others = [room for room in found if room not in lessons]
    middle = statistics.median(room.lines for room in lessons)
    each = ", ".join(
        f"{room.name.removeprefix('gpu_course/')} {room.lines:,}"
        for room in sorted(others, key=lambda room: -room.lines)
        if (ROOT / room.name).is_dir()
    )
    return [
        f"lines of the rooms: {each}",
        f"lines of gpu_course outside lessons/: {outside_lessons(found):,}",
        f"lines of a lesson's room, median of {len(lessons)}: {middle:,.0f}",
    ]


def places_of(lesson: str, root: Path = ROOT) -> tuple[str, ...]:
    """Returns the folders that hold something of a lesson.

    Args:
        lesson: the start of its folder in `solutions/`, such as "23".
        root: of the tree.
    """
    (solutions,) = (root / "solutions").glob(f"{lesson}_*")
    topic = solutions.name.partition("_")[2]
    own = {
        root / "gpu_course" / "lessons" / topic,
        solutions,
        root / "notebooks" / "source",
        root / "tests" / "lessons" / topic,
    }
    puzzles = "|".join(path.stem for path in solutions.glob("[a-z]*.py"))
    lesson_named = re.compile(rf"{solutions.name}\b|\blessons(?:[./]| import ){topic}\b")
    # Elsewhere than in tests a puzzle's name may be a word like another.
    puzzle_named = re.compile(rf"[\"'](?:{puzzles})[\"']")
    found = {place for place in own if place.exists()}
    for path in _hand_written(root):
        if any(place in path.parents for place in own):
            continue
        text = path.read_text(encoding="utf-8")
        in_tests = "tests" in path.relative_to(root).parts
        if lesson_named.search(text) or (in_tests and puzzle_named.search(text)):
            found.add(path.parent)
    return tuple(sorted(f"{place.relative_to(root).as_posix()}/" for place in found))


def _hand_written(root: Path) -> Iterator[Path]:
    """Yields the files of code, solutions, sources and tests that people write."""
    places = (*PACKAGES, "benchmarks", "tests", "solutions", "notebooks/source")
    for place in places:
        yield from written_files(root / place)


def lines_of_puzzles(root: Path = ROOT) -> dict[str, int]:
    """Returns {puzzle: the lines that are written for it alone}."""
    room_files = written_files(root / "gpu_course")
    return {
        solution.stem: sum(
            map(
                lines_of,
                (
                    solution,
                    solution.parent / "mistakes" / solution.name,
                    solution.with_suffix(".md"),
                    *_own(solution, room_files),
                ),
            )
        )
        for solution in sorted((root / "solutions").glob("[0-9]*/[a-z]*.py"))
    }


def _own(solution: Path, room_files: list[Path]) -> list[Path]:
    topic = solution.parent.name.partition("_")[2]
    return [
        path
        for path in room_files
        if path.stem == solution.stem and topic in path.parts and "claims" not in path.parts
    ]


def branches(tree: ast.AST) -> int:
    """Returns the branches of a function, or of any piece of code.

    >>> branches(ast.parse("if a and b: pass"))
    3
    """
    total = 1
    for node in ast.walk(tree):
        if isinstance(node, ast.BoolOp):
            total += len(node.values) - 1
        elif isinstance(node, (ast.For, ast.While, ast.AsyncFor)):
            total += 1 + bool(node.orelse)
        elif isinstance(node, ast.comprehension):
            total += 1 + len(node.ifs)
        elif isinstance(node, (ast.If, ast.IfExp, ast.ExceptHandler, ast.match_case, ast.Assert)):
            total += 1
    return total


def branching(root: Path = ROOT) -> list[tuple[int, str]]:
    """Returns (branches, "file:line function") of functions with more than `MANY_BRANCHES`."""
    found = []
    for package in PACKAGES:
        for path in written_files(root / package):
            if path.suffix == ".py":
                place = path.relative_to(root).as_posix()
                found += [
                    (number, f"{place}:{node.lineno} {node.name}")
                    for node in _functions(ast.parse(path.read_text(encoding="utf-8")))
                    if (number := branches(node)) > MANY_BRANCHES
                ]
    return sorted(found, reverse=True)


def _functions(tree: ast.AST) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    """Yields functions and methods; not those inside a function, which count with it."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield node
        else:
            yield from _functions(node)


def files_entered(root: Path) -> set[str]:
    """Returns the files of the tree in which one launch calls a function: in this process."""
    import numpy as np
    from numba import cuda

    from gpu_course import simulate

    def add_ten(out, a):
        i = cuda.grid(1)
        out[i] = a[i] + 10

    entered: set[str] = set()

    def note(frame: FrameType, event: str, _: Any) -> None:
        if event == "call":
            entered.add(frame.f_code.co_filename)

    a = np.arange(8.0)
    out = np.zeros(8)
    sys.setprofile(note)
    simulate(add_ten)[1, 8](out, a)
    sys.setprofile(None)
    return {
        Path(name).relative_to(root).as_posix()
        for name in entered
        if any(root / package in Path(name).parents for package in PACKAGES)
    }


def files_entered_apart(root: Path = ROOT) -> list[str]:
    """Returns the same from a process of its own, where nothing is imported yet."""
    done = subprocess.run(
        [sys.executable, __file__, "--root", str(root), "--entered"],
        env={**os.environ, "PYTHONPATH": str(root)},
        cwd=root,
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.split()


def outside_lessons(found: tuple[Room, ...]) -> int:
    """Returns the lines of the course that stand in no lesson's room."""
    course, lessons = "gpu_course/", "gpu_course/lessons/"
    return sum(
        room.lines
        for room in found
        if room.name.startswith(course) and not room.name.startswith(lessons)
    )


def report(root: Path, lesson: str, console: Console) -> None:
    """Prints the rooms, the figures, and what stands behind each of them."""
    found = rooms(root)
    sizes = Table("room", title="Rooms", title_justify="left")
    for title in ("files", "lines"):
        sizes.add_column(title, justify="right")
    for room in found:
        sizes.add_row(room.name, f"{room.files:,}", f"{room.lines:,}")
    console.print(sizes)

    puzzles = lines_of_puzzles(root)
    lists = {
        f"places of lesson {lesson}": places_of(lesson, root),
        "files that one launch enters": files_entered_apart(root),
        f"functions of more than {MANY_BRANCHES} branches": [
            f"{number}  {place}" for number, place in branching(root)
        ],
    }
    figures = {
        "lines of gpu_course outside lessons/": outside_lessons(found),
        f"lines of a puzzle, median of {len(puzzles)}": statistics.median(puzzles.values()),
        **{what: len(each) for what, each in lists.items()},
    }
    counted = Table("what", title="Figures", title_justify="left")
    counted.add_column("how many", justify="right")
    for what, number in figures.items():
        counted.add_row(what, f"{number:,.0f}")
    console.print(counted)
    for what, each in lists.items():
        print(f"{what[0].upper()}{what[1:]}:", *each, sep="\n  ")


def main(
    root: Annotated[Path, typer.Option(help="of another working tree")] = ROOT,
    lesson: Annotated[str, typer.Option(help="whose places are listed")] = LESSON,
    entered: Annotated[bool, typer.Option(hidden=True)] = False,
) -> None:
    """Says how large the rooms are, and in how many places one idea lies."""
    root = root.resolve()
    if entered:
        print("\n".join(sorted(files_entered(root))))
        return
    report(root, lesson, Console())


if __name__ == "__main__":
    typer.run(main)
