"""A finished sheet as SVG: what matplotlib was told to draw, written down without drawing it.

A picture below a verdict is waited for. matplotlib takes up to a second to turn it into pixels,
most of it for small text and hatches; its own SVG repeats each hatch. What a sheet holds, texts
and filled shapes in inches, is written here in a few milliseconds.
"""

from __future__ import annotations

import base64
import html
import io
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from gpu_course.draw.paper import palette as p
from gpu_course.draw.paper.ink import SVG_MONO, SVG_SANS, svg_defs, svg_hatch

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_PX_PER_PT = p.CSS_PIXELS_PER_INCH / 72
_CODES = {1: "M", 2: "L", 3: "Q", 4: "C", 79: "Z"}
"""matplotlib's codes of a path, and the letters that SVG has for them."""
_POINTS = {1: 1, 2: 1, 3: 2, 4: 3, 79: 1}
_ANCHORS = {"left": "start", "center": "middle", "right": "end"}
_BASELINES = {"center": 0.36, "center_baseline": 0.36, "bottom": -0.24, "baseline": 0, "top": 0.93}
"""How far below a text's place its baseline lies, as a part of its size."""


class Undrawable(Exception):
    """A figure holds what is no part of a sheet, such as axes with ticks."""


def figure_svg(figure: Figure) -> str:
    """Returns a figure of one sheet as SVG, the same text for the same data every time.

    Args:
        figure: made by `palette.sheet`: axes without ticks that fill it, measured in inches.

    Raises:
        Undrawable: it holds something else.
    """
    if len(figure.axes) != 1 or figure.axes[0].axison or figure.texts or figure.legends:
        raise Undrawable
    (axes,) = figure.axes
    wide, tall = (_number(side * p.CSS_PIXELS_PER_INCH) for side in figure.get_size_inches())
    artists = sorted(_artists(axes), key=lambda artist: artist.get_zorder())
    drawn = "".join(part for artist in artists for part in _parts(axes, artist))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{wide}" height="{tall}"'
        f' viewBox="0 0 {wide} {tall}">{svg_defs(drawn)}'
        f'<rect width="{wide}" height="{tall}" fill="{p.PAPER}"/>{drawn}</svg>'
    )


def _artists(axes: Axes) -> Iterator[Artist]:
    frame = {axes.patch, *axes.spines.values(), axes.xaxis, axes.yaxis}
    frame |= {axes.title, axes._left_title, axes._right_title}  # type: ignore[attr-defined]
    for artist in axes.get_children():
        if artist not in frame and artist.get_visible():
            yield artist


def _parts(axes: Axes, artist: Artist) -> Iterator[str]:
    from matplotlib.collections import PathCollection, PolyCollection
    from matplotlib.image import AxesImage
    from matplotlib.lines import Line2D
    from matplotlib.patches import FancyArrowPatch, Patch
    from matplotlib.text import Annotation, Text

    if isinstance(artist, Text):
        if isinstance(artist, Annotation) and artist.arrow_patch is not None:
            artist.update_positions(_renderer(axes))  # type: ignore[no-untyped-call]
            yield _arrow(axes, artist.arrow_patch)
        yield from _text(axes, artist)
    elif isinstance(artist, FancyArrowPatch):
        yield _arrow(axes, artist)
    elif isinstance(artist, Patch):
        path = artist.get_patch_transform().transform_path(artist.get_path())
        yield _shape(_path(path), artist)
    elif isinstance(artist, Line2D):
        if artist.get_marker() not in ("None", None, ""):
            raise Undrawable
        points = np.asarray(artist.get_xydata(), float)
        data = "".join(
            f"{'L' if k else 'M'}{_number(_px(x))},{_number(_px(y))}"
            for k, (x, y) in enumerate(_in_steps(points, str(artist.get_drawstyle())))
        )
        colour, width = _colour(artist.get_color()), artist.get_linewidth()
        dashes = artist._dash_pattern[1]  # type: ignore[attr-defined]
        yield f'<path d="{data}" fill="none"{_stroke(colour, width, dashes)}/>'
    elif isinstance(artist, PathCollection):
        yield from _markers(artist)
    elif isinstance(artist, PolyCollection):
        for path in artist.get_paths():
            fill, edge = _first(artist.get_facecolor()), _first(artist.get_edgecolor())
            width, data = float(np.ravel(artist.get_linewidth())[0]), _path(path)
            yield f'<path d="{data}" fill="{fill}"{_stroke(edge, width, None)}/>'
            yield _hatched(data, artist, edge)
    elif isinstance(artist, AxesImage):
        yield _image(artist)
    else:
        raise Undrawable


