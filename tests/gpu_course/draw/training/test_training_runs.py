"""Pictures of lessons 19 and 20: right words, the same bytes every time, room for their text."""

from __future__ import annotations

import pytest

from gpu_course.draw.paper.picture import alt_text, figure_png
from gpu_course.draw.training.estimates import describe_estimates, draw_estimates
from gpu_course.draw.training.ledgers_beside import describe_ledgers, draw_ledgers
from gpu_course.draw.training.training_runs import (
    describe_held,
    describe_losses,
    draw_held,
    draw_losses,
)
from gpu_course.lessons.smaller_states.pictures import describe_rank, draw_rank
from gpu_course.measure.ledger import KINDS, Ledger
from gpu_course.notebook.training_runs import show_estimates, show_held, show_ledgers, show_losses

LOSSES = {"plain": (2.0, 1.5, 1.2), "astray": (2.0, 40.0, 900.0)}
RUNS = {
    "plain": {"parameters": 2048, "optimizer states": 4096, "gradients": 2048},
    "small": {"parameters": 2048, "optimizer states": 512, "gradients": 2048},
}
CLOUD = [(1.0, 0.5), (0.0, 0.5), (2.0, 0.5)]


def ledger(*temporaries: int) -> Ledger:
    live = {kind: (0,) * len(temporaries) for kind in KINDS}
    live |= {"parameters": (1024,) * len(temporaries), "temporaries": temporaries}
    return Ledger(len(temporaries), {}, (), (), live)


LEDGERS = {"hill": ledger(0, 3072, 6144, 0), "comb": ledger(0, 1024, 0, 1024, 0)}
STATES, ENDS = {64: 2e9, 128: 3e9, 256: 5e9}, {64: 1.3, 128: 1.2, 256: 1.1}
PLAIN = {"plain_bytes": 2e10, "plain_loss": 1.05}
FIGURES = {
    "losses": lambda: draw_losses(LOSSES, 25, goal=1.3, floor=1.0),
    "held": lambda: draw_held(RUNS, {"small": "loss 1.20"}),
    "estimates": lambda: draw_estimates((1.0, 0.5), CLOUD),
    "rank": lambda: draw_rank(STATES, ENDS, 128, goal=1.25, **PLAIN),
    "ledgers": lambda: draw_ledgers(LEDGERS),
}


@pytest.mark.parametrize("name", FIGURES)
def test_a_picture_is_the_same_every_time_and_says_what_it_shows(name: str) -> None:
    first, second = (FIGURES[name]() for _ in range(2))
    assert figure_png(first, 1) == figure_png(second, 1)
    assert alt_text(first)
    for axes in first.axes:
        texts = [*axes.texts, *axes.get_xticklabels(), *axes.get_yticklabels()]
        assert all(text.get_fontsize() >= 9 for text in texts)


def test_the_words_follow_the_data() -> None:
    assert describe_losses(LOSSES, 1.3, 1.0) == (
        "Loss over the updates. plain: from 2.00 to 1.20. astray: from 2.00 to 900.00. "
        "The goal is 1.30. No model can go below 1.00."
    )
    assert describe_held(RUNS, {"small": "loss 1.20"}).endswith(
        "small: 4.5 KiB: parameters 2 KiB, optimizer states 512 bytes, gradients 2 KiB; loss 1.20."
    )
    assert describe_estimates((1.0, 0.5), CLOUD) == (
        "3 estimates of the gradient (1.00, 0.50); their mean is (1.00, 0.50)."
    )


def test_a_run_that_flies_off_leaves_the_others_their_height() -> None:
    (axes,) = draw_losses(LOSSES, 25).axes
    assert axes.get_ylim()[1] < 3
    assert list(axes.lines[0].get_xdata()) == [0, 25, 50]


def test_bars_stack_to_the_bytes_held() -> None:
    (axes,) = draw_held(RUNS).axes
    ends = [bar.get_x() + bar.get_width() for bar in axes.patches]
    assert ends[-2:] == [8.0, 4.5]  # KiB, the topmost kind of both runs


def test_what_is_shown_carries_its_words(capsys: pytest.CaptureFixture[str]) -> None:
    show_losses(LOSSES, 25, 1.3)
    show_held(RUNS)
    show_estimates((1.0, 0.5), CLOUD)
    show_ledgers(LEDGERS)
    said = capsys.readouterr().out
    for words in (
        describe_losses(LOSSES, 1.3),
        describe_held(RUNS),
        describe_estimates((1.0, 0.5), CLOUD),
        describe_ledgers(LEDGERS),
    ):
        assert words in said


def test_ledgers_stand_on_one_scale_and_each_says_its_peak() -> None:
    hill, comb = draw_ledgers(LEDGERS).axes
    assert hill.get_ylim() == comb.get_ylim() and hill.get_ylim()[1] > 7
    assert [axes.texts[0].get_text() for axes in (hill, comb)] == [
        "hill: at most 7 KiB",
        "comb: at most 2 KiB",
    ]
    assert describe_ledgers(LEDGERS) == (
        "Memory over time, on one scale. hill: at most 7 KiB: parameters 1 KiB, temporaries 6 KiB. "
        "comb: at most 2 KiB: parameters 1 KiB, temporaries 1 KiB."
    )


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
