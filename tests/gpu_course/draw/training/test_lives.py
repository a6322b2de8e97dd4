"""Two schedules side by side: every operation, every checkpoint, the drop, and the words."""

from __future__ import annotations

from gpu_course.draw.paper.picture import alt_text, figure_png
from gpu_course.draw.training.lives import Bar, Panel, describe_lives, draw_lives

SCHEDULE = [("keep input", 0), ("keep input", 1), ("save all", 2), ("drop", 1), ("backward", 2)]
KIB = 2**10
STAYS = Panel(SCHEDULE[:3], [KIB, 2 * KIB, 3 * KIB], [Bar(1, 1, 2, False, None)])
DROPS = Panel(SCHEDULE, [KIB, 2 * KIB, 3 * KIB, KIB, 2 * KIB], [Bar(1, 1, 3, True, 4)])
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
