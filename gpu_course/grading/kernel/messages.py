"""What a learner reads: the fact, the place, who, why and what to try."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from gpu_course.catalog import Case, KernelPuzzle, Launch, Puzzle
from gpu_course.grading.compare import two_values
from gpu_course.grading.diagnosis import Dim3, Pattern
from gpu_course.grading.kernel import sharing
from gpu_course.grading.kernel.sharing import Unshared
from gpu_course.grading.kernel.trial import (
    Given,
    Trial,
    last_write,
    natural_thread,
    read_before_written,
    thread_of,
)
from gpu_course.grading.labels import INDENT, line, message_lines
from gpu_course.grading.sentences import HINT_KINDS, SENTENCES, sentence_of
from gpu_course.simt.launch import dim3
from gpu_course.simt.report import Hazard, ThreadPair
from gpu_course.units import count

WIDTH = 70
"""Columns of a verdict: half a window of JupyterLab holds them."""

BEFORE = 2
"""Cells shown in front of the first wrong one."""

MOST_CELLS = 12
MAP_ROWS = 8
MOST_PRINTED_LINES = 8


def case_line(puzzle: Puzzle, case: Case, launch: Launch | None = None) -> list[str]:
    """Returns the line that says which case, and which launch of it."""
    shown = describe(case) + (f", {show_launch(launch)}" if launch else "")
    return line("case", shown)


def describe(case: Case) -> str:
    """Returns a case as messages call it: "visible example (size 8, threads 12)"."""
    sizes = ", ".join(f"{name} {value}" for name, value in case.sizes.items())
    return f"{case.name} ({sizes})" if sizes else case.name


def reason(puzzle: Puzzle, key: str, fact: str = "") -> list[str]:
    """Returns the `why` line of a diagnosis: what was seen, and what to think about."""
    sentence = sentence_of(puzzle, key)
    if fact:
        seen = fact[:1].upper() + fact[1:]
        sentence = f"{seen}. {sentence}" if sentence else f"{seen}."
    return line("why", sentence)


def hint_line(puzzle: Puzzle, key: str) -> list[str]:
    """Returns which kind of hint fits, and the command that gives it."""
    of_threads = isinstance(puzzle, KernelPuzzle) and key in HINT_KINDS
    kind = f"about {HINT_KINDS[key]}: " if of_threads else ""
    name = puzzle.short_name
    here, in_terminal = f'{kind}hint("{name}")', f"or `gpu-course hint {name}`"
    if INDENT + len(here) + 1 + len(in_terminal) <= WIDTH:
        return line("hint", f"{here} {in_terminal}")
    return [*line("hint", here), " " * INDENT + in_terminal]


def fit(lines: Sequence[str]) -> str:
    """Returns the lines of a verdict as one text, none longer than WIDTH.

    A long first line breaks behind a clause; what is too long elsewhere goes on below its own
    beginning.
    """
    text = "\n".join(each for line in lines for each in _code_below(line))
    head, newline, rest = text.partition("\n")
    indent = ""
    shown = []
    while len(indent + head) > WIDTH:
        room = WIDTH - len(indent)
        ends = [head.rfind(mark, 0, room) for mark in ("; ", ": ", ", ", " ")]
        end = next((at + 1 for at in ends if at > room // 4), room)
        shown.append(indent + head[:end].rstrip())
        head, indent = head[end:].lstrip(), " " * INDENT
    shown.append(indent + head)
    return "\n".join([*shown, *message_lines(rest, WIDTH)]) if newline else "\n".join(shown)


def _code_below(line: str) -> list[str]:
    """Returns a line that names a place and shows its text, as a place and the text below it."""
    place, gap, code = line.partition("    ")
    if line.startswith("  where: ") and gap and not place.isspace():
        return [place, *code_line(code)]
    return [line]


def code_line(text: str) -> list[str]:
    """Returns a line of the learner's file below a place; what is too long is cut."""
    room = WIDTH - INDENT
    text = text.strip()
    if not text:
        return []
    return [" " * INDENT + (text if len(text) <= room else text[: room - 4] + " ...")]


