"""Runs launches by the interpreter and compiled, and says where they differ: never, it should be.

`python -m benchmarks.both_ways course` runs every launch of every case of all answers to the
course's kernel puzzles that are kept anywhere; `... random --kernels 20000` runs kernels drawn at
random, of which a part has lost a line that matters; `... generators` those that the tests of the
simulator draw. LLVM tries less hard at `--level 0`, and compiles twenty times as fast: what is
written for it is the same.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import Annotated, Any

import typer

from simt.compiled import jit, run
from tests.simt.compiled import course, generators, random_kernels
from tests.simt.compiled.both_ways import (
    HAZARD,
    NOT_COMPILED,
    SAME,
    SUSPECT,
    WRONG,
    Seen,
    both_ways,
)

app = typer.Typer(add_completion=False)
AT_ONCE = 20
"""Kernels or answers that a process is handed at a time."""
Jobs = Annotated[int, typer.Option(help="processes")]
Level = Annotated[int, typer.Option(help="how hard LLVM tries, 0 to 2")]


@app.command("course")
def of_course(
    only: Annotated[list[str] | None, typer.Option(help="a puzzle's last part")] = None,
    first: Annotated[int, typer.Option(help="the number of the first answer")] = 0,
    jobs: Jobs = 1,
    level: Level = 0,
) -> None:
    """All answers of the course."""
    answers = list(enumerate(course.everything()))[first:]
    numbers = [n for n, each in answers if not only or each.puzzle in only]
    _report(_spread(partial(_answers, level), numbers, jobs))


@app.command("random")
def of_random(
    kernels: Annotated[int, typer.Option(help="how many")] = 20_000,
    first: Annotated[int, typer.Option(help="the seed of the first")] = 0,
    jobs: Jobs = 1,
    level: Level = 0,
) -> None:
    """Kernels drawn at random."""
    _report(_spread(partial(_drawn, level), range(first, first + kernels), jobs))


@app.command("generators")
def of_generators(
    examples: Annotated[int, typer.Option(help="kernels of each")] = 1000, level: Level = 0
) -> None:
    """Kernels that the simulator's own tests draw, whole and with a line missing."""
    jit.LEVEL = level
    seen = Seen()
    with tempfile.TemporaryDirectory() as folder:
        for draw in generators.GENERATORS:
            draw(seen, Path(folder), examples)
            _forget()
    _report(seen)


def _answers(level: int, numbers: Sequence[int]) -> Seen:
    jit.LEVEL = level
    seen, answers = Seen(), course.everything()
    with tempfile.TemporaryDirectory() as folder:
        for number in numbers:
            answers[number].run(Path(folder), seen)
            _forget()
    return seen


def _drawn(level: int, seeds: Sequence[int]) -> Seen:
    jit.LEVEL = level
    seen = Seen()
    with tempfile.TemporaryDirectory() as folder:
        for seed in seeds:
            seen.label = f"seed {seed}"
            try:
                with both_ways(seen):
                    random_kernels.draw(seed).launch(Path(folder))
            except Exception as error:
                seen.counts[f"refused {type(error).__name__}"] += 1
            _forget()
    return seen


def _forget() -> None:
    """Lets go of compiled kernels, of which thousands would not fit."""
    run.forget()


def _spread(work: Callable[[Sequence[int]], Seen], numbers: Sequence[int], jobs: int) -> Seen:
    """Runs work on numbers, a few at a time, in processes; says how far it has come."""
    parts = [numbers[at : at + AT_ONCE] for at in range(0, len(numbers), AT_ONCE)]
    seen, begun = Seen(), time.monotonic()
    with ProcessPoolExecutor(jobs, mp_context=get_context("spawn")) as pool:
        for number, part in enumerate(pool.map(work, parts), 1):
            seen.add(part)
            for label, kind, more in part.wrong:
                print(f"WRONG {label}: {kind}\n{more}", flush=True)
            if number % 10 == 0:
                seconds = time.monotonic() - begun
                print(f"{number} of {len(parts)} parts, {seconds:.0f} s", flush=True)
    return seen


def _report(seen: Seen) -> None:
    """Prints what became of the launches; ends with 1 where one differs."""
    rows: list[tuple[str, Any]] = [
        ("launches", seen.launches),
        ("compiled, clean and the same", seen.counts[SAME]),
        ("compiled, suspicious with a hazard", seen.counts[HAZARD]),
        ("compiled, suspicious though clean", seen.counts[SUSPECT]),
        ("not compiled", seen.counts[NOT_COMPILED]),
        ("wrong", sum(seen.counts[kind] for kind in WRONG)),
    ]
    for name, count in rows:
        print(f"{name:40} {count:>9,}")
    ours = {SAME, HAZARD, SUSPECT, NOT_COMPILED, *WRONG}
    for name, count in seen.counts.most_common():
        if name not in ours:
            print(f"  beside them, {name:26} {count:>9,}")
    for title, found in (("not compiled", seen.reasons), ("suspicious", seen.doubts)):
        for what, count in found.most_common(30):
            print(f"{title}: {count:,} {what}")
    for label, kind, more in seen.wrong[:50]:
        print(f"WRONG {label}: {kind}\n{more}")
    sys.exit(1 if seen.wrong else 0)


if __name__ == "__main__":
    app()
