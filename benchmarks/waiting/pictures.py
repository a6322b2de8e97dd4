"""How long the picture below a failed check takes: part of `make bench`.

Three named mistakes of every kernel puzzle are checked, and the picture of its verdict is made anew
several times, from the verdict to the HTML that a page shows. Times are of the processor, which
other work on the machine changes little; what the browser adds is not in them.
"""

from __future__ import annotations

import statistics
import time

from rich.console import Console
from rich.table import Table

from gpu_course.draw.paper.picture import figure_html
from gpu_course.grading.check import check
from gpu_course.grading.kernel.trial import solutions_folder
from gpu_course.grading.verdicts import exports, pictures
from gpu_course.grading.verdicts.verdict import Verdict
from gpu_course.puzzle import KernelPuzzle, index

MAX_MS = 100
"""From a verdict to its picture: what still feels instant."""
RUNS = 5
MISTAKES = 3


def failures(puzzle: KernelPuzzle) -> list[Verdict]:
    """Returns the verdicts on the named mistakes of a puzzle that have a picture."""
    folder = solutions_folder()
    mistakes = folder / puzzle.lesson / "mistakes" / f"{puzzle.short_name}.py"
    found = []
    for mistake in puzzle.mistakes[:MISTAKES]:
        wrong = mistake.stands_for or puzzle.functions[0]
        answer = {
            function: f"{folder / puzzle.name}.py:{function}" for function in puzzle.functions
        } | {wrong: f"{mistakes}:{mistake.function}"}
        verdict = check(puzzle.name, answer=answer, seed=0)
        if pictures.verdict_figure(verdict) is not None:
            found.append(verdict)
    return found


def measure(puzzle: KernelPuzzle) -> tuple[list[float], list[float]]:
    """Returns the milliseconds of each failure's picture as it is shown, and as pixels instead."""
    shown, pixels = [], []
    for verdict in failures(puzzle):
        for taken, make in (
            (shown, lambda verdict=verdict: exports.verdict_picture(verdict)),
            (pixels, lambda verdict=verdict: figure_html(pictures.verdict_figure(verdict))),
        ):
            each = []
            for _ in range(RUNS):
                start = time.process_time()
                make()
                each.append(time.process_time() - start)
            taken.append(statistics.median(each) * 1e3)
    return shown, pixels


def main() -> None:
    """Prints the table."""
    title = f"the picture of a failed check (the median should take under {MAX_MS} ms)"
    table = Table(title=title)
    for column in ("puzzle", "failures", "median ms", "worst ms", "as pixels, median ms"):
        table.add_column(column, justify="left" if column == "puzzle" else "right")
    everything: tuple[list[float], list[float]] = [], []
    for puzzle in index.puzzles():
        if isinstance(puzzle, KernelPuzzle):
            shown, pixels = measure(puzzle)
            everything[0].extend(shown)
            everything[1].extend(pixels)
            table.add_row(puzzle.name, *_row(shown, pixels))
    table.add_row("all", *_row(*everything), style="bold")
    Console().print(table)


def _row(shown: list[float], pixels: list[float]) -> list[str]:
    if not shown:
        return ["0", "", "", ""]
    middle = statistics.median
    return [str(len(shown)), f"{middle(shown):.0f}", f"{max(shown):.0f}", f"{middle(pixels):.0f}"]


if __name__ == "__main__":
    main()
