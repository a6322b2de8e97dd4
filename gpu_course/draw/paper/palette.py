"""The course's pictures in one hand: colours by meaning, line styles, sizes, and a blank sheet.

The colours are Okabe and Ito's, which people with the common colour-vision deficiencies can tell
apart. Each has one meaning in the whole course, and never carries it alone: a line also differs by
its dashes, a cell also by its hatch.

Source: Okabe and Ito, "Color Universal Design" (2008), https://jfly.uni-koeln.de/color/
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

ACTIVE = "#0072B2"
IDLE = "#D9D9D9"
READ = "#56B4E9"
WRITE = "#E69F00"
CONFLICT = "#D55E00"
FINE = "#009E73"

INK = "#222222"
"""Text that matters."""
QUIET = "#5F6368"
"""Text that only helps; 6:1 against white."""
CONTRAST = "#CC79A7"
"""Okabe and Ito's reddish purple: the second of two things that are followed."""
RULE = "#9AA0A6"
"""Outlines of cells and boxes."""
PAPER = "#FFFFFF"
LATER_ACTIVE = "#B3D1E6"
"""What will be active, and is not yet."""
FINE_FACE = "#D6EFE6"
"""The face of a cell that is complete, within an edge of FINE."""
STATES = "#8FA3B0"
"""Optimizer states in a ledger of memory."""
WRITE_EDGE = "#8A5F00"
"""Outlines of what is filled with the colour of a write."""
SHADE = "#F1F4F8"
"""The ground on which the threads of one block stand."""
READ_TINT = "#E3F2FC"
WRITE_TINT = "#FDF0D2"
CONFLICT_TINT = "#FBE3D6"

CONFLICT_HATCH = "////"
UNWRITTEN_HATCH = "...."

READ_DASHES = (0, (4, 2))
ATOMIC_DASHES = (0, (6, 2, 1, 2))
OUTSIDE_DASHES = (0, (1, 1.5))

UNTOUCHED_CELL: dict[str, Any] = {"facecolor": PAPER, "edgecolor": RULE, "linewidth": 1.0}
READ_CELL: dict[str, Any] = {"facecolor": READ_TINT, "edgecolor": READ, "linewidth": 1.2}
WRITTEN_CELL: dict[str, Any] = {"facecolor": WRITE_TINT, "edgecolor": WRITE, "linewidth": 1.4}
LOADED_CELL: dict[str, Any] = {"facecolor": READ, "edgecolor": INK, "linewidth": 0.5}
STORED_CELL: dict[str, Any] = {"facecolor": WRITE, "edgecolor": INK, "linewidth": 0.5}
"""The same two for cells that are too small for a tint."""
CONTESTED_CELL: dict[str, Any] = {
    "facecolor": CONFLICT_TINT,
    "edgecolor": CONFLICT,
    "linewidth": 1.4,
    "hatch": CONFLICT_HATCH,
}
UNWRITTEN_CELL: dict[str, Any] = {
    "facecolor": PAPER,
    "edgecolor": RULE,
    "linewidth": 1.0,
    "hatch": UNWRITTEN_HATCH,
}
WASTED_CELL: dict[str, Any] = {
    "facecolor": "#EDEDED",
    "edgecolor": RULE,
    "linewidth": 1.0,
    "hatch": CONFLICT_HATCH,
}
OUTSIDE: dict[str, Any] = {
    "facecolor": PAPER,
    "edgecolor": CONFLICT,
    "linewidth": 1.2,
    "linestyle": OUTSIDE_DASHES,
    "hatch": CONFLICT_HATCH,
}

RINGS: tuple[dict[str, Any], ...] = (
    {"facecolor": "none", "edgecolor": INK, "linewidth": 2.2},
    {"facecolor": "none", "edgecolor": CONTRAST, "linewidth": 2.4, "linestyle": (0, (2, 1))},
)
"""Around the one or two things a picture follows."""

MAGNITUDE = "cividis"
"""The colour map of anything that is a number."""

BLOCK_COLOURS = (
    "#0072B2",
    "#E69F00",
    "#009E73",
    "#CC79A7",
    "#56B4E9",
    "#B8860B",
    "#6F6F9E",
    "#8C564B",
)
"""Told apart by the block number printed beside them; reused from the first after the last."""

