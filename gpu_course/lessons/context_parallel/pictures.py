"""Pictures of a sequence on several ranks: who computes what, when, and what it takes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Any

from gpu_course.draw.paper import palette as p
from gpu_course.draw.paper.furniture import Look, cell_text, row_label, square, title
from gpu_course.draw.paper.picture import with_alt
from gpu_course.errors import CourseError
from simt.text import count

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MAX_RANKS = 8
_EDGE = 0.3


def draw_triangle(
    owners: Sequence[int], work: Sequence[float], share: float, name: str, ax: Axes | None = None
) -> Figure:
    """Returns a causal triangle, a row for each piece of queries, in the colour of its rank.

    Args:
        owners: for each piece of the sequence, in order, the rank that holds it.
        work: what each rank computes, over the mean of all.
        share: of their time in which the ranks compute, 0 to 1.
        name: how the sequence was dealt out.
        ax: axes to draw on instead of a new figure.

    Raises:
        CourseError: there are more than 8 ranks.
    """
    ranks, pieces = len(work), len(owners)
    if ranks > MAX_RANKS:
        raise CourseError(f"{ranks} ranks", f"draw at most {MAX_RANKS}")
    side, left, top, bars = 3.9, 0.85, 1.1, 5.5
    cell = side / pieces
    with p.style():
        figure, axes = p.sheet(p.WIDEST, top + side + 0.45, ax)
        title(axes, _EDGE, _triangle_heading(name, ranks), _triangle_words(share), mono=False)
        for row, owner in enumerate(owners):
            y = top + (row + 0.5) * cell
            look = {"facecolor": _colour(owner), "edgecolor": p.PAPER, "linewidth": 0.5}
            square(axes, left + (row + 1) * cell / 2, y, (row + 1) * cell, look, cell)
        for column in range(1, pieces):
            x = left + column * cell
            axes.plot([x, x], [top + column * cell, top + side], color=p.PAPER, lw=0.5, zorder=5)
        for owner, start, stop in _runs(owners):
            row_label(axes, left - 0.1, top + (start + stop) / 2 * cell, str(owner))
        axes.text(
            left, top - 0.14, "rank that has these queries, and computes the row",
            fontsize=p.SMALL, color=p.QUIET, va="center_baseline",
        )  # fmt: skip
        axes.text(
            left, top + side + 0.22, "keys, from the first token to the last", fontsize=p.SMALL,
            color=p.QUIET, va="center_baseline",
        )  # fmt: skip
        axes.text(
            bars, top - 0.14, "work over the mean", fontsize=p.SMALL, color=p.QUIET,
            va="center_baseline",
        )  # fmt: skip
        for rank, each in enumerate(work):
            y = top + 0.2 + rank * 0.42
            wide = max(0.9 * each / 2, 0.02)
            look = {"facecolor": _colour(rank), "edgecolor": p.INK, "linewidth": 0.5}
            square(axes, bars + 0.1 + wide / 2, y, wide, look, 0.26)
            row_label(axes, bars, y, str(rank))
            axes.text(
                bars + 1.12, y, f"{each:.2f}", fontsize=p.SMALL, color=p.INK, va="center_baseline"
            )
        x, bottom = bars + 0.1 + 0.45, top + 0.2 + ranks * 0.42 - 0.16
        axes.plot([x, x], [top + 0.02, bottom], color=p.INK, lw=1, linestyle=p.READ_DASHES)
    return with_alt(figure, describe_triangle(owners, work, share, name))


def describe_triangle(owners: Sequence[int], work: Sequence[float], share: float, name: str) -> str:
    """Returns in words what `draw_triangle` shows."""
    rows = ", ".join(str(owner) for owner, _ in groupby(owners))
    lines = [
        f"{_triangle_heading(name, len(work))}: {_triangle_words(share)}.",
        f"From the first queries to the last, the rows belong to ranks {rows}.",
    ]
    lines += [f"Rank {rank}: {each:.2f} of the mean." for rank, each in enumerate(work)]
    return "\n".join(lines)


def _triangle_heading(name: str, ranks: int) -> str:
    return f"Causal attention on {count(ranks, 'rank')}, {name}"


def _triangle_words(share: float) -> str:
    return f"at best the ranks compute {100 * share:.1f} % of the time"


def _colour(rank: int) -> str:
    return p.BLOCK_COLOURS[rank % len(p.BLOCK_COLOURS)]


def _runs(owners: Sequence[int]) -> list[tuple[int, int, int]]:
    """(rank, first row, row behind the last) of each run of rows of one rank."""
    found, start = [], 0
    for owner, group in groupby(owners):
        stop = start + len(list(group))
        found.append((owner, start, stop))
        start = stop
    return found


_WAITS: Look = p.WASTED_CELL


def draw_rounds(
    work: Sequence[Sequence[float]],
    holds: Sequence[Sequence[int]],
    name: str,
    ax: Axes | None = None,
) -> Figure:
    """Returns the rounds of a ring side by side: what each rank computes, and how long it waits.

    A round is as wide as the work of its slowest rank.

    Args:
        work: [rank][round], in blocks that are seen whole.
        holds: [rank][round] -> whose keys the rank has then.
        name: of what ran.
        ax: axes to draw on instead of a new figure.

    Raises:
        CourseError: there are more than 8 ranks.
    """
    ranks = len(work)
    if ranks > MAX_RANKS:
        raise CourseError(f"{ranks} ranks", f"draw at most {MAX_RANKS}")
    left, top, row = 1.1, 1.15, 0.5
    longest = [max(each) for each in zip(*work, strict=True)]
    scale = (p.WIDEST - left - _EDGE) / (sum(longest) or 1)
    height = top + ranks * row + 0.75
    with p.style():
        figure, axes = p.sheet(p.WIDEST, height, ax)
        title(axes, _EDGE, name, _rounds_words(work), mono=False)
        x = left
        for step, long in enumerate(longest):
            wide = long * scale
            if wide > 0.25:
                words = f"round {step}" if wide > 0.7 else str(step)
                cell_text(axes, x + wide / 2, top - 0.14, words, p.QUIET)
            for rank in range(ranks):
                y = top + (rank + 0.5) * row
                _one_round(axes, x, y, wide, work[rank][step] * scale, holds[rank][step])
            x += wide
        for rank in range(ranks):
            row_label(axes, left - 0.14, top + (rank + 0.5) * row, f"rank {rank}")
        y = height - 0.3
        seen = {"facecolor": p.READ_TINT, "edgecolor": p.INK, "linewidth": 0.8}
        for x, look, words in (
            (_EDGE, seen, "computes; the number says whose keys it has"),
            (_EDGE + 3.7, _WAITS, "waits for the slowest rank"),
        ):
            square(axes, x + 0.13, y, 0.26, look, 0.2)
            axes.text(x + 0.36, y, words, fontsize=p.SMALL, color=p.INK, va="center_baseline")
    return with_alt(figure, describe_rounds(work, holds, name))


def _one_round(axes: Axes, x: float, y: float, wide: float, busy: float, owner: int) -> None:
    """The time that a rank computes, and behind it the time that it waits."""
    shade = _colour(owner)
    if wide - busy > 0.02:
        square(axes, x + (busy + wide) / 2, y, wide - busy, _WAITS, 0.36)
    if busy > 0.02:
        look = {"facecolor": shade, "edgecolor": p.INK, "linewidth": 0.8}
        square(axes, x + busy / 2, y, busy, look, 0.36)
    if busy > 0.2:
        cell_text(axes, x + busy / 2, y, str(owner), p.ink_on(shade))
    elif wide - busy > 0.35:
        cell_text(axes, x + (busy + wide) / 2, y, str(owner), p.QUIET, plate=True)


def describe_rounds(
    work: Sequence[Sequence[float]], holds: Sequence[Sequence[int]], name: str
) -> str:
    """Returns in words what `draw_rounds` shows."""
    lines = [f"{name}: {_rounds_words(work)}."]
    longest = [max(each) for each in zip(*work, strict=True)]
    for rank, row in enumerate(work):
        said = ", ".join(
            (f"{busy:.2f} of {long:.2f} with the keys of {owner}")
            if round(busy, 2)
            else f"waits {long:.2f} with those of {owner}"
            for owner, busy, long in zip(holds[rank], row, longest, strict=True)
        )
        lines.append(f"Rank {rank}: {said}.")
    return "\n".join(lines)


def _rounds_words(work: Sequence[Sequence[float]]) -> str:
    longest = sum(max(each) for each in zip(*work, strict=True))
    share = sum(map(sum, work)) / (len(work) * longest) if longest else 1.0
    return f"{count(len(work[0]), 'round')}, {100 * share:.1f} % of the time is work"


_LINES: tuple[dict[str, Any], ...] = (
    {"color": p.ACTIVE, "linestyle": "solid"},
    {"color": p.CONFLICT, "linestyle": (0, (5, 2))},
    {"color": p.FINE, "linestyle": (0, (1, 1.2))},
    {"color": p.CONTRAST, "linestyle": (0, (6, 2, 1, 2))},
)


def draw_curves(
    curves: Mapping[str, Sequence[tuple[float, float]]],
    heading: str,
    second: str,
    labels: tuple[str, str],
    formats: tuple[Callable[[float], str], Callable[[float], str]],
    level: tuple[float, str] | None = None,
) -> Figure:
    """Returns curves over something that doubles from mark to mark; the height doubles as well.

    Args:
        curves: {name: points}.
        heading, second: what to see, and a quieter line below it.
        labels: of the two axes.
        formats: how a number is written at each axis.
        level: a height to mark, and what it is called.
    """
    from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

    left, bottom, right, top = 1.05, 0.62, 0.25, 0.8
    with p.style():
        figure, axes = p.blank_figure(p.WIDEST, 3.9, (left, bottom, right, top))
        axes.set_xscale("log", base=2)
        axes.set_yscale("log", base=2)
        for number, (name, points) in enumerate(curves.items()):
            x, y = zip(*points, strict=True)
            axes.plot(x, y, lw=2, label=name, marker="o", ms=3.5, **_LINES[number % len(_LINES)])
        if level is not None:
            axes.axhline(level[0], color=p.INK, lw=1, linestyle=p.READ_DASHES, label=level[1])
        for axis, form in zip((axes.xaxis, axes.yaxis), formats, strict=True):
            axis.set_major_locator(LogLocator(base=2, numticks=9))
            axis.set_minor_locator(NullLocator())
            axis.set_major_formatter(FuncFormatter(lambda value, _, form=form: form(value)))
        axes.grid(color=p.IDLE, lw=0.6)
        axes.set_xlabel(labels[0])
        axes.set_ylabel(labels[1])
        axes.legend(loc="best", framealpha=0.9, fontsize=p.SMALL, handlelength=3)
        tall = figure.get_figheight()
        for inches, size, weight, colour, words in (
            (0.27, p.LARGE, "bold", p.INK, heading),
            (0.54, p.NORMAL, "normal", p.QUIET, second),
        ):
            figure.text(
                _EDGE / p.WIDEST, 1 - inches / tall, words, fontsize=size, fontweight=weight,
                color=colour, va="center",
            )  # fmt: skip
    return with_alt(figure, describe_curves(curves, heading, second, formats, level))


def describe_curves(
    curves: Mapping[str, Sequence[tuple[float, float]]],
    heading: str,
    second: str,
    formats: tuple[Callable[[float], str], Callable[[float], str]],
    level: tuple[float, str] | None = None,
) -> str:
    """Returns in words what `draw_curves` shows."""
    across, up = formats
    lines = [f"{heading}. {second[0].upper() + second[1:]}."]
    for name, points in curves.items():
        (x0, y0), (x1, y1) = points[0], points[-1]
        told = name.replace(": ", ", ")
        lines.append(f"{told}: {up(y0)} at {across(x0)}, {up(y1)} at {across(x1)}.")
    if level is not None:
        lines.append(f"Marked: {level[1]}, {up(level[0])}.")
    return "\n".join(lines)


def draw_lengths(bins: Sequence[tuple[str, float, float]], heading: str, second: str) -> Figure:
    """Returns for each range of lengths the share of the documents and the share of the tokens.

    Args:
        bins: (range, share of documents, share of tokens), shares from 0 to 1.
        heading, second: what to see, and a quieter line below it.
    """
    left, bottom, right, top = 0.85, 0.62, 0.25, 0.85
    with p.style():
        figure, axes = p.blank_figure(p.WIDEST, 3.4, (left, bottom, right, top))
        places = range(len(bins))
        documents: dict[str, Any] = {"color": p.ACTIVE, "label": "of the documents"}
        tokens: dict[str, Any] = {"color": p.WRITE, "label": "of the tokens", "hatch": "...."}
        axes.bar([at - 0.2 for at in places], [100 * b[1] for b in bins], 0.38, **documents)
        axes.bar([at + 0.2 for at in places], [100 * b[2] for b in bins], 0.38, **tokens)
        axes.set_xticks(list(places), [b[0] for b in bins], fontsize=p.SMALL)
        axes.set_xlabel("tokens of a document")
        axes.set_ylabel("per cent")
        axes.legend(loc="upper right", frameon=False, fontsize=p.SMALL)
        tall = figure.get_figheight()
        for inches, size, weight, colour, words in (
            (0.27, p.LARGE, "bold", p.INK, heading),
            (0.54, p.NORMAL, "normal", p.QUIET, second),
        ):
            figure.text(
                _EDGE / p.WIDEST, 1 - inches / tall, words, fontsize=size, fontweight=weight,
                color=colour, va="center",
            )  # fmt: skip
    lines = [f"{heading}. {second}."]
    lines += [
        f"{name} tokens: {100 * documents_:.0f} % of the documents, {100 * tokens_:.0f} % of the "
        "tokens."
        for name, documents_, tokens_ in bins
    ]
    return with_alt(figure, "\n".join(lines))
