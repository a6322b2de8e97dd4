"""Pictures of lesson 20: right words, the same bytes every time, room for their text."""

from __future__ import annotations

import pytest
from matplotlib.figure import Figure

from gpu_course.draw.paper.picture import alt_text
from gpu_course.lessons.smaller_states.pictures import (
    describe_held,
    describe_rank,
    draw_held,
    draw_rank,
)
from gpu_course.lessons.smaller_states.shows import show_held
from gpu_course.units import GIB
from tests.gpu_course.draw.examples import draws
from tests.gpu_course.draw.readable import assert_drawn_alike

RUNS = {
    "plain": {"parameters": 2048, "optimizer states": 4096, "gradients": 2048},
    "small": {"parameters": 2048, "optimizer states": 512, "gradients": 2048},
}
STATES, ENDS = {64: 2e9, 128: 3e9, 256: 5e9}, {64: 1.3, 128: 1.2, 256: 1.1}
PLAIN = {"plain_bytes": 2e10, "plain_loss": 1.05}
FIGURES = {
    "held": lambda: draw_held(RUNS, {"small": "loss 1.20"}),
    "rank": lambda: draw_rank(STATES, ENDS, 128, goal=1.25, **PLAIN),
}


@pytest.mark.parametrize("name", FIGURES)
def test_a_picture_is_the_same_every_time_and_says_what_it_shows(name: str) -> None:
    assert alt_text(FIGURES[name]())
    assert_drawn_alike(FIGURES[name])


def test_the_words_follow_the_data(capsys: pytest.CaptureFixture[str]) -> None:
    assert describe_held(RUNS, {"small": "loss 1.20"}).endswith(
        "small: 4.5 KiB, of it parameters 2 KiB, optimizer states 512 bytes, gradients 2 KiB; "
        "loss 1.20."
    )
    show_held(RUNS)
    assert describe_held(RUNS) in capsys.readouterr().out


def test_bars_stack_to_the_bytes_held() -> None:
    (axes,) = draw_held(RUNS).axes
    ends = [bar.get_x() + bar.get_width() for bar in axes.patches]
    assert ends[-2:] == [8.0, 4.5]  # KiB, the topmost kind of both runs


@pytest.mark.parametrize("rank", STATES)
def test_a_rank_is_marked_on_both_curves(rank: int) -> None:
    left, right = draw_rank(STATES, ENDS, rank, goal=1.25, **PLAIN).axes
    for axes, value, words in ((left, STATES[rank] / 1e9, "GB"), (right, ENDS[rank], "1.")):
        (mark,) = (line for line in axes.lines if line.get_marker() == "D")
        assert list(mark.get_ydata()) == [value]
        (said,) = (text for text in axes.texts if text.get_fontweight() == "bold")
        assert words in said.get_text()
        # Beside its mark, and never out over the edge of the axes.
        place = list(STATES).index(rank)
        assert (said.get_ha() == "right") == (place == 2 or (axes is left and place == 1))
    assert describe_rank(STATES, ENDS, rank, **PLAIN).startswith(
        f"Rank {rank}: states {STATES[rank] / 1e9:.2f} GB, {STATES[rank] / 2e10:.0%} of Adam's"
    )


@draws(draw_rank)
def runs_of_some_ranks() -> Figure:
    return draw_rank(STATES, ENDS, 128, goal=1.25, **PLAIN)


PARTS = {
    "parameters": 14 * GIB,
    "optimizer states": 28 * GIB,
    "gradients": 14 * GIB,
    "activations": 30 * GIB,
    "temporaries": 2 * GIB,
}


@draws(draw_held)
def held_by_two() -> Figure:
    held = {"Adam": PARTS, "8 bit, power 2 and 4": PARTS | {"gradients": 0}}
    return draw_held(held, {"Adam": "loss 1.20"})
