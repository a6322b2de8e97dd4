"""Pictures of lesson 08: what they show is what was counted."""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib.figure import Figure

from gpu_course.draw.paper.picture import alt_text
from gpu_course.lessons.host_and_device.fragments import SHAPES, table
from gpu_course.lessons.host_and_device.pictures import draw_film, draw_fragment, draw_timeline
from gpu_course.lessons.host_and_device.shows import (
    film_picture,
    fragment_picture,
    in_chunks,
    launches_picture,
    run_graph,
    small_kernels,
    timeline_of,
    with_event,
)
from gpu_course.lessons.host_and_device.tile_orders import film, in_groups
from gpu_course.measure.timeline import D2H, Kernel, run
from gpu_course.notebook.note import Note
from tests.gpu_course.draw import readable
from tests.gpu_course.draw.examples import draws
from tests.gpu_course.draw.readable import assert_readable


def texts(figure: Figure) -> list[str]:
    return [text.get_text() for text in readable.texts(figure)]


@draws(draw_timeline)
def a_timeline() -> Figure:
    return draw_timeline(run(in_chunks(4, 3, 8e7, 3e-3)), "four chunks")


@draws(draw_film)
def a_film() -> Figure:
    return draw_film(film(in_groups(9, 16, 3), 6), 40, (9, 16), "groups of 3 rows")


@draws(draw_fragment)
def a_fragment() -> Figure:
    return draw_fragment(table("A"), "A", SHAPES["A"], 5)


@pytest.mark.parametrize("make", [a_timeline, a_film, a_fragment])
def test_a_picture_is_readable(make) -> None:
    figure = make()
    assert_readable(figure)
    assert alt_text(figure)


def test_a_timeline_names_its_chunks_and_has_no_row_that_is_empty() -> None:
    words = texts(a_timeline())
    assert {"in 0", "k 1", "out 3", "kernels"} <= set(words)
    alone = texts(draw_timeline(run([Kernel("k", 1.0)]), "alone"))
    assert "copies in" not in alone and "kernels" in alone


def test_an_empty_timeline_is_drawn() -> None:
    assert "kernels run for none of it" in alt_text(draw_timeline(run([]), "nothing"))


def test_a_film_says_what_it_counts() -> None:
    frames = film(in_groups(9, 9, 3), 6)
    shown = repr(film_picture("in groups", (9, 9), 6, 3, 80))
    hits = sum(sum(frame.hits) for frame in frames)
    assert f"{hits} of 162 strips were in the cache" in shown
    assert isinstance(film_picture("by luck", (9, 9), 6, 3, 0), Note)
    assert isinstance(film_picture("in groups", (9, 9), 6, 0, 0), Note)


def test_a_fragment_has_every_element_once() -> None:
    cells = [text for text in texts(a_fragment()) if "." in text and text[0].isdigit()]
    assert len(set(cells)) == 256
    assert "lane 5 holds (2, 1), (3, 1), (10, 1), (11, 1)" in repr(fragment_picture("B", 5))


def test_what_is_dragged_is_a_timeline() -> None:
    assert "12 kernels of 2 µs, one graph" in repr(launches_picture(12, 2, True))
    assert "1 kernel of 1 µs, one by one" in repr(launches_picture(1, 1, False))
    assert "in groups of 1 row, room" in repr(film_picture("in groups", (9, 9), 6, 1, 0))
    assert "four" in repr(timeline_of(in_chunks(4, 3, 1e6, 1e-3), "four"))
    one, many = (run_graph(small_kernels(20, 1, graph)).end_s for graph in (True, False))
    assert one < many


def test_cutting_into_chunks_moves_the_same_bytes() -> None:
    for chunks, streams in ((1, 1), (7, 3)):
        timeline = run(in_chunks(chunks, streams, 7e6, 1e-3))
        assert sum(span.bytes for span in timeline.of(D2H)) == pytest.approx(7e6)


def test_a_wait_before_the_copy_takes_longer() -> None:
    early, late = (run(with_event(early)).end_s for early in (True, False))
    assert early > late * 1.2
    assert np.isfinite(early)
