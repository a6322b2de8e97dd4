"""Pictures of lesson 15: a number's bits on the ruler of its format, gradients, a stall."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from gpu_course.draw.paper import palette as p
from gpu_course.draw.paper.picture import with_alt
from gpu_course.lessons.number_formats.formats import Format, codes, rounded, step_at
from gpu_course.units import of_so_many

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_PARTS = (("sign", p.WRITE_TINT), ("exponent", p.READ_TINT), ("mantissa", p.FINE_FACE))
_MARKS = 12
"""Numbers of a format that the ruler shows on each side."""
_ROOM_FOR_A_NAME = 8
"""Powers of two that a band of a histogram spans at least, to have its name within it."""


def draw_number(x: float, form: Format) -> Figure:
    """Returns the bits of the nearest number of a format, above that number's neighbours.

    Args:
        x: a finite number.
        form: the format, of at most 32 bits.
    """
    near = float(rounded(x, form, saturate=True))
    bits = f"{int(codes(near, form)):0{form.bits}b}"
    with p.style():
        figure, axes = p.sheet(p.WIDEST, 2.75)
        axes.text(0.15, 0.3, f"{form.name}: {x:.9g} becomes {near:.9g}", fontsize=p.LARGE,
                  fontweight="bold", color=p.INK, va="center_baseline")  # fmt: skip
        _bits(axes, bits, form)
        _ruler(axes, x, near, form)
    return with_alt(figure, describe_number(x, form))


def describe_number(x: float, form: Format) -> str:
    """Returns in words what `draw_number` shows."""
    near = float(rounded(x, form, saturate=True))
    bits = f"{int(codes(near, form)):0{form.bits}b}"
    e = form.exponent_bits
    return (
        f"{x:.9g} in {form.name} is {near:.9g}: sign {bits[0]}, exponent {bits[1 : 1 + e]}, "
        f"mantissa {bits[1 + e :]}. Its neighbours are {_distances(near, form)} away."
    )


def _distances(near: float, form: Format) -> str:
    """How far a number's neighbours are: a power of two is nearer to the one towards 0."""
    step = float(step_at(np.array(near), form))
    below, above = (
        step / 2 if float(rounded(half, form)) == half else step
        for half in (near - step / 2, near + step / 2)
    )
    return f"{step:.6g}" if below == above else f"{below:.6g} (below) and {above:.6g} (above)"


def _bits(axes: Axes, bits: str, form: Format) -> None:
    from matplotlib.patches import Rectangle

    side = min(0.3, (p.WIDEST - 0.6) / form.bits)
    ends = (0, 1, 1 + form.exponent_bits, form.bits)
    for part, (name, colour) in enumerate(_PARTS):
        first, end = ends[part], ends[part + 1]
        for k in range(first, end):
            axes.add_artist(
                Rectangle((0.15 + k * side, 0.62), side, 0.36, facecolor=colour,
                          edgecolor=p.RULE, linewidth=0.8, zorder=2)
            )  # fmt: skip
            axes.text(0.15 + (k + 0.5) * side, 0.8, bits[k], fontsize=p.NORMAL, color=p.INK,
                      family="monospace", ha="center", va="center", zorder=3)  # fmt: skip
        middle = 0.15 + (first + end) / 2 * side
        where = {"sign": (0.15, "left")}.get(name, (max(middle, 0.95), "center"))
        axes.text(where[0], 1.14, name, fontsize=p.SMALL, color=p.QUIET, ha=where[1],
                  va="center")  # fmt: skip


def _ruler(axes: Axes, x: float, near: float, form: Format) -> None:
    step = float(step_at(np.array(near), form))
    low, high = near - _MARKS / 2 * step, near + _MARKS / 2 * step
    left, right, y = 0.35, p.WIDEST - 0.35, 2.0
    scale = (right - left) / (high - low)
    axes.plot([left, right], [y, y], color=p.INK, lw=1.2)
    tried = np.linspace(low, high, 40 * _MARKS + 1)
    for number in np.unique(rounded(tried, form, saturate=True)):
        if low <= number <= high:
            at = left + (number - low) * scale
            axes.plot([at, at], [y - 0.1, y + 0.1], color=p.INK, lw=1.2)
    for number in (near - 5 * step, near, near + 5 * step):
        if abs(number) <= form.largest:
            at = left + (number - low) * scale
            axes.text(at, y + 0.28, f"{number:.9g}", fontsize=p.SMALL, color=p.INK, ha="center",
                      va="center")  # fmt: skip
    at = left + min(max((x - low) * scale, 0.0), right - left)
    axes.plot([at], [y - 0.24], marker="v", markersize=8, color=p.CONFLICT)
    axes.plot([left + (near - low) * scale], [y], marker="o", markersize=7, color=p.ACTIVE,
              zorder=4)  # fmt: skip
    told = f"triangle: {x:.9g}; disc: the nearest; its neighbours are {_distances(near, form)} away"
    axes.text(left, 2.55, told, fontsize=p.SMALL, color=p.QUIET, va="center")


