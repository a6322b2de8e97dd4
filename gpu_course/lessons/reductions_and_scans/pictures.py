"""Scans: who adds what in each step, and how the states of a look-back spread over the tiles."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from gpu_course.draw.paper import palette as p
from gpu_course.draw.paper.furniture import cell_text, row_label, square, title
from gpu_course.draw.paper.picture import with_alt
from gpu_course.errors import CourseError
from simt.report import Recording

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MAX_LANES = 16
MAX_TILES = 16

_EDGE = 0.3
_LEFT = 1.15
_TOP = 1.12

Numbers = frozenset[int]
"""Which numbers of the input a lane has in its sum."""


def scan_steps(recording: Recording, variable: str) -> tuple[tuple[Numbers, ...], ...]:
    """Returns which numbers each lane has in its sum, at first and after each change of it.

    The launch was given the powers of two, a[i] = 2**i: so each bit of a sum says whether a number
    is in it.

    Args:
        recording: of a launch of one block, with `variable` watched.
        variable: the one that holds a lane's sum.

    Raises:
        CourseError: the variable was not recorded, or some number is in a sum twice.
    """
    found: list[tuple[Numbers, ...]] = []
    for step in recording.steps:
        held = step.held.get(variable)
        if held is None or not held.known.all():
            continue
        values = [float(value) for value in held.values]
        if any(value != int(value) or value < 0 for value in values):
            raise CourseError(
                f"{variable} holds {values[0]:g}, which is no sum of powers of two",
                "launch the kernel with a[i] = 2**i, at most 16 of them",
            )
        now = tuple(_bits(int(value)) for value in values)
        if not found or now != found[-1]:
            found.append(now)
    if not found:
        raise CourseError(
            f"{recording.kernel} has no variable {variable} that all threads hold",
            f'record it with watch=("{variable}",)',
        )
    return tuple(found)


def _bits(value: int) -> Numbers:
    return frozenset(k for k in range(value.bit_length()) if value >> k & 1)


def draw_scan(steps: Sequence[Sequence[Numbers]], ax: Axes | None = None) -> Figure:
    """Returns the network of a scan: a row for each step, an arrow for each sum that is taken over.

    Args:
        steps: for each step and lane the numbers in its sum, as `scan_steps` finds them.
        ax: axes to draw on instead of a new figure.

    Raises:
        CourseError: more lanes than can be told apart.
    """
    lanes = len(steps[0])
    if lanes > MAX_LANES:
        raise CourseError(f"{lanes} lanes are too many to draw", f"take at most {MAX_LANES}")
    column, row, tall = min(0.74, (p.WIDEST - _LEFT - _EDGE) / lanes), 0.86, 0.36
    height = _TOP + (len(steps) - 1) * row + tall + 0.62
    with p.style():
        figure, axes = p.sheet(max(_LEFT + lanes * column + _EDGE, 6.6), height, ax)
        title(axes, _EDGE, "A scan, step by step", _verdict(steps), mono=False)
        for number, now in enumerate(steps):
            y = _TOP + number * row + tall / 2
            row_label(axes, _LEFT - 0.12, y, f"step {number}" if number else "at first")
            for lane, numbers in enumerate(now):
                x = _LEFT + (lane + 0.5) * column
                grown = number > 0 and numbers != steps[number - 1][lane]
                whole = numbers == frozenset(range(lane + 1))
                look = p.WRITTEN_CELL if grown else p.UNTOUCHED_CELL
                square(axes, x, y, column * 0.9, look, tall)
                weight = "bold" if whole else "normal"
                cell_text(axes, x, y, _ranges(numbers), p.INK, weight=weight)
                if grown:
                    source = source_of(steps[number - 1], numbers, lane)
                    _arrow(axes, x, y - row + tall / 2, x, y - tall / 2, p.RULE)
                    if source is not None:
                        start = _LEFT + (source + 0.5) * column
                        _arrow(axes, start, y - row + tall / 2, x, y - tall / 2, p.WRITE_EDGE)
        for lane in range(lanes):
            cell_text(axes, _LEFT + (lane + 0.5) * column, _TOP - 0.16, str(lane), p.QUIET)
        row_label(axes, _LEFT - 0.12, _TOP - 0.16, "lane")
        foot = height - 0.3
        square(axes, _EDGE + 0.18, foot, 0.2, p.WRITTEN_CELL)
        words = "adds the sum an arrow brings; bold: holds all numbers up to its own"
        axes.text(_EDGE + 0.38, foot, words, fontsize=p.SMALL, color=p.INK, va="center_baseline")
    return with_alt(figure, describe_scan(steps))


def source_of(before: Sequence[Numbers], numbers: Numbers, lane: int) -> int | None:
    """Returns the lane whose sum made up what a lane has now, or None where there is none.

    >>> source_of([frozenset({0}), frozenset({1})], frozenset({0, 1}), 1)
    0
    """
    more = numbers - before[lane]
    return next((other for other, held in enumerate(before) if held == more), None)


def _arrow(axes: Axes, x: float, y: float, to_x: float, to_y: float, colour: str) -> None:
    axes.annotate(
        "",
        (to_x, to_y),
        (x, y),
        arrowprops={"arrowstyle": "-|>", "color": colour, "lw": 1.3, "shrinkA": 0, "shrinkB": 0},
        zorder=2,
    )


def _ranges(numbers: Numbers) -> str:
    if not numbers:
        return "-"
    low, high = min(numbers), max(numbers)
    if len(numbers) == high - low + 1:
        return f"{low}" if low == high else f"{low}..{high}"
    return f"{len(numbers)} of them"


def _verdict(steps: Sequence[Sequence[Numbers]]) -> str:
    right = sum(numbers == frozenset(range(lane + 1)) for lane, numbers in enumerate(steps[-1]))
    lanes = len(steps[0])
    ends = "every lane holds" if right == lanes else f"{right} of {lanes} lanes hold"
    return f"after {len(steps) - 1} steps {ends} all numbers up to its own"


def describe_scan(steps: Sequence[Sequence[Numbers]]) -> str:
    """Returns in words what `draw_scan` shows."""
    said = [f"A scan of {len(steps[0])} lanes: {_verdict(steps)}."]
    for number, now in enumerate(steps):
        held = ", ".join(
            f"lane {lane} has {_ranges(numbers).replace('..', ' to ')}"
            for lane, numbers in enumerate(now)
        )
        said.append(f"{f'After step {number}' if number else 'At first'}: {held}.")
    return " ".join(said)


NOTHING, TOTAL, PREFIX = 0, 1, 2
_STATES: dict[int, tuple[str, str, dict[str, Any]]] = {
    NOTHING: ("", "nothing yet", {"facecolor": p.PAPER, "edgecolor": p.IDLE, "linewidth": 0.8}),
    TOTAL: (
        "T",
        "total: its own sum is known",
        {"facecolor": p.WRITE_TINT, "edgecolor": p.WRITE, "linewidth": 1.0},
    ),
    PREFIX: (
        "P",
        "prefix: all up to it is known",
        {"facecolor": p.ACTIVE, "edgecolor": p.ACTIVE, "linewidth": 1.0},
    ),
}


def draw_look_back(
    moments: Sequence[Sequence[int]], whose: str = "", ax: Axes | None = None
) -> Figure:
    """Returns the states of all tiles over time, a row for each time one of them changes.

    Args:
        moments: for each moment the state of every tile, NOTHING, TOTAL or PREFIX.
        whose: a few words on the run, below the title.
        ax: axes to draw on instead of a new figure.

    Raises:
        CourseError: more tiles than can be told apart.
    """
    tiles = len(moments[0])
    if tiles > MAX_TILES:
        raise CourseError(f"{tiles} tiles are too many to draw", f"take at most {MAX_TILES}")
    column, row = min(0.46, (p.WIDEST - _LEFT - _EDGE) / tiles), 0.215
    height = _TOP + len(moments) * row + 0.55
    with p.style():
        figure, axes = p.sheet(max(_LEFT + tiles * column + _EDGE, 6.6), height, ax)
        title(axes, _EDGE, "Look-back: what the tiles know of each other", whose, mono=False)
        for tile in range(tiles):
            cell_text(axes, _LEFT + (tile + 0.5) * column, _TOP - 0.14, str(tile), p.QUIET)
        row_label(axes, _LEFT - 0.12, _TOP - 0.14, "tile")
        for number, states in enumerate(moments):
            y = _TOP + (number + 0.5) * row
            if number in (0, len(moments) - 1):
                row_label(axes, _LEFT - 0.12, y, "at first" if not number else "at the end")
            for tile, state in enumerate(states):
                letter, _, look = _STATES[state]
                x = _LEFT + (tile + 0.5) * column
                changed = number > 0 and moments[number - 1][tile] != state
                square(axes, x, y, column * 0.94, look, row * 0.94)
                ink = p.ink_on(look["facecolor"])
                weight = "bold" if changed else "normal"
                if changed or number == len(moments) - 1:
                    cell_text(axes, x, y, letter, ink, weight=weight)
        axes.annotate(
            "",
            (_LEFT - 0.6, _TOP + len(moments) * row - 1.2 * row),
            (_LEFT - 0.6, _TOP + 1.2 * row),
            arrowprops={"arrowstyle": "-|>", "color": p.QUIET, "lw": 1.2},
        )
        axes.text(
            _LEFT - 0.75,
            _TOP + len(moments) * row / 2,
            "time",
            fontsize=p.SMALL,
            color=p.QUIET,
            rotation=90,
            ha="center",
            va="center",
        )
        x, foot = _EDGE, height - 0.24
        for letter, words, look in _STATES.values():
            square(axes, x + 0.15, foot, 0.24, look, 0.2)
            cell_text(axes, x + 0.15, foot, letter, p.ink_on(look["facecolor"]), weight="bold")
            axes.text(x + 0.34, foot, words, fontsize=p.SMALL, color=p.INK, va="center_baseline")
            x += 0.62 + 0.078 * len(words)
    return with_alt(figure, describe_look_back(moments))


def describe_look_back(moments: Sequence[Sequence[int]]) -> str:
    """Returns in words what `draw_look_back` shows."""
    tiles = len(moments[0])
    changes = []
    for before, after in itertools.pairwise(moments):
        for tile in np.flatnonzero(np.array(before) != np.array(after)).tolist():
            changes.append(f"tile {tile} {'total' if after[tile] == TOTAL else 'prefix'}")
    return f"Look-back over {tiles} tiles. In order of time: {', '.join(changes)}."
