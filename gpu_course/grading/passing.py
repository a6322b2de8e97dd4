"""What a pass says: what the answer did, why it works, another way, a bonus, what is next."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from gpu_course.errors import CatalogueError
from gpu_course.grading.diagnoses.compare import show
from gpu_course.grading.kernel import budgets, trial
from gpu_course.grading.kernel.trial import Trial
from gpu_course.grading.messages import describe
from gpu_course.grading.python.cases import Tried
from gpu_course.grading.sections import Section, command_section, section
from gpu_course.grading.workspace import has_notebook
from gpu_course.puzzle import Case, Debrief, KernelPuzzle, Puzzle, PythonPuzzle, index
from gpu_course.units import of_so_many

MAX_SHOWN = 60
DISCUSSED = "shows the solution and discusses it"

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


def kernel_sections(puzzle: KernelPuzzle, right: Sequence[Trial]) -> list[Section]:
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
        *_debrief(told, _bonus(puzzle, right)),
    ]


def python_sections(puzzle: PythonPuzzle, tried: Tried, got: Mapping[str, Any]) -> list[Section]:
    """Returns what a pass of Python says beyond the points.

    Args:
        puzzle: the puzzle.
        tried, got: the visible example, and what came of it.
    """
    told = puzzle.debrief
    if told is None:
        return []
    parts = [_measured(name, got[name]) for name in told.shows if name in got]
    # Where the sizes of a case say little of what the answer was given, its call says it.
    call = None if puzzle.call is None else puzzle.call(dict(tried.inputs))
    case = call or describe(_as_stated(puzzle, tried.case))
    return [*section("yours", f"{case}: {', '.join(parts)}"), *_debrief(told, "")]


def _as_stated(puzzle: PythonPuzzle, case: Case) -> Case:
    """Returns a case with those sizes alone that the statement has a word for.

    The others are the catalogue's own, such as which kind of input is drawn.
    """
    words = set(re.findall(r"\w+", puzzle.statement))
    return replace(case, sizes={name: n for name, n in case.sizes.items() if name in words})


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


def _debrief(told: Debrief, bonus: str) -> list[Section]:
    return [
        *section("why", told.why),
        *section("other", told.alternative),
        *section("bonus", bonus),
    ]


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


def _measured(name: str, value: Any) -> str:
    """Returns a result or a measurement in words: "peak bytes 24,232"."""
    if name == "schedule":
        return f"a schedule of {len(value)} operations"
    if isinstance(value, Mapping):
        return ", ".join(_measured(str(key), each) for key, each in value.items())
    whole = isinstance(value, int | np.integer) and not isinstance(value, bool)
    text = f"{int(value):,}" if whole else show(value, MAX_SHOWN, rough=True)
    if isinstance(value, float):
        text = f"{value:.6g}"
    return f"returned {text}" if name == "result" else f"{name.replace('_', ' ')} {text}"


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


def next_puzzles(name: str) -> tuple[Puzzle, ...]:
    """Returns the puzzle after the one of that name, up to the first that has a notebook."""
    names = [puzzle.name for puzzle in index.puzzles()]
    if name not in names:
        return ()
    lessons = {lesson.name: lesson for lesson in index.lessons()}
    found: list[Puzzle] = []
    for puzzle in index.puzzles()[names.index(name) + 1 :]:
        found.append(puzzle)
        if has_notebook(lessons[puzzle.lesson]):
            break
    return tuple(found)


def effort(puzzle: Puzzle) -> str:
    """Returns how hard a puzzle is and how long it takes: "easy, about 5 minutes"."""
    return f"{puzzle.difficulty}, about {puzzle.minutes} minutes"


def onward(name: str) -> list[Section]:
    """Returns where to go after a pass, for a terminal."""
    short = name.rpartition("/")[2]
    said = command_section("more", f"`gpu-course diff {short}`", DISCUSSED)
    for puzzle in next_puzzles(name)[:1]:
        command = f"`gpu-course watch {puzzle.short_name}`"
        said += command_section("next", command, f"({effort(puzzle)})")
    return said
