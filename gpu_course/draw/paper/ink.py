"""One drawing for two papers: a matplotlib figure, and an SVG that is written while a hand drags.

matplotlib takes a fifth of a second for a sheet full of small text. The same strokes written as SVG
take a few milliseconds, and stay sharp at any size.
"""

from __future__ import annotations

import base64
import html
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from gpu_course.draw.paper import palette as p

if TYPE_CHECKING:
    from matplotlib.axes import Axes

CHAR = p.SMALL * 0.602 / 72
"""Inches of one character of DejaVu Sans Mono at the smallest size: its advance is 0.602 of it."""

Look = dict[str, Any]

_PIECE = 24
_MAX_IN_A_PIECE = 60


class Ink(Protocol):
    """What a picture is drawn with, measured in inches from the top left corner."""

    def boxes(
        self, x: Sequence[float], y: Sequence[float], width: float, height: float, look: Look
    ) -> None:
        """Draws boxes of one look: x is their left, y their middle."""

    def mono(
        self, x: float, y: float, text: str, colour: str, *, bold: bool = False,
        right: bool = False, plate: bool = False,
    ) -> None:  # fmt: skip
        """Writes characters that are all CHAR wide, from x on or up to x."""

    def words(
        self, x: float, y: float, text: str, colour: str, *, size: float = p.SMALL,
        bold: bool = False, mono: bool = False,
    ) -> None:  # fmt: skip
        """Writes text of any size from x on."""

    def rule(self, x: float, y: float, to_x: float, colour: str, width: float) -> None:
        """Draws a level line."""

    def pointer(self, x: float, y: float, colour: str) -> None:
        """Draws a small triangle that points to the right."""


class OnAxes:
    """Ink on the axes of a matplotlib sheet."""

    def __init__(self, axes: Axes) -> None:
        self.axes = axes

    def boxes(
        self, x: Sequence[float], y: Sequence[float], width: float, height: float, look: Look
    ) -> None:
        """Draws boxes of one look."""
        from matplotlib.collections import PolyCollection

        left, middle = np.asarray(x, float), np.asarray(y, float)
        right, top, bottom = left + width, middle - height / 2, middle + height / 2
        ends = ((left, top), (right, top), (right, bottom), (left, bottom))
        corners = np.stack([np.stack(end, axis=1) for end in ends], axis=1)
        self.axes.add_collection(PolyCollection(list(corners), zorder=3, **look), autolim=False)

    def mono(
        self, x: float, y: float, text: str, colour: str, *, bold: bool = False,
        right: bool = False, plate: bool = False,
    ) -> None:  # fmt: skip
        """Writes in pieces, for over a long row the rounding of widths to pixels adds up."""
        whole = right or plate or len(text) <= _MAX_IN_A_PIECE
        box = {"boxstyle": "square,pad=0.1", "facecolor": p.PAPER, "edgecolor": "none"}
        pieces = [text[k : k + _PIECE] for k in range(0, len(text), _PIECE)]
        if whole:
            pieces = [text.strip()]
            x += 0 if right else CHAR * (len(text) - len(text.lstrip()))
        for k, piece in enumerate(pieces):
            bare = piece.lstrip()
            at = x if right else x + (_PIECE * k + len(piece) - len(bare)) * CHAR
            if bare:
                self.axes.text(
                    at, y, bare.rstrip(), fontsize=p.SMALL, family="monospace", color=colour,
                    fontweight="bold" if bold else "normal", ha="right" if right else "left",
                    va="center_baseline", zorder=6, bbox=box if plate else None,
                )  # fmt: skip

    def words(
        self, x: float, y: float, text: str, colour: str, *, size: float = p.SMALL,
        bold: bool = False, mono: bool = False,
    ) -> None:  # fmt: skip
        """Writes text of any size."""
        self.axes.text(
            x, y, text, fontsize=size, color=colour, va="center_baseline", zorder=6,
            fontweight="bold" if bold else "normal", family="monospace" if mono else "sans-serif",
        )  # fmt: skip

    def rule(self, x: float, y: float, to_x: float, colour: str, width: float) -> None:
        """Draws a level line."""
        self.axes.plot([x, to_x], [y, y], color=colour, lw=width, zorder=4)

    def pointer(self, x: float, y: float, colour: str) -> None:
        """Draws a small triangle."""
        self.axes.plot(x, y, ">", color=colour, ms=5.5, zorder=7)


_DPI = p.CSS_PIXELS_PER_INCH
_PX_PER_PT = _DPI / 72
SVG_SANS = "DejaVu Sans, Verdana, Helvetica, Arial, sans-serif"
SVG_MONO = "DejaVu Sans Mono, Menlo, Consolas, monospace"
_HATCHES = {
    "/": '<pattern id="strokes-{0}" width="6" height="6" patternUnits="userSpaceOnUse">'
    '<path d="M-1,1 l2,-2 M0,6 l6,-6 M5,7 l2,-2" stroke="#{0}" stroke-width="1"/></pattern>',
    ".": '<pattern id="dots-{0}" width="4" height="4" patternUnits="userSpaceOnUse">'
    '<circle cx="1.5" cy="1.5" r="0.7" fill="#{0}"/></pattern>',
}
_HATCH_NAMES = {"/": "strokes", ".": "dots"}


