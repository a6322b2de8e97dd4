"""What a learner reads about a kernel: the fact, the place, who, why and what to try."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from gpu_course.grading.diagnoses.compare import two_values
from gpu_course.grading.diagnoses.patterns import Dim3, Pattern
from gpu_course.grading.diagnoses.sentences import IN_ITS_OWN, OUT_OF_STEPS, SENTENCES, sentence_of
from gpu_course.grading.kernel import sharing
from gpu_course.grading.kernel.sharing import Unshared
from gpu_course.grading.kernel.trial import (
    Given,
    Trial,
    alike,
    first_use_unset,
    last_write,
    natural_thread,
    same_bits,
    thread_of,
)
from gpu_course.grading.verdicts.messages import cells_around, reason, short, which_case, which_hint
from gpu_course.grading.verdicts.sections import (
    INDENT,
    WIDTH,
    Section,
    below,
    code_line,
    fact,
    section,
)
from gpu_course.puzzle import KernelPuzzle, Launch
from simt.machine.launch import dim3
from simt.report import Hazard, Report, ThreadPair
from simt.text import count

MAX_PRINTED_LINES = 8
NO_ROOM = "waits-for-a-block-outside"
"""A loop without end because the block that could end it never starts."""
NO_FENCE_AFTER = "no-fence-after"
"""What an atomic has told of is touched, and no fence stands in between."""


def printed(text: str) -> list[Section]:
    """Returns the first lines that a kernel's threads printed, and how many more there are."""
    shown = text.splitlines()
    room = WIDTH - INDENT
    kept = [each if len(each) <= room else each[: room - 4] + " ..." for each in shown]
    kept = kept[:MAX_PRINTED_LINES]
    more = len(shown) - len(kept)
    if more:
        kept.append(f"(and {count(more, 'line')} more)")
    return section("prints", *kept)


def hazards(puzzle: KernelPuzzle, tried: Trial, found: Sequence[Hazard]) -> list[Section]:
    """Returns the first hazard in full, what the puzzle has to say on it, and how many more."""
    first, rest = found[0], found[1:]
    number = next(n for n, report in enumerate(tried.reports) if first in report.hazards)
    launch = tried.given.launches[number]
    details = first.details
    code = code_line(details.get("code", ""))
    said = [*fact(first.message), *section("where", details.get("where", ""), *code)]
    for label in ("who", "why", "try"):
        said += section(label, details.get(label, ""))
    key = hazard_key(puzzle, tried, first)
    space = "global" if details.get("space") == "global" else "shared"
    elsewhere = puzzle.diagnoses.get(f"{first.kind} in {space} memory")
    general = OUT_OF_STEPS if may_end(first) else SENTENCES.get(key, "")
    think = puzzle.diagnoses.get(key, general)
    if key == first.kind:
        think = elsewhere or think
    if _is_in_copies_of_others(tried.reports[number], first):
        think = IN_ITS_OWN
    if first.kind == "race":
        think = _of_a_race(puzzle, tried, number, think)
    said += section("think", think)
    if first.kind == "out-of-bounds":
        # An index may come out of an array that held nothing yet.
        unset = {arg: None for each in tried.given.launches for arg in each.args}
        said += _used_unset(tried, [arg for arg in unset if arg not in tried.given.inputs])
    said += which_case(tried.given.case, launch)
    # Where no thread is left over, a guard is not what helps.
    unguarded = first.kind == "out-of-bounds" and not details.get("guard_helps")
    said += which_hint(
        puzzle, "shifted" if unguarded else "race" if key.startswith("race") else key
    )
    if rest:
        places = _listed(f"{hazard.kind} in line {hazard.line}" for hazard in rest)
        said += section("also", f"{len(rest)} more: {places}")
    if any(h.kind == "race" and not (h.details["same_value"] or h.details["loose"]) for h in found):
        text = f'replay("{puzzle.short_name}") looks for an order in which it goes wrong'
        said += section("replay", text)
    return said


def _used_unset(trial: Trial, names: Iterable[str], cell: int | None = None) -> list[Section]:
    """Returns which of some arrays was used where nothing had been written, if one was."""
    for name in names:
        kind = first_use_unset(trial, name, cell)
        if kind:
            own = next(iter(trial.own_names(launch_of(trial.given, name), name)), name)
            how = "read" if kind == "read" else "updated by an atomic"
            return section("note", f"{own} was {how} before anything was written there")
    return []