def draw_gradients(gradients: np.ndarray, scale: float, form: Format) -> Figure:
    """Returns a histogram of the sizes of gradients times a scale, over the range of a format.

    Args:
        gradients: any shape; zeros are left out.
        scale: a power of two that the loss was multiplied by.
        form: the format that is to hold them.
    """
    size = np.abs(gradients[gradients != 0].astype(np.float64)) * scale
    at = np.log2(size)
    low, high = form.least_exponent - form.mantissa_bits, np.log2(form.largest)
    counts = _shares(at, low, form.least_exponent, high)
    with p.style():
        figure, axes = p.blank_figure(p.WIDEST, 3.3, (0.8, 0.8, 0.25, 0.5))
        edges = np.arange(-50, 31)
        height, _ = np.histogram(np.clip(at, -50, 29.9), edges)
        for first, last, colour, hatch in (
            (-50, low - 1, p.CONFLICT_TINT, p.CONFLICT_HATCH),
            (low - 1, form.least_exponent, p.WRITE_TINT, ""),
            (form.least_exponent, high, p.FINE_FACE, ""),
            (high, 30, p.CONFLICT_TINT, p.CONFLICT_HATCH),
        ):
            axes.axvspan(first, last, facecolor=colour, edgecolor=p.PAPER, hatch=hatch, lw=0,
                         zorder=0)  # fmt: skip
        axes.bar(edges[:-1] + 0.5, height, width=0.85, color=p.ACTIVE, zorder=3)
        axes.set_xlim(-50, 30)
        axes.set_ylim(0, max(height.max() * 1.2, 1))
        words = (
            f"{counts['lost']:.1%} become 0, {counts['subnormal']:.1%} lose digits, "
            f"{counts['over']:.1%} overflow"
        )
        axes.set_xlabel(f"size of a gradient, as a power of two\n{words}")
        axes.set_ylabel("how many")
        # The subnormal numbers of a short mantissa are a band too narrow for their name.
        narrow = form.mantissa_bits < _ROOM_FOR_A_NAME
        for at_x, name, aligned in (
            ((low - 51) / 2, "0", "center"),
            (form.least_exponent + 0.5, "← subnormal", "left")
            if narrow
            else ((low - 1 + form.least_exponent) / 2, "subnormal", "center"),
            ((form.least_exponent + high) / 2 + 4 * narrow, "normal", "center"),
            ((high + 30) / 2, "infinite", "center"),
        ):
            axes.text(
                at_x, height.max() * 1.12, name, fontsize=p.SMALL, color=p.INK, ha=aligned,
                va="center",
            )  # fmt: skip
        p.headline(axes, f"Gradients times {scale:,.0f}, in {form.name}")
    return with_alt(figure, describe_gradients(gradients, scale, form))


def _shares(at: np.ndarray, low: float, normal: float, high: float) -> dict[str, float]:
    count = max(at.size, 1)
    return {
        "lost": float((at <= low - 1).sum() / count),
        "subnormal": float(((at > low - 1) & (at < normal)).sum() / count),
        "over": float((at > high).sum() / count),
    }


def share_lost(gradients: np.ndarray, scale: float, form: Format) -> float:
    """Returns which share of the gradients that are not 0 become 0 in a format."""
    alive = gradients[gradients != 0].astype(np.float64)
    return float((rounded(alive * scale, form) == 0).mean())


def describe_gradients(gradients: np.ndarray, scale: float, form: Format) -> str:
    """Returns in words what `draw_gradients` shows."""
    alive = gradients[gradients != 0].astype(np.float64) * scale
    at = np.log2(np.abs(alive))
    low = form.least_exponent - form.mantissa_bits
    shares = _shares(at, low, form.least_exponent, float(np.log2(form.largest)))
    return (
        f"{of_so_many(alive.size, 'gradients')} times {scale:g} in {form.name}: "
        f"{shares['lost']:.1%} become 0, {shares['subnormal']:.1%} are subnormal, "
        f"{shares['over']:.1%} are infinite."
    )


def draw_losses(losses: Mapping[str, np.ndarray]) -> Figure:
    """Returns the losses of runs, step by step.

    Args:
        losses: {how the weights were kept: loss of each step}.
    """
    looks = (
        (p.INK, "-", 2.6), (p.CONFLICT, "--", 2.0), (p.ACTIVE, "-.", 2.0), (p.FINE, ":", 2.4),
    )  # fmt: skip
    with p.style():
        figure, axes = p.blank_figure(p.WIDEST, 3.4, (0.85, 0.6, 0.25, 0.55))
        for (name, each), (colour, line, width) in zip(losses.items(), looks, strict=False):
            axes.plot(np.maximum(each, 1e-14), color=colour, linestyle=line, lw=width, label=name)
        axes.set_yscale("log")
        axes.set_xlabel("step")
        axes.set_ylabel("loss")
        axes.legend(loc="lower left", frameon=False, fontsize=p.SMALL, handlelength=3)
        p.headline(axes, "One fit, its weights kept in four ways")
    return with_alt(figure, describe_losses(losses))


def describe_losses(losses: Mapping[str, np.ndarray]) -> str:
    """Returns in words what `draw_losses` shows."""
    ends = ", ".join(f"{name} {each[-1]:.2g}" for name, each in losses.items())
    steps = max((len(each) for each in losses.values()), default=0)
    return f"The loss after {of_so_many(steps, 'steps')}: {ends}."