def svg_hatch(hatch: str, colour: str) -> str:
    """Returns the `fill` of a hatch in the colour of its cell's edge, as matplotlib draws it.

    Args:
        hatch: as matplotlib writes it, such as "////".
        colour: of the palette, a # and six digits.

    >>> svg_hatch("////", p.CONFLICT)
    'url(#strokes-d55e00)'
    """
    return f"url(#{_HATCH_NAMES[hatch[0]]}-{colour[1:].lower()})"


def svg_defs(drawn: str) -> str:
    """Returns the definitions of all hatches that are used in what was drawn."""
    used = sorted(set(re.findall(r"url\(#(strokes|dots)-([0-9a-f]{6})\)", drawn)))
    signs = {name: sign for sign, name in _HATCH_NAMES.items()}
    return f"<defs>{''.join(_HATCHES[signs[name]].format(colour) for name, colour in used)}</defs>"


class OnSvg:
    """Ink that writes SVG.

    Args:
        width, height: of the sheet, in inches.
    """

    def __init__(self, width: float, height: float) -> None:
        self.width = width
        self.height = height
        self._parts: list[str] = []

    def boxes(
        self, x: Sequence[float], y: Sequence[float], width: float, height: float, look: Look
    ) -> None:
        """Draws boxes of one look as one path."""
        if not len(x):
            return
        path = "".join(
            f"M{_px(a)},{_px(b - height / 2)}h{_px(width)}v{_px(height)}h-{_px(width)}z"
            for a, b in zip(x, y, strict=True)
        )
        stroke = f'stroke="{look["edgecolor"]}" stroke-width="{look["linewidth"] * _PX_PER_PT:.2f}"'
        dashes = look.get("linestyle")
        if dashes is not None:
            lengths = " ".join(f"{d * look['linewidth'] * _PX_PER_PT:.1f}" for d in dashes[1])
            stroke += f' stroke-dasharray="{lengths}"'
        self._parts.append(f'<path d="{path}" fill="{look["facecolor"]}" {stroke}/>')
        if "hatch" in look:
            fill = svg_hatch(look["hatch"], look["edgecolor"])
            self._parts.append(f'<path d="{path}" fill="{fill}"/>')

    def mono(
        self, x: float, y: float, text: str, colour: str, *, bold: bool = False,
        right: bool = False, plate: bool = False,
    ) -> None:  # fmt: skip
        """Writes text that is stretched to its width whatever font the reader has."""
        bare = text.strip()
        if not bare:
            return
        wide = len(bare) * CHAR
        x = x - wide if right else x + (len(text) - len(text.lstrip())) * CHAR
        if plate:
            box = {"facecolor": p.PAPER, "edgecolor": "none", "linewidth": 0}
            self.boxes([x - 0.02], [y], wide + 0.04, 0.15, box)
        self._text(x, y, bare, colour, p.SMALL, bold, SVG_MONO, f' textLength="{_px(wide)}"')

    def words(
        self, x: float, y: float, text: str, colour: str, *, size: float = p.SMALL,
        bold: bool = False, mono: bool = False,
    ) -> None:  # fmt: skip
        """Writes text of any size."""
        self._text(x, y, text, colour, size, bold, SVG_MONO if mono else SVG_SANS)

    def _text(
        self, x: float, y: float, text: str, colour: str, size: float, bold: bool, family: str,
        more: str = "",
    ) -> None:  # fmt: skip
        # A baseline 0.36 of the size below the middle centres capitals and digits.
        baseline = y + 0.36 * size / 72
        weight = ' font-weight="bold"' if bold else ""
        self._parts.append(
            f'<text x="{_px(x)}" y="{_px(baseline)}" fill="{colour}" font-family="{family}"'
            f' font-size="{size * _PX_PER_PT:.1f}"{weight}{more} xml:space="preserve">'
            f"{html.escape(text)}</text>"
        )

    def rule(self, x: float, y: float, to_x: float, colour: str, width: float) -> None:
        """Draws a level line."""
        self._parts.append(
            f'<path d="M{_px(x)},{_px(y)}H{_px(to_x)}" stroke="{colour}"'
            f' stroke-width="{width * _PX_PER_PT:.2f}"/>'
        )

    def pointer(self, x: float, y: float, colour: str) -> None:
        """Draws a small triangle."""
        self._parts.append(
            f'<path d="M{_px(x - 0.04)},{_px(y - 0.045)}l8,4.3l-8,4.3z" fill="{colour}"/>'
        )

    def text(self) -> str:
        """Returns the SVG."""
        wide, tall, drawn = _px(self.width), _px(self.height), "".join(self._parts)
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{wide}" height="{tall}"'
            f' viewBox="0 0 {wide} {tall}">{svg_defs(drawn)}'
            f'<rect width="{wide}" height="{tall}" fill="{p.PAPER}"/>{drawn}</svg>'
        )


def _px(inches: float) -> str:
    return f"{inches * _DPI:.1f}".removesuffix(".0")


def svg_html(svg: str, alt: str, width: float) -> str:
    """Returns `<img>` with an SVG inline and its alt text.

    Args:
        svg: the text of the picture.
        alt: what it says to someone who can't see it.
        width: in inches.
    """
    data = base64.b64encode(svg.encode()).decode("ascii")
    return (
        f'<img alt="{html.escape(alt, quote=True)}"'
        f' style="width:{round(width * _DPI)}px;max-width:100%;height:auto;background:#fff;'
        f'border-radius:6px" src="data:image/svg+xml;base64,{data}">'
    )