def printed(text: str) -> list[str]:
    """Returns the first lines that a kernel's threads printed, and how many more there are."""
    shown = text.splitlines()
    room = WIDTH - INDENT
    kept = [each if len(each) <= room else each[: room - 4] + " ..." for each in shown]
    kept = kept[:MOST_PRINTED_LINES]
    if not kept:
        return []
    first, *rest = kept
    lines = [*line("prints", first), *(" " * INDENT + each for each in rest)]
    more = len(shown) - len(kept)
    if more:
        lines.append(" " * INDENT + f"(and {count(more, 'line')} more)")
    return lines


def repeat_with(puzzle: KernelPuzzle, given: Given, seed: int) -> list[str]:
    """Returns how to have the random case again, and nothing for the cases that never change."""
    if any(given.case is case for case in puzzle.cases):
        return []
    return line("again", f'check("{puzzle.short_name}", seed={seed}) draws the same case')


def hazards(puzzle: KernelPuzzle, tried: Trial, found: Sequence[Hazard]) -> list[str]:
    """Returns the first hazard in full, what the puzzle has to say on it, and how many more."""
    first, rest = found[0], found[1:]
    number = next(n for n, report in enumerate(tried.reports) if first in report.hazards)
    launch = tried.given.launches[number]
    details = first.details
    lines = [first.message, *line("where", details.get("where", ""))]
    lines += code_line(details.get("code", ""))
    for label in ("who", "why", "try"):
        lines += line(label, details.get(label, ""))
    elsewhere = puzzle.diagnoses.get(f"{first.kind} in {details.get('space')} memory")
    think = elsewhere or puzzle.diagnoses.get(first.kind, SENTENCES.get(first.kind, ""))
    if first.kind == "race":
        think = " ".join(filter(None, [_share_of_all(puzzle, tried, number), think]))
    lines += line("think", think)
    lines += case_line(puzzle, tried.given.case, launch)
    # Where no thread is left over, a guard is not what helps.
    unguarded = first.kind == "out-of-bounds" and not details.get("guard_helps")
    lines += hint_line(puzzle, "shifted" if unguarded else first.kind)
    if rest:
        places = _listed(f"{hazard.kind} in line {hazard.line}" for hazard in rest)
        lines += line("also", f"{len(rest)} more: {places}")
    if any(h.kind == "race" and not h.details["same_value"] for h in found):
        text = f'replay("{puzzle.short_name}") steps through an order in which it goes wrong'
        lines += line("replay", text)
    return lines


def _share_of_all(puzzle: KernelPuzzle, tried: Trial, number: int) -> str:
    """What to say of a race between threads that each do more than their share."""
    if puzzle.share is not None:
        for each in sharing.unshared_results(puzzle, tried):
            if each.number == number:
                cells = f"{count(each.most, 'cell')} of {each.array}"
                return f"One thread writes {cells}. {puzzle.share.rule()}"
    return ""


def not_shared(puzzle: KernelPuzzle, tried: Trial, found: Unshared) -> list[str]:
    """Returns the lines on a right result for which a few threads did the work of all."""
    does = "writes" if found.wrote else "reads"
    what = count(found.most, "cell") + (f" of {found.array}" if found.array else "")
    how = "not shared out" if found.key == "not-shared" else "done many times over"
    lines = [f"right, but {how}: one thread {does} {what}"]
    rule = puzzle.share.rule() if puzzle.share else ""
    lines += line("why", f"{rule} {sentence_of(puzzle, found.key)}".strip())
    for number, (cells, threads) in enumerate(found.groups()):
        bar = "#" * max(cells > 0, round(20 * cells / found.most))
        who = count(threads, "thread")
        each = "" if threads == 1 else " each"
        text = f"{who:<14} {bar:<20} {count(cells, 'cell') + each if cells else 'nothing'}"
        lines += line("work", text) if not number else [" " * INDENT + text]
    launch = tried.given.launches[found.number]
    busiest = thread_of(int(np.argmax(found.cells)), tried.reports[found.number])
    lines += line("who", f"{show_thread(busiest)} is the busiest")
    lines += case_line(puzzle, tried.given.case, launch)
    return lines + hint_line(puzzle, found.key)


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
        values = two_values(got[index], expected[index])
        fact = f"{cell} is {values[0]}, expected {values[1]}"
    else:
        fact = f"nothing wrote {cell}, expected {_short(expected[index])}"
    lines = [fact, *reason(puzzle, pattern.key, pattern.fact)]
    if name not in trial.given.inputs and read_before_written(trial, name, flat):
        lines += line("note", f"{own} was read before anything was written there")
    lines += _cells_of(trial, name, own, right, written)
    lines += line("who", _who(trial, name, launch, cell, index, flat, bool(written[index])))
    lines += case_line(puzzle, trial.given.case, launch)
    return lines + hint_line(puzzle, pattern.key)


