"""Pictures of lesson 33: loss against bytes, rounds over time, smaller models, lengths of files."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from gpu_course.draw.paper import palette as p
from gpu_course.draw.paper.furniture import Look, square, title
from gpu_course.draw.paper.picture import with_alt
from gpu_course.lessons.across_oceans import scaling
from gpu_course.lessons.across_oceans.lengths import Bin, longer
from gpu_course.lessons.across_oceans.links import Islands
from gpu_course.units import GB
from simt.text import count

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Told apart by dashes and marks as well as by colour.
_LINES: tuple[dict[str, Any], ...] = (
    {"color": p.INK, "linestyle": (0, (3, 3)), "marker": "x"},
    {"color": p.ACTIVE, "linestyle": "solid", "marker": "o"},
    {"color": p.FINE, "linestyle": (0, (1, 1.2)), "marker": "^"},
    {"color": p.CONFLICT, "linestyle": (0, (5, 2)), "marker": "s"},
    {"color": p.CONTRAST, "linestyle": (0, (6, 2, 1, 2)), "marker": "D"},
    {"color": p.WRITE, "linestyle": "solid", "marker": "v"},
)
MB = 1e6
Points = Sequence[tuple[float, float]]


def draw_loss_over_bytes(
    runs: Mapping[str, Points], guessing: float, ax: Axes | None = None
) -> Figure:
    """Returns the loss of runs over what a rank has sent by then, on a scale of factors.

    Args:
        runs: {name: (bytes sent so far, loss)}, the first point of each before anything is sent.
        guessing: the loss of who takes all letters for equally likely.
        ax: axes to draw on instead of a new figure.
    """
    with p.style():
        figure, axes = p.axes_or_blank(ax, p.WIDEST, 3.7, (0.75, 0.6, 2.35, 0.4))
        sent = [at for points in runs.values() for at, _ in points if at]
        for number, (name, points) in enumerate(runs.items()):
            shown = [(at, loss) for at, loss in points if at]
            axes.plot(
                [at for at, _ in shown],
                [min(loss, guessing) for _, loss in shown],
                label=name, markersize=5, lw=1.6, **_LINES[number % len(_LINES)],
            )  # fmt: skip
        axes.axhline(guessing, color=p.QUIET, lw=0.9, linestyle=p.READ_DASHES)
        axes.text(min(sent), guessing - 0.06, "guessing", fontsize=p.SMALL, color=p.QUIET, va="top")
        axes.set_xscale("log")
        axes.set_ylim(0, guessing * 1.06)
        decades = range(math.floor(math.log10(min(sent))), math.ceil(math.log10(max(sent))) + 1)
        ticks = [10.0**d for d in decades]
        axes.set_xlim(10.0 ** decades[0], 10.0 ** decades[-1])
        axes.set_xticks(ticks, [_megabytes(tick) for tick in ticks])
        axes.minorticks_off()
        p.headline(axes, "Loss over the bytes that a rank has sent")
        axes.set_xlabel("sent by a rank so far")
        axes.set_ylabel("loss")
        figure.legend(loc="center right", frameon=False, fontsize=p.SMALL, handlelength=3)
    return with_alt(figure, describe_loss_over_bytes(runs))


def describe_loss_over_bytes(runs: Mapping[str, Points]) -> str:
    """Returns in words what `draw_loss_over_bytes` shows."""
    said = [
        f"{name}: loss {points[-1][1]:.2f} after {_megabytes(points[-1][0])}."
        for name, points in runs.items()
    ]
    return "Loss over the bytes that a rank has sent. " + " ".join(said)


def _megabytes(size: float) -> str:
    return f"{size / MB:.3g} MB"


def _gigabytes(size: float) -> str:
    """Returns bytes in GB, with three digits and no exponent.

    >>> _gigabytes(74.29e9), _gigabytes(1.62e12)
    ('74.3 GB', '1,620 GB')
    """
    return f"{size / GB:.3g} GB" if size < 1000 * GB else f"{size / GB:,.0f} GB"


def _time(seconds: float) -> str:
    """Returns seconds as people say them.

    >>> _time(53.3), _time(214), _time(2333), _time(90_000)
    ('53 s', '3.6 min', '39 min', '25 h')
    """
    if seconds < 120:
        return f"{seconds:.3g} s" if seconds < 10 else f"{seconds:.0f} s"
    if seconds < 600:
        return f"{seconds / 60:.2g} min"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.0f} h"


_COMPUTES: Look = {"facecolor": p.LATER_ACTIVE, "edgecolor": p.ACTIVE, "linewidth": 0.9}
_SENDS: Look = {"facecolor": p.CONFLICT_TINT, "edgecolor": p.CONFLICT, "linewidth": 0.9,
                "hatch": p.CONFLICT_HATCH}  # fmt: skip


def draw_rounds(islands: Islands, rounds: int = 3, ax: Axes | None = None) -> Figure:
    """Returns rounds over time: computing alone, and the exchange that all wait for.

    Args:
        islands: what is trained, and the link.
        rounds: how many are drawn.
        ax: axes to draw on instead of a new figure.
    """
    left, right, top, height = 0.3, 0.3, 1.1, 2.75
    whole = islands.computing_s + islands.exchange_s
    scale = (p.WIDEST - left - right) / (rounds * whole)
    with p.style():
        figure, axes = p.sheet(p.WIDEST, height, ax)
        second = (
            f"{count(islands.islands, 'island')} send {_gigabytes(islands.sent_bytes)} each after "
            f"{count(islands.h, 'step')}: {_time(islands.exchange_s)}"
        )
        title(axes, left, f"{islands.utilisation:.1%} of the time computes", second, mono=False)
        for number in range(rounds):
            at = left + number * whole * scale
            for width, look in (
                (islands.computing_s * scale, _COMPUTES), (islands.exchange_s * scale, _SENDS)
            ):  # fmt: skip
                square(axes, at + width / 2, top + 0.25, max(width, 0.012), look, 0.5)
                at += width
        end = left + rounds * whole * scale
        axes.plot([left, end], [top + 0.62, top + 0.62], color=p.RULE, lw=1)
        for number in range(rounds + 1):
            x = left + number * whole * scale
            axes.plot([x, x], [top + 0.62, top + 0.68], color=p.RULE, lw=1)
            words = _time(number * whole) if number else "0"
            axes.text(x, top + 0.83, words, fontsize=p.SMALL, color=p.INK, va="center_baseline",
                      ha="left" if not number else "right" if number == rounds else "center",
                      )  # fmt: skip
        x = left
        for look, words in ((_COMPUTES, "computing"), (_SENDS, "waiting for the exchange")):
            square(axes, x + 0.13, height - 0.3, 0.24, look, 0.18)
            axes.text(x + 0.33, height - 0.3, words, fontsize=p.SMALL, color=p.INK,
                      va="center_baseline")  # fmt: skip
            x += 0.65 + 0.075 * len(words)
    return with_alt(figure, describe_rounds(islands))


def describe_rounds(islands: Islands) -> str:
    """Returns in words what `draw_rounds` shows."""
    return (
        f"{islands.utilisation:.1%} of the time computes. {count(islands.islands, 'island')} "
        f"compute {_time(islands.computing_s)} in {count(islands.h, 'step')}, then send "
        f"{_gigabytes(islands.sent_bytes)} each in {_time(islands.exchange_s)}."
    )


def draw_stretch(
    ways: Sequence[float], rate: float, momentum: float, ax: Axes | None = None
) -> Figure:
    """Returns how far each outer step goes where all rounds go the same way.

    Args:
        ways: of each outer step, as multiples of what a round went.
        rate, momentum: of the outer optimizer.
        ax: axes to draw on instead of a new figure.
    """
    limit = rate / (1 - momentum)
    with p.style():
        figure, axes = p.axes_or_blank(ax, p.WIDEST, 3.0, (0.75, 0.6, 0.4, 0.4))
        places = range(1, len(ways) + 1)
        axes.bar(places, ways, color=p.READ, edgecolor=p.ACTIVE, width=0.75)
        axes.axhline(1, color=p.INK, lw=1.2, linestyle=p.READ_DASHES)
        axes.axhline(limit, color=p.CONFLICT, lw=1.2, linestyle=(0, (1, 1.5)))
        axes.set_ylim(0, max(1.3, 1.15 * limit))
        axes.set_xlim(0.3, len(ways) + 0.7)
        p.headline(axes, f"Outer step {len(ways)} goes {ways[-1]:.1f} times as far as its round")
        axes.set_xlabel("outer step; dashes: as far as the round went; dots: where it ends")
        axes.set_ylabel("times the round's way")
    return with_alt(figure, describe_stretch(ways, rate, momentum))


def describe_stretch(ways: Sequence[float], rate: float, momentum: float) -> str:
    """Returns in words what `draw_stretch` shows."""
    return (
        f"Outer steps with rate {rate:g} and momentum {momentum:g}, all rounds going the same way. "
        f"The first goes {ways[0]:.2f} times as far as a round, number {len(ways)} "
        f"{ways[-1]:.2f} times; the limit is {rate / (1 - momentum):.2f}."
    )


def draw_overheads(
    cells: Sequence[scaling.Cell], alpha: float, beta: float, ax: Axes | None = None
) -> Figure:
    """Returns what a smaller model computes more, by two exponents, and what is printed of it.

    Args:
        cells: printed overheads.
        alpha, beta: of the curve.
        ax: axes to draw on instead of a new figure.
    """
    highest = 260.0
    places = [0.2 + 0.005 * step for step in range(161)]
    curve = [(k, scaling.overhead_percent(k, alpha, beta)) for k in places]
    shown = [(k, o) for k, o in curve if o < highest * 1.2]
    with p.style():
        figure, axes = p.axes_or_blank(ax, p.WIDEST, 3.5, (0.75, 0.6, 0.4, 0.4))
        axes.plot([k for k, _ in shown], [o for _, o in shown], color=p.ACTIVE, lw=2,
                  label=f"alpha {alpha:g}, beta {beta:g}")  # fmt: skip
        axes.plot([c.k_n for c in cells], [c.printed for c in cells], linestyle="none",
                  marker="o", markersize=8, markerfacecolor="none", markeredgecolor=p.CONFLICT,
                  markeredgewidth=1.8, label="printed")  # fmt: skip
        for cell in cells:
            words = f"printed {cell.printed:g} %, here {cell.found(alpha, beta):.3g} %"
            axes.annotate(words, (cell.k_n, cell.printed), xytext=(9, 4),
                          textcoords="offset points", fontsize=p.SMALL, color=p.INK)  # fmt: skip
        axes.set_xlim(0.2, 1)
        axes.set_ylim(-8, highest)
        p.headline(axes, "A smaller model reaches the same loss, for more FLOP")
        axes.set_xlabel("parameters, as a part of the best size")
        axes.set_ylabel("more FLOP, %")
        axes.legend(loc="upper right", frameon=False, fontsize=p.SMALL)
    return with_alt(figure, describe_overheads(cells, alpha, beta))


def describe_overheads(cells: Sequence[scaling.Cell], alpha: float, beta: float) -> str:
    """Returns in words what `draw_overheads` shows."""
    said = [
        f"At {cell.k_n:g} of the size it is {cell.found(alpha, beta):.1f} %, printed "
        f"{cell.printed:g} %."
        for cell in cells
    ]
    return f"More FLOP of a smaller model, alpha {alpha:g}, beta {beta:g}. " + " ".join(said)


def draw_lengths(
    bins: Sequence[Bin], window: int, bytes_per_token: float, ax: Axes | None = None
) -> Figure:
    """Returns how many files, and how much of all tokens, are how long; a line at the window.

    Args:
        bins: of lengths.
        window: in tokens.
        bytes_per_token: as the tokenizer has it.
        ax: axes to draw on instead of a new figure.
    """
    files, total = sum(b.files for b in bins), sum(b.total_bytes for b in bins)
    with p.style():
        figure, axes = p.axes_or_blank(ax, p.WIDEST, 3.5, (0.75, 0.6, 0.4, 0.4))
        places = [math.log2(b.total_bytes / b.files / bytes_per_token) for b in bins]
        axes.bar([x - 0.19 for x in places], [100 * b.files / files for b in bins], width=0.36,
                 color=p.READ, edgecolor=p.ACTIVE, label="of the files")  # fmt: skip
        axes.bar([x + 0.19 for x in places], [100 * b.total_bytes / total for b in bins],
                 width=0.36, color=p.WRITE_TINT, edgecolor=p.WRITE_EDGE, hatch=p.CONFLICT_HATCH,
                 label="of the tokens")  # fmt: skip
        axes.axvline(math.log2(window), color=p.CONFLICT, lw=1.4, linestyle=p.READ_DASHES)
        ticks = range(3, 20, 2)
        axes.set_xticks(list(ticks), [_short(2**t) for t in ticks])
        axes.set_xlim(2, 19.5)
        p.headline(axes, _lengths_words(bins, window, bytes_per_token))
        axes.set_xlabel("tokens of a file; dashes: the window")
        axes.set_ylabel("%")
        axes.legend(loc="upper left", frameon=False, fontsize=p.SMALL)
    return with_alt(figure, describe_lengths(bins, window, bytes_per_token))


def _short(tokens: int) -> str:
    return f"{tokens // 1024}K" if tokens >= 1024 else str(tokens)


def _lengths_words(bins: Sequence[Bin], window: int, bytes_per_token: float) -> str:
    of_files, of_tokens = longer(bins, window, bytes_per_token)
    return (
        f"{of_files:.0%} of the files fill a window of {_short(window)}; they hold "
        f"{of_tokens:.0%} of the tokens"
    )


def describe_lengths(bins: Sequence[Bin], window: int, bytes_per_token: float) -> str:
    """Returns in words what `draw_lengths` shows."""
    files, total = sum(b.files for b in bins), sum(b.total_bytes for b in bins)
    each = [
        f"{b.total_bytes / b.files / bytes_per_token:,.0f} tokens on average: "
        f"{b.files / files:.1%} of the files, {b.total_bytes / total:.1%} of the tokens."
        for b in bins
    ]
    return f"{files:,} files. {_lengths_words(bins, window, bytes_per_token)}. " + " ".join(each)
