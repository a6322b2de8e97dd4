"""Pictures of layers cut among ranks: the two matrices, what each rank keeps, and rates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from gpu_course.draw.paper import palette as p
from gpu_course.draw.paper.furniture import cell_text, title
from gpu_course.draw.paper.picture import with_alt
from gpu_course.errors import CourseError
from gpu_course.units import format_bytes
from simt.text import count

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MAX_RANKS = 8
_EDGE, _MIDDLE, _HEIGHT = 0.3, 1.85, 4.05


def draw_cut(ranks: int, weight_bytes: int, sum_bytes: int, ax: Axes | None = None) -> Figure:
    """Returns an MLP cut among ranks: x, f, A by columns, GELU, B by rows, g, y; and its bytes.

    Args:
        ranks: that share it, at most 8.
        weight_bytes: of both matrices together.
        sum_bytes: of what goes through f and through g.
        ax: axes to draw on instead of a new figure.

    Raises:
        CourseError: there are more ranks, or none.
    """
    if not 1 <= ranks <= MAX_RANKS:
        raise CourseError(f"{ranks} ranks", f"draw 1 to {MAX_RANKS}")
    with p.style():
        figure, axes = p.sheet(p.WIDEST, _HEIGHT, ax)
        words = f"{count(ranks, 'rank')}; each colour and number is one of them"
        title(axes, _EDGE, "An MLP, cut by columns and by rows", words, mono=False)
        _whole(axes, 0.7, "x", "on every rank")
        _striped(axes, 2.65, 1.7, 0.85, ranks, across=True)
        _striped(axes, 4.75, 0.85, 1.7, ranks, across=False)
        _whole(axes, 6.55, "y", "on every rank")
        for x, words in ((2.65, "A, by columns"), (4.75, "B, by rows")):
            cell_text(axes, x, _MIDDLE - 1.02, words, p.INK, weight="bold")
        _round(axes, 1.42, "f")
        _round(axes, 5.7, "g")
        cell_text(axes, 3.92, _MIDDLE, "GELU", p.INK)
        for x in (1.12, 1.69, 3.62, 4.22, 5.3, 6.0):
            cell_text(axes, x, _MIDDLE, "\u2192", p.QUIET)
        _passes(axes, ranks, weight_bytes, sum_bytes)
    return with_alt(figure, describe_cut(ranks, weight_bytes, sum_bytes))


def describe_cut(ranks: int, weight_bytes: int, sum_bytes: int) -> str:
    """Returns in words what `draw_cut` shows."""
    ways = "x on every rank, f, A by columns, GELU, B by rows, g, y on every rank"
    lines = [f"An MLP cut among {count(ranks, 'rank')}: {ways}."]
    lines += [f"{name}: {words}." for name, words in _facts(ranks, weight_bytes, sum_bytes)]
    return "\n".join(lines)


def _facts(ranks: int, weight_bytes: int, sum_bytes: int) -> list[tuple[str, str]]:
    sent = format_bytes(round(2 * (ranks - 1) / ranks * sum_bytes))
    sums = f"sums, and each rank sends {sent}" if ranks > 1 else "has nothing to sum"
    return [
        ("forward", f"f hands x on; g {sums}"),
        ("backward", f"g hands the gradient on; f {sums}"),
        ("each rank keeps", f"{format_bytes(round(weight_bytes / ranks))} of the weights"),
    ]


MAX_HEADS = 8
_TALL = 2.3
"""Inches from the top of W_q to the end of W_v, and those that W_o is high."""


def heads_of_ranks(ranks: int, heads: int, groups: int) -> list[tuple[range, range]]:
    """Returns for each rank (its heads of queries, its heads of keys and values).

    A head of keys stays with all heads of queries that read it, as `tensor_split` shares them out.

    Args:
        ranks: that share them, at most as many as groups.
        heads: of queries.
        groups: heads of keys, a divisor of heads.

    >>> heads_of_ranks(2, 6, 3)
    [(range(0, 4), range(0, 2)), (range(4, 6), range(2, 3))]
    """
    each, shares, first = heads // groups, [], 0
    for rank in range(ranks):
        last = first + groups // ranks + (rank < groups % ranks)
        shares.append((range(first * each, last * each), range(first, last)))
        first = last
    return shares


def draw_heads(ranks: int, heads: int, groups: int, ax: Axes | None = None) -> Figure:
    """Returns attention cut among ranks: which head's columns and rows lie on which rank.

    Args:
        ranks: that share it, at most 8 and at most as many as groups.
        heads: of queries, at most 8.
        groups: heads of keys and values, a divisor of heads.
        ax: axes to draw on instead of a new figure.

    Raises:
        CourseError: there are more, or none, or the groups do not divide the heads.
    """
    if not 1 <= ranks <= min(MAX_RANKS, groups) or heads > MAX_HEADS or heads % groups:
        words = f"at most {MAX_RANKS} ranks, {MAX_HEADS} heads, and ranks <= groups"
        raise CourseError(f"{ranks} ranks, {heads} heads in {groups} groups", f"draw {words}")
    shares = heads_of_ranks(ranks, heads, groups)
    owner = [rank for rank, (queries, _) in enumerate(shares) for _ in queries]
    of_keys = [rank for rank, (_, keys) in enumerate(shares) for _ in keys]
    top, unit = 1.2, 2.3 / heads
    middle = top + _TALL / 2
    with p.style():
        figure, axes = p.sheet(p.WIDEST, top + _TALL + 0.6, ax)
        words = f"{count(ranks, 'rank')}: the number inside is the rank, the one outside the head"
        title(axes, _EDGE, "Attention, cut by heads", words, mono=False)
        for line, (name, ranks_of) in enumerate(
            (("W_q", owner), ("W_k", of_keys), ("W_v", of_keys))
        ):
            y = top + line * (_TALL - 0.56) / 2
            cell_text(axes, 1.77, y + 0.28, name, p.INK, weight="bold")
            for head, rank in enumerate(ranks_of):
                _head(axes, (2.0 + head * unit, y), (unit, 0.56), rank)
                cell_text(axes, 2.0 + (head + 0.5) * unit, y - 0.12, str(head), p.QUIET)
        tall = _TALL / heads
        for head, rank in enumerate(owner):
            _head(axes, (5.4, top + head * tall), (0.67, tall), rank)
            cell_text(axes, 5.28, top + (head + 0.5) * tall, str(head), p.QUIET)
        cell_text(axes, 3.15, top - 0.34, "by columns", p.INK)
        cell_text(axes, 5.73, top - 0.34, "by rows", p.INK)
        cell_text(axes, 5.73, top - 0.12, "W_o", p.INK, weight="bold")
        for x, name in ((0.55, "x"), (6.94, "y")):
            _whole(axes, x, name, "", middle, half=0.18)
        _round(axes, 1.2, "f", middle)
        _round(axes, 6.42, "g", middle)
        cell_text(axes, 4.76, middle, "each\nhead", p.INK)
        for x in (0.89, 1.5, 4.44, 5.08, 6.16, 6.675):
            cell_text(axes, x, middle, "\u2192", p.QUIET)
        y = top + _TALL + 0.33
        axes.text(_EDGE, y, _WHOLE_HEADS, fontsize=p.SMALL, color=p.INK, va="center_baseline")
    return with_alt(figure, describe_heads(ranks, heads, groups))


_WHOLE_HEADS = (
    "Each head is whole on one rank, with its keys and values: from f to g nothing is sent."
)


def describe_heads(ranks: int, heads: int, groups: int) -> str:
    """Returns in words what `draw_heads` shows."""
    both = f"{count(heads, 'head')} of queries, {count(groups, 'head')} of keys and values"
    lines = [f"Attention cut among {count(ranks, 'rank')}: {both}."]
    for rank, (queries, keys) in enumerate(heads_of_ranks(ranks, heads, groups)):
        of_queries, of_keys = _named(queries), _named(keys)
        lines.append(
            f"rank {rank}: columns of {of_queries} in W_q and of {of_keys} in W_k and W_v; "
            f"rows of {of_queries} in W_o."
        )
    return "\n".join([*lines, _WHOLE_HEADS])


def _named(heads: range) -> str:
    if len(heads) == 1:
        return f"head {heads[0]}"
    return f"heads {heads[0]} to {heads[-1]}"


def _head(axes: Axes, corner: tuple[float, float], size: tuple[float, float], rank: int) -> None:
    from matplotlib.patches import Rectangle

    colour = p.BLOCK_COLOURS[rank]
    look: dict[str, Any] = {"facecolor": colour, "edgecolor": p.PAPER, "linewidth": 1.2}
    axes.add_artist(Rectangle(corner, *size, zorder=3, **look))
    place = (corner[0] + size[0] / 2, corner[1] + size[1] / 2)
    cell_text(axes, *place, str(rank), p.ink_on(colour), weight="bold")


def _passes(axes: Axes, ranks: int, weight_bytes: int, sum_bytes: int) -> None:
    for line, (name, words) in enumerate(_facts(ranks, weight_bytes, sum_bytes)):
        y = 3.2 + 0.27 * line
        axes.text(_EDGE, y, name, fontsize=p.SMALL, color=p.QUIET, va="center_baseline")
        axes.text(_EDGE + 1.25, y, words, fontsize=p.SMALL, color=p.INK, va="center_baseline")


def _whole(
    axes: Axes, x: float, name: str, words: str, middle: float = _MIDDLE, half: float = 0.3
) -> None:
    from matplotlib.patches import Rectangle

    look: dict[str, Any] = {"facecolor": p.SHADE, "edgecolor": p.INK, "linewidth": 1.2}
    axes.add_artist(Rectangle((x - half, middle - 0.5), 2 * half, 1.0, zorder=3, **look))
    cell_text(axes, x, middle, name, p.INK, weight="bold")
    if words:
        cell_text(axes, x, middle + 0.68, words, p.QUIET)


def _striped(axes: Axes, x: float, wide: float, high: float, ranks: int, across: bool) -> None:
    from matplotlib.patches import Rectangle

    step = (wide if across else high) / ranks
    for rank in range(ranks):
        left = x - wide / 2 + (rank * step if across else 0)
        top = _MIDDLE - high / 2 + (0 if across else rank * step)
        size = (step, high) if across else (wide, step)
        colour = p.BLOCK_COLOURS[rank]
        axes.add_artist(
            Rectangle((left, top), *size, zorder=3, facecolor=colour, edgecolor=p.PAPER, lw=1.2)
        )
        place = (left + size[0] / 2, top + size[1] / 2)
        cell_text(axes, *place, str(rank), p.ink_on(colour), weight="bold")


def _round(axes: Axes, x: float, name: str, middle: float = _MIDDLE) -> None:
    from matplotlib.patches import Circle

    look = {"facecolor": p.WRITE_TINT, "edgecolor": p.WRITE_EDGE, "linewidth": 1.4}
    axes.add_artist(Circle((x, middle), 0.17, zorder=4, **look))  # type: ignore[arg-type]
    cell_text(axes, x, middle, name, p.INK, weight="bold")


_WHOLE = {"facecolor": p.CONFLICT_TINT, "edgecolor": p.CONFLICT, "hatch": p.CONFLICT_HATCH}
_SHARED = {"facecolor": p.READ_TINT, "edgecolor": p.READ}


def draw_kept(
    kept: Mapping[str, tuple[float, float]], heading: str, ax: Axes | None = None
) -> Figure:
    """Returns bars of the bytes that one layer keeps on a rank, way by way.

    Args:
        kept: {way: (bytes that every rank has whole, bytes that are shared out)}.
        heading: what to see.
        ax: axes to draw on instead of a new figure.
    """
    from matplotlib.patches import Rectangle

    left, row = 2.25, 0.46
    most = max(sum(both) for both in kept.values())
    scale = (p.WIDEST - left - 1.1) / most
    height = 0.95 + row * len(kept) + 0.4
    with p.style():
        figure, axes = p.sheet(p.WIDEST, height, ax)
        title(axes, _EDGE, heading, "bytes that one layer keeps on a rank, by count", mono=False)
        for line, (name, parts) in enumerate(kept.items()):
            y, x = 0.95 + row * (line + 0.5), left
            axes.text(
                left - 0.12, y, name, fontsize=p.SMALL, color=p.INK, ha="right",
                va="center_baseline",
            )  # fmt: skip
            for bytes_, look in zip(parts, (_WHOLE, _SHARED), strict=True):
                if bytes_:
                    wide = bytes_ * scale
                    axes.add_artist(Rectangle((x, y - 0.15), wide, 0.3, zorder=3, lw=1.2, **look))  # type: ignore[arg-type]
                    x += wide
            axes.text(
                x + 0.1, y, format_bytes(round(sum(parts))), fontsize=p.SMALL, color=p.INK,
                va="center_baseline",
            )  # fmt: skip
        x, y = _EDGE, height - 0.22
        for look, words in ((_WHOLE, "the same on every rank"), (_SHARED, "shared out")):
            axes.add_artist(Rectangle((x, y - 0.09), 0.24, 0.18, zorder=3, lw=1.2, **look))  # type: ignore[arg-type]
            axes.text(x + 0.33, y, words, fontsize=p.SMALL, color=p.INK, va="center_baseline")
            x += 0.6 + 0.075 * len(words)
    return with_alt(figure, describe_kept(kept, heading))


def describe_kept(kept: Mapping[str, tuple[float, float]], heading: str) -> str:
    """Returns in words what `draw_kept` shows."""
    lines = [f"{heading}."]
    for name, (whole, shared) in kept.items():
        lines.append(
            f"{name}: {format_bytes(round(whole))} the same on every rank, "
            f"{format_bytes(round(shared))} shared out."
        )
    return "\n".join(lines)


_LINES: tuple[dict[str, Any], ...] = (
    {"color": p.ACTIVE, "linestyle": "solid", "marker": "o"},
    {"color": p.CONFLICT, "linestyle": (0, (5, 2)), "marker": "s"},
    {"color": p.FINE, "linestyle": (0, (1, 1.2)), "marker": "^"},
)


def draw_rates(
    curves: Mapping[str, Sequence[tuple[float, float]]],
    measured: Mapping[str, Sequence[tuple[float, float]]],
    heading: str,
    second: str,
    unit: str,
) -> Figure:
    """Returns rates per GPU over the number of GPUs: lines by a model, points as published.

    Args:
        curves: {name: (GPUs, rate) points}, at most three.
        measured: {name: published points} of the same names; may lack some.
        heading, second: title and a quieter line below it.
        unit: of the rates.
    """
    from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

    left, bottom, right, top = 0.85, 0.58, 0.25, 0.8
    with p.style():
        figure, axes = p.blank_figure(p.WIDEST, 3.7, (left, bottom, right, top))
        axes.set_xscale("log", base=2)
        for look, (name, points) in zip(_LINES, curves.items(), strict=False):
            line = {key: value for key, value in look.items() if key != "marker"}
            axes.plot(*zip(*points, strict=True), lw=2, label=name, **line)
            if measured.get(name):
                axes.plot(
                    *zip(*measured[name], strict=True), linestyle="none", marker=look["marker"],
                    color=look["color"], markeredgecolor=p.INK, ms=8, zorder=5,
                    label=f"{name}, published",
                )  # fmt: skip
        axes.set_ylim(bottom=0)
        axes.xaxis.set_major_locator(LogLocator(base=2, numticks=12))
        axes.xaxis.set_minor_locator(NullLocator())
        axes.xaxis.set_major_formatter(FuncFormatter(lambda x, _: f"{x:,.0f}"))
        axes.grid(color=p.IDLE, lw=0.6)
        axes.set_xlabel("GPUs")
        axes.set_ylabel(f"{unit} per GPU")
        axes.legend(loc="best", frameon=False, fontsize=p.SMALL)
        tall = figure.get_figheight()
        figure.text(
            left / p.WIDEST, 1 - 0.27 / tall, heading, fontsize=p.LARGE, fontweight="bold",
            color=p.INK, va="center",
        )  # fmt: skip
        figure.text(
            left / p.WIDEST, 1 - 0.54 / tall, second, fontsize=p.NORMAL, color=p.QUIET, va="center"
        )
    return with_alt(figure, describe_rates(curves, measured, heading, second, unit))


def describe_rates(
    curves: Mapping[str, Sequence[tuple[float, float]]],
    measured: Mapping[str, Sequence[tuple[float, float]]],
    heading: str,
    second: str,
    unit: str,
) -> str:
    """Returns in words what `draw_rates` shows."""
    lines = [f"{heading}. {second}."]
    for name, points in curves.items():
        (few, high), (many, low) = points[0], points[-1]
        lines.append(f"{name}: {high:.0f} {unit} on {few:,.0f} GPUs, {low:.0f} on {many:,.0f}.")
        lines += [f"Published: {rate:g} on {gpus:,.0f}." for gpus, rate in measured.get(name, ())]
    return "\n".join(lines)
