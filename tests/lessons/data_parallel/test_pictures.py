"""Pictures of data parallelism: complete gradients, messages on their way, what is waited for."""

from __future__ import annotations

import pytest
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from gpu_course.draw.paper import palette as p
from gpu_course.draw.paper.picture import alt_text
from gpu_course.errors import CourseError
from gpu_course.lessons.data_parallel.pictures import Bucket, Span, draw_buckets, draw_overlap
from tests.gpu_course.draw.examples import draws
from tests.gpu_course.draw.readable import assert_readable

EARLY = (
    Bucket((0, 1), 1, None, 4096),
    Bucket((2, 3, 4), 4, None, 9216),
    Bucket((5, None), None, None, 512),
)
WAITING = (Bucket((0,), 0, 0, 4096), Bucket((1, 2), 2, 2, 4096))
MANY = tuple(Bucket((k,), k, None, 1024 * k + 8) for k in range(16))
HIDDEN = [Span(0.1, 0.1, 0.15), Span(0.2, 0.2, 0.25)]
EXPOSED = [Span(0.2, 0.2, 0.4), Span(0.4, 0.4, 0.6)]


@draws(draw_buckets)
def early() -> Figure:
    return draw_buckets(EARLY, "your bucketed, rank 0")


@draws(draw_overlap)
def exposed() -> Figure:
    return draw_overlap(EXPOSED, 0.4, "2 GB in 2 buckets")


@pytest.mark.parametrize("buckets", [EARLY, WAITING, MANY])
def test_buckets_can_be_read_in_half_a_window(buckets: tuple[Bucket, ...]) -> None:
    assert_readable(draw_buckets(buckets, "your bucketed, rank 0"))


def test_buckets_say_when_each_message_begins() -> None:
    said = alt_text(draw_buckets(EARLY, "mine")).splitlines()
    assert (
        said[0] == "mine: buckets in a backward pass. 2 of 3 messages begin before the pass ends."
    )
    assert said[2].endswith("3 gradients, the last at place 4; begins behind gradient 4.")
    assert said[3].endswith("the last at place 5; begins after the pass.")
    assert "2 are waited for in it" in alt_text(draw_buckets(WAITING, "mine"))


def test_a_bucket_whose_gradients_never_come_is_told_so() -> None:
    said = alt_text(draw_buckets((Bucket((None,), None, None, 8),), "mine"))
    assert "1 gradient, none of which comes; begins after the pass." in said


def test_more_buckets_than_the_page_holds_are_refused() -> None:
    with pytest.raises(CourseError, match="17 buckets"):
        draw_buckets((*MANY, MANY[0]), "mine")


@pytest.mark.parametrize("spans", [HIDDEN, EXPOSED])
def test_overlap_can_be_read_in_half_a_window(spans: list[Span]) -> None:
    assert_readable(draw_overlap(spans, 0.4, "2 GB in 2 buckets, 64 ranks, by the model"))


def test_of_many_messages_the_first_and_the_last_are_told() -> None:
    many = [Span(0.01 * n, 0.01 * n, 0.01 * (n + 1)) for n in range(20)]
    said = alt_text(draw_overlap(many, 0.4)).splitlines()
    assert said[-3].startswith("Message 11 ") and said[-2] == "And so on for 7 more."
    assert said[-1] == "Message 19, the last, is ready at 190 ms and ends at 200 ms."


def test_what_is_waited_for_is_hatched_and_said() -> None:
    exposed, hidden = draw_overlap(EXPOSED, 0.4), draw_overlap(HIDDEN, 0.4)
    found = [
        sum(r.get_hatch() == p.CONFLICT_HATCH for r in figure.findobj(Rectangle))
        for figure in (exposed, hidden)
    ]
    # The legend has one in both.
    assert found == [2, 1]
    assert alt_text(exposed).startswith("A step waits 200 ms behind a pass of 400 ms.")
    assert alt_text(hidden).startswith("The pass hides every message.")
