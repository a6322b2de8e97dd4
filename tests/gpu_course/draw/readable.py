"""What holds for the words of every picture in a panel of 700 pixels.

No text under nine pixels, none past the edge, none over another, and none over the edge of the cell
it stands in.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

import matplotlib.text
import numpy as np
from matplotlib.collections import PolyCollection
from matplotlib.figure import Figure
from matplotlib.patches import Circle, FancyBboxPatch, Rectangle
from matplotlib.transforms import Bbox

from gpu_course.draw.paper.picture import figure_png

SMALLEST_POINTS = 9
SMALLEST_PIXELS = 9
PANEL_PIXELS = 700
_CELL_PIXELS = 48
"""What is taller or wider than this is no cell, but a panel on which several texts may stand."""
_SLACK = 0.75
"""Pixels that a glyph's soft edge may reach."""
_EDGE = 0.0
"""The same for white behind a text: at the edge of a cell it would hide the line."""


def texts(figure: Figure) -> list[matplotlib.text.Text]:
    """Returns every text of a figure that is seen."""
    hidden = _hidden_labels(figure)
    found = figure.findobj(matplotlib.text.Text)
    return [t for t in found if t.get_text().strip() and t.get_visible() and id(t) not in hidden]


def _hidden_labels(figure: Figure) -> set[int]:
    """Tick labels beyond the limits of their axis, which matplotlib keeps and does not draw."""
    hidden = set()
    for axes in figure.axes:
        for axis, limits in ((axes.xaxis, axes.get_xlim()), (axes.yaxis, axes.get_ylim())):
            if axes.axison:
                for tick in axis.get_major_ticks():
                    if not min(limits) <= tick.get_loc() <= max(limits):
                        hidden |= {id(tick.label1), id(tick.label2)}
            else:
                hidden |= {id(text) for text in axis.findobj(matplotlib.text.Text)}
    return hidden


def assert_drawn_alike(draw: Callable[[], Figure]) -> None:
    """Fails where a picture drawn twice has other bytes, or a text of its axes is small."""
    first, second = draw(), draw()
    assert figure_png(first, 1) == figure_png(second, 1)
    for axes in first.axes:
        for text in (*axes.texts, *axes.get_xticklabels(), *axes.get_yticklabels()):
            assert text.get_fontsize() >= SMALLEST_POINTS, text


def assert_readable(figure: Figure) -> None:
    """Fails where a figure has no text, or one that cannot be read in a panel of 700 pixels."""
    figure.canvas.draw()
    found = texts(figure)
    assert found
    width, height = figure.canvas.get_width_height()
    shrunk = min(1.0, PANEL_PIXELS / width)
    for text in found:
        pixels = text.get_fontsize() * figure.dpi / 72 * shrunk
        assert text.get_fontsize() >= SMALLEST_POINTS and pixels >= SMALLEST_PIXELS, text
        box = text.get_window_extent()
        inside = box.x0 >= -_SLACK and box.x1 <= width + _SLACK
        inside = inside and box.y0 >= -_SLACK and box.y1 <= height + _SLACK
        assert inside, f"cut by the edge of the picture: {text.get_text()!r}"
    for legend in [*figure.legends, *(axes.get_legend() for axes in figure.axes)]:
        if legend is not None:
            box = legend.get_window_extent()
            assert box.x0 >= 0 and box.x1 <= width and box.y0 >= 0 and box.y1 <= height, "legend"
    words = [(word, box) for text in found for word, box in _words(text)]
    plates = list(_plates(figure, found))
    _assert_in_their_cells(figure, words, _SLACK)
    _assert_in_their_cells(figure, plates, _EDGE)
    _assert_apart(words)


def _plates(figure: Figure, found: list[matplotlib.text.Text]) -> Iterator[tuple[str, Bbox]]:
    """The white behind texts that a hatch would cross."""
    for text in found:
        plate = text.get_bbox_patch()
        if plate is not None and text.get_rotation() == 0:
            yield f"the white behind {text.get_text()!r}", plate.get_window_extent()
    for patch in figure.findobj(lambda artist: artist.get_gid() == "plate"):
        yield "the white behind a text", patch.get_window_extent()


def _words(text: matplotlib.text.Text) -> Iterator[tuple[str, Bbox]]:
    """The words of a text that is a row of columns, each with its own box; else the text."""
    box, said = text.get_window_extent(), text.get_text()
    if "mono" not in text.get_fontfamily()[0] or not re.search(r"\S  +\S", said):
        yield said, box
        return
    advance = box.width / len(said)
    for word in re.finditer(r"\S+(?: \S+)*", said):
        start, end = (box.x0 + advance * place for place in word.span())
        yield word.group(), Bbox([[start, box.y0], [end, box.y1]])


def _cells(figure: Figure) -> Iterator[Bbox]:
    """The boxes of everything that looks like a cell."""
    for patch in figure.findobj(lambda a: isinstance(a, Rectangle | FancyBboxPatch | Circle)):
        if patch.get_visible() and patch.axes is not None and patch.get_gid() != "plate":
            yield patch.get_window_extent()
    for boxes in figure.findobj(PolyCollection):
        to_pixels = boxes.get_transform()
        for path in boxes.get_paths():
            if len(path.vertices) <= 5:
                corners = to_pixels.transform(path.vertices)
                yield Bbox([corners.min(axis=0), corners.max(axis=0)])


def _assert_in_their_cells(figure: Figure, words: list[tuple[str, Bbox]], slack: float) -> None:
    cells = [
        cell
        for cell in _cells(figure)
        if 6 < cell.width <= 2 * _CELL_PIXELS and 6 < cell.height <= _CELL_PIXELS
    ]
    if not cells:
        return
    corners = np.array([[c.x0, c.x1, c.y0, c.y1] for c in cells])
    for word, box in words:
        x, y = (box.x0 + box.x1) / 2, (box.y0 + box.y1) / 2
        around = corners[
            (corners[:, 0] < x) & (x < corners[:, 1]) & (corners[:, 2] < y) & (y < corners[:, 3])
        ]
        if len(around):
            left, right = around[:, 0].max(), around[:, 1].min()
            fits = left - slack <= box.x0 and box.x1 <= right + slack
            assert fits, f"{word!r} crosses the edge of its cell"


def _assert_apart(words: list[tuple[str, Bbox]]) -> None:
    x0, x1, y0, y1 = np.array([[b.x0, b.x1, b.y0, b.y1] for _, b in words]).T
    across = np.minimum.outer(x1, x1) - np.maximum.outer(x0, x0)
    down = np.minimum.outer(y1, y1) - np.maximum.outer(y0, y0)
    # Boxes of text have some air above and below the letters.
    over = np.triu((across > 1.5) & (down > 4), 1)
    for one, other in zip(*np.nonzero(over), strict=True):
        raise AssertionError(f"{words[one][0]!r} stands over {words[other][0]!r}")
