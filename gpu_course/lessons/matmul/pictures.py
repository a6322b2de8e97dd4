"""Pictures of a matrix product: the ladder of kernels, reuse in tiles, and the teeth of waves."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from gpu_course.draw.paper import palette as p
from gpu_course.draw.paper.picture import with_alt

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Step = tuple[str, float, float, float | None]
"""A rung: its name, loads per multiply-add from global and shared memory, and measured GFLOP/s."""

_ROW = 0.62
_LEFT = 1.95


def draw_ladder(rungs: Sequence[Step], measured: str) -> Figure:
    """Returns the loads of each rung beside the speed that somebody measured for it.

    Args:
        rungs: from the first to the last.
        measured: whose measurement it is, for the heading on the right.
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    height = 1.15 + _ROW * len(rungs) + 0.3
    with p.style():
        figure = Figure(figsize=(p.WIDEST, height))
        FigureCanvasAgg(figure)
        bottom, tall = 0.32 / height, (height - 1.15 - 0.3) / height
        left = figure.add_axes((_LEFT / p.WIDEST, bottom, 2.35 / p.WIDEST, tall))
        right = figure.add_axes((4.85 / p.WIDEST, bottom, 1.75 / p.WIDEST, tall))
        places = np.arange(len(rungs), dtype=float)
        _bars(left, places - 0.19, [rung[1] for rung in rungs], p.READ, "")
        _bars(left, places + 0.19, [rung[2] for rung in rungs], p.STATES, "..")
        for place, (_, far, near, _) in zip(places, rungs, strict=True):
            _number(left, place - 0.19, far)
            _number(left, place + 0.19, near)
        left.set_xlim(0, 2.75)
        left.set_yticks(places, [rung[0] for rung in rungs])
        speeds = [rung[3] or 0.0 for rung in rungs]
        _bars(right, places, speeds, p.FINE, "//", 0.5)
        for place, speed in zip(places, speeds, strict=True):
            right.text(speed + max(speeds) * 0.03, place, f"{speed:,.0f}", va="center", color=p.INK)
        right.set_xlim(0, max(speeds) * 1.38)
        right.set_yticks([])
        for axes in (left, right):
            axes.set_ylim(len(rungs) - 0.45, -0.55)
            axes.set_xticks([])
            axes.spines["bottom"].set_visible(False)
            axes.tick_params(length=0)
        top = 1 - 0.12 / height
        _text(figure, 0.15, top, "Each rung asks memory for less", size=p.LARGE, weight="bold")
        head = 1 - 0.62 / height
        _text(figure, _LEFT, head, "loads for each multiply-add", weight="bold")
        _text(figure, 4.85, head, f"GFLOP/s, {measured}", weight="bold")
        _key(figure, height)
    return with_alt(figure, describe_ladder(rungs, measured))


def _bars(
    axes: Axes, places: Any, values: Sequence[float], colour: str, hatch: str, tall: float = 0.34
) -> None:
    axes.barh(places, values, tall, facecolor=colour, edgecolor=p.QUIET, hatch=hatch, linewidth=0.8)


def _number(axes: Axes, place: float, value: float) -> None:
    text = "none" if value == 0 else f"{value:.5g}"
    axes.text(value + 0.06, place, text, va="center", color=p.INK, fontsize=p.SMALL)


def _text(figure: Figure, x: float, y: float, text: str, **how: Any) -> None:
    figure.text(x / p.WIDEST, y, text, va="top", color=p.INK, **how)


def _key(figure: Figure, height: float) -> None:
    from matplotlib.patches import Rectangle

    for x, colour, hatch, text in (
        (_LEFT, p.READ, "", "global memory"),
        (_LEFT + 1.3, p.STATES, "..", "shared memory"),
    ):
        figure.add_artist(
            Rectangle(
                (x / p.WIDEST, 1 - 1.02 / height),
                0.16 / p.WIDEST,
                0.13 / height,
                facecolor=colour,
                edgecolor=p.QUIET,
                hatch=hatch,
                transform=figure.transFigure,
            )
        )
        _text(figure, x + 0.22, 1 - 0.86 / height, text, size=p.SMALL)


