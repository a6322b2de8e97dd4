"""Pictures of a cloud of estimates around a gradient, and of several ledgers on one scale."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from gpu_course.draw.paper import palette as p
from gpu_course.draw.paper.picture import with_alt
from gpu_course.draw.training.memory_ledger import LOOKS, Ledger, totals
from gpu_course.units import byte_unit, format_bytes

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Pair = tuple[float, float]

_HEIGHT = 1.75
_LEFT, _RIGHT, _BOTTOM, _TOP, _GAP = 0.75, 1.75, 0.5, 0.3, 0.35


def draw_estimates(gradient: Pair, estimates: Sequence[Pair], ax: Axes | None = None) -> Figure:
    """Returns estimates as dots, their mean, the gradient, and the circle over the gradient.

    The part of a gradient along any direction ends on the circle that has the gradient for its
    diameter (Thales); a longer direction stretches it beyond.

    Args:
        gradient: in two dimensions.
        estimates: any number of them.
        ax: axes to draw on instead of a new figure.
    """
    from matplotlib.patches import Circle

    with p.style():
        figure, axes = p.axes_or_blank(ax, 6.4, 5.0, (0.7, 0.55, 0.1, 0.35))
        middle = (gradient[0] / 2, gradient[1] / 2)
        length = (gradient[0] ** 2 + gradient[1] ** 2) ** 0.5
        reach = 1.6 * length
        axes.add_artist(
            Circle(middle, length / 2, fill=False, edgecolor=p.QUIET, linestyle=p.READ_DASHES)
        )
        axes.scatter(
            [x for x, _ in estimates],
            [y for _, y in estimates],
            s=9,
            color=p.READ,
            lw=0,
            label="estimates",
        )
        mean = _mean(estimates)
        axes.annotate(
            "",
            gradient,
            xytext=(0, 0),
            arrowprops={"arrowstyle": "-|>", "color": p.INK, "lw": 2, "shrinkA": 0, "shrinkB": 0},
        )
        axes.annotate(
            "gradient",
            gradient,
            xytext=(14, 10),
            textcoords="offset points",
            color=p.INK,
            fontweight="bold",
            bbox={"boxstyle": "round,pad=0.15", "facecolor": p.PAPER, "edgecolor": "none"},
        )
        axes.scatter(
            [mean[0]], [mean[1]], s=70, marker="X", color=p.CONFLICT, zorder=5, label="their mean"
        )
        axes.set_xlim(middle[0] - 1.25 * reach, middle[0] + 1.25 * reach)
        axes.set_ylim(middle[1] - 0.88 * reach, middle[1] + 0.88 * reach)
        axes.set_aspect("equal")
        words = f"{len(estimates):,} estimates of one gradient, and where their mean lies"
        p.headline(axes, words)
        axes.set_xlabel("first number of the gradient")
        axes.set_ylabel("second number")
        axes.legend(loc="upper left", frameon=False, fontsize=p.SMALL)
    return with_alt(figure, describe_estimates(gradient, estimates))


def describe_estimates(gradient: Pair, estimates: Sequence[Pair]) -> str:
    """Returns in words what `draw_estimates` shows."""
    mean = _mean(estimates)
    return (
        f"{len(estimates):,} estimates of the gradient ({gradient[0]:.2f}, {gradient[1]:.2f}); "
        f"their mean is ({mean[0]:.2f}, {mean[1]:.2f})."
    )


def _mean(estimates: Sequence[Pair]) -> Pair:
    count = max(len(estimates), 1)
    return sum(x for x, _ in estimates) / count, sum(y for _, y in estimates) / count


def draw_ledgers(ledgers: Mapping[str, Ledger]) -> Figure:
    """Returns the bytes of each run over time, stacked by kind, all to the same scale.

    Time is each run's own: from its first step of the allocator to its last.

    Args:
        ledgers: {run: ledger}.
    """
    with p.style():
        rows = len(ledgers)
        height = _TOP + rows * _HEIGHT + (rows - 1) * _GAP + _BOTTOM
        figure, first = p.blank_figure(p.WIDEST, height)
        first.remove()
        highest = max(max(totals(ledger)) for ledger in ledgers.values())
        unit, name = byte_unit(highest)
        for row, (run, ledger) in enumerate(ledgers.items()):
            bottom = height - _TOP - (row + 1) * _HEIGHT - row * _GAP
            axes = figure.add_axes(
                (
                    _LEFT / p.WIDEST,
                    bottom / height,
                    1 - (_LEFT + _RIGHT) / p.WIDEST,
                    _HEIGHT / height,
                )
            )
            _stack(axes, ledger, unit)
            axes.set_ylim(0, highest / unit * 1.22)
            axes.set_ylabel(name)
            axes.set_xticks([])
            axes.text(
                0.01,
                0.97,
                f"{run}: at most {format_bytes(max(totals(ledger)))}",
                transform=axes.transAxes,
                va="top",
                fontweight="bold",
                color=p.INK,
            )
        axes.set_xlabel("time, in steps of the allocator")
        kinds = [k for k in LOOKS if any(any(each.live[k]) for each in ledgers.values())]
        from matplotlib.patches import Patch

        figure.legend(
            handles=[Patch(label=kind, **LOOKS[kind]) for kind in kinds[::-1]],
            loc="center right",
            frameon=False,
            fontsize=p.SMALL,
        )
    return with_alt(figure, describe_ledgers(ledgers))


def describe_ledgers(ledgers: Mapping[str, Ledger]) -> str:
    """Returns in words what `draw_ledgers` shows."""
    said = []
    for run, ledger in ledgers.items():
        all_bytes = totals(ledger)
        peak = max(range(ledger.moments), key=lambda moment: (all_bytes[moment], -moment))
        parts = [
            f"{kind} {format_bytes(series[peak])}"
            for kind, series in ledger.live.items()
            if series[peak]
        ]
        said.append(f"{run}: at most {format_bytes(all_bytes[peak])}, then {', '.join(parts)}.")
    return "Memory over time, on one scale. " + " ".join(said)


def _stack(axes: Axes, ledger: Ledger, unit: int) -> None:
    ground = [0.0] * ledger.moments
    times = range(ledger.moments + 1)
    for kind, look in LOOKS.items():
        top = [low + value / unit for low, value in zip(ground, ledger.live[kind], strict=True)]
        if top != ground:
            axes.fill_between(
                times,
                [*ground, ground[-1]],
                [*top, top[-1]],
                step="post",
                linewidth=0.4,
                **look,
            )
        ground = top
    axes.set_xlim(0, ledger.moments)
