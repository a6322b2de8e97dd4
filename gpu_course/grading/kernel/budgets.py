"""Right, but at what price: counters held against the limits a puzzle sets."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce

from gpu_course.errors import CatalogueError
from gpu_course.grading.kernel import trial
from gpu_course.grading.kernel.loads_again import Again, loads_again
from gpu_course.grading.kernel.spare_barriers import Spare, spare_barriers
from gpu_course.grading.kernel.trial import Trial
from gpu_course.grading.verdicts.messages import which_case, which_hint
from gpu_course.grading.verdicts.sections import Section, code_line, fact, section
from gpu_course.puzzle import Budget, KernelPuzzle
from gpu_course.units import of_so_many
from simt.kernel.source import Kernel
from simt.report import Counters, Report

MAX_LINES = 4
SHARED_BYTES = "shared_bytes"
INDEXED_BYTES = "indexed_bytes"
"""What a budget calls the shared memory of a block, and a thread's local arrays that are indexed by
what is known only as the kernel runs: all else it names is a counter."""


@dataclass(frozen=True)
class Overrun:
    """A budget that a trial went past: what was counted, and what may be.

    Attributes:
        budget: the budget.
        counted, limit: of the whole case, or of `function` alone.
        function: the one kernel of several that costs more than the reference's, or "".
    """

    budget: Budget
    counted: int
    limit: int
    function: str = ""


def overrun(puzzle: KernelPuzzle, tried: Trial) -> Overrun | None:
    """Returns the first budget of a puzzle that a trial goes past, or None.

    Raises:
        CatalogueError: a limit needs the reference solution, and it is not there.
    """
    reference: Trial | None = None
    for budget in puzzle.budgets:
        limit, spare = budget.limit, 0
        if callable(limit):
            reference = reference or trial.reference_trial(puzzle, tried.given)
            limit = limit(tried.given.case, reference.counters)
        counted = _counted(tried.reports, budget.counter)
        if counted > limit and budget.spare is not None:
            reference = reference or trial.reference_trial(puzzle, tried.given)
            spare = budget.spare(reference.counters)
        if counted > limit + spare:
            return _of_one_function(puzzle, tried, Overrun(budget, counted, int(limit)))
    return None


def _of_one_function(puzzle: KernelPuzzle, tried: Trial, found: Overrun) -> Overrun:
    """Returns the overrun of the kernel that is furthest beyond the reference's, where one is."""
    if len(puzzle.functions) == 1:
        return found
    path = found.budget.counter
    reference = trial.reference_trial(puzzle, tried.given)
    pairs = {
        name: (_counted(_reports(tried, name), path), _counted(_reports(reference, name), path))
        for name in puzzle.functions
    }
    name, (counted, limit) = max(pairs.items(), key=lambda item: item[1][0] - item[1][1])
    return Overrun(found.budget, counted, limit, name) if counted > limit else found


def _reports(tried: Trial, function: str) -> list[Report]:
    pairs = zip(tried.given.launches, tried.reports, strict=False)
    return [report for launch, report in pairs if launch.function == function]


def _counted(reports: Sequence[Report], path: str) -> int:
    """Returns what a budget is held against, of some launches."""
    if path in (SHARED_BYTES, INDEXED_BYTES):
        return max((getattr(report.launch, path) for report in reports), default=0)
    return counter(Counters.total([report.counters for report in reports]), path)


def counter(counters: Counters, path: str) -> int:
    """Returns one counter by its dotted path, or the sum of several that a + joins.

    >>> counter(Counters(barriers=3), "barriers"), counter(Counters(), "global_load.sectors")
    (3, 0)
    >>> counter(Counters(barriers=3, branches=4), "barriers + branches")
    7
    """
    try:
        found = [reduce(getattr, each.split("."), counters) for each in path.split(" + ")]
        return sum(int(each) for each in found)  # type: ignore[call-overload]
    except (AttributeError, TypeError):
        raise CatalogueError(f"a budget names the counter {path!r}, which does not exist") from None


@dataclass(frozen=True)
class Charge:
    """What a budget was spent on.

    Attributes:
        costly: (kernel, line, count) of the lines that add most, the largest first.
        spare: barriers that every case is right without.
        again: (kernel, load of what had been loaded already), the largest first, where these are
            what there is too much.
    """

    costly: Sequence[tuple[Kernel, int, int]]
    spare: Sequence[Spare] = ()
    again: Sequence[tuple[Kernel, Again]] = ()

    def lines(self, kernel: Kernel) -> tuple[int, ...]:
        """Returns the lines of a kernel that are told, in the order they are told in."""
        if self.again:
            told = (again.line for each, again in self.again[:MAX_LINES] if each is kernel)
            return tuple(dict.fromkeys(told))
        return tuple(number for each, number, _ in self.costly[:MAX_LINES] if each is kernel)


