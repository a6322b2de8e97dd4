"""One line of a kernel beside its machine code, and the registers that are in use meanwhile."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

from gpu_course.draw.paper import palette as p
from gpu_course.draw.paper.furniture import title
from gpu_course.draw.paper.picture import with_alt
from gpu_course.lessons.under_the_hood.listings import Listing
from simt.text import count

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_LEFT = 0.15
_CURVE_LEFT, _CURVE_TOP, _CURVE_HIGH = 0.75, 0.95, 0.95
_ROW = 0.175
_CHARACTERS = 86
"""Of the smallest text, in a row as wide as the picture."""
AROUND = 3
"""Lines of the text above and below the one that is shown."""
MAX_INSTRUCTIONS = 12


def draw_line(listing: Listing, line: int, ax: Axes | None = None) -> Figure:
    """Returns one line of a kernel: its place, its instructions, and the registers in use.

    Args:
        listing: the kernel.
        line: of its text, from 1.
        ax: axes to draw on instead of a new figure.
    """
    line = max(1, min(line, len(listing.lines)))
    shown = listing.under(line)
    rows = 2 * AROUND + 1
    height = _CURVE_TOP + _CURVE_HIGH + 0.75 + _ROW * (rows + MAX_INSTRUCTIONS + 1) + 0.35
    with p.style():
        figure, axes = p.sheet(p.WIDEST, height, ax)
        title(axes, _LEFT, f"Line {line} of {listing.name}", _words(listing, line))
        _curve(axes, listing, line)
        top = _CURVE_TOP + _CURVE_HIGH + 0.6
        _text(axes, listing, line, top)
        top += _ROW * rows + 0.25
        _instructions(axes, shown, top)
        foot = f"compute capability {listing.capability}; {listing.source}"
        axes.text(_LEFT + 0.05, height - 0.16, foot, fontsize=p.SMALL, color=p.QUIET, va="center")
    return with_alt(figure, describe_line(listing, line))


def describe_line(listing: Listing, line: int) -> str:
    """Returns what the picture of a line says, in words."""
    code = listing.lines[line - 1].strip()
    shown = listing.under(line)
    said = [f"Line {line} of {listing.name}: {code};"]
    said.append(f"{_words(listing, line)}; {listing.source}.")
    each = [text for _, _, text in shown[:MAX_INSTRUCTIONS]]
    if len(shown) > MAX_INSTRUCTIONS:
        each.append(f"and {len(shown) - MAX_INSTRUCTIONS:,} more")
    return "\n".join(said) + ("\n  " + ";\n  ".join(each) + "." if each else "")


def _words(listing: Listing, line: int) -> str:
    shown = listing.under(line)
    many = f"{count(len(shown), 'instruction')} of {listing.instructions:,}"
    if shown:
        live = max(live for _, live, _ in shown)
        many += f", at most {count(live, 'register')} in use"
    return many


def _curve(axes: Axes, listing: Listing, line: int) -> None:
    """Registers in use from the first instruction to the last, those of the line marked."""
    from matplotlib.patches import Polygon

    live = [each for _, each, _ in listing.code.sass]
    wide = p.WIDEST - _CURVE_LEFT - _LEFT
    most = max([*live, 1])
    base = _CURVE_TOP + _CURVE_HIGH

    def at(place: float, registers: float) -> tuple[float, float]:
        return _CURVE_LEFT + wide * place / len(live), base - _CURVE_HIGH * registers / most

    def area(places: range) -> list[tuple[float, float]]:
        steps = [at(places[0], 0)]
        for place in places:
            steps += [at(place, live[place]), at(place + 1, live[place])]
        return [*steps, at(places[-1] + 1, 0)]

    if live:
        look = {"facecolor": p.LATER_ACTIVE, "edgecolor": p.ACTIVE, "lw": 1}
        axes.add_artist(Polygon(area(range(len(live))), closed=False, **look))
    marked = [place for place, _, _ in listing.under(line)]
    for _, run in groupby(enumerate(marked), key=lambda pair: pair[1] - pair[0]):
        places = [place for _, place in run]
        steps = area(range(places[0], places[-1] + 1))
        look = {"facecolor": p.WRITE, "edgecolor": p.WRITE_EDGE, "lw": 1}
        axes.add_artist(Polygon(steps, closed=False, **look))
    axes.plot([_CURVE_LEFT, _CURVE_LEFT + wide], [base, base], color=p.RULE, lw=1)
    for number in (0, most):
        axes.text(_CURVE_LEFT - 0.06, at(0, number)[1], str(number), ha="right", va="center",
                  fontsize=p.SMALL, color=p.QUIET)  # fmt: skip
    axes.text(_CURVE_LEFT - 0.06, base - _CURVE_HIGH / 2, "registers\nin use", ha="right",
              va="center", fontsize=p.SMALL, color=p.QUIET)  # fmt: skip
    axes.text(_CURVE_LEFT, base + 0.14, "first instruction", ha="left", va="center",
              fontsize=p.SMALL, color=p.QUIET)  # fmt: skip
    axes.text(_CURVE_LEFT + wide, base + 0.14, "last", ha="right", va="center",
              fontsize=p.SMALL, color=p.QUIET)  # fmt: skip
    axes.text(_CURVE_LEFT + wide / 2, base + 0.14, "orange: the instructions of this line",
              ha="center", va="center", fontsize=p.SMALL, color=p.WRITE_EDGE)  # fmt: skip


def _text(axes: Axes, listing: Listing, line: int, top: float) -> None:
    """The line between its neighbours."""
    from matplotlib.patches import Rectangle

    rows = 2 * AROUND + 1
    first = max(1, min(line - AROUND, len(listing.lines) - rows + 1))
    for row, number in enumerate(range(first, min(first + rows, len(listing.lines) + 1))):
        y = top + _ROW * row
        here = number == line
        if here:
            place = (_LEFT, y - _ROW / 2)
            size = (p.WIDEST - 2 * _LEFT, _ROW)
            axes.add_artist(Rectangle(place, *size, facecolor=p.WRITE_TINT, lw=0))
        words = f"{number:>3}  {listing.lines[number - 1]}"
        _mono(axes, y, words, p.INK if here else p.QUIET, "bold" if here else "normal")


def _instructions(axes: Axes, shown: tuple[tuple[int, int, str], ...], top: float) -> None:
    head = "in use  instruction" if shown else "No instruction belongs to this line."
    _mono(axes, top, head, p.QUIET)
    few = (
        shown[:MAX_INSTRUCTIONS]
        if len(shown) <= MAX_INSTRUCTIONS
        else shown[: MAX_INSTRUCTIONS - 1]
    )
    for row, (_, live, text) in enumerate(few, 1):
        _mono(axes, top + _ROW * row, f"{live:>6}  {text}", p.INK)
    if len(few) < len(shown):
        more = f"        ... and {len(shown) - len(few):,} more"
        _mono(axes, top + _ROW * (len(few) + 1), more, p.QUIET)


def _mono(axes: Axes, y: float, text: str, colour: str, weight: str = "normal") -> None:
    room = _CHARACTERS if weight == "normal" else _CHARACTERS - 2
    text = text if len(text) <= room else text[: room - 3] + "..."
    axes.text(_LEFT + 0.05, y, text, family="monospace", fontsize=p.SMALL, color=colour,
              fontweight=weight, va="center", ha="left")  # fmt: skip