def _is_in_copies_of_others(report: Report, hazard: Hazard) -> bool:
    """True where a thread misses in its own array what others have stored in theirs alone."""
    details = hazard.details
    if hazard.kind != "uninitialised-read" or details.get("space") != "local":
        return False
    stored = [
        touch
        for touch in report.touches
        if (touch.array, touch.space, touch.kind) == (details["array"], "local", "write")
    ]
    if not stored:
        return False
    cells = np.concatenate([touch.cells for touch in stored])
    threads = np.concatenate([touch.threads for touch in stored])
    # Who has stored in several places of its own array does not take it for the block's.
    pairs = np.unique(threads * (int(cells.max()) + 1) + cells)
    one_each = len(np.unique(threads)) == len(pairs)
    return bool(one_each and len(np.unique(cells)) > 1 and (cells == details["cell"]).any())


def may_end(hazard: Hazard) -> bool:
    """Whether a launch used up its steps, and nothing says that it would never have ended."""
    details = hazard.details
    never = details.get("hopeless") or details.get("asks")
    return hazard.kind == "endless-loop" and not never


def hazard_key(puzzle: KernelPuzzle, tried: Trial, hazard: Hazard) -> str:
    """Returns the diagnosis of a hazard.

    It is its kind, NO_ROOM, NO_FENCE_AFTER, or "race on" an argument's name.
    """
    if hazard.details.get("loose"):
        return NO_FENCE_AFTER
    if hazard.details.get("room") and hazard.details["outside"]:
        return NO_ROOM
    if hazard.kind == "race":
        number = next(n for n, report in enumerate(tried.reports) if hazard in report.hazards)
        launch = tried.given.launches[number]
        pairs = zip(tried.parameters[launch.function], launch.args, strict=True)
        for own, name in pairs:
            if own == hazard.details["array"] and f"race on {name}" in puzzle.diagnoses:
                return f"race on {name}"
    return hazard.kind


def _of_a_race(puzzle: KernelPuzzle, tried: Trial, number: int, think: str) -> str:
    """What to say of a race; of one between threads that each do more than their share, that first.

    Where each has one cell, it is all there is to say: what a puzzle knows of two threads with one
    index is not true of threads that go over many cells.
    """
    if puzzle.share is not None:
        for each in sharing.unshared_results(puzzle, tried):
            if each.number == number:
                cells = f"{count(each.most, 'cell')} of {each.place}"
                said = f"One thread writes {cells}. {puzzle.share.rule()}"
                return said if each.limit == 1 else f"{said} {think}".strip()
    return think


def not_shared(
    puzzle: KernelPuzzle, tried: Trial, found: Unshared, *, ended: bool = True
) -> list[Section]:
    """Returns what is said of a right result for which a few threads did the work of all.

    Args:
        puzzle, tried, found: whose work is not shared.
        ended: False for a launch whose steps were used up; whether it is right is not known.
    """
    launch, report = tried.given.launches[found.number], tried.reports[found.number]
    busiest = int(np.argmax(found.counts))
    sentence = sentence_of(puzzle, found.key)
    if found.what == "steps":
        unit = "step"
        block = busiest // int(np.prod(report.launch.block))
        of_block = int(found.counts.reshape(-1, int(np.prod(report.launch.block)))[block].sum())
        what = f"one thread takes {found.most:,} of {count(of_block, 'step')}"
        why = f"{_a_step(report, found.place)} {sentence}"
    else:
        unit, place = "cell", f" of {found.place}" if found.place else ""
        what = f"one thread {found.what} {count(found.most, 'cell')}{place}"
        rule = puzzle.share.rule() if puzzle.share else ""
        why = f"{rule} {sentence}".strip()
    how = "not shared out" if found.key == "not-shared" else "done many times over"
    work = []
    for each, threads in found.groups():
        bar = "#" * max(each > 0, round(20 * each / found.most))
        who = count(threads, "thread")
        apiece = "" if threads == 1 else " each"
        # The last group may be several in one, named by the largest.
        most = "" if np.count_nonzero(found.counts == each) == threads else "at most "
        text = f"{who:<14} {bar:<20} {most}{count(each, unit) + apiece if each else 'nothing'}"
        work.append(text)
    told = f"right, but {how}: {what}"
    if not ended:
        told = f"{how}: {what}, and the launch was not done when all its steps were used up"
    return [
        *fact(told),
        *section("why", why),
        *section("work", *work),
        *section("who", f"{show_thread(thread_of(busiest, report))} is the busiest"),
        *which_case(tried.given.case, launch),
        *which_hint(puzzle, found.key),
    ]


