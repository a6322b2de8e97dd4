"""Pictures of lesson 18: every operation, checkpoint and drop, each plan's ends, and the words."""

from __future__ import annotations

from matplotlib.figure import Figure

from gpu_course.draw.paper.picture import alt_text, figure_png
from gpu_course.lessons.optimal_checkpointing.lives import Life
from gpu_course.lessons.optimal_checkpointing.pictures import (
    Panel,
    describe_lives,
    draw_lives,
    draw_pareto,
)
from gpu_course.units import MIB
from tests.gpu_course.draw.examples import draws
from tests.gpu_course.draw.readable import texts

SCHEDULE = [("keep input", 0), ("keep input", 1), ("save all", 2), ("drop", 1), ("backward", 2)]
KIB = 2**10
STAYS = Panel(SCHEDULE[:3], [KIB, 2 * KIB, 3 * KIB], [Life(1, 1, 2)])
DROPS = Panel(
    SCHEDULE, [KIB, 2 * KIB, 3 * KIB, KIB, 2 * KIB], [Life(1, 1, 3, dropped=True, again=4)]
)
PANELS = {"stays": STAYS, "drops": DROPS}


def test_the_words_say_what_is_dropped_and_made_again() -> None:
    assert describe_lives(PANELS, 4 * KIB) == (
        "Schedules side by side, in a memory of 4 KiB. "
        "stays: 3 forward passes, at most 3 KiB. "
        "drops: 3 forward passes, at most 3 KiB; the input of stage 1 is dropped by operation 3 "
        "and made again by operation 4."
    )


def test_the_picture_is_the_same_every_time_and_has_its_words() -> None:
    first, second = (draw_lives(PANELS, 4 * KIB) for _ in range(2))
    assert figure_png(first, 1) == figure_png(second, 1)
    assert alt_text(first) == describe_lives(PANELS, 4 * KIB)


def test_each_operation_and_each_mark_is_drawn() -> None:
    stays, _, drops, _ = draw_lives(PANELS, 4 * KIB).axes
    cells = [sum(len(kind.get_paths()) for kind in axes.collections) for axes in (stays, drops)]
    assert cells == [3, 4]
    # A line for the life of the checkpoint; on the right a cross and a ring as well.
    assert [len(axes.lines) for axes in (stays, drops)] == [1, 3]


def test_the_pareto_picture_says_where_each_plan_begins_and_ends() -> None:
    figure = draw_pareto({"best": [(1024, 1.5), (4096, 1.0)], "halves": [(2048, 1.4)]})
    assert alt_text(figure) == (
        "Peak memory against work. best: 1 KiB at 50 % more to 4 KiB at 0 % more. "
        "halves: 2 KiB at 40 % more."
    )
    assert len(figure.axes[0].lines) == 2


COSTS = {
    "best": [(0.7 * MIB, 1.13), (0.8 * MIB, 1.1), (1.2 * MIB, 1.02), (1.3 * MIB, 1.0)],
    "equal segments": [(0.8 * MIB, 1.3), (1.05 * MIB, 1.2)],
    "square root": [(1.05 * MIB, 1.33)],
    "halves": [(0.7 * MIB, 1.51)],
    "revolve": [(0.7 * MIB, 2.55), (0.78 * MIB, 1.65), (0.78 * MIB, 1.5)],
}


@draws(draw_pareto)
def costs() -> Figure:
    return draw_pareto(COSTS)


@draws(draw_lives)
def lives() -> Figure:
    return draw_lives(PANELS, 4096)


def test_one_far_point_does_not_flatten_the_others() -> None:
    figure = draw_pareto(COSTS)
    (axes,) = figure.axes
    assert axes.get_ylim()[1] < 80
    assert any("155 %" in text.get_text() for text in texts(figure))
    near = draw_pareto({name: points for name, points in COSTS.items() if name != "revolve"})
    assert not any("\u2191" in text.get_text() for text in texts(near))
