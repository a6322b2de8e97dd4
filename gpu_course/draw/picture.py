"""A finished figure as a notebook shows it: an inline PNG that carries its alt text."""

from __future__ import annotations

import base64
import html
import io
import struct
import zlib
from typing import TYPE_CHECKING

import numpy as np

from gpu_course.draw.palette import CSS_PIXELS_PER_INCH, style

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SHARP = 2.0
"""Image pixels per CSS pixel, for screens with small pixels."""
QUICK = 1.5
"""The same for a picture that is waited for: fine enough to read."""
_COMPRESSION = 3
"""zlib's level: above it each tenth of the size takes half as long again."""


def with_alt(figure: Figure, text: str) -> Figure:
    """Returns `figure`, now carrying `text` as what it says to someone who can't see it."""
    figure.alt_text = text  # type: ignore[attr-defined]
    return figure


def alt_text(figure: Figure) -> str:
    """Returns the alt text a figure carries, "" for a figure that is none of ours."""
    return str(getattr(figure, "alt_text", ""))


def figure_png(figure: Figure, sharpness: float = SHARP) -> bytes:
    """Returns the figure as PNG bytes, the same bytes for the same data every time.

    Args:
        sharpness: image pixels per CSS pixel; 1 is enough for a picture that is redrawn often.
    """
    buffer = io.BytesIO()
    dpi = CSS_PIXELS_PER_INCH * sharpness
    with style():
        figure.savefig(buffer, format="rgba", dpi=dpi)
    width, height = (int(inches * dpi) for inches in figure.get_size_inches())
    return _png(np.frombuffer(buffer.getvalue(), np.uint8).reshape(height, width, 4))


def _png(pixels: np.ndarray) -> bytes:
    """Returns opaque pixels, uint8 (height, width, 4), as PNG bytes.

    Drawings are flat areas, which gain little from PNG's row filters: without them the file is
    about as small, and done in half the time of a general encoder.

    Source: W3C, PNG Specification (Third Edition), sections 5 and 9, https://www.w3.org/TR/png-3/
    """
    height, width = pixels.shape[:2]
    rows = np.zeros((height, 1 + 3 * width), np.uint8)  # each row begins with its filter: 0, none
    rows[:, 1:] = pixels[..., :3].reshape(height, 3 * width)
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)  # 8 bits of red, green, blue
    data = zlib.compress(rows.tobytes(), _COMPRESSION)
    chunks = (_chunk(b"IHDR", header), _chunk(b"IDAT", data), _chunk(b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(chunks)


def _chunk(kind: bytes, data: bytes) -> bytes:
    check = zlib.crc32(kind + data)
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", check)


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
