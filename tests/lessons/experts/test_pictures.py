"""Pictures of experts: every copy is on its way, what is dropped is seen, words say the same."""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib.patches import PathPatch, Rectangle

from gpu_course.draw.paper import palette as p
from gpu_course.draw.paper.picture import alt_text
from gpu_course.draw.paper.svg import figure_svg
from gpu_course.errors import CourseError
from gpu_course.lessons.experts.pictures import averaged, draw_flow, draw_load
from gpu_course.lessons.experts.routing import Routed, route_drawn
from gpu_course.lessons.experts.shows import flow
from tests.gpu_course.draw.readable import assert_readable

SMALL = Routed(
    experts=4,
    nodes=2,
    choices=np.array([[0, 2], [0, 1], [3, 0], [2, 0]]),
    kept=np.array([[True, True], [True, True], [True, False], [True, False]]),
    capacity=2,
)


def test_copies_are_counted_by_hand() -> None:
    assert SMALL.home.tolist() == [0, 0, 1, 1]
    assert SMALL.sent.tolist() == [[2, 1, 1, 0], [0, 0, 1, 1]]
    assert SMALL.dropped.tolist() == [[0, 0, 0, 0], [2, 0, 0, 0]]
    assert SMALL.nodes_of_tokens.tolist() == [2, 1, 2, 2]
    # Token 0 goes to node 1; tokens 2 and 3 go to node 0.
    assert SMALL.leaving == 3


def test_a_ribbon_is_as_wide_as_its_copies_and_grey_where_it_stays() -> None:
    figure = draw_flow(SMALL)
    assert_readable(figure)
    ribbons = figure.findobj(PathPatch)
    assert len(ribbons) == 6
    widths = [r.get_path().vertices[5][1] - r.get_path().vertices[2][1] for r in ribbons]
    copies = [2, 1, 1, 2, 1, 1]
    assert [w / widths[1] for w in widths] == pytest.approx(copies)
    grey = [r.get_facecolor()[:3] == _rgb(p.RULE) for r in ribbons]
    assert grey == [True, True, False, False, True, True]


def _rgb(colour: str) -> tuple[float, ...]:
    from matplotlib.colors import to_rgb

    return to_rgb(colour)


def test_what_is_dropped_is_hatched_behind_the_mark() -> None:
    figure = draw_flow(SMALL)
    bars = [r for r in figure.findobj(Rectangle) if r.get_height() == pytest.approx(0.62 * 0.36)]
    (lost,) = [r for r in bars if r.get_hatch()]
    full = next(r for r in bars if r.get_y() == lost.get_y() and not r.get_hatch())
    assert full.get_x() + full.get_width() == pytest.approx(lost.get_x())
    assert lost.get_width() == pytest.approx(full.get_width())
    said = alt_text(figure)
    assert "2 of 8 copies dropped" in said and "3 copies leave their node" in said
    assert "Expert 0 on node 0: takes 2, drops 2; 2 from node 0, 2 from node 1." in said


@pytest.mark.parametrize("experts", [8, 16])
@pytest.mark.parametrize("nodes", [1, 2, 4])
def test_every_place_of_the_sliders_can_be_read(experts: int, nodes: int) -> None:
    for chosen in (1, 2, 4):
        for room in (0.5, 3.0):
            assert_readable(flow(experts, chosen, room, nodes))


def test_a_flow_needs_no_pixels() -> None:
    assert figure_svg(flow(16, 4, 0.5, 2)).count("<path") > 60


def test_too_many_are_refused() -> None:
    with pytest.raises(CourseError, match="32 experts on 4 nodes"):
        draw_flow(route_drawn(64, 32, 2, 4, 4, 1.0))


def test_a_load_is_drawn_as_means_of_its_steps() -> None:
    runs = {"nothing": [1.0] * 30, "your bias": [0.1] * 30}
    figure = draw_load(runs)
    assert_readable(figure)
    lines = {line.get_label(): line for line in figure.axes[0].lines}
    assert list(lines["nothing"].get_ydata()) == averaged(runs["nothing"])
    assert "your bias: 10 % in the first, 10 % in the last of 30 steps." in alt_text(figure)


def test_a_limit_is_kept_as_far_as_nodes_have_experts() -> None:
    for experts, chosen, most, reached in ((16, 4, 1, 1), (8, 4, 1, 2), (8, 2, 1, 1), (8, 1, 4, 1)):
        routed = route_drawn(64, experts, chosen, 4, most, 1.0)
        assert routed.nodes_of_tokens.max() == reached
        assert all(len(set(row)) == chosen for row in routed.choices.tolist())
