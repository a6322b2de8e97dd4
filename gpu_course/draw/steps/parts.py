"""The panels of a step's picture: what lanes hold, what arrays hold, what an access touches.

A row of values is written in one piece, in characters that are all as wide: a picture that is drawn
anew while a hand drags a slider has no time for hundreds of small texts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gpu_course.draw.paper import palette as p
from gpu_course.draw.paper.ink import CHAR, Ink, Look
from gpu_course.draw.steps.step_texts import access_words, cell_name, number_text, warp_text
from simt.report import Recording, Step, StepAccess

ROW = 0.19
"""Inches from one row of text to the next."""

_LEFT = 0.3
_LABEL_CHARS = 13
_X = _LEFT + _LABEL_CHARS * CHAR
_PER_ROW = 8
_WIDE = 8
"""Characters for the value of one lane or cell."""
_DIGITS = 6
"""Characters of a value: a cell has room for them and for some air."""
_CELL = 4
"""Characters for one word of memory, which holds a lane's number."""
_LINE_BYTES = 128
"""A line of memory: four sectors, or one word of each of 32 banks."""
_HALF_BYTES = 64
"""What one row of the picture shows of it."""
_SECTOR = 32
_WORD = 4
_MAX_VARIABLES = 4
_MAX_ARRAY_ROWS = 8
_MAX_ACCESSES = 3
_MAX_LINES = 2
_NUDGE = 0.25 * CHAR
"""What does not divide evenly stands half a character to the left: the middle of that is here."""


# What the lanes hold


def shown_variables(recording: Recording) -> tuple[str, ...]:
    """Returns the variables that have a row: the first few watched ones that hold numbers."""
    held = {name for step in recording.steps for name in step.held}
    return tuple(n for n in recording.watch if n in held)[:_MAX_VARIABLES]


@dataclass(frozen=True)
class View:
    """What of a step its picture shows.

    Attributes:
        costs: sectors, banks and wavefronts, for those who have met them.
        threads: the threads a story is about; of other lanes no values are shown. Empty: all.
        array, cell: the cell it is about; of other arrays' and far cells nothing is shown. "": all.
    """

    costs: bool = True
    threads: tuple[int, ...] = ()
    array: str = ""
    cell: int = 0


def rows_of_values(recording: Recording, warps: Sequence[int], view: View) -> int:
    """Returns the rows `draw_values` needs."""
    names = shown_variables(recording)
    return (1 + len(names)) * max(len(_groups(recording, warp, view)) for warp in warps)


