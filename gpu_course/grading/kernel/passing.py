"""What a pass of kernels says: what the answer did, counted, why it works, another way, a bonus."""

from __future__ import annotations

from collections.abc import Sequence

from gpu_course.errors import CatalogueError
from gpu_course.grading.kernel import budgets, trial
from gpu_course.grading.kernel.trial import Trial
from gpu_course.grading.verdicts.messages import debrief_sections, describe
from gpu_course.grading.verdicts.sections import Section, section
from gpu_course.puzzle import KernelPuzzle
from gpu_course.units import of_so_many

IN_FLOAT64 = (
    "float64, which has 8 bytes a number, where the solution has none. In Numba a plain number "
    "such as 0 or 0.0 can make a whole sum float64; float32(0) does not. Most GPUs have far fewer "
    "units for float64 than for float32."
)
"""What is said of operations in float64 that a puzzle does not ask for, after their number."""

COUNTED = {
    "global_load.bytes": "{} bytes read",
    "global_store.bytes": "{} bytes written",
    "global_load.sectors": "{} sectors read",
    "global_store.sectors": "{} sectors written",
    "global_load.excess_sectors": "{} excess sectors in loads",
    "global_store.excess_sectors": "{} excess sectors in stores",
    "global_load.requests": "warps loaded {times}",
    "global_load.excess_sectors + global_store.excess_sectors": "{} excess sectors in all",
    "red.requests": "warps sent {} atomic requests",
    "red.sectors": "{} sectors updated",
    "shared_load.conflicts": "{} bank conflicts in reads",
    "shared_store.conflicts": "{} in writes",
    "shared_load.requests": "warps read the tile {times}",
    "shared_store.requests": "wrote to it {times}",
    "shared_load.wavefronts": "{} passes to read the tile",
    "shared_store.wavefronts": "{} passes to write it",
    "wide_loads": "{} loads if each brings 16 bytes",
    "fma": "{} multiply-adds",
    "float32_operations": "{} operations in float32",
    "float64_operations": "{} in float64",
    "shuffles": "warps shuffled {times}",
    "atomic_updates": "{} atomics, thread by thread",
    "barriers": "warps waited at a barrier {times}",
    "branches": "warps met a branch {times}",
    "divergent_branches": "split {times}",
}
"""Counter -> how a pass says it."""


def pass_sections(puzzle: KernelPuzzle, right: Sequence[Trial]) -> list[Section]:
    """Returns what a pass of kernels says beyond the points.

    Args:
        puzzle: the puzzle.
        right: the trials of all cases, that of the visible example first.
    """
    told = puzzle.debrief
    if told is None:
        return []
    parts = [counted_text(path, budgets.counter(right[0].counters, path)) for path in told.shows]
    seen = f"{describe(right[0].given.case)}: {', '.join(parts)}"
    return [
        *section("yours", seen),
        *section("also", _in_float64(puzzle, right)),
        *debrief_sections(told, _bonus(puzzle, right)),
    ]


def _in_float64(puzzle: KernelPuzzle, right: Sequence[Trial]) -> str:
    """Returns what is said of float64 where the reference solution has none, or ""."""
    for tried in right:
        if counted := tried.counters.float64_operations:
            try:
                reference = trial.reference_trial(puzzle, tried.given)
            except CatalogueError:  # Without a solution to compare with, a pass is still a pass.
                return ""
            if reference.counters.float64_operations:
                return ""
            where = "" if tried is right[0] else f" in the case {describe(tried.given.case)}"
            return f"{of_so_many(counted, 'operations')}{where} in {IN_FLOAT64}"
    return ""


def _bonus(puzzle: KernelPuzzle, right: Sequence[Trial]) -> str:
    """Returns the bonus and whether all trials meet it; the first that does not is named."""
    bonus, told = puzzle.bonus, puzzle.debrief
    if bonus is None or told is None:
        return ""
    found = [
        (tried, budgets.counter(tried.counters, bonus.counter), bonus.limit(tried.given.case))
        for tried in right
    ]
    beyond = [each for each in found if each[1] > each[2]]
    tried, counted, limit = (beyond or found)[0]
    word = "not met yet" if beyond else "met"
    where = "" if tried is right[0] else f" in the case {describe(tried.given.case)}"
    yours = counted_text(bonus.counter, counted)
    return f"{word}: {told.goal} Yours: {yours}{where}; the goal is {limit:,}."


def counted_text(path: str, number: int) -> str:
    """Returns a count in words: "warps shuffled 5 times".

    Args:
        path: a key of COUNTED.
        number: how many.
    """
    times = {1: "once", 2: "twice"}.get(number, f"{number:,} times")
    words = COUNTED[path]
    if not number and "{times}" in words:
        who = "warps " if words.startswith("warps ") else ""
        return f"{who}never {words.removeprefix(who).removesuffix(' {times}')}"
    before, sums, after = words.partition("{} ")
    if sums and not after.startswith("in "):
        return before + of_so_many(number, after)
    return words.format(f"{number:,}", times=times)
