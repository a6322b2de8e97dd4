"""How long each lesson runs from a fresh kernel, top to bottom: `make bench` runs this file.

The learner's edition, before anything is answered, as a newcomer would run all of its cells. What
is timed is what a person waits for: the kernel's start and its imports are in it.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from datetime import datetime
from pathlib import Path

from nbformat import NotebookNode
from rich.console import Console
from rich.table import Table

from authoring.checkout import lesson_sources, read
from authoring.execution import answers_copy, execute
from authoring.notebooks import build_notebook
from authoring.stubs import build_stubs
from gpu_course.puzzle import index

ROOT = Path(__file__).parents[2]
ROUNDS = 3
MAX_S = 60.0


def timed_run(lesson: str, stubs: dict[str, str]) -> tuple[float, float, str]:
    """Returns (seconds of one run, seconds of its slowest cell, that cell's first line)."""
    notebook = build_notebook(lesson, read(lesson_sources(ROOT)[lesson]), stubs)
    with answers_copy(stubs) as answers:
        start = time.perf_counter()
        done = execute(notebook, answers, lesson=lesson, record_timing=True)
        seconds = time.perf_counter() - start
    cells = [cell for cell in done.cells if "execution" in cell.metadata]
    slowest = max(cells, key=cell_seconds)
    return seconds, cell_seconds(slowest), slowest.source.partition("\n")[0]


def cell_seconds(cell: NotebookNode) -> float:
    """Returns how long the kernel was busy with a cell."""
    times = cell.metadata["execution"]
    begin, end = (
        datetime.fromisoformat(times[f"iopub.status.{state}"]) for state in ("busy", "idle")
    )
    return (end - begin).total_seconds()


def main() -> int:
    """Prints a line for each lesson. A lesson over a minute is marked; the machine may be busy."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="LESSON", help="only these, such as 18")
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    options = parser.parse_args()
    with_notebook = list(lesson_sources(ROOT))
    lessons = [index.lesson(name).name for name in options.names] or with_notebook
    for lesson in set(lessons) - set(with_notebook):
        parser.error(f"lesson {lesson} has no notebook yet")
    stubs = build_stubs(ROOT)
    shown = Table(title=f"Seconds from a fresh kernel, median of {options.rounds}")
    shown.add_column("lesson", no_wrap=True, min_width=max(map(len, lessons)))
    for title in ("whole lesson", "slowest cell"):
        shown.add_column(title, justify="right", min_width=6)
    shown.add_column("which begins", no_wrap=True, max_width=24)
    for lesson in lessons:
        runs = [timed_run(lesson, stubs) for _ in range(options.rounds)]
        seconds = statistics.median(run[0] for run in runs)
        _, cell, line = sorted(runs)[len(runs) // 2]
        late = " too long, or the machine is busy" if seconds > MAX_S else ""
        shown.add_row(lesson, f"{seconds:.1f}{late}", f"{cell:.1f}", line)
    Console().print(shown)
    return 0


if __name__ == "__main__":
    sys.exit(main())
