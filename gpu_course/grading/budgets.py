"""Right, but at what price: counters held against the limits a puzzle sets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from pathlib import Path
from typing import Any

import gpu_course
from gpu_course.catalog import Budget, KernelPuzzle
from gpu_course.errors import CatalogueError
from gpu_course.grading import trial
from gpu_course.grading.messages import advice, case_line, line
from gpu_course.grading.trial import Given, Trial
from gpu_course.simt import source
from gpu_course.simt.report import Counters
from gpu_course.simt.source import Kernel

MOST_LINES = 3


@dataclass(frozen=True)
class Overrun:
    """A budget that a trial went past: what was counted, and what may be."""

    budget: Budget
    counted: int
    limit: int


def overrun(puzzle: KernelPuzzle, tried: Trial) -> Overrun | None:
    """Returns the first budget of a puzzle that a trial goes past, or None.

    Raises:
        CatalogueError: a limit needs the reference solution, and it is not there.
    """
    for budget in puzzle.budgets:
        limit = budget.limit
        if callable(limit):
            limit = limit(tried.given.case, reference_counters(puzzle, tried.given))
        counted = counter(tried.counters, budget.counter)
        if counted > limit:
            return Overrun(budget, counted, int(limit))
    return None


def counter(counters: Counters, path: str) -> int:
    """Returns one counter by its dotted path.

    >>> counter(Counters(barriers=3), "barriers"), counter(Counters(), "global_load.sectors")
    (3, 0)
    """
    try:
        found: Any = reduce(getattr, path.split("."), counters)
        return int(found)
    except (AttributeError, TypeError):
        raise CatalogueError(f"a budget names the counter {path!r}, which does not exist") from None


def reference_counters(puzzle: KernelPuzzle, given: Given) -> Counters:
    """Returns what the reference solution costs on a case.

    Raises:
        CatalogueError: the checkout has no solution of this puzzle.
    """
    file = solutions_folder() / f"{puzzle.name}.py"
    if not file.is_file():
        raise CatalogueError(
            f"the reference solution of {puzzle.name} is missing, and its budget is measured by it",
            "restore solutions/ of the checkout",
        )
    module = source.load(file)
    kernels = {name: module.kernel(name) for name in puzzle.functions}
    return trial.attempt(given, kernels, 0).counters


def solutions_folder() -> Path:
    """Returns solutions/ of the checkout this package lies in."""
    return Path(gpu_course.__path__[0]).parent / "solutions"


def over_budget(
    puzzle: KernelPuzzle, tried: Trial, found: Overrun, kernels: Mapping[str, Kernel]
) -> list[str]:
    """Returns the lines on a result that is right and costs too much: which line costs what."""
    path = found.budget.counter
    lines = [
        f"right, but over budget: {path} is {found.counted:,} and may be {found.limit:,}",
        *case_line(puzzle, tried.given.case),
    ]
    for kernel, number, cost in costly_lines(tried, path, kernels)[:MOST_LINES]:
        text = f"{cost:,} in {kernel.file}:{number}    {kernel.text(number)}"
        lines += line("cost", text.rstrip())
    return lines + advice(puzzle, "over-budget", found.budget.lesson.rstrip("."))


def costly_lines(
    tried: Trial, path: str, kernels: Mapping[str, Kernel]
) -> Sequence[tuple[Kernel, int, int]]:
    """Returns (kernel, line, count) of every line that adds to a counter, the dearest first."""
    costs: dict[tuple[str, int], int] = {}
    for launch, report in zip(tried.given.launches, tried.reports, strict=True):
        for number, counters in report.by_line.items():
            if cost := counter(counters, path):
                key = (launch.function, number)
                costs[key] = costs.get(key, 0) + cost
    ranked = sorted(costs.items(), key=lambda item: (-item[1], item[0]))
    return [(kernels[name], number, cost) for (name, number), cost in ranked]
