"""How long a learner waits for a verdict: `make bench` runs this file.

Two checks of each kernel puzzle are timed, in a process that is warm, as the one behind `live` is.
That of the solution runs every case in both orders. That of the first named mistake goes on to the
HTML a notebook shows, picture included.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from gpu_course.grading.check import check
from gpu_course.grading.kernel.answers import mistake_answer
from gpu_course.grading.verdicts.exports import verdict_html
from gpu_course.grading.verdicts.verdict import Verdict
from gpu_course.puzzle import KernelPuzzle, index

SOLUTIONS = Path(__file__).parents[2] / "solutions"
ROUNDS = 5
MAX_MEDIAN_S = 0.1
MAX_WORST_S = 1.0


def time_of(run: Callable[[int], Verdict]) -> tuple[float, Verdict]:
    """Returns (median seconds, the last verdict) of a check, each time with another random case."""
    seconds = []
    for seed in range(ROUNDS):
        start = time.perf_counter()
        verdict = run(seed)
        seconds.append(time.perf_counter() - start)
    return statistics.median(seconds), verdict


def solved(puzzle: KernelPuzzle, seed: int) -> Verdict:
    """Returns the verdict on the solution."""
    return check(puzzle, answer=SOLUTIONS, seed=seed)


def mistaken(puzzle: KernelPuzzle, seed: int) -> Verdict:
    """Returns the verdict on the first named mistake, once its HTML is drawn."""
    answer = mistake_answer(puzzle, puzzle.mistakes[0], SOLUTIONS)
    verdict = check(puzzle, answer=answer, seed=seed)
    verdict_html(verdict)
    return verdict


def measure(puzzles: list[KernelPuzzle]) -> list[dict[str, Any]]:
    """Returns, for each puzzle, the seconds of both checks and whether they ended as they must."""
    for puzzle in puzzles[:1]:
        mistaken(puzzle, 0)  # imports matplotlib and finds its fonts
    rows = []
    for puzzle in puzzles:
        right_s, right = time_of(lambda seed, puzzle=puzzle: solved(puzzle, seed))
        wrong_s, wrong = time_of(lambda seed, puzzle=puzzle: mistaken(puzzle, seed))
        picture = "<img" in verdict_html(wrong)
        rows.append(
            {
                "name": puzzle.name,
                "solution_s": right_s,
                "mistake_s": wrong_s,
                "picture": picture,
                "as_expected": right.passed and not wrong.passed,
            }
        )
    return rows


def table(rows: list[dict[str, Any]]) -> Table:
    """Returns the puzzles as a table."""
    shown = Table("puzzle", title="Milliseconds per check, warm")
    for title in ("solution", "first mistake, drawn"):
        shown.add_column(title, justify="right")
    shown.add_column("picture")
    for row in rows:
        shown.add_row(
            row["name"],
            f"{row['solution_s'] * 1e3:.0f}",
            f"{row['mistake_s'] * 1e3:.0f}",
            "yes" if row["picture"] else "no",
        )
    return shown


def main() -> int:
    """Runs the benchmark; 1 when a verdict is not as expected. A busy machine is no fault."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help="only these puzzles")
    parser.add_argument("--json", type=Path, metavar="PATH", help="also write the numbers here")
    options = parser.parse_args()
    console = Console()
    chosen = [index.find(name) for name in options.names] or list(index.puzzles())
    kernels = [puzzle for puzzle in chosen if isinstance(puzzle, KernelPuzzle)]
    rows = measure(kernels)
    console.print(table(rows))
    for key, what in (("solution_s", "solution"), ("mistake_s", "first mistake, drawn")):
        seconds = {row["name"]: row[key] for row in rows}
        median, worst = statistics.median(seconds.values()), max(seconds, key=seconds.__getitem__)
        late = median > MAX_MEDIAN_S or seconds[worst] > MAX_WORST_S
        console.print(
            f"{what}: median {median * 1e3:.0f} ms (at most {MAX_MEDIAN_S * 1e3:.0f}),"
            f" worst {seconds[worst] * 1e3:.0f} ms (at most {MAX_WORST_S * 1e3:.0f}), {worst}"
            f"{': too slow, or the machine is busy' if late else ''}"
        )
    wrong = [row["name"] for row in rows if not row["as_expected"]]
    if wrong:
        console.print(f"[bold]not the expected verdict[/]: {', '.join(wrong)}")
    if options.json:
        options.json.write_text(json.dumps(rows, indent=2) + "\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