def _a_step(report: Report, place: str) -> str:
    """What was counted as a step, in the words of what the kernel does."""
    counters = report.counters
    kinds = ["a load", "a store"]
    kinds += ["an atomic"] * bool(counters.red.requests or counters.atom.requests)
    kinds += ["a shuffle"] * bool(counters.shuffles and not place)
    listed = f"{', '.join(kinds[:-1])} or {kinds[-1]}"
    where = f" of {place}" if place else ""
    return f"A step is {listed}{where}, counted within the block."


class Code(int):
    """Bits as a number, written in hexadecimal with all their digits."""

    digits: int

    def __repr__(self) -> str:
        return f"0x{int(self):0{self.digits}X}"

    __str__ = __repr__


def _shown(puzzle: KernelPuzzle, name: str, values: np.ndarray) -> np.ndarray:
    """An array as messages show it: what stands for bits as codes, all else as it is."""
    if name not in puzzle.codes or values.dtype.kind not in "iu":
        return values
    found = np.empty(values.shape, object)
    for index, value in np.ndenumerate(values):
        found[index] = code = Code(int(value) % (1 << 8 * values.itemsize))
        code.digits = 2 * values.itemsize
    return found


def wrong_result(
    puzzle: KernelPuzzle,
    trial: Trial,
    name: str,
    right: np.ndarray,
    written: np.ndarray,
    pattern: Pattern,
) -> list[Section]:
    """Returns what is said of a wrong output.

    Args:
        puzzle, trial: what was tried.
        name: the output.
        right, written: bool, in the output's shape.
        pattern: the diagnosis.
    """
    got, expected = (
        _shown(puzzle, name, values[name]) for values in (trial.got, trial.given.expected)
    )
    flat = int(np.argmin(right))
    index = tuple(int(i) for i in np.unravel_index(flat, right.shape))
    launch = launch_of(trial.given, name)
    own = (trial.own_names(launch, name) or (name,))[0]
    cell = f"{own}[{', '.join(map(str, index))}]"
    if written[index]:
        values = two_values(got[index], expected[index])
        what = f"{cell} is {values[0]}, expected {values[1]}"
    else:
        what = f"nothing wrote {cell}, expected {short(expected[index])}"
    said = [*fact(what), *reason(puzzle, pattern.key, pattern.fact)]
    if name not in trial.given.inputs:
        said += _used_unset(trial, (name,), flat)
    said += _cells_of(puzzle, trial, name, own, right, written)
    said += section("who", _who(trial, name, launch, cell, index, flat, bool(written[index])))
    return [*said, *which_case(trial.given.case, launch), *which_hint(puzzle, pattern.key)]


def input_changed(puzzle: KernelPuzzle, trial: Trial) -> list[Section]:
    """Returns what is said of an input that a kernel wrote to."""
    name, *others = trial.changed
    before, after = trial.given.inputs[name], trial.changed[name]
    differs = np.flatnonzero(~same_bits(before, after).reshape(-1))
    flat = int(differs[0]) if differs.size else 0
    launch = launch_of(trial.given, name)
    own = (trial.own_names(launch, name) or (name,))[0]
    index = ", ".join(str(int(i)) for i in np.unravel_index(flat, before.shape))
    values = two_values(before.reshape(-1)[flat], after.reshape(-1)[flat])
    cell = f"{own}[{index}]"
    said = fact(f"the input {own} was changed: {cell} was {values[0]}, is {values[1]}")
    said += reason(puzzle, "input-changed")
    by = last_write(trial, name, flat)
    if by:
        said += section("who", f"{show_thread(by.thread)} wrote it in line {by.line}")
    if others:
        said += section("also", f"{', '.join(others)} changed as well")
    return [*said, *which_case(trial.given.case, launch), *which_hint(puzzle, "input-changed")]


def order_dependent(
    puzzle: KernelPuzzle, good: Trial, trial: Trial, name: str, right: np.ndarray, ordered: str
) -> list[Section]:
    """Returns what is said of an output that differs between two orders of "blocks" or "warps"."""
    index = tuple(int(i) for i in np.unravel_index(int(np.argmin(right)), right.shape))
    got, expected = trial.got[name][index], good.got[name][index]
    place = f"{name}[{', '.join(map(str, index))}]"
    one, other = two_values(expected, got)
    return [
        *fact(f"{place} is {one} in one order of the {ordered}, {other} in another"),
        *reason(puzzle, "order-dependent"),
        *which_case(trial.given.case),
        *which_hint(puzzle, "order-dependent"),
    ]


