"""The picture of losses: right words, the same bytes every time, room for its text."""

from __future__ import annotations

import pytest

from gpu_course.draw.paper.picture import alt_text
from gpu_course.draw.training.training_runs import describe_losses, draw_losses
from gpu_course.notebook.pictures import show_losses
from tests.gpu_course.draw.readable import assert_drawn_alike

LOSSES = {"plain": (2.0, 1.5, 1.2), "astray": (2.0, 40.0, 900.0)}


def test_a_picture_is_the_same_every_time_and_says_what_it_shows() -> None:
    assert alt_text(draw_losses(LOSSES, 25)) == describe_losses(LOSSES)
    assert_drawn_alike(lambda: draw_losses(LOSSES, 25, goal=1.3, floor=1.0))


def test_the_words_follow_the_data(capsys: pytest.CaptureFixture[str]) -> None:
    assert describe_losses(LOSSES, 1.3, 1.0) == (
        "Loss over the updates. plain: from 2.00 to 1.20. astray: from 2.00 to 900.00. "
        "The goal is 1.30. No model can go below 1.00."
    )
    there_and_back = {"8 workers": (1.0, 0.4, 0.2, 0.57, 0.59, 0.05, 0.02)}
    assert describe_losses(there_and_back).endswith(
        "8 workers: from 1.00 to 0.02, 0.57 half-way; on the way it rises from 0.20 to 0.59."
    )
    show_losses(LOSSES, 25, 1.3)
    assert describe_losses(LOSSES, 1.3) in capsys.readouterr().out


def test_a_run_that_flies_off_leaves_the_others_their_height() -> None:
    (axes,) = draw_losses(LOSSES, 25).axes
    assert axes.get_ylim()[1] < 3
    assert list(axes.lines[0].get_xdata()) == [0, 25, 50]