def describe_ladder(rungs: Sequence[Step], measured: str) -> str:
    """Returns in words what `draw_ladder` shows."""
    said = ["Loads for each multiply-add and GFLOP/s, " + measured + "."]
    for name, far, near, speed in rungs:
        fast = "not measured" if speed is None else f"{speed:,.0f} GFLOP/s"
        said.append(f"{name}: {far:.5g} from global memory, {near:.5g} from shared, {fast}.")
    return " ".join(said)


def draw_reuse(
    side: int, loads: int, a: tuple[np.ndarray, np.ndarray], b: tuple[np.ndarray, np.ndarray]
) -> Figure:
    """Returns what one block and one thread load of two matrices, laid out as in a product.

    Args:
        side: of the tile; 1 for none.
        loads: of all threads together.
        a, b: two bool (size, size) each: what the first block loads, and its first thread. a stands
            left of the result, b above it.
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    size = len(a[0])
    with p.style():
        figure = Figure(figsize=(p.WIDEST, 5.25))
        FigureCanvasAgg(figure)
        wide, tall = 2.1 / p.WIDEST, 2.1 / 5.25
        left, right = 0.35 / p.WIDEST, 2.75 / p.WIDEST
        low, high = 0.15 / 5.25, 2.5 / 5.25
        for x, y, name, found in ((left, low, "a", a), (right, high, "b", b)):
            _matrix(figure.add_axes((x, y, wide, tall)), name, found)
        result = np.zeros((size, size), bool)
        result[:side, :side] = True
        first = np.zeros((size, size), bool)
        first[0, 0] = True
        axes = figure.add_axes((right, low, wide, tall))
        _matrix(axes, "out", (result, first), block=p.WRITTEN_CELL)
        each = loads / size**3
        head = f"{loads:,} loads for {size**3:,} products: {each:.4g} for each"
        _line(figure, 0.15, 5.0, head, size=p.LARGE, weight="bold")
        words = "no tile: a block of one thread" if side == 1 else f"tiles of {side} by {side}"
        _line(figure, 0.35, 4.55, words)
        _line(figure, 0.35, 4.15, "A row of a and a column of b", color=p.QUIET)
        _line(figure, 0.35, 3.93, "meet in one cell of out.", color=p.QUIET)
        looks = ((_BLOCK, "one block loads it"), (_THREAD, "one thread of it does"))
        for y, (look, text) in zip((3.45, 3.15), looks, strict=True):
            _swatch(figure, 0.35, y, look)
            _line(figure, 0.62, y, text)
        for y, text in zip((4.3, 4.02, 3.74), _told(side, a, b), strict=True):
            _line(figure, 5.05, y, text)
    return with_alt(figure, describe_reuse(side, loads, a, b))


_BLOCK: dict[str, Any] = {"facecolor": p.READ, "edgecolor": p.PAPER, "linewidth": 0.5}
_THREAD: dict[str, Any] = {
    "facecolor": p.ACTIVE, "edgecolor": p.PAPER, "linewidth": 0.5, "hatch": "///",
}  # fmt: skip


def _line(figure: Figure, x: float, y: float, text: str, **how: Any) -> None:
    how.setdefault("color", p.INK)
    figure.text(x / p.WIDEST, y / 5.25, text, va="center", **how)


def _swatch(figure: Figure, x: float, y: float, look: dict[str, Any]) -> None:
    from matplotlib.patches import Rectangle

    corner = (x / p.WIDEST, (y - 0.08) / 5.25)
    size = 0.17 / p.WIDEST, 0.17 / 5.25
    figure.add_artist(Rectangle(corner, *size, transform=figure.transFigure, **look))


def _matrix(
    axes: Axes,
    name: str,
    found: tuple[np.ndarray, np.ndarray],
    block: dict[str, Any] | None = None,
) -> None:
    from matplotlib.patches import Rectangle

    whole, first = found
    size = len(whole)
    axes.set_xlim(0, size)
    axes.set_ylim(size, 0)
    for row, col in np.argwhere(whole | first).tolist():
        look = _THREAD if first[row, col] else (block or _BLOCK)
        axes.add_artist(Rectangle((col, row), 1, 1, **look))
    for line in range(size + 1):
        axes.axhline(line, color=p.IDLE, linewidth=0.5, zorder=0)
        axes.axvline(line, color=p.IDLE, linewidth=0.5, zorder=0)
    axes.set_xticks([])
    axes.set_yticks([])
    for spine in axes.spines.values():
        spine.set_visible(True)
        spine.set_color(p.RULE)
    axes.set_title(name, fontsize=p.NORMAL, loc="left", color=p.INK, family="monospace")


def _told(
    side: int, a: tuple[np.ndarray, np.ndarray], b: tuple[np.ndarray, np.ndarray]
) -> tuple[str, str, str]:
    block, thread = (int(a[k].sum() + b[k].sum()) for k in (0, 1))
    results = "1 result" if side == 1 else f"{side * side} results"
    return (
        f"a block: {results}",
        f"{block} loads by the block",
        f"{thread} by one thread",
    )


def describe_reuse(
    side: int, loads: int, a: tuple[np.ndarray, np.ndarray], b: tuple[np.ndarray, np.ndarray]
) -> str:
    """Returns in words what `draw_reuse` shows."""
    size = len(a[0])
    words = "without tiles" if side == 1 else f"through tiles of {side} by {side}"
    return (
        f"A product of two matrices of {size} by {size} {words}: {loads:,} loads for {size**3:,} "
        f"products. {'; '.join(_told(side, a, b))}."
    )


def draw_waves(
    sizes: Sequence[int], shares: Sequence[float], at: int, words: str, waves: int
) -> Figure:
    """Returns the share of a GPU that works on the result, over the width of the result.

    Args:
        sizes: columns of the result, ascending.
        shares: for each, between 0 and 1.
        at: the width that is looked at.
        words: what is held fixed, for the line under the heading.
        waves: how many waves the width `at` takes.
    """
    share = shares[list(sizes).index(at)]
    with p.style():
        figure, axes = p.blank_figure(p.WIDEST, 3.5, (0.75, 0.6, 0.2, 0.82))
        axes.plot(sizes, [100 * each for each in shares], color=p.ACTIVE, linewidth=1.6)
        axes.plot(
            [at],
            [100 * share],
            "o",
            color=p.WRITE,
            markeredgecolor=p.WRITE_EDGE,
            ms=9,
            clip_on=False,
        )
        axes.set_ylim(0, 105)
        axes.set_xlim(sizes[0], sizes[-1])
        axes.set_xlabel("columns of the result")
        axes.set_ylabel("% of the GPU in use")
        axes.grid(axis="y", color=p.IDLE, linewidth=0.6)
        number = "1 wave" if waves == 1 else f"{waves} waves"
        head = f"{at:,} columns: {number}, {100 * share:.0f} % of the GPU in use"
        figure.text(0.02, 0.945, head, size=p.LARGE, weight="bold", va="center", color=p.INK)
        figure.text(0.02, 0.855, words, va="center", color=p.QUIET)
    return with_alt(figure, describe_waves(sizes, shares, at, words, waves))


def describe_waves(
    sizes: Sequence[int], shares: Sequence[float], at: int, words: str, waves: int
) -> str:
    """Returns in words what `draw_waves` shows."""
    share = shares[list(sizes).index(at)]
    falls = [
        (after, before)
        for before, after, high, low in zip(sizes, sizes[1:], shares, shares[1:], strict=False)
        if low < 0.8 * high
    ]
    said = f"The share of a GPU in use over the columns of the result; {words}. "
    said += f"At {at:,} columns it is {share:.0%}, in {waves} {'wave' if waves == 1 else 'waves'}. "
    if falls:
        after, before = min(falls)
        said += f"It first falls by a fifth or more between {before:,} and {after:,} columns."
    else:
        said += "It never falls by a fifth from one width to the next."
    return said
