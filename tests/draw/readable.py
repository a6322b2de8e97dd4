"""What holds for the words of every picture: nine points or more, and none past the edge."""

from __future__ import annotations

import matplotlib.text
from matplotlib.figure import Figure

SMALLEST_POINTS = 9


def texts(figure: Figure) -> list[matplotlib.text.Text]:
    """Returns every text of a figure that is not blank."""
    return [t for t in figure.findobj(matplotlib.text.Text) if t.get_text().strip()]


def assert_readable(figure: Figure) -> None:
    """Fails where a figure has no text, or one that is too small or reaches past the edge."""
    found = texts(figure)
    assert found
    assert min(text.get_fontsize() for text in found) >= SMALLEST_POINTS
    figure.canvas.draw()
    width, height = figure.canvas.get_width_height()
    for text in found:
        box = text.get_window_extent()
        assert box.x0 >= 0 and box.x1 <= width and box.y0 >= 0 and box.y1 <= height, text
