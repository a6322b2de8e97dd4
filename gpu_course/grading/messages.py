"""What a learner reads: the fact, the place, who, why and what to try."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from gpu_course.catalog import Case, KernelPuzzle, Launch, Puzzle
from gpu_course.grading.diagnosis import Dim3, Pattern
from gpu_course.grading.sentences import HINT_KINDS, SENTENCES, sentence_of
from gpu_course.grading.trial import Given, Trial, last_write, natural_thread, read_before_written
from gpu_course.simt.launch import dim3
from gpu_course.simt.report import Hazard, ThreadPair

SMALL_VECTOR = 16
SMALL_TABLE = (8, 12)


def case_line(puzzle: Puzzle, case: Case) -> list[str]:
    """Returns the line that says which puzzle and which case."""
    return line("case", f"{puzzle.name}, {describe(case)}")


def describe(case: Case) -> str:
    """Returns a case as messages call it: "visible example (size 8, threads 12)"."""
    sizes = ", ".join(f"{name} {value}" for name, value in case.sizes.items())
    return f"{case.name} ({sizes})" if sizes else case.name


def advice(puzzle: Puzzle, key: str, fact: str = "") -> list[str]:
    """Returns the `why` and `hint` lines of a diagnosis."""
    sentence = sentence_of(puzzle, key)
    why = f"{fact}. {sentence}" if fact else sentence
    return [*line("why", why), *line("hint", hint_command(puzzle, key))]


def hint_command(puzzle: Puzzle, key: str) -> str:
    """Returns which kind of hint fits, and the command that gives it."""
    of_threads = isinstance(puzzle, KernelPuzzle) and key in HINT_KINDS
    kind = f"about {HINT_KINDS[key]}: " if of_threads else ""
    name = puzzle.short_name
    return f'{kind}hint("{name}"), or `gpu-course hint {name}` in a terminal'


def line(label: str, text: str) -> list[str]:
    """Returns one labelled line, or none where there is nothing to say."""
    return [f"  {label + ':':<7} {text}"] if text else []


def repeat_with(puzzle: KernelPuzzle, given: Given, seed: int) -> list[str]:
    """Returns how to have the random case again, and nothing for the cases that never change."""
    if any(given.case is case for case in puzzle.cases):
        return []
    return line("again", f'check("{puzzle.short_name}", seed={seed}) draws the same case')


def hazards(puzzle: KernelPuzzle, tried: Trial, found: Sequence[Hazard]) -> list[str]:
    """Returns the first hazard in full, what the puzzle has to say on it, and how many more."""
    first, rest = found[0], found[1:]
    lines = [first.text(), *case_line(puzzle, tried.given.case)]
    lines += line("think", puzzle.diagnoses.get(first.kind, SENTENCES.get(first.kind, "")))
    # Where no thread is left over, a guard is not what helps.
    shifted = first.details.get("one_thread_per_cell")
    lines += line("hint", hint_command(puzzle, "shifted" if shifted else first.kind))
    if rest:
        places = _listed(f"{hazard.kind} in line {hazard.line}" for hazard in rest)
        lines += line("also", f"{len(rest)} more: {places}")
    if any(h.kind == "race" and not h.details["same_value"] for h in found):
        text = f'replay("{puzzle.short_name}") steps through an order in which it goes wrong'
        lines += line("replay", text)
    return lines


def wrong_result(
    puzzle: KernelPuzzle,
    trial: Trial,
    name: str,
    right: np.ndarray,
    written: np.ndarray,
    pattern: Pattern,
) -> list[str]:
    """Returns the lines on a wrong output.

    Args:
        puzzle, trial: what was tried.
        name: the output.
        right, written: bool, in the output's shape.
        pattern: the diagnosis.
    """
    got, expected = trial.got[name], trial.given.expected[name]
    flat = int(np.argmin(right))
    index = tuple(int(i) for i in np.unravel_index(flat, right.shape))
    launch = launch_of(trial.given, name)
    own = (trial.own_names(launch, name) or (name,))[0]
    cell = f"{own}[{', '.join(map(str, index))}]"
    if written[index]:
        fact = f"{cell} is {_value(got[index])}, expected {_value(expected[index])}"
    else:
        fact = f"nothing wrote {cell}, expected {_value(expected[index])}"
    lines = [fact, *case_line(puzzle, trial.given.case)]
    lines += line("where", show_launch(launch))
    lines += line("who", _who(trial, name, launch, cell, index, flat, bool(written[index])))
    lines += _arrays(trial, name, own, written)
    if name not in trial.given.inputs and read_before_written(trial, name, flat):
        lines += line("note", f"{own} was read before anything was written there")
    return lines + advice(puzzle, pattern.key, pattern.fact)


def input_changed(puzzle: KernelPuzzle, trial: Trial) -> list[str]:
    """Returns the lines on an input that a kernel wrote to."""
    name, *others = trial.changed
    before, after = trial.given.inputs[name], trial.changed[name]
    differs = np.flatnonzero(before.reshape(-1) != after.reshape(-1))
    flat = int(differs[0]) if differs.size else 0
    launch = launch_of(trial.given, name)
    own = (trial.own_names(launch, name) or (name,))[0]
    index = ", ".join(str(int(i)) for i in np.unravel_index(flat, before.shape))
    values = [_value(array.reshape(-1)[flat]) for array in (before, after)]
    lines = [
        f"{own} is an input, and it was changed: {own}[{index}] was {values[0]}, is {values[1]}",
        *case_line(puzzle, trial.given.case),
    ]
    lines += line("where", show_launch(launch))
    by = last_write(trial, name, flat)
    if by:
        lines += line("who", f"{show_thread(by.thread)} wrote it in line {by.line}")
    if others:
        lines += line("also", f"{', '.join(others)} changed as well")
    return lines + advice(puzzle, "input-changed")


def order_dependent(
    puzzle: KernelPuzzle, trial: Trial, name: str, right: np.ndarray, ordered: str
) -> list[str]:
    """Returns the lines on an output that is right in one order of "blocks" or "warps" only."""
    index = tuple(int(i) for i in np.unravel_index(int(np.argmin(right)), right.shape))
    got, expected = trial.got[name][index], trial.given.expected[name][index]
    place = f"{name}[{', '.join(map(str, index))}]"
    lines = [
        f"{place} is {_value(expected)} in one order of the {ordered}, {_value(got)} in another",
        *case_line(puzzle, trial.given.case),
    ]
    return lines + advice(puzzle, "order-dependent")


def launch_of(given: Given, name: str) -> Launch:
    """Returns the last launch that is handed an array."""
    for launch in reversed(given.launches):
        if name in launch.args:
            return launch
    return given.launches[-1]


def show_launch(launch: Launch) -> str:
    """Returns a launch as it is written: "guard[3, 4]"."""
    return f"{launch.function}[{_plain(launch.grid)}, {_plain(launch.block)}]"


def show_thread(thread: ThreadPair) -> str:
    """Returns a thread as hazards name it."""
    block, own = ("(" + ",".join(map(str, part)) + ")" for part in thread)
    return f"block {block}, thread {own}"


def _who(
    trial: Trial, name: str, launch: Launch, cell: str, index: tuple[int, ...], flat: int, hit: bool
) -> str:
    grid, block = dim3(launch.grid, "grid"), dim3(launch.block, "block")
    owner = natural_thread(index, grid, block)
    parts = []
    if owner is not None:
        place = f"x = {index[-1]}" + (f", y = {index[0]}" if len(index) == 2 else "")
        parts.append(f"the thread with {place} is {show_thread(owner)}")
    elif len(index) <= 2:
        parts.append(f"no thread has {cell} as its own index: {_threads(grid, block)}")
    by = last_write(trial, name, flat) if hit else None
    if by and by.thread == owner:
        parts.append(f"it wrote {cell} in line {by.line}")
    elif by:
        parts.append(f"{cell} was written by {show_thread(by.thread)} in line {by.line}")
    return "; ".join(parts)


def _threads(grid: Dim3, block: Dim3) -> str:
    x, y = grid[0] * block[0], grid[1] * block[1]
    return f"the launch has {x:,} threads" + (f" in x and {y:,} in y" if y > 1 else "")


def _arrays(trial: Trial, name: str, own: str, written: np.ndarray) -> list[str]:
    """Returns the inputs, the result and what was expected, where they are small enough to read."""
    got, expected = trial.got[name], trial.given.expected[name]
    if not _small(got):
        return []
    launch = launch_of(trial.given, name)
    tables = []
    for arg in launch.args:
        value = trial.given.inputs.get(arg)
        shown = np.atleast_1d(value) if value is not None else None
        if arg != name and shown is not None and _small(shown):
            tables.append((trial.own_names(launch, arg)[0], _cells(shown)))
    tables += [(own, _cells(got, written)), ("wanted", _cells(expected))]
    # One width for all of them: a number stands above what became of it.
    width = max(len(cell) for _, rows in tables for row in rows for cell in row)
    lines: list[str] = []
    for label, rows in tables:
        head, *rest = ("  ".join(cell.rjust(width) for cell in row) for row in rows)
        lines += [*line(label, head), *(" " * 10 + row for row in rest)]
    return lines


def _cells(array: np.ndarray, written: np.ndarray | None = None) -> list[list[str]]:
    table = np.atleast_2d(array)
    shown = np.ones(table.shape, bool) if written is None else np.atleast_2d(written)
    return [
        [_value(v) if s else "-" for v, s in zip(row, marks, strict=True)]
        for row, marks in zip(table, shown, strict=True)
    ]


def _small(array: np.ndarray) -> bool:
    if array.ndim == 1:
        return 0 < array.size <= SMALL_VECTOR
    rows, columns = SMALL_TABLE
    return array.ndim == 2 and 0 < array.shape[0] <= rows and 0 < array.shape[1] <= columns


def _value(value: Any) -> str:
    if isinstance(value, np.floating | float):
        short = f"{value:.6g}"
        # Six digits are easy to read; all of them where two numbers would look the same.
        return short if type(value)(short) == value or value != value else str(value)
    return str(value)


def _plain(shape: int | tuple[int, ...]) -> str:
    if isinstance(shape, tuple):
        return "(" + ", ".join(map(str, shape)) + ("," if len(shape) == 1 else "") + ")"
    return str(shape)


def _listed(parts: Iterable[str]) -> str:
    each = list(dict.fromkeys(parts))
    more = f" and {len(each) - 3} more" if len(each) > 3 else ""
    return ", ".join(each[:3]) + more