def charge(
    puzzle: KernelPuzzle,
    tried: Trial,
    found: Overrun,
    kernels: Mapping[str, Kernel],
    right: Sequence[Trial],
) -> Charge:
    """Returns which lines of an answer went past a budget.

    Args:
        puzzle, kernels: the puzzle, and the answer's kernels by name.
        tried: the trial that cost too much, and `found` what of.
        right: the trials of all cases, which tell what the answer could do without.
    """
    costly = costly_lines(tried, found, kernels)
    if found.budget.counter != "barriers":
        excess = found.counted - found.limit
        again = loads_again(tried, found.budget.counter, excess, found.function)
        return Charge(costly, again=[(kernels[each.function], each) for each in again])
    spare = _spare(puzzle, found, kernels, right)
    places = {(each.kernel.name, number) for each in spare for number in each.lines}
    few = [each for each in costly if not places or (each[0].name, each[1]) in places]
    return Charge(few, spare)


def costliest_launch(tried: Trial, found: Overrun) -> int:
    """Returns the number of the launch of a trial that counted most of what there is too much."""
    path = found.budget.counter
    launches = zip(tried.given.launches, tried.reports, strict=True)
    counts = [
        _counted([report], path) if found.function in ("", launch.function) else -1
        for launch, report in launches
    ]
    return max(range(len(counts)), key=counts.__getitem__)


def over_budget(
    puzzle: KernelPuzzle, tried: Trial, found: Overrun, charge: Charge
) -> list[Section]:
    """Returns what is said of a result that is right and costs too much: which line costs what.

    Args:
        puzzle: the puzzle.
        tried: the trial that cost too much, and `found` what of.
        charge: which lines it went to.
    """
    budget = found.budget
    words = budget.words or budget.counter
    what = f"{of_so_many(found.counted, words)}, and {found.limit:,} would do"
    said = [*fact(f"right, but {budget.fact or what}"), *section("why", budget.lesson)]
    if budget.counter == "barriers":
        said += section("spare", _spare_words(charge.spare))
    for kernel, again in charge.again[:MAX_LINES]:
        line = again.text(f"{kernel.file}:{again.line}")
        said += section("again", line, *code_line(kernel.text(again.line)))
    costly = () if charge.again else charge.costly[:MAX_LINES]
    for kernel, number, cost in costly:
        place = f"{kernel.file}:{number}"
        plain = budget.fact or not cost
        label, line = ("where", place) if plain else ("cost", f"{cost:,} in {place}")
        said += section(label, line, *code_line(kernel.text(number)))
    launches = [each for each in tried.given.launches if each.function == found.function]
    said += which_case(tried.given.case, launches[0] if launches else None)
    return said + which_hint(puzzle, "over-budget")


def _spare(
    puzzle: KernelPuzzle, found: Overrun, kernels: Mapping[str, Kernel], right: Sequence[Trial]
) -> list[Spare]:
    functions = [found.function] if found.function else puzzle.functions
    givens = [each.given for each in right]
    each = (spare_barriers(puzzle, givens, function, kernels) for function in functions)
    return [spare for spare in each if spare is not None]


def _spare_words(spare: Sequence[Spare]) -> str:
    """Returns what was found when each barrier was left out in turn."""
    lines = sum(len(each.lines) for each in spare)
    if not lines:
        return (
            "As your kernel stands, it goes wrong without any one of its barriers. Arrange the "
            "steps between them in another way, and fewer will do."
        )
    if lines == 1 and spare[0].all_at_once:
        return "Without this barrier every case is still right, and nothing races."
    if all(each.all_at_once for each in spare):
        return "Without these barriers every case is still right, and nothing races."
    return (
        "Not all of these are needed: without any one of them every case is still right, and "
        "nothing races."
    )


def costly_lines(
    tried: Trial, found: Overrun, kernels: Mapping[str, Kernel]
) -> Sequence[tuple[Kernel, int, int]]:
    """Returns (kernel, line, count) of the lines that add most to a counter, the largest first.

    Of the shared memory of a block, the lines that declare some, each with 0; of local arrays,
    those that index one by something unknown, likewise.
    """
    if found.budget.counter == SHARED_BYTES:
        mine = [k for name, k in kernels.items() if found.function in ("", name)]
        return [(kernel, number, 0) for kernel in mine for number in _declarations(kernel)]
    if found.budget.counter == INDEXED_BYTES:
        return _indexed_lines(tried, found, kernels)
    costs: dict[tuple[str, int], int] = {}
    for launch, report in zip(tried.given.launches, tried.reports, strict=True):
        if found.function not in ("", launch.function):
            continue
        for number, counters in report.by_line.items():
            if cost := counter(counters, found.budget.counter):
                key = (launch.function, number)
                costs[key] = costs.get(key, 0) + cost
    ranked = sorted(costs.items(), key=lambda item: (-item[1], item[0]))
    return [(kernels[name], number, cost) for (name, number), cost in ranked]


def _indexed_lines(
    tried: Trial, found: Overrun, kernels: Mapping[str, Kernel]
) -> list[tuple[Kernel, int, int]]:
    pairs = zip(tried.given.launches, tried.reports, strict=True)
    lines = {
        (launch.function, number)
        for launch, report in pairs
        for number in report.launch.indexed_lines
        if found.function in ("", launch.function)
    }
    return [(kernels[name], number, 0) for name, number in sorted(lines)]


def _declarations(kernel: Kernel) -> list[int]:
    """The lines of a kernel that declare shared memory."""
    calls = [node for node in ast.walk(kernel.tree) if isinstance(node, ast.Call)]
    return sorted({c.lineno for c in calls if ast.unparse(c.func).endswith("shared.array")})
