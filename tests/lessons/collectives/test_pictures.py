"""Pictures of collectives: what has arrived is marked, what is added twice is hatched."""

from __future__ import annotations

import pytest
from matplotlib.figure import Figure
from matplotlib.patches import FancyArrowPatch, Rectangle

from gpu_course.draw.paper import palette as p
from gpu_course.draw.paper.picture import alt_text
from gpu_course.errors import CourseError
from gpu_course.lessons.collectives.pictures import (
    Arrow,
    Frame,
    Message,
    draw_chunks,
    draw_timeline,
    draw_times,
)
from gpu_course.lessons.collectives.schedules import (
    Schedule,
    double_tree_all_reduce,
    ring_all_reduce,
    tree_all_reduce,
    two_level_all_reduce,
)
from tests.gpu_course.draw.examples import draws
from tests.gpu_course.draw.readable import assert_readable, texts


def frame(schedule: Schedule, step: int, per_node: int = 0) -> Frame:
    moves = schedule.steps[step - 1] if step else ()
    arrows = tuple(Arrow(m.source, m.target, c, m.adds) for m in moves for c in m.chunks)
    held = schedule.held()[step]
    return Frame(schedule.name, step, len(schedule.steps), held, arrows, per_node)


TWICE = Frame(
    "your all_reduce", 3, 6, (({0: 2, 1: 1}, None, {0: 1, 1: 1}),) * 3, (Arrow(0, 2, 1, True),)
)
FRAMES = {
    "the beginning": frame(ring_all_reduce(4), 0),
    "a ring of 4": frame(ring_all_reduce(4), 2),
    "a ring of 8": frame(ring_all_reduce(8), 9),
    "a ring of 2": frame(ring_all_reduce(2), 1),
    "a tree": frame(tree_all_reduce(8), 3),
    "two trees": frame(double_tree_all_reduce(8), 2),
    "two nodes of 4": frame(two_level_all_reduce(2, 4), 1, 4),
    "two nodes of 2": frame(two_level_all_reduce(2, 2), 2, 2),
    "added twice": TWICE,
}
RING = [Message(r, (r + 1) % 8, s, 2**20) for s in range(1, 15) for r in range(8)]
TREE = [Message(1, 0, 1, 8), Message(3, 2, 1, 8), Message(2, 0, 2, 8), Message(0, 2, 3, 8)]
CURVES = {
    "ring": [(256.0, 2e-3), (2.0**33, 1.7)],
    "tree": [(256.0, 2e-4), (2.0**33, 10.0)],
}


@pytest.mark.parametrize("name", FRAMES)
def test_chunks_can_be_read_in_half_a_window(name: str) -> None:
    assert_readable(draw_chunks(FRAMES[name]))


def test_a_frame_says_what_moved_and_who_holds_what() -> None:
    said = alt_text(draw_chunks(FRAMES["a ring of 4"])).splitlines()
    assert said[0] == "ring, step 2 of 6. 4 messages; the busiest rank sends 1 chunk."
    assert "Rank 0 sends chunk 2 to rank 1, which adds it." in said
    assert "Rank 1 holds: 1, 1, 0+1+3, 0+1." in said
    assert len(draw_chunks(FRAMES["a ring of 4"]).findobj(FancyArrowPatch)) == 4


def test_what_is_added_twice_is_hatched_and_what_nobody_knows_is_asked() -> None:
    figure = draw_chunks(TWICE)
    hatched = [r for r in figure.findobj(Rectangle) if r.get_hatch() == p.CONFLICT_HATCH]
    # Three cells, and the one of the legend.
    assert len(hatched) == 4
    words = [text.get_text() for text in texts(figure)]
    assert words.count("0 0 1") == 3 and words.count("?") == 3
    clean = draw_chunks(FRAMES["a ring of 4"])
    assert len([r for r in clean.findobj(Rectangle) if r.get_hatch() == p.CONFLICT_HATCH]) == 1


def test_a_whole_sum_is_one_of_all_ranks_once() -> None:
    end = frame(ring_all_reduce(4), 6)
    words = [text.get_text() for text in texts(draw_chunks(end))]
    assert words.count("all") == 16


def test_a_timeline_counts_steps_and_the_busiest_rank() -> None:
    figure = draw_timeline(TREE, 4, "tree")
    assert_readable(figure)
    assert alt_text(figure).splitlines()[1] == "Step 1: 1 to 0, 3 to 2; at most 8 bytes."
    assert_readable(draw_timeline(RING, 8, "ring"))
    assert_readable(draw_timeline([], 1, "alone"))


def test_times_are_drawn_with_the_place_where_they_meet() -> None:
    figure = draw_times(
        CURVES, "An all-reduce", "a line", [(2.0**21, 3e-3, "here")], [(4096, 1e-3)]
    )
    assert_readable(figure)
    assert "Marked at 2 MiB: 3 ms, here." in alt_text(figure)
    assert "Measured: 1 ms for 4 KiB." in alt_text(figure)
    axes = figure.axes[0]
    assert (axes.get_xscale(), axes.get_yscale()) == ("log", "log")


@pytest.mark.parametrize("longest", [3e-3, 8e-3, 90e-3, 5.0])
def test_times_that_are_near_each_other_have_numbers_beside_them(longest: float) -> None:
    points = [(256.0, 1.5e-3), (2.0**30, longest)]
    figure = draw_times({"ring": points}, "An all-reduce")
    figure.canvas.draw()
    (axes,) = figure.axes
    low, high = axes.get_ylim()
    numbers = [y for y in axes.get_yticks() if low <= y <= high]
    assert 2 <= len(numbers) <= 8


def test_too_much_for_a_picture_is_told() -> None:
    with pytest.raises(CourseError, match="9 ranks with 9 chunks"):
        draw_chunks(frame(ring_all_reduce(9), 0))
    with pytest.raises(CourseError, match="17 steps"):
        draw_timeline([Message(0, 1, 17, 8)], 2, "long")


@draws(draw_chunks, *FRAMES)
def chunks(name: str) -> Figure:
    return draw_chunks(FRAMES[name])


@draws(draw_timeline)
def a_timeline() -> Figure:
    return draw_timeline(RING, 8, "ring")


@draws(draw_times)
def ring_and_tree() -> Figure:
    return draw_times(CURVES, "Ring and tree", "alpha 20 µs")
