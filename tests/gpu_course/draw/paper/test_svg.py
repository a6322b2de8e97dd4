"""A sheet written as SVG holds what the figure holds, where the figure holds it."""

from __future__ import annotations

import re
from collections import Counter
from xml.etree import ElementTree

import pytest
from matplotlib.colors import to_hex
from matplotlib.patches import Patch
from matplotlib.text import Text

from gpu_course.draw.paper import palette as p
from gpu_course.draw.paper.picture import alt_text, quick_html
from gpu_course.draw.paper.svg import Undrawable, figure_svg
from gpu_course.draw.touches.picture import draw_touches
from tests.gpu_course.draw import launches
from tests.gpu_course.draw.test_every_picture import LESSONS_OWN
from tests.gpu_course.draw.test_every_picture import PICTURES as SHARED

PICTURES = SHARED | LESSONS_OWN
SHEETS = [
    "draw_touches ADD_TEN",
    "draw_touches BROADCAST",
    "draw_touches LARGE",
    "draw_touches RACE",
    "draw_touches UNGUARDED",
    "draw_touches wrong axes",
    "draw_around a tile",
    "draw_around a table",
    "draw_ownership wide",
    "draw_banks a column",
    "draw_sectors stride 2",
    "draw_launch_grid (2, 2) (9, 4)",
]
SVG = "{http://www.w3.org/2000/svg}"


@pytest.mark.parametrize("name", SHEETS)
def test_every_text_stands_where_the_figure_has_it(name: str) -> None:
    figure = PICTURES[name]()
    tree = ElementTree.fromstring(figure_svg(figure))
    (axes,) = figure.axes
    _, _, wide, tall = map(float, tree.attrib["viewBox"].split())
    assert (wide, tall) == pytest.approx(figure.get_size_inches() * p.CSS_PIXELS_PER_INCH, abs=0.1)
    found = [(e.text, e) for e in tree.iter(f"{SVG}text")]
    wanted = [t for t in axes.texts if t.get_text().strip()]
    assert sorted(text or "" for text, _ in found) == sorted(t.get_text() for t in wanted)
    for text, element in found:
        place = element.attrib.get("transform", "")
        x, y = (
            map(float, re.findall(r"[\d.]+", place)[:2])
            if place
            else (float(element.attrib["x"]), float(element.attrib["y"]))
        )
        assert 0 <= x <= wide and 0 <= y <= tall
        assert any(_is_at(t, x, y) for t in wanted if t.get_text() == text), text
        assert float(element.attrib["font-size"]) >= p.SMALL


def _is_at(text: Text, x: float, y: float) -> bool:
    place = [v * p.CSS_PIXELS_PER_INCH for v in text.get_position()]
    return abs(place[0] - x) < 0.1 and abs(place[1] - y) < text.get_fontsize()


@pytest.mark.parametrize("name", SHEETS)
def test_no_shape_is_lost_and_hatches_are_kept(name: str) -> None:
    figure = PICTURES[name]()
    svg = figure_svg(figure)
    patches = [a for a in figure.axes[0].artists + figure.axes[0].patches if isinstance(a, Patch)]
    hatched = [patch for patch in patches if patch.get_hatch()]
    assert svg.count("<path") >= len(patches) + len(hatched)
    fills = re.findall(r'fill="url\(#\w+-(\w{6})\)"', svg)
    assert Counter(fills) == Counter(to_hex(each.get_edgecolor())[1:] for each in hatched)
    assert set(re.findall(r'<pattern id="\w+-(\w{6})"', svg)) == set(fills)
    assert svg.count("<image") == len(figure.axes[0].images)


def test_the_same_data_give_the_same_text() -> None:
    once, again = (figure_svg(draw_touches(launches.UNGUARDED)) for _ in range(2))
    assert once == again