SMALL = 9.0
"""The smallest text of any picture, in points at its final size."""
NORMAL = 10.0
LARGE = 12.5

CSS_PIXELS_PER_INCH = 96
WIDEST = 7.25
"""Inches: 696 pixels, what half a window of JupyterLab shows without making it smaller."""

_SETTINGS: Any = {
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans"],
    "font.monospace": ["DejaVu Sans Mono"],
    "font.size": NORMAL,
    "hatch.linewidth": 0.7,
    "svg.hashsalt": "gpu_course",
    "svg.fonttype": "path",
    "text.usetex": False,
    "axes.spines.top": False,
    "axes.spines.right": False,
}


@contextmanager
def style() -> Iterator[None]:
    """Returns a context in which matplotlib draws the course's way.

    matplotlib's own settings are untouched outside it, and whatever a reader has set there has no
    influence inside.
    """
    import matplotlib

    with matplotlib.rc_context():
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(_SETTINGS)
        yield


def sheet(width: float, height: float, ax: Axes | None = None) -> tuple[Figure, Axes]:
    """Returns (figure, axes) of an empty sheet measured in inches, y growing downwards.

    Shapes are put on it by `add_artist`: its limits are fixed, and `add_patch` would work them out
    anew for each shape, which takes half the time of a picture.

    Args:
        width, height: in inches.
        ax: axes to use instead of a figure of one's own.
    """
    figure, axes = blank_figure(width, height) if ax is None else (_figure_of(ax), ax)
    axes.set_xlim(0, width)
    axes.set_ylim(height, 0)
    axes.set_aspect("equal")
    axes.set_axis_off()
    return figure, axes


def grow(axes: Axes, more: float) -> None:
    """Makes a sheet taller, by inches at its foot."""
    height, top = axes.get_ylim()
    axes.set_ylim(height + more, top)
    figure = _figure_of(axes)
    # Not the place it has while its aspect is kept, which a text that is measured brings about.
    if axes.get_position(original=True).bounds == (0, 0, 1, 1):
        width, tall = figure.get_size_inches()
        figure.set_size_inches(width, tall + more)


def blank_figure(
    width: float, height: float, margins: tuple[float, float, float, float] = (0, 0, 0, 0)
) -> tuple[Figure, Axes]:
    """Returns (figure, axes) that pyplot knows nothing of.

    Args:
        width, height: in inches.
        margins: left, bottom, right and top of the axes, in inches.
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    left, bottom, right, top = margins
    figure = Figure(figsize=(width, height), dpi=CSS_PIXELS_PER_INCH, facecolor=PAPER)
    FigureCanvasAgg(figure)
    axes = figure.add_axes(
        (left / width, bottom / height, 1 - (left + right) / width, 1 - (bottom + top) / height)
    )
    return figure, axes


def axes_or_blank(
    ax: Axes | None, width: float, height: float, margins: tuple[float, float, float, float]
) -> tuple[Figure, Axes]:
    """Returns (figure, axes): those that were given, or blank ones; see `blank_figure`."""
    return blank_figure(width, height, margins) if ax is None else (_figure_of(ax), ax)


def headline(axes: Axes, words: str) -> None:
    """Writes over a picture what there is to see."""
    axes.set_title(words, loc="left", fontsize=NORMAL, fontweight="bold", color=INK)


def _figure_of(ax: Axes) -> Figure:
    from matplotlib.figure import Figure

    figure = ax.get_figure(root=True)
    assert isinstance(figure, Figure)
    return figure


def ink_on(colour: Any) -> str:
    """Returns the text colour, dark or white, that reads best on a ground of `colour`.

    Source: relative luminance as in WCAG 2.2, https://www.w3.org/TR/WCAG22/#dfn-relative-luminance

    >>> ink_on(ACTIVE), ink_on(READ_TINT)
    ('#FFFFFF', '#222222')
    """
    from matplotlib.colors import to_rgb

    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in to_rgb(colour)]
    luminance = 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
    return PAPER if luminance < 0.26 else INK
