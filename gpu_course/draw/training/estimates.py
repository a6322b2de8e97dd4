"""A picture of forward gradients in two dimensions: a cloud of estimates around the gradient."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from gpu_course.draw.paper import palette as p
from gpu_course.draw.paper.picture import with_alt

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Pair = tuple[float, float]


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
        if ax is None:
            figure, axes = p.blank_figure(6.4, 5.0, (0.7, 0.55, 0.1, 0.35))
        else:
            figure, axes = ax.get_figure(root=True), ax  # type: ignore[assignment]
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
        axes.set_title(words, loc="left", fontsize=p.NORMAL, fontweight="bold", color=p.INK)
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