def input_changed(puzzle: KernelPuzzle, trial: Trial) -> list[str]:
    """Returns the lines on an input that a kernel wrote to."""
    name, *others = trial.changed
    before, after = trial.given.inputs[name], trial.changed[name]
    differs = np.flatnonzero(before.reshape(-1) != after.reshape(-1))
    flat = int(differs[0]) if differs.size else 0
    launch = launch_of(trial.given, name)
    own = (trial.own_names(launch, name) or (name,))[0]
    index = ", ".join(str(int(i)) for i in np.unravel_index(flat, before.shape))
    values = two_values(before.reshape(-1)[flat], after.reshape(-1)[flat])
    cell = f"{own}[{index}]"
    lines = [f"the input {own} was changed: {cell} was {values[0]}, is {values[1]}"]
    lines += reason(puzzle, "input-changed")
    by = last_write(trial, name, flat)
    if by:
        lines += line("who", f"{show_thread(by.thread)} wrote it in line {by.line}")
    if others:
        lines += line("also", f"{', '.join(others)} changed as well")
    lines += case_line(puzzle, trial.given.case, launch)
    return lines + hint_line(puzzle, "input-changed")


def order_dependent(
    puzzle: KernelPuzzle, trial: Trial, name: str, right: np.ndarray, ordered: str
) -> list[str]:
    """Returns the lines on an output that is right in one order of "blocks" or "warps" only."""
    index = tuple(int(i) for i in np.unravel_index(int(np.argmin(right)), right.shape))
    got, expected = trial.got[name][index], trial.given.expected[name][index]
    place = f"{name}[{', '.join(map(str, index))}]"
    one, other = two_values(expected, got)
    lines = [f"{place} is {one} in one order of the {ordered}, {other} in another"]
    lines += reason(puzzle, "order-dependent")
    lines += case_line(puzzle, trial.given.case)
    return lines + hint_line(puzzle, "order-dependent")


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
    """Who wrote a cell; of a cell nobody wrote, whose it is where each thread has one."""
    by = last_write(trial, name, flat) if hit else None
    if by:
        return f"{show_thread(by.thread)} wrote {cell} in line {by.line}"
    grid, block = dim3(launch.grid, "grid"), dim3(launch.block, "block")
    shape = trial.got[name].shape
    if hit or not _thread_per_cell(shape, grid, block):
        return ""
    owner = natural_thread(index, grid, block)
    return f"{show_thread(owner)} has the index of {cell}" if owner else ""


def _thread_per_cell(shape: tuple[int, ...], grid: Dim3, block: Dim3) -> bool:
    """True where a launch lies over an array: a thread for each cell, axis by axis."""
    rows, columns = (1, *shape)[-2:]
    across, down = grid[0] * block[0], grid[1] * block[1]
    return len(shape) <= 2 and across >= columns and down >= rows


def _cells_of(
    trial: Trial, name: str, own: str, right: np.ndarray, written: np.ndarray
) -> list[str]:
    """Returns the cells round the first wrong one of an output, below the inputs they belong to."""
    got, expected = trial.got[name], trial.given.expected[name]
    if got.ndim not in (1, 2):
        return []
    launch = launch_of(trial.given, name)
    rows, numbers = [], []
    for arg, its_own in zip(launch.args, trial.parameters[launch.function], strict=True):
        value = trial.given.inputs.get(arg)
        if arg == name or value is None:
            continue
        if isinstance(value, np.ndarray) and _lies_over(value, got.shape):
            rows.append((its_own, np.broadcast_to(value, got.shape)))
        elif isinstance(value, np.floating | float):
            numbers.append(f"{its_own} = {_short(value)}")
    rows += [(own, got), ("expected", expected)]
    lines = cells_around(rows, right, written)
    if numbers:
        lines.append(" " * INDENT + ", ".join(numbers))
    return lines