def test_text_is_escaped() -> None:
    figure, axes = p.sheet(2, 1)
    axes.text(0.1, 0.5, "<script>&</script>")
    assert [e.text for e in ElementTree.fromstring(figure_svg(figure)).iter(f"{SVG}text")] == [
        "<script>&</script>"
    ]


def test_what_is_no_sheet_is_a_png() -> None:
    figure = PICTURES["draw_pareto: costs"]()
    with pytest.raises(Undrawable):
        figure_svg(figure)
    html = quick_html(figure)
    assert "data:image/png" in html and alt_text(figure) in html


def test_a_sheet_that_is_waited_for_is_svg_with_its_alt_text() -> None:
    figure = draw_touches(launches.ADD_TEN)
    html = quick_html(figure)
    assert "data:image/svg+xml" in html and f'alt="{alt_text(figure)}"' in html


ARROWED = {
    "draw_chunks: chunks two trees": 4,
    "draw_chunks: chunks two nodes of 4": 16,
    "draw_scan: a_scan": 6,
    "draw_look_back: a_look_back": 1,
    "draw_transposition: turned": 3,
}
"""Sheets, and how many arrows each has, curved and straight, of a patch and of an annotation."""


def wedges(svg: str) -> list[str]:
    """Returns the paths that are filled without being closed, as a curved shaft would be."""
    drawn = re.findall(r'<path d="([^"]+)" fill="([^"]+)"', svg)
    return [
        data
        for data, fill in drawn
        if fill != "none" and any(part[-1:] != "Z" for part in data.split("M")[1:])
    ]


@pytest.mark.parametrize("name", ARROWED)
def test_an_arrow_has_a_shaft_without_a_filling_and_a_head_with_one(name: str) -> None:
    figure = PICTURES[name]()
    svg = figure_svg(figure)
    assert wedges(svg) == []
    shaft, head = r'<path d="M[^"Z]+Q[^"Z]+" fill="none"[^>]+/>', r'<path d="M[^"]+Z" fill="#\w+"'
    assert len(re.findall(shaft + head, svg)) == ARROWED[name]
    # Drawing first tells an arrow of another resolution, and is to change nothing.
    figure.canvas.draw()
    assert figure_svg(figure) == svg


def test_a_filled_shaft_is_seen_and_a_line_or_a_filled_square_is_none() -> None:
    shaft = "M10,10Q20,15 10,20"
    assert wedges(f'<path d="{shaft}" fill="#0072b2" stroke="#0072b2"/>') == [shaft]
    assert wedges(f'<path d="{shaft}M1,1L2,1L2,2Z" fill="#0072b2"/>') == [f"{shaft}M1,1L2,1L2,2Z"]
    assert wedges(f'<path d="{shaft}" fill="none"/><path d="M1,1L2,1L2,2Z" fill="#fff"/>') == []


@pytest.mark.parametrize("style", ["default", "steps-pre", "steps-mid", "steps-post"])
def test_a_line_that_goes_in_steps_has_the_corners_that_a_png_shows(style: str) -> None:
    figure, axes = p.sheet(2, 1)
    axes.plot([0.0, 1.0, 2.0], [0.5, 0.25, 0.75], drawstyle=style)
    (data,) = re.findall(r'<path d="([^"]+)" fill="none"', figure_svg(figure))
    corners = [tuple(map(float, each.split(","))) for each in re.split("[ML]", data)[1:]]
    px = p.CSS_PIXELS_PER_INCH
    right = {
        "default": [(0, 0.5), (1, 0.25), (2, 0.75)],
        "steps-pre": [(0, 0.5), (0, 0.25), (1, 0.25), (1, 0.75), (2, 0.75)],
        "steps-mid": [(0, 0.5), (0.5, 0.5), (0.5, 0.25), (1.5, 0.25), (1.5, 0.75), (2, 0.75)],
        "steps-post": [(0, 0.5), (1, 0.5), (1, 0.25), (2, 0.25), (2, 0.75)],
    }[style]
    assert corners == [pytest.approx((x * px, y * px), abs=0.1) for x, y in right]
