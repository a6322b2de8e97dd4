"""Pictures of schedules: right words, the same bytes every time."""

from __future__ import annotations

import pytest
from matplotlib.colors import to_hex

from gpu_course.draw.paper.palette import CONFLICT
from gpu_course.draw.paper.picture import alt_text, figure_png
from gpu_course.draw.training.schedules import LOOKS, describe_schedule, draw_schedule
from tests.gpu_course.draw.readable import assert_readable

SCHEDULE = [("keep input", 0), ("save all", 1), ("backward", 1), ("save all", 0), ("backward", 0)]
RISES = [1, 3, 4, 2, 2]


def test_the_words_follow_the_schedule() -> None:
    assert describe_schedule(SCHEDULE, RISES) == (
        "A schedule of 5 operations for 2 stages: 3 forward passes, 1 of them again; at most 4 "
        "outputs at one time."
    )
    said = describe_schedule(SCHEDULE, [r * 1024 for r in RISES], budget=3 * 1024, in_bytes=True)
    assert said.endswith("at most 4 KiB at one time. That is over the budget of 3 KiB.")


def test_every_operation_is_one_bar() -> None:
    above, _ = draw_schedule(SCHEDULE, RISES).axes
    assert sum(len(kind.get_paths()) for kind in above.collections) == len(SCHEDULE)
    corners = {
        (word, tuple(path.get_extents().get_points().mean(axis=0)))
        for word, kind in zip(LOOKS, above.collections, strict=True)
        for path in kind.get_paths()
    }
    assert corners == {(word, (step, stage)) for step, (word, stage) in enumerate(SCHEDULE)}
    assert len({(look.get("hatch"), look["facecolor"]) for look in LOOKS.values()}) == len(LOOKS)


@pytest.mark.parametrize("length", [3, 10, 20, 107])
def test_operations_are_counted_in_whole_numbers(length: int) -> None:
    figure = draw_schedule([("save all", 0)] * length, [1] * length)
    figure.canvas.draw()
    ticks = figure.axes[1].get_xticks()
    assert all(tick == int(tick) for tick in ticks)


@pytest.mark.parametrize("done", [1, 3, len(SCHEDULE)])
def test_a_schedule_half_done_stands_in_the_frame_of_the_whole(done) -> None:
    whole, part = draw_schedule(SCHEDULE, RISES), draw_schedule(SCHEDULE, RISES, done=done)
    for one, other in zip(whole.axes, part.axes, strict=True):
        assert one.get_xlim() == other.get_xlim() and one.get_ylim() == other.get_ylim()
    assert sum(len(kind.get_paths()) for kind in part.axes[0].collections) == done
    word, stage = SCHEDULE[done - 1]
    assert alt_text(part) == f"{alt_text(whole)} {done} done, the last one: {word} {stage}."


def test_the_legend_shows_each_operation_as_it_looks() -> None:
    (legend,) = draw_schedule(SCHEDULE[:1], RISES[:1]).legends
    shown = {
        text.get_text(): patch
        for text, patch in zip(legend.texts, legend.get_patches(), strict=True)
    }
    assert list(shown) == list(LOOKS)
    for word, patch in shown.items():
        assert patch.get_hatch() == LOOKS[word].get("hatch")
        assert to_hex(patch.get_facecolor()) == to_hex(LOOKS[word]["facecolor"])


@pytest.mark.parametrize("budget", [None, 3, 9])
def test_a_picture_is_the_same_every_time_and_has_its_words(budget) -> None:
    first, second = (draw_schedule(SCHEDULE, RISES, budget=budget) for _ in range(2))
    assert figure_png(first, 1) == figure_png(second, 1)
    assert alt_text(first) == describe_schedule(SCHEDULE, RISES, budget=budget)


EARLY = [("save all", 0), ("save all", 1), ("backward", 0), ("backward", 1)]
WHY = "operation 2 (backward 0) cannot be done: the gradient at hand is another"


def test_a_schedule_that_breaks_is_drawn_whole_with_the_place_marked() -> None:
    figure = draw_schedule(EARLY, [2, 4], broken=WHY)
    above, below = figure.axes
    assert sum(len(kind.get_paths()) for kind in above.collections) == len(EARLY)
    assert WHY in above.get_title(loc="left").replace("\n", " ")
    (frame,) = [
        p
        for p in above.patches
        if to_hex(p.get_edgecolor()) == CONFLICT.lower() and p.get_width() == 1
    ]
    assert (frame.get_x(), frame.get_y()) == (1.5, -0.5)  # operation 2, stage 0
    (memory,) = below.collections
    assert memory.get_paths()[0].vertices[:, 0].max() <= 1.5
    assert alt_text(figure).endswith(f"It breaks at operation 2: {WHY}.")
    assert_readable(figure)


def test_a_schedule_that_breaks_at_once_or_ends_too_early_is_drawn_too() -> None:
    assert_readable(draw_schedule([("backward", 1)], [], broken="nothing is there"))
    assert_readable(draw_schedule(EARLY[:2], [2, 4], broken="the schedule ends too early"))