def cells_around(
    rows: Sequence[tuple[str, np.ndarray]], right: np.ndarray, written: np.ndarray | None = None
) -> list[str]:
    """Returns a small table: cells round the first wrong one, a sign below each that is wrong.

    Args:
        rows: (label, values) from top to bottom, all of one shape with one or two dimensions: what
            came in, then what came out, then what was expected.
        right: bool, in that shape.
        written: bool, in that shape: False where nothing was stored; default all of it.
    """
    if right.ndim not in (1, 2) or right.size < 2:
        return []
    *above, column = (int(i) for i in np.unravel_index(int(np.argmin(right)), right.shape))
    row = above[0] if above else 0
    tables = [(label, np.atleast_2d(values)[row]) for label, values in rows]
    wrong = ~np.atleast_2d(right)[row]
    stored = np.ones(wrong.shape, bool) if written is None else np.atleast_2d(written)[row]
    names = ["[row, col]" if above else "index", *(label for label, _ in rows)]
    edge = max(map(len, names))
    columns: list[list[str]] = []
    room = WIDTH - INDENT - edge - len("  wrong")
    for at in range(max(0, column - BEFORE), min(wrong.size, column - BEFORE + MOST_CELLS)):
        cells = [f"[{row}, {at}]" if above else str(at)]
        cells += [_short(values[at]) for _, values in tables[:-2]]
        out, wanted = two_values(tables[-2][1][at], tables[-1][1][at])
        cells += [out if stored[at] else "-", wanted]
        cells.append("^" if wrong[at] else "")
        width = max(map(len, cells)) + 2
        if columns and room < width:
            break
        room -= width
        columns.append([cell.rjust(width) for cell in cells])
    shown = [
        f"{label:<{edge}}" + "".join(each[number] for each in columns)
        for number, label in enumerate(names)
    ]
    lines = [*line("cells", shown[0]), *(" " * INDENT + each for each in shown[1:])]
    marks = f"{'':{edge}}" + "".join(each[-1] for each in columns)
    lines.append(" " * INDENT + marks.rstrip() + "  wrong")
    return [*lines, *(_map(right, written, row) if above else [])]


def _lies_over(value: np.ndarray, shape: tuple[int, ...]) -> bool:
    """True for an array that has a number for each cell of a shape, stretched where NumPy would."""
    try:
        return value.ndim > 0 and np.broadcast_shapes(value.shape, shape) == shape
    except ValueError:
        return False


def _map(right: np.ndarray, written: np.ndarray | None, row: int) -> list[str]:
    """Returns which cells of a table are right, a sign for each, near the first wrong row."""
    rows, columns = right.shape
    if rows == 1 or columns == 1:
        return []
    stored = np.ones(right.shape, bool) if written is None else written
    first = max(0, min(row - 2, rows - MAP_ROWS))
    last = min(rows, first + MAP_ROWS)
    most = WIDTH - INDENT - len(f"row {last}  ") - 3
    lines = []
    for at in range(first, last):
        signs = np.where(right[at], ".", np.where(stored[at], "x", "-"))[:most]
        cut = "..." if columns > most else ""
        lines.append(f"row {at:<{len(str(last - 1))}}  " + "".join(signs) + cut)
    legend = ". right   x wrong" + ("" if stored.all() else "   - not written")
    return [*line("map", lines[0]), *(" " * INDENT + each for each in (*lines[1:], legend))]


def _short(value: Any) -> str:
    return f"{value:.6g}" if isinstance(value, np.floating | float) else str(value)


def _plain(shape: int | tuple[int, ...]) -> str:
    if isinstance(shape, tuple):
        return "(" + ", ".join(map(str, shape)) + ("," if len(shape) == 1 else "") + ")"
    return str(shape)


def _listed(parts: Iterable[str]) -> str:
    each = list(dict.fromkeys(parts))
    more = f" and {len(each) - 3} more" if len(each) > 3 else ""
    return ", ".join(each[:3]) + more
