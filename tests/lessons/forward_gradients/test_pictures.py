"""Pictures of lesson 19: right words, the same bytes every time, room for their text."""

from __future__ import annotations

import pytest
from matplotlib.figure import Figure

from gpu_course.draw.paper.picture import alt_text
from gpu_course.lessons.forward_gradients.pictures import (
    describe_estimates,
    describe_ledgers,
    draw_estimates,
    draw_ledgers,
)
from gpu_course.lessons.forward_gradients.shows import show_estimates, show_ledgers
from gpu_course.measure.ledger import KINDS, Ledger
from tests.gpu_course.draw.examples import draws
from tests.gpu_course.draw.readable import assert_drawn_alike

CLOUD = [(1.0, 0.5), (0.0, 0.5), (2.0, 0.5)]


def ledger(*temporaries: int) -> Ledger:
    live = {kind: (0,) * len(temporaries) for kind in KINDS}
    live |= {"parameters": (1024,) * len(temporaries), "temporaries": temporaries}
    return Ledger(len(temporaries), {}, (), (), live)


LEDGERS = {"hill": ledger(0, 3072, 6144, 0), "comb": ledger(0, 1024, 0, 1024, 0)}
FIGURES = {
    "estimates": lambda: draw_estimates((1.0, 0.5), CLOUD),
    "ledgers": lambda: draw_ledgers(LEDGERS),
}


@pytest.mark.parametrize("name", FIGURES)
def test_a_picture_is_the_same_every_time_and_says_what_it_shows(name: str) -> None:
    assert alt_text(FIGURES[name]())
    assert_drawn_alike(FIGURES[name])


def test_the_words_follow_the_data() -> None:
    assert describe_estimates((1.0, 0.5), CLOUD) == (
        "3 estimates of the gradient (1.00, 0.50); their mean is (1.00, 0.50)."
    )


def test_what_is_shown_carries_its_words(capsys: pytest.CaptureFixture[str]) -> None:
    show_estimates((1.0, 0.5), CLOUD)
    show_ledgers(LEDGERS)
    said = capsys.readouterr().out
    assert describe_estimates((1.0, 0.5), CLOUD) in said and describe_ledgers(LEDGERS) in said


def test_ledgers_stand_on_one_scale_and_each_says_its_peak() -> None:
    hill, comb = draw_ledgers(LEDGERS).axes
    assert hill.get_ylim() == comb.get_ylim() and hill.get_ylim()[1] > 7
    assert [axes.texts[0].get_text() for axes in (hill, comb)] == [
        "hill: at most 7 KiB",
        "comb: at most 2 KiB",
    ]
    assert describe_ledgers(LEDGERS) == (
        "Memory over time, on one scale. hill: at most 7 KiB, then parameters 1 KiB, "
        "temporaries 6 KiB. comb: at most 2 KiB, then parameters 1 KiB, temporaries 1 KiB."
    )


@draws(draw_estimates)
def a_cloud() -> Figure:
    return draw_estimates((1.0, 0.5), CLOUD)


@draws(draw_ledgers)
def ledgers() -> Figure:
    return draw_ledgers(LEDGERS)
