"""Pictures of lesson 16: right words, the same bytes every time, room for their text."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from matplotlib.figure import Figure

from gpu_course.draw.paper.picture import alt_text, figure_png
from gpu_course.lessons.memory_ledger.pictures import (
    describe_saw_tooth,
    draw_saw_tooth,
    draw_terms,
    words_at,
)
from gpu_course.units import MIB
from tests.gpu_course.draw.examples import draws


@dataclass(frozen=True)
class Phase:
    name: str
    first: int
    last: int


@dataclass(frozen=True)
class Ledger:
    moments: int
    live: dict[str, tuple[int, ...]]
    phases: tuple[Phase, ...]


@dataclass(frozen=True)
class Line:
    name: str
    paper_bytes: int
    kept_bytes: int


KIB = 1024
LEDGER = Ledger(
    moments=6,
    live={
        "parameters": (KIB,) * 6,
        "optimizer states": (0, 0, 0, 0, 2 * KIB, 2 * KIB),
        "gradients": (0, 0, 0, KIB, KIB, 0),
        "activations": (0, KIB, 3 * KIB, 0, 0, 0),
        "temporaries": (0,) * 6,
    },
    phases=(Phase("step 1 forward", 1, 2), Phase("step 1 backward", 3, 3), Phase("end", 4, 5)),
)
LINES = (Line("Q and K", 2048, 2048), Line("mask", 1024, 2048), Line("scores", 512, 0))


def test_the_words_follow_the_data() -> None:
    said = describe_saw_tooth(LEDGER)
    assert "Memory over 5 steps of the allocator." in said
    assert "Step 1 forward ends with 4 KiB." in said
    assert said.endswith("Peak: 4 KiB, in step 1 forward.")
    assert words_at(LEDGER, 3) == (
        "Moment 3, in step 1 backward: 2 KiB, of it parameters 1 KiB, gradients 1 KiB."
    )
    assert "Moment 0, before the first: 1 KiB" in describe_saw_tooth(LEDGER, 0)


def test_the_areas_stack_to_the_total() -> None:
    figure = draw_saw_tooth(LEDGER)
    (axes,) = figure.axes
    tops = {}
    for area in axes.collections:
        ys = area.get_paths()[0].vertices[:, 1]
        tops[area.get_label()] = max(ys)
    # In KiB; what is nowhere isn't drawn.
    assert tops == {
        "parameters": 1,
        "optimizer states": 3,
        "gradients": 4,
        "activations": 4,
    }


@pytest.mark.parametrize("moment", [None, 0, 3, 5])
def test_a_picture_is_the_same_every_time_and_says_what_it_shows(moment) -> None:
    first, second = (draw_saw_tooth(LEDGER, moment) for _ in range(2))
    assert figure_png(first, 1) == figure_png(second, 1)
    assert alt_text(first) == describe_saw_tooth(LEDGER, moment)
    cursors = [line for line in first.axes[0].lines if line.get_linewidth() == 1.6]
    assert len(cursors) == (moment is not None)


def test_terms_are_bars_with_their_difference() -> None:
    figure = draw_terms(LINES)
    (axes,) = figure.axes
    assert [bar.get_width() for bar in axes.patches] == [2, 1, 0.5, 2, 2, 0]
    written = [text.get_text() for text in axes.texts]
    assert written == ["+1,024", "-512"]
    said = alt_text(figure)
    assert "mask: 2,048 bytes, 1,024 bytes more than counted." in said
    assert "scores: 0 bytes, 512 bytes less than counted." in said
    assert "Q and K: 2,048 bytes." in said


def test_small_text_is_large_enough() -> None:
    for figure in (draw_saw_tooth(LEDGER, 2), draw_terms(LINES)):
        for axes in figure.axes:
            sizes = [text.get_fontsize() for text in axes.texts]
            sizes += [label.get_fontsize() for label in axes.get_xticklabels()]
            assert all(size >= 9 for size in sizes)


@draws(draw_saw_tooth)
def a_saw_tooth() -> Figure:
    return draw_saw_tooth(LEDGER, 4)


class Line:
    """A term as the lesson has it, with a name as long as any."""

    def __init__(self, name: str, paper: int, kept: int) -> None:
        self.name, self.paper_bytes, self.kept_bytes = name, paper, kept


@draws(draw_terms)
def terms_of_a_layer() -> Figure:
    return draw_terms(
        [
            Line("mask of the attention's dropout", 2 * MIB, 4 * MIB),
            Line("input of the second linear layer", 8 * MIB, 8 * MIB),
            Line("statistics of the LayerNorms", 0, 12_345_678),
        ]
    )