def stalled(
    puzzle: KernelPuzzle, tried: Trial, name: str, right: np.ndarray, key: str
) -> list[Section]:
    """Returns what is said where all blocks wait, and one has not done what it was to do before."""
    launch = launch_of(tried.given, name)
    cell = tuple(int(part) for part in np.argwhere(~right)[0])
    own, place = tried.own_names(launch, name)[0], ", ".join(map(str, cell))
    got, expected = tried.got[name][cell], tried.given.expected[name][cell]
    return [
        *fact(f"every block waits, and {own}[{place}] does not hold what it should by then"),
        *section("expected", short(expected)),
        *section("got", short(got)),
        *reason(puzzle, key),
        *which_case(tried.given.case, launch),
        *which_hint(puzzle, key),
    ]


def other_bits(puzzle: KernelPuzzle, trial: Trial, one: str, other: str) -> list[Section]:
    """Returns what is said of two outputs that are to hold the same bits and do not."""
    flat = int(np.argmin(alike(trial.got[one], trial.got[other]).reshape(-1)))
    values = two_values(trial.got[one].flat[flat], trial.got[other].flat[flat])
    grids = [_blocks(launch_of(trial.given, name)) for name in (one, other)]
    return [
        *fact(f"{one}[{flat}] is {values[0]} and {other}[{flat}] is {values[1]}"),
        *reason(puzzle, "other-bits"),
        *section("grids", f"{one}: {grids[0]}; {other}: {grids[1]}"),
        *which_case(trial.given.case),
        *which_hint(puzzle, "other-bits"),
    ]


def _blocks(launch: Launch) -> str:
    grid, block = dim3(launch.grid, "grid"), dim3(launch.block, "block")
    return f"{count(int(np.prod(grid)), 'block')} of {count(int(np.prod(block)), 'thread')}"


def launch_of(given: Given, name: str) -> Launch:
    """Returns the last launch that is handed an array."""
    for launch in reversed(given.launches):
        if name in launch.args:
            return launch
    return given.launches[-1]


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
    others = [trial.given.inputs.get(arg) for arg in launch.args if arg != name]
    lengths = [other.size for other in others if isinstance(other, np.ndarray) and other.ndim == 1]
    if hit or not _thread_per_cell(shape, grid, block, lengths):
        return ""
    owner = natural_thread(index, grid, block)
    return f"{show_thread(owner)} has the index of {cell}" if owner else ""


def _thread_per_cell(
    shape: tuple[int, ...], grid: Dim3, block: Dim3, lengths: Sequence[int]
) -> bool:
    """True where a launch lies over an array: a thread for each cell, axis by axis.

    Where it lies over a longer one, of one of the `lengths`, a cell is no thread's own.
    """
    rows, columns = (1, *shape)[-2:]
    across, down = grid[0] * block[0], grid[1] * block[1]
    longer = len(shape) == 1 and any(columns < length <= across for length in lengths)
    return len(shape) <= 2 and across >= columns and down >= rows and not longer


def _cells_of(
    puzzle: KernelPuzzle, trial: Trial, name: str, own: str, right: np.ndarray, written: np.ndarray
) -> list[Section]:
    """Returns the cells round the first wrong one of an output, below the inputs they belong to."""
    got, expected = (
        _shown(puzzle, name, values[name]) for values in (trial.got, trial.given.expected)
    )
    if got.ndim not in (1, 2):
        return []
    launch = launch_of(trial.given, name)
    rows, numbers = [], []
    for arg, its_own in zip(launch.args, trial.parameters[launch.function], strict=True):
        value = trial.given.inputs.get(arg)
        if arg == name or value is None:
            continue
        if isinstance(value, np.ndarray) and value.size == 1 < got.size:
            # One number for all: beside the cells where it is a factor, nowhere if it is a counter.
            if value.dtype.kind == "f":
                numbers.append(f"{its_own}[0] = {short(value.reshape(-1)[0])}")
        elif isinstance(value, np.ndarray) and _lies_over(value, got.shape):
            rows.append((its_own, np.broadcast_to(_shown(puzzle, arg, value), got.shape)))
        elif isinstance(value, np.floating | float):
            numbers.append(f"{its_own} = {short(value)}")
    rows += [(own, got), ("expected", expected)]
    table = cells_around(rows, right, written)
    return table + (below(", ".join(numbers)) if numbers else [])


def _lies_over(value: np.ndarray, shape: tuple[int, ...]) -> bool:
    """True for an array that has a number for each cell of a shape, stretched where NumPy would."""
    try:
        return value.ndim > 0 and np.broadcast_shapes(value.shape, shape) == shape
    except ValueError:
        return False


def _listed(parts: Iterable[str]) -> str:
    each = list(dict.fromkeys(parts))
    more = f" and {len(each) - 3} more" if len(each) > 3 else ""
    return ", ".join(each[:3]) + more