def _in_steps(points: Any, drawstyle: str) -> Any:
    """Returns the corners of a line that may go from point to point in steps."""
    from matplotlib.cbook import STEP_LOOKUP_MAP

    return points if drawstyle == "default" else np.stack(STEP_LOOKUP_MAP[drawstyle](*points.T), 1)


def _arrow(axes: Axes, arrow: Any) -> str:
    """Returns the shaft of an arrow, which is a line and holds no colour, and its filled head."""
    # What is made in display coordinates asks how many of them a point is; drawing would tell it.
    arrow._dpi_cor = _renderer(axes).points_to_pixels(1.0)
    paths, filled = arrow._get_path_in_displaycoord()
    many = isinstance(paths, list | tuple)
    to_inches = axes.transData.inverted()
    return "".join(
        _shape(_path(to_inches.transform_path(path)), arrow, fills=bool(fills))
        for path, fills in (zip(paths, filled, strict=True) if many else [(paths, filled)])
    )


def _renderer(axes: Axes) -> Any:
    figure: Any = axes.get_figure(root=True)
    return figure._get_renderer()


def _px(inches: float) -> float:
    return float(inches) * p.CSS_PIXELS_PER_INCH


def _number(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")


def _path(path: Any, scale: float = p.CSS_PIXELS_PER_INCH, at: tuple[float, float] = (0, 0)) -> str:
    """Returns the `d` of a path whose vertices are in inches, or in pixels where `scale` says."""
    vertices = path.vertices * scale + np.asarray(at)
    codes = path.codes if path.codes is not None else [1] + [2] * (len(vertices) - 1)
    data, place = [], 0
    while place < len(vertices):
        code = int(codes[place])
        if code == 0:
            break
        size = _POINTS[code]
        points = "" if code == 79 else " ".join(
            f"{_number(x)},{_number(y)}" for x, y in vertices[place : place + size]
        )  # fmt: skip
        data.append(_CODES[code] + points)
        place += size
    return "".join(data)


def _shape(data: str, patch: Any, *, fills: bool = True) -> str:
    """Returns a path with its edge, filled where the patch is, and its hatch over both."""
    fill = _colour(patch.get_facecolor()) if fills and patch.get_fill() else "none"
    width = patch.get_linewidth()
    dashes = patch._dash_pattern[1]
    alpha = f' opacity="{patch.get_alpha()}"' if patch.get_alpha() is not None else ""
    stroke = _stroke(_colour(patch.get_edgecolor()), width, dashes)
    drawn = f'<path d="{data}" fill="{fill}"{stroke}{alpha}/>'
    return drawn + _hatched(data, patch, patch.get_edgecolor())


def _hatched(data: str, artist: Any, edge: Any) -> str:
    """Returns the hatch of a path, in the colour of its edge; nothing where it has none."""
    hatch = artist.get_hatch()
    return f'<path d="{data}" fill="{svg_hatch(hatch, _colour(edge))}"/>' if hatch else ""


def _stroke(colour: str, width: float, dashes: Any) -> str:
    if not width or colour == "none":
        return ""
    look = f' stroke="{colour}" stroke-width="{width * _PX_PER_PT:.2f}" stroke-linejoin="round"'
    if dashes:
        look += f' stroke-dasharray="{" ".join(f"{d * _PX_PER_PT:.1f}" for d in dashes)}"'
    return look


def _markers(points: Any) -> Iterator[str]:
    fill = _first(points.get_facecolor())
    (shape, *_) = points.get_paths()
    scale = float(np.sqrt(points.get_sizes()[0])) * _PX_PER_PT
    for x, y in points.get_offsets():
        # A marker's y grows upwards, that of a sheet downwards.
        turned = shape.transformed(_flip())
        yield f'<path d="{_path(turned, scale, (_px(x), _px(y)))}" fill="{fill}"/>'


def _flip() -> Any:
    from matplotlib.transforms import Affine2D

    return Affine2D().scale(1, -1)


def _image(image: Any) -> str:
    """Returns the cells of a colour map, a pixel each, which the reader's browser enlarges."""
    from PIL import Image

    left, right, bottom, top = image.get_extent()
    pixels = image.to_rgba(image.get_array(), bytes=True)
    packed = io.BytesIO()
    Image.fromarray(np.ascontiguousarray(pixels)).save(packed, "png")
    data = base64.b64encode(packed.getvalue()).decode("ascii")
    x, y, wide, tall = (_number(_px(v)) for v in (left, top, right - left, bottom - top))
    return (
        f'<image x="{x}" y="{y}" width="{wide}" height="{tall}" preserveAspectRatio="none"'
        f' style="image-rendering:pixelated" href="data:image/png;base64,{data}"/>'
    )


def _text(axes: Axes, text: Any) -> Iterator[str]:
    said = text.get_text()
    if not said.strip():
        return
    if "\n" in said or text.get_transform() != axes.transData:
        raise Undrawable
    x, y = text.get_position()
    size = float(text.get_fontsize())
    mono = "mono" in text.get_fontfamily()[0]
    turned = text.get_rotation()
    box = text.get_bbox_patch()
    if box is not None:
        # The course's fonts: a character of the mono face is 0.602 of its size wide, a digit of
        # the other 0.636.
        bold = text.get_fontweight() == "bold" and not mono
        ems = sum(map(_bold_ems, said)) if bold else 0.62 * len(said)
        wide, tall = ems * size / 72 + 0.04, size * 1.15 / 72
        # As much room at the one side as at the other.
        inner = {"left": 0.02, "center": wide / 2, "right": wide - 0.02}
        left = x - inner[text.get_horizontalalignment()]
        place = " ".join(
            f'{name}="{_number(_px(value))}"'
            for name, value in zip(
                ("x", "y", "width", "height"), (left, y - tall / 2, wide, tall), strict=True
            )
        )
        yield f'<rect {place} rx="2" fill="{_colour(box.get_facecolor())}"/>'
    baseline = _px(y + _BASELINES[text.get_verticalalignment()] * size / 72)
    place = f'x="{_number(_px(x))}" y="{_number(baseline)}"'
    if turned:
        down = _BASELINES[text.get_verticalalignment()] * size * _PX_PER_PT
        place = (
            f'transform="translate({_number(_px(x))},{_number(_px(y))}) rotate({-turned:g})"'
            f' y="{_number(down)}"'
        )
    weight = ' font-weight="bold"' if text.get_fontweight() == "bold" else ""
    anchor = _ANCHORS[text.get_horizontalalignment()]
    yield (
        f'<text {place} text-anchor="{anchor}" fill="{_colour(text.get_color())}"'
        f' font-family="{SVG_MONO if mono else SVG_SANS}"'
        f' font-size="{size * _PX_PER_PT:.1f}"{weight} xml:space="preserve">'
        f"{html.escape(said)}</text>"
    )


def _bold_ems(letter: str) -> float:
    """How wide a letter of the bold face is at most, in its size."""
    widths = {"ijl,.:; ": 0.4, "frt": 0.5, "mw": 1.1}
    return next((ems for letters, ems in widths.items() if letter in letters), 0.74)


def _first(colours: Any) -> str:
    return _colour(colours[0]) if len(colours) else "none"


def _colour(colour: Any) -> str:
    from matplotlib.colors import to_hex, to_rgba

    return "none" if to_rgba(colour)[3] == 0 else to_hex(colour)
