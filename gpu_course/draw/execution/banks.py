"""One request to shared memory: which lane asks which bank, and how many passes that takes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from gpu_course.draw.execution.footprint import count, ranges
from gpu_course.draw.paper import palette as p
from gpu_course.draw.paper.furniture import Legend, Look, cell_text, row_label, square, title
from gpu_course.draw.paper.picture import with_alt
from gpu_course.errors import CourseError
from simt.report import WARP, Report

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

BANKS = 32
MAX_ROWS = 8
"""Passes that are drawn one by one; the others are counted."""

_EDGE = 0.15
_LEFT = 0.78
_TOP = 1.2
_COLUMN = (p.WIDEST - _LEFT - _EDGE) / BANKS
_CELL = _COLUMN * 0.92
_ROW = 0.27

Queue = list[tuple[int, list[int]]]
"""The words asked of one bank, in the order of their first lane, each with its lanes."""


def words_of_warp(report: Report, array: str, kind: str, warp: int = 0) -> list[int | None]:
    """Returns for each lane of a warp the word it asks for in its first request, or None.

    Args:
        report: of a launch of at most 4,096 threads.
        array: the name of a shared array of four-byte elements in the kernel.
        kind: "read" or "write".
        warp: which warp of block 0.

    Raises:
        CourseError: the warp made no such request.
    """
    for touch in report.touches:
        in_warp = touch.threads // WARP == warp
        if touch.array == array and touch.kind == kind and in_warp.any():
            words: list[int | None] = [None] * WARP
            lanes = (touch.threads[in_warp] % WARP).tolist()
            for lane, cell in zip(lanes, touch.cells[in_warp].tolist(), strict=True):
                words[lane] = cell
            return words
    names = dict.fromkeys(touch.array for touch in report.touches)
    raise CourseError(
        f"warp {warp} never did a {kind} of an array {array}",
        f"the launch touched {', '.join(names) or 'no array that was kept'}",
    )


def draw_banks(
    words: Sequence[int | None], ax: Axes | None = None, *, name: str = "", worst: bool = False
) -> Figure:
    """Returns the banks of shared memory side by side, with the lanes that each has to serve.

    Word w lies in bank w modulo 32. A bank serves one word in a pass, whoever asks for it; lanes
    that ask for other words of that bank stand in the passes below.

    Args:
        words: for each lane of a warp the four-byte word it asks for, or None if it takes no part.
        ax: axes to draw on instead of a new figure.
        name: what the access is called: "line 14 writes tile".
        worst: whether it is said that no other access has more conflicts.

    Raises:
        CourseError: more than 32 lanes, or a negative word.
    """
    queues = bank_queues(words)
    passes = max(map(len, queues))
    shown = min(passes, MAX_ROWS)
    height = _TOP + shown * _ROW + (0.3 if passes > shown else 0) + 0.62
    with p.style():
        figure, axes = p.sheet(p.WIDEST, height, ax)
        legend = Legend()
        lanes = sum(word is not None for word in words)
        words_said = f"{count(lanes, 'lane')} of a warp, {_passes(passes)}"
        if name:
            words_said = f"{name}: {words_said}"
        asked = "Which lane asks which bank?"
        title(axes, _EDGE, f"{asked} {_WORST}" if worst else asked, words_said, mono=False)
        row_label(axes, _LEFT - 0.12, _TOP - 0.22, "bank")
        for bank in (*range(0, BANKS - 2, 4), BANKS - 1):
            cell_text(axes, _x(bank), _TOP - 0.22, str(bank), p.QUIET)
        for number in range(shown):
            row_label(axes, _LEFT - 0.12, _y(number), f"pass {number + 1}")
            for bank, queue in enumerate(queues):
                _draw_word(axes, queue, number, bank, legend)
        if passes > shown:
            more = f"... and so on: {passes - shown} more"
            axes.text(_LEFT, _TOP + shown * _ROW + 0.14, more, color=p.INK, va="center_baseline")
        legend.draw(axes, _EDGE, height - 0.26)
    return with_alt(figure, describe_banks(words, name, worst=worst))


_WORST = "The worst access of the tile"


def describe_banks(words: Sequence[int | None], name: str = "", *, worst: bool = False) -> str:
    """Returns in words what `draw_banks` shows."""
    queues = bank_queues(words)
    passes = max(map(len, queues))
    busy = [bank for bank, queue in enumerate(queues) if queue]
    lanes = sum(word is not None for word in words)
    ask = "asks" if lanes == 1 else "ask"
    said = [f"{count(lanes, 'lane')} {ask} {_banks(busy)}: {_passes(passes).replace(':', ',')}."]
    if name:
        said.insert(0, f"{_WORST}, {name}." if worst else f"{name}.")
    if passes > 1:
        deepest = next(bank for bank, queue in enumerate(queues) if len(queue) == passes)
        first = [lanes[0] for _, lanes in queues[deepest]]
        said.append(f"Bank {deepest} serves lanes {ranges(first)} one after the other.")
    shared = [lanes for queue in queues for _, lanes in queue if len(lanes) > 1]
    if shared:
        said.append(f"Lanes {ranges(shared[0])} ask for one word and are served together.")
    return " ".join(said)


def bank_queues(words: Sequence[int | None]) -> list[Queue]:
    """Returns for each of the 32 banks the different words asked of it and their lanes.

    >>> bank_queues([0, 32, 0])[0]
    [(0, [0, 2]), (32, [1])]
    """
    if len(words) > BANKS or any(word is not None and word < 0 for word in words):
        raise CourseError(
            f"{len(words)} lanes with words {words!r} are no request of a warp",
            "give a word of 0 or more, or None, for each of at most 32 lanes",
        )
    queues: list[dict[int, list[int]]] = [{} for _ in range(BANKS)]
    for lane, word in enumerate(words):
        if word is not None:
            queues[word % BANKS].setdefault(word, []).append(lane)
    return [list(queue.items()) for queue in queues]


def _passes(number: int) -> str:
    if number == 1:
        return "1 pass: no conflict"
    return f"{number} passes: {count(number - 1, 'conflict')}" if number else "no lane asks"


def _banks(numbers: list[int]) -> str:
    return f"bank{'s' * (len(numbers) != 1)} {ranges(numbers)}" if numbers else "no bank"


def _x(bank: int) -> float:
    return _LEFT + (bank + 0.5) * _COLUMN


def _y(number: int) -> float:
    return _TOP + (number + 0.5) * _ROW


def _draw_word(axes: Axes, queue: Queue, number: int, bank: int, legend: Legend) -> None:
    look: Look = p.UNTOUCHED_CELL if number == 0 else {}
    label = ""
    if number < len(queue):
        lanes = queue[number][1]
        label = f"{lanes[0]}"
        look = p.READ_CELL
        legend.add("read_cell", "lane served in the first pass")
        if len(lanes) > 1:
            legend.add("bold", "this lane, and others that ask for the same word")
        if number:
            look = p.CONTESTED_CELL
            legend.add("contested", "has to wait")
    if look:
        square(axes, _x(bank), _y(number), _CELL, look, _ROW * 0.88)
        weight = "bold" if number < len(queue) and len(queue[number][1]) > 1 else "normal"
        cell_text(
            axes, _x(bank), _y(number), label, p.INK, weight=weight, plate=number > 0,
            room=_CELL - 0.03,
        )  # fmt: skip
