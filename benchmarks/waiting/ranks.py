"""How long four ranks take to be ready, how soon each way of failing is told, how long checks take.

`python -m benchmarks.waiting.ranks [RUNS]` prints medians over RUNS runs (5 unless told). With
`--told` it prints instead each way in which ranks fail, of those that the tests hold, with its
seconds and what is said of it, as a table in Markdown.
"""

from __future__ import annotations

import contextlib
import statistics
import sys
import tempfile
import time
from pathlib import Path

from rich.console import Console
from rich.table import Table

from gpu_course.grading.check import check
from gpu_course.puzzle import PythonPuzzle, index
from gpu_course.ranks import runner
from tests.gpu_course.ranks.programs import ENDLESS, FAILURES

RANKS = 4
SOLUTIONS = Path(__file__).parents[2] / "solutions"
HEAD = """
import os
import torch
import torch.distributed as dist


def main():
    r, n = dist.get_rank(), dist.get_world_size()
    x = torch.zeros(1024)
    dist.barrier()
"""
BODIES = {
    "all-reduce, four ranks": "    dist.all_reduce(x)",
    "each receives before it sends": "    dist.recv(x, (r - 1) % n); dist.send(x, (r + 1) % n)",
    "one skips a collective": "    r == 1 or dist.all_reduce(x)",
    "one calls another collective": "    dist.broadcast(x, 0) if r == 1 else dist.all_reduce(x)",
    "sizes differ": "    dist.all_reduce(x[: 512 + r])",
    "one ends": "    r == 1 and os._exit(1)\n    dist.all_reduce(x)",
    "one never calls": "    while r == 1: pass\n    dist.all_reduce(x)",
}


def ready_s() -> float:
    """Returns how long a world takes until its ranks have joined."""
    began = time.perf_counter()
    with runner.world(RANKS, "ready.py"):
        return time.perf_counter() - began


def every_failure(runs: int) -> None:
    """Prints a row for each way of failing: what it is, seconds until it is told, first words."""
    programs = {name: (text, runner.MAX_SECONDS) for name, (text, _) in FAILURES.items()}
    for name, (text, why, _) in ENDLESS.items():
        programs[name] = (text, 10.0 if why[0].isdecimal() else runner.MAX_SECONDS)
    print("| what | seconds | told |\n|---|--:|---|")
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "answer.py"
        for name, (text, seconds) in programs.items():
            file.write_text(text, encoding="utf-8")
            took, said = [], ""
            for _ in range(runs):
                began = time.perf_counter()
                try:
                    runner.run(file, 3, seconds=seconds)
                except runner.RankFailed as error:
                    said = str(error).replace(str(file), "FILE")
                took.append(time.perf_counter() - began)
            told = "; ".join(row.strip() for row in said.splitlines())
            print(f"| {name} | {statistics.median(took):.2f} | {told} |", flush=True)


def told_s(file: Path) -> float:
    """Returns how long a run takes from its start to its result or its error."""
    began = time.perf_counter()
    with contextlib.suppress(runner.RankFailed):
        runner.run(file, RANKS)
    return time.perf_counter() - began


def check_s(puzzle: PythonPuzzle) -> float:
    """Returns how long the check of a solution takes, all its cases and numbers of ranks."""
    began = time.perf_counter()
    verdict = check(puzzle.name, answer=SOLUTIONS / f"{puzzle.name}.py")
    assert verdict.passed, verdict.message
    return time.perf_counter() - began


def main(runs: int) -> None:
    """Prints the table."""
    first = ready_s()
    ready = [ready_s() for _ in range(runs)]
    table = Table(title=f"{RANKS} ranks, seconds, median of {runs}")
    table.add_column("what")
    table.add_column("seconds", justify="right")
    table.add_row("ready, first time (PyTorch is imported)", f"{first:.2f}")
    table.add_row("ready, warm", f"{statistics.median(ready):.2f}")
    with tempfile.TemporaryDirectory() as folder:
        for name, body in BODIES.items():
            file = Path(folder) / "answer.py"
            file.write_text(HEAD + body + "\n", encoding="utf-8")
            took = [told_s(file) for _ in range(runs)]
            table.add_row(f"{name}: told", f"{statistics.median(took):.2f}")
    every: list[float] = []
    for puzzle in index.puzzles():
        if isinstance(puzzle, PythonPuzzle) and puzzle.ranks is not None:
            took = [check_s(puzzle) for _ in range(runs)]
            every += took
            table.add_row(f"check of {puzzle.short_name}", f"{statistics.median(took):.2f}")
    if every:
        table.add_row("a check of a puzzle on ranks", f"{statistics.median(every):.2f}")
    Console().print(table)


if __name__ == "__main__":
    numbers = [int(each) for each in sys.argv[1:] if each.isdecimal()]
    (every_failure if "--told" in sys.argv else main)(numbers[0] if numbers else 5)