def _groups(recording: Recording, warp: int, view: View) -> list[int]:
    """The first lane of each row of lanes that is shown of a warp."""
    every = list(range(0, recording.members(warp).size, _PER_ROW))
    if not view.threads:
        return every
    told = np.array(view.threads)
    lanes = recording.lanes_of(told[recording.warps_of(told) == warp])
    return sorted({int(lane) // _PER_ROW * _PER_ROW for lane in lanes}) or every[:1]


def draw_values(
    ink: Ink, recording: Recording, step: Step, warp: int, y: float, view: View
) -> None:
    """Draws the lanes of a warp with their numbers, and below each what its variables are."""
    members = recording.members(warp)
    places = np.searchsorted(recording.threads, members)
    active = np.isin(members, step.threads)
    names = shown_variables(recording)
    for first in _groups(recording, warp, view):
        last = min(first + _PER_ROW, members.size)
        middle = y + ROW / 2
        label = warp_text(recording, warp).rpartition(" warp ")[2].replace("warp ", "")
        ink.mono(_LEFT, middle, f"warp {label}", p.QUIET)
        for state, look, colour in ((True, _ACTIVE, p.PAPER), (False, _IDLE, p.QUIET)):
            lanes = [k for k in range(first, last) if active[k] == state]
            if lanes:
                x = [_X + (k - first) * _WIDE * CHAR + CHAR * 0.4 for k in lanes]
                ink.boxes(x, [middle] * len(x), (_WIDE - 0.8) * CHAR, ROW * 0.86, look)
                texts = [str(k) if k in lanes else "" for k in range(first, last)]
                ink.mono(_X + _NUDGE, middle, _row(texts, _WIDE), colour, bold=state)
        y += ROW
        for name in names:
            held = step.held.get(name)
            texts = [
                "·" if held is None or not held.known[k] else number_text(held.values[k], _DIGITS)
                for k in places[first:last]
            ]
            middle = y + ROW / 2
            shown = name if len(name) < _LABEL_CHARS else name[: _LABEL_CHARS - 2] + "…"
            ink.mono(_LEFT, middle, shown, p.INK, bold=True)
            for state, colour in ((True, p.INK), (False, p.QUIET)):
                shown_texts = [
                    text if on == state else ""
                    for text, on in zip(texts, active[first:last], strict=True)
                ]
                ink.mono(_X + _NUDGE, middle, _row(shown_texts, _WIDE), colour)
            y += ROW


_ACTIVE = {"facecolor": p.ACTIVE, "edgecolor": p.ACTIVE, "linewidth": 1.0}
_IDLE = {"facecolor": p.IDLE, "edgecolor": p.RULE, "linewidth": 0.8, "linestyle": p.OUTSIDE_DASHES}


# What arrays hold


def shown_arrays(recording: Recording, warps: Sequence[int], view: View) -> dict[str, list[int]]:
    """Returns the watched arrays that the steps touch, and the rows of 8 cells to show of each."""
    wanted = [n for n in recording.watch if n in recording.arrays]
    if view.array in wanted:
        last = int(np.prod(recording.arrays[view.array].shape, dtype=np.int64)) - 1
        near = (max(view.cell - 1, 0), view.cell, min(view.cell + 1, last))
        return {view.array: sorted({cell // _PER_ROW for cell in near})}
    found: dict[str, list[int]] = {}
    left = _MAX_ARRAY_ROWS
    for name in wanted:
        touched: set[int] = set()
        for index in recording.track(warps):
            for access in recording.steps[index].accesses:
                if access.array == name:
                    mine = np.isin(recording.warps_of(access.threads), list(warps))
                    touched |= set((access.cells[mine] // _PER_ROW).tolist())
        rows = sorted(touched)[:left]
        if rows:
            found[name] = rows
            left -= len(rows)
    return found


def rows_of_contents(recording: Recording, warps: Sequence[int], view: View) -> int:
    """Returns the rows `draw_contents` needs."""
    return sum(map(len, shown_arrays(recording, warps, view).values()))


def draw_contents(
    ink: Ink,
    recording: Recording,
    index: int,
    warps: Sequence[int],
    warp: int,
    y: float,
    view: View,
) -> None:
    """Draws what watched arrays hold once a step is over, the cells it touches framed.

    Args:
        ink, recording, y: where to draw what.
        index: the number of the step in the recording.
        warps: those the picture shows, and `warp` the one whose block's shared memory is meant.
    """
    step, block = recording.steps[index], warp // recording.warps_per_block
    for name, rows in shown_arrays(recording, warps, view).items():
        values, known = recording.contents(name, index, block)
        looks = _cell_looks(recording, step, name, block)
        for row in rows:
            first, middle = row * _PER_ROW, y + ROW / 2
            cells = range(first, min(first + _PER_ROW, values.size))
            shape = recording.arrays[name].shape
            ink.mono(_LEFT, middle, cell_name(name, first, shape), p.INK, bold=True)
            for kind in {looks.get(c, "untouched") for c in cells}:
                x = [
                    _X + (c - first) * _WIDE * CHAR + CHAR * 0.4
                    for c in cells
                    if looks.get(c, "untouched") == kind
                ]
                wide = (_WIDE - 0.8) * CHAR
                ink.boxes(x, [middle] * len(x), wide, ROW * 0.86, _CELL_LOOKS[kind])
            if name == view.array and view.cell in cells:
                told = _X + (view.cell - first) * _WIDE * CHAR + CHAR * 0.4
                ink.boxes([told], [middle], (_WIDE - 0.8) * CHAR, ROW * 0.86, p.RINGS[0])
            texts = [number_text(values[c], _DIGITS) if known[c] else "?" for c in cells]
            ink.mono(_X + _NUDGE, middle, _row(texts, _WIDE), p.INK)
            y += ROW


def _cell_looks(recording: Recording, step: Step, name: str, block: int) -> dict[int, str]:
    looks: dict[int, str] = {}
    hit = _hit(recording, step, name)
    for access in step.accesses:
        if access.array != name:
            continue
        for thread, cell in zip(access.threads.tolist(), access.cells.tolist(), strict=True):
            mine = thread // recording.threads_per_block == block or access.space != "shared"
            if mine:
                looks[cell] = "struck" if thread in hit else access.kind
    return looks


def _hit(recording: Recording, step: Step, array: str) -> set[int]:
    """The threads that a hazard strikes at an array."""
    return {
        thread
        for hazard, threads in step.struck
        if recording.hazards[hazard].details.get("array", array) == array
        for thread in threads.tolist()
    }


_CELL_LOOKS: dict[str, dict[str, Any]] = {
    "untouched": p.UNTOUCHED_CELL,
    "read": p.READ_CELL,
    "write": p.WRITTEN_CELL,
    "atomic": p.WRITTEN_CELL,
    "struck": {**p.CONTESTED_CELL, "hatch": "//"},
}


# What an access touches


def rows_of_accesses(recording: Recording, step: Step, warps: Sequence[int]) -> int:
    """Returns the rows `draw_accesses` needs, for the busiest of some warps."""
    return max((_rows(recording, step, warp) for warp in warps), default=0)


def _rows(recording: Recording, step: Step, warp: int) -> int:
    accesses = _mine(recording, step, warp)
    lines = [min(len(_lines(recording, a, warp)), _MAX_LINES) for a in accesses]
    return len(accesses) + sum(lines) * (_LINE_BYTES // _HALF_BYTES)


def _mine(recording: Recording, step: Step, warp: int) -> list[StepAccess]:
    found = [a for a in step.accesses if (recording.warps_of(a.threads) == warp).any()]
    return found[:_MAX_ACCESSES]


def _lines(recording: Recording, access: StepAccess, warp: int) -> list[int]:
    """The 128-byte lines of memory that a warp touches; none for memory of a thread's own."""
    if access.space not in ("global", "shared"):
        return []
    mine = recording.warps_of(access.threads) == warp
    return sorted(set((access.addresses[mine] // _LINE_BYTES).tolist()))


def draw_accesses(ink: Ink, recording: Recording, step: Step, warp: int, y: float) -> None:
    """Draws where in memory the lanes of a warp are: sectors of 32 bytes, or banks of 4."""
    for access in _mine(recording, step, warp):
        hit = _hit(recording, step, access.array)
        lines = _lines(recording, access, warp)
        text = f"{access.space}: {access_words(recording, access, warp)}"
        if len(lines) > _MAX_LINES:
            text += f" ({_MAX_LINES} of {len(lines)} lines)"
        ink.words(_LEFT, y + ROW / 2, text, p.INK)
        y += ROW
        for line in lines[:_MAX_LINES]:
            _draw_line(ink, recording, access, warp, line, y + ROW / 2, hit)
            y += ROW * (_LINE_BYTES // _HALF_BYTES)


def _draw_line(
    ink: Ink,
    recording: Recording,
    access: StepAccess,
    warp: int,
    line: int,
    y: float,
    hit: set[int],
) -> None:
    """One line of 128 bytes, in two rows: a box per word or cell, with the lane that is there."""
    wide = max(access.itemsize, _WORD)
    slots = _LINE_BYTES // wide
    chars = _CELL * wide // _WORD
    mine = (recording.warps_of(access.threads) == warp) & (access.addresses // _LINE_BYTES == line)
    lanes = recording.lanes_of(access.threads[mine])
    slot = access.addresses[mine] % _LINE_BYTES // wide
    who: dict[int, list[int]] = {}
    for lane, place in zip(lanes.tolist(), slot.tolist(), strict=True):
        who.setdefault(place, []).append(lane)
    struck = {
        s for s, t in zip(slot.tolist(), access.threads[mine].tolist(), strict=True) if t in hit
    }
    crowded = _crowded(recording, access, warp, wide) if access.space == "shared" else set()
    is_global = access.space == "global"
    first_byte = line * _LINE_BYTES - _base(access)
    half = slots // 2
    for part in range(2):
        label = f"byte {first_byte + part * _HALF_BYTES:,}" if is_global else f"bank {part * 16}"
        ink.mono(_LEFT, y + part * ROW, label, p.QUIET)
    spread = [
        _X + (chars * (k % half) + (k % half * wide // _SECTOR if is_global else 0)) * CHAR
        for k in range(slots)
    ]
    heights = [y + k // half * ROW for k in range(slots)]
    kinds = dict.fromkeys(range(slots), "") | dict.fromkeys(who, access.kind)
    kinds |= dict.fromkeys(struck | (crowded & set(who)), "struck")
    touched_sectors = {k * wide // _SECTOR for k in who} if is_global else set()
    for kind in sorted(set(kinds.values())):
        there = [k for k in range(slots) if kinds[k] == kind]
        if kind == "" and is_global:
            # A sector is moved whole: its cells that nobody asked for are waste.
            waste = [k for k in there if k * wide // _SECTOR in touched_sectors]
            idle = [k for k in there if k not in waste]
            _slots(ink, spread, waste, heights, chars, p.UNWRITTEN_CELL)
            _slots(ink, spread, idle, heights, chars, p.UNTOUCHED_CELL)
        else:
            _slots(ink, spread, there, heights, chars, _CELL_LOOKS[kind or "untouched"])
    texts = [
        str(who[k][0]) if len(who.get(k, ())) == 1 else "*" if k in who else ""
        for k in range(slots)
    ]
    per_sector = max(_SECTOR // wide, 1)
    for first in range(0, slots, per_sector):
        row = _row(texts[first : first + per_sector], chars)
        ink.mono(spread[first] + _NUDGE, heights[first], row, p.INK)


def _row(texts: Sequence[str], wide: int) -> str:
    """Texts side by side, each in the middle of so many characters."""
    return "".join(f"{text:^{wide}}" for text in texts)


def _slots(
    ink: Ink,
    spread: list[float],
    there: list[int],
    heights: list[float],
    chars: int,
    look: Look,
) -> None:
    if there:
        x = [spread[k] + 0.15 * CHAR for k in there]
        ink.boxes(
            x,
            [heights[k] for k in there],
            (chars - 0.3) * CHAR,
            ROW * 0.86,
            {**look, "linewidth": 0.9},
        )


def _base(access: StepAccess) -> int:
    """The address of the array's first cell, so that bytes are counted from there."""
    return int(access.addresses[0] - access.cells[0] * access.itemsize)


def _crowded(recording: Recording, access: StepAccess, warp: int, wide: int) -> set[int]:
    """The banks in which a warp asks for more than one word: they are served one after another."""
    if access.cost.get(warp, 0) <= access.least.get(warp, 0):
        return set()
    mine = recording.warps_of(access.threads) == warp
    words: dict[int, set[int]] = {}
    for address in access.addresses[mine].tolist():
        words.setdefault(address % _LINE_BYTES // wide, set()).add(address // wide)
    most = max(map(len, words.values()))
    return {slot for slot, asked in words.items() if len(asked) == most}
