"""A step of a recorded launch in words: what its picture shows, and what stands in for it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from gpu_course.draw.execution.footprint import count, dim_text, ranges
from simt.report import Held, Recording, Step, StepAccess

MAX_ROWS = 60
NEAR = 8
"""Steps on either side of one, where only those near it are listed."""
_VERBS = {"read": "read", "write": "write", "atomic": "update"}
_COSTS = {"global": ("sector", "sectors"), "shared": ("wavefront", "wavefronts")}


def call_text(recording: Recording) -> str:
    """Returns the launch as it is written, such as "pooling[2, 64]"."""
    shape = recording.launch
    return f"{recording.kernel}[{dim_text(shape.grid)}, {dim_text(shape.block)}]"


def warp_text(recording: Recording, warp: int) -> str:
    """Returns a warp's name: with its block where the grid has more than one."""
    block, inside = divmod(warp, recording.warps_per_block)
    if recording.launch.grid == (1, 1, 1):
        return f"warp {inside}"
    return f"block {index_text(block, recording.launch.grid)} warp {inside}"


def warps_text(recording: Recording, warps: Sequence[int]) -> str:
    """Returns the names of several warps; a block they share is named once."""
    names = [warp_text(recording, warp) for warp in warps]
    blocks = {warp // recording.warps_per_block for warp in warps}
    if len(blocks) == 1:
        names[1:] = [name[name.index("warp ") :] for name in names[1:]]
    return ", ".join(names)


def index_text(number: int, shape: tuple[int, int, int]) -> str:
    """Returns a linear number of a grid or block as CUDA's documents write it.

    >>> index_text(5, (4, 2, 1))
    '(1,1,0)'
    """
    x, y, _ = shape
    return f"({number % x},{number // x % y},{number // (x * y)})"


def number_text(value: Any, width: int = 6) -> str:
    """Returns a value in so many characters, or fewer.

    >>> number_text(np.float32(0.1)), number_text(1234567), number_text(np.bool_(True))
    ('0.1', '1.23e6', 'True')
    """
    value = value.item() if hasattr(value, "item") else value
    if isinstance(value, int | bool) and len(str(value)) <= width:
        return str(value)
    if isinstance(value, complex):
        return "a+bi" if value else "0"
    for digits in range(min(width, 6), 0, -1):
        text = f"{float(value):.{digits}g}".replace("e+0", "e").replace("e-0", "e-")
        if len(text) <= width:
            return text
    return "~"


def cell_name(access_or_array: str, cell: int, shape: Sequence[int]) -> str:
    """Returns a cell as a kernel writes it.

    >>> cell_name("s", 19, (4, 16))
    's[1, 3]'
    """
    places = np.unravel_index(cell, tuple(shape)) if len(shape) else (0,)
    return f"{access_or_array}[{', '.join(str(int(p)) for p in places)}]"


def source_line(recording: Recording, step: Step) -> str:
    """Returns the text of a step's line, stripped."""
    return recording.texts[step.function].lines.get(step.line, "").strip()


def of_warps(recording: Recording, threads: np.ndarray, warps: Iterable[int]) -> np.ndarray:
    """Returns the threads that belong to some warps."""
    return threads[np.isin(recording.warps_of(threads), list(warps))]


def describe_step(
    recording: Recording, number: int, warps: Sequence[int], *, costs: bool = True
) -> str:
    """Returns in words what `draw_step` shows.

    Args:
        recording: the launch.
        number: which step of the warps' track, from 0.
        warps: the warps shown.
        costs: False leaves out sectors and wavefronts.
    """
    track = recording.track(warps)
    step = recording.steps[track[number]]
    said = [f"{call_text(recording)}, step {number + 1} of {len(track)}.", _line(recording, step)]
    for warp in warps:
        said += _mask(recording, step, warp)
    for access in step.accesses:
        said += _access(recording, access, warps, costs)
    for meeting in step.meetings:
        said.append(_MEETINGS[meeting])
    said += _variables(recording, step, warps)
    for hazard, threads in step.struck:
        if of_warps(recording, threads, warps).size:
            found = recording.hazards[hazard]
            said += [f"{text}." for text in (found.message, found.details.get("why")) if text]
    return " ".join(said)


_MEETINGS = {
    "barrier": "The block meets at a barrier.",
    "warp barrier": "The lanes meet within their warp.",
    "grid barrier": "The whole grid meets.",
    "fence": "A fence: what was written before can be seen before what comes after.",
    "shuffle": "The lanes exchange values.",
}


def _line(recording: Recording, step: Step) -> str:
    piece = f" (piece {step.part}: others came in between)" if step.part else ""
    return f"Line {step.line}{piece}: {source_line(recording, step)}."


def _mask(recording: Recording, step: Step, warp: int) -> list[str]:
    mine = of_warps(recording, step.threads, [warp])
    if not mine.size:
        return []
    lanes = recording.lanes_of(mine)
    there = recording.members(warp).size
    name = warp_text(recording, warp)
    name = name[0].upper() + name[1:]
    said = [
        f"{name}: all {there} lanes active."
        if lanes.size == there
        else f"{name}: {count(lanes.size, 'lane')} of {there} active, {ranges(lanes.tolist())}."
    ]
    if step.taken is not None:
        true = recording.lanes_of(of_warps(recording, step.taken, [warp]))
        if true.size == lanes.size:
            said.append("The condition is true for all of them.")
        elif not true.size:
            said.append("The condition is true for none of them.")
        else:
            said.append(f"The condition is true for lanes {ranges(true.tolist())}: they diverge.")
    return said


def access_words(recording: Recording, access: StepAccess, warp: int, costs: bool = True) -> str:
    """Returns who touches what in one warp, and what it costs."""
    mine = recording.warps_of(access.threads) == warp
    lanes, cells = recording.lanes_of(access.threads[mine]), access.cells[mine]
    verb = _VERBS[access.kind] + ("s" if lanes.size == 1 else "")
    who = f"lane {lanes[0]}" if lanes.size == 1 else count(lanes.size, "lane")
    text = f"{who} {verb} {cells_text(access, cells)}"
    if costs and warp in access.cost:
        cost, least = access.cost[warp], access.least[warp]
        word = _COSTS[access.space][cost != 1]
        text += f": {cost} {word}" + ("" if cost == least else f" where {least} would do")
    return text


def cells_text(access: StepAccess, cells: np.ndarray) -> str:
    """Returns some cells of an array in short, such as "a[0 to 31]"."""
    if len(access.shape) == 1 and cells.size > 1:
        listed = sorted(set(cells.tolist()))
        text = ranges(listed)
        if len(text) > 24:
            text = f"{listed[0]} to {listed[-1]}, {len(listed)} cells"
        return f"{access.array}[{text}]"
    first = cell_name(access.array, int(cells[0]), access.shape)
    last = cell_name(access.array, int(cells[-1]), access.shape)
    return first if first == last else f"{first} to {last}"


def _access(
    recording: Recording, access: StepAccess, warps: Sequence[int], costs: bool
) -> list[str]:
    busy = set(recording.warps_of(access.threads).tolist())
    said = []
    for warp in (w for w in warps if w in busy):
        text = access_words(recording, access, warp, costs)
        said.append(f"{text[0].upper()}{text[1:]} ({access.space} memory).")
    return said


def _variables(recording: Recording, step: Step, warps: Sequence[int]) -> list[str]:
    said = []
    members = np.concatenate([recording.members(w) for w in warps])
    for name, held in step.held.items():
        values = known_values(recording, held, members)
        if len(values):
            unique = sorted(set(values))
            text = number_text(unique[0], 9)
            if len(unique) > 1:
                text += f" to {number_text(unique[-1], 9)}"
            said.append(f"{name} is {text}.")
    return said


def known_values(recording: Recording, held: Held, threads: np.ndarray) -> list[Any]:
    """Returns what those of some threads hold that have assigned a variable."""
    places = np.searchsorted(recording.threads, threads)
    places = places[held.known[places]]
    return [v for v in held.values[places].tolist() if v == v]


def list_steps(recording: Recording, warps: Sequence[int], around: int | None = None) -> str:
    """Returns the steps in one line each: number, line, lanes, source. No picture needed.

    Args:
        recording: the launch.
        warps: the warps whose steps they are.
        around: the number of a step, where only those near it are asked for.
    """
    track = recording.track(warps)
    names = warps_text(recording, warps)
    head = f"{call_text(recording)}, {names}: {count(len(track), 'step')}"
    lines = [head, *bounds(recording), "  step   line   lanes  source"]
    first, most = 0, MAX_ROWS
    if around is not None:
        first, most = max(around - NEAR, 0), 2 * NEAR
    if first:
        lines.append(f"  {count(first, 'step')} before these")
    for number, index in enumerate(track[first : first + most], start=first + 1):
        step = recording.steps[index]
        mine = of_warps(recording, step.threads, warps)
        there = sum(recording.members(w).size for w in _acting(recording, mine))
        struck = [
            recording.hazards[h] for h, t in step.struck if of_warps(recording, t, warps).size
        ]
        lanes = f"{mine.size}/{there}"
        acting = _acting(recording, mine)
        alone = len(warps) > 1 and len(acting) == 1
        who = f"{warp_text(recording, acting[0])}: " if alone else ""
        lines.append(f"{number:>6} {step.line:>6} {lanes:>7}  {who}{source_line(recording, step)}")
        lines += [f"{'':>23}! {hazard.message}" for hazard in struck]
    if len(track) > first + most:
        lines.append(f"  and {count(len(track) - first - most, 'more step')}")
    return "\n".join(line.rstrip() for line in lines)


def _acting(recording: Recording, threads: np.ndarray) -> list[int]:
    return [int(w) for w in np.unique(recording.warps_of(threads))]


def bounds(recording: Recording) -> list[str]:
    """Returns what the recording leaves out, or nothing where it is whole."""
    said = []
    shape = recording.launch
    if recording.threads.size < int(np.prod(shape.grid)) * recording.threads_per_block:
        size = recording.threads_per_block
        first, last = int(recording.threads[0]) // size, int(recording.threads[-1]) // size
        names = f"block {first}" if first == last else f"blocks {first} to {last}"
        said.append(f"recorded: {names} of {int(np.prod(shape.grid)):,}")
    if recording.steps_taken > len(recording.steps):
        said.append(
            f"recorded: the first {len(recording.steps):,} of {recording.steps_taken:,} steps"
        )
    if not recording.finished:
        said.append("given up before its end")
    return said
