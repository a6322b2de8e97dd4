"""Ownership and launch grids: their words, their text sizes, their refusals."""

from __future__ import annotations

from dataclasses import replace

import matplotlib
import pytest
from matplotlib.figure import Figure

from gpu_course.draw.execution.launch_grid import draw_launch_grid
from gpu_course.draw.execution.ownership import Trouble, draw_around, draw_ownership
from gpu_course.draw.paper import palette as p
from gpu_course.draw.paper.picture import alt_text, figure_png
from gpu_course.errors import CourseError
from tests.gpu_course.draw import launches
from tests.gpu_course.draw.launches import launch, same, touch
from tests.gpu_course.draw.readable import assert_readable, texts

PICTURES = {
    "owners of a vector": (
        lambda: draw_ownership(launches.BLOCKS, "out"),
        ["14 of 14 cells written", "Block 3 wrote cells 12, 13"],
    ),
    "owners with gaps and conflicts": (
        lambda: draw_ownership(launches.RACE, "out"),
        ["No thread wrote cells 4 to 7", "Several threads wrote cells 0 to 3"],
    ),
    "owners of a matrix": (
        lambda: draw_ownership(launches.BROADCAST, "out"),
        ["12 of 12 cells written", "1 block"],
    ),
    "owners of many cells": (
        lambda: draw_ownership(launches.LARGE, "out"),
        ["990 of 1,000 cells written", "No thread wrote cells 990 to 999"],
    ),
    "a launch": (
        lambda: draw_launch_grid(3, 4),
        ["Block 2 holds the global indices 8 to 11"],
    ),
    "a launch with a guard": (
        lambda: draw_launch_grid(3, 4, 10),
        ["10 of 12 threads have a cell; 2 have none"],
    ),
    "a launch in two dimensions": (
        lambda: draw_launch_grid((2, 2), (3, 3), (5, 4)),
        ["20 of 36 threads have a cell", "x run from 0 to 5"],
    ),
    "many small blocks": (lambda: draw_launch_grid(16, 4), ["Block 15"]),
    "one long block": (lambda: draw_launch_grid(1, 32), ["0 to 31"]),
    "one thread": (lambda: draw_launch_grid(1, 1), ["0 to 0"]),
}


@pytest.mark.parametrize("name", PICTURES)
def test_words_and_text_sizes(name):
    draw, words = PICTURES[name]
    figure = draw()
    for part in words:
        assert part in alt_text(figure)
    assert_readable(figure)
    assert figure_png(figure) == figure_png(draw())


@pytest.mark.parametrize(
    ("draw", "words"),
    [
        (lambda: draw_ownership(launches.BLOCKS, "b"), "arrays it touched: a, out"),
        (lambda: draw_launch_grid(100, 100), "at most 256 threads"),
        (lambda: draw_launch_grid(0, 4), "each 1 or more"),
        (lambda: draw_launch_grid((1, 1, 2), 4), "int or a pair"),
    ],
)
def test_what_cannot_be_drawn_is_refused_with_advice(draw, words):
    with pytest.raises(CourseError, match=words):
        draw()


def test_pictures_can_share_a_figure():
    figure = Figure(figsize=(12, 6))
    left, right = figure.subplots(1, 2)
    assert draw_launch_grid(2, 4, ax=left) is figure
    assert draw_ownership(launches.BLOCKS, "out", ax=right) is figure


def test_text_on_any_block_colour_is_readable():
    def luminance(colour):
        linear = [
            c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4
            for c in matplotlib.colors.to_rgb(colour)
        ]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    grounds = [*p.BLOCK_COLOURS, p.ACTIVE, p.IDLE, p.READ_TINT, p.WRITE_TINT]
    grounds += [matplotlib.colormaps[p.MAGNITUDE](i / 20)[:3] for i in range(21)]
    for ground in grounds:
        light, dark = sorted((luminance(ground), luminance(p.ink_on(ground))), reverse=True)
        assert (light + 0.05) / (dark + 0.05) >= 3.0, ground


PIECES = launch(
    "pieces",
    (2,),
    (64,),
    replace(touch("tile", (64,), "write", [(i, i % 64) for i in range(100)]), space="shared"),
)
"""Of 100 numbers the second block of 64 threads has 36."""


def test_the_tile_is_that_of_the_block_in_trouble() -> None:
    trouble = Trouble("tile", 40, "tile[40] is read before it is written", block=1)
    figure = draw_around(PIECES, trouble)
    seen = [text.get_text() for text in texts(figure)]
    assert "tile of block 1: each cell says the thread that wrote it" in seen
    assert {"0", "35"} <= set(seen) and "36" not in seen and "no thread wrote it" in seen
    assert "No thread wrote cells 36 to 63." in alt_text(figure)
    first = alt_text(draw_around(PIECES, Trouble("tile", 40, "tile[40] races")))
    assert "No thread wrote" not in first


def test_what_has_no_room_is_not_promised() -> None:
    wide = launch("wide", (1,), (1000,), touch("out", (1000,), "write", same(1000)))
    seen = [text.get_text() for text in texts(draw_around(wide, Trouble("out", 900, "wrong")))]
    assert "out: each cell has the colour of the block that wrote it" in seen
    assert "0:900" not in seen


def test_a_small_array_of_a_long_name_has_room_for_its_heading() -> None:
    """The figure is as wide as its cells need, and a heading may need more."""
    touches = [replace(each, array="places") if each.array == "out" else each
               for each in launches.BROADCAST.touches]  # fmt: skip
    assert_readable(draw_ownership(replace(launches.BROADCAST, touches=tuple(touches)), "places"))
