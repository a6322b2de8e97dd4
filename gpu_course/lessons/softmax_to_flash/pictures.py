"""Attention's traffic as a square of queries and keys, and one row's online softmax as a film."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from gpu_course.draw.paper import palette as p
from gpu_course.draw.paper.furniture import Look
from gpu_course.draw.paper.picture import with_alt
from gpu_course.errors import CourseError
from gpu_course.lessons.softmax_to_flash.key_loads import Loads
from gpu_course.lessons.softmax_to_flash.online import Step
from gpu_course.units import format_bytes

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.colors import Colormap
    from matplotlib.figure import Figure

_SIDE = 2.75
"""Inches that a square of queries and keys has."""
MAX_SIDE = 256
"""Queries or keys of a square: one for each pixel."""
_TOP, _FOOT, _LEFT, _BETWEEN = 0.98, 0.95, 0.72, 0.62


def draw_traffic(*loads: Loads) -> Figure:
    """Returns squares of queries (down) and keys (across) with what was loaded of k, and when.

    A block's queries are a band. Each time it loads a key, a cell of its band is filled at that
    key's place: as dark as the load was early. What stays pale was served from the chip.

    Args:
        loads: one or two launches, or plans.

    Raises:
        CourseError: there is none, or more than two; or a side of more than MAX_SIDE.
    """
    if not 1 <= len(loads) <= 2:
        raise CourseError(f"{len(loads)} squares cannot be drawn", "give one or two")
    if (side := max(max(each.queries, each.keys) for each in loads)) > MAX_SIDE:
        raise CourseError(f"{side:,} queries or keys cannot be drawn", f"take {MAX_SIDE} at most")
    from matplotlib import colormaps
    from matplotlib.colors import ListedColormap

    height = _TOP + _SIDE + _FOOT
    with p.style():
        figure, _ = p.blank_figure(p.WIDEST, height)
        figure.axes[0].remove()
        colours = ListedColormap(colormaps[p.MAGNITUDE](np.linspace(0, 0.92, 256)))
        for number, each in enumerate(loads):
            left = _LEFT + number * (_SIDE + _BETWEEN)
            place = (left / p.WIDEST, _FOOT / height, _SIDE / p.WIDEST, _SIDE / height)
            axes = figure.add_axes(place)
            _square(axes, each, colours)
        _title(figure, loads, height)
        _times(figure, colours, height)
    return with_alt(figure, describe_traffic(*loads))


def describe_traffic(*loads: Loads) -> str:
    """Returns in words what `draw_traffic` shows."""
    told = []
    for each in loads:
        sizes = sorted({band.queries for band in each.bands}, reverse=True)
        bands = f"{len(each.bands)} block" + ("s" if len(each.bands) != 1 else "")
        rows = " or ".join(map(str, sizes))
        told.append(
            f"{each.name}: {each.queries} queries in {bands} of {rows or 'no'}, {each.keys} keys. "
            f"The whole of k is loaded {_so_often(each.times)}"
            + (" so far." if each.end >= 0 else f"; {format_bytes(each.loaded_bytes)} in all.")
        )
    return "A square of queries and keys for each way to load k. " + " ".join(told)


def _so_often(times: float) -> str:
    return "once" if math.isclose(times, 1) else f"{_number(times)} times"


def _number(times: float) -> str:
    return f"{times:.0f}" if math.isclose(times, round(times)) else f"{times:.2f}"


def _square(axes: Axes, loads: Loads, colours: Colormap) -> None:
    picture = np.full((loads.queries, loads.keys), -1)
    for band in loads.bands:
        high = min(len(band.turns), band.queries)
        picture[band.first : band.first + high] = band.turns[:high]
    shown = np.ma.masked_less(picture, 0)
    axes.set_facecolor(p.FINE_FACE)
    axes.imshow(
        shown, cmap=colours, vmin=0, vmax=max(1, loads.last), interpolation="nearest",
        aspect="equal", extent=(0, loads.keys, loads.queries, 0), zorder=2,
    )  # fmt: skip
    if len(loads.bands) <= 32:
        for band in loads.bands[1:]:
            axes.axhline(band.first, color=p.RULE, lw=0.6, zorder=3)
    axes.set_xlabel("key", fontsize=p.SMALL + 0.5, color=p.QUIET)
    axes.set_ylabel("query", fontsize=p.SMALL + 0.5, color=p.QUIET)
    axes.tick_params(labelsize=p.SMALL, length=3)
    for axis, side in ((axes.xaxis, loads.keys), (axes.yaxis, loads.queries)):
        axis.set_ticks(sorted({0, side // 2, side}))
    words = (
        f"k comes {_number(loads.times)} times; {format_bytes(loads.loaded_bytes)} loaded in all"
    )
    if loads.end >= 0:
        times = "once" if math.isclose(loads.times, 1) else f"{_number(loads.times)} times"
        words = f"so far k has come {times}"
    axes.text(
        0, 1.115, loads.name, transform=axes.transAxes, fontsize=p.NORMAL, fontweight="bold",
        color=p.INK, va="bottom",
    )  # fmt: skip
    axes.text(
        0, 1.03, words, transform=axes.transAxes, fontsize=p.SMALL + 0.5, color=p.QUIET,
        va="bottom",
    )  # fmt: skip


def _title(figure: Figure, loads: Sequence[Loads], height: float) -> None:
    few = min(loads, key=lambda each: each.times)
    said = f"The whole of k comes {_number(few.times)} times"
    if any(each.end >= 0 for each in loads):
        said = "What has been loaded of k so far"
    elif len(loads) == 2:
        many = max(loads, key=lambda each: each.times)
        said = f"k comes {_number(many.times)} times, or {_number(few.times)}"
    figure.text(
        0.15 / p.WIDEST, 1 - 0.24 / height, said, fontsize=p.LARGE, fontweight="bold", color=p.INK,
        va="center",
    )  # fmt: skip


def _times(figure: Figure, colours: Colormap, height: float) -> None:
    """The scale of turns, and what the pale ground is."""
    y = 0.26
    bar = figure.add_axes((_LEFT / p.WIDEST, y / height, 1.3 / p.WIDEST, 0.13 / height))
    bar.imshow(np.arange(256)[None, :], cmap=colours, aspect="auto")
    bar.set_xticks([])
    bar.set_yticks([])
    middle = (y + 0.065) / height
    figure.text(
        (_LEFT - 0.1) / p.WIDEST, middle, "first", fontsize=p.SMALL, ha="right", va="center"
    )
    words = "last load of a block"
    figure.text((_LEFT + 1.4) / p.WIDEST, middle, words, fontsize=p.SMALL, va="center")
    left = _LEFT + 3.4
    pale = figure.add_axes((left / p.WIDEST, y / height, 0.3 / p.WIDEST, 0.13 / height))
    pale.set_facecolor(p.FINE_FACE)
    pale.set_xticks([])
    pale.set_yticks([])
    words = "no load: it is on the chip, or hidden"
    figure.text((left + 0.4) / p.WIDEST, middle, words, fontsize=p.SMALL, va="center")


MAX_SCORES = 24
"""Scores that a row of `draw_online` has room for."""
_EDGE = 0.15
_BAR = 1.15
_FILM_TOP = 0.85


def draw_online(steps: Sequence[Step], number: int, ax: Axes | None = None) -> Figure:
    """Returns one step of an online softmax: the scores so far, their largest, and the sum.

    Args:
        steps: as `online_steps` gives them.
        number: of the step to show.
        ax: axes to draw on instead of a new figure.

    Raises:
        CourseError: more scores than there is room for, or no such step.
    """
    if len(steps) > MAX_SCORES:
        raise CourseError(f"{len(steps)} scores cannot be drawn", f"take {MAX_SCORES} at most")
    if not 0 <= number < len(steps):
        raise CourseError(f"there is no step {number}", f"the steps are 0 to {len(steps) - 1}")
    height = 4.32
    step = steps[number]
    with p.style():
        figure, axes = p.sheet(p.WIDEST, height, ax)
        title = "The largest score grows: what was added up is rescaled"
        if not step.grew:
            title = "The largest score stays: one number is added"
        if number == 0:
            title = "The first score: the sum begins at 1"
        _write(axes, _EDGE, 0.27, title, size=p.LARGE, bold=True)
        _write(axes, _EDGE, 0.54, f"score {number + 1} of {len(steps)}: {step.score:g}", quiet=True)
        _scores(axes, steps, number)
        _sum(axes, steps, number)
    return with_alt(figure, describe_online(steps, number))


def describe_online(steps: Sequence[Step], number: int) -> str:
    """Returns in words what `draw_online` shows."""
    step = steps[number]
    grown = sum(each.grew for each in steps[1 : number + 1])
    return (
        f"Step {number + 1} of {len(steps)} of an online softmax. The score is {step.score:g}, the "
        f"largest so far {step.largest:g}. The sum was {step.before:.3f}, is multiplied by "
        f"{step.factor:.3f}, gets {step.added:.3f} more, and is {step.total:.3f}. It was rescaled "
        f"{grown} time{'s' if grown != 1 else ''} so far."
    )


def _write(
    axes: Axes, x: float, y: float, text: str, *, size: float = p.NORMAL, bold: bool = False,
    quiet: bool = False, centre: bool = False,
) -> None:  # fmt: skip
    axes.text(
        x, y, text, fontsize=size, fontweight="bold" if bold else "normal",
        color=p.QUIET if quiet else p.INK, va="center", ha="center" if centre else "left", zorder=6,
    )  # fmt: skip


def _scores(axes: Axes, steps: Sequence[Step], number: int) -> None:
    from matplotlib.patches import Rectangle

    scores = [each.score for each in steps]
    low, high = min(*scores, 0.0), max(*scores, 0.0)
    inch = _BAR / ((high - low) or 1.0)
    ground = _FILM_TOP + 0.2 + high * inch
    wide = (p.WIDEST - 2 * _EDGE - 1.3) / max(len(steps), 8)
    for turn, each in enumerate(steps):
        left = _EDGE + turn * wide
        look: Look = {"facecolor": p.PAPER, "edgecolor": p.RULE, "linewidth": 0.8}
        if turn < number:
            look = {"facecolor": p.READ_TINT, "edgecolor": p.READ, "linewidth": 1.2}
        elif turn == number:
            look = {"facecolor": p.ACTIVE, "edgecolor": p.INK, "linewidth": 1.4}
        tall = each.score * inch
        axes.add_artist(
            Rectangle((left, min(ground - tall, ground)), 0.8 * wide, abs(tall), zorder=3, **look)
        )
    right = _EDGE + len(steps) * wide
    axes.plot([_EDGE, right], [ground, ground], color=p.RULE, lw=0.8, zorder=2)
    most = ground - steps[number].largest * inch
    axes.plot([_EDGE, right], [most, most], color=p.WRITE, lw=2.0, zorder=5)
    _write(axes, right + 0.08, most, f"largest {steps[number].largest:g}", size=p.SMALL + 0.5)


def _sum(axes: Axes, steps: Sequence[Step], number: int) -> None:
    """Two bars: the sum before, and the sum after with its old part and its new one."""
    from matplotlib.patches import Rectangle

    step = steps[number]
    most = max(max(each.before, each.total) for each in steps)
    inch = (p.WIDEST - 2 * _EDGE - 1.15) / most
    left, high = _EDGE + 1.05, 0.26
    top = _FILM_TOP + _BAR + 0.62
    _write(axes, _EDGE, top + high / 2, "sum before")
    old: Look = {"facecolor": p.READ_TINT, "edgecolor": p.READ, "linewidth": 1.2}
    if step.before:
        axes.add_artist(Rectangle((left, top), step.before * inch, high, zorder=3, **old))
    below = top + 0.62
    words = f"times exp({steps[number - 1].largest:g} - {step.largest:g}) = {step.factor:.3f}"
    if number == 0:
        words = "nothing yet"
    elif not step.grew:
        words = "the largest stays: times 1"
    _write(axes, left, top + 0.44, words, size=p.SMALL + 0.5, bold=step.grew and number > 0)
    _write(axes, _EDGE, below + high / 2, "sum after")
    kept = step.before * step.factor
    if kept:
        axes.add_artist(Rectangle((left, below), kept * inch, high, zorder=3, **old))
    new: Look = {"facecolor": p.ACTIVE, "edgecolor": p.INK, "linewidth": 0.8}
    axes.add_artist(
        Rectangle((left + kept * inch, below), step.added * inch, high, zorder=4, **new)
    )
    words = f"{kept:.3f} + exp({step.score:g} - {step.largest:g}) = {step.total:.3f}"
    _write(axes, left, below + 0.44, words, size=p.SMALL + 0.5)
    grown = sum(each.grew for each in steps[1 : number + 1])
    times = f"{grown} time{'s' if grown != 1 else ''}"
    _write(axes, _EDGE, below + 0.86, f"rescaled {times} so far", size=p.SMALL + 0.5, quiet=True)
