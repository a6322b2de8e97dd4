"""The picture of a verdict: it draws what the verdict speaks of, from the learner's own run.

Which counter was over budget, or which hazard was found, decides what is drawn; of a pass the
puzzle or its lesson says it. What a report does not hold, the scene of the verdict runs once more.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import numpy as np

from gpu_course.errors import CourseError
from simt.report import Hazard, Recording, Report, Touch

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from gpu_course.draw.execution.ownership import Trouble
    from gpu_course.draw.execution.sectors import Request
    from gpu_course.grading.verdicts.facts import VerdictFacts
    from simt.observe.requests import WarpRequest

MAX_CELLS_DRAWN = 64
MAX_CELLS_OWNED = 200
MAX_OPERATIONS_DRAWN = 400
MAX_LINES_DRAWN = 24
"""Of the walk of a warp."""
MAX_LINES_OF_TWO = 28
"""Of the walks of two warps together."""

MAX_WORDS = 84
"""Characters of a line below a title."""

OF_COUNTER = {
    "global_load.excess_sectors": "sectors",
    "global_store.excess_sectors": "sectors",
    "global_load.bytes": "loads",
    "global_load.sectors": "loads",
    "global_store.bytes": "loads",
    "global_load.requests": "lanes",
    "shared_load.conflicts": "banks",
    "shared_store.conflicts": "banks",
    "shared_store.requests": "lanes",
    "barriers": "barriers",
    "shuffles": "lanes",
    "branches": "lanes",
    "divergent_branches": "lanes",
    "float32_operations": "lanes",
    "red.requests": "updates",
    "atom.requests": "updates",
    "atomic_updates": "updates",
    "shared_updates": "updates",
}
"""The counter that is over budget -> what the picture is of. Of the others no picture says more
than the lines that cost most."""

OF_HAZARD = {
    ("race", "shared"): "barriers",
    ("race", "global"): "cells",
    ("uninitialised-read", "shared"): "cells",
    ("uninitialised-read", "global"): "cells",
    ("uninitialised-read", None): "lanes",
    ("out-of-bounds", "shared"): "cells",
    ("out-of-bounds", "global"): "cells",
    ("barrier-divergence", None): "lanes",
    ("inactive-lane", None): "lanes",
}
"""(Hazard kind, where the array lies; None where it is about none) -> what the picture is of."""

_MET = {
    "race": "where threads meet",
    "uninitialised-read": "read before it is written",
    "barrier-divergence": "the barrier that threads miss",
    "inactive-lane": "not the lanes that the mask names",
}
"""Hazard kind -> what the cells or the line are that are marked."""


def verdict_figure(verdict: VerdictFacts) -> Figure | None:
    """Returns the picture of what an answer did in the case that is spoken of, or None."""
    report = verdict.report
    if verdict.status not in ("passed", "failed"):
        return None
    if report is None:
        return _schedule(verdict.evidence.get("shown") or verdict.evidence.get("got"))
    subject = _subject(verdict, report)
    if subject in _PICTURES and verdict.scene is not None:
        # A launch that cannot be followed, or is too large to be drawn, has the plainer picture.
        with suppress(CourseError):
            figure = _PICTURES[subject](verdict)
            if figure is not None:
                return figure
    if not report.touches:
        return None
    if all(_cells(touch.shape) <= MAX_CELLS_DRAWN for touch in report.touches):
        return _of_few_cells(verdict, report)
    if verdict.passed:
        return _of_many_cells(verdict, report)
    return _around_the_fault(verdict, report)


def _subject(verdict: VerdictFacts, report: Report) -> str:
    """Returns what the picture of a verdict is of, "" for who touches what."""
    if verdict.passed:
        return str(verdict.evidence.get("picture", ""))
    if verdict.reason == "over-budget":
        parts = str(verdict.evidence.get("counter", "")).split(" + ")
        return next((OF_COUNTER[part] for part in parts if part in OF_COUNTER), "")
    if verdict.reason == "hazard" and (hazard := _hazard(verdict, report)) is not None:
        space = hazard.details.get("space") or _space(report, hazard.details.get("array"))
        return OF_HAZARD.get((hazard.kind, space), "")
    return ""


def _hazard(verdict: VerdictFacts, report: Report) -> Hazard | None:
    """Returns the hazard that a verdict speaks of, where the report is that of its launch."""
    errors = (hazard for hazard in verdict.hazards if hazard.severity == "error")
    return next((hazard for hazard in errors if hazard in report.hazards), None)


def _space(report: Report, array: str | None) -> str | None:
    """Returns where an array lies; None for no array, and for one that nobody touched."""
    return next((touch.space for touch in report.touches if touch.array == array), None)


# Of a run that is watched once more


def _of_lanes(verdict: VerdictFacts) -> Figure | None:
    """The lines that warps carry out, with the lanes at work; what costs or fails is marked."""
    from gpu_course.draw.execution.divergence import draw_divergence

    assert verdict.scene is not None and verdict.report is not None
    hazard = None if verdict.passed else _hazard(verdict, verdict.report)
    if verdict.reason == "hazard" and hazard is None:
        return None
    block = 0 if hazard is None else _block(hazard, verdict.report)
    recording = verdict.scene.record(block)
    lines = frozenset(verdict.evidence.get("lines", ()) if hazard is None else (hazard.line,))
    warps = _warps_to_show(recording, lines, hazard, block)
    if verdict.evidence.get("counter") == "divergent_branches":
        lines &= _splits(recording, warps[0])
    mark = _MET.get(hazard.kind, "") if hazard is not None else _counted(verdict)
    most = MAX_LINES_DRAWN if len(warps) == 1 else MAX_LINES_OF_TWO // 2
    return draw_divergence(recording, warps, marked=lines, mark=mark, most=most)


def _splits(recording: Recording, warp: int) -> frozenset[int]:
    """Returns the lines at which the lanes of a warp go two ways."""
    from gpu_course.draw.execution.divergence import walk_of_warp

    return frozenset(each.line for each in walk_of_warp(recording, warp) if each.parted)


def _counted(verdict: VerdictFacts) -> str:
    words = verdict.evidence.get("words", "")
    return f"counted: {words}" if words else ""


def _warps_to_show(
    recording: Recording, lines: frozenset[int], hazard: Hazard | None, block: int
) -> tuple[int, ...]:
    """Returns the warps in which most is to be seen.

    Of lines that cost too much it is the warp that has most lanes at them. Of a hazard the one that
    comes to its line with some of its lanes alone; or one that comes and one that does not. Of a
    pass the first; and the second, too, where both are short and go different ways.
    """
    if hazard is None and not lines:
        walks = [_walked(recording, warp) for warp in recording.warps[:2]]
        apart = len(walks) > 1 and walks[0] != walks[1]
        both = apart and sum(map(len, walks)) <= MAX_LINES_OF_TWO
        return recording.warps[: 1 + both]
    here: dict[int, int] = {}
    for warp in recording.warps:
        if hazard is None or warp // recording.warps_per_block == block:
            members = recording.members(warp)
            steps = (s for s in recording.steps if s.line in lines)
            counts = [int(np.isin(step.threads, members).sum()) for step in steps]
            here[warp] = sum(counts) if hazard is None else max(counts, default=0)
    if hazard is None:
        return (max(here, key=lambda warp: (here[warp], -warp)),)
    partly = [w for w in here if 0 < here[w] < recording.members(w).size]
    if partly:
        return (partly[0],)
    come, absent = [w for w in here if here[w]], [w for w in here if not here[w]]
    return tuple((come[:1] + absent[:1]) or recording.warps[:1])


def _walked(recording: Recording, warp: int) -> list[int]:
    """Returns the lines that a warp carries out, in order."""
    return [recording.steps[number].line for number in recording.track((warp,))]


def _of_barriers(verdict: VerdictFacts) -> Figure | None:
    """Who touches which cell of a tile between barriers; cells that race, or what could go."""
    from gpu_course.draw.execution.intervals import View, draw_intervals

    assert verdict.scene is not None and verdict.report is not None
    hazard = None if verdict.passed else _hazard(verdict, verdict.report)
    if hazard is not None and verdict.reason == "hazard":
        block = _block(hazard, verdict.report)
        cells = frozenset(hazard.details.get("cells", ())) | {int(hazard.details["cell"])}
        view = View(min(cells), cells, only_raced=True)
        return draw_intervals(
            verdict.scene.record(block), hazard.details["array"], block, view=view
        )
    recording = verdict.scene.record()
    tiles = Counter(
        access.array
        for step in recording.steps
        for access in step.accesses
        if access.space == "shared"
    )
    if not tiles:
        return None
    spare = frozenset(verdict.evidence["lines"]) if verdict.evidence.get("spare") else frozenset()
    view = View(raced=frozenset(), spare=spare)
    return draw_intervals(recording, tiles.most_common(1)[0][0], view=view)


def _requests(verdict: VerdictFacts, space: str) -> list[WarpRequest]:
    """Returns the costliest request of each line: of the lines at fault, or of a pass of all."""
    from simt.observe.requests import CostliestRequests

    assert verdict.scene is not None
    watched: dict[int, CostliestRequests] = {}

    def watch(number: int) -> tuple[CostliestRequests, ...]:
        watched[number] = CostliestRequests()
        return (watched[number],)

    verdict.scene.run(watch)
    numbers = watched if verdict.passed else [verdict.scene.launch]
    lines = verdict.evidence.get("lines")
    return [
        request
        for number in numbers
        for request in watched[number].found.values()
        if request.space == space and (lines is None or request.line in lines)
    ]


def _worst(requests: Iterable[WarpRequest], *kinds: str) -> WarpRequest | None:
    """Returns the first of the requests with the largest excess, of those the costliest."""
    of_kind = [each for each in requests if each.kind in kinds]
    return max(of_kind, key=lambda each: (each.excess, each.cost), default=None)


_VERBS = {"read": "reads", "write": "writes", "atomic": "updates"}


def _name(request: WarpRequest) -> str:
    return f"line {request.line} {_VERBS[request.kind]} {request.array}"


def _of_sectors(verdict: VerdictFacts) -> Figure | None:
    """The sectors of the costliest load and store: of a pass both, else those that are counted."""
    from gpu_course.draw.execution.sectors import MAX_DRAWN, draw_sectors

    found = _requests(verdict, "global")
    counter = str(verdict.evidence.get("counter", ""))
    kinds = [
        kind
        for kind, counts in (("read", "global_load"), ("write", "global_store"))
        if verdict.passed or counts in counter
    ]
    chosen = [worst for kind in kinds if (worst := _worst(found, kind)) is not None]
    if not verdict.passed:
        chosen = [each for each in chosen if each.excess] or chosen[:1]
    if not chosen:
        return None
    words = ""
    if verdict.passed and not any(each.excess for each in found):
        words = "no load and no store of your kernel moves a sector too many"
    elif verdict.passed:
        words = "of all loads and stores, those with the most excess sectors"
    elif not verdict.passed:
        each = max(chosen, key=lambda request: request.excess)
        words = f"{_name(each)}: {each.cost} sectors, and {each.least} would do"
    most = MAX_DRAWN if len(chosen) > 1 else 0
    return draw_sectors(*map(_as_request, chosen), most=most, words=words)


def _as_request(request: WarpRequest) -> Request:
    from gpu_course.draw.execution.sectors import Request

    return Request(request.addresses, request.itemsize, _name(request), request.kind)


def _of_banks(verdict: VerdictFacts) -> Figure | None:
    """The banks that the access with the most conflicts asks for, of either side of the tile."""
    from gpu_course.draw.execution.banks import draw_banks
    from simt.observe.transactions import WORD_BYTES

    counter = str(verdict.evidence.get("counter", ""))
    sides = {"shared_load": ("read",), "shared_store": ("write", "atomic")}
    # Of a pass, and of a budget that names neither side, both are looked at.
    named = [kinds for side, kinds in sides.items() if side in counter] or list(sides.values())
    worst = _worst(_requests(verdict, "shared"), *(kind for kinds in named for kind in kinds))
    # What is wider than a word is served in turns, which this picture has no place for.
    if worst is None or worst.itemsize > WORD_BYTES:
        return None
    words = [None if each is None else each // WORD_BYTES for each in worst.addresses]
    return draw_banks(words, name=_name(worst), worst=True)


# Of what the report holds


def _of_loads(verdict: VerdictFacts) -> Figure | None:
    """The cells that a block loads from global memory, or stores there, more than once."""
    from gpu_course.draw.execution.footprint import count
    from gpu_course.draw.execution.ownership import Trouble, draw_around

    report = verdict.report
    assert report is not None
    stores = str(verdict.evidence.get("counter", "")).startswith("global_store")
    kind, verb, shown = ("write", "writes", "wrote") if stores else ("read", "loads", "read")
    mark = "written more than once" if stores else "loaded more than once"
    lines = verdict.evidence.get("lines", ())
    touches = [t for t in report.touches if t.kind == kind and t.space == "global"]
    for array in dict.fromkeys(t.array for line in lines for t in touches if t.line == line):
        block, often = _touched_by_a_block(report, [t for t in touches if t.array == array])
        cells = frozenset(cell for cell, times in often.items() if times > 1)
        if cells:
            words = f"block {block} {verb} {count(len(cells), 'cell')} more than once, "
            words += f"up to {count(max(often.values()), 'time')}"
            trouble = Trouble(array, min(cells), words, cells, mark, block, shown, only_block=True)
            return draw_around(report, trouble)
    return None


def _touched_by_a_block(report: Report, touches: list[Touch]) -> tuple[int, Counter[int]]:
    """Returns the block that touches most cells again, and how often it touches each."""
    size = int(np.prod(report.launch.block))
    often: dict[int, Counter[int]] = {}
    for touch in touches:
        for thread, cell in zip(touch.threads.tolist(), touch.cells.tolist(), strict=True):
            often.setdefault(thread // size, Counter())[cell] += cell >= 0
    again = {block: sum(n > 1 for n in cells.values()) for block, cells in often.items()}
    block = max(again, key=lambda number: (again[number], -number))
    return block, often[block]


def _of_updates(verdict: VerdictFacts) -> Figure | None:
    """The cells that several threads update atomically, which they do one after the other."""
    from gpu_course.draw.execution.footprint import count
    from gpu_course.draw.execution.ownership import Trouble, draw_around

    report = verdict.report
    assert report is not None
    lines = verdict.evidence.get("lines", ())
    atomics = [t for t in report.touches if t.kind == "atomic"]
    array = next((t.array for line in lines for t in atomics if t.line == line), None)
    if array is None:
        return None
    size, shared = int(np.prod(report.launch.block)), _space(report, array) == "shared"
    threads: dict[int, set[int]] = {}
    for touch in atomics:
        if touch.array == array:
            for thread, cell in zip(touch.threads.tolist(), touch.cells.tolist(), strict=True):
                if cell >= 0 and (not shared or thread < size):
                    threads.setdefault(cell, set()).add(thread)
    several = frozenset(cell for cell, who in threads.items() if len(who) > 1)
    if not several:
        return None
    cell = max(several, key=lambda number: (len(threads[number]), -number))
    who = count(len(threads[cell]), "thread")
    shape = next(t.shape for t in atomics if t.array == array)
    words = f"{who} update {array}[{_index(cell, shape)}], one after the other"
    mark = "updated by several threads"
    return draw_around(report, Trouble(array, cell, words, several, mark, shown="updated"))


def _of_cells(verdict: VerdictFacts) -> Figure | None:
    """The cells that a hazard is about; None for small arrays, which are drawn whole."""
    from gpu_course.draw.execution.ownership import draw_around

    report = verdict.report
    assert report is not None
    hazard = _hazard(verdict, report)
    small = all(_cells(touch.shape) <= MAX_CELLS_DRAWN for touch in report.touches)
    if hazard is None or not report.touches or (small and hazard.kind != "uninitialised-read"):
        return None
    if hazard.details.get("array") not in {touch.array for touch in report.touches}:
        return None
    return draw_around(report, trouble_of(hazard, report))


_PICTURES: dict[str, Callable[[VerdictFacts], Figure | None]] = {
    "lanes": _of_lanes,
    "barriers": _of_barriers,
    "sectors": _of_sectors,
    "banks": _of_banks,
    "loads": _of_loads,
    "updates": _of_updates,
    "cells": _of_cells,
}
"""What a picture is of -> what draws it, or finds that there is nothing to see."""


def _of_few_cells(verdict: VerdictFacts, report: Report) -> Figure:
    """Who touches what, with the cells marked that are not as they should be."""
    from gpu_course.draw.touches.picture import Marked, draw_touches

    wrong = _wrong_cells(verdict)
    marked = None if wrong is None else Marked(*wrong)
    return draw_touches(report, marked=marked)


def _wrong_cells(verdict: VerdictFacts) -> tuple[str, frozenset[int], str] | None:
    """Returns the array with cells that are not as they should be, which, and what they are."""
    mask, array = verdict.evidence.get("mask"), verdict.evidence.get("array")
    if mask is None or array is None:
        return None
    return str(array), frozenset(np.flatnonzero(mask).tolist()), _WRONG[verdict.reason or ""]


_WRONG = {
    "wrong-result": "wrong",
    "order-dependent": "different in another order",
    "input-changed": "changed",
}


def _around_the_fault(verdict: VerdictFacts, report: Report) -> Figure | None:
    """Returns the cells around the first fault, where the arrays are too large to draw whole."""
    from gpu_course.draw.execution.ownership import Trouble, draw_around

    touched = {touch.array for touch in report.touches}
    wrong = _wrong_cells(verdict)
    if wrong is not None and wrong[0] in touched:
        array, cells, mark = wrong
        size = np.size(verdict.evidence["mask"])
        words = f"{len(cells):,} of {size:,} cells {'is' if len(cells) == 1 else 'are'} {mark}"
        return draw_around(report, Trouble(array, min(cells), words, cells, mark))
    for hazard in verdict.hazards:
        if hazard.details.get("array") in touched and hazard in report.hazards:
            return draw_around(report, trouble_of(hazard, report))
    if verdict.diagnosis not in ("not-shared", "done-again"):
        # Whose a cell is explains nothing but how the work is shared.
        return None
    written = [touch for touch in report.touches if touch.kind == "write"]
    if not written:
        return _of_atomics(report)
    words = f"the first of its {_cells(written[-1].shape):,} cells"
    return draw_around(report, Trouble(written[-1].array, 0, words))


def _block(hazard: Hazard, report: Report) -> int:
    """Returns the linear number of the first block that a hazard names."""
    x, y, z = hazard.threads[0][0] if hazard.threads else (0, 0, 0)
    grid = report.launch.grid
    return x + grid[0] * (y + grid[1] * z)


def trouble_of(hazard: Hazard, report: Report) -> Trouble:
    """Returns what a hazard says of an array, the cells it says it of, and the block it is in."""
    from gpu_course.draw.execution.ownership import Trouble

    block = _block(hazard, report)
    array, shape = hazard.details["array"], hazard.details["shape"]
    if "cell" in hazard.details:
        cell = int(hazard.details["cell"])
        cells = frozenset(hazard.details.get("cells", ())) | {cell}
        if hazard.kind == "uninitialised-read":
            cells |= _read_too_early(report, hazard, block)
        mark = _MET.get(hazard.kind, "this cell")
        words = hazard.message
        more = f"; so are {len(cells) - 1:,} more" if len(cells) > 1 else ""
        if len(words) + len(more) <= MAX_WORDS:
            words += more
        return Trouble(array, cell, words, cells, mark, block)
    index = hazard.details.get("index", (0,))
    inside = tuple(max(0, min(int(i), n - 1)) for i, n in zip(index, shape, strict=False))
    return Trouble(array, int(np.ravel_multi_index(inside, shape)), hazard.message, block=block)


def _read_too_early(report: Report, hazard: Hazard, block: int) -> frozenset[int]:
    """Returns the cells of an array that the line of a hazard read before anybody wrote them."""
    size = int(np.prod(report.launch.block))
    array = hazard.details["array"]
    written: set[int] = set()
    found: set[int] = set()
    for touch in report.touches:
        if touch.array != array:
            continue
        mine = touch.cells
        if touch.space == "shared":
            mine = touch.cells[touch.threads // size == block]
        if touch.kind == "read":
            if touch.line == hazard.line:
                found |= set(mine.tolist()) - written
        else:
            written |= set(mine.tolist())
    return frozenset(cell for cell in found if cell >= 0)


def _of_many_cells(verdict: VerdictFacts, report: Report) -> Figure | None:
    """Returns who wrote which cell of the output; of a large one, how its tile is laid out.

    An array that each thread has for itself has no owner to show.
    """
    from gpu_course.draw.execution.ownership import draw_ownership

    written = [t for t in report.touches if t.kind == "write" and t.space == "global"]
    if not written:
        return _of_atomics(report)
    if _cells(written[-1].shape) <= MAX_CELLS_OWNED:
        return draw_ownership(report, written[-1].array)
    with suppress(CourseError):
        return None if verdict.scene is None else _of_banks(verdict)
    return None


def _of_atomics(report: Report) -> Figure | None:
    """Returns how many threads update each of the first cells of an array by atomics."""
    from gpu_course.draw.execution.ownership import WINDOW_CELLS, Trouble, draw_around

    updated = [t for t in report.touches if t.kind == "atomic" and t.space == "global"]
    if not updated:
        return None
    size = _cells(updated[-1].shape)
    part = len(updated[-1].shape) == 1 and size > WINDOW_CELLS
    words = f"the first {WINDOW_CELLS} of {size:,} cells" if part else f"{size:,} cells"
    words += ", updated one thread after the other"
    return draw_around(report, Trouble(updated[-1].array, 0, words, shown="updated"))


def _schedule(got: Any) -> Figure | None:
    """Returns a schedule that an answer planned or weighed, with the place where it breaks.

    Args:
        got: "schedule" and "rises"; and where they are there, "broken", "at", "budget", "claimed"
            and "unit", as `draw_schedule` takes them. None comes of anything else.
    """
    if not isinstance(got, dict) or not {"schedule", "rises"} <= got.keys():
        return None
    from gpu_course.draw.training.schedules import draw_schedule

    if not 0 < len(got["schedule"]) <= MAX_OPERATIONS_DRAWN:
        return None
    return draw_schedule(
        [(str(word), int(stage)) for word, stage in got["schedule"]],
        [int(rise) for rise in got["rises"]],
        broken=str(got.get("broken", "")),
        at=got.get("at"),
        budget=got.get("budget"),
        claimed=[float(peak) for peak in got.get("claimed", ())],
        unit=str(got.get("unit", "outputs")),
    )


def _index(cell: int, shape: tuple[int, ...]) -> str:
    return ", ".join(str(int(i)) for i in np.unravel_index(cell, shape))


def _cells(shape: tuple[int, ...]) -> int:
    return int(np.prod(shape, dtype=np.int64))
