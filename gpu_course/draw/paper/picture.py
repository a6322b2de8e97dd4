"""A finished figure as a notebook shows it: an inline PNG that carries its alt text."""

from __future__ import annotations

import base64
import html
import io
from typing import TYPE_CHECKING

import numpy as np
from PIL import Image

from gpu_course.draw.paper.ink import svg_html
from gpu_course.draw.paper.palette import CSS_PIXELS_PER_INCH, style

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SHARP = 2.0
"""Image pixels per CSS pixel, for screens with small pixels."""
QUICK = 1.5
"""The same for a picture that is waited for: fine enough to read."""
COLOURS = 128
"""Of a picture to be kept: its flat colours, and the shades that soften the edges of text."""
_QUICK_COMPRESSION = 1
"""zlib's level for a picture that is waited for: above it a tenth of the size takes its time."""


def with_alt(figure: Figure, text: str) -> Figure:
    """Returns `figure`, now carrying `text` as what it says to someone who can't see it."""
    figure.alt_text = text  # type: ignore[attr-defined]
    return figure


def heard(words: str) -> str:
    """Returns a line of a picture as a sentence has it: what parts its facts is no sign then.

    >>> heard("2 ranks each  ·  links: 8 in a node")
    '2 ranks each; links: 8 in a node'
    """
    return words.replace("  ·  ", "; ")


def alt_text(figure: Figure) -> str:
    """Returns the alt text a figure carries, "" for a figure that is none of ours."""
    return str(getattr(figure, "alt_text", ""))


def figure_png(figure: Figure, sharpness: float = SHARP) -> bytes:
    """Returns the figure as PNG bytes, the same bytes for the same data every time.

    A picture sharper than QUICK is one to be kept: it gets a palette, which takes a third of the
    bytes and a little longer.

    Args:
        sharpness: image pixels per CSS pixel; 1 is enough for a picture that is redrawn often.
    """
    buffer = io.BytesIO()
    dpi = CSS_PIXELS_PER_INCH * sharpness
    with style():
        figure.savefig(buffer, format="rgba", dpi=dpi)
    data, across = buffer.getvalue(), float(figure.get_figwidth() * dpi)
    # Where a product is a hair from a whole number, the canvas may have rounded it the other way.
    width = next(each for each in (int(across + 1e-6), int(across)) if len(data) % (4 * each) == 0)
    pixels = np.frombuffer(data, np.uint8).reshape(-1, width, 4)
    image, packed = Image.fromarray(np.ascontiguousarray(pixels[..., :3])), io.BytesIO()
    if sharpness > QUICK:
        median = image.quantize(COLOURS, Image.Quantize.MEDIANCUT, dither=Image.Dither.NONE)
        median.save(packed, "png", optimize=True)
    else:
        image.save(packed, "png", compress_level=_QUICK_COMPRESSION)
    return packed.getvalue()


def quick_html(figure: Figure) -> str:
    """Returns `<img>` of a picture that is waited for: as SVG where it is a sheet, else as PNG."""
    from gpu_course.draw.paper.svg import Undrawable, figure_svg

    try:
        svg = figure_svg(figure)
    except Undrawable:
        return figure_html(figure, QUICK)
    return svg_html(svg, alt_text(figure), float(figure.get_figwidth()))


def figure_html(figure: Figure, sharpness: float = SHARP) -> str:
    """Returns `<img>` with the picture inline, its alt text, and its width in CSS pixels.

    Args:
        sharpness: image pixels per CSS pixel.
    """
    data = base64.b64encode(figure_png(figure, sharpness)).decode("ascii")
    width = round(figure.get_size_inches()[0] * CSS_PIXELS_PER_INCH)
    return (
        f'<img alt="{html.escape(alt_text(figure), quote=True)}"'
        f' style="width:{width}px;max-width:100%;height:auto;background:#fff;border-radius:6px"'
        f' src="data:image/png;base64,{data}">'
    )
