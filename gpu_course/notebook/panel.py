"""A piece of HTML in a widget, laid out as HTML is elsewhere in a notebook."""

from __future__ import annotations

import ipywidgets


def html_panel(value: str = "") -> ipywidgets.HTML:
    """Returns a widget that shows HTML as wide as its place, and no wider.

    By itself the widget is a flexible box: as wide as the longest word in it, and what goes beyond
    the cell is cut. In half of a half window that cut every verdict.
    """
    return ipywidgets.HTML(value, layout=ipywidgets.Layout(display="block", width="auto"))
