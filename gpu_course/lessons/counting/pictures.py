"""Pictures of lesson 11: parameters and FLOP as areas, where 6N is wrong, MFU beside HFU."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from gpu_course.draw.paper import palette as p
from gpu_course.draw.paper.furniture import title
from gpu_course.draw.paper.picture import with_alt
from gpu_course.units import format_flops

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

LOOKS: Mapping[str, dict[str, Any]] = {
    "MLP": {"facecolor": p.FINE},
    "other experts": {"facecolor": p.FINE_FACE, "hatch": p.CONFLICT_HATCH},
    "attention": {"facecolor": p.ACTIVE},
    "pairs of tokens": {"facecolor": p.CONTRAST},
    "tables": {"facecolor": p.READ},
    "head": {"facecolor": p.WRITE},
    "rest": {"facecolor": p.IDLE},
}
"""A part of a model -> how its area is filled."""

Box = tuple[float, float, float, float]
"""x, y, width, height, in inches."""

_SIDE, _LEFT, _TOP, _GAP = 2.95, 0.3, 1.15, 0.75
_ROW = 0.27
_LABEL = (0.078, 0.4)
"""Inches that a character of a name is wide, and that a name and its share are high."""
_UNDER = "each square is a whole: all parameters, and all FLOP of a forward pass"


def _in_words(number: float) -> str:
    """Returns a count of parameters as people say it.

    >>> _in_words(124_439_808), _in_words(999_900_000), _in_words(1_890_000_000_000)
    ('124 million', '1 billion', '1.89 trillion')
    """
    for unit, word in ((10**12, "trillion"), (10**9, "billion"), (10**6, "million")):
        if number >= 0.9995 * unit:
            return f"{number / unit:.3g} {word}"
    return f"{number:,.0f}"


def draw_areas(
    name: str, parameters: Mapping[str, float], flop: Mapping[str, float], ax: Axes | None = None
) -> Figure:
    """Returns two squares side by side: where a model's parameters sit, and where its FLOP.

    Args:
        name: of the model.
        parameters: of each part, by the names in LOOKS; a tied head has none.
        flop: of a forward pass for each token, the same way.
        ax: a sheet to draw on instead of a new figure.
    """
    shown = [part for part in LOOKS if parameters.get(part) or flop.get(part)]
    height = _TOP + _SIDE + 0.45 + _ROW * (len(shown) + 1) + 0.1
    with p.style():
        figure, axes = p.sheet(p.WIDEST, height, ax)
        title(axes, _LEFT, name, _UNDER, False)
        heads = (
            f"{_in_words(sum(parameters.values()))} parameters",
            f"{format_flops(sum(flop.values()))} for each token",
        )
        for number, (words, parts) in enumerate(zip(heads, (parameters, flop), strict=True)):
            x = _LEFT + number * (_SIDE + _GAP)
            axes.text(x, _TOP - 0.16, words, fontsize=p.NORMAL, fontweight="bold", color=p.INK)
            _square(axes, x, parts)
        _shares(axes, _TOP + _SIDE + 0.45, shown, (parameters, flop))
    return with_alt(figure, describe_areas(name, parameters, flop))


def describe_areas(name: str, parameters: Mapping[str, float], flop: Mapping[str, float]) -> str:
    """Returns in words what `draw_areas` shows."""
    said = [f"{name}. {sum(parameters.values()):,.0f} parameters:"]
    for parts in (parameters, flop):
        total = sum(parts.values())
        shares = [f"{part} {count / total:.1%}" for part, count in parts.items() if count]
        said.append(", ".join(shares) + ".")
    said.insert(2, f"{sum(flop.values()):,.0f} FLOP forward for each token:")
    return " ".join(said)


def _square(axes: Axes, x: float, parts: Mapping[str, float]) -> None:
    from matplotlib.patches import Rectangle

    sizes = {part: parts[part] for part in LOOKS if parts.get(part)}
    for part, (left, top, width, high) in areas(sizes, (x, _TOP, _SIDE, _SIDE)).items():
        look = {"edgecolor": p.PAPER, "linewidth": 1.5, **LOOKS[part]}
        if "hatch" in look:
            look["edgecolor"] = p.FINE
        axes.add_artist(Rectangle((left, top), width, high, **look))
        if width < _LABEL[0] * len(part) or high < _LABEL[1]:
            continue
        share = sizes[part] / sum(sizes.values())
        plain = "hatch" in LOOKS[part]
        axes.text(
            left + width / 2,
            top + high / 2,
            f"{part}\n{share:.0%}",
            ha="center",
            va="center",
            fontsize=p.SMALL,
            color=p.ink_on(LOOKS[part]["facecolor"]),
            bbox={"facecolor": p.FINE_FACE, "edgecolor": "none", "pad": 1.5} if plain else None,
        )


def areas(sizes: Mapping[str, float], box: Box) -> dict[str, Box]:
    """Returns rectangles that fill a box, each with the share of its size, none long and thin.

    The largest come first, in rows along the shorter side; a row takes more as long as its worst
    rectangle grows squarer by it.

    Source: Bruls, Huizing and van Wijk, "Squarified Treemaps", 2000.

    >>> areas({"a": 3, "b": 1}, (0.0, 0.0, 2.0, 2.0))
    {'a': (0.0, 0.0, 1.5, 2.0), 'b': (1.5, 0.0, 0.5, 2.0)}
    """
    left = sorted(sizes.items(), key=lambda item: -item[1])
    x, y, width, height = box
    scale = width * height / sum(sizes.values())
    found: dict[str, Box] = {}
    while left:
        short = min(width, height)
        row = 1
        while row < len(left) and _worst(left[: row + 1], short, scale) <= _worst(
            left[:row], short, scale
        ):
            row += 1
        taken, left = left[:row], left[row:]
        deep = sum(size for _, size in taken) * scale / short
        at = 0.0
        for part, size in taken:
            long = size * scale / deep
            found[part] = (x, y + at, deep, long) if width >= height else (x + at, y, long, deep)
            at += long
        if width >= height:
            x, width = x + deep, width - deep
        else:
            y, height = y + deep, height - deep
    return found


def _worst(row: Sequence[tuple[str, float]], short: float, scale: float) -> float:
    """How many times as long as wide the worst rectangle of a row is."""
    deep = sum(size for _, size in row) * scale / short
    longs = [size * scale / deep for _, size in row]
    return max(max(deep / long, long / deep) for long in longs)


def _shares(
    axes: Axes, y: float, shown: Sequence[str], both: tuple[Mapping[str, float], ...]
) -> None:
    from matplotlib.patches import Rectangle

    columns = (3.6, 5.4)
    for x, words in zip(columns, ("of the parameters", "of the FLOP"), strict=True):
        axes.text(x, y, words, ha="right", va="center", fontsize=p.SMALL, color=p.QUIET)
    for number, part in enumerate(shown, start=1):
        at = y + number * _ROW
        look = {"edgecolor": p.RULE, "linewidth": 0.6, **LOOKS[part]}
        axes.add_artist(Rectangle((_LEFT, at - 0.08), 0.26, 0.16, **look))
        axes.text(_LEFT + 0.38, at, part, va="center", fontsize=p.SMALL, color=p.INK)
        for x, parts in zip(columns, both, strict=True):
            share = parts.get(part, 0) / sum(parts.values())
            text = f"{share:.1%}" if parts.get(part) else "none"
            axes.text(x, at, text, ha="right", va="center", fontsize=p.SMALL, color=p.INK)


@dataclass(frozen=True)
class Curve:
    """FLOP of a model over six for each parameter, by the length of its sequences.

    Attributes:
        name: of the model.
        sequences, ratios: points of the curve.
    """

    name: str
    sequences: tuple[int, ...]
    ratios: tuple[float, ...]


_STYLES = (
    (p.WRITE, "o", "-"), (p.ACTIVE, "s", "--"), (p.FINE, "^", "-."), (p.CONTRAST, "D", ":"),
)  # fmt: skip


def draw_ratio(curves: Sequence[Curve], ax: Axes | None = None) -> Figure:
    """Returns how many times 6N the FLOP of a token are, over the length of a sequence.

    Args:
        curves: four at most.
        ax: axes to draw on instead of a new figure.
    """
    with p.style():
        figure, axes = p.axes_or_blank(ax, p.WIDEST, 3.7, (0.75, 0.6, 0.3, 0.45))
        axes.axhline(1, color=p.INK, linewidth=1)
        for curve, (colour, mark, line) in zip(curves, _STYLES, strict=False):
            axes.plot(
                curve.sequences, curve.ratios, line, color=colour, marker=mark, label=curve.name
            )
        axes.set_xscale("log", base=2)
        axes.set_yscale("log", base=2)
        ticks = sorted({n for curve in curves for n in curve.sequences})[::2]
        axes.set_xticks(ticks, [f"{n:,}" for n in ticks], fontsize=p.SMALL)
        highest = max(max(curve.ratios) for curve in curves)
        marks = [n for n in (0.5, 0.7, 1, 1.5, 2, 3, 4, 6, 8, 16, 32) if n <= highest * 1.2]
        axes.set_yticks(marks, [f"{n:g}" for n in marks], fontsize=p.SMALL)
        axes.minorticks_off()
        axes.set_xlabel("tokens in a sequence")
        axes.set_ylabel("FLOP over 6N")
        axes.grid(axis="y", color=p.IDLE, linewidth=0.7)
        axes.legend(frameon=False, fontsize=p.SMALL, loc="upper left")
        p.headline(axes, "The products of training over six for each parameter")
    said = [
        f"{c.name}: {c.ratios[0]:.2f} at {c.sequences[0]:,} tokens, {c.ratios[-1]:.2f} at "
        f"{c.sequences[-1]:,}."
        for c in curves
    ]
    return with_alt(figure, " ".join(["FLOP of a token over 6N.", *said]))


@dataclass(frozen=True)
class Point:
    """A run's two shares.

    Attributes:
        sequence: tokens in a sequence.
        mfu, hfu: shares, 0.4 for 40 %.
    """

    sequence: int
    mfu: float
    hfu: float


def draw_utilisation(name: str, points: Sequence[Point], ax: Axes | None = None) -> Figure:
    """Returns MFU and HFU of runs over the length of their sequences.

    Args:
        name: of the model and the machine.
        points: one for each run.
        ax: axes to draw on instead of a new figure.
    """
    ordered = sorted(points, key=lambda point: (point.sequence, point.mfu))
    with p.style():
        figure, axes = p.axes_or_blank(ax, p.WIDEST, 3.5, (0.75, 0.6, 0.3, 0.45))
        places = range(len(ordered))
        for place, point in zip(places, ordered, strict=True):
            if point.hfu > point.mfu:
                axes.plot([place] * 2, [100 * point.mfu, 100 * point.hfu], color=p.RULE, zorder=1)
        again = [n for n in places if ordered[n].hfu > ordered[n].mfu]
        axes.plot(
            again, [100 * ordered[n].hfu for n in again], "D", color=p.WRITE,
            markeredgecolor=p.WRITE_EDGE, label="HFU, where layers run again",
        )  # fmt: skip
        axes.plot(places, [100 * each.mfu for each in ordered], "o", color=p.ACTIVE, label="MFU")
        axes.set_xticks(places, [f"{each.sequence:,}" for each in ordered], fontsize=p.SMALL)
        if len(ordered) > 7:
            axes.tick_params(axis="x", rotation=35)
        axes.set_ylim(0, 8 + 100 * max(each.hfu for each in ordered))
        axes.set_xlim(-0.5, len(ordered) - 0.5)
        axes.set_xlabel("tokens in a sequence")
        axes.set_ylabel("% of the peak")
        axes.grid(axis="y", color=p.IDLE, linewidth=0.7)
        axes.legend(frameon=False, fontsize=p.SMALL, loc="lower left")
        p.headline(axes, f"MFU and HFU of {name}")
    said = [
        f"{each.sequence:,} tokens: MFU {each.mfu:.1%}"
        + (f", HFU {each.hfu:.1%}." if each.hfu > each.mfu else ".")
        for each in ordered
    ]
    return with_alt(figure, " ".join([f"{name}.", *said]))
