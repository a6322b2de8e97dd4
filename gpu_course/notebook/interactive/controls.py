"""Sliders, menus and boxes to tick, as a lesson describes them."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from typing import Any

import ipywidgets

from gpu_course.errors import CourseError

LONGEST_PLAIN = 999
"""The largest number that is read easily without separators between its thousands."""
ROOMY = 15
"""So many letters of a label have room in eight widths of a letter."""


_WRITTEN = {
    "gb": "GB", "gbit": "Gbit", "gpu": "GPU", "gpus": "GPUs", "kib": "KiB", "mib": "MiB",
    "us": "µs",
}  # fmt: skip


def label(name: str) -> str:
    """Returns the name of a parameter as people write it, units too.

    >>> label("gb_per_s_inside"), label("gbit_per_s"), label("kv_heads")
    ('GB/s inside', 'Gbit/s', 'kv heads')
    """
    words = " ".join(_WRITTEN.get(word, word) for word in name.split("_"))
    return re.sub(r" per s\b", "/s", words)


LABEL_EM = 8.0
"""How wide the labels of controls are at least, so that controls of most lessons stand alike."""
LETTER_EM = 0.58
"""How wide a letter of a label is, with a little to spare."""


def label_em(names: Iterable[str]) -> float:
    """Returns how wide the longest label of some controls is, in em.

    >>> label_em(["tp"]), label_em(["tp", "percent_of_time_training"])
    (8.0, 13.9)
    """
    return max([LABEL_EM, *(round(LETTER_EM * len(label(name)), 1) for name in names)])


def make_control(
    name: str, how: Any, default: Any, wide_em: float = LABEL_EM
) -> tuple[ipywidgets.ValueWidget, ipywidgets.DOMWidget]:
    """Returns (the widget that holds the value, the row that shows it); often they are one.

    Args:
        name: what it is for; also its label.
        how: `(lowest, highest)`, `(lowest, highest, step)`, a list to choose from, True or False.
        default: where it starts, if that is one of its values.
        wide_em: how wide its label is.

    Raises:
        CourseError: `how` describes none of these.
    """
    look: dict[str, Any] = {
        "description": label(name),
        "tooltip": name,
        "style": {"description_width": f"{wide_em:g}em"},
        "layout": ipywidgets.Layout(width="32em", max_width="98%"),
    }
    if isinstance(how, bool):
        return _alone(ipywidgets.Checkbox(value=how, **look))
    if isinstance(how, list) and how:
        start = default if default in how else how[0]
        return _alone(ipywidgets.Dropdown(options=how, value=start, **look))
    if isinstance(how, tuple) and len(how) in (2, 3) and how[0] <= how[1]:
        low, high = how[:2]
        inside = isinstance(default, int | float) and low <= default <= high
        start = default if inside else low
        if all(isinstance(number, int) for number in (*how, start)):
            step = how[2] if len(how) == 3 else 1
            slider = ipywidgets.IntSlider(start, low, high, step, continuous_update=True, **look)
            return _alone(slider) if high <= LONGEST_PLAIN else (slider, with_number(slider))
        step = how[2] if len(how) == 3 else (high - low) / 100
        look["readout_format"] = f".{decimals(step)}f"
        return _alone(
            ipywidgets.FloatSlider(
                start, min=low, max=high, step=step, continuous_update=True, **look
            )
        )
    raise CourseError(
        f"{name}={how!r} describes no slider",
        "give (lowest, highest), (lowest, highest, step), a list to choose from, or True or False",
    )


def with_number(slider: ipywidgets.IntSlider) -> ipywidgets.HBox:
    """Returns a slider with its number beside it, thousands apart, to be read and to be typed.

    The slider's own number cannot have separators: touched and left again, 4,096 would become 4.
    """
    slider.readout = False
    slider.layout.width = "26em"
    number = ipywidgets.Text(
        f"{slider.value:,}",
        continuous_update=False,
        tooltip=f"{slider.description}: type a number and press Enter",
        layout=ipywidgets.Layout(width="5em"),
    )

    def follow(change: Any) -> None:
        number.value = f"{slider.value:,}"

    def take(change: Any) -> None:
        digits = re.sub(r"[\s,_']", "", number.value)
        if re.fullmatch(r"-?\d{1,12}", digits):
            turns = round((int(digits) - slider.min) / slider.step)
            nearest = slider.min + turns * slider.step
            slider.value = max(slider.min, min(slider.max, nearest))
        # What was typed goes, also where it was no number or the slider did not move.
        number.value = f"{slider.value:,}"

    slider.observe(follow, names="value")
    number.observe(take, names="value")
    return ipywidgets.HBox([slider, number], layout=ipywidgets.Layout(flex_flow="row wrap"))


def decimals(step: float) -> int:
    """Returns how many decimals show every step of a slider.

    >>> decimals(0.25), decimals(0.0005), decimals(2.0)
    (2, 4, 1)
    """
    for places in range(1, 9):
        if math.isclose(round(step, places), step, rel_tol=1e-3):
            return places
    return 9


def _alone(widget: ipywidgets.ValueWidget) -> tuple[Any, Any]:
    return widget, widget
